#pragma once
// A Dear ImGui window that shows the costs of a world's passes, its memory and its entities. Copy this file and
// shoal_panel.cpp into a program that uses Dear ImGui, and call draw() between NewFrame() and Render():
//
//     shoal_panel::Panel panel;
//     ...
//     world.step(dt);
//     ImGui::NewFrame();
//     panel.draw(world);
//     ImGui::Render();
//
//     +-- shoal --------------------------------------------+
//     | frame 1,200   100,000 entities   12.4 MiB           |
//     | [Passes] [Memory] [Entities]                        |
//     |  on  pass    runs     rows   mean ms  last ms  GB/s |
//     | [x]  flock  1,200  100,000     6.514    6.577  0.55 |
//     +-----------------------------------------------------+
//
// Thread: the structural thread of the world, while no pass is running.

#include "shoal/inspect/report.h"
#include "shoal/world/world.h"

#include <string>
#include <vector>

namespace shoal_panel {

class Panel {
public:
    /// Draws the window. `is_open` is passed to ImGui::Begin(). When the user enables or disables a pass in the window,
    /// the change takes effect in the next frame.
    void draw(shoal::World& world, bool* is_open = nullptr);

private:
    void draw_passes(shoal::World& world) const;
    void draw_memory() const;
    void draw_entities(const shoal::World& world);
    void find(const shoal::World& world);

    shoal::WorldReport report_;
    int num_draws_ = 0;     // the report is updated rarely, because numbers that change in each frame are unreadable
    char query_[256] = "";  // query that selects the listed entities; empty: all
    std::string mistake_;   // error in the query
    std::vector<shoal::Entity> found_;
    shoal::Entity chosen_;
};

}  // namespace shoal_panel

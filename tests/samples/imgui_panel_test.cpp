// The panel for Dear ImGui, without a window: frames are made and not shown, and what they have is read from Dear ImGui's log.

#include "shoal_panel.h"

#include "shoal/components/point_mass.h"
#include "shoal/entity/entity_text.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include <cfloat>

namespace {

using namespace shoal;

/// What was copied last.
std::string& clipboard() {
    static std::string text;
    return text;
}

class ImguiPanel : public ::testing::Test {
protected:
    ImguiPanel() {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.DisplaySize = {1000, 700};
        io.IniFilename = nullptr;
        io.SetClipboardTextFn = [](void*, const char* text) { clipboard() = text; };
        unsigned char* pixels = nullptr;
        int width = 0, height = 0;
        io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
        io.MousePos = {-FLT_MAX, -FLT_MAX};
        masses_ = &world_.manager<PointMass>();
        std::vector<Entity> made(3);
        EXPECT_TRUE(entities_.create(made).ok());
        EXPECT_TRUE(masses_->add(made, {.mass = 2}));
        entity_ = made[1];
        masses_->set<&PointMass::mass>(masses_->instance(entity_), 7);
        world_.schedule().add("fall", [](PassContext& context) { context.num_rows = 3; });
        world_.step(1);
    }
    ~ImguiPanel() override { ImGui::DestroyContext(); }

    /// Makes a frame, and returns the texts in it.
    std::string frame() {
        ImGui::GetIO().DeltaTime = 1.0f / 60;
        ImGui::NewFrame();
        ImGui::SetNextWindowPos({0, 0});
        ImGui::LogToClipboard();
        panel_.draw(world_);
        ImGui::LogFinish();
        ImGui::Render();
        EXPECT_TRUE(ImGui::GetDrawData()->Valid);
        return clipboard();
    }
    /// Presses and releases the button of the mouse at a place.
    void click(ImVec2 at) {
        ImGuiIO& io = ImGui::GetIO();
        for (const bool is_down : {false, true, false}) {
            io.MousePos = at;
            io.MouseDown[0] = is_down;
            frame();
        }
    }
    static void expect_texts(const std::string& text, std::initializer_list<std::string_view> parts) {
        for (const std::string_view part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
    /// Finds a tab by clicking along the bar until a text is shown.
    std::string open_tab(std::string_view text) {
        for (float x = 20; x < 400; x += 20) {
            click({x, 52});
            if (const std::string shown = frame(); shown.find(text) != std::string::npos) return shown;
        }
        ADD_FAILURE() << "no tab shows " << text;
        return {};
    }

    EntityManager entities_;
    World world_{entities_};
    Manager<PointMass>* masses_ = nullptr;
    Entity entity_;
    shoal_panel::Panel panel_;
};

TEST_F(ImguiPanel, shows_what_passes_cost) {
    frame();
    expect_texts(frame(), {"frame 1   3 entities", "Passes", "Memory", "Entities", "mean ms", "fall"});
}

TEST_F(ImguiPanel, shows_the_memory_of_component_types_and_owners) {
    expect_texts(open_tab("component tables"), {"bytes/row", "point_mass", "entity manager", "total"});
}

TEST_F(ImguiPanel, lists_entities_and_describes_the_chosen_one) {
    const std::string listed = open_tab("choose an entity");
    expect_texts(listed, {entity_text(entity_)});
    std::string shown;
    for (float y = 90; y < 200 && shown.find("mass = 7") == std::string::npos; y += 8) {
        click({60, y});
        shown = frame();
    }
    expect_texts(shown, {"is alive", "point_mass: mass = 7"});
}

TEST_F(ImguiPanel, switches_a_pass_off) {
    frame();
    for (float y = 70; y < 130 && world_.schedule().statistics(0).enabled; y += 6) click({22, y});
    EXPECT_FALSE(world_.schedule().statistics(0).enabled);
}

}  // namespace

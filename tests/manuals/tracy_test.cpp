// What docs/guide/reports.md shows of Tracy, with a header that stands in for it.

// [tracy]
#include "shoal/world/world.h"
#include "tracy/TracyC.h"

#include <cstring>
#include <vector>

/// A zone of Tracy for each time in which a worker works at a pass.
class TracyPasses final : public shoal::PassHook {
public:
    void begin(const char* pass) override {
        TracyCZone(zone, true);
        TracyCZoneName(zone, pass, std::strlen(pass));
        zones().push_back(zone);
    }
    void end(const char*) override {
        TracyCZoneEnd(zones().back());
        zones().pop_back();
    }

private:
    static std::vector<TracyCZoneCtx>& zones() {  // those that are open, of this thread
        static thread_local std::vector<TracyCZoneCtx> zones;
        return zones;
    }
};
// [tracy]

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace shoal;

void run(World& world) {
    // [tracy_run]
    TracyPasses tracy;
    world.schedule().set_hook(&tracy);  // before the first frame
    for (int i = 0; i < 600; ++i) world.step(1.0f / 60);
    world.schedule().set_hook(nullptr);  // before `tracy` is gone
    // [tracy_run]
}

TEST(TracyManual, each_pass_is_a_zone_in_each_frame) {
    EntityManager entities;
    World world(entities);
    world.schedule().add("swim", [](PassContext&) {});
    world.schedule().add("eat", [](PassContext&) {});
    run(world);
    const std::vector<FakeTracy::Zone>& zones = FakeTracy::instance().zones;
    EXPECT_EQ(std::ranges::count(zones, "swim", &FakeTracy::Zone::name), 600);
    EXPECT_EQ(std::ranges::count(zones, "eat", &FakeTracy::Zone::name), 600);
    EXPECT_TRUE(std::ranges::all_of(zones, &FakeTracy::Zone::has_ended));
}

}  // namespace

// Compares a plugin's pass, through the C interface, with the same pass in C++. Each pass runs in its own world.
//
//     plugin/pass_arrays    the function of the plugin runs over columns as arrays
//     plugin/pass_commands  the same; both passes may ask for changes, and do not
//
// The measured time is the time of World::step(), including the settle, which is the same on both sides.

#include "plugin/host.h"
#include "reference.h"
#include "shoal/save/state_hash.h"
#include "shoal/world/world.h"
#include "workloads.h"

#include <vector>

namespace shoal_bench {

using namespace shoal;

struct Wheel {
    float angle = 0, speed = 0;
};
SHOAL_COMPONENT(Wheel, angle, speed)

namespace {

constexpr std::size_t kNumWheels = 1'000'000;
constexpr float kStep = 0.001f;

struct Wheels {
    Wheels() : world(entities) {
        std::vector<Entity> ids(kNumWheels);
        std::vector<Wheel> wheels(kNumWheels);
        for (std::size_t i = 0; i < kNumWheels; ++i) wheels[i].speed = float(mix(i) % 512) / 512;
        need_ok(entities.create(ids));
        need(world.manager<Wheel>().add(ids, std::span<const Wheel>(wheels)));
    }
    EntityManager entities;
    World world;
};

void turn(void*, const shoal_pass* pass, const shoal_batch* batch) {
    const shoal_column* const angles = batch->columns[0];
    const shoal_column* const speeds = batch->columns[1];
    if (shoal_is_array(angles, sizeof(float)) == 0 || shoal_is_array(speeds, sizeof(float)) == 0) return;
    auto* const __restrict angle = static_cast<float*>(angles->first_written);
    const auto* const __restrict speed = static_cast<const float*>(speeds->first);
    const float dt = pass->dt;
    for (std::uint32_t i = 0; i < batch->num_rows; ++i) angle[i] += dt * speed[i];
}

}  // namespace

void measure_plugins(Bench& bench) {
    for (const bool may_command : {false, true}) {
        const char* const name = may_command ? "plugin/pass_commands" : "plugin/pass_arrays";
        if (!bench.wants(name)) continue;
        Wheels by_plugin, in_cpp;
        PluginHost host(by_plugin.world);
        shoal_world plugin(host, "bench");
        const char* const columns[] = {"wheel.angle", "wheel.speed"};
        shoal_pass_definition pass{};
        pass.size = sizeof pass;
        pass.name = "turn", pass.query = "&wheel", pass.run = turn;
        pass.columns = columns, pass.num_columns = 2;
        pass.flags = may_command ? 0 : SHOAL_NO_COMMANDS;
        need_ok(plugin_host_table().add_pass(&plugin, &pass, nullptr) != 0 ? Status() : Status::error("no pass"));
        const auto rows = in_cpp.world.query<Write<&Wheel::angle>, Read<&Wheel::speed>>();
        if (may_command)
            in_cpp.world.schedule().add(
                "turn", rows,
                [](const PassContext& frame, Commands&, auto&& angle, float speed) { angle += frame.dt * speed; });
        else
            in_cpp.world.schedule().add(
                "turn", rows, [](const PassContext& frame, auto&& angle, float speed) { angle += frame.dt * speed; });
        bench.compare({name, kNumWheels, 1.05},
                      {{}, [&] { by_plugin.world.step(kStep); }, [&] { return state_hash(by_plugin.world); }},
                      {{}, [&] { in_cpp.world.step(kStep); }, [&] { return state_hash(in_cpp.world); }});
    }
}

}  // namespace shoal_bench

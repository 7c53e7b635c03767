// A pass is a function that runs on all cores, over all rows that have the fields it names. Each pass is timed.
#include <shoal/world/world.h>

#include <cstdio>
#include <vector>

struct Boat {
    shoal::Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Boat, position, velocity)

struct Sail {
    float area = 0;
};
SHOAL_COMPONENT(Sail, (area, unit("m2")))

int main() {
    using namespace shoal;
    EntityManager entities;
    ThreadedExecutor threads;
    World world(entities, {.executor = &threads});
    auto& boats = world.manager<Boat>();
    auto& sails = world.manager<Sail>();

    std::vector<Entity> fleet(10'000);
    if (!entities.create(fleet) || !boats.add(fleet)) return 1;
    if (!sails.add(std::span(fleet).subspan(0, 2'500), {.area = 8})) return 1;

    // This pass visits all boats. It looks up the sail by entity. The pointer is null for boats without a sail.
    world.schedule().add("wind", query<Write<&Boat::velocity>, Maybe<&Sail::area>>(boats, sails),
                         [](auto&& velocity, const float* area) {
                             if (area) velocity.x += *area * 0.25f;
                         });
    world.schedule().add(
        "move", query<Write<&Boat::position>, Read<&Boat::velocity>>(boats),
        [](const PassContext& frame, auto&& position, Vec3 velocity) { position += velocity * frame.dt; });
    for (int frame = 0; frame < 4; ++frame) world.step(0.5f);

    std::printf("with a sail %g m, without %g m\n", boats.get<&Boat::position>(boats.instance(fleet[0])).x,
                boats.get<&Boat::position>(boats.instance(fleet[9'999])).x);
    for (std::size_t i = 0; i < world.schedule().num_passes(); ++i) {
        const PassStatistics pass = world.schedule().statistics(i);
        std::printf("%s: %d runs, %d rows\n", pass.name.data(), static_cast<int>(pass.num_runs),
                    static_cast<int>(pass.num_rows));
    }
}

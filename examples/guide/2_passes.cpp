// Step 2: passes. A pass is a named function that declares what it reads and writes, and runs over all rows.
#include <shoal/world/world.h>

#include <cmath>
#include <cstdio>
#include <vector>

struct Body {
    shoal::Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, (position, unit("m")), (velocity, unit("m/s")))

// [guide/around]
constexpr float kBay = 200;  // metres; what leaves on one side comes back on the other

float around(float coordinate) { return coordinate - kBay * std::round(coordinate / kBay); }
// [guide/around]

int main() {
    using namespace shoal;
    // [guide/workers]
    ThreadedExecutor workers;
    EntityManager entities;
    World world(entities, {.executor = &workers});
    // [guide/workers]
    Manager<Body>& bodies = world.manager<Body>();

    // [guide/random]
    std::vector<Entity> rocks(10'000);
    std::vector<Body> starts(rocks.size());
    for (Body& start : starts) {
        start.position = {world.random().unit() * kBay - kBay / 2, world.random().unit() * kBay - kBay / 2, 0};
        start.velocity = {world.random().unit() * 8 - 4, world.random().unit() * 8 - 4, 0};
    }
    if (!entities.create(rocks) || !bodies.add(rocks, starts)) return 1;
    // [guide/random]

    // [guide/passes]
    world.schedule().add(
        "move", world.query<Write<&Body::position>, Read<&Body::velocity>>(),
        [](const PassContext& frame, auto&& position, Vec3 velocity) { position += velocity * frame.dt; });
    world.schedule().add("wrap", world.query<Write<&Body::position>>(),
                         [](auto&& position) { position = Vec3{around(position.x), around(position.y), 0}; });
    for (int frame = 0; frame < 600; ++frame) world.step(1.0f / 60);
    // [guide/passes]

    // [guide/statistics]
    for (std::size_t i = 0; i < world.schedule().num_passes(); ++i) {
        const PassStatistics pass = world.schedule().statistics(i);
        std::printf("%s: %d runs, %d rows\n", pass.name.data(), int(pass.num_runs), int(pass.num_rows));
    }
    // [guide/statistics]
    int num_outside = 0;
    for (const Vec3& position : bodies.column<&Body::position>())
        num_outside += std::abs(position.x) > kBay / 2 || std::abs(position.y) > kBay / 2;
    std::printf("%d of %u rocks are outside of the bay\n", num_outside, bodies.num_rows());
    return 0;
}

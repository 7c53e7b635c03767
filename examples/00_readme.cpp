#include <shoal/world/world.h>

#include <cstdio>
#include <vector>

// [readme]
struct Body {
    float mass = 1;
    shoal::Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, (mass, unit("kg")), (position, unit("m"), split), (velocity, unit("m/s")))

int main() {
    shoal::EntityManager entities;
    shoal::World world(entities);
    auto& bodies = world.manager<Body>();

    std::vector<shoal::Entity> stones(100'000);
    if (auto status = entities.create(stones); !status) return 1;  // one call, not 100,000
    if (auto added = bodies.add(stones, {.mass = 2, .velocity = {1, 0, 3}}); !added) return 1;

    using shoal::Read, shoal::Write;
    auto moving = shoal::query<Write<&Body::position>, Read<&Body::velocity>>(bodies);
    world.schedule().add("move", moving,
                         [](const shoal::PassContext& frame, auto&& p, shoal::Vec3 v) { p += v * frame.dt; });
    world.step(0.5f);  // passes, then settle

    const auto stone = bodies.instance(stones[7]);  // one look-up, many fields
    std::printf("%g kg at height %g\n", bodies.get<&Body::mass>(stone), bodies.get<&Body::position>(stone).z);
}
// [readme]

// What the printers of tools/debugger are shown: a program that gdb stops in show().

#include "shoal/inspect/describe_entity.h"

#include <cstdio>

namespace shown {

using namespace shoal;

enum class Shape : std::uint8_t { kBox, kSphere };
SHOAL_ENUM(Shape, (kBox, "box"), (kSphere, "sphere"))

struct Body {
    float mass = 1;
    Vec3 position{};
    Shape shape = Shape::kSphere;
    std::array<std::uint8_t, 2> cell{1, 2};
    FixedString<8> label{"crab"};
    Entity target;
};
SHOAL_COMPONENT(Body, mass, (position, split), shape, cell, label, target)

[[gnu::noinline]] void show(World& world, Manager<Body>& bodies, Entity boat, Entity dead,
                            const SplitReference<Vec3>& place, const Status& status, const char* text) {
    std::printf("%u %u\n%s%s\n", bodies.num_rows(), boat.index() + dead.index(), text, world.frame() == 0 ? "" : "!");
    std::printf("%g %d\n", double(place.get().x), int(status.ok()));
}

int run() {
    EntityManager entities;
    World world(entities);
    auto& bodies = world.manager<Body>();
    Entity created[2];
    if (!entities.create(created)) return 1;
    if (!bodies.add(created[0], {.mass = 2, .position = {1, 2.5f, 3}, .target = created[1]})) return 1;
    entities.destroy(created[1]);
    const auto places = bodies.write_column<&Body::position>();
    const SplitReference<Vec3> place = places[0];
    const Status status = world.get(created[0], "body.colour").status();
    show(world, bodies, created[0], created[1], place, status, shoal_describe_entity(&world, created[0].id));
    return 0;
}

}  // namespace shown

int main() { return shown::run(); }

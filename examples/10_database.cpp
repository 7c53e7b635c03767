// A database holds entities with any mix of component types, in zones. Queries visit the entities that match.
#include <shoal/database/database.h>
#include <shoal/query/query.h>

#include <cstdio>
#include <vector>

struct Position {
    shoal::Vec3 value{};
};
SHOAL_COMPONENT(Position, value)
struct Velocity {
    shoal::Vec3 value{};
};
SHOAL_COMPONENT(Velocity, (value, split))
struct Hunger {
    float level = 0;
};
SHOAL_COMPONENT(Hunger, level)
// Because it is added and removed often, it is stored as one bit per row, and no row moves.
struct Asleep {};
SHOAL_COMPONENT((Asleep, enableable))
// It has its own manager, because few entities have it.
struct Lantern {
    float brightness = 1;
};
SHOAL_COMPONENT(Lantern, brightness)

int main() {
    using namespace shoal;
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    Manager<Lantern> lanterns(entities, pool);
    constexpr Zone kReef = 0, kDeep = 1;

    std::vector<Entity> fish(1000), rocks(50), anglers(20);
    if (!sea.create<Position, Velocity>(fish, kReef, {}, {{1, 0, 0}})) return 1;
    if (!sea.create<Position>(rocks, kReef, {{5, 5, 5}})) return 1;
    if (!sea.create<Position, Velocity, Hunger>(anglers, kDeep, {}, {{0, 0, 2}}, {3})) return 1;
    if (!lanterns.add(anglers, {.brightness = 4})) return 1;
    if (!sea.add(std::span(fish).subspan(0, 250), Asleep{})) return 1;

    // Moves all entities that have both components, except sleeping ones. blend() promises that the function writes
    // only to its arguments.
    const auto swim = query<Write<&Position::value>, Read<&Velocity::value>, Without<Asleep>>(sea);
    ThreadedExecutor threads;
    for (int frame = 0; frame < 4; ++frame)
        swim.for_each(threads, blend([](auto&& position, Vec3 velocity) { position += velocity * 0.5f; }));
    std::printf("%d rows; an angler is at z = %g, a sleeper at x = %g\n", static_cast<int>(swim.num_rows()),
                sea.get<&Position::value>(sea.find(anglers[0])).z, sea.get<&Position::value>(sea.find(fish[7])).x);

    // Visits only one zone. `hunger` is a pointer that is null for entities without the component.
    int num_hungry = 0, num_others = 0;
    query<Read<&Position::value>, Maybe<&Hunger::level>>(sea).in({kDeep}).for_each(
        [&](const Vec3&, const float* hunger) { ++(hunger != nullptr ? num_hungry : num_others); });
    std::printf("in the deep: %d hungry, %d others\n", num_hungry, num_others);

    // Visits whole columns, table by table.
    query<Read<&Position::value>>(sea).for_each_batch([](auto&& batch) {
        const auto positions = batch.template column<&Position::value>();
        std::printf("zone %d: %d rows, the first at x = %g\n", static_cast<int>(batch.zone()),
                    static_cast<int>(positions.size()), positions[0].x);
    });

    // A query can join fields of a manager. The loop runs over the side with fewer rows.
    const auto shine = query<Read<&Position::value>, Write<&Lantern::brightness>>(sea, lanterns);
    shine.for_each([](const Vec3& position, float& brightness) { brightness /= 1 + position.z; });
    std::printf("%s: a lantern shines with %g\n", &shine.driver() == &sea ? "through the sea" : "through the lanterns",
                lanterns.get<&Lantern::brightness>(lanterns.instance(anglers[0])));
}

// Passes use commands to create, destroy, move and change entities. Commands take effect when the world settles.
#include <shoal/command/commands.h>
#include <shoal/react/observers.h>
#include <shoal/world/world.h>

#include <cstdio>
#include <vector>

struct Position {
    shoal::Vec3 value{};
};
SHOAL_COMPONENT(Position, value)
struct Age {
    int frames = 0;
};
SHOAL_COMPONENT(Age, frames)
// An egg refers to its mother, and a fish to its egg.
struct Mother {
    shoal::Entity entity;
};
SHOAL_COMPONENT(Mother, entity)
struct Nest {
    shoal::Entity egg;
};
SHOAL_COMPONENT(Nest, egg)

int main() {
    using namespace shoal;
    constexpr Zone kReef = 0, kDeep = 1;
    EntityManager entities;
    ThreadedExecutor threads;
    World world(entities, {.executor = &threads});
    Database& sea = world.database();
    std::vector<Entity> fish(1000);
    if (!sea.create<Position, Age>(fish, kReef)) return 1;

    world.schedule().add("grow", query<Write<&Age::frames>>(sea), [](auto&& age) { ++age; });
    // The first argument is the Commands object for the function's chunk of rows.
    world.schedule().add("breed", query<Read<&Position::value>, Read<&Age::frames>, Without<Nest>>(sea),
                         [](Commands& commands, Entity self, const Vec3& place, int age) {
                             if (age != 2 || self.index() % 10 != 0) return;
                             const Entity egg =
                                 commands.create(kReef, Position{place}, Age{}, Mother{self});  // a pending entity
                             commands.add(self, Nest{egg});  // replaced by the real id when the egg is created
                         });
    world.schedule().add("leave", query<Read<&Age::frames>>(sea), [](Commands& commands, Entity self, int age) {
        if (age == 3) commands.move(self, kDeep);
        if (age == 4) commands.destroy(self);
    });

    world.observers().keep_journal(10'000);
    for (int frame = 1; frame <= 5; ++frame) {
        const std::uint64_t before = world.stamp();
        world.step(0);
        const SettleCounts& done = world.settle_statistics().last;
        std::printf(
            "frame %d: %d made, %d moved, %d destroyed, %d left out; %d in the reef, %d in the deep; journal %d\n",
            frame, int(done.num_created), int(done.num_moved), int(done.num_destroyed), int(done.num_dropped),
            int(sea.num_rows(kReef)), int(sea.num_rows(kDeep)), int(world.observers().journal(before).entries.size()));
        if (frame != 2) continue;
        const Entity mother = fish[9];
        const Entity egg = sea.get<&Nest::egg>(sea.find(mother));
        std::printf("the egg of a fish lives: %d, and knows its mother: %d\n", entities.alive(egg),
                    sea.get<&Mother::entity>(sea.find(egg)) == mother);
    }
}

#pragma once
// Two programs that keep the same ships: `Then` saves them with the fields that they had, `Now` has others, and migrations that
// lead to them. What is tested of saves of older programs, and what a fuzzer of them begins with.

#include "shoal/resource/migration.h"

#include "support/whole_world.h"

#include <vector>

namespace shoal_test {

/// What the program had that saved.
namespace then {
enum class Paint : std::uint8_t { kGrey = 1, kRed = 5 };
SHOAL_ENUM(Paint, (kGrey, "grey"), (kRed, "red"))
struct Hull {
    float armour = 2;
    Vec2 size{1, 1};
    std::uint16_t number = 0;
    Paint paint = Paint::kGrey;
};
SHOAL_COMPONENT(Hull, armour, size, number, paint)
struct Cargo {
    std::uint32_t crates = 0;
};
SHOAL_COMPONENT((Cargo, many), crates)
struct Sail {
    float area = 1;
};
SHOAL_COMPONENT(Sail, area)
struct Wind {
    float speed = 3;
};
SHOAL_COMPONENT((Wind, single), speed)
struct Follows {
    float distance = 1;
    Entity leader;
};
SHOAL_COMPONENT(Follows, distance, (leader, relation))
struct Berth {
    std::uint32_t dock = 0;
};
SHOAL_COMPONENT(Berth, dock)
struct Signal {
    std::uint8_t flag = 0;
};
SHOAL_COMPONENT((Signal, toggled), flag)
struct Log {
    float depth = 0;
};
SHOAL_COMPONENT((Log, many), depth)
}  // namespace then

/// What it has now.
namespace now {
enum class Paint : std::uint16_t { kRed = 300, kGrey = 7 };
SHOAL_ENUM(Paint, (kRed, "red"), (kGrey, "grey"))
struct Hull {
    std::uint64_t number = 0;
    Paint paint = Paint::kRed;
    float armor = 20, width = 0, length = 0;
    Vec3 place{1, 2, 3};
};
SHOAL_COMPONENT((Hull, version(3)), number, paint, armor, width, length, (place, split))
struct Cargo {
    bool sealed = true;
    std::uint64_t crates = 0;
};
SHOAL_COMPONENT((Cargo, many, whole, version(2)), sealed, crates)
struct Sail {
    float area = 1;
};
SHOAL_COMPONENT((Sail, version(2), many), area)
struct Wind {
    Vec3 velocity{};
};
SHOAL_COMPONENT((Wind, version(2), single), velocity)
struct Follows {
    Entity leader;
    double distance = 1;
};
SHOAL_COMPONENT((Follows, version(2)), (leader, relation), distance)
struct Mooring {
    std::uint32_t dock = 0;
    float rope = 4;
};
SHOAL_COMPONENT((Mooring, version(2)), dock, rope)
struct Signal {
    std::uint8_t flag = 0;
    float since = -1;
};
SHOAL_COMPONENT((Signal, toggled, version(2)), flag, since)
struct Log {
    double depth = 0;
};
SHOAL_COMPONENT((Log, many, version(2)), depth)
}  // namespace now

inline void say_what_changed(ComponentRegistry& registry) {
    Migrations& hull = registry.migrations<now::Hull>();
    hull.from(1).rename("armour", "armor").convert("armor", [](float centimetres) { return 10 * centimetres; });
    hull.from(2).split("size", {"width", "length"}, [](Vec2 size, float& width, float& length) {
        width = size.x;
        length = size.y;
    });
    registry.migrations<now::Sail>().from(1).convert("area", [](float area) { return area + 100; });
    registry.migrations<now::Wind>().from(1).split("speed", {"velocity"},
                                                   [](float speed, Vec3& velocity) { velocity = {0, speed, 0}; });
    registry.migrations<now::Mooring>().renamed_from("berth");
    must(registry.add<now::Signal>().ok() && registry.add<now::Log>().ok());
}

/// The program that saves. `in_database`: hulls, berths, signals and logs live there.
struct Then {
    explicit Then(std::uint64_t seed, std::uint32_t num_ships = 3000)
        : world(entities, {.seed = seed}), sea(world.database()) {
        sea.component<Spot>(), sea.component<then::Hull>(), sea.component<then::Signal>(), sea.component<then::Log>();
        sea.component<then::Berth>(), sea.component<Plankton>();
        world.manager<then::Cargo>(), world.manager<then::Sail>(), world.manager<then::Follows>();
        world.manager<Fin>(), world.single<then::Wind>();
        fill(world.random(), num_ships);
    }
    void fill(Random& random, std::uint32_t num_ships) {
        for (std::uint32_t i = 0; i < num_ships; ++i) {
            const Entity made = *entities.create();
            all.push_back(made);
            const then::Hull hull{random.unit(),
                                  {random.unit(), 5},
                                  std::uint16_t(i),
                                  random.below(2) == 0 ? then::Paint::kGrey : then::Paint::kRed};
            const Zone zone = random.below(3);
            must(sea.insert(made, zone, Spot{{float(i), 0, 0}}, hull).ok());
            if (i % 3 == 0) must(sea.add(made, then::Berth{i + 7}).ok());
            const then::Signal signal{std::uint8_t(i)};
            if (i % 8 == 0) must(sea.add(made, Off{signal}).ok());
            if (i % 8 == 4) must(sea.add(made, signal).ok());
            if (i % 5 == 0) must(sea.add(made, Plankton{i, Kind::kAnimal, true}).ok());
            for (std::uint32_t k = 0; k < i % 3; ++k) must(sea.add(made, then::Log{float(i + k)}).ok());
            for (std::uint32_t k = 0; k < i % 4; ++k) must(world.manager<then::Cargo>().add(made, {i * 10 + k}).ok());
            if (i % 2 == 0) must(world.manager<then::Sail>().add(made, {float(i)}).ok());
            if (i % 7 == 1) must(world.manager<then::Follows>().add(made, {float(i), all[i / 2]}).ok());
            if (i % 6 == 0) must(world.manager<Fin>().add(made, {{1, 2, float(i)}, 0.5f}).ok());
        }
        for (std::uint32_t i = 0; i < all.size(); i += 11) entities.destroy(all[i]);
        world.single<then::Wind>().speed = 12;
        for (int i = 0; i < 3; ++i) world.step(0.1f);
    }
    Array<std::byte> bytes() {
        Array<std::byte> result{Owner("test")};
        must(world.save(result).ok());
        return result;
    }

    EntityManager entities;
    World world;
    Database& sea;
    std::vector<Entity> all;
};

/// The program that loads. Its component types are declared in another order.
struct Now {
    Now() : world(entities), sea(world.database()) {
        say_what_changed(world.registry());
        sea.component<now::Log>(), sea.component<Plankton>(), sea.component<now::Mooring>();
        sea.component<now::Signal>(), sea.component<now::Hull>(), sea.component<Spot>();
        world.manager<now::Follows>(), world.manager<now::Sail>(), world.manager<now::Cargo>();
        world.manager<Fin>(), world.single<now::Wind>();
    }
    EntityManager entities;
    World world;
    Database& sea;
};

}  // namespace shoal_test

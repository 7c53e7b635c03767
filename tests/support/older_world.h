#pragma once
// Two programs that keep the same ships: `Then` saves them with the fields that they had, `Now` has others, and migrations that
// lead to them. What is tested of saves of older programs, and what a fuzzer of them begins with.

#include "shoal/resource/migration.h"
#include "shoal/save/zone_streaming.h"

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
SHOAL_COMPONENT((Wind, singleton), speed)
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
SHOAL_COMPONENT((Signal, enableable), flag)
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
SHOAL_COMPONENT((Wind, version(2), singleton), velocity)
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
SHOAL_COMPONENT((Signal, enableable, version(2)), flag, since)
struct Logbook {  // the log of then
    double depth = 0;
};
SHOAL_COMPONENT((Logbook, many, version(2)), depth)
}  // namespace now

void say_what_changed(ComponentRegistry& registry);

/// The program that saves. `in_database`: hulls, berths, signals and logs live there.
struct Then {
    explicit Then(std::uint64_t seed, std::uint32_t num_ships = 3000);
    void fill(Random& random, std::uint32_t num_ships);
    Array<std::byte> bytes();

    EntityManager entities;
    World world;
    ZoneStreaming zones{world};
    Database& sea;
    std::vector<Entity> all;
};

/// The program that loads. Its component types are declared in another order.
struct Now {
    Now();
    EntityManager entities;
    World world;
    ZoneStreaming zones{world};
    Database& sea;
};

}  // namespace shoal_test

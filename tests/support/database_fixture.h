#pragma once
// A database with some component types, for the tests of every room that knows databases.

#include "shoal/database/database.h"
#include "support/testing.h"

#include <string>
#include <vector>

namespace shoal_test {

using namespace shoal;

struct Position {
    Vec3 value;
};
SHOAL_COMPONENT(Position, value)

struct Velocity {
    Vec3 value = {1, 2, 3};
};
SHOAL_COMPONENT(Velocity, (value, split))

struct Mass {
    float value = 5;
};
SHOAL_COMPONENT(Mass, value)

/// Of no fields.
struct Marked {};
SHOAL_COMPONENT(Marked)

struct Asleep {
    std::uint32_t since = 7;
};
SHOAL_COMPONENT((Asleep, enableable), since)

struct Hungry {};
SHOAL_COMPONENT((Hungry, enableable))

struct Body {
    double energy = 3;
    std::uint8_t kind = 1;
    Entity target{};
};
SHOAL_COMPONENT((Body, whole), energy, kind, target)

struct Title {
    std::string text = "none";
    std::uint32_t number = 4;
};
SHOAL_COMPONENT(Title, text, number)

/// An entity may have several of these.
struct Tally {
    Vec3 place = {6, 7, 8};
    std::uint32_t number = 6;
};
SHOAL_COMPONENT((Tally, many), (place, split), number)

struct Page {
    std::string text = "none";
    std::uint32_t number = 8;
};
SHOAL_COMPONENT((Page, many), text, number)

struct DatabaseFixture {
    DatabaseFixture() : entities({.minimum_free_ids = 1}), database(entities, pool) {}
    std::vector<Entity> make(std::size_t count) {
        std::vector<Entity> made(count);
        EXPECT_TRUE(entities.create(made).ok());
        return made;
    }

    EntityManager entities;
    PagePool pool;
    Database database;
};

}  // namespace shoal_test

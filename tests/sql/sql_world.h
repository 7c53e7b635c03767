#pragma once
// A world with each kind of field and store, and questions about it.

#include "shoal/components/debug_name.h"
#include "shoal/components/tag.h"
#include "shoal/database/database.h"
#include "shoal/sql/sql.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

enum class Mood : std::uint8_t { kCalm, kAngry = 4 };
SHOAL_ENUM(Mood, (kCalm, "calm"), (kAngry, "angry"))

struct Body {
    float mass = 1;
    Vec3 position{};
    Vec3 velocity{};
};
SHOAL_COMPONENT((Body, name("body")), (mass, range(0, 1000)), (position, split), velocity)

struct Fish {
    Mood mood{};
    bool hungry = false;
    std::int16_t age = 0;
    std::uint64_t code = 0;
    Entity friend_of{};
    FixedString<16> label{};
    std::array<std::uint8_t, 3> weights{};
};
SHOAL_COMPONENT((Fish, name("fish")), mood, hungry, age, code, friend_of, label, weights)

struct Wound {
    std::int32_t depth = 0;
    Entity from{};
};
SHOAL_COMPONENT((Wound, name("wound"), many), depth, from)

struct Asleep {
    double since = 0;
};
SHOAL_COMPONENT((Asleep, name("asleep"), enableable), since)

struct Wind {
    Vec2 force{1, 2};
};
SHOAL_COMPONENT((Wind, name("wind"), singleton), force)

struct SqlWorld {
    SqlWorld() : world(entities), connection(world) {
        world.manager<Body>();
        world.manager<Wound>();
        Database& sea = world.database();
        EXPECT_TRUE(world.directory().claim<Fish>(sea));
        EXPECT_TRUE(world.directory().claim<Asleep>(sea));
    }

    Entity make() {
        const Result<Entity> made = entities.create();
        EXPECT_TRUE(made);
        return *made;
    }
    Entity make_body(const Body& body) {
        const Entity entity = make();
        EXPECT_TRUE(world.manager<Body>().add(entity, body));
        return entity;
    }
    void make_fish(Entity entity, const Fish& fish, Zone zone = 0) {
        EXPECT_TRUE(world.database().insert(entity, zone, fish));
    }

    /// The rows of an answer as people read them: "1 a|2 b".
    std::string rows(std::string_view text, const sql::Options& options = {}) {
        const Result<sql::Answer> answer = connection.ask(text, options);
        if (!answer) return std::string(answer.message());
        std::string all;
        for (std::size_t row = 0; row < answer->num_rows(); ++row)
            for (std::size_t column = 0; column < answer->num_columns(); ++column) {
                const sql::Value value = answer->at(row, column);
                all += column > 0 ? " " : row > 0 ? "|" : "";
                all += value.kind == sql::Kind::kNull ? "NULL" : value.to_text();
            }
        return all;
    }
    std::string updated(std::string_view text) {
        const Result<sql::Answer> answer = connection.ask(text, {.allow_updates = true});
        return answer ? std::to_string(answer->num_updated()) : std::string(answer.message());
    }

    EntityManager entities{{.minimum_free_ids = 1}};
    World world;
    sql::Connection connection;
};

}  // namespace shoal

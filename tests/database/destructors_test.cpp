// Destructors of components that destroy other entities, in every call that ends components.

#include "shoal/database/database.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shoal_test {

using namespace shoal;

/// Takes another entity along when it ends.
struct Hook {
    Database* database = nullptr;
    Entity other;

    Hook() = default;
    Hook(Database* of, Entity along) : database(of), other(along) {}
    Hook(Hook&& hook) noexcept : database(std::exchange(hook.database, nullptr)), other(hook.other) {}
    Hook& operator=(Hook&& hook) noexcept {
        std::swap(database, hook.database);
        std::swap(other, hook.other);
        return *this;
    }
    Hook(const Hook& hook) = default;
    Hook& operator=(const Hook& hook) = default;
    ~Hook() {
        if (database != nullptr) database->destroy(other);
    }
};

struct Hooked {
    Hook hook;
    std::string text = "a text that needs memory of its own";
};
SHOAL_COMPONENT(Hooked, hook, text)
/// An entity may have several.
struct Rope {
    Hook hook;
};
SHOAL_COMPONENT((Rope, many), hook)
struct Serial {
    std::uint32_t number = 0;
};
SHOAL_COMPONENT(Serial, number)
struct Weight {
    float value = 0;
};
SHOAL_COMPONENT(Weight, value)

namespace {

/// Entity i takes entity others[i] along; some lie in one table, some in another.
struct Sea {
    explicit Sea(std::size_t count) : made(count) {
        EXPECT_TRUE(entities.create(made).ok());
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_TRUE(database.add(made[i], Serial{static_cast<std::uint32_t>(i)}, Hooked()).ok());
            for (std::size_t k = 0; k < i % 4; ++k) EXPECT_TRUE(database.add(made[i], Rope()).ok());
            if (i % 3 != 0) continue;
            EXPECT_TRUE(database.add(made[i], Weight{1}).ok());
        }
    }
    void hook(Entity entity, Entity other) {
        const DatabaseRow row = database.find(entity);
        if (!row || !database.has<Hooked>(entity)) return;
        auto* const hooks = reinterpret_cast<Hook*>(
            row.table->table().unmarked_column(row.table->first_column(database.component<Hooked>())));
        hooks[row.row].database = other ? &database : nullptr;
        hooks[row.row].other = other;
    }
    void hook_rope(Entity entity, std::uint32_t index, Entity other) {
        const ComponentRow at = database.find_row(schema_of<Rope>().id(), entity, index);
        if (!at) return;
        auto* const hooks = reinterpret_cast<Hook*>(const_cast<Table*>(at.table)->unmarked_column(at.first_column));
        hooks[at.row].database = other ? &database : nullptr;
        hooks[at.row].other = other;
    }
    void expect_sound() {
        const Status status = database.validate();
        ASSERT_TRUE(status.ok()) << status.message();
        for (std::size_t i = 0; i < made.size(); ++i) {
            const DatabaseRow row = database.find(made[i]);
            ASSERT_EQ(static_cast<bool>(row), entities.alive(made[i])) << i;
            if (!row) continue;
            ASSERT_EQ(database.get<&Serial::number>(row), i);
            if (!database.has<Hooked>(made[i])) continue;
            ASSERT_EQ(database.get<&Hooked::text>(row), "a text that needs memory of its own");
        }
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    std::vector<Entity> made;
};

constexpr std::size_t kCount = 40;

void hook_at_random(Sea& sea, Random& random) {
    for (std::size_t i = 0; i < kCount; ++i)
        if (random.below(3) == 0)
            sea.hook(sea.made[i], sea.made[random.below(kCount)]);
        else if (random.below(3) == 0)
            sea.hook_rope(sea.made[i], random.below(3), sea.made[random.below(kCount)]);
}

/// Calls change(sea, random) for seas in which some entities take others along, and checks what is left.
template <class Change>
void change_random_seas(Change change) {
    const LeakCheck leaks;
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int round = 0; round < 100 && !testing::Test::HasFatalFailure(); ++round) {
        Sea sea(kCount);
        hook_at_random(sea, random);
        change(sea, random);
        sea.expect_sound();
    }
}

TEST(Destructors, may_destroy_others_while_the_database_ends) {
    change_random_seas([](Sea&, Random&) {});
}

TEST(Destructors, may_destroy_others_while_one_entity_is_destroyed) {
    change_random_seas([](Sea& sea, Random& random) {
        for (int i = 0; i < 10; ++i) {
            sea.database.destroy(sea.made[random.below(kCount)]);
            ASSERT_NO_FATAL_FAILURE(sea.expect_sound());
        }
    });
}

TEST(Destructors, may_destroy_others_while_a_span_is_destroyed_or_dropped_at_settle) {
    change_random_seas([](Sea& sea, Random& random) {
        std::vector<Entity> doomed = sea.made;
        for (std::size_t i = kCount; i > 1; --i)
            std::swap(doomed[i - 1], doomed[random.below(static_cast<std::uint32_t>(i))]);
        doomed.resize(random.below(kCount));
        if (random.below(2) == 0) {
            sea.database.destroy(doomed);
        } else {
            sea.entities.destroy(doomed);
            for (int i = 0; i < 5; ++i) sea.database.settle({});  // each may let others die
        }
        for (const Entity entity : doomed) ASSERT_FALSE(sea.entities.alive(entity));
    });
}

TEST(Destructors, may_destroy_others_while_components_are_removed) {
    change_random_seas([](Sea& sea, Random& random) {
        const std::span<const Entity> some = std::span(sea.made).first(random.below(kCount));
        const std::size_t num_at_once = random.below(2) == 0 ? some.size() : 0;
        ASSERT_TRUE(sea.database.remove<Hooked>(some.first(num_at_once)).ok());
        for (const Entity entity : some.subspan(num_at_once)) ASSERT_TRUE(sea.database.remove<Hooked>(entity).ok());
        for (const Entity entity : some) ASSERT_FALSE(sea.database.has<Hooked>(entity));
    });
}

TEST(Destructors, of_several_values_may_destroy_others_while_they_are_removed_and_end_nothing_while_they_move) {
    change_random_seas([](Sea& sea, Random& random) {
        const std::uint64_t num_alive = sea.entities.num_alive();
        ASSERT_TRUE(sea.database.move(sea.made, 3).ok());
        for (const Entity entity : sea.made) ASSERT_TRUE(sea.database.add(entity, Rope()).ok());
        ASSERT_TRUE(sea.database.move(sea.made[7], 4).ok());
        ASSERT_EQ(sea.entities.num_alive(), num_alive);
        for (int i = 0; i < 10; ++i) {
            const Entity entity = sea.made[random.below(kCount)];
            const std::uint32_t count = sea.database.num_values<Rope>(entity), index = random.below(4);
            ASSERT_EQ(*sea.database.remove_value<Rope>(entity, index), index < count);
            ASSERT_NO_FATAL_FAILURE(sea.expect_sound());
        }
        const std::span<const Entity> some = std::span(sea.made).first(random.below(kCount));
        const std::size_t num_at_once = random.below(2) == 0 ? some.size() : 0;
        ASSERT_TRUE(sea.database.remove<Rope>(some.first(num_at_once)).ok());
        for (const Entity entity : some.subspan(num_at_once)) ASSERT_TRUE(sea.database.remove<Rope>(entity).ok());
        for (const Entity entity : some) ASSERT_EQ(sea.database.num_values<Rope>(entity), 0u);
    });
}

TEST(Destructors, may_destroy_others_while_a_zone_is_cleared) {
    change_random_seas([](Sea& sea, Random&) {
        const auto cleared = std::span<const Entity>(sea.made).first(kCount / 2);
        ASSERT_TRUE(sea.database.move(cleared, 3).ok());
        const auto num_living = std::ranges::count_if(cleared, [&](Entity one) { return sea.entities.alive(one); });
        ASSERT_EQ(sea.database.clear_zone(3), static_cast<std::uint32_t>(num_living));
    });
}

/// Changes a database when it ends.
struct Meddler {
    void (*change)(Database&, Entity) = nullptr;
    Database* database = nullptr;
    Entity other;
};
struct Meddling {
    std::shared_ptr<const Meddler> meddler;
};
SHOAL_COMPONENT(Meddling, meddler)

/// Many entities in a table; the component of the first changes the database when it ends.
struct MeddledSea {
    explicit MeddledSea(void (*change)(Database&, Entity)) : made(kCount) {
        EXPECT_TRUE((database.create<Serial, Meddling>(made, 0).ok()));
        std::vector<Entity> others(kCount);
        EXPECT_TRUE(database.create<Serial>(others, 7).ok());
        const auto end = [](const Meddler* meddler) {
            meddler->change(*meddler->database, meddler->other);
            delete meddler;
        };
        EXPECT_TRUE(database.add(made[0], Meddling{{new Meddler{change, &database, made[5]}, end}}).ok());
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    std::vector<Entity> made;
};

void destroy_one(Database& database, Entity other) { database.destroy(other); }
void destroy_two(Database& database, Entity other) { database.destroy(std::vector<Entity>{other, other}); }

TEST(DestructorsInSpanCalls, may_destroy_one_entity_at_a_time) {
    const LeakCheck leaks;
    for (const bool moves : {false, true}) {
        MeddledSea sea(destroy_one);
        if (moves)
            EXPECT_EQ(*sea.database.move(sea.made, 3), kCount);
        else
            EXPECT_EQ(*sea.database.remove<Meddling>(sea.made), kCount);
        EXPECT_EQ(sea.entities.alive(sea.made[5]), moves) << "a value that moves does not end";
        EXPECT_EQ(sea.database.validate().message(), "");
        sea.database.destroy(sea.made);
        EXPECT_EQ(sea.database.num_rows(), kCount) << "those in zone 7";
    }
}

TEST(DestructorsInSpanCalls, may_destroy_many_when_the_entities_of_the_call_are_destroyed) {
    const LeakCheck leaks;
    MeddledSea sea(destroy_two);
    EXPECT_EQ(sea.database.destroy(std::span<const Entity>(sea.made).first(5)), 5u);
    EXPECT_FALSE(sea.entities.alive(sea.made[5]));
    EXPECT_EQ(sea.database.num_rows(0), kCount - 6);
    EXPECT_EQ(sea.database.validate().message(), "");
}

TEST(DestructorsInSpanCalls, that_change_anything_else_end_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto remove_from = [](void (*change)(Database&, Entity)) {
        MeddledSea sea(change);
        static_cast<void>(sea.database.remove<Meddling>(sea.made));
    };
    EXPECT_DEATH(remove_from(destroy_two), "may destroy entities one by one");
    // Consecutive rows that are bytes could be removed without a selection.
    EXPECT_DEATH(remove_from([](Database& database, Entity) {
                     database.destroy(database.find_table(database.archetype<Serial>(), 7)->entities());
                 }),
                 "may destroy entities one by one");
    EXPECT_DEATH(remove_from([](Database& database, Entity other) { static_cast<void>(database.move(other, 3)); }),
                 "may destroy entities one by one");
    EXPECT_DEATH(
        remove_from([](Database& database, Entity other) { static_cast<void>(database.remove<Serial>(other)); }),
        "may destroy entities one by one");
}

TEST(DestructorsInSpanCalls, of_a_value_that_is_set_end_the_program_when_they_change_the_database) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto set = [](std::size_t count) {
        MeddledSea sea(destroy_one);
        static_cast<void>(sea.database.add(std::span<const Entity>(sea.made).first(count), Meddling{}));
    };
    EXPECT_DEATH(set(1), "setting a component has ended a value whose destructor changes the database");
    EXPECT_DEATH(set(kCount), "setting a component has ended a value whose destructor changes the database");
}

}  // namespace
}  // namespace shoal_test

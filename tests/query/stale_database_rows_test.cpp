// Rows, fields and batches of a database that are used after the rows have moved: checked builds end the program.

#include "shoal/query/query.h"
#include "shoal/query/typed_database.h"
#include "support/testing.h"

#include <functional>
#include <vector>

namespace {

using namespace shoal;

struct Float {
    float height = 1;
};
SHOAL_COMPONENT(Float, height)
struct Keel {
    float depth = 2;
};
SHOAL_COMPONENT(Keel, depth)

struct Dock {
    EntityManager entities;
    PagePool pool;
    Database boats{entities, pool};
    std::vector<Entity> made = std::vector<Entity>(10);

    Dock() { EXPECT_TRUE((boats.create<Float, Keel>(made, Zone(0)).ok())); }
};

TEST(StaleDatabaseRows, entities_that_come_leave_rows_as_they_are) {
    Dock dock;
    const DatabaseRow row = dock.boats.find(dock.made[3]);
    std::vector<Entity> more(2);
    ASSERT_TRUE((dock.boats.create<Float, Keel>(more, Zone(0)).ok()));
    dock.boats.set<&Float::height>(row, 3);
    EXPECT_EQ(dock.boats.get<&Float::height>(row), 3);
    EXPECT_EQ(row, dock.boats.find(dock.made[3]));
}

#if SHOAL_CHECKED
TEST(StaleDatabaseRowsDeathTest, a_row_that_is_older_than_a_removal_or_a_move_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    constexpr const char* kMessage = "\"float\" was asked of a row that is older than the last removal or move";
    Dock dock;
    using Types = Archetypes<Has<Float, Keel>>;
    TypedDatabase<Types> typed(dock.boats);
    DatabaseRow row = dock.boats.find(dock.made[3]);
    ASSERT_TRUE(dock.boats.destroy(dock.made[3]));
    dock.boats.settle({});
    EXPECT_DEATH(static_cast<void>(dock.boats.get<&Float::height>(row)), kMessage);
    EXPECT_DEATH(dock.boats.set<&Float::height>(row, 2), kMessage);
    EXPECT_DEATH(static_cast<void>(typed.get<&Float::height>(row)), kMessage);
    row = dock.boats.find(dock.made[4]);
    ASSERT_TRUE(dock.boats.remove<Keel>(dock.made[5]).ok());
    EXPECT_DEATH(dock.boats.set<&Float::height>(row, 2), kMessage);
}

TEST(StaleDatabaseRowsDeathTest, a_row_of_another_database_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Dock dock, other;
    const DatabaseRow row = other.boats.find(other.made[3]);
    EXPECT_DEATH(static_cast<void>(dock.boats.get<&Float::height>(row)),
                 "\"float\" was asked of a row of another database; call find\\(\\) of this one");
}

TEST(StaleDatabaseRowsDeathTest, a_look_up_of_a_field_that_is_older_than_a_table_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Dock dock;
    const auto heights = dock.boats.field<&Float::height>();
    std::vector<Entity> more(20'000);
    ASSERT_TRUE((dock.boats.create<Float>(std::span(more).first(1), Zone(0)).ok()));
    EXPECT_DEATH(static_cast<void>(heights.find(more[0])), "a column of field \"height\" of \"float\" is older than");
    EXPECT_NE(heights.find(dock.made[0]), nullptr) << "the other table is as it was";
    ASSERT_TRUE((dock.boats.create<Float, Keel>(more, Zone(0)).ok()));  // the table grows, and its columns move
    EXPECT_DEATH(static_cast<void>(heights.find(dock.made[0])), "a column of field \"height\" of \"float\"");
}

TEST(StaleDatabaseRowsDeathTest, a_column_of_a_table_and_a_batch_that_was_kept_end_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Dock dock;
    const auto depths = dock.boats.find(dock.made[0]).table->column<&Keel::depth>(dock.boats.find_component<Keel>());
    const auto boats = query<Write<&Float::height>, Read<&Keel::depth>>(dock.boats);
    const auto check = [&](auto&& use) {
        boats.for_each_batch([&](const auto& batch) {
            auto* const kept = new std::decay_t<decltype(batch)>(batch);
            const auto column = kept->template column<&Float::height>();
            use([kept, column, &dock](int which) {
                dock.entities.destroy(dock.made[0]);
                dock.boats.settle({});
                if (which == 0) static_cast<void>(kept->entities());
                if (which == 1) static_cast<void>(kept->template column<&Keel::depth>());
                if (which == 2) static_cast<void>(column[0]);
                delete kept;
            });
        });
    };
    std::function<void(int)> later;
    check([&](auto function) { later = function; });
    EXPECT_DEATH(later(0), "a batch of a query was used after its loop");
    EXPECT_DEATH(later(1), "a batch of a query was used after its loop");
    EXPECT_DEATH(later(2), "a column of field \"height\" of \"float\" is older than");
    later(3);
    EXPECT_DEATH(static_cast<void>(depths[0]), "a column of field \"depth\" of \"keel\" is older than");
}
#endif

}  // namespace

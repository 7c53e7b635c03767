// Instances and columns of managers that are used after the rows have moved: checked builds end the program.

#include "shoal/store/manager.h"
#include "support/testing.h"

#include <vector>

namespace {

using namespace shoal;

struct Buoy {
    float weight = 1;
    Vec3 place{};
    Vec3 drift{};
};
SHOAL_COMPONENT(Buoy, weight, (place, split), drift)
struct Anchor {
    int depth = 0, length = 0;
};
SHOAL_COMPONENT((Anchor, whole), depth, length)
struct Rope {
    int number = 0;
};
SHOAL_COMPONENT((Rope, many), number)

struct Harbour {
    EntityManager entities;
    PagePool pool;
    Manager<Buoy> buoys{entities, pool};
    Manager<Anchor> anchors{entities, pool};
    std::vector<Entity> made = std::vector<Entity>(10);

    Harbour() {
        EXPECT_TRUE(entities.create(made).ok());
        EXPECT_TRUE(buoys.add(made).ok());
        EXPECT_TRUE(anchors.add(made).ok());
    }
};

TEST(StaleRows, rows_that_are_added_leave_instances_and_columns_as_they_are) {
    Harbour harbour;
    ASSERT_TRUE(harbour.buoys.reserve(10));
    const Instance first = harbour.buoys.instance(harbour.made[0]);
    const auto weights = harbour.buoys.column<&Buoy::weight>();
    std::vector<Entity> more(10);
    ASSERT_TRUE(harbour.entities.create(more));
    ASSERT_TRUE(harbour.buoys.add(more, Buoy{.weight = 2}));
    harbour.buoys.set<&Buoy::weight>(first, 5);
    EXPECT_EQ(weights[0], 5);
    ASSERT_TRUE(harbour.buoys.add(harbour.made[0], Buoy{.weight = 6}));  // sets the one that it has
    EXPECT_EQ(harbour.buoys.get<&Buoy::weight>(first), 6);
}

TEST(StaleRows, an_instance_is_that_of_its_row_whenever_it_was_looked_up) {
    Harbour harbour;
    const Instance before = harbour.buoys.instance(harbour.made[0]);
    ASSERT_TRUE(harbour.buoys.remove(harbour.made[9]));
    EXPECT_EQ(before, harbour.buoys.instance(harbour.made[0]));
    EXPECT_EQ(before, Instance{0});
}

#if SHOAL_CHECKED
TEST(StaleRowsDeathTest, an_instance_that_is_older_than_a_removal_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Harbour harbour;
    const Instance kept = harbour.buoys.instance(harbour.made[3]);
    ASSERT_TRUE(harbour.buoys.remove(harbour.made[3]));  // the row is another's now
    constexpr const char* kMessage = "the instance of row 3 of \"buoy\" is older than the last removal or move";
    EXPECT_DEATH(static_cast<void>(harbour.buoys.get<&Buoy::weight>(kept)), kMessage);
    EXPECT_DEATH(harbour.buoys.set<&Buoy::weight>(kept, 2), kMessage);
    EXPECT_DEATH(static_cast<void>(harbour.buoys.value(kept)), kMessage);
    EXPECT_DEATH(static_cast<void>(harbour.buoys.entity(kept)), kMessage);
    EXPECT_DEATH(harbour.buoys.remove(kept), kMessage);
}

TEST(StaleRowsDeathTest, what_add_and_next_return_is_watched_too) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Harbour harbour;
    Entity one;
    ASSERT_TRUE(harbour.entities.create({&one, 1}));
    const Instance added = harbour.buoys.add(one).value();
    ASSERT_TRUE(harbour.buoys.remove(harbour.made[0]));
    EXPECT_DEATH(harbour.buoys.set<&Buoy::weight>(added, 2),
                 "the instance is row 10 of \"buoy\", which has 10: it was removed or has moved");
    Manager<Rope> ropes(harbour.entities, harbour.pool);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(ropes.add(one, Rope{i}));
    const Instance second = ropes.next(ropes.instance(one));
    ropes.remove(ropes.instance(one));
    EXPECT_DEATH(static_cast<void>(ropes.next(second)), "of \"rope\" is older than the last removal or move");
}

TEST(StaleRowsDeathTest, an_instance_of_another_manager_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Harbour harbour;
    const Instance anchor = harbour.anchors.instance(harbour.made[3]);
    EXPECT_DEATH(static_cast<void>(harbour.buoys.get<&Buoy::weight>(anchor)),
                 "an instance of another store was passed to a manager of \"buoy\"");
}

TEST(StaleRowsDeathTest, a_column_that_is_older_than_a_removal_ends_a_checked_program_in_every_layout) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Harbour harbour;
    const auto weights = harbour.buoys.column<&Buoy::weight>();
    const auto places = harbour.buoys.write_column<&Buoy::place>();
    const auto all = harbour.buoys.column<all_fields<Buoy>>();
    const auto depths = harbour.anchors.write_column<&Anchor::depth>();
    harbour.entities.destroy(harbour.made[0]);
    for (const auto rows : {&harbour.buoys.core(), &harbour.anchors.core()}) rows->settle({});
    EXPECT_DEATH(static_cast<void>(weights[0]), "a column of field \"weight\" of \"buoy\" is older than");
    EXPECT_DEATH(static_cast<void>(weights.span()), "a column of field \"weight\" of \"buoy\" is older than");
    EXPECT_DEATH(for (float weight : weights) static_cast<void>(weight), "a column of field \"weight\"");
    EXPECT_DEATH(places[0] = (Vec3{1, 2, 3}), "a column of field \"place\" of \"buoy\" is older than");
    EXPECT_DEATH(static_cast<void>(places.x()), "a column of field \"place\" of \"buoy\" is older than");
    EXPECT_DEATH(static_cast<void>(all[0]), "a column of component \"buoy\" is older than");
    EXPECT_DEATH(depths[0] = 3, "a column of field \"depth\" of \"anchor\" is older than");
}

TEST(StaleRowsDeathTest, a_column_of_a_table_that_has_moved_because_it_grew_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Harbour harbour;
    const auto weights = harbour.buoys.column<&Buoy::weight>();
    const Instance first = harbour.buoys.instance(harbour.made[0]);
    std::vector<Entity> more(20'000);
    ASSERT_TRUE(harbour.entities.create(more));
    ASSERT_TRUE(harbour.buoys.add(more));
    EXPECT_DEATH(static_cast<void>(weights[0]), "or than the last growth of its table; take columns again");
    EXPECT_EQ(harbour.buoys.get<&Buoy::weight>(first), 1) << "its row is the same";
}
#endif

}  // namespace

#include "shoal/inspect/positions.h"

#include "shoal/database/database.h"
#include "shoal/store/manager.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace shoal;

struct Apart {
    float mass = 1;
    Vec3 position;
};
SHOAL_COMPONENT(Apart, mass, position)

struct Split {
    float mass = 1;
    Vec3 position;
};
SHOAL_COMPONENT(Split, mass, (position, split))

struct Whole {
    float mass = 1;
    Vec3 position;
};
SHOAL_COMPONENT((Whole, whole), mass, position)

struct Flat {
    Vec2 position;
    float velocity = 0;
};
SHOAL_COMPONENT(Flat, position, velocity)

/// Has two positions, and so none of its own.
struct Ends {
    std::array<Vec3, 2> position{};
    std::array<Vec3, 2> place{};
};
SHOAL_COMPONENT(Ends, position, place)

/// All of it is its position.
struct Position {
    Vec3 value;
};
SHOAL_COMPONENT(Position, (value, split))

template <class T>
class Layouts : public ::testing::Test {};
using AllLayouts = ::testing::Types<Apart, Split, Whole>;
TYPED_TEST_SUITE(Layouts, AllLayouts);

TYPED_TEST(Layouts, positions_are_found_and_read) {
    EntityManager entities;
    PagePool pool;
    Manager<TypeParam> manager(entities, pool);
    std::vector<Entity> owners(100);
    ASSERT_TRUE(entities.create(owners).ok());
    for (std::uint32_t i = 0; i < owners.size(); ++i) {
        TypeParam value;
        value.position = {float(i), float(2 * i), -float(i)};
        ASSERT_TRUE(manager.add(owners[i], value).ok());
    }
    const std::optional<Vec3Rows> rows = find_vec3(manager.core().table(), "position");
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->num_rows, 100u);
    for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ((*rows)[i], (Vec3{float(i), float(2 * i), -float(i)}));
}

TEST(Positions, a_field_of_another_name_or_type_is_none) {
    EntityManager entities;
    PagePool pool;
    Manager<Flat> manager(entities, pool);
    EXPECT_FALSE(find_vec3(manager.core().table(), "position"));
    EXPECT_FALSE(find_vec3(manager.core().table(), "velocity"));
    EXPECT_FALSE(find_vec3(manager.core().table(), "place"));
    Manager<Ends> ends(entities, pool);
    EXPECT_FALSE(find_vec3(ends.core().table(), "position")) << "an array is none";
    EXPECT_FALSE(find_vec3(ends.core().table(), "place"));
}

TEST(Positions, a_component_type_of_that_name_with_one_field_is_one) {
    EntityManager entities;
    PagePool pool;
    Manager<Position> manager(entities, pool);
    EXPECT_TRUE(find_vec3(manager.core().table(), "position"));
    EXPECT_TRUE(find_vec3(manager.core().table(), "value"));
}

TEST(Positions, the_tables_of_a_database_have_them_too) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> owners(3);
    ASSERT_TRUE((database.create<Flat, Whole>(owners, 0, Flat{{9, 9}, 8}, Whole{2, {1, 2, 3}}).ok()));
    ASSERT_TRUE((database.create<Flat, Position>(owners, 0, Flat{{9, 9}, 8}, Position{{4, 5, 6}}).ok()));
    ASSERT_TRUE((database.create<Flat>(owners, 0).ok()));
    const std::span<const Table* const> tables = database.tables();
    ASSERT_EQ(tables.size(), 3u);
    const std::optional<Vec3Rows> whole = find_vec3(*tables[0], "position"), split = find_vec3(*tables[1], "position");
    ASSERT_TRUE(whole && split);
    for (std::uint32_t row = 0; row < 3; ++row) {
        EXPECT_EQ((*whole)[row], (Vec3{1, 2, 3}));
        EXPECT_EQ((*split)[row], (Vec3{4, 5, 6}));
    }
    EXPECT_TRUE(find_vec3(*tables[0], "whole.position"));
    EXPECT_FALSE(find_vec3(*tables[0], "whole")) << "it has two fields";
    EXPECT_FALSE(find_vec3(*tables[2], "position")) << "one of two dimensions is none";
}

TEST(Positions, an_empty_table_has_no_rows) {
    EntityManager entities;
    PagePool pool;
    Manager<Whole> manager(entities, pool);
    const std::optional<Vec3Rows> rows = find_vec3(manager.core().table(), "position");
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->num_rows, 0u);
}

TEST(Bounds, hold_every_finite_point_and_count_the_others) {
    Bounds bounds;
    bounds.add({std::nanf(""), 0, 0});
    EXPECT_EQ(bounds.num_points, 0u);
    bounds.add({-1, 5, 2});
    bounds.add({3, -2, 2});
    bounds.add({0, 0, std::numeric_limits<float>::infinity()});
    EXPECT_EQ(bounds.num_points, 2u);
    EXPECT_EQ(bounds.num_skipped, 2u);
    EXPECT_EQ(bounds.low, (Vec3{-1, -2, 2}));
    EXPECT_EQ(bounds.high, (Vec3{3, 5, 2}));
}

TEST(Bounds, add_up_and_empty_ones_change_nothing) {
    Bounds a, b, empty;
    a.add({1, 1, 1});
    b.add({-4, 2, 0});
    b.add({0, std::nanf(""), 0});
    a.unite(b);
    a.unite(empty);
    EXPECT_EQ(a.num_points, 2u);
    EXPECT_EQ(a.num_skipped, 1u);
    EXPECT_EQ(a.low, (Vec3{-4, 1, 0}));
    EXPECT_EQ(a.high, (Vec3{1, 2, 1}));
    empty.unite(a);
    EXPECT_EQ(empty.low, a.low);
    EXPECT_EQ(empty.num_points, 2u);
}

}  // namespace

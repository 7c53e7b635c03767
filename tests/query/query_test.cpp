#include "shoal/query/query.h"

#include "support/testing.h"

#include <vector>

namespace {

using namespace shoal;

struct Apart {
    float mass = 1;
    Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Apart, mass, position, velocity)

struct Split {
    float mass = 1;
    Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Split, mass, (position, split), (velocity, split))

struct Whole {
    float mass = 1;
    Vec3 position{}, velocity{};
};
SHOAL_COMPONENT((Whole, whole), mass, position, velocity)

struct Wind {
    Vec3 force{};
};
SHOAL_COMPONENT(Wind, (force, split))

template <class Body>
class ManagerQueries : public ::testing::Test {};
using Layouts = ::testing::Types<Apart, Split, Whole>;
TYPED_TEST_SUITE(ManagerQueries, Layouts);

Vec3 velocity_of(std::size_t i) {
    return {static_cast<float>(i % 7), static_cast<float>(i % 5), static_cast<float>(i % 3)};
}

/// A manager with one body per entity, each with a velocity of its own.
template <class Body>
struct Bodies {
    explicit Bodies(std::size_t count, RowIndexKind kind = RowIndexKind::kPaged)
        : manager(entities, pool, {.index = kind}), owners(count) {
        EXPECT_TRUE(entities.create(owners).ok());
        std::vector<Body> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i].velocity = velocity_of(i);
        EXPECT_TRUE(manager.add(owners, std::span<const Body>(values)).ok());
    }
    EntityManager entities;
    PagePool pool;
    Manager<Body> manager;
    std::vector<Entity> owners;
};

// req: A6 B4
TYPED_TEST(ManagerQueries, one_pass_runs_over_every_layout_and_visits_each_row_once) {
    for (const std::size_t count : {0, 1, 63, 64, 65, 5000}) {
        Bodies<TypeParam> bodies(count);
        query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(bodies.manager).for_each([](auto&& p, Vec3 v) {
            p += v * 2.0f;
        });
        for (std::size_t i = 0; i < count; ++i) {
            const Vec3 p = bodies.manager.template get<&TypeParam::position>(bodies.manager.instance(bodies.owners[i]));
            ASSERT_EQ(p, velocity_of(i) * 2.0f) << i;
        }
    }
}

// req: B15 E11
TYPED_TEST(ManagerQueries, threads_give_the_same_bits_as_one_loop) {
    Bodies<TypeParam> alone(40'000), shared(40'000);
    const auto move = [](auto&& p, Vec3 v) { p = p * 0.9f + v * 0.1f; };
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(4);
    for (int frame = 0; frame < 3; ++frame) {
        query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(alone.manager).for_each(move);
        query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(shared.manager).for_each(*executor, move);
    }
    for (std::size_t i = 0; i < alone.owners.size(); ++i)
        ASSERT_EQ(Vec3(alone.manager.template column<&TypeParam::position>()[i]),
                  Vec3(shared.manager.template column<&TypeParam::position>()[i]));
}

TYPED_TEST(ManagerQueries, gathered_fields_are_null_where_the_entity_lacks_them) {
    Bodies<TypeParam> bodies(1000);
    Manager<Wind> winds(bodies.entities, bodies.pool);
    for (std::size_t i = 0; i < 1000; i += 3)
        ASSERT_TRUE(winds.add(bodies.owners[i], {{static_cast<float>(i), 0, 0}}).ok());
    std::size_t num_calls = 0, num_found = 0;
    query<Write<&TypeParam::velocity>, Gather<&Wind::force>>(bodies.manager, winds)
        .for_each([&](Entity owner, auto&& velocity, const Vec3* force) {
            ++num_calls;
            EXPECT_EQ(force != nullptr, winds.has(owner));
            if (force == nullptr) return;
            ++num_found;
            velocity = *force;
        });
    EXPECT_EQ(num_calls, 1000u);
    EXPECT_EQ(num_found, 334u);
    const Instance nine = bodies.manager.instance(bodies.owners[9]);
    EXPECT_EQ(Vec3(bodies.manager.template get<&TypeParam::velocity>(nine)), (Vec3{9, 0, 0}));
}

TYPED_TEST(ManagerQueries, only_written_columns_are_marked) {
    Bodies<TypeParam> bodies(10);
    Table& table = bodies.manager.core().table();
    table.set_stamp(7);
    query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(bodies.manager).for_each([](auto&& p, Vec3 v) {
        p += v;
    });
    using Position = FieldPlace<&TypeParam::position>;
    using Velocity = FieldPlace<&TypeParam::velocity>;
    for (std::uint32_t lane = 0; lane < Position::kNumColumns; ++lane)
        EXPECT_EQ(table.written_stamp(Position::kFirstColumn + lane, 0), 7u);
    if (Velocity::kFirstColumn != Position::kFirstColumn) {
        EXPECT_LT(table.written_stamp(Velocity::kFirstColumn, 0), 7u);
    }
}

TEST(QueryWithHoles, a_function_that_takes_the_entity_never_sees_a_hole) {
    Bodies<Apart> bodies(100, RowIndexKind::kIdentity);
    for (std::size_t i = 0; i < 100; i += 2) bodies.manager.remove(bodies.owners[i]);
    std::size_t num_calls = 0;
    query<Read<&Apart::mass>>(bodies.manager).for_each([&](Entity owner, float mass) {
        EXPECT_TRUE(bodies.manager.has(owner));
        EXPECT_EQ(mass, 1);
        ++num_calls;
    });
    EXPECT_EQ(num_calls, 50u);
}

}  // namespace

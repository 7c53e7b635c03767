#include "shoal/query/query.h"

#include "support/rendezvous.h"
#include "support/testing.h"
#include "support/unreadable_pages.h"

#include <algorithm>
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

/// What a function may do with a reference to a vector, whatever the layout.
template <class Reference>
void use_as_vector(Reference&& p, const Vec3& by) {
    p.x += by.x;
    p.y = p.z * 2 - by.y;
    p += by;
    p -= {0, 0, 1};
    p *= 2.0f;
    p /= 4.0f;
    p = p * 3.0f + by - p;
    if (p == Vec3{} || dot(p, by) < 0) p = -p;
    std::swap(p.x, p.z);
    const Vec3 before = p;
    p = {before.z, length(p), cross(p, by).z};
}

// req: A6 B4
TYPED_TEST(ManagerQueries, a_written_vector_is_used_like_a_reference_in_every_layout) {
    Bodies<TypeParam> bodies(200);
    std::vector<Vec3> expected(200);
    query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(bodies.manager)
        .for_each([](auto&& p, const Vec3& v) { use_as_vector(p, v); });
    for (auto&& p : bodies.manager.template write_column<&TypeParam::position>()) p.y += 1;
    bodies.manager.template write_column<&TypeParam::position>()[7].x -= 5;
    for (std::size_t i = 0; i < expected.size(); ++i) use_as_vector(expected[i], velocity_of(i)), expected[i].y += 1;
    expected[7].x -= 5;
    std::size_t i = 0;
    for (const Vec3& p : bodies.manager.template column<&TypeParam::position>()) EXPECT_EQ(p, expected[i++]);
    EXPECT_EQ(i, 200u);
    const auto column = bodies.manager.template column<&TypeParam::position>();
    EXPECT_EQ(std::count(column.begin(), column.end(), expected[7]), 1);
}

template <class P>
concept Writable =
    requires(P&& p) { p.x = 1.0f; } || requires(P&& p) { p += Vec3{}; } || requires(P&& p) { p = Vec3{}; };

TYPED_TEST(ManagerQueries, what_is_only_read_cannot_be_written_in_any_layout) {
    Bodies<TypeParam> bodies(1);
    Manager<Wind> winds(bodies.entities, bodies.pool);
    query<Read<&TypeParam::position>>(bodies.manager).for_each([](auto&& p) {
        static_assert(!Writable<decltype(p)>);
        EXPECT_EQ(p, Vec3{});
    });
    query<Read<all_fields<TypeParam>>>(bodies.manager).for_each([](auto&& body) {
        static_assert(!requires { body.mass = 1; } && !requires { body.position.x = 1; });
        static_assert(!requires { body.velocity += Vec3{}; } && !requires { body = TypeParam(); });
        EXPECT_EQ(body.mass, 1);
    });
    query<Read<&TypeParam::velocity>, Maybe<&TypeParam::position>>(bodies.manager).for_each([](auto&& v, auto&& p) {
        static_assert(!Writable<decltype(v)> && !Writable<decltype(*p)> && !requires { p->x = 1; });
        EXPECT_EQ(p->y, 0);
    });
    query<Read<&TypeParam::position>>(bodies.manager).for_each_batch([](auto&& batch) {
        const auto column = batch.template column<&TypeParam::position>();
        static_assert(!Writable<decltype(column[0])> && !requires { column[0].x = 1; });
        EXPECT_EQ(column[0], Vec3{});
    });
    const auto column = bodies.manager.template column<&TypeParam::position>();
    static_assert(!requires { column[0] = Vec3{}; } && !requires { column[0].x = 1; });
    static_assert(!requires { *column.begin() = Vec3{}; } && !requires { column.begin()->x = 1; });
    const auto bodies_read = bodies.manager.template column<all_fields<TypeParam>>();
    static_assert(!requires { bodies_read[0] = TypeParam(); });
    EXPECT_EQ(bodies_read[0].mass, 1);
    query<Write<&TypeParam::position>>(bodies.manager).for_each([](auto&& p) {
        static_assert(Writable<decltype(p)>, "the checks above can fail");
        p.x = 2;
    });
    EXPECT_EQ(column[0].x, 2);
}

TYPED_TEST(ManagerQueries, a_field_that_may_be_missing_is_used_like_a_pointer_in_every_layout) {
    Bodies<TypeParam> bodies(100);
    Manager<Wind> winds(bodies.entities, bodies.pool);
    ASSERT_TRUE(winds.add(bodies.owners, {{3, 2, 1}}));
    ASSERT_TRUE(bodies.manager.remove(bodies.owners[9]));
    float sum = 0;
    std::size_t num_missing = 0, num_differ = 0;
    query<Read<&Wind::force>, Maybe<&TypeParam::velocity>>(winds, bodies.manager)
        .for_each([&](Entity owner, const Vec3& force, auto velocity) {
            if (!velocity) return void(num_missing += velocity == nullptr && owner == bodies.owners[9]);
            sum += velocity->x * force.x + (*velocity).y;
            const auto copy = velocity;
            const Vec3* pointer = velocity;
            num_differ += copy->x != pointer->x || *pointer != *velocity;
        });
    query<Read<&Wind::force>, Maybe<all_fields<TypeParam>>>(winds, bodies.manager)
        .for_each([&](const Vec3&, auto body) { sum += body ? body->mass + (*body).velocity.z : 0; });
    float expected = 0;
    for (std::size_t i = 0; i < 100; ++i)
        if (i != 9) expected += velocity_of(i).x * 3 + velocity_of(i).y + velocity_of(i).z + 1;
    EXPECT_EQ(sum, expected);
    EXPECT_EQ(num_missing, 1u);
    EXPECT_EQ(num_differ, 0u);
}

// req: B15 E11
TYPED_TEST(ManagerQueries, threads_give_the_same_bits_as_one_loop) {
    Bodies<TypeParam> alone(40'000), shared(40'000);
    const auto move = [](auto&& p, Vec3 v) { p = p * 0.9f + v * 0.1f; };
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(4);
    shoal_test::Rendezvous threads(2);
    for (int frame = 0; frame < 3; ++frame) {
        query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(alone.manager).for_each(move);
        query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(shared.manager)
            .for_each(*executor, [&](auto&& p, Vec3 v) { threads.enter(), move(p, v); });
    }
    EXPECT_GE(threads.num_threads(), 2u) << "one thread has run the loop alone";
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
    query<Write<&TypeParam::velocity>, Maybe<&Wind::force>>(bodies.manager, winds)
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

// req: B3
TEST(Queries, a_loop_reads_no_column_that_it_does_not_name) {
    Bodies<Apart> apart(40'000);
    Bodies<Split> split(40'000);
    std::size_t num_rows = 0;
    const auto move = [&](auto&& p, Vec3 v) { p += v, ++num_rows; };
    const auto weigh = [&](float) { ++num_rows; };
    const auto count = [&](Entity) { ++num_rows; };
    SerialExecutor executor;
    const auto in_both = [&](const auto& rows, const auto& function) {
        rows.for_each(function);
        rows.for_each(executor, function);
    };
    const auto look = [&](const Table& table, std::uint32_t first, std::uint32_t end, const auto& loop) {
        shoal_test::UnreadablePages others;
        for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c)
            if (c < first || c >= end) others.add(table.column(c), 40'000 * table.schema().columns()[c].element_bytes);
        EXPECT_GT(others.num_bytes(), 40'000 * sizeof(float) * 9 / 10);
        loop();
    };
    look(apart.manager.core().table(), 1, 3,
         [&] { in_both(query<Write<&Apart::position>, Read<&Apart::velocity>>(apart.manager), move); });
    look(split.manager.core().table(), 1, 7,
         [&] { in_both(query<Write<&Split::position>, Read<&Split::velocity>>(split.manager), move); });
    look(apart.manager.core().table(), 0, 1, [&] { in_both(query<Read<&Apart::mass>>(apart.manager), weigh); });
    look(split.manager.core().table(), 0, 1, [&] { in_both(query<Read<&Split::mass>>(split.manager), weigh); });
    look(split.manager.core().table(), 0, 0, [&] { in_both(query<With<Split>>(split.manager), count); });
    EXPECT_EQ(num_rows, 5u * 2 * 40'000);
}

TYPED_TEST(ManagerQueries, only_written_columns_are_marked) {
    Bodies<TypeParam> bodies(10);
    Table& table = bodies.manager.core().table();
    table.set_stamp(7);
    query<Write<&TypeParam::position>, Read<&TypeParam::velocity>>(bodies.manager).for_each([](auto&& p, Vec3 v) {
        p += v;
    });
    using Position = FieldLayout<&TypeParam::position>;
    using Velocity = FieldLayout<&TypeParam::velocity>;
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

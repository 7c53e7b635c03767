// Terms about components as a whole: the same loops over every layout, in every kind of query, against plain structs.

#include "shoal/base/random.h"
#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <map>
#include <vector>

namespace {

using namespace shoal;

struct Apart {
    float mass = 1;
    Vec3 position{}, velocity{};
    std::array<std::uint8_t, 3> color{};
    double age = 0;
    float lengths[2] = {};
    bool operator==(const Apart&) const = default;
};
SHOAL_COMPONENT(Apart, mass, position, velocity, color, age, lengths)

struct Lanes {
    float mass = 1;
    Vec3 position{}, velocity{};
    std::array<std::uint8_t, 3> color{};
    double age = 0;
    float lengths[2] = {};
    bool operator==(const Lanes&) const = default;
};
SHOAL_COMPONENT(Lanes, mass, (position, split), (velocity, split), color, age, lengths)

struct Whole {
    float mass = 1;
    Vec3 position{}, velocity{};
    std::array<std::uint8_t, 3> color{};
    double age = 0;
    float lengths[2] = {};
    bool operator==(const Whole&) const = default;
};
SHOAL_COMPONENT((Whole, whole), mass, position, velocity, color, age, lengths)

struct Enableable {
    float mass = 1;
    Vec3 position{}, velocity{};
    std::array<std::uint8_t, 3> color{};
    double age = 0;
    float lengths[2] = {};
    bool operator==(const Enableable&) const = default;
};
SHOAL_COMPONENT((Enableable, enableable), mass, (position, split), velocity, color, age, lengths)

struct Wind {
    Vec3 force{};
};
SHOAL_COMPONENT(Wind, force)

template <class Body>
void move(Body& body, Vec3 force) {
    body.velocity += force * (1 / body.mass);
    body.position += body.velocity;
    body.age += 0.5;
    body.color[1] = static_cast<std::uint8_t>(body.color[1] + 3);
    body.lengths[1] += body.lengths[0];
}

template <class Body>
Body random_body(Random& random) {
    const auto number = [&] { return static_cast<float>(random.below(100)); };
    Body body;
    body.mass = 1 + number();
    body.position = {number(), number(), number()};
    body.velocity = {number(), number(), number()};
    body.color = {1, static_cast<std::uint8_t>(random.below(256)), 3};
    body.age = number();
    body.lengths[0] = number();
    return body;
}

/// Bodies in a manager or a database, winds for some of them in a manager, and plain structs of both.
template <class Body>
class AllFields : public ::testing::Test {
protected:
    void fill(std::size_t num_bodies) {
        SCOPED_TRACE(shoal_test::seed_text());
        std::vector<Entity> made(num_bodies);
        ASSERT_TRUE(entities.create(made).ok());
        for (const Entity entity : made) {
            const Body body = expected[entity] = random_body<Body>(random);
            ASSERT_TRUE(bodies.add(entity, body).ok());
            ASSERT_TRUE(database.insert(entity, 0, body).ok());
        }
        for (std::size_t i = made.size(); i > 1; --i)
            std::swap(made[i - 1], made[random.below(static_cast<std::uint32_t>(i))]);
        for (std::size_t i = 0; i < made.size(); i += 2) {
            forces[made[i]] = {1, float(i), 2};
            ASSERT_TRUE(winds.add(made[i], Wind{forces[made[i]]}).ok());
        }
    }
    Vec3 force_on(Entity entity) const { return forces.contains(entity) ? forces.at(entity) : Vec3{}; }
    void move_expected(bool all) {
        for (auto& [entity, body] : expected)
            if (all || forces.contains(entity)) move(body, force_on(entity));
    }
    template <class AnyQuery>
    void expect_bodies(const AnyQuery& reading) {
        std::size_t num_read = 0;
        reading.for_each([&](Entity entity, const Body& body) {
            ASSERT_EQ(body, expected.at(entity));
            ++num_read;
        });
        EXPECT_EQ(num_read, expected.size());
    }
    template <class... Stores>
    void run(Stores&... stores) {
        const auto reading = query<Read<all_fields<Body>>>(stores...);
        expect_bodies(reading);
        const auto writing = query<Write<all_fields<Body>>>(stores...);
        writing.for_each([&](Entity entity, Body& body) { move(body, force_on(entity)); });
        move_expected(true);
        expect_bodies(reading);
        const auto pushed = query<Read<&Wind::force>, Write<all_fields<Body>>>(stores..., winds);
        pushed.for_each(executor, [](Vec3 force, auto&& body) { move(body, force); });
        move_expected(false);
        expect_bodies(reading);
        run_batches(writing);
        expect_bodies(reading);
    }
    template <class AnyQuery>
    void run_batches(const AnyQuery& writing) {
        writing.for_each_batch([&](auto&& batch) {
            const auto column = batch.template column<all_fields<Body>>();
            ASSERT_EQ(column.size(), batch.num_rows());
            for (std::size_t i = 0; i < column.size(); ++i) {
                Body body = column[i];
                move(body, force_on(batch.entities()[i]));
                column[i] = body;
            }
        });
        move_expected(true);
    }

    EntityManager entities;
    PagePool pool;
    Manager<Body> bodies{entities, pool};
    Database database{entities, pool};
    Manager<Wind> winds{entities, pool};
    std::map<Entity, Body> expected;
    std::map<Entity, Vec3> forces;
    Random random{shoal_test::seed()};
    shoal_test::ThreadPoolExecutor executor{3};
};
using Layouts = ::testing::Types<Apart, Lanes, Whole, Enableable>;
TYPED_TEST_SUITE(AllFields, Layouts);

// req: A6 F5-F7
TYPED_TEST(AllFields, of_a_manager_are_read_and_written_as_one_struct) {
    for (const std::size_t num_bodies : {0, 1, 700}) {
        this->fill(num_bodies);
        this->run(this->bodies);
    }
    for (const auto& [entity, body] : this->expected) {
        const Instance at = this->bodies.instance(entity);
        ASSERT_EQ(TypeParam(this->bodies.template get<all_fields<TypeParam>>(at)), body);
        this->bodies.template set<all_fields<TypeParam>>(at, TypeParam{});
        ASSERT_EQ(this->bodies.value(at), TypeParam{});
    }
}

TYPED_TEST(AllFields, of_a_database_are_read_and_written_as_one_struct) {
    this->fill(700);
    this->run(this->database);
    for (const auto& [entity, body] : this->expected)
        ASSERT_EQ(TypeParam(this->database.template get<all_fields<TypeParam>>(this->database.find(entity))), body);
}

TYPED_TEST(AllFields, are_null_where_the_entity_lacks_the_component) {
    this->fill(300);
    std::vector<Entity> strays(10);
    ASSERT_TRUE(this->entities.create(strays).ok());
    ASSERT_TRUE(this->winds.add(strays).ok());
    std::size_t num_null = 0;
    query<With<Wind>, Maybe<all_fields<TypeParam>>>(this->winds, this->bodies)
        .for_each([&](Entity entity, const TypeParam* body) {
            num_null += body == nullptr;
            ASSERT_EQ(body != nullptr, this->expected.contains(entity));
            ASSERT_TRUE(body == nullptr || *body == this->expected.at(entity));
        });
    EXPECT_EQ(num_null, 10u);
}

TYPED_TEST(AllFields, that_are_written_are_all_marked_and_those_that_are_read_are_not) {
    this->fill(10);
    Table& table = this->bodies.core().table();
    table.set_stamp(7);
    query<Read<all_fields<TypeParam>>>(this->bodies).for_each([](const TypeParam&) {});
    for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c) ASSERT_LT(table.written_stamp(c, 0), 7u);
    const auto writing = query<Write<all_fields<TypeParam>>>(this->bodies);
    writing.for_each([](TypeParam&) {});
    for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c) ASSERT_EQ(table.written_stamp(c, 0), 7u);
    const Access access = writing.accesses()[0];
    EXPECT_EQ(access.field, kAllFields);
    EXPECT_TRUE(conflict(access, reads<&TypeParam::age>(this->bodies)));
}

TEST(AllFieldsOfSome, disabled_rows_keep_what_they_have) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    std::vector<Entity> made(500);
    ASSERT_TRUE(entities.create(made).ok());
    std::map<Entity, Enableable> expected;
    for (const Entity entity : made) {
        expected[entity] = random_body<Enableable>(random);
        ASSERT_TRUE(database.insert(entity, 0, expected[entity]).ok());
    }
    std::vector<Entity> disabled;
    for (const Entity entity : made)
        if (random.below(2) == 0) disabled.push_back(entity);
    ASSERT_TRUE(database.remove<Enableable>(disabled).ok());
    const auto step = [](Enableable& body) { move(body, {1, 2, 3}); };
    query<Write<all_fields<Enableable>>>(database).for_each(blend(step));
    query<Write<all_fields<Enableable>>>(database).for_each(step);
    std::size_t num_on = 0;
    query<Read<all_fields<Enableable>>>(database).for_each([&](Entity entity, const Enableable& body) {
        Enableable moved = expected.at(entity);
        step(moved), step(moved);
        ASSERT_EQ(body, moved);
        ++num_on;
    });
    EXPECT_EQ(num_on, made.size() - disabled.size());
    for (const Entity entity : disabled)
        EXPECT_EQ(Enableable(database.get<all_fields<Enableable>>(database.find(entity))), expected[entity]);
}

}  // namespace

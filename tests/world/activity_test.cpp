// EntitySet that are inactive: no query visits them, wherever their components are kept, nor what hangs below them.

#include "shoal/components/activity.h"

#include "shoal/query/text_query.h"
#include "shoal/react/observers.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "shoal/world/world.h"
#include "support/keep_in.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <map>
#include <set>
#include <vector>

namespace {

using namespace shoal;

struct Wheel {
    int number = 0;
};
SHOAL_COMPONENT(Wheel, number)
struct Engine {
    int number = 0;
};
SHOAL_COMPONENT(Engine, number)
struct Lit {
    int number = 0;
};
SHOAL_COMPONENT((Lit, enableable), number)

using EntitySet = std::set<Entity>;

template <class Query>
EntitySet visited_by(const Query& query) {
    EntitySet visited;
    query.for_each([&](Entity entity, int) { EXPECT_TRUE(visited.insert(entity).second); });
    return visited;
}
template <class Query>
EntitySet batched_by(const Query& query) {
    EntitySet visited;
    query.for_each_batch([&](auto&& batch) {
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
            const bool is_on = (batch.rows_of_word(i / 64) >> (i % 64) & 1) != 0;
            EXPECT_TRUE(!is_on || !batch.entities()[i] || visited.insert(batch.entities()[i]).second);
        }
    });
    return visited;
}
EntitySet visited_by(World& world, const char* text) {
    EntitySet visited;
    const Result<TextQuery> query = TextQuery::make(world.directory(), text);
    EXPECT_TRUE(query.ok()) << query.status().message();
    if (query)
        query->for_each_batch([&](const TextBatch& batch) {
            const TextColumn numbers = batch.column(0, 0);
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
                EXPECT_TRUE(visited.insert(batch.entities()[i]).second);
                EXPECT_EQ(*numbers.read<int>(i), static_cast<int>(batch.entities()[i].index()));
            }
        });
    return visited;
}

/// A world, and what is expected of it.
class Garage {
public:
    explicit Garage(unsigned in_database) : in_database_(in_database) {
        keep<Wheel>(1, RowIndexKind::kIdentity);
        keep<Engine>(2, RowIndexKind::kPaged);
        keep<Lit>(4, RowIndexKind::kHash);
        world.transforms();
    }

    struct Car {
        bool is_off = false;
        Entity parent;
        bool has_wheel = false, has_engine = false, has_lit = false;
    };

    void change(Random& random) {
        const Entity one = any(random), other = any(random);
        switch (random.below(12)) {
            case 0:
            case 1:
            case 2:
                return create(random, one);
            case 3:
                return destroy(one);
            case 4:
            case 5:
                return set_active(one, random.below(2) == 0);
            case 6:
                return link(one, other);
            case 7:
                return unlink(one);
            case 8:
                return set_active_by_commands(one, random.below(2) == 0);
            case 9:
                return remove_transform(one);
            case 10:
                return give_transform(one);
            default:
                return world.settle();
        }
    }
    bool is_active(Entity entity) const {
        for (; entity; entity = cars.at(entity).parent)
            if (cars.at(entity).is_off) return false;
        return true;
    }
    template <class Has>
    EntitySet expected(Has&& has) const {
        EntitySet found;
        for (const auto& [entity, car] : cars)
            if (is_active(entity) && has(car)) found.insert(entity);
        return found;
    }
    void check() {
        for (const auto& [entity, car] : cars) ASSERT_EQ(world.entities().is_active(entity), is_active(entity));
        ASSERT_TRUE(world.activity().validate().ok());
        const EntitySet wheels = expected([](const Car& car) { return car.has_wheel; });
        const auto wheel = world.query<Read<&Wheel::number>>();
        EXPECT_EQ(visited_by(wheel), wheels);
        EXPECT_EQ(batched_by(wheel), wheels);
        EXPECT_EQ(visited_by(world, "wheel"), wheels);
        EXPECT_EQ(visited_by(wheel.changed_since(1)), wheels);
        const EntitySet both = expected([](const Car& car) { return car.has_wheel && car.has_engine; });
        const auto driven = world.query<Read<&Engine::number>, With<Wheel>>();
        EXPECT_EQ(visited_by(driven), both);
        EXPECT_EQ(batched_by(driven), both);
        EXPECT_EQ(visited_by(world, "engine, ?wheel, wheel"), both);
        const EntitySet lights = expected([](const Car& car) { return car.has_lit; });
        EXPECT_EQ(visited_by(world.query<Read<&Lit::number>>()), lights);
        EXPECT_EQ(batched_by(world.query<Read<&Lit::number>>()), lights);
        if (in_database_ != 7) return;
        EXPECT_EQ(batched_by(query<Read<&Lit::number>, With<Engine>>(world.database())),
                  expected([](const Car& car) { return car.has_lit && car.has_engine; }));
    }

    EntityManager entities;
    World world{entities};
    std::map<Entity, Car> cars;

private:
    template <class T>
    void keep(unsigned bit, RowIndexKind index) {
        shoal_test::keep_in<T>(world, (in_database_ & bit) != 0, index);
    }
    template <class T>
    void give(Entity entity) {
        world.commands().add(entity, T{static_cast<int>(entity.index())});
    }
    Entity any(Random& random) const {
        if (cars.empty()) return {};
        auto found = cars.begin();
        std::advance(found, random.below(static_cast<std::uint32_t>(cars.size())));
        return found->first;
    }
    void create(Random& random, Entity parent) {
        const Entity entity = entities.create().value();
        Car car;
        car.has_wheel = random.below(4) != 0, car.has_engine = random.below(3) != 0, car.has_lit = random.below(2) == 0;
        if (car.has_wheel) give<Wheel>(entity);
        if (car.has_engine) give<Engine>(entity);
        if (car.has_lit) give<Lit>(entity);
        world.settle();
        const Entity both[] = {parent, entity};
        const Transform locals[2];
        const std::uint32_t parents[] = {kNilRow, 0};
        const bool hangs = parent && world.transforms().has(parent) && random.below(2) == 0;
        if (hangs)
            ASSERT_TRUE(world.transforms().add(both, locals, parents).ok());
        else
            ASSERT_TRUE(world.transforms().add({&entity, 1}).ok());
        car.parent = hangs ? parent : Entity();
        cars[entity] = car;
    }
    void destroy(Entity entity) {
        if (!entity) return;
        entities.destroy(entity);
        cars.erase(entity);
        for (auto& [child, car] : cars)
            if (car.parent == entity) car.parent = {};
        world.settle();  // then its children are roots
    }
    void set_active(Entity entity, bool is_on) {
        if (!entity) return;
        ASSERT_TRUE(world.activity().set_active(entity, is_on).ok());
        cars[entity].is_off = !is_on;
    }
    void set_active_by_commands(Entity entity, bool is_on) {
        if (!entity) return;
        if (is_on)
            world.commands().remove<Inactive>(entity);
        else
            world.commands().add(entity, Inactive{});
        world.settle();
        cars[entity].is_off = !is_on;
    }
    void link(Entity child, Entity parent) {
        TransformManager& transforms = world.transforms();
        if (!child || !parent || !transforms.has(child) || !transforms.has(parent)) return;
        if (transforms.link(transforms.instance(child), transforms.instance(parent))) cars[child].parent = parent;
    }
    void unlink(Entity child) {
        if (!child || !world.transforms().has(child)) return;
        world.transforms().unlink(world.transforms().instance(child));
        cars[child].parent = {};
    }
    void remove_transform(Entity entity) {
        if (!entity) return;
        world.transforms().remove({&entity, 1});
        cars[entity].parent = {};
        for (auto& [child, car] : cars)
            if (car.parent == entity) car.parent = {};
    }
    void give_transform(Entity entity) { ASSERT_TRUE(!entity || world.transforms().add({&entity, 1}).ok()); }

    unsigned in_database_;
};

class Activity : public ::testing::TestWithParam<unsigned> {};

TEST_P(Activity, queries_pass_over_what_is_inactive_and_what_hangs_below_it) {
    SCOPED_TRACE(shoal_test::seed_text());
    Garage garage(GetParam());
    garage.world.activity();
    Random random(shoal_test::seed());
    const std::int64_t num_changes = shoal_test::scaled_operations(4000);
    for (std::int64_t i = 0; i < num_changes && !HasFatalFailure(); ++i) {
        garage.change(random);
        if (i % 16 == 0) garage.check();
    }
    garage.check();
    EXPECT_GT(garage.cars.size(), std::size_t(num_changes) / 20);
}

INSTANTIATE_TEST_SUITE_P(In, Activity, ::testing::Values(0u, 3u, 5u, 7u));

TEST(ActivityTest, loops_on_workers_pass_over_runs_of_any_length) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(20000);
    ASSERT_TRUE(entities.create(made).ok());
    ASSERT_TRUE(world.manager<Wheel>().add(made, {0}).ok());
    ASSERT_TRUE(world.database().add(made, Lit{0}).ok());
    Random random(shoal_test::seed());
    std::vector<bool> is_off(made.size());
    for (std::size_t i = 0; i < made.size(); i += 1 + random.below(300))
        for (std::size_t end = std::min(made.size(), i + random.below(150)); i < end; ++i) is_off[i] = true;
    for (std::size_t i = 0; i < made.size(); ++i)
        ASSERT_TRUE(!is_off[i] || world.activity().set_active(made[i], false).ok());
    shoal_test::ThreadPoolExecutor pool(3);
    world.query<Write<&Wheel::number>>().for_each(pool, [](int& number) { ++number; });
    world.query<Write<&Lit::number>>().for_each(pool, [](int& number) { ++number; });
    world.query<Write<&Wheel::number>, Read<&Lit::number>>().for_each(pool, [](int& number, int) { ++number; });
    world.query<Write<&Wheel::number>>().with_inactive().for_each(pool, [](int& number) { number += 10; });
    world.query<Write<&Wheel::number>, With<Inactive>>().for_each(pool, [](int& number) { number += 100; });
    world.query<Write<&Lit::number>, Read<&Wheel::number>>().with_inactive().for_each(
        [](int& number, int) { number += 10; });
    auto& wheels = world.manager<Wheel>();
    Database& database = world.database();
    for (std::size_t i = 0; i < made.size(); ++i) {
        ASSERT_EQ(wheels.get<&Wheel::number>(wheels.instance(made[i])), is_off[i] ? 110 : 12);
        ASSERT_EQ(database.get<&Lit::number>(database.find(made[i])), is_off[i] ? 10 : 11);
    }
}

TEST(ActivityTest, an_id_that_is_used_again_is_active) {
    EntityManager entities({.minimum_free_ids = 1});
    World world(entities);
    auto& wheels = world.manager<Wheel>();
    const Entity parent = entities.create().value(), child = entities.create().value();
    world.transforms();
    world.commands().add(parent, Transform{});
    world.commands().add(child, Transform{});
    world.commands().add(child, ChildOf{parent});
    world.commands().add(parent, Inactive{});
    world.settle();
    EXPECT_FALSE(world.entities().is_active(parent) || world.entities().is_active(child));
    const Entity both[] = {parent, child};
    entities.destroy(both);
    EXPECT_FALSE(world.entities().is_active(child));
    EXPECT_TRUE(entities.inactive().empty());
    for (int i = 0; i < 2; ++i) {
        const Entity again = entities.create().value();
        EXPECT_TRUE(again.index() == parent.index() || again.index() == child.index());
        ASSERT_TRUE(wheels.add(again, {1}).ok());
        EXPECT_TRUE(world.entities().is_active(again));
    }
    world.settle();
    EXPECT_EQ(visited_by(world.query<Read<&Wheel::number>>()).size(), 2u);
}

TEST(ActivityTest, what_hangs_below_one_that_dies_is_what_it_is_by_itself_at_once_and_after_loading) {
    for (const bool in_a_batch : {false, true}) {
        EntityManager entities;
        World world(entities);
        std::vector<Entity> all(4);  // a car, a wheel, a tyre, a driver who is inactive by himself
        ASSERT_TRUE(entities.create(all).ok());
        const std::uint32_t parents[] = {kNilRow, 0, 1, 0};
        const Transform locals[4] = {};
        ASSERT_TRUE(world.transforms().add(all, locals, parents).ok());
        ASSERT_TRUE(world.activity().set_active(all[0], false).ok() && world.activity().set_active(all[3], false).ok());
        if (in_a_batch)
            EXPECT_EQ(entities.destroy(std::array{all[0], all[0]}), 1u);
        else
            EXPECT_TRUE(entities.destroy(all[0]));
        const auto are_active = [&] {
            return std::vector<bool>{world.entities().is_active(all[1]), world.entities().is_active(all[2]),
                                     world.entities().is_active(all[3])};
        };
        const std::vector<bool> expected = {true, true, false};
        EXPECT_EQ(are_active(), expected);
        Snapshot saved;
        ASSERT_TRUE(save(world, saved).ok() && load(world, saved).ok());
        EXPECT_EQ(are_active(), expected);
        world.settle();
        EXPECT_EQ(are_active(), expected);
    }
}

TEST(ActivityTest, what_hangs_below_one_that_gets_another_parent_is_active_as_that_parent_is) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> all(5);  // a parked car and one that drives, a wheel of the first, its tyre, the tyre's valve
    ASSERT_TRUE(entities.create(all).ok());
    const std::uint32_t parents[] = {kNilRow, kNilRow, 0, 2, 3};
    const Transform locals[5] = {};
    TransformManager& transforms = world.transforms();
    ASSERT_TRUE(transforms.add(all, locals, parents).ok());
    ASSERT_TRUE(world.activity().set_active(all[0], false).ok());
    for (const bool drives : {false, true, false}) {
        ASSERT_TRUE(transforms.link(transforms.instance(all[2]), transforms.instance(all[drives])).ok());
        for (std::size_t part = 2; part < 5; ++part) EXPECT_EQ(entities.is_active(all[part]), drives) << part;
    }
}

TEST(ActivityTest, a_blob_and_a_copy_say_what_is_inactive) {
    BlobWriter writer;
    const std::uint32_t inactive = *writer.add_component_type(schema_of<Inactive>(), 0);
    const std::uint32_t transform = *writer.add_component_type(schema_of<Transform>(), 1);
    const std::uint32_t car_of_blob = writer.add_entity({});
    const std::uint32_t wheel_of_blob = writer.add_entity({.parent = car_of_blob});
    const Transform local;
    const Inactive off;
    writer.add_component(inactive, car_of_blob, std::as_bytes(std::span(&off, 1)));
    for (const std::uint32_t entity : {car_of_blob, wheel_of_blob})
        writer.add_component(transform, entity, std::as_bytes(std::span(&local, 1)));
    const Result<Blob> blob = Blob::load(*writer.write());
    ASSERT_TRUE(blob.ok()) << blob.status().message();
    EntityManager entities;
    World world(entities);
    ASSERT_TRUE(world.adopt_schemas(*blob).ok());
    const Result<Spawned> spawned = world.spawn(*blob, {.copies = 3});
    ASSERT_TRUE(spawned.ok()) << spawned.status().message();
    EXPECT_EQ(entities.inactive().size(), 6u);
    const auto query = world.query<Read<&Transform::position>>();
    std::size_t num_visited = 0;
    query.for_each([&](Vec3) { ++num_visited; });
    EXPECT_EQ(num_visited, 0u);
    const Entity car = spawned->entities()[0];
    const Result<Spawned> copied = copy(world, car);
    ASSERT_TRUE(copied.ok()) << copied.status().message();
    EXPECT_EQ(entities.inactive().size(), 8u);
    ASSERT_TRUE(world.activity().set_active(car, true).ok());
    EXPECT_EQ(entities.inactive().size(), 6u);
    query.for_each([&](Vec3) { ++num_visited; });
    EXPECT_EQ(num_visited, 2u);
}

TEST(ActivityTest, ids_that_are_used_again_before_the_world_settles_are_what_the_blob_says) {
    BlobWriter writer;
    const std::uint32_t inactive = *writer.add_component_type(schema_of<Inactive>(), 0);
    const Inactive off;
    writer.add_component(inactive, writer.add_entity({}), std::as_bytes(std::span(&off, 1)));
    const Result<Blob> blob = Blob::load(*writer.write());
    ASSERT_TRUE(blob.ok());
    EntityManager entities;
    World world(entities);
    for (int round = 0; round < 3; ++round) {
        const Result<Spawned> spawned = world.spawn(*blob, {.copies = 3000});
        ASSERT_TRUE(spawned.ok());
        for (const Entity entity : spawned->entities()) ASSERT_FALSE(world.entities().is_active(entity));
        EXPECT_EQ(world.activity().validate().message(), "");
        EXPECT_EQ(entities.inactive().size(), 3000u);
        EXPECT_EQ(entities.destroy(spawned->entities()), 3000u);
        EXPECT_TRUE(entities.inactive().empty());
    }
}

TEST(ActivityTest, worlds_that_share_entities_do_not_undo_what_the_other_says) {
    EntityManager entities;
    World one(entities);
    Entity made[3];  // a parent and its child in one world, a parent of the child in the other
    ASSERT_TRUE(entities.create(made).ok());
    const auto [parent, child, other_parent] = made;
    const auto link = [&](World& world, Entity above) {
        const Entity both[] = {above, child};
        const Transform locals[2];
        const std::uint32_t parents[] = {kNilRow, 0};
        ASSERT_TRUE(world.transforms().add(both, locals, parents).ok());
    };
    link(one, parent);
    ASSERT_TRUE(one.activity().set_active(parent, false).ok());
    {
        World other(entities);
        link(other, other_parent);
        EXPECT_FALSE(one.entities().is_active(child));
        ASSERT_TRUE(other.activity().set_active(parent, false).ok());
        ASSERT_TRUE(other.activity().set_active(parent, true).ok());
        EXPECT_FALSE(one.entities().is_active(parent));
        ASSERT_TRUE(other.activity().set_active(other_parent, false).ok());
        ASSERT_TRUE(one.activity().set_active(parent, true).ok());
        EXPECT_TRUE(one.entities().is_active(parent));
        EXPECT_FALSE(one.entities().is_active(child)) << "because of its parent in the other world";
        ASSERT_TRUE(one.activity().set_active(parent, false).ok());
    }
    EXPECT_FALSE(one.entities().is_active(child));
    EXPECT_TRUE(one.entities().is_active(other_parent));
    ASSERT_TRUE(one.activity().set_active(parent, true).ok());
    EXPECT_TRUE(one.entities().is_active(child));
}

TEST(ActivityTest, observers_and_the_journal_tell_of_it_as_of_other_components) {
    EntityManager entities;
    World world(entities);
    const Entity entity = entities.create().value();
    std::vector<Entity> off, on;
    world.observers().on_add<Inactive>(
        [&](std::span<const Entity> told) { off.insert(off.end(), told.begin(), told.end()); });
    world.observers().on_remove<Inactive>(
        [&](std::span<const Entity> told) { on.insert(on.end(), told.begin(), told.end()); });
    world.observers().keep_journal(10);
    world.settle();
    const std::uint64_t since = world.stamp();
    world.commands().add(entity, Inactive{});
    world.settle();
    EXPECT_EQ(off, std::vector<Entity>{entity});
    ASSERT_EQ(world.observers().journal(since).entries.size(), 1u);
    EXPECT_EQ(world.observers().journal(since).entries[0].component, schema_of<Inactive>().id());
    world.commands().remove<Inactive>(entity);
    world.settle();
    EXPECT_EQ(on, std::vector<Entity>{entity});
    EXPECT_TRUE(world.entities().is_active(entity));
}

TEST(ActivityTest, stores_that_end_take_back_what_they_said) {
    EntityManager entities;
    const Entity parent = entities.create().value(), child = entities.create().value();
    {
        World world(entities);
        const Entity both[] = {parent, child};
        const Transform locals[2];
        const std::uint32_t parents[] = {kNilRow, 0};
        ASSERT_TRUE(world.activity().set_active(parent, false).ok());
        ASSERT_TRUE(world.transforms().add(both, locals, parents).ok());
        EXPECT_EQ(entities.inactive().size(), 2u);
    }
    EXPECT_TRUE(entities.inactive().empty());
}

TEST(ActivityDeathTest, a_pass_deactivates_entities_by_commands) {
    EntityManager entities;
    World world(entities);
    const Entity entity = entities.create().value();
    ASSERT_TRUE(world.manager<Wheel>().add(entity, {1}).ok());
    world.activity();
    world.schedule().add("switch off",
                         [&](const PassContext&) { static_cast<void>(world.activity().set_active(entity, false)); });
    EXPECT_DEATH(world.step(0), "Commands");
}

}  // namespace

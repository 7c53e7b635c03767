// Places that are kept once: transforms that follow fields, fields that follow transforms, and rows that follow fields.

#include "shoal/react/position_links.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"
#include "shoal/transform/detail/pose_kernels.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/logged.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace shoal;

struct Float {
    float drag = 0;
    Vec3 position{};
};
SHOAL_COMPONENT(Float, drag, (position, split))
struct Buoy {
    Vec3 lamp{}, place{0, 0, -1};  // below the water until it is put somewhere
    std::array<Vec3, 2> chain{};
    Vec3 bell{};
};
SHOAL_COMPONENT((Buoy, whole), lamp, place, chain, bell)
struct Raft {
    Vec3 place{};
};
SHOAL_COMPONENT((Raft, enableable), place)

enum class Keeper { kManager, kHashed, kHoles, kDatabase };

const GridZones kTiles({.origin = {-10, -10, 0}, .tile_size = 5, .num_x = 4, .num_y = 4, .first_zone = 3});

/// What is known of an entity. Numbers are whole, so sums are exact.
struct Thing {
    bool lives = true, has_field = false, has_transform = false;
    Vec3 field{}, local{};
    Entity parent;
};

/// A world whose places follow each other, and a model of it that is settled by hand.
class FollowingWorld {
public:
    FollowingWorld(Keeper keeper, TransformMode mode, Follower follower, Executor* executor, std::uint64_t seed)
        : follower_(follower), world(entities, {.executor = executor}), random_(seed) {
        world.transforms({.mode = mode});
        world.database();
        if (keeper == Keeper::kDatabase) world.database().component<Float>();
        const RowIndexKind kinds[] = {RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity};
        if (keeper != Keeper::kDatabase) world.manager<Float>({.index = kinds[int(keeper)]});
        world.position_links().follow<&Float::position>(follower);
        if (keeper == Keeper::kDatabase) world.position_links().keep_in_tiles<&Float::position>(kTiles);
        made_.resize(2500);
        EXPECT_TRUE(entities.create(made_).ok());
        for (const Entity entity : made_) things[entity] = {};
        for (int i = 0; i < 6000; ++i) change();
    }

    void change() {
        TransformManager& transforms = world.transforms();
        const Entity self = made_[random_.below(std::uint32_t(made_.size()))];
        const Entity other = made_[random_.below(std::uint32_t(made_.size()))];
        Thing& thing = things[self];
        if (!thing.lives) return;
        const Vec3 place{whole(), whole(), whole()};
        switch (random_.below(16)) {
            case 0:
                if (random_.below(8) != 0) return;
                entities.destroy(self);
                thing.lives = false;
                return;
            case 1:
                set_field(self, place, thing.has_field);
                return static_cast<void>(thing.has_field = true, thing.field = place);
            case 2:
                if (!thing.has_field) return;
                EXPECT_TRUE(world.directory()
                                .find(schema_of<Float>().id())
                                ->remove_values(schema_of<Float>(), {&self, 1})
                                .ok());
                return static_cast<void>(thing.has_field = false);
            case 3:
                EXPECT_TRUE(transforms.add({&self, 1}, {.position = place}).ok());
                return static_cast<void>(thing.has_transform = true, thing.local = place);
            case 4:
                if (!thing.has_transform) return;
                free_children(self);
                transforms.remove({&self, 1});
                thing.has_transform = false;
                return static_cast<void>(thing.parent = {});
            case 5:
                if (!thing.has_transform || !things[other].has_transform || !things[other].lives) return;
                if (transforms.link(transforms.instance(self), transforms.instance(other))) thing.parent = other;
                return;
            default:
                if (thing.has_transform && random_.below(2) == 0) {
                    transforms.set_position(transforms.instance(self), place);
                    thing.local = place;
                } else if (thing.has_field) {
                    // Often only the last number changes.
                    const Vec3 there = random_.below(2) == 0 ? place : Vec3{thing.field.x, thing.field.y, place.z};
                    set_field(self, there, true);
                    thing.field = there;
                }
        }
    }

    void settle() {
        world.settle();
        if (follower_ == Follower::kTransform)
            for (auto& [entity, thing] : things)
                if (thing.has_field && thing.has_transform) thing.local = thing.field;
        for (auto& [entity, thing] : things)
            if (!thing.lives && thing.has_transform) free_children(entity);
        for (auto& [entity, thing] : things)
            if (!thing.lives) thing = Thing(), thing.lives = false;
        if (follower_ == Follower::kField)
            for (auto& [entity, thing] : things)
                if (thing.has_field && thing.has_transform) thing.field = place_of(entity);
    }

    void expect_equal() {
        const TransformManager& transforms = world.transforms();
        const Store& fields = *world.directory().find(schema_of<Float>().id());
        const Database& database = *find_database(world.directory());
        for (const auto& [entity, thing] : things) {
            const ComponentRow at = fields.find_row(schema_of<Float>().id(), entity, 0);
            ASSERT_EQ(bool(at), thing.has_field);
            ASSERT_EQ(transforms.has(entity), thing.has_transform);
            if (at) {
                ASSERT_EQ(*world.get<Vec3>(entity, "float.position"), thing.field);
            }
            if (at && &fields == &database) {
                ASSERT_EQ(database.find(entity).table->zone(), kTiles.zone_of(thing.field));
            }
            if (!thing.has_transform) continue;
            ASSERT_EQ(transforms.local(transforms.instance(entity)).position, thing.local);
            ASSERT_EQ(transforms.world_position(transforms.instance(entity)), place_of(entity));
        }
    }

    EntityManager entities;

private:
    const Follower follower_;

public:
    World world;
    std::map<Entity, Thing> things;

private:
    float whole() { return float(int(random_.below(40)) - 20); }
    Vec3 place_of(Entity entity) {
        Vec3 place{};
        for (; entity; entity = things[entity].parent) place += things[entity].local;
        return place;
    }
    void free_children(Entity parent) {
        std::vector<Entity> freed;
        for (const auto& [entity, thing] : things)
            if (thing.parent == parent && thing.has_transform) freed.push_back(entity);
        std::vector<Vec3> places;
        for (const Entity entity : freed) places.push_back(place_of(entity));
        for (std::size_t i = 0; i < freed.size(); ++i) things[freed[i]].local = places[i], things[freed[i]].parent = {};
    }
    void set_field(Entity entity, Vec3 place, bool has_it) {
        if (has_it && random_.below(2) == 0) {
            const char* const lanes[] = {"float.position.x", "float.position.y", "float.position.z"};
            const float* const values = &place.x;
            for (int lane = 0; lane < 3; ++lane) {
                if (world.get<float>(entity, lanes[lane]).value() == values[lane]) continue;
                EXPECT_TRUE(world.set(entity, lanes[lane], AnyValue(values[lane])).ok());
            }
            return;
        }
        const Float value{1, place};
        const AddedValues values{.images = reinterpret_cast<const std::byte*>(&value)};
        Store& store = *world.directory().find(schema_of<Float>().id());
        EXPECT_TRUE(store.add_values(schema_of<Float>(), {&entity, 1}, values).ok());
    }

    Random random_;
    std::vector<Entity> made_;
};

class PositionLinksOfAnyStore : public ::testing::TestWithParam<std::tuple<Keeper, TransformMode, Follower>> {};

TEST_P(PositionLinksOfAnyStore, are_right_after_each_settle_whoever_has_moved_on_any_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    const auto [keeper, mode, follower] = GetParam();
    shoal_test::ThreadPoolExecutor pool(3);
    FollowingWorld one(keeper, mode, follower, nullptr, shoal_test::seed());
    FollowingWorld three(keeper, mode, follower, &pool, shoal_test::seed());
    for (const int num_changes : {300, 1, 2, 0, 1, 3, 100, 1, 2, 200, 1, 1}) {  // one alone leaves most blocks unmarked
        for (int i = 0; i < num_changes; ++i) one.change(), three.change();
        one.settle(), three.settle();
        ASSERT_NO_FATAL_FAILURE(one.expect_equal());
        ASSERT_EQ(state_hash(one.world), state_hash(three.world));
    }
}

INSTANTIATE_TEST_SUITE_P(Stores, PositionLinksOfAnyStore,
                         ::testing::Combine(::testing::Values(Keeper::kManager, Keeper::kHashed, Keeper::kHoles,
                                                              Keeper::kDatabase),
                                            ::testing::Values(TransformMode::kImmediate, TransformMode::kDeferred),
                                            ::testing::Values(Follower::kTransform, Follower::kField)));

class PositionLinksOfWorld : public ::testing::Test {
protected:
    PositionLinksOfWorld() {
        world.transforms();
        world.database();
    }
    EntityManager entities;
    World world{entities};
};

TEST_F(PositionLinksOfWorld, a_field_and_its_row_follow_the_parent_of_a_transform) {
    Database& database = world.database();
    database.component<Float>();
    world.position_links().follow<&Float::position>(Follower::kField);
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    // The children are in another block of rows than their parent: only their world poses are written there.
    std::vector<Entity> made(1100);
    ASSERT_TRUE(entities.create(made).ok());
    const Entity ship = made.front(), mast = made.back(), bow = made[1098];
    std::vector<Transform> locals(made.size());
    std::vector<std::uint32_t> parents(made.size(), 0);
    parents[0] = kNilRow;
    locals[1099].position = {1, 0, 9}, locals[1098].position = {-9, -9, 0};
    ASSERT_TRUE(world.transforms().add(made, locals, parents).ok());
    for (const Entity entity : {mast, bow})
        ASSERT_TRUE(database.add(entity, Float{}).ok() && database.move(entity, kTiles.zone_of({})).ok());
    world.step(0.1f);
    EXPECT_EQ(database.get<&Float::position>(database.find(mast)), (Vec3{1, 0, 9})) << "at its first settle";
    world.step(0.1f);
    ASSERT_NE(world.transforms().instance(ship).row / kRowsPerStampBlock,
              world.transforms().instance(mast).row / kRowsPerStampBlock);
    world.transforms().set_position(world.transforms().instance(ship), {5, 5, 0});
    world.step(0.1f);
    EXPECT_EQ(database.get<&Float::position>(database.find(mast)), (Vec3{6, 5, 9}));
    EXPECT_EQ(database.find(mast).table->zone(), kTiles.zone_of({6, 5, 9}));
    EXPECT_EQ(database.find(bow).table->zone(), kTiles.zone_of({-4, -4, 0}));
    ASSERT_NE(kTiles.zone_of({6, 5, 9}), kTiles.zone_of({-4, -4, 0}));
    EXPECT_EQ(world.settle_statistics().last.num_moved, 2u) << "into two tiles";
}

TEST_F(PositionLinksOfWorld, nothing_is_written_where_nothing_has_moved) {
    world.manager<Float>();
    world.position_links().follow<&Float::position>(Follower::kField);
    std::vector<Entity> made(3000);
    ASSERT_TRUE(entities.create(made).ok() && world.transforms().add(made).ok());
    ASSERT_TRUE(world.manager<Float>().add(made).ok());
    world.settle(), world.settle();
    const std::uint64_t stamp = world.stamp();
    world.transforms().set_position({2000}, {1, 0, 0});
    world.settle(), world.settle();
    std::size_t num_visited = 0;
    query<Read<&Float::position>>(world.manager<Float>()).changed_since(stamp).for_each([&](Vec3) { ++num_visited; });
    EXPECT_EQ(num_visited, 1024u) << "one block";
}

TEST_F(PositionLinksOfWorld, rows_in_zones_that_are_no_tiles_stay) {
    Database& database = world.database();
    database.component<Float>();
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    const Entity first = database.create(40, Float{}).value(), large = database.create(Float{}).value();
    ASSERT_TRUE(database.move(large, kTiles.large_zone()).ok());
    world.settle();
    EXPECT_EQ(database.find(first).table->zone(), 40u);
    EXPECT_EQ(database.find(large).table->zone(), kTiles.large_zone());
    ASSERT_TRUE(database.move(first, 3).ok());
    world.settle();
    EXPECT_EQ(database.find(first).table->zone(), kTiles.zone_of({}));
    EntityManager others;
    World other(others);
    Database& begins_large = other.database({.first_zone = kTiles.large_zone()});
    begins_large.component<Float>();
    other.position_links().keep_in_tiles<&Float::position>(kTiles);
    const Entity one = begins_large.create(Float{}).value();
    other.settle();
    EXPECT_EQ(begins_large.find(one).table->zone(), kTiles.large_zone()) << "though it is the first zone, too";
}

TEST_F(PositionLinksOfWorld, a_field_that_is_disabled_follows_its_transform_when_it_is_enabled) {
    Database& database = world.database();
    database.component<Raft>();
    world.position_links().follow<&Raft::place>(Follower::kField);
    const Entity raft = database.create(3, Raft{}).value();
    ASSERT_TRUE(world.transforms().add({&raft, 1}).ok());
    world.settle();
    ASSERT_TRUE(database.remove<Raft>(raft).ok());
    world.settle(), world.settle();
    world.transforms().set_position(world.transforms().instance(raft), {1, 2, 3});
    world.settle();
    EXPECT_EQ(database.get<&Raft::place>(database.find(raft)), Vec3{});
    ASSERT_TRUE(database.add(raft, Raft{}).ok());
    world.settle();
    EXPECT_EQ(database.get<&Raft::place>(database.find(raft)), (Vec3{1, 2, 3}));
}

TEST_F(PositionLinksOfWorld, what_is_spawned_or_added_without_a_zone_lies_in_its_tile) {
    Database& database = world.database();
    database.component<Float>();
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    const Float there{.position = {6, -6, 0}};
    BlobWriter writer;
    const std::uint32_t type = writer.add_component_type(schema_of<Float>()).value();
    writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&there, 1)));
    const Result<Spawned> spawned = world.spawn(*Blob::load(writer.write().value()));
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    EXPECT_EQ(database.find(spawned->entity(0)).table->zone(), kTiles.zone_of(there.position)) << "at once";
    const Entity added = entities.create().value(), lost = entities.create().value();
    ASSERT_TRUE(database.add(added, there).ok());
    ASSERT_TRUE(database.add(lost, Float{.position = {std::nanf(""), 0, 0}}).ok());
    world.settle();
    EXPECT_EQ(database.find(added).table->zone(), kTiles.zone_of(there.position));
    EXPECT_EQ(database.find(lost).table->zone(), 0u);
}

TEST_F(PositionLinksOfWorld, there_is_one_grid_for_what_is_spawned_and_what_moves) {
    Database& database = world.database();
    database.component<Float>(), database.component<Raft>();
    const GridZones others({.num_x = 2, .first_zone = 50});
    database.spawn_into_tiles<&Float::position>(kTiles);
    const ComponentId floats = schema_of<Float>().id();
    EXPECT_EQ(world.position_links().keep_in_tiles(floats, 1, others).message(),
              "the database has tiles for \"float.position\" already, and cannot have other ones for "
              "\"float.position\" too");
    EXPECT_TRUE(world.position_links().keep_in_tiles(floats, 1, kTiles).ok());
    EXPECT_TRUE(world.position_links().keep_in_tiles(floats, 1, kTiles).ok()) << "the same again";
    EXPECT_EQ(
        world.position_links().keep_in_tiles(schema_of<Raft>().id(), 0, kTiles).message(),
        "the database has tiles for \"float.position\" already, and cannot have other ones for \"raft.place\" too");
    EXPECT_DEATH(database.spawn_into_tiles<&Raft::place>(kTiles), "has tiles for \"float.position\" already");
}

TEST_F(PositionLinksOfWorld, a_row_whose_place_is_disabled_stays_where_it_was_moved) {
    Database& database = world.database();
    database.component<Raft>();
    world.position_links().keep_in_tiles<&Raft::place>(kTiles);
    const Entity raft = database.create(kTiles.zone_of({}), Raft{}).value();
    ASSERT_TRUE(database.remove<Raft>(raft).ok());
    ASSERT_TRUE(database.move(raft, 3).ok());
    world.settle();
    EXPECT_EQ(database.find(raft).table->zone(), 3u);
    ASSERT_TRUE(database.add(std::span(&raft, 1), Raft{{1, 1, 0}}).ok());
    world.settle();
    EXPECT_EQ(database.find(raft).table->zone(), kTiles.zone_of({1, 1, 0}));
}

TEST_F(PositionLinksOfWorld, a_row_whose_place_was_not_a_number_for_a_while_goes_on_to_its_tile) {
    Database& database = world.database();
    database.component<Float>();
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    const Entity lost = database.create(3, Float{.position = {-9, -9, 0}}).value();
    world.settle();
    database.set<&Float::position>(database.find(lost), {std::nanf(""), 0, 0});
    world.settle();
    EXPECT_EQ(database.find(lost).table->zone(), 3u);
    database.set<&Float::position>(database.find(lost), {9, 9, 0});
    world.settle();
    EXPECT_EQ(database.find(lost).table->zone(), kTiles.zone_of({9, 9, 0}));
}

TEST(FullTiles, are_taken_when_there_is_room_again) {
    EntityManager entities;
    World world(entities);
    Database& database = world.database({.capacity_rows = 10});
    database.component<Float>();
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    const Vec3 there{9, 9, 0};
    std::vector<Entity> crowd(10);
    ASSERT_TRUE(database.create<Float>(crowd, kTiles.zone_of(there), Float{.position = there}).ok());
    const Entity late = database.create(3, Float{.position = there}).value();
    const Entity other = database.create(3, Float{}).value();
    {
        const shoal_test::Logged logged;
        world.settle(), world.settle();
        ASSERT_EQ(logged.lines.size(), 2u) << "each time for the tile that is full, and for no other";
        EXPECT_EQ(logged.lines[0].find("rows stay in tiles that they have left: "), 0u) << logged.lines[0];
    }
    EXPECT_EQ(database.find(late).table->zone(), 3u) << "its tile is full";
    EXPECT_EQ(database.find(other).table->zone(), kTiles.zone_of({})) << "others are moved all the same";
    entities.destroy(crowd[0]);
    world.settle();
    EXPECT_EQ(database.find(late).table->zone(), kTiles.zone_of(there));
}

TEST(FullTiles, are_taken_when_there_is_room_again_though_rows_of_a_later_tile_were_moved) {
    EntityManager entities;
    World world(entities);
    Database& database = world.database({.capacity_rows = 10});
    database.component<Float>();
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    const Vec3 full{-9, -9, 0}, free{9, 9, 0};
    ASSERT_LT(kTiles.zone_of(full), kTiles.zone_of(free)) << "rows are moved in the order of zones";
    std::vector<Entity> crowd(10);
    ASSERT_TRUE(database.create<Float>(crowd, kTiles.zone_of(full), Float{.position = full}).ok());
    const Entity late = database.create(kTiles.zone_of({}), Float{.position = full}).value();
    const Entity other = database.create(kTiles.zone_of({}), Float{.position = free}).value();
    world.settle(), world.settle();
    EXPECT_EQ(database.find(late).table->zone(), kTiles.zone_of({})) << "its tile is full";
    EXPECT_EQ(database.find(other).table->zone(), kTiles.zone_of(free));
    entities.destroy(crowd[0]);
    world.settle(), world.settle();
    EXPECT_EQ(database.find(late).table->zone(), kTiles.zone_of(full));
}

TEST_F(PositionLinksOfWorld, what_was_declared_after_a_save_holds_after_loading_it_too) {
    Database& database = world.database();
    database.component<Float>(), world.manager<Buoy>();
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    const Entity made = database.create(3, Float{.position = {6, 6, 0}}).value();
    ASSERT_TRUE(world.transforms().add({&made, 1}).ok() && world.manager<Buoy>().add(made, {.place = {1, 2, 3}}).ok());
    world.settle(), world.settle();
    Snapshot saved;
    ASSERT_TRUE(save(world, saved).ok());
    world.position_links().follow<&Buoy::place>(Follower::kTransform),
        world.position_links().follow<&Float::position>(Follower::kField);
    for (int i = 0; i < 5; ++i) world.settle();  // stamps of now are later than those of the rows that come back
    ASSERT_TRUE(load(world, saved).ok());
    world.settle();
    EXPECT_EQ(world.transforms().world_position(world.transforms().instance(made)), (Vec3{1, 2, 3}));
    EXPECT_EQ(database.get<&Float::position>(database.find(made)), (Vec3{1, 2, 3}));
    EXPECT_EQ(database.find(made).table->zone(), kTiles.zone_of({1, 2, 3}));
}

TEST_F(PositionLinksOfWorld, a_field_that_is_followed_only_after_a_save_is_looked_at_beside_one_of_its_component) {
    world.manager<Buoy>();
    world.position_links().follow<&Buoy::lamp>(Follower::kField);
    const Entity made = entities.create().value();
    ASSERT_TRUE(world.transforms().add({&made, 1}, {.position = {1, 2, 3}}).ok() &&
                world.manager<Buoy>().add(made).ok());
    for (int i = 0; i < 3; ++i) world.settle();
    Snapshot saved;
    ASSERT_TRUE(save(world, saved).ok());
    world.position_links().follow<&Buoy::bell>(Follower::kField);
    ASSERT_TRUE(load(world, saved).ok());
    world.settle();
    EXPECT_EQ(*world.get<Vec3>(made, "buoy.bell"), (Vec3{1, 2, 3}));
}

TEST_F(PositionLinksOfWorld, what_a_service_writes_after_the_commands_is_followed_in_the_next_settle) {
    struct Current final : WorldService {
        explicit Current(Manager<Buoy>& of) : WorldService("current"), buoys(of) {}
        void after_commands(const SettleContext&) override {
            if (buoy) buoys.set<&Buoy::place>(buoys.instance(std::exchange(buoy, Entity())), {5, 6, 7});
        }
        Manager<Buoy>& buoys;
        Entity buoy;
    } current(world.manager<Buoy>());
    world.services().add(current);
    world.position_links().follow<&Buoy::place>(Follower::kTransform);
    const Entity made = entities.create().value();
    ASSERT_TRUE(world.transforms().add({&made, 1}).ok() && current.buoys.add(made, {.place = {1, 2, 3}}).ok());
    world.settle(), world.settle();
    current.buoy = made;
    world.settle(), world.settle();
    EXPECT_EQ(world.transforms().world_position(world.transforms().instance(made)), (Vec3{5, 6, 7}));
    world.services().remove(current);
}

TEST_F(PositionLinksOfWorld, several_fields_may_follow_the_transforms_which_follow_one) {
    world.database().component<Float>(), world.manager<Buoy>();
    PositionLinks& links = world.position_links();
    const ComponentId floats = schema_of<Float>().id(), buoys = schema_of<Buoy>().id();
    const auto place = std::uint32_t(schema_of<Buoy>().find_field("place"));
    const auto position = std::uint32_t(schema_of<Float>().find_field("position"));
    ASSERT_TRUE(links.follow(floats, position, Follower::kField).ok());
    ASSERT_TRUE(links.follow(buoys, place, Follower::kField).ok());
    ASSERT_TRUE(links.follow(buoys, place, Follower::kField).ok()) << "the same again";
    const Entity made = world.database().create(3, Float{}).value();
    ASSERT_TRUE(world.manager<Buoy>().add(made, Buoy{}).ok());
    ASSERT_TRUE(world.transforms().add({&made, 1}, {.position = {1, 2, 3}}).ok());
    world.settle();
    EXPECT_EQ(world.database().get<&Float::position>(world.database().find(made)), (Vec3{1, 2, 3}));
    EXPECT_EQ(world.manager<Buoy>().get<&Buoy::place>(world.manager<Buoy>().instance(made)), (Vec3{1, 2, 3}));
}

TEST_F(PositionLinksOfWorld,
       a_spawned_field_with_the_default_begins_where_the_transform_lies_and_every_other_value_counts) {
    const Vec3 place_of_transform{9, 9, 9};
    const Buoy buoys[] = {Buoy{}, Buoy{.place = {1, 2, 3}}, Buoy{.place = {}}};
    BlobWriter writer;
    writer.set_name("harbour");
    const std::uint32_t placed = writer.add_component_type(schema_of<Transform>(), -100).value();
    const std::uint32_t floating = writer.add_component_type(schema_of<Buoy>()).value();
    const Transform there{.position = place_of_transform};
    for (const Buoy& buoy : buoys) {
        const std::uint32_t entity = writer.add_entity({});
        writer.add_component(placed, entity, std::as_bytes(std::span(&there, 1)));
        writer.add_component(floating, entity, std::as_bytes(std::span(&buoy, 1)));
    }
    writer.add_component(floating, writer.add_entity({}), std::as_bytes(std::span(&buoys[0], 1)));  // no transform
    const Blob blob = *Blob::load(writer.write().value());
    for (const bool in_database : {false, true}) {
        SCOPED_TRACE(in_database);
        EntityManager others;
        World other(others);
        other.transforms();
        in_database ? static_cast<void>(other.database().component<Buoy>()) : static_cast<void>(other.manager<Buoy>());
        other.position_links().follow<&Buoy::place>(Follower::kTransform);
        const Entity before = others.create().value();
        ASSERT_TRUE(other.transforms().add({&before, 1}, {.position = {5, 5, 5}}).ok());
        const AddedValues none{};
        ASSERT_TRUE(
            other.directory().find(schema_of<Buoy>().id())->add_values(schema_of<Buoy>(), {&before, 1}, none).ok());
        const Spawned spawned = other.spawn(blob, {.copies = 2}).value();
        const auto expect_at = [&](const std::vector<Entity>& copy) {
            const Vec3 expected[] = {place_of_transform, {1, 2, 3}, {}, {0, 0, -1}};
            for (std::size_t i = 0; i < copy.size(); ++i) {
                EXPECT_EQ(*other.get<Vec3>(copy[i], "buoy.place"), expected[i]) << i;
                const Instance instance = other.transforms().instance(copy[i]);
                EXPECT_EQ(bool(instance), i < 3);
                if (!instance) continue;
                EXPECT_EQ(other.transforms().world_position(instance), expected[i]) << i;
            }
        };
        const auto entities_of = [&](std::uint32_t copy) {
            std::vector<Entity> all;
            for (std::uint32_t i = 0; i < 4; ++i) all.push_back(spawned.entity(i, copy));
            return all;
        };
        EXPECT_EQ(*other.get<Vec3>(spawned.entity(0, 1), "buoy.place"), place_of_transform) << "at once";
        std::vector<Entity> of_commands;
        other.commands().call(other.commands().spawn(blob), [&](Entity first) {
            for (std::uint32_t i = 0; i < 4; ++i) of_commands.push_back({first.id + i});
        });
        other.settle();
        expect_at(entities_of(0)), expect_at(entities_of(1));
        ASSERT_EQ(of_commands.size(), 4u);
        expect_at(of_commands);
        EXPECT_EQ(other.transforms().world_position(other.transforms().instance(before)), (Vec3{0, 0, -1}))
            << "it was not spawned";
    }
}

TEST_F(PositionLinksOfWorld, declarations_that_contradict_each_other_are_errors_that_name_both_fields) {
    world.manager<Float>(), world.manager<Buoy>();
    const ComponentId buoy = schema_of<Buoy>().id(), floats = schema_of<Float>().id();
    ASSERT_TRUE(world.position_links().follow(buoy, 1, Follower::kTransform).ok());
    EXPECT_TRUE(world.position_links().follow(buoy, 1, Follower::kTransform).ok()) << "the same again";
    EXPECT_TRUE(world.position_links().follow(buoy, 0, Follower::kField).ok())
        << "another field may follow what has followed";
    world.database().component<Raft>();
    EXPECT_TRUE(world.position_links().follow(schema_of<Raft>().id(), 0, Follower::kField).ok())
        << "a field of another component, with the same name";
    EXPECT_EQ(world.position_links().follow(buoy, 1, Follower::kField).message(),
              "\"buoy.place\" and the transforms would follow each other; declare one of the two");
    EXPECT_EQ(world.position_links().follow(floats, 1, Follower::kTransform).message(),
              "the transforms follow \"buoy.place\" already, and cannot follow \"float.position\" too");
    EXPECT_EQ(world.position_links().follow(floats, 0, Follower::kField).message(),
              "\"float.drag\" is no single vec3, and cannot be a place");
    EXPECT_EQ(world.position_links().follow(buoy, 2, Follower::kField).message(),
              "\"buoy.chain\" is no single vec3, and cannot be a place");
    EXPECT_EQ(world.position_links().follow(buoy, 7, Follower::kField).message(),
              "\"buoy\" has 4 fields, and none with number 7");
    EXPECT_EQ(world.position_links().follow(buoy, 4, Follower::kField).message(),
              "\"buoy\" has 4 fields, and none with number 4");
    EXPECT_EQ(
        world.position_links().follow(schema_of<Transform>().id(), 0, Follower::kField).message(),
        "\"transform.position\" is kept by the transforms, which gives it a meaning of its own; declare a field of "
        "another component");
    EXPECT_EQ(world.position_links().keep_in_tiles(buoy, 1, kTiles).message(),
              "\"buoy.place\" is kept by a manager, which has no zones; keep it in the database");
    EXPECT_DEATH(world.position_links().follow<&Buoy::place>(Follower::kField), "would follow each other");
}

TEST_F(PositionLinksOfWorld, a_world_that_has_no_store_or_no_transforms_for_a_place_says_so) {
    EXPECT_DEATH(world.position_links().follow<&Float::position>(Follower::kField),
                 "no store of the world keeps the component type");
    World bare(entities);
    bare.manager<Float>();
    EXPECT_DEATH(bare.position_links().follow<&Float::position>(Follower::kField),
                 "call World::transforms\\(\\) before");
}

TEST_F(PositionLinksOfWorld, fields_are_followed_without_a_c_plus_plus_type_and_while_they_are_enabled) {
    ComponentDefinition definition;
    definition.name = "raft";
    definition.enableable = true;
    FieldDefinition place;
    place.name = "place", place.type = FieldType::kVec3;
    definition.fields.push_back(place);
    const Schema schema = Schema::make(std::move(definition)).value();
    ASSERT_TRUE(world.database().add_component(schema).ok());
    ASSERT_TRUE(world.position_links().follow(schema.id(), 0, Follower::kTransform).ok());
    const Entity raft = entities.create().value();
    ASSERT_TRUE(world.transforms().add({&raft, 1}).ok());
    ASSERT_TRUE(world.database().add_values(schema, {&raft, 1}, {}).ok());
    ASSERT_TRUE(world.set(raft, "raft.place", AnyValue(Vec3{1, 2, 3})).ok());
    ASSERT_TRUE(world.database().remove_values(schema, {&raft, 1}).ok());
    const auto place_of = [&] { return world.transforms().world_position(world.transforms().instance(raft)); };
    world.settle();
    EXPECT_EQ(place_of(), (Vec3{}));
    const Vec3 there{1, 2, 3};
    const AddedValues values{.images = reinterpret_cast<const std::byte*>(&there)};
    ASSERT_TRUE(world.database().add_values(schema, {&raft, 1}, values).ok());
    world.settle();
    EXPECT_EQ(place_of(), (Vec3{1, 2, 3}));
}

TEST(PositionLinksOfStores, are_forgotten_with_their_store) {
    EntityManager entities;
    PagePool pool;
    Manager<Float> floats(entities, pool);
    World world(entities);
    world.transforms();
    ASSERT_TRUE(world.attach(floats.core()).ok());
    world.position_links().follow<&Float::position>(Follower::kField);
    const Entity made = entities.create().value();
    ASSERT_TRUE(world.transforms().add({&made, 1}, {.position = {1, 2, 3}}).ok() && floats.add(made, Float{}).ok());
    world.settle();
    EXPECT_EQ(floats.get<&Float::position>(floats.instance(made)), (Vec3{1, 2, 3}));
    world.transforms().set_position(world.transforms().instance(made), {});
    world.detach(floats.core());
    world.settle();
    EXPECT_EQ(floats.get<&Float::position>(floats.instance(made)), (Vec3{1, 2, 3}));
}

TEST(PositionLinksOfStores, move_no_rows_of_a_database_that_was_detached_and_take_the_first_zone_that_it_has) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool, {.first_zone = 60});
    database.component<Float>();
    World world(entities);
    ASSERT_TRUE(world.attach(database).ok());
    world.position_links().keep_in_tiles<&Float::position>(kTiles);
    const auto zone_of = [&](Entity entity) { return database.find(entity).table->zone(); };
    const Entity unplaced = database.create(60, Float{.position = {6, 6, 0}}).value();
    const Entity elsewhere = database.create(0, Float{.position = {6, 6, 0}}).value();
    world.settle();
    EXPECT_EQ(zone_of(unplaced), kTiles.zone_of({6, 6, 0})) << "it was in the first zone, without a place";
    EXPECT_EQ(zone_of(elsewhere), 0u) << "which is not the first here";
    world.detach(database);
    database.set<&Float::position>(database.find(unplaced), {-6, -6, 0});
    world.settle();
    EXPECT_EQ(zone_of(unplaced), kTiles.zone_of({6, 6, 0}));
}

// --- attached to nodes ---------------------------------------------------------------------------------------------

Quaternion random_rotation(Random& random) {
    const Vec3 v{random.unit() - 0.5f, random.unit() - 0.5f, random.unit() - 0.5f};
    const float length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z + 1);
    return {v.x / length, v.y / length, v.z / length, 1 / length};
}

/// Even scales: nothing is sheared. Between half turns, which half of the rotations are, nothing else changes.
Transform random_pose(Random& random) {
    const float scale = 0.5f + random.unit();
    const Quaternion half_turns[] = {{}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const Quaternion rotation = random.below(2) == 0 ? half_turns[random.below(4)] : random_rotation(random);
    return {{random.unit() * 4, random.unit() * 4, random.unit() * 4}, rotation, {scale, scale, scale}};
}

Matrix3x4 matrix_of(const Transform& pose) { return local_matrix(pose.position, pose.rotation, pose.scale); }

/// Knights with three nodes in a chain, and swords that are handed around.
class Knights : public ::testing::TestWithParam<std::tuple<bool, TransformMode>> {
protected:
    Knights() {
        world.transforms({.mode = std::get<1>(GetParam())});
        if (std::get<0>(GetParam()))
            world.database().component<AttachedToNode>();
        else
            world.manager<AttachedToNode>(), world.database();
        models();
        knights.resize(40), swords.resize(200);
        EXPECT_TRUE(entities.create(knights).ok() && entities.create(swords).ok());
        const std::uint32_t parents[] = {kNilRow, 0, 1};
        const Vec3 positions[3] = {}, scales[] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
        const Quaternion rotations[3] = {};
        const Result<NodeTreeId> tree = models().add_node_tree({.names = std::span(names).first(3),
                                                                .parents = parents,
                                                                .positions = positions,
                                                                .rotations = rotations,
                                                                .scales = scales});
        EXPECT_TRUE(models().add(knights, *tree).ok());
        EXPECT_TRUE(world.transforms().add(knights).ok() && world.transforms().add(swords).ok());
    }
    ModelPoseManager& models() {
        if (models_ == nullptr) models_ = &world.make_store<ModelPoseManager>();
        return *models_;
    }
    void change() {
        TransformManager& transforms = world.transforms();
        const Entity knight = knights[random.below(40)], sword = swords[random.below(200)];
        const Transform pose = random_pose(random);
        const StringId node = names[random.below(4)];
        switch (random.below(5)) {
            case 0:
                return models().set_local(models().instance(knight), random.below(3), pose);
            case 1:
                return transforms.set_local(transforms.instance(knight), pose);
            case 2:
                return world.commands().add(sword, ChildOf{knight}), static_cast<void>(held[sword].knight = knight);
            case 3:
                return attach(sword, node, pose);
            default:
                if (random.below(4) != 0) return;
                world.commands().remove<AttachedToNode>(sword);
                held[sword].node = {};
        }
    }
    /// Attaches a sword at another pose, or changes one part of its pose, or gives it a scale that no pose can have.
    void attach(Entity sword, StringId node, const Transform& pose) {
        Held& now = held[sword];
        const std::uint32_t what = random.below(6);
        if (what == 0) node = now.node;
        now.node = what == 1 ? StringId() : node;  // it stays where it is
        if (what != 0) now.offset = pose;
        if (what == 0 && random.below(2) == 0)
            now.offset.rotation = pose.rotation;
        else if (what == 0)
            now.offset.scale = pose.scale;
        Quaternion longer = now.offset.rotation;
        for (float* lane : {&longer.x, &longer.y, &longer.z, &longer.w}) *lane *= 3;
        const Vec3 scale = what == 1 ? Vec3{1, 0, 1} : now.offset.scale;
        world.commands().add(sword, AttachedToNode{node, now.offset.position, longer, scale});
    }
    /// Where the model says that a sword is, from the poses of the knight and of its nodes.
    Matrix3x4 expected(Entity knight, StringId node, const Transform& offset) {
        const Instance model = models().instance(knight);
        Matrix3x4 world_pose = matrix_of(world.transforms().local(world.transforms().instance(knight)));
        for (std::uint32_t i = 0; i < 3; ++i) {
            world_pose = product(world_pose, matrix_of(models().local(model, i)));
            if (names[i] == node) break;
        }
        return product(world_pose, matrix_of(offset));
    }

    struct Held {
        Entity knight;
        StringId node;
        Transform offset;
    };
    const StringId names[4] = {StringId("hips"), StringId("arm"), StringId("hand"), StringId("tail")};
    Random random{shoal_test::seed()};
    EntityManager entities;
    World world{entities};
    ModelPoseManager* models_ = nullptr;
    std::vector<Entity> knights, swords;
    std::map<Entity, Held> held;
};

TEST_P(Knights, have_swords_in_their_hands_after_each_settle) {
    SCOPED_TRACE(shoal_test::seed_text());
    std::size_t num_compared = 0;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 100; ++i) change();
        models().compute();
        world.settle();
        for (const auto& [sword, hold] : held) {
            if (!hold.knight || hold.node == StringId() || hold.node == StringId("tail")) continue;
            const Matrix3x4& actual = world.transforms().world(world.transforms().instance(sword));
            const Matrix3x4 should = expected(hold.knight, hold.node, hold.offset);
            for (int i = 0; i < 3; ++i)
                for (const auto lane : {&Vec4::x, &Vec4::y, &Vec4::z, &Vec4::w})
                    ASSERT_NEAR(actual.row[i].*lane, should.row[i].*lane, 2e-3f);
            ++num_compared;
        }
    }
    EXPECT_GT(num_compared, 500u);
    ASSERT_EQ(move_attached(*world.directory().find(schema_of<AttachedToNode>().id()), models(), world.transforms()),
              0u)
        << "nothing differs after a settle";
    const auto hangs_on = [&](const auto& one) {
        return one.second.knight == knights[0] && std::count(names, names + 3, one.second.node) != 0;
    };
    held[swords[0]].knight = knights[0], held[swords[0]].node = names[2];
    world.commands().add(swords[0], ChildOf{knights[0]}), world.commands().add(swords[0], AttachedToNode{names[2]});
    world.settle();
    models().set_local(models().instance(knights[0]), 0, {.position = {7, 7, 7}});
    models().compute();
    EXPECT_EQ(move_attached(*world.directory().find(schema_of<AttachedToNode>().id()), models(), world.transforms()),
              std::size_t(std::count_if(held.begin(), held.end(), hangs_on)));
}

TEST_P(Knights, leave_their_swords_where_they_die_or_lose_their_model) {
    TransformManager& transforms = world.transforms();
    const auto place_of = [&](Entity entity) { return transforms.world_position(transforms.instance(entity)); };
    for (std::size_t i = 0; i < 2; ++i) {
        transforms.set_position(transforms.instance(knights[i]), {float(i), 0, 0});
        models().set_local(models().instance(knights[i]), 1, {.position = {0, 0, 5}});
        world.commands().add(swords[i], ChildOf{knights[i]});
        world.commands().add(swords[i], AttachedToNode{.node = names[2]});
    }
    models().compute();
    world.settle();
    EXPECT_EQ(place_of(swords[0]), (Vec3{0, 0, 5}));
    entities.destroy(knights[0]);
    models().remove({&knights[1], 1});
    transforms.set_position(transforms.instance(knights[1]), {3, 0, 0});
    world.settle();
    EXPECT_EQ(place_of(swords[0]), (Vec3{0, 0, 5}));
    EXPECT_EQ(place_of(swords[1]), (Vec3{3, 0, 5})) << "still a child";
}

TEST_P(Knights, may_come_from_a_blob_with_their_swords) {
    EXPECT_EQ(schema_of<AttachedToNode>().name(), "attached_to_node") << "as sources call it";
    BlobWriter writer;
    writer.set_name("units/knight");
    const std::uint32_t placed = writer.add_component_type(schema_of<Transform>(), -100).value();
    const std::uint32_t attached = writer.add_component_type(schema_of<AttachedToNode>()).value();
    const Transform far_away{.position = {9, 9, 9}};
    const AttachedToNode in_hand{.node = names[2], .position = {0, 0, 1}};
    for (const std::uint32_t parent : {kNoBlobEntity, 0u}) {
        const std::uint32_t entity = writer.add_entity({.parent = parent});
        writer.add_component(placed, entity, std::as_bytes(std::span(&far_away, 1)));
        if (parent == 0) writer.add_component(attached, entity, std::as_bytes(std::span(&in_hand, 1)));
    }
    const Blob blob = *Blob::load(writer.write().value());
    const Result<Spawned> spawned = world.spawn(blob, {.copies = 2});
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    const Entity knight = spawned->entity(0, 1), sword = spawned->entity(1, 1);
    ASSERT_TRUE(models().add({&knight, 1}, models().tree(models().instance(knights[0]))).ok());
    world.settle();
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.world_position(transforms.instance(sword)), (Vec3{9, 9, 10})) << "before compute() is called";
    EXPECT_EQ(transforms.world_position(transforms.instance(spawned->entity(1, 0))), (Vec3{18, 18, 18}))
        << "its parent has no model";
}

TEST(AttachedToNodes, of_other_fields_than_those_of_shoal_attach_nothing) {
    EntityManager others;
    World other(others);
    ModelPoseManager& poses = other.make_store<ModelPoseManager>();
    const StringId hips("hips");
    const std::uint32_t parent = kNilRow;
    const Transform one;
    const Result<NodeTreeId> tree =
        poses.add_node_tree({{&hips, 1}, {&parent, 1}, {&one.position, 1}, {&one.rotation, 1}, {&one.scale, 1}});
    ASSERT_TRUE(tree.ok()) << tree.message();
    std::vector<Entity> pair(2);
    const std::uint32_t parents[] = {kNilRow, 0};
    const Transform locals[] = {{}, {.position = {1, 2, 3}}};
    ASSERT_TRUE(others.create(pair).ok() && other.transforms().add(pair, locals, parents).ok());
    ASSERT_TRUE(poses.add({pair.data(), 1}, *tree).ok());
    ComponentDefinition definition{.name = "attached_to_node"};
    definition.fields = {{.name = "node", .type = FieldType::kStringId}, {.name = "strength"}};
    ComponentManager& attached = *other.manager(Schema::make(std::move(definition)).value()).value();
    const std::vector<std::byte> image(attached.schema().struct_bytes());
    ASSERT_TRUE(attached.add_images({&pair[1], 1}, image.data(), 0).ok());
    ASSERT_TRUE(other.set(pair[1], "attached_to_node.node", AnyValue(hips)).ok());
    other.settle();
    EXPECT_EQ(other.transforms().local(other.transforms().instance(pair[1])).position, locals[1].position);
}

INSTANTIATE_TEST_SUITE_P(Stores, Knights,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(TransformMode::kImmediate, TransformMode::kDeferred)));

}  // namespace

// Commands reach whichever store of a world keeps a component type, in the same order, with the same results.

#include "shoal/base/log.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/state_hash.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/keep_in.h"
#include "support/logged.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace shoal;

struct Hull {
    int length = 0;
};
SHOAL_COMPONENT(Hull, length)
struct Mast {
    int height = 0;
    Entity lookout;
};
SHOAL_COMPONENT(Mast, (height), lookout)
struct Anchored {
    int depth = 0;
};
SHOAL_COMPONENT((Anchored, enableable), depth)
struct Crew {
    std::shared_ptr<int> size;  // more than bytes
};
SHOAL_COMPONENT(Crew, size)

struct Badge {
    int number = 0;
};
SHOAL_COMPONENT((Badge, many), number)

struct Born {};  // what commands created
SHOAL_COMPONENT(Born)

/// The values of an entity; -1 for a component that it lacks. Of badges it may have several, the last one first.
struct Values {
    std::array<int, 4> single{};
    std::vector<int> badges;

    int& operator[](std::size_t i) { return single[i]; }
    friend bool operator==(const Values&, const Values&) = default;
};
const Values kNothing = {{-1, -1, -1, -1}, {}};

/// Component type `i` is in the database if bit `i` is set, and otherwise in a manager.
class Fleet {
public:
    explicit Fleet(unsigned in_database, Executor* executor = nullptr)
        : in_database_(in_database), world(entities, {.executor = executor}) {
        keep<Hull>(0, RowIndexKind::kPaged);
        keep<Mast>(1, RowIndexKind::kHash);
        keep<Anchored>(2, RowIndexKind::kIdentity);
        keep<Crew>(3, RowIndexKind::kPaged);
        keep<Badge>(4, RowIndexKind::kPaged);
        world.manager<Born>();
        world.database();
    }

    Values values(Entity entity) {
        Values result = kNothing;
        if (const int* length = find<&Hull::length>(0, entity)) result[0] = *length;
        if (const int* height = find<&Mast::height>(1, entity)) result[1] = *height;
        if (const int* depth = find<&Anchored::depth>(2, entity)) result[2] = *depth;
        if (const std::shared_ptr<int>* size = find<&Crew::size>(3, entity)) result[3] = *size == nullptr ? -2 : **size;
        for (std::uint32_t i = 0;; ++i) {
            const std::string name = "badge[" + std::to_string(i) + "].number";
            const Result<int> number = world.get<int>(entity, name);
            if (!number) return result;
            result.badges.push_back(*number);
        }
    }
    template <auto kMember>
    const ValueOf<kMember>* find(unsigned type, Entity entity) {
        using T = ComponentOf<kMember>;
        if ((in_database_ >> type & 1) == 0) {
            const Instance instance = world.manager<T>().instance(entity);
            return instance ? &world.manager<T>().template get<kMember>(instance) : nullptr;
        }
        Database& database = world.database();
        return database.has<T>(entity) ? &database.get<kMember>(database.find(entity)) : nullptr;
    }

private:
    template <class T>
    void keep(unsigned type, RowIndexKind index) {
        shoal_test::keep_in<T>(world, (in_database_ >> type & 1) != 0, index);
    }

    unsigned in_database_;

public:
    EntityManager entities;
    World world;
};

class AnyStore : public ::testing::TestWithParam<unsigned> {
protected:
    Random random{shoal_test::seed()};
    Fleet fleet{GetParam()};
};

/// Asks for a random change of a random component of an entity, and makes it in `values`.
void change(Commands& commands, Random& random, Entity entity, Values& values) {
    const int value = static_cast<int>(random.below(100));
    const bool adds = random.below(3) != 0;
    const std::uint32_t type = random.below(6);
    if (type == 4) {  // two at once
        values[0] = adds ? value : -1, values[1] = adds ? value : -1;
        adds ? commands.add(entity, Hull{value}, Mast{value, entity}) : commands.remove<Hull, Mast>(entity);
        return;
    }
    if (type == 5) {  // one more, or none any more
        if (!adds) values.badges.clear();
        if (adds) values.badges.insert(values.badges.begin(), value);
        return adds ? commands.add(entity, Badge{value}) : commands.remove<Badge>(entity);
    }
    values[type] = adds ? value : -1;
    if (type == 0) adds ? commands.add(entity, Hull{value}) : commands.remove<Hull>(entity);
    if (type == 1) adds ? commands.add(entity, Mast{value, entity}) : commands.remove<Mast>(entity);
    if (type == 2) adds ? commands.add(entity, Anchored{value}) : commands.remove<Anchored>(entity);
    if (type == 3) adds ? commands.add(entity, Crew{std::make_shared<int>(value)}) : commands.remove<Crew>(entity);
}

// req: D7
TEST_P(AnyStore, random_commands_do_what_a_map_says) {
    SCOPED_TRACE(shoal_test::seed_text());
    std::map<Entity, Values> model;
    std::vector<Entity> living;
    const std::int64_t num_frames = shoal_test::scaled_operations(60);
    for (std::int64_t frame = 0; frame < num_frames; ++frame) {
        Commands& commands = fleet.world.commands();
        std::vector<Values> made;
        std::map<Entity, std::uint64_t> num_asked;  // commands about each entity
        for (int i = 0; i < 40; ++i) {
            const Entity entity = living.empty() ? kNullEntity : living[random.below(std::uint32_t(living.size()))];
            const std::uint32_t what = random.below(8);
            if (what != 0) ++num_asked[entity];
            if (what == 0) {
                Values values = kNothing;
                values[0] = values[3] = i;
                values.badges = {i};
                const Entity pending = commands.create(2, Born{}, Hull{i}, Crew{std::make_shared<int>(i)}, Badge{i});
                change(commands, random, pending, values);
                made.push_back(values);
            } else if (what == 1 && entity) {
                commands.destroy(entity);
                model[entity][0] = -9;  // dies
            } else if (entity && model[entity][0] != -9) {
                change(commands, random, entity, model[entity]);
            } else if (entity) {
                Values ignored = kNothing;
                change(commands, random, entity, ignored);
            }
        }
        const std::vector<Entity> before = living;
        fleet.world.settle();
        living.clear();
        std::uint64_t num_destroyed = 0, num_dropped = 0;
        for (const Entity entity : before) {
            ASSERT_EQ(fleet.entities.alive(entity), model[entity][0] != -9);
            if (fleet.entities.alive(entity)) {
                living.push_back(entity);
                continue;
            }
            model.erase(entity);
            ++num_destroyed;
            num_dropped += num_asked[entity] - 1;  // all but the one that destroys it
        }
        const SettleCounts& counts = fleet.world.settle_statistics().last;
        ASSERT_EQ(counts.num_created, made.size());
        ASSERT_EQ(counts.num_destroyed, num_destroyed);
        ASSERT_EQ(counts.num_dropped, num_dropped);
        for (const Entity entity : fleet.world.manager<Born>().entities())
            if (model.count(entity) == 0) living.push_back(entity);
        ASSERT_EQ(living.size() - model.size(), made.size());
        for (std::size_t i = model.size(); i < living.size(); ++i) {
            const auto is_it = [&](const Values& values) { return values == fleet.values(living[i]); };
            const auto found = std::find_if(made.begin(), made.end(), is_it);
            ASSERT_NE(found, made.end()) << "an entity has values that nobody asked for";
            model[living[i]] = *found;
            made.erase(found);
        }
        for (const auto& [entity, values] : model) ASSERT_EQ(fleet.values(entity), values);
    }
    fleet.world.query<Read<&Mast::lookout>>().for_each([&](Entity entity, Entity lookout) {
        ASSERT_EQ(lookout, entity) << "pending entities in values are translated";
    });
}

TEST_P(AnyStore, passes_give_the_same_state_for_1_2_3_and_8_workers) {
    std::vector<std::uint64_t> hashes;
    for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
        shoal_test::ThreadPoolExecutor pool(num_workers);
        Fleet sea(GetParam(), &pool);
        for (int i = 0; i < 3000; ++i) sea.world.commands().create(0, Hull{i}, Mast{i % 7, {}});
        sea.world.settle();
        sea.world.schedule().add(
            "live", sea.world.query<Write<&Hull::length>, Read<&Mast::height>>().grain(256),
            [](const PassContext& frame, Commands& commands, Entity self, int& length, int height) {
                Random dice = frame.random_for(self);
                length += height;
                if (dice.below(10) == 0) commands.destroy(self);
                if (dice.below(10) == 0) commands.create(0, Hull{length}, Mast{height, self});
                if (dice.below(5) == 0) commands.add(self, Anchored{length});
                if (dice.below(5) == 0) commands.remove<Anchored>(self);
            });
        for (int frame = 0; frame < 10; ++frame) sea.world.step(0.1f);
        hashes.push_back(state_hash(sea.world));
        EXPECT_GT(sea.entities.num_alive(), 1000u);
    }
    for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, hashes.front());
}

INSTANTIATE_TEST_SUITE_P(Stores, AnyStore, ::testing::Range(0u, 32u));

// --- all operations ------------------------------------------------------------------------------------------------

/// A boat with a mast on it.
std::vector<std::byte> boat_blob() {
    BlobWriter writer;
    const std::uint32_t hull = *writer.add_component_type(schema_of<Hull>());
    const std::uint32_t mast = *writer.add_component_type(schema_of<Mast>());
    const std::uint32_t place = *writer.add_component_type(schema_of<Transform>());
    for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t entity = writer.add_entity({.parent = i == 0 ? kNoBlobEntity : 0});
        writer.add_component(place, entity, blob_default_image(schema_of<Transform>()));
        writer.add_component(i == 0 ? hull : mast, entity,
                             blob_default_image(i == 0 ? schema_of<Hull>() : schema_of<Mast>()));
    }
    return *writer.write();
}

/// Passes that ask for everything that commands can ask for, in every kind of store.
struct Traffic {
    Traffic(Executor& executor, const Blob& boat)
        : world(entities, {.executor = &executor, .seed = shoal_test::seed()}), prefab(boat) {
        world.manager<Hull>();
        world.database().component<Mast>();
        world.database().component<Anchored>();
        world.manager<Badge>({.index = RowIndexKind::kHash});
        world.manager<Crew>();
        world.transforms();
        world.ownership();
        world.manager<Tag>();
        world.manager<DebugName>();
        for (int i = 0; i < 2000; ++i) world.commands().create(0, Hull{i}, Mast{i, {}}, Transform{});
        world.settle();
        add_pass("of managers", world.query<Read<&Hull::length>>().grain(128));
        add_pass("of the database", world.query<Read<&Mast::height>>().grain(128));
        add_pass("of transforms", world.query<Read<&Transform::scale>>().grain(128));
    }
    template <class OfRows>
    void add_pass(const char* name, OfRows rows) {
        world.schedule().add(name, rows, {reads(world.manager<Hull>())},
                             [this](const PassContext& frame, Commands& commands, Entity self, const auto&) {
                                 Random dice = frame.random_for(self);
                                 for (int i = 0; i < 6; ++i) ask(commands, dice, self);
                                 num_asked.fetch_add(6, std::memory_order_relaxed);
                             });
    }
    void ask(Commands& commands, Random& dice, Entity self) {
        const bool has_room =
            entities.num_alive() < 3000;  // the same in all chunks: nothing is created before the settle
        const std::span<const Entity> all = world.manager<Hull>().entities();
        const Entity other = all[dice.below(static_cast<std::uint32_t>(all.size()))];
        const int value = static_cast<int>(dice.below(100));
        const auto zone = Zone(value % 5);
        const RootPose pose{.position = {float(value), 0, 1}};
        switch (dice.below(has_room ? 24 : 21)) {
            case 0:
                return dice.below(4) == 0 ? commands.destroy(self) : commands.move(self, zone);
            case 1:
                return commands.move(self, zone);
            case 2:
                return commands.add(self, Hull{value});
            case 3:
                return dice.below(4) == 0 ? commands.remove<Hull>(self)
                                          : commands.add(self, Hull{value}, Mast{value, other});
            case 4:
                return commands.add(self, Mast{value, other});
            case 5:
                return commands.remove<Mast>(self);
            case 6:
                return dice.below(4) == 0 ? commands.add(self, Disabled{Anchored{value}})
                                          : commands.add(self, Anchored{value});
            case 7:
                return commands.remove<Anchored>(self);
            case 8:
                return commands.add(self, Badge{value});
            case 9:
                return commands.remove<Badge>(self);
            case 10:
                return commands.add(self, Transform{.position = {1, float(value), 0}});
            case 11:
                return dice.below(4) == 0 ? commands.remove<Transform>(self) : commands.remove<ChildOf>(self);
            case 12:
                return commands.add(self, ChildOf{other});
            case 13:
                return commands.remove<ChildOf>(self);
            case 14:
                return dice.below(8) == 0 ? commands.add(self, Owned{other}) : commands.remove<Owned>(self);
            case 15:
                return value % 2 == 0 ? commands.tag(self, "fast") : commands.add(self, Tag{StringId("red")});
            case 16:
                return value % 2 == 0 ? commands.untag(self, "red") : commands.remove<Tag>(self);
            case 17:
                return value % 2 == 0 ? commands.name(self, "ann") : commands.add(self, DebugName{StringId("bob")});
            case 18:
                return commands.add(self, Crew{std::make_shared<int>(value)});
            case 19:
                return commands.remove<Crew, Anchored>(self);
            case 20:
                return commands.call(self, other, [](Entity who, Entity whom) { ASSERT_TRUE(who && whom); });
            case 21:
                return commands.add(commands.create(zone, Hull{value}, Mast{value, self}), Badge{value}, Badge{1});
            case 22:
                return commands.add(commands.spawn(prefab, pose, zone), Mast{value, self});
            default:
                return dice.below(6) == 0 ? commands.add(commands.copy(self, pose), Hull{value})
                                          : commands.destroy(other);
        }
    }

    EntityManager entities;
    World world;
    const Blob& prefab;
    std::atomic<std::int64_t> num_asked = 0;
};

// req: E13
TEST(AllCommands, give_one_state_for_1_2_3_and_8_workers_whichever_5_million_are_asked_for) {
    SCOPED_TRACE(shoal_test::seed_text());
    const std::vector<std::byte> bytes = boat_blob();
    const Result<Blob> boat = Blob::view(bytes);
    ASSERT_TRUE(boat);
    set_log_hook([](void*, LogLevel, std::string_view) {}, nullptr);  // of entities without transforms that are linked
    const std::int64_t num_commands = shoal_test::scaled_operations(5'000'000) / 4;
    std::vector<std::uint64_t> expected;  // by frame
    for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
        shoal_test::ThreadPoolExecutor pool(num_workers);
        Traffic traffic(pool, *boat);
        for (std::size_t frame = 0; traffic.num_asked < num_commands; ++frame) {
            traffic.world.step(0.1f);
            ASSERT_GT(traffic.entities.num_alive(), 500u);
            if (num_workers == 1) expected.push_back(state_hash(traffic.world));
            ASSERT_EQ(state_hash(traffic.world), expected[frame]) << num_workers << " workers, frame " << frame;
        }
        EXPECT_TRUE(traffic.world.transforms().validate());
        EXPECT_TRUE(traffic.world.database().validate());
        EXPECT_GT(traffic.world.settle_statistics().total.num_created, 100u);
        EXPECT_GT(traffic.world.settle_statistics().total.num_destroyed, 100u);
    }
    set_log_hook(nullptr, nullptr);
}

struct CommandsOfWorld : ::testing::Test {
    EntityManager entities;
    World world{entities};
    Entity made[3];
    CommandsOfWorld() { EXPECT_TRUE(entities.create(made).ok()); }
};

TEST_F(CommandsOfWorld, an_entity_whose_components_are_all_in_managers_gets_no_row_in_the_database) {
    world.manager<Hull>();
    for (const bool has_database : {false, true}) {
        if (has_database) EXPECT_EQ(world.database().num_rows(), 0u);
        const std::uint32_t num_before = world.manager<Hull>().num_rows();
        world.commands().create(5, Hull{3});
        world.commands().destroy(world.commands().create(5, Hull{4}));  // is never made
        world.settle();
        EXPECT_EQ(world.manager<Hull>().num_rows(), num_before + 1);
        EXPECT_EQ(world.settle_statistics().last.num_created, 1u);
        EXPECT_EQ(world.settle_statistics().last.num_dropped, 0u);
    }
    EXPECT_EQ(world.database().num_rows(), 0u);
}

TEST_F(CommandsOfWorld, links_and_calls_of_a_later_chunk_come_after_all_of_an_earlier_one) {
    TransformManager& places = world.transforms();
    ASSERT_TRUE(places.add(std::span<const Entity>(made), Transform{}));
    ASSERT_TRUE(world.manager<Mast>().add(made[2], Mast{}));
    std::vector<int> called;
    Commands& commands = world.commands();
    commands.remove<ChildOf>(made[1]);  // it has no parent, which is no mistake
    commands.add(made[0], ChildOf{made[1]});
    commands.remove<Hull>(made[1]);
    commands.call(made[0], [&](Entity) { called.push_back(1); });
    world.query<With<Mast>>().for_each([&](Commands& of_loop) {
        of_loop.add(made[2], ChildOf{made[1]});
        of_loop.call(made[0], [&](Entity) { called.push_back(2); });
    });
    world.settle();
    EXPECT_EQ(called, (std::vector<int>{1, 2}));
    EXPECT_EQ(places.entity(places.first_child(places.instance(made[1]))), made[2]) << "linked last";
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 0u);
    EXPECT_EQ(world.settle_statistics().last.num_moved, 2u) << "each link counts";
    world.commands().remove<ChildOf>(made[0]);
    world.settle();
    EXPECT_EQ(world.settle_statistics().last.num_moved, 1u);
    world.settle();
    EXPECT_EQ(world.settle_statistics().last.num_moved, 0u);
}

TEST_F(CommandsOfWorld, calls_are_about_the_living_and_know_who_was_created) {
    world.database();
    int num_calls = 0;
    Commands& commands = world.commands();
    const Entity egg = commands.create(0, Hull{1});
    commands.call(egg, made[1], [&](Entity self, Entity other) {
        ++num_calls;
        EXPECT_TRUE(entities.alive(self) && !is_pending(self));
        EXPECT_EQ(other, made[1]);
    });
    commands.call(made[1], egg, [&](Entity self, Entity other) {
        ++num_calls;
        EXPECT_EQ(self, made[1]);
        EXPECT_TRUE(entities.alive(other) && !is_pending(other));
    });
    commands.call(made[0], [&](Entity) { ADD_FAILURE() << "it is dead"; });
    commands.destroy(made[0]);
    world.settle();
    EXPECT_EQ(num_calls, 2);
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u);
}

TEST_F(CommandsOfWorld, those_that_a_zone_has_no_room_for_stay_where_they_are) {
    Database& database = world.database({.capacity_rows = 3});
    Entity others[2];
    ASSERT_TRUE(database.create<Anchored>(others, 1));
    for (const Entity entity : made) ASSERT_TRUE(database.insert(entity, 2, Anchored{}));
    for (const Entity entity : others) world.commands().move(entity, 3);
    for (const Entity entity : made) world.commands().move(entity, 3);
    {
        const shoal_test::Logged logged;
        world.settle();
        ASSERT_EQ(logged.lines.size(), 1u);
        EXPECT_EQ(logged.lines[0].find("commands to move 5 entities were dropped: "), 0u) << logged.lines[0];
    }
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 5u);
    EXPECT_EQ(world.settle_statistics().last.num_moved, 0u);
    EXPECT_EQ(database.num_rows(1), 2u);
    for (const Entity entity : made) world.commands().move(entity, 3);
    world.settle();
    EXPECT_EQ(world.settle_statistics().last.num_moved, 3u);
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 0u);
}

TEST_F(CommandsOfWorld, what_is_created_without_a_zone_lies_in_the_first_one) {
    Database& database = world.database({.first_zone = 3});
    database.component<Hull>();
    world.commands().create(Hull{1});
    world.commands().create(std::span(made), Hull{1});
    world.commands().create(5, Hull{2});
    world.settle();
    EXPECT_EQ(database.num_rows(3), 4u);
    EXPECT_EQ(database.num_rows(5), 1u);
    const Entity by_hand = *entities.create();
    EXPECT_TRUE(*database.insert(by_hand, Hull{4}));
    EXPECT_TRUE(database.create(std::span(made), Hull{5}, Anchored{6}));
    EXPECT_TRUE(database.create<Hull>(made));
    EXPECT_TRUE(database.create<Hull>(made, std::vector<Hull>(3)));
    EXPECT_EQ(database.num_rows(3), 4u + 1 + 3 * 3);
}

// A store whose component type gets other fields, and then those of before, has a new schema in place of the older one.
TEST_F(CommandsOfWorld, a_value_without_a_cpp_type_goes_by_the_schema_of_the_newest_command) {
    auto& hulls = world.manager<Hull>();
    auto& badges = world.manager<Badge>();
    world.database();
    Schema older = schema_of<Hull>();
    for (const int length : {1, 2}) {
        const Schema& now = length == 1 ? older : schema_of<Hull>();
        world.commands().add(made[length], now, reinterpret_cast<const std::byte*>(&length));
        world.settle();
        older = schema_of<Badge>();  // what the memory of the older one has become
        const Instance hull = hulls.instance(made[length]);
        ASSERT_TRUE(hull);
        EXPECT_EQ(hulls.get<&Hull::length>(hull), length);
    }
    world.commands().remove(made[1], schema_of<Hull>());
    world.settle();
    EXPECT_EQ(hulls.num_rows(), 1u);
    EXPECT_EQ(badges.num_rows(), 0u);
}

TEST_F(CommandsOfWorld, transforms_and_owners_come_and_go_by_commands) {
    auto& owners = world.ownership();
    world.transforms();
    Commands& commands = world.commands();
    for (const Entity entity : made) commands.add(entity, Transform{.position = {1, 2, 3}});
    const Entity smoke = commands.create(0, Transform{.position = {4, 5, 6}}, Owned{made[0]});
    commands.add(made[1], Owned{made[0]});
    static_cast<void>(smoke);
    world.settle();
    EXPECT_EQ(world.transforms().num_rows(), 4u);
    EXPECT_EQ(world.transforms().world_position(world.transforms().instance(made[2])), (Vec3{1, 2, 3}));
    EXPECT_EQ(owners.owner(made[1]), made[0]);
    world.commands().remove<Transform>(made[2]);
    world.commands().remove<Owned>(made[1]);
    world.settle();
    EXPECT_FALSE(world.transforms().has(made[2]));
    EXPECT_EQ(owners.owner(made[1]), kNullEntity);
    world.commands().destroy(made[0]);
    world.settle();
    EXPECT_EQ(entities.num_alive(), 2u) << "what it owns has died with it";
}

// req: D7
TEST_F(CommandsOfWorld, passes_add_link_change_and_remove_components_and_children_in_any_store) {
    for (const bool in_database : {false, true}) {
        World harbour(entities);
        if (in_database)
            harbour.database().component<Hull>();
        else
            harbour.manager<Hull>();
        harbour.commands();  // made before passes run
        const TransformManager& places = harbour.transforms();
        const auto x = [&](Entity entity) { return places.world_position(places.instance(entity)).x; };
        const auto length = [&](Entity entity) -> int {
            const Result<int> found = harbour.get<int>(entity, "hull.length");
            return found ? *found : -1;
        };
        const auto parent = [&](Entity entity) {
            const Instance above = places.parent(places.instance(entity));
            return above ? places.entity(above) : kNullEntity;
        };
        const Entity a = *entities.create(), b = *entities.create(), c = *entities.create();
        const auto in_a_frame = [&](auto change) {
            harbour.schedule().add("change", [&](PassContext&) { change(harbour.commands()); });
            harbour.step(0.1f);
            ASSERT_TRUE(harbour.schedule().remove("change"));
        };
        in_a_frame([&](Commands& commands) {
            commands.add(a, Transform{.position = {1, 0, 0}}, Hull{7});
            commands.add(b, Transform{.position = {2, 0, 0}});
            commands.add(c, Transform{.position = {4, 0, 0}});
            commands.add(b, ChildOf{a});
        });
        EXPECT_EQ(parent(b), a);
        EXPECT_EQ(x(b), 3);
        EXPECT_EQ(length(a), 7);
        EXPECT_EQ(length(c), -1);
        in_a_frame([&](Commands& commands) {
            commands.add(b, ChildOf{c});  // another parent
            commands.add(c, Hull{8});
            commands.add(a, Hull{9});  // another value
        });
        EXPECT_EQ(parent(b), c);
        EXPECT_EQ(x(b), 6);
        EXPECT_FALSE(places.first_child(places.instance(a)));
        EXPECT_EQ(length(a), 9);
        EXPECT_EQ(length(c), 8);
        in_a_frame([&](Commands& commands) {
            commands.remove<ChildOf>(b);
            commands.remove<Hull>(a);
            commands.create(0, Transform{.position = {8, 0, 0}}, ChildOf{c}, Hull{3});
        });
        EXPECT_EQ(parent(b), kNullEntity);
        EXPECT_EQ(x(b), 6) << "it stays where it is";
        EXPECT_EQ(length(a), -1);
        const Instance made_child = places.first_child(places.instance(c));
        ASSERT_TRUE(made_child);
        const Entity child = places.entity(made_child);
        EXPECT_EQ(x(child), 12);
        EXPECT_EQ(length(child), 3);
        in_a_frame([&](Commands& commands) { commands.destroy(c); });
        EXPECT_EQ(parent(child), kNullEntity);
        EXPECT_EQ(x(child), 12) << "it stays where it is";
        EXPECT_EQ(length(c), -1);
    }
}

/// A store that takes components by spawning only.
struct Sealed : OwnedRows, Store {
    Sealed(EntityManager& manager, PagePool& pool) : OwnedRows(schema_of<Hull>(), manager, pool) {}
    std::span<const Schema* const> schemas() const override { return OwnedRows::schemas(); }
    Status spawn(const SpawnBatch& batch) override { return OwnedRows::spawn(batch); }
    void drop(std::span<const Entity> dropped) override { OwnedRows::remove(dropped); }
    void settle(const SettleContext& context) override { OwnedRows::settle(context); }
    std::span<const Table* const> tables() const override { return OwnedRows::tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return OwnedRows::statistics(out); }
};

TEST_F(CommandsOfWorld, what_a_store_refuses_is_dropped_counted_and_logged) {
    world.make_store<Sealed>();
    const shoal_test::Logged logged;
    world.commands().add(made[0], Hull{1});
    world.commands().create(0, Hull{2});
    world.settle();
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 2u);
    ASSERT_EQ(logged.lines.size(), 2u);
    EXPECT_EQ(logged.lines[0].find("commands to create 1 entities were dropped: "), 0u) << logged.lines[0];
    EXPECT_EQ(logged.lines[1].find("commands to change 1 entities were dropped: "), 0u) << logged.lines[1];
    EXPECT_EQ(entities.num_alive(), 3u) << "no entity stays half made";
}

/// A store that promises to take components, and takes none.
struct Fickle : Sealed {
    using Sealed::Sealed;
    Result<bool> prepare_values(const Schema&, std::span<const Entity>, bool) override { return true; }
};

TEST_F(CommandsOfWorld, what_a_store_refuses_after_others_were_changed_is_logged_as_carried_out_in_part) {
    world.make_store<Fickle>();
    const shoal_test::Logged logged;
    for (const bool by_two_commands : {false, true}) {
        const Entity entity = made[by_two_commands];
        if (by_two_commands)
            world.commands().add(entity, Anchored{7}), world.commands().add(entity, Hull{1});
        else
            world.commands().add(entity, Hull{1}, Anchored{7});
        world.settle();
        EXPECT_TRUE(world.database().has<Anchored>(entity));
        EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u);
        ASSERT_EQ(logged.lines.size(), 1u + by_two_commands);
        EXPECT_NE(logged.lines.back().find("change 1 entities were carried out in part, not in all stores: "),
                  std::string::npos)
            << logged.lines.back();
    }
}

/// A store that counts the calls that give components.
struct Counted : Sealed {
    using Sealed::Sealed;
    Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> given,
                                     const AddedValues& values) override {
        ++num_calls;
        return OwnedRows::add_values(component, given, values);
    }
    int num_calls = 0;
};

TEST(CommandsOfAWorldThatEnds, values_and_components_that_end_with_it_may_ask_for_changes_in_vain) {
    EntityManager entities;
    const Entity made = *entities.create();
    int num_asked = 0;
    {
        World world(entities);
        const auto end = [&](int* size) {
            delete size;
            ++num_asked;
            world.commands().destroy(made);
        };
        ASSERT_TRUE(world.manager<Crew>().add(made, Crew{std::shared_ptr<int>(new int(3), end)}));
        world.commands().add(made, Crew{std::shared_ptr<int>(new int(4), end)});
    }
    EXPECT_EQ(num_asked, 2);
    EXPECT_TRUE(entities.alive(made));
}

TEST(CommandBatches, what_many_chunks_ask_for_is_one_call_in_the_order_of_the_chunks) {
    EntityManager entities;
    shoal_test::ThreadPoolExecutor pool(3);
    World world(entities, {.executor = &pool});
    auto& hulls = world.make_store<Counted>();
    std::vector<Entity> all(16 * 256);
    ASSERT_TRUE(entities.create(all).ok());
    ASSERT_TRUE(world.manager<Mast>().add(all, Mast{}).ok());
    world.database();
    world.schedule().add("ask", world.query<Read<&Mast::height>>().grain(256),
                         [](Commands& commands, Entity self, int) {
                             if (self.index() % 8 == 0) commands.add(self, Hull{int(self.index())});
                         });
    world.step(0.1f);
    EXPECT_EQ(hulls.num_calls, 1);
    std::vector<Entity> owners;
    for (const Entity entity : all)
        if (entity.index() % 8 == 0) owners.push_back(entity);
    EXPECT_TRUE(std::ranges::equal(hulls.table().entities(), owners));
    for (const Entity owner : owners) ASSERT_EQ(*world.get<int>(owner, "hull.length"), int(owner.index()));
}

TEST(CommandBatches, what_a_chunk_asks_for_stays_in_order_however_much_it_is) {
    for (const int count : {1, 100, 1000, 5000}) {
        EntityManager entities;
        World world(entities);
        auto& hulls = world.make_store<Counted>();
        std::vector<Entity> all(static_cast<std::size_t>(count));
        ASSERT_TRUE(entities.create(all).ok());
        world.database();
        for (int i = 0; i < count; ++i) world.commands().add(all[static_cast<std::size_t>(i)], Hull{i});
        world.settle();
        EXPECT_TRUE(std::ranges::equal(hulls.table().entities(), all));
        for (int i = 0; i < count; ++i) ASSERT_EQ(*world.get<int>(all[static_cast<std::size_t>(i)], "hull.length"), i);
        EXPECT_LT(hulls.num_calls, 8) << "an entity has no call of its own";
    }
}

TEST_P(AnyStore, of_several_commands_about_a_run_of_ids_the_last_counts) {
    std::vector<Entity> run(1000);
    ASSERT_TRUE(fleet.entities.create(run).ok());
    Commands& commands = fleet.world.commands();
    for (int i = 0; i < 1000; ++i) commands.add(run[static_cast<std::size_t>(i)], Hull{i});
    for (int i = 200; i < 800; ++i) commands.remove<Hull>(run[static_cast<std::size_t>(i)]);
    for (int i = 450; i < 550; ++i) commands.add(run[static_cast<std::size_t>(i)], Hull{-i});
    fleet.world.settle();
    for (int i = 0; i < 1000; ++i) {
        const int length = i >= 450 && i < 550 ? -i : i >= 200 && i < 800 ? -1 : i;
        ASSERT_EQ(fleet.values(run[static_cast<std::size_t>(i)])[0], length) << i;
    }
    // The adds are about consecutive ids and lie side by side, although the removes come between them.
    Commands& again = fleet.world.commands();
    for (int i = 0; i < 500; ++i) again.add(run[static_cast<std::size_t>(i)], Hull{i});
    for (int i = 500; i < 800; ++i) again.remove<Hull>(run[static_cast<std::size_t>(i)]);
    for (int i = 500; i < 1000; ++i) again.add(run[static_cast<std::size_t>(i)], Hull{-i});
    fleet.world.settle();
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(fleet.values(run[static_cast<std::size_t>(i)])[0], i < 500 ? i : -i) << i;
}

TEST_F(CommandsOfWorld, a_command_that_a_store_refuses_changes_none_of_the_others) {
    world.make_store<Sealed>();
    auto& masts = world.manager<Mast>();
    Database& database = world.database();
    ASSERT_TRUE(database.add(made[2], Anchored{1}));
    Commands& commands = world.commands();
    commands.add(made[0], Mast{1, {}}, Hull{1}, Anchored{7}, ChildOf{made[1]});
    commands.add(made[1], Mast{2, {}}, Anchored{8});
    commands.remove<Anchored>(made[2]);  // with the next, two commands about one entity
    commands.add(made[2], Hull{2}, Mast{3, {}}, ChildOf{made[1]});
    const shoal_test::Logged logged;
    world.settle();
    ASSERT_EQ(logged.lines.size(), 2u);
    for (const std::string& line : logged.lines)
        EXPECT_EQ(line.find("commands to change 1 entities were dropped: "), 0u) << line;
    EXPECT_EQ(world.transforms().num_rows(), 0u) << "nor is it linked";
    EXPECT_FALSE(masts.has(made[0]) || database.has<Anchored>(made[0]));
    EXPECT_TRUE(masts.has(made[1]) && database.has<Anchored>(made[1]));
    EXPECT_FALSE(masts.has(made[2]));
    EXPECT_TRUE(database.has<Anchored>(made[2]));
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 2u);
    EXPECT_EQ(world.settle_statistics().last.num_moved, 1u);
}

TEST_F(CommandsOfWorld, a_store_that_is_full_takes_what_fits_and_loses_no_other_command) {
    auto& hulls = world.manager<Hull>({.capacity_rows = 4});
    auto& badges = world.manager<Badge>({.capacity_rows = 3});
    auto& masts = world.manager<Mast>();
    Database& database = world.database();
    database.component<Anchored>();
    for (const Entity entity : made) world.commands().add(entity, Mast{1, {}}, Hull{1}, Anchored{1});
    for (int i = 2; i < 7; ++i) world.commands().create(Anchored{i}, Hull{i}, Mast{i, {}});
    {
        const shoal_test::Logged logged;
        world.settle();  // creates first
        ASSERT_EQ(logged.lines.size(), 2u);
        EXPECT_EQ(logged.lines[0].find("commands to create 1 entities were dropped: "), 0u) << logged.lines[0];
        EXPECT_EQ(logged.lines[1].find("commands to change 3 entities were dropped: "), 0u) << logged.lines[1];
    }
    EXPECT_EQ(hulls.num_rows(), 4u);
    for (std::uint32_t row = 0; row < hulls.num_rows(); ++row) {
        const Entity entity = hulls.entities()[row];
        EXPECT_EQ(*world.get<int>(entity, "hull.length"), int(row) + 2) << "each has the values that came with it";
        EXPECT_EQ(*world.get<int>(entity, "mast.height"), int(row) + 2);
        EXPECT_EQ(*world.get<int>(entity, "anchored.depth"), int(row) + 2);
    }
    EXPECT_EQ(masts.num_rows(), 4u);
    EXPECT_EQ(database.num_rows(), 4u);
    EXPECT_EQ(entities.num_alive(), 7u) << "who is not made whole is not made";
    EXPECT_EQ(world.settle_statistics().last.num_created, 4u);
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 4u);
    const Entity boat = hulls.entities()[0];
    world.commands().add(boat, Hull{9}, Mast{9, {}});  // set, and not added
    world.commands().add(made[0], Hull{8}, Mast{8, {}});
    world.settle();
    EXPECT_EQ(hulls.get<&Hull::length>(hulls.instance(boat)), 9);
    EXPECT_EQ(masts.get<&Mast::height>(masts.instance(boat)), 9);
    EXPECT_FALSE(masts.has(made[0]));
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u);
    world.commands().add(boat, Badge{1}, Mast{5, {}});
    for (int i = 2; i < 5; ++i) world.commands().add(boat, Badge{i});
    world.settle();
    EXPECT_EQ(badges.num_rows(), 0u) << "four badges of one entity are one change";
    EXPECT_EQ(masts.get<&Mast::height>(masts.instance(boat)), 9);
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u);
}

// --- fields ------------------------------------------------------------------------------------------------------

TEST(CommandsAnyStore, a_field_is_set_through_its_store) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(3);
    ASSERT_TRUE(entities.create(made));
    TransformManager& transforms = world.transforms();
    const Transform locals[] = {{}, {.position = {0, 0, 1}}};
    const std::uint32_t parents[] = {kNilRow, 0};
    ASSERT_TRUE(transforms.add(std::span(made).first(2), locals, parents));
    ASSERT_TRUE(world.manager<Mast>().add(made[2], {.height = 1, .lookout = {}}));
    Commands& commands = world.commands();
    commands.set<&Transform::position>(made[0], {1, 2, 3});
    commands.set<&Mast::lookout>(made[2], made[1]);
    commands.set<&Hull::length>(made[2], 4);
    world.settle();
    EXPECT_EQ(transforms.world_position(transforms.instance(made[1])), Vec3(1, 2, 4)) << "the children move";
    EXPECT_EQ(*world.get<&Mast::lookout>(made[2]), made[1]);
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u) << "no store keeps hulls";
    EXPECT_EQ(world.directory().find(schema_of<Hull>().id()), nullptr) << "and none is made for them";
}

TEST(CommandsAnyStore, a_value_that_the_store_does_not_take_is_dropped_with_a_line_in_the_log) {
    EntityManager entities;
    World world(entities);
    const Entity buoy = *entities.create();
    ASSERT_TRUE(world.transforms().add(std::span(&buoy, 1), Transform{}));
    world.commands().set<&Transform::scale>(buoy, {0, 1, 1});
    world.commands().set<&Transform::position>(buoy, {7, 0, 0});
    const shoal_test::Logged logged;
    world.settle();
    ASSERT_EQ(logged.lines.size(), 1u);
    EXPECT_NE(logged.lines[0].find("commands to set a field of 1 entities were dropped"), std::string::npos)
        << logged.lines[0];
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u);
    EXPECT_EQ(*world.get<&Transform::scale>(buoy), Vec3(1, 1, 1));
    EXPECT_EQ(world.get<&Transform::position>(buoy)->x, 7);
}

}  // namespace

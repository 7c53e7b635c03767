// Live reload: what a newer version of a blob changes in a running world.

#include "shoal/base/text.h"
#include "shoal/components/activity.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/pose/model_pose.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/migration.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "shoal/world/world.h"
#include "support/changed_state.h"
#include "support/logged.h"
#include "support/merged_list.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <unistd.h>

namespace reload_test {

using namespace shoal;
using shoal_test::merge;

struct Hull {
    float armor = 1;
    Vec3 size = {1, 1, 1};
    Entity target{};
    std::int32_t level = 0;
    Matrix3x4 frame{};
    friend bool operator==(const Hull&, const Hull&) = default;
};
SHOAL_COMPONENT(Hull, armor, (size, split), target, (level, range(-10000, 10000)), frame)

/// In the database.
struct Cargo {
    double mass = 0;
    std::array<std::int16_t, 3> boxes = {};
    Entity owner{};
    friend bool operator==(const Cargo&, const Cargo&) = default;
};
SHOAL_COMPONENT((Cargo, whole), mass, boxes, owner)

struct Note {
    std::int32_t number = 0, page = 0;
    Matrix3x4 place{};
    friend bool operator==(const Note&, const Note&) = default;
};
SHOAL_COMPONENT((Note, many), number, page, place)

struct Weather {
    float wind = 1, rain = 0;
    Matrix3x4 front{};
    Entity eye{};
};
SHOAL_COMPONENT((Weather, singleton), wind, rain, front, eye)

/// A matrix whose origin is somewhere, which is not the identity otherwise.
Matrix3x4 frame_at(float x, float y, float z) { return {{{2, 0, 0, x}, {0, 3, 0, y}, {0, 0, 4, z}}}; }

/// In the database.
struct Asleep {
    std::int32_t hours = 0;
};
SHOAL_COMPONENT((Asleep, enableable), hours)

/// Who it is, for tests that look for new entities: the GUID, and an entity that every copy has.
struct Label {
    std::uint64_t guid = 0;
    Entity anchor{};
};
SHOAL_COMPONENT(Label, guid, anchor)

/// Returns all values of a `many` type that an entity has, in their order.
template <class T>
std::vector<T> values_of(World& world, Entity entity, const Schema& schema) {
    const Store& store = *world.directory().find(schema.id());
    std::vector<T> values;
    ComponentRow at = store.find_row(schema.id(), entity, 0);
    for (std::uint32_t index = 1; at; at = store.find_next(at, entity, index++))
        for (T& value = values.emplace_back(); const Field& field : at.schema->fields())
            read_part(*at.table, at.first_column, at.row, field_part(*at.schema, field),
                      reinterpret_cast<std::byte*>(&value) + field.struct_offset);
    return values;
}
template <class T>
std::vector<T> values_of(World& world, Entity entity) {
    return values_of<T>(world, entity, schema_of<T>());
}

/// An entity of a source. References are GUIDs; 0 is none.
struct Item {
    std::uint64_t guid = 0, parent = 0;
    std::optional<Hull> hull{};
    std::uint64_t target = 0;  // of the hull
    std::optional<Cargo> cargo{};
    std::uint64_t owner = 0;  // of the cargo
    std::optional<Transform> transform{};
    std::vector<std::string> tags{};
    std::vector<Note> notes{};
    bool is_inactive = false;
    std::optional<Zone> zone{};
    std::uint64_t owned_by = 0;
    std::uint64_t anchor = 0;  // of the label, which it has if this is not 0
    std::optional<Asleep> asleep{};
    bool is_awake = false;  // it is disabled
};
/// Parents come first.
using Source = std::vector<Item>;

/// Writes a version of a source as a blob.
class SourceWriter {
public:
    explicit SourceWriter(const Source& source, std::string_view name = "levels/reef") : source_(source) {
        writer_.set_name(name);
        for (std::uint32_t i = 0; i < source.size(); ++i) number_of_[source[i].guid] = i;
    }

    BlobWriter& writer() { return writer_; }

    Result<Blob> write() {
        for (const Item& item : source_) {
            const std::string name = shoal::concat('n', item.guid);
            writer_.add_entity({.parent = item.parent == 0 ? kNoBlobEntity : number_of_[item.parent],
                                .guid = item.guid,
                                .name = name});
        }
        for (std::uint32_t i = 0; i < source_.size(); ++i) add(source_[i], i);
        const Result<std::vector<std::byte>> bytes = writer_.write();
        return bytes ? Blob::load(*bytes) : Result<Blob>(bytes.status());
    }

private:
    Entity reference(std::uint64_t guid) {
        return Entity{guid == 0 ? static_cast<EntityBits>(~EntityBits(0))
                                : static_cast<EntityBits>(number_of_.at(guid))};
    }
    template <class T>
    void put(std::uint32_t entity, const T& value) {
        const auto [type, is_new] = types_.try_emplace(schema_of<T>().name());
        if (is_new) type->second = writer_.add_component_type(schema_of<T>()).value();
        std::vector<std::byte> image(schema_of<T>().struct_bytes());
        for (const Field& field : schema_of<T>().fields())
            std::memcpy(image.data() + field.struct_offset,
                        reinterpret_cast<const std::byte*>(&value) + field.struct_offset, field.size);
        writer_.add_component(type->second, entity, image);
    }
    void add(const Item& item, std::uint32_t i) {
        if (item.hull) {
            Hull hull = *item.hull;
            hull.target = reference(item.target);
            put(i, hull);
        }
        if (item.cargo) {
            Cargo cargo = *item.cargo;
            cargo.owner = reference(item.owner);
            put(i, cargo);
        }
        if (item.transform) put(i, *item.transform);
        for (const std::string& tag : item.tags) put(i, Tag{*writer_.add_text(tag)});
        for (const Note& note : item.notes) put(i, note);
        if (item.is_inactive) put(i, Inactive{});
        if (item.zone) put(i, SpawnZone{*item.zone});
        if (item.anchor != 0) put(i, Label{item.guid, reference(item.anchor)});
        if (item.owned_by != 0) put(i, Owned{reference(item.owned_by)});
        if (item.asleep) put(i, *item.asleep);
        if (item.is_awake) put(i, SpawnDisabled{schema_of<Asleep>().id()});
    }

    const Source& source_;
    BlobWriter writer_;
    std::map<std::uint64_t, std::uint32_t> number_of_;
    std::map<std::string, std::uint32_t> types_;
};

Blob blob_of(const Source& source) {
    Result<Blob> blob = SourceWriter(source).write();
    EXPECT_TRUE(blob.ok()) << blob.message();
    return std::move(*blob);
}

/// What the entities of a world have: the bytes of each value of each component, by entity and name, in the order of lists;
/// their parents, and what they own.
using State = std::map<std::pair<EntityBits, std::string>, std::vector<std::vector<std::byte>>>;
State state_of(World& world, const EntityManager& entities) {
    State state;
    const auto note = [&]<class T>(Entity entity, std::string_view what, const T& value) {
        const std::span<const std::byte> bytes = std::as_bytes(std::span(&value, 1));
        state[{entity.id, std::string(what)}].emplace_back(bytes.begin(), bytes.end());
    };
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas())
            for (const Table* table : store->tables())
                for (const Entity entity : table->entities()) {
                    auto& values = state[{entity.id, std::string(schema->name())}];
                    if (!entities.alive(entity) || !values.empty()) continue;
                    ComponentRow at = store->find_row(schema->id(), entity, 0);
                    for (std::uint32_t i = 1; at && (at.is_enabled || values.empty());
                         at = store->find_next(at, entity, i++))
                        for (values.push_back({std::byte(at.is_enabled)}); const Field& field : at.schema->fields()) {
                            std::vector<std::byte> bytes(field.size);
                            read_part(*at.table, at.first_column, at.row, field_part(*at.schema, field), bytes.data());
                            values.back().insert(values.back().end(), bytes.begin(), bytes.end());
                        }
                }
    const TransformManager& transforms = world.transforms();
    for (std::uint32_t row = 0; row < transforms.num_rows(); ++row)
        if (const Instance parent = transforms.parent({row}))
            note(transforms.entity({row}), "parent", transforms.entity(parent));
    for (const Entity owner : world.ownership().table().entities())
        world.ownership().for_each_owned(owner, [&](Entity owned) { note(owner, "owns", owned); });
    std::erase_if(state, [](const auto& one) { return one.second.empty(); });
    return state;
}

/// Says what differs.
::testing::AssertionResult is_same_state(const State& now, const State& before) {
    ::testing::AssertionResult result = ::testing::AssertionSuccess();
    for (const State* one : {&now, &before})
        for (const auto& [key, values] : *one) {
            const State& other = one == &now ? before : now;
            if (const auto found = other.find(key); found == other.end() || found->second != values)
                result = (result ? ::testing::AssertionFailure() : result) << key.first << "'s " << key.second << ' ';
        }
    return result;
}

struct Reload : ::testing::Test {
    shoal_test::LeakCheck leaks;
    EntityManager entities;
    World world{entities};
    Reloader reloader{world};
    Manager<Hull>& hulls = world.manager<Hull>();
    Database& database = world.database();

    Reload() {
        EXPECT_TRUE(world.directory().claim<Cargo>(database).ok());
        world.manager<Note>();
    }

    Spawned spawned(const Blob& blob, const SpawnOptions& options = {}) {
        Result<Spawned> result = world.spawn(blob, options);
        EXPECT_TRUE(result.ok()) << result.message();
        world.settle();
        return std::move(*result);
    }
    ReloadReport reloaded(const Blob& before, const Blob& after) {
        const Result<ReloadReport> result = reloader.reload(before, after);
        EXPECT_TRUE(result.ok()) << result.message();
        return result ? *result : ReloadReport();
    }
    Hull hull_of(Entity entity) const {
        const Instance at = hulls.instance(entity);
        EXPECT_TRUE(at);
        return {hulls.get<&Hull::armor>(at), hulls.get<&Hull::size>(at), hulls.get<&Hull::target>(at),
                hulls.get<&Hull::level>(at), hulls.get<&Hull::frame>(at)};
    }
    /// Returns the living copy-th entity that was spawned later than the others.
    std::vector<Entity> all_with_hull() const {
        const std::span<const Entity> owners = hulls.core().table().entities();
        std::vector<Entity> result;
        for (const Entity owner : owners)
            if (entities.alive(owner)) result.push_back(owner);
        return result;
    }
};

// --- fields ------------------------------------------------------------------------------------------------------

TEST_F(Reload, writes_the_fields_that_the_source_has_changed_and_no_others) {
    const Source source = {{.guid = 1, .hull = Hull{3, {1, 2, 3}, {}, 7}}, {.guid = 2, .hull = Hull{4}}};
    Source edited = source;
    edited[0].hull->armor = 5;
    edited[0].hull->size.y = 9;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 3});
    const Entity ship = ships.entity(0, 1);
    hulls.set<&Hull::armor>(hulls.instance(ship), 30.0f);  // the source has changed it too, and wins
    hulls.set<&Hull::level>(hulls.instance(ship), 8);      // the source has not
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_copies, 3u);
    EXPECT_EQ(report.num_fields, 6u);
    EXPECT_EQ(report.num_changed, 3u);
    EXPECT_EQ(hull_of(ship), (Hull{5, {1, 9, 3}, {}, 8}));
    EXPECT_EQ(hull_of(ships.entity(0, 0)), (Hull{5, {1, 9, 3}, {}, 7}));
    EXPECT_EQ(hull_of(ships.entity(1, 2)), (Hull{4}));
    EXPECT_EQ(entities.num_alive(), 6u) << "ids stay";
}

TEST_F(Reload, of_the_same_version_changes_nothing) {
    const Blob blob =
        blob_of({{.guid = 1, .hull = Hull{3}, .tags = {"a", "b"}}, {.guid = 2, .parent = 1, .transform = Transform()}});
    const Blob again =
        blob_of({{.guid = 1, .hull = Hull{3}, .tags = {"a", "b"}}, {.guid = 2, .parent = 1, .transform = Transform()}});
    spawned(blob, {.copies = 2});
    const std::uint64_t hash = state_hash(world);
    EXPECT_TRUE(reloaded(blob, again).empty());
    EXPECT_EQ(state_hash(world), hash);
}

TEST_F(Reload, fills_the_copies_again_that_a_version_without_entities_has_emptied) {
    const Blob before = blob_of({{.guid = 1, .transform = Transform()}, {.guid = 2, .hull = Hull{4}}});
    const Blob none = blob_of({});
    const RootPose poses[] = {{.position = {1, 0, 0}}, {.position = {5, 0, 0}}};
    spawned(before, {.copies = 2, .root_poses = poses});
    EXPECT_EQ(reloaded(before, none).num_destroyed, 4u);
    world.settle();
    EXPECT_EQ(entities.num_alive(), 0u);
    const ReloadReport report = reloaded(none, before);
    EXPECT_EQ(report.num_copies, 2u);
    EXPECT_EQ(report.num_created, 4u);
    world.settle();
    float sum = 0;
    const TransformManager& transforms = world.transforms();
    for (std::uint32_t row = 0; row < transforms.num_rows(); ++row) sum += transforms.local({row}).position.x;
    EXPECT_EQ(sum, 6) << "where the copies were";
    EXPECT_EQ(all_with_hull().size(), 2u);
}

TEST_F(Reload, can_be_followed_by_others_and_by_spawns_of_either_version) {
    Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{1}}};
    Blob before = blob_of(source);
    const Spawned first = spawned(before);
    for (int i = 2; i < 10; ++i) {
        source[0].hull->armor = static_cast<float>(i);
        source.push_back({.guid = static_cast<std::uint64_t>(i + 1), .hull = Hull{}});
        Blob after = blob_of(source);
        EXPECT_EQ(reloaded(before, after).num_copies, static_cast<std::uint32_t>(i - 1));
        spawned(after);
        before = std::move(after);
    }
    EXPECT_EQ(hull_of(first.entity(0)).armor, 9);
    EXPECT_EQ(entities.num_alive(), 9u * 10);
}

TEST_F(Reload, of_copies_of_another_version_than_the_given_one_leaves_and_counts_them) {
    const auto of_armor = [](int armor) { return blob_of({{.guid = 1, .hull = Hull{static_cast<float>(armor)}}}); };
    const Blob first = of_armor(1), second = of_armor(2), third = of_armor(3), fourth = of_armor(4);
    const Entity ship = spawned(first).entity(0);
    Snapshot state;
    Array<std::byte> file{Owner("test")};
    ASSERT_TRUE(save(world, state).ok());
    ASSERT_TRUE(save(world, file).ok());
    for (const bool is_file : {false, true}) {
        EXPECT_EQ(reloaded(first, second).num_other_copies, 0u);
        ASSERT_TRUE((is_file ? load(world, file) : load(world, state)).ok());
        spawned(second);
        ReloadReport report = reloaded(second, third);
        EXPECT_EQ(report.num_copies, 1u) << "the one that was spawned since";
        EXPECT_EQ(report.num_other_copies, 1u) << "the one that was loaded";
        EXPECT_EQ(hull_of(ship).armor, 1);
        report = reloaded(first, third);
        EXPECT_EQ(report.num_copies, 1u);
        EXPECT_EQ(report.num_other_copies, 0u);
        EXPECT_EQ(hull_of(ship).armor, 3);
        EXPECT_EQ(reloaded(third, fourth).num_copies, 2u) << "reloading, loading and reloading go on";
        EXPECT_EQ(hull_of(ship).armor, 4);
        ASSERT_TRUE(load(world, state).ok());
    }
    ASSERT_TRUE(entities.destroy(ship));
    EXPECT_EQ(reloaded(second, third).num_other_copies, 0u) << "nobody lives in it";
    const Source elsewhere = {{.guid = 1, .hull = Hull{}}};
    const Blob other = SourceWriter(elsewhere, "levels/other").write().value();
    spawned(first, {.copies = 2}), spawned(other, {.copies = 4}), spawned(second, {.copies = 3});
    EXPECT_EQ(reloaded(third, fourth).num_other_copies, 5u) << "of two other versions, and of no other resource";
    ASSERT_TRUE(save(world, file).ok() && load(world, file).ok());
    EXPECT_EQ(reloaded(third, fourth).num_other_copies, 5u);
}

TEST_F(Reload, knows_how_many_entities_the_copies_have) {
    const auto described = [](const WorldService& service) { return service.describe(); };
    const Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}};
    Source edited = source;
    edited.push_back({.guid = 3, .hull = Hull{3}});
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 2});
    EXPECT_EQ(described(reloader), "of 4 entities are known");
    reloaded(before, after);
    EXPECT_EQ(described(reloader), "of 6 entities are known");
    Array<std::byte> file{Owner("test")};
    ASSERT_TRUE(save(world, file).ok() && load(world, file).ok());
    EXPECT_EQ(described(reloader), "of 6 entities are known");
    hulls.remove(ships.entity(0));
    spawned(before, {.first_entities = ships.entities().first(1)});  // it leaves its copy
    EXPECT_EQ(described(reloader), "of 7 entities are known");
    entities.destroy(ships.entities().subspan(2));
    world.settle();
    reloaded(after, before);
    EXPECT_EQ(described(reloader), "of 3 entities are known") << "those of the second copy have died";
}

TEST_F(Reload, knows_no_copies_after_loading_a_state_of_a_world_without_a_reloader) {
    const Blob before = blob_of({{.guid = 1, .hull = Hull{1}}}), after = blob_of({{.guid = 1, .hull = Hull{2}}});
    EntityManager others;
    World other(others);
    other.manager<Hull>();
    const Result<Spawned> there = other.spawn(before);
    ASSERT_TRUE(there.ok()) << there.message();
    other.settle();
    Array<std::byte> file{Owner("test")};
    ASSERT_TRUE(save(other, file).ok());
    spawned(before);
    ASSERT_TRUE(load(world, file).ok());
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_copies + report.num_other_copies, 0u);
    EXPECT_EQ(hull_of(there->entity(0)).armor, 1) << "it has the id of one that was known";
    EXPECT_EQ(static_cast<const WorldService&>(reloader).describe(), "of 0 entities are known");
}

TEST_F(Reload, reaches_what_commands_have_spawned_and_leaves_copies_of_entities_alone) {
    const Blob before = blob_of({{.guid = 1, .hull = Hull{1}}}), after = blob_of({{.guid = 1, .hull = Hull{2}}});
    world.commands().spawn(before);
    world.settle();
    ASSERT_EQ(all_with_hull().size(), 1u);
    const Entity original = all_with_hull()[0];
    const Result<Spawned> copy = shoal::copy(world, original);
    ASSERT_TRUE(copy.ok()) << copy.message();
    EXPECT_EQ(reloaded(before, after).num_copies, 1u);
    EXPECT_EQ(hull_of(original).armor, 2);
    EXPECT_EQ(hull_of(copy->entity(0)).armor, 1);
}

// --- entities and components -------------------------------------------------------------------------------------

TEST_F(Reload, of_an_entity_that_was_spawned_into_again_follows_its_last_copy_only) {
    const Source source = {{.guid = 1, .notes = {{1, 0}, {2, 0}}}, {.guid = 2, .notes = {{3, 0}}}};
    Source edited = source;
    edited[0].notes = {{2, 0}};
    edited.pop_back();
    const Blob before = blob_of(source), after = blob_of(edited);
    enum class What { kAtOnce, kAsAll, kAfterALoad, kAfterDeaths };
    for (const What what : {What::kAtOnce, What::kAsAll, What::kAfterALoad, What::kAfterDeaths}) {
        SCOPED_TRACE(static_cast<int>(what));
        const Spawned first = spawned(before);
        if (what == What::kAfterALoad) {
            Array<std::byte> bytes{Owner("test")};
            ASSERT_TRUE(save(world, bytes).ok() && load(world, bytes).ok());
        } else if (what == What::kAfterDeaths) {
            entities.destroy(spawned(before).entities());
            world.settle();
            EXPECT_EQ(reloaded(before, before).num_copies, 1u) << "the dead are taken out";
        }
        const Entity again = first.entity(1);  // it is gone from the source, in its first copy
        EXPECT_EQ(world.manager<Note>().remove({&again, 1}), 1u);
        const Entity both[] = {again, *entities.create()};
        SpawnOptions options;
        if (what == What::kAsAll)
            options.all_entities = both;
        else
            options.first_entities = {&again, 1};
        const Spawned second = spawned(before, options);
        ASSERT_EQ(second.entity(0), again);
        const ReloadReport report = reloaded(before, after);
        EXPECT_EQ(report.num_copies, 2u);
        EXPECT_EQ(report.num_changed, 2u);
        EXPECT_EQ(report.num_destroyed, 1u) << "the second one of the last copy";
        EXPECT_TRUE(entities.alive(again));
        EXPECT_EQ(values_of<Note>(world, again), (std::vector<Note>{{2, 0}}));
        EXPECT_EQ(values_of<Note>(world, first.entity(0)), (std::vector<Note>{{2, 0}}));
        for (const Entity entity : {again, both[1], first.entity(0)}) entities.destroy(entity);
        world.settle();
    }
}

TEST(ReloadOfTheDead, leaves_an_entity_alone_that_has_the_id_of_one_that_died_also_after_loading) {
    if (sizeof(Generation) > 1) GTEST_SKIP() << "wide ids come back after 2^32 lives";
    const Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}};
    Source edited = source;
    for (Item& item : edited) item.hull->armor += 10;
    const Blob before = blob_of(source), after = blob_of(edited);
    for (const bool loads : {false, true}) {
        EntityManager entities({.minimum_free_ids = 1});
        World world(entities);
        Reloader reloader(world);
        auto& hulls = world.manager<Hull>();
        const Spawned ship = world.spawn(before).value();
        const Entity one = ship.entity(1);
        world.settle();
        entities.destroy(one);
        world.settle();
        for (Entity next = *entities.create(); next != one; next = *entities.create()) entities.destroy(next);
        ASSERT_TRUE(hulls.add(one, Hull{50}).ok());
        Array<std::byte> bytes;
        if (loads) {
            ASSERT_TRUE(save(world, bytes).ok() && load(world, bytes).ok());
        }
        ASSERT_TRUE(reloader.reload(before, after).ok());
        EXPECT_EQ(hulls.get<&Hull::armor>(hulls.instance(one)), 50);
        EXPECT_EQ(hulls.get<&Hull::armor>(hulls.instance(ship.entity(0))), 11);
    }
}

TEST(ReloadOfTheDead, knows_which_copies_live_though_the_list_of_deaths_has_dropped_them) {
    const Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}};
    Source edited = source;
    for (Item& item : edited) item.hull->armor += 10;
    const Blob before = blob_of(source), after = blob_of(edited);
    EntityManager entities({.minimum_free_ids = 1, .max_death_list = 1});
    World world(entities);
    Reloader reloader(world);
    auto& hulls = world.manager<Hull>();
    const Spawned ships = world.spawn(before, {.copies = 4}).value();
    world.settle();
    for (const std::uint32_t copy : {0u, 2u})
        for (const std::uint32_t entity : {1u, 0u}) entities.destroy(ships.entity(entity, copy));
    const Result<ReloadReport> first = reloader.reload(before, after);
    ASSERT_TRUE(first.ok()) << first.message();
    EXPECT_EQ(first->num_copies, 2u);
    EXPECT_EQ(first->num_changed, 4u);
    EXPECT_EQ(first->num_left_out, 0u);
    const Spawned others = world.spawn(after, {.copies = 2}).value();  // with ids of the dead
    entities.destroy(ships.entity(0, 3));
    const Result<ReloadReport> second = reloader.reload(after, before);
    ASSERT_TRUE(second.ok()) << second.message();
    EXPECT_EQ(second->num_copies, 4u);
    EXPECT_EQ(second->num_changed, 7u);
    EXPECT_EQ(second->num_left_out, 1u);
    world.settle();
    for (const std::uint32_t entity : {0u, 1u}) {
        EXPECT_EQ(hulls.get<&Hull::armor>(hulls.instance(ships.entity(entity, 1))), float(entity + 1));
        EXPECT_EQ(hulls.get<&Hull::armor>(hulls.instance(others.entity(entity, 1))), float(entity + 1));
    }
}

TEST_F(Reload, makes_new_entities_and_destroys_those_that_are_gone) {
    const Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}, {.guid = 3, .hull = Hull{3}}};
    const Source edited = {{.guid = 4, .hull = Hull{4}, .target = 3},
                           {.guid = 3, .hull = Hull{3}, .target = 4},
                           {.guid = 1, .hull = Hull{1}}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 2});
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_created, 2u);
    EXPECT_EQ(report.num_destroyed, 2u);
    EXPECT_EQ(report.num_fields, 2u) << "only the target of 3 is another: 1 has moved in the file";
    world.settle();
    EXPECT_EQ(hulls.num_components(), 6u);
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
        EXPECT_FALSE(entities.alive(ships.entity(1, copy)));
        const Entity old = ships.entity(2, copy), made = hull_of(old).target;
        ASSERT_TRUE(entities.alive(made));
        EXPECT_EQ(hull_of(made).armor, 4);
        EXPECT_EQ(hull_of(made).target, old) << "of the same copy";
    }
}

TEST_F(Reload, adds_and_removes_components_of_managers_the_database_and_stores_of_their_own) {
    const Source source = {{.guid = 1, .hull = Hull{1}, .is_inactive = true},
                           {.guid = 2, .cargo = Cargo{2}, .transform = Transform()}};
    const Source edited = {
        {.guid = 1, .cargo = Cargo{8, {1, 2, 3}}, .owner = 2, .transform = Transform{{1, 2, 3}, {}, {1, 1, 1}}},
        {.guid = 2, .hull = Hull{5}, .target = 1, .is_inactive = true}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    const Entity one = ships.entity(0), two = ships.entity(1);
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_components_added, 4u);
    EXPECT_EQ(report.num_components_removed, 4u);
    EXPECT_EQ(world.get<double>(one, "cargo.mass").value(), 8);
    EXPECT_EQ(world.get<Entity>(one, "cargo.owner").value(), two);
    EXPECT_EQ(world.transforms().world_position(world.transforms().instance(one)), (Vec3{1, 2, 3}));
    EXPECT_FALSE(hulls.has(one));
    EXPECT_TRUE(world.entities().is_active(one));
    EXPECT_EQ(hull_of(two), (Hull{5, {1, 1, 1}, one, 0}));
    EXPECT_FALSE(database.has_row(two) && world.get(two, "cargo.mass").ok());
    EXPECT_FALSE(world.transforms().has(two));
    EXPECT_FALSE(world.entities().is_active(two));
    ASSERT_TRUE(reloaded(after, before).num_components_added == 4) << "and back";
    EXPECT_FALSE(world.entities().is_active(one));
    EXPECT_EQ(hull_of(one).armor, 1);
}

TEST_F(Reload, leaves_out_what_the_program_has_taken_away) {
    Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}, {.guid = 3, .hull = Hull{3}}};
    Source edited = source;
    for (Item& item : edited) item.hull->level = 6;
    edited.push_back({.guid = 4, .parent = 1, .hull = Hull{9}});
    edited.push_back({.guid = 5, .parent = 3, .hull = Hull{10}});
    edited.push_back({.guid = 6, .parent = 4, .hull = Hull{11}});
    for (Source* version : {&source, &edited})
        for (Item& item : *version) item.transform = Transform();
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    entities.destroy(ships.entities().subspan(0, 1));
    const Entity without = ships.entity(1);
    hulls.remove(without);
    world.settle();
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_left_out, 4u) << "two fields, the entity below the first, and the one below that";
    EXPECT_EQ(report.num_created, 1u);
    EXPECT_EQ(report.num_destroyed, 0u) << "of those that were there";
    EXPECT_EQ(entities.num_alive(), 3u);
    EXPECT_FALSE(hulls.has(without));
    EXPECT_EQ(hull_of(ships.entity(2)).level, 6);
}

TEST_F(Reload, counts_each_kind_of_change_that_the_dead_do_not_get) {
    ASSERT_TRUE(world.directory().claim<Asleep>(database).ok());
    const Source source = {{.guid = 1, .hull = Hull{1}},
                           {.guid = 2, .notes = {{1, 10}}},
                           {.guid = 3},
                           {.guid = 4, .asleep = Asleep{1}},
                           {.guid = 5}};
    Source edited = source;
    edited[0].hull->armor = 2;
    edited[1].notes.push_back({2, 20});
    edited[2].cargo = Cargo{3};
    edited[3].is_awake = true;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 2});
    entities.destroy(Array<Entity>(ships.entities().begin() + 5, ships.entities().begin() + 9, Owner("test")));
    world.settle();
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_copies, 2u) << "the last of the second lives";
    EXPECT_EQ(report.num_changed, 4u);
    EXPECT_EQ(report.num_left_out, 4u);
}

TEST_F(Reload, finds_the_row_that_differs_wherever_it_lies_among_many) {
    Source source;
    for (std::uint64_t guid = 1; guid <= 37; ++guid) source.push_back({.guid = guid, .hull = Hull{float(guid)}});
    const Blob before = blob_of(source);
    const Spawned ships = spawned(before);
    for (std::uint32_t i = 0; i < source.size(); ++i) {
        Source edited = source;
        edited[i].hull->level = 9;
        const Blob after = blob_of(edited);
        EXPECT_EQ(reloaded(before, after).num_fields, 1u) << i;
        EXPECT_EQ(hull_of(ships.entity(i)).level, 9) << i;
        EXPECT_EQ(reloaded(after, before).num_fields, 1u) << i;
    }
}

TEST_F(Reload, knows_an_entity_without_a_guid_from_one_that_is_new_and_whose_list_it_is) {
    const Blob nameless = blob_of({{.hull = Hull{1}}});
    const Blob with_another = blob_of({{.guid = 7, .hull = Hull{2}}, {.hull = Hull{1}}});
    const Spawned ship = spawned(nameless);
    ReloadReport report = reloaded(nameless, with_another);
    EXPECT_EQ(report.num_created, 1u);
    EXPECT_EQ(report.num_destroyed + report.num_changed, 0u);
    EXPECT_EQ(hull_of(ship.entity(0)).armor, 1);

    // The lists have the same bytes, and the same place in the blob.
    const Blob of_one = blob_of({{.guid = 1, .notes = {{1, 10}}}, {.guid = 2}});
    const Blob of_other = blob_of({{.guid = 3, .notes = {{1, 10}}}, {.guid = 1}, {.guid = 2}});
    const Spawned book = spawned(of_one);
    report = reloaded(of_one, of_other);
    EXPECT_EQ(report.num_components_removed, 1u);
    EXPECT_EQ(values_of<Note>(world, book.entity(0)).size(), 0u);
}

TEST_F(Reload, does_not_fill_copies_of_which_nobody_lives) {
    const Blob before = blob_of({{.guid = 1, .hull = Hull{1}}});
    const Blob after = blob_of({{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}});
    Spawned dead = spawned(before);
    spawned(before);
    dead.destroy(entities);
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_copies, 1u);
    EXPECT_EQ(entities.num_alive(), 2u);
}

TEST_F(Reload, tells_observers_and_the_journal_as_every_other_change_does) {
    const Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}, {.guid = 3}};
    const Source edited = {{.guid = 1, .hull = Hull{7}}, {.guid = 3, .hull = Hull{3}}, {.guid = 4, .hull = Hull{4}}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    std::size_t num_added = 0, num_removed = 0;
    std::vector<Entity> changed;
    world.observers().on_add<Hull>([&](std::span<const Entity> added) { num_added += added.size(); });
    world.observers().on_remove<Hull>([&](std::span<const Entity> removed) { num_removed += removed.size(); });
    world.observers().on_change<&Hull::armor>(
        [&](std::span<const Entity> all) { changed.assign(all.begin(), all.end()); });
    world.observers().keep_journal(100);
    const std::uint64_t seen = world.stamp();
    reloaded(before, after);
    EXPECT_EQ(num_added + num_removed, 0u) << "not before the world settles";
    world.settle();
    EXPECT_EQ(num_added, 2u);
    EXPECT_EQ(num_removed, 1u);
    EXPECT_EQ(changed, std::vector<Entity>{ships.entity(0)});
    EXPECT_EQ(world.observers().journal(seen).entries.size(), 2u);
}

TEST_F(Reload, keeps_owners_as_the_source_says) {
    const Source source = {
        {.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}, .owned_by = 1}, {.guid = 3, .hull = Hull{3}}};
    const Source edited = {{.guid = 1, .hull = Hull{1}},
                           {.guid = 2, .hull = Hull{2}, .owned_by = 3},
                           {.guid = 3, .hull = Hull{3}},
                           {.guid = 4, .hull = Hull{4}, .owned_by = 1}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    EXPECT_EQ(reloaded(before, after).num_changed, 1u);
    EXPECT_EQ(world.ownership().owner(ships.entity(1)), ships.entity(2));
    entities.destroy(ships.entities().subspan(0, 1));
    world.settle();
    EXPECT_EQ(hulls.num_components(), 2u) << "the new one was owned by the first";
}

TEST_F(Reload, makes_a_new_entity_without_an_owner_if_the_program_has_destroyed_it) {
    Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}};
    const Blob before = blob_of(source);
    source.push_back({.guid = 3, .hull = Hull{3}, .owned_by = 1});
    const Blob after = blob_of(source);
    entities.destroy(spawned(before).entity(0));
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_created, 1u);
    EXPECT_EQ(report.num_left_out, 0u) << "what a new one does not get is not counted";
    EXPECT_EQ(hulls.num_components(), 3u) << "the row of the dead one is there until the world settles";
}

TEST_F(Reload, gives_entities_to_each_other_that_have_changed_places) {
    const Source source = {{.guid = 1, .hull = Hull{1}},
                           {.guid = 2, .hull = Hull{2}, .owned_by = 1},
                           {.guid = 3, .hull = Hull{3}, .owned_by = 2}};
    const Source edited = {{.guid = 3, .hull = Hull{3}},
                           {.guid = 2, .hull = Hull{2}, .owned_by = 3},
                           {.guid = 1, .hull = Hull{1}, .owned_by = 2}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 2});
    reloaded(before, after);
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
        EXPECT_EQ(world.ownership().owner(ships.entity(0, copy)), ships.entity(1, copy));
        EXPECT_EQ(world.ownership().owner(ships.entity(1, copy)), ships.entity(2, copy));
        EXPECT_FALSE(world.ownership().owner(ships.entity(2, copy)));
    }
    ASSERT_TRUE(world.ownership().validate().ok());
    reloaded(after, before);
    EXPECT_EQ(world.ownership().owner(ships.entity(2)), ships.entity(1));
}

TEST_F(Reload, with_an_owner_that_is_owned_by_the_owned_is_an_error) {
    const Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}}, {.guid = 3, .owned_by = 1}};
    Source edited = source;
    edited[0].owned_by = 2;
    edited[1].hull->armor = 5;
    edited[2].owned_by = 2;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    ASSERT_TRUE(world.ownership().own(ships.entity(0), ships.entity(1)).ok());
    const State state = state_of(world, entities);
    const Result<ReloadReport> report = reloader.reload(before, after);
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.message().find("cannot be owned by"), std::string_view::npos) << report.message();
    EXPECT_TRUE(is_same_state(state_of(world, entities), state));
    ASSERT_TRUE(world.ownership().release(ships.entity(1)));
    reloaded(before, after);
    EXPECT_EQ(world.ownership().owner(ships.entity(0)), ships.entity(1));
}

TEST_F(Reload, moves_entities_for_which_the_source_names_another_zone) {
    const Source source = {{.guid = 1, .cargo = Cargo{1}, .zone = 3}, {.guid = 2, .parent = 1, .cargo = Cargo{2}}};
    Source edited = source;
    edited[0].zone = 5;
    edited.push_back({.guid = 3, .parent = 2, .cargo = Cargo{3}});
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    ASSERT_TRUE(database.move(ships.entity(1), 5));
    EXPECT_EQ(reloaded(before, after).num_changed, 1u) << "the program has moved the other one there";
    for (const Entity ship : ships.entities()) EXPECT_EQ(database.find(ship).table->zone(), 5u);
    EXPECT_EQ(database.num_rows(5), 3u);
}

TEST_F(Reload, moves_what_has_another_place_in_the_newer_version_to_its_own_zone) {
    const Source source = {{.guid = 1, .cargo = Cargo{1}, .zone = 3}, {.guid = 2, .cargo = Cargo{2}, .zone = 5}};
    Source edited = source;
    edited[0].zone = 5, edited[1].zone = 7;
    edited.insert(edited.begin(), {.guid = 3, .cargo = Cargo{3}, .zone = 3});
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    EXPECT_EQ(reloaded(before, after).num_changed, 2u);
    EXPECT_EQ(database.find(ships.entity(0)).table->zone(), 5u);
    EXPECT_EQ(database.find(ships.entity(1)).table->zone(), 7u);
    EXPECT_EQ(database.num_rows(3), 1u) << "the new one";
}

TEST_F(Reload, moves_what_lies_below_with_it_and_nothing_whose_zone_is_as_it_was) {
    const Source source = {{.guid = 1, .cargo = Cargo{1}, .zone = 3},
                           {.guid = 2, .parent = 1},
                           {.guid = 3, .parent = 2, .cargo = Cargo{2}},
                           {.guid = 4, .cargo = Cargo{3}, .zone = 6}};
    Source edited = source;
    edited[0].zone = 5;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 2});
    ASSERT_TRUE(database.move(ships.entity(3, 1), 8));
    EXPECT_EQ(reloaded(before, after).num_changed, 4u);
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
        EXPECT_EQ(database.find(ships.entity(0, copy)).table->zone(), 5u);
        EXPECT_EQ(database.find(ships.entity(2, copy)).table->zone(), 5u) << "it lies where its parent is";
        EXPECT_EQ(database.find(ships.entity(3, copy)).table->zone(), copy == 0 ? 6u : 8u) << "the program moved one";
    }
}

/// A place in the database, which says in which tile its entity lies.
struct Berth {
    Vec3 place{};
};
SHOAL_COMPONENT(Berth, (place, split))

TEST_F(Reload, moves_places_in_tiles_by_the_poses_of_their_copies) {
    database.component<Berth>();
    const GridZones tiles({.tile_size = 10, .num_x = 9, .num_y = 9, .first_zone = 100});
    world.position_links().keep_in_tiles<&Berth::place>(tiles);
    const auto write = [](const std::vector<Vec3>& places) {
        BlobWriter writer;
        writer.set_name("levels/quay");
        const std::uint32_t type = writer.add_component_type(schema_of<Berth>()).value();
        for (const Vec3 place : places) {
            const Berth berth{place};
            writer.add_component(type, writer.add_entity({.guid = writer.num_entities() + 1}),
                                 std::as_bytes(std::span(&berth, 1)));
        }
        return Blob::load(*writer.write()).value();
    };
    const Blob before = write({{1, 2, 0}}), after = write({{3, 4, 0}, {5, 6, 0}});
    const RootPose poses[] = {{}, {.position = {20, 50, 0}}};
    spawned(before, {.copies = 2, .root_poses = poses});
    reloaded(before, after);
    std::vector<Vec3> wanted, found;
    for (const bool is_settled : {false, true}) {
        if (is_settled) world.settle();
        wanted.clear(), found.clear();
        for (const RootPose& pose : poses)
            for (const Vec3 place : {Vec3{3, 4, 0}, Vec3{5, 6, 0}}) wanted.push_back(pose.position + place);
        for (const DatabaseTable* table : database.all_tables())
            for (std::uint32_t row = 0; table != nullptr && row < table->num_rows(); ++row) {
                found.push_back(database.get<&Berth::place>(database.find(table->entities()[row])));
                if (is_settled || found.back().x == poses[0].position.x + 5 ||
                    found.back().x == poses[1].position.x + 5)
                    EXPECT_EQ(table->zone(), tiles.zone_of(found.back())) << "what is new comes to its tile at once";
            }
        for (std::vector<Vec3>* places : {&wanted, &found}) std::ranges::sort(*places, {}, &Vec3::x);
        EXPECT_EQ(found, wanted);
    }
}

TEST_F(Reload, sets_the_singleton_of_the_world) {
    const auto write = [](float wind, const Matrix3x4& front, std::uint32_t eye = kNoBlobEntity) {
        BlobWriter writer;
        writer.set_name("levels/reef");
        const std::uint32_t type = writer.add_component_type(schema_of<Weather>()).value();
        writer.add_entity({.guid = 1, .name = "sky"});
        writer.add_entity({.guid = 2, .name = "storm"});
        const Weather weather{wind, 2, front, {eye}};
        writer.add_component(type, 0, std::as_bytes(std::span(&weather, 1)));
        return Blob::load(*writer.write()).value();
    };
    const Blob before = write(3, frame_at(0, 0, 0)), after = write(4, frame_at(1, 1, 1)), last = write(5, Matrix3x4());
    spawned(before);
    EXPECT_EQ(world.singleton<Weather>().wind, 3);
    world.singleton<Weather>().rain = 9;
    reloaded(before, after);
    EXPECT_EQ(world.singleton<Weather>().wind, 4);
    EXPECT_EQ(world.singleton<Weather>().rain, 9);
    EXPECT_EQ(world.singleton<Weather>().front, frame_at(1, 1, 1));
    const Spawned skies = spawned(
        after, {.copies = 3,
                .overrides = {{"sky", "weather.wind", 7, 0}, {"sky", "weather.front.position", Vec3{7, 8, 9}, 0}}});
    reloaded(after, last);
    EXPECT_EQ(world.singleton<Weather>().wind, 7) << "whichever copy the override is of";
    EXPECT_EQ(world.singleton<Weather>().front, (Matrix3x4{{{1, 0, 0, 7}, {0, 1, 0, 8}, {0, 0, 1, 9}}}));
    const Blob eyes[] = {write(5, Matrix3x4(), 0), write(5, Matrix3x4(), 1), write(5, Matrix3x4(), 0)};
    reloaded(last, eyes[0]);
    EXPECT_EQ(world.singleton<Weather>().eye, skies.entity(0, 2))
        << "of the last copy, as a spawn of all of them has it";
    reloaded(eyes[0], eyes[1]);
    EXPECT_EQ(world.singleton<Weather>().eye, skies.entity(1, 2));
    for (const std::uint32_t i : {0u, 1u}) entities.destroy(skies.entity(i, 2));
    world.settle();
    reloaded(eyes[1], eyes[2]);
    EXPECT_EQ(world.singleton<Weather>().eye, skies.entity(0, 1)) << "of the last one of which anybody lives";
}

// --- lists -------------------------------------------------------------------------------------------------------

TEST_F(Reload, changes_each_value_of_a_list_by_itself) {
    const Source source = {{.guid = 1, .tags = {"a", "b", "c"}, .notes = {{1, 10}, {2, 20}, {3, 30}}}};
    const Source edited = {{.guid = 1, .tags = {"a", "x", "c", "y"}, .notes = {{1, 10}, {2, 25}}}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Entity ship = spawned(before).entity(0);
    TagManager tags(world.manager<Tag>(), world.strings());
    ASSERT_TRUE(tags.entities_with("b").size() == 1);
    tags.remove_tag(ship, "a");
    ASSERT_TRUE(tags.add_tag(ship, "mine").ok());
    auto& notes = world.manager<Note>();
    for (Instance i = notes.instance(ship); i; i = notes.next(i))
        if (notes.get<&Note::number>(i) == 2) notes.set<&Note::number>(i, 200);
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_left_out, 0u) << "the source has not changed what the program took";
    EXPECT_EQ(report.num_components_added, 2u) << "of tags; one comes in the place of none";
    EXPECT_EQ(report.num_components_removed, 2u) << "a tag and a note";
    EXPECT_EQ(report.num_fields, 1u);
    std::vector<std::string> names;
    tags.for_each_tag(ship, [&](StringId tag) { names.push_back(std::string(tags.text(tag))); });
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"c", "mine", "x", "y"}));
    EXPECT_EQ(tags.entities_with("b").size(), 0u);
    EXPECT_EQ(tags.entities_with("x").size(), 1u);
    std::vector<Note> left;
    for (Instance i = notes.instance(ship); i; i = notes.next(i))
        left.push_back({notes.get<&Note::number>(i), notes.get<&Note::page>(i)});
    EXPECT_EQ(left, (std::vector<Note>{{1, 10}, {200, 25}}));
}

TEST(ReloadLists, have_the_order_that_a_spawn_of_the_newer_version_has) {
    const std::vector<Note> versions[] = {{{1, 1}, {2, 2}, {3, 3}},
                                          {{0, 0}, {1, 1}, {2, 2}, {3, 3}},
                                          {{1, 1}, {2, 2}, {3, 3}, {4, 4}},
                                          {{3, 3}, {1, 1}, {2, 2}},
                                          {{2, 2}},
                                          {},
                                          {{5, 5}, {2, 2}, {6, 6}, {1, 9}}};
    const std::vector<std::string> words[] = {{"a", "b", "c"}, {"c", "a", "b"}, {"a", "d", "b", "c"}, {"c"}, {},
                                              {"b", "e", "a"}};
    for (const bool has_notes_in_database : {false, true}) {
        EntityManager entities;
        World world(entities);
        Reloader reloader(world);
        ASSERT_TRUE(!has_notes_in_database || world.directory().claim<Note>(world.database()).ok());
        if (!has_notes_in_database) world.manager<Note>();
        const auto source = [&](std::size_t i) {
            return blob_of(
                {{.guid = 1, .tags = words[i % std::size(words)], .notes = versions[i % std::size(versions)]}});
        };
        Blob before = source(0);
        const Entity ship = world.spawn(before)->entity(0);
        TagManager tags(world.manager<Tag>(), world.strings());
        for (std::size_t i = 1; i < 36; ++i) {
            Blob after = source(i * 5);
            ASSERT_TRUE(reloader.reload(before, after).ok());
            world.settle();
            World other(entities);
            other.manager<Note>(), other.manager<Tag>();
            const Entity fresh = other.spawn(after)->entity(0);
            EXPECT_EQ(values_of<Note>(world, ship), values_of<Note>(other, fresh));
            EXPECT_EQ(values_of<StringId>(world, ship, schema_of<Tag>()),
                      values_of<StringId>(other, fresh, schema_of<Tag>()));
            const std::vector<std::string>& now = words[i * 5 % std::size(words)];
            for (const char* word : {"a", "b", "c", "d", "e"})
                EXPECT_EQ(tags.entities_with(word).size(), std::size_t(std::ranges::count(now, word))) << word;
            before = std::move(after);
        }
        ASSERT_TRUE(world.database().validate().ok());
    }
}

TEST_F(Reload, of_equal_values_of_a_list_makes_as_many_as_the_source_has) {
    const Blob before = blob_of({{.guid = 1, .notes = {{7, 7}}}});
    const Blob after = blob_of({{.guid = 1, .notes = {{7, 7}, {1, 1}, {1, 1}, {1, 1}}}});
    const Spawned ships = spawned(before, {.copies = 2});
    ASSERT_TRUE(world.manager<Note>().add(ships.entity(0), {1, 1}).ok());
    EXPECT_EQ(reloaded(before, after).num_components_added, 5u) << "the program has added one of six";
    const std::vector<Note> expected = {{7, 7}, {1, 1}, {1, 1}, {1, 1}};
    EXPECT_EQ(values_of<Note>(world, ships.entity(0)), expected);
    EXPECT_EQ(values_of<Note>(world, ships.entity(0, 1)), expected);
    EXPECT_EQ(reloaded(after, before).num_components_removed, 6u);
    EXPECT_EQ(values_of<Note>(world, ships.entity(0)), (std::vector<Note>{{7, 7}}));
}

TEST_F(Reload, exchanges_only_the_front_of_a_list) {
    std::vector<Note> notes;
    for (std::int32_t i = 0; i < 100; ++i) notes.push_back({i, i});
    const Blob before = blob_of({{.guid = 1, .notes = notes}});
    notes.insert(notes.begin() + 1, {1000, 1000});
    const Blob after = blob_of({{.guid = 1, .notes = notes}});
    const Entity ship = spawned(before).entity(0);
    const ComponentManager& manager = world.manager<Note>().core();
    const std::uint64_t num_changes = manager.num_structural_changes();
    reloaded(before, after);
    EXPECT_EQ(manager.num_structural_changes() - num_changes, 3u) << "two come, and one goes";
    EXPECT_EQ(values_of<Note>(world, ship), notes);
}

TEST_F(Reload, keeps_values_of_the_program_before_those_that_they_were_before) {
    const Blob before = blob_of({{.guid = 1, .tags = {"a", "b"}, .notes = {{1, 1}, {2, 2}}}});
    const Blob after = blob_of({{.guid = 1, .tags = {"b", "x", "a"}, .notes = {{3, 3}, {1, 1}, {2, 2}, {4, 4}}}});
    const Entity ship = spawned(before).entity(0);
    TagManager tags(world.manager<Tag>(), world.strings());
    ASSERT_TRUE(tags.add_tag(ship, "mine").ok());
    for (const std::int32_t i : {8, 9, 1}) ASSERT_TRUE(world.manager<Note>().add(ship, {i, i}).ok());
    reloaded(before, after);
    EXPECT_EQ(values_of<Note>(world, ship),
              (std::vector<Note>{{3, 3}, {1, 1}, {9, 9}, {8, 8}, {1, 1}, {2, 2}, {4, 4}}));
    EXPECT_EQ(values_of<StringId>(world, ship, schema_of<Tag>()),
              (std::vector<StringId>{StringId("b"), StringId("x"), StringId("mine"), StringId("a")}));
    reloaded(after, blob_of({{.guid = 1, .notes = {{3, 3}, {1, 5}, {2, 2}, {4, 4}}}}));
    EXPECT_EQ(values_of<Note>(world, ship), (std::vector<Note>{{3, 3}, {1, 1}, {9, 9}, {8, 8}, {1, 5}, {2, 2}, {4, 4}}))
        << "of equal ones, the last is that of the source";
}

// --- enableable components ------------------------------------------------------------------------------------------

TEST_F(Reload, enables_and_disables_components_as_the_source_does) {
    ASSERT_TRUE(world.directory().claim<Asleep>(database).ok());
    const Source source = {{.guid = 1, .asleep = Asleep{1}},
                           {.guid = 2, .asleep = Asleep{2}, .is_awake = true},
                           {.guid = 3, .asleep = Asleep{3}},
                           {.guid = 4},
                           {.guid = 5, .asleep = Asleep{5}, .is_awake = true}};
    Source edited = source;
    edited[0].is_awake = true;
    edited[1].is_awake = false;
    edited[2].asleep->hours = 30;
    edited[3].asleep = Asleep{4}, edited[3].is_awake = true;
    edited[4].asleep->hours = 50;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 2});
    const auto is_enabled = [&](std::uint32_t i) { return database.has<Asleep>(ships.entity(i, 1)); };
    ASSERT_TRUE(database.remove<Asleep>(ships.entity(2, 1)).ok());  // the program disables it; the source does not
    ASSERT_TRUE(database.remove<Asleep>(ships.entity(0, 1)).ok());  // both do
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_enabled_or_disabled, 5u) << "two that stay and one that has come, less one that was";
    EXPECT_EQ(report.num_changed, 9u) << "all five, of which two are only enabled or disabled";
    EXPECT_FALSE(is_enabled(0));
    EXPECT_TRUE(is_enabled(1));
    EXPECT_FALSE(is_enabled(2)) << "the program's doing stays";
    EXPECT_FALSE(is_enabled(3));
    EXPECT_FALSE(is_enabled(4));
    EXPECT_TRUE(database.has<Asleep>(ships.entity(2, 0)));
    EXPECT_EQ(world.get<std::int32_t>(ships.entity(2, 0), "asleep.hours").value(), 30);
    edited[4].asleep.reset(), edited[4].is_awake = false, edited[0].asleep.reset(), edited[0].is_awake = false;
    const Blob without = blob_of(edited);
    EXPECT_EQ(reloaded(after, without).num_components_removed, 0u) << "what is disabled is not there";
    reloaded(without, before);
    EXPECT_TRUE(is_enabled(0)) << "it has gone, and come enabled";
    EXPECT_FALSE(is_enabled(1));
    ASSERT_TRUE(database.validate().ok());
}

// --- transforms --------------------------------------------------------------------------------------------------

Transform at(float x, float y = 0, float z = 0) { return {{x, y, z}, {}, {1, 1, 1}}; }

TEST_F(Reload, links_children_as_the_source_says_and_keeps_their_local_poses) {
    const Source source = {{.guid = 1, .transform = at(1)},
                           {.guid = 2, .parent = 1, .transform = at(10)},
                           {.guid = 3, .parent = 2, .transform = at(100)},
                           {.guid = 4, .transform = at(1000)}};
    // The parent and its child have changed places, and a new one hangs below both.
    const Source edited = {{.guid = 4, .transform = at(1000)},
                           {.guid = 2, .parent = 4, .transform = at(10)},
                           {.guid = 1, .parent = 2, .transform = at(1)},
                           {.guid = 5, .parent = 1, .transform = at(0.5f)},
                           {.guid = 3, .transform = at(100)}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 2});
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_linked, 6u);
    EXPECT_EQ(report.num_changed, 6u);
    const TransformManager& transforms = world.transforms();
    ASSERT_TRUE(transforms.validate().ok());
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
        const auto x_of = [&](std::uint32_t i) {
            return transforms.world_position(transforms.instance(ships.entity(i, copy))).x;
        };
        EXPECT_EQ(x_of(0), 1011);
        EXPECT_EQ(x_of(1), 1010);
        EXPECT_EQ(x_of(2), 100);
        EXPECT_EQ(x_of(3), 1000);
        const Instance child = transforms.first_child(transforms.instance(ships.entity(0, copy)));
        ASSERT_TRUE(child);
        EXPECT_EQ(transforms.world_position(child).x, 1011.5f);
    }
}

TEST_F(Reload, links_those_whose_parents_have_changed_places_in_the_source) {
    const Source source = {{.guid = 1, .transform = at(1)},
                           {.guid = 2, .parent = 1, .transform = at(10)},
                           {.guid = 3, .transform = at(2)}};
    const Source edited = {{.guid = 3, .transform = at(2)},
                           {.guid = 2, .parent = 3, .transform = at(10)},
                           {.guid = 1, .transform = at(1)}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    EXPECT_EQ(reloaded(before, after).num_linked, 1u);
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.entity(transforms.parent(transforms.instance(ships.entity(1)))), ships.entity(2));
}

TEST_F(Reload, leaves_a_child_where_it_is_when_the_program_has_put_its_new_parent_below_it) {
    const Source source = {{.guid = 1, .transform = at(1)},
                           {.guid = 3, .transform = at(2)},
                           {.guid = 2, .parent = 3, .transform = at(10)}};
    Source edited = source;
    edited[2].parent = 1;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    TransformManager& transforms = world.transforms();
    ASSERT_TRUE(transforms.link(transforms.instance(ships.entity(0)), transforms.instance(ships.entity(2))).ok());
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_linked, 0u);
    EXPECT_EQ(report.num_left_out, 1u);
    const auto parent = [&](std::uint32_t i) {
        return transforms.entity(transforms.parent(transforms.instance(ships.entity(i))));
    };
    EXPECT_EQ(parent(2), ships.entity(1));
    EXPECT_EQ(parent(0), ships.entity(2));
}

TEST_F(Reload, leaves_out_a_link_of_a_child_whose_transform_the_program_has_removed) {
    const Source source = {{.guid = 1, .transform = at(1)},
                           {.guid = 3, .transform = at(2)},
                           {.guid = 2, .parent = 3, .transform = at(10)}};
    Source edited = source;
    edited[2].parent = 1;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    world.transforms().drop({&ships.entities()[2], 1});
    const ReloadReport report = reloaded(before, after);
    EXPECT_EQ(report.num_linked, 0u);
    EXPECT_EQ(report.num_changed, 0u);
    EXPECT_EQ(report.num_left_out, 1u);
}

TEST_F(Reload, of_a_parent_that_loses_its_transform_links_the_children_to_the_one_above) {
    const Source source = {{.guid = 1, .transform = at(1)},
                           {.guid = 2, .parent = 1, .transform = at(10)},
                           {.guid = 3, .parent = 2, .transform = at(100)}};
    Source edited = source;
    edited[1].transform.reset();
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before);
    reloaded(before, after);
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.world_position(transforms.instance(ships.entity(2))).x, 101);
    reloaded(after, before);
    EXPECT_EQ(transforms.world_position(transforms.instance(ships.entity(2))).x, 111);
}

TEST_F(Reload, keeps_the_root_poses_with_which_copies_were_spawned) {
    const Source source = {{.guid = 1, .transform = at(1)}, {.guid = 2, .parent = 1, .transform = at(10)}};
    Source edited = source;
    edited[0].transform->position.y = 5;
    edited[1].transform->position.y = 6;
    edited.push_back({.guid = 3, .transform = at(0, 0, 7)});
    const Blob before = blob_of(source), after = blob_of(edited);
    const RootPose poses[] = {{.position = {100, 0, 0}}, {.position = {200, 0, 0}, .scale = {2, 2, 2}}};
    const Spawned ships = spawned(before, {.copies = 2, .root_poses = poses});
    world.transforms().set_rotation(world.transforms().instance(ships.entity(0, 1)), {0, 0, 1, 0});
    reloaded(before, after);
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.local(transforms.instance(ships.entity(0, 0))).position, (Vec3{101, 5, 0}));
    EXPECT_EQ(transforms.local(transforms.instance(ships.entity(0, 1))).position, (Vec3{202, 10, 0}));
    EXPECT_EQ(transforms.local(transforms.instance(ships.entity(0, 1))).rotation, (Quaternion{0, 0, 1, 0}));
    EXPECT_EQ(transforms.local(transforms.instance(ships.entity(1, 1))).position, (Vec3{10, 6, 0}));
    std::vector<Vec3> heights;
    for (std::uint32_t row = 0; row < transforms.num_rows(); ++row)
        if (const Vec3 place = transforms.world_position(Instance{row}); place.z != 0) heights.push_back(place);
    std::sort(heights.begin(), heights.end(), [](Vec3 a, Vec3 b) { return a.x < b.x; });
    EXPECT_EQ(heights, (std::vector<Vec3>{{100, 0, 7}, {200, 0, 14}}));
}

TEST_F(Reload, keeps_the_root_poses_of_those_that_live_when_copies_before_and_behind_them_have_died) {
    const Source source = {{.guid = 1, .transform = at(1)}};
    Source edited = source;
    const Blob before = blob_of(source);
    std::vector<RootPose> poses;
    for (int i = 1; i <= 4; ++i) poses.push_back({.position = {float(100 * i), 0, 0}});
    const Spawned first = spawned(before), moved = spawned(before, {.copies = 4, .root_poses = poses}),
                  last = spawned(before);
    const std::pair<Entity, float> living[] = {
        {first.entity(0), 0}, {moved.entity(0, 1), 200}, {moved.entity(0, 3), 400}, {last.entity(0), 0}};
    for (const std::uint32_t copy : {0u, 2u}) entities.destroy(moved.entity(0, copy));
    world.settle();
    Snapshot state;
    ASSERT_TRUE(save(world, state).ok());
    edited[0].transform->position.y = 5;
    const Blob after = blob_of(edited);
    edited.push_back({.guid = 2, .parent = 1, .transform = at(0, 0, 7)}), edited[0].transform->position.y = 6;
    const Blob later = blob_of(edited);
    for (int round = 0; round < 2; ++round) {  // in the second, what was saved
        SCOPED_TRACE(round);
        reloaded(before, after);
        const TransformManager& transforms = world.transforms();
        const auto place = [&](Entity entity) { return transforms.local(transforms.instance(entity)).position; };
        for (const auto& [entity, x] : living) EXPECT_EQ(place(entity), (Vec3{x + 1, 5, 0}));
        const Spawned another = spawned(after);
        reloaded(after, later);
        for (const auto& [entity, x] : living) EXPECT_EQ(place(entity), (Vec3{x + 1, 6, 0}));
        EXPECT_EQ(place(another.entity(0)), (Vec3{1, 6, 0}));
        ASSERT_TRUE(load(world, state).ok());
    }
}

// --- errors ------------------------------------------------------------------------------------------------------

// --- overrides ---------------------------------------------------------------------------------------------------

// req: D6
TEST_F(Reload, leaves_what_a_spawn_has_overridden_whatever_the_source_says_now) {
    const Source source = {{.guid = 1, .hull = Hull{3, {1, 2, 3}, {}, 7}, .transform = Transform{{1, 0, 0}}}};
    Source edited = source;
    edited[0].hull = Hull{5, {4, 5, 6}, {}, 8, frame_at(1, 1, 1)};
    edited[0].transform->position = {2, 2, 2};
    const RootPose poses[] = {{}, {.position = {0, 0, 50}}, {}};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships = spawned(before, {.copies = 3,
                                           .root_poses = poses,
                                           .overrides = {{"n1", "hull.size.y", 9},
                                                         {"n1", "hull.armor", 20, 1},
                                                         {"n1", "hull.armor", 30, 2},
                                                         {"n1", "hull.frame.position", Vec3{7, 8, 9}, 1},
                                                         {"n1", "transform.position.x", 40, 1}}});
    hulls.set<&Hull::armor>(hulls.instance(ships.entity(0, 2)), 31.0f);  // the program goes on from there
    reloaded(before, after);
    EXPECT_EQ(hull_of(ships.entity(0, 0)), (Hull{5, {4, 9, 6}, {}, 8, frame_at(1, 1, 1)}));
    EXPECT_EQ(hull_of(ships.entity(0, 1)), (Hull{20, {4, 9, 6}, {}, 8, frame_at(7, 8, 9)}));
    EXPECT_EQ(hull_of(ships.entity(0, 2)), (Hull{31, {4, 9, 6}, {}, 8, frame_at(1, 1, 1)}));
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.local(transforms.instance(ships.entity(0, 1))).position, (Vec3{40, 2, 52}));
    EXPECT_EQ(transforms.local(transforms.instance(ships.entity(0, 2))).position, (Vec3{2, 2, 2}));
}

TEST_F(Reload, lets_the_last_override_of_a_value_hold_in_its_own_copies_when_a_component_comes_again) {
    const Source source = {{.guid = 1, .hull = Hull{3}}};
    Source without = source;
    without[0].hull.reset();
    const Blob before = blob_of(source), between = blob_of(without);
    const Spawned plain = spawned(before, {.copies = 2});
    const Spawned first_one =
        spawned(before, {.copies = 2, .overrides = {{"n1", "hull.armor", 20, 1}, {"n1", "hull.armor", 30}}});
    const Spawned first_all =
        spawned(before, {.copies = 2, .overrides = {{"n1", "hull.armor", 30}, {"n1", "hull.armor", 20, 1}}});
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t copy = 0; copy < 2; ++copy) {
            EXPECT_EQ(hull_of(plain.entity(0, copy)).armor, 3) << round;
            EXPECT_EQ(hull_of(first_one.entity(0, copy)).armor, 30) << round;
            EXPECT_EQ(hull_of(first_all.entity(0, copy)).armor, copy == 1 ? 20 : 30) << round;
        }
        reloaded(before, between), reloaded(between, before);
    }
}

TEST_F(Reload, overrides_what_comes_again_after_it_was_gone) {
    const Source source = {{.guid = 1, .hull = Hull{3}, .cargo = Cargo{4}}, {.guid = 2, .hull = Hull{3}}};
    Source without_cargo = {source[0], source[1]}, alone = {source[0]};
    without_cargo[0].cargo.reset();
    const Blob first = blob_of(source), second = blob_of(without_cargo), third = blob_of(alone);
    const Spawned ships = spawned(first, {.copies = 2,
                                          .overrides = {{"n1", "cargo.mass", 9},
                                                        {"n2", "hull.armor", 8},
                                                        {"n2", "hull.level", 6, 1},
                                                        {"n2", "hull.size.y", 7},
                                                        {"n2", "properties.paint", "red", 1},
                                                        {"n2", "properties.depth", 4}}});
    reloaded(first, second), world.settle();
    EXPECT_FALSE(world.get(ships.entity(0), "cargo.mass"));
    reloaded(second, third), world.settle();
    EXPECT_EQ(all_with_hull().size(), 2u);
    reloaded(third, first), world.settle();
    EXPECT_EQ(*world.get<double>(ships.entity(0, 1), "cargo.mass"), 9);
    ASSERT_EQ(all_with_hull().size(), 4u);
    float armor = 0, level = 0;
    for (const Entity entity : all_with_hull()) armor += hull_of(entity).armor, level += float(hull_of(entity).level);
    EXPECT_EQ(armor, 3 + 3 + 8 + 8);
    EXPECT_EQ(level, 6);
    for (const Entity entity : all_with_hull()) {
        EXPECT_EQ(hull_of(entity).size, (hull_of(entity).armor != 8 ? Vec3{1, 1, 1} : Vec3{1, 7, 1}));
        if (hull_of(entity).armor != 8) continue;
        const Result<AnyValue> depth = world.get(entity, "properties.depth");
        EXPECT_EQ(depth ? depth->to_text() : "none", "4");
        EXPECT_EQ(world.get(entity, "properties.paint").ok(), hull_of(entity).level == 6) << "of the second copy alone";
    }
}

TEST_F(Reload, keeps_the_owner_that_was_overridden_when_what_is_owned_comes_again) {
    const Source source = {{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{2}, .owned_by = 1}};
    Source freed = source, alone = {source[0]};
    freed[1].owned_by = 0;
    const Blob first = blob_of(source), second = blob_of(freed), third = blob_of(alone);
    const Entity harbour = *entities.create();
    const Spawned ships = spawned(
        first, {.copies = 3, .overrides = {{"n2", "owned.owner", harbour, 1}, {"n2", "owned.owner", Entity(), 2}}});
    const auto owners = [&] {
        std::vector<Entity> found;
        for (const Entity entity : all_with_hull())
            if (hull_of(entity).armor == 2) found.push_back(world.ownership().owner(entity));
        std::ranges::sort(found, {}, &Entity::id);
        return found;
    };
    std::vector<Entity> wanted = {kNullEntity, ships.entity(0, 0), harbour};
    std::ranges::sort(wanted, {}, &Entity::id);
    EXPECT_EQ(owners(), wanted);
    reloaded(first, second), world.settle();
    EXPECT_EQ(owners(), std::vector<Entity>(3));
    reloaded(second, first), world.settle();
    EXPECT_EQ(owners(), wanted) << "the component came again";
    reloaded(first, third), world.settle();
    reloaded(third, first), world.settle();
    EXPECT_EQ(owners(), wanted) << "the entity came again";
}

TEST_F(Reload, keeps_the_owner_that_was_overridden_when_the_source_names_another) {
    const Source source = {{.guid = 1}, {.guid = 2, .owned_by = 1}, {.guid = 3}};
    Source edited = source;
    edited[1].owned_by = 3;
    const Blob before = blob_of(source), after = blob_of(edited);
    const Entity harbour = *entities.create();
    const Spawned ships = spawned(before, {.copies = 2, .overrides = {{"n2", "owned.owner", harbour, 1}}});
    reloaded(before, after);
    EXPECT_EQ(world.ownership().owner(ships.entity(1, 0)), ships.entity(2, 0));
    EXPECT_EQ(world.ownership().owner(ships.entity(1, 1)), harbour);
    ASSERT_TRUE(world.ownership().own(ships.entity(0, 1), ships.entity(1, 1)).ok());
    reloaded(after, before);
    EXPECT_EQ(world.ownership().owner(ships.entity(1, 0)), ships.entity(0, 0));
    EXPECT_EQ(world.ownership().owner(ships.entity(1, 1)), ships.entity(0, 1)) << "the program goes on from there";
}

TEST_F(Reload, lets_overrides_of_a_list_go_with_their_values) {
    const Source source = {{.guid = 1, .notes = {{1, 10}, {2, 20}, {3, 30}}},
                           {.guid = 2, .notes = {{1, 10}, {2, 20}, {3, 30}}}};
    Source longer = source, changed, shorter;
    longer[0].notes = {{9, 90}, {1, 10}, {2, 20}, {3, 30}};
    changed = longer;
    changed[0].notes[2] = {5, 50, frame_at(1, 1, 1)};
    changed[1].notes[1] = {6, 60};
    shorter = changed;
    shorter[0].notes = {{9, 90}, {3, 30}};
    const Blob versions[] = {blob_of(source), blob_of(longer), blob_of(changed), blob_of(shorter)};
    const Spawned book = spawned(versions[0], {.overrides = {{"n1", "note[1].page", 77},
                                                             {"n1", "note[1].place.position", Vec3{7, 8, 9}},
                                                             {"n1", "note[2].number", 8},
                                                             {"n2", "note[1].page", 66}}});
    const Matrix3x4 there = {{{1, 0, 0, 7}, {0, 1, 0, 8}, {0, 0, 1, 9}}};
    const auto notes = [&] { return values_of<Note>(world, book.entity(0)); };
    EXPECT_EQ(notes(), (std::vector<Note>{{1, 10}, {2, 77, there}, {8, 30}}));
    reloaded(versions[0], versions[1]);
    EXPECT_EQ(notes(), (std::vector<Note>{{9, 90}, {1, 10}, {2, 77, there}, {8, 30}}));
    reloaded(versions[1], versions[2]);
    EXPECT_EQ(notes(), (std::vector<Note>{{9, 90}, {1, 10}, {5, 77, frame_at(7, 8, 9)}, {8, 30}}));
    EXPECT_EQ(values_of<Note>(world, book.entity(1)), (std::vector<Note>{{1, 10}, {6, 66}, {3, 30}}))
        << "its values are where they were";
    reloaded(versions[2], versions[3]);
    EXPECT_EQ(notes(), (std::vector<Note>{{9, 90}, {8, 30}}));
    reloaded(versions[3], versions[2]);
    EXPECT_EQ(notes(), (std::vector<Note>{{9, 90}, {1, 10}, {5, 50, frame_at(1, 1, 1)}, {8, 30}}))
        << "an override goes with the value that it was of";
}

TEST_F(Reload, knows_what_was_overridden_when_copies_have_died_and_after_a_save_and_a_load) {
    const Source source = {{.guid = 1, .hull = Hull{3}}};
    Source edited = source;
    edited[0].hull = Hull{5, {}, {}, 2};
    const Blob before = blob_of(source), after = blob_of(edited);
    const Spawned ships =
        spawned(before, {.copies = 4, .overrides = {{"n1", "hull.armor", 9, 2}, {"n1", "hull.level", 6}}});
    spawned(before);
    for (const std::uint32_t copy : {0u, 3u}) entities.destroy(ships.entity(0, copy));
    world.settle();
    Snapshot state;
    ASSERT_TRUE(save(world, state));
    EXPECT_EQ(reloaded(before, after).num_copies, 3u);
    const auto armors = [&] {
        std::vector<std::pair<float, std::int32_t>> found;
        for (const Entity entity : all_with_hull()) found.push_back({hull_of(entity).armor, hull_of(entity).level});
        std::ranges::sort(found);
        return found;
    };
    const std::vector<std::pair<float, std::int32_t>> wanted = {{5, 2}, {5, 6}, {9, 6}};
    EXPECT_EQ(armors(), wanted);
    ASSERT_TRUE(load(world, state));
    EXPECT_EQ(reloaded(before, after).num_copies, 3u);
    EXPECT_EQ(armors(), wanted);
}

/// A copy of a state in which `change` has changed the bytes of a part of what is known of spawns.
template <class Change>
Snapshot with_other_spawns(const Snapshot& from, std::string_view part, Change&& change) {
    return shoal_test::with_parts(from, [&](shoal_test::ChangedPart& one) {
        if (one.path.starts_with("spawns/") && one.path.ends_with(concat('/', part))) change(one.bytes);
        return true;
    });
}

/// As docs/formats/save.md says.
struct SavedOverride {
    std::uint32_t entity_bytes, field_bytes, copy, array_length, value_bytes, type;
};
struct SavedOverridden {
    std::uint64_t guid;
    std::uint32_t entity, num_copies;
};

// req: D6
TEST_F(Reload, refuses_saved_overrides_that_are_false_and_leaves_out_values_that_do_not_fit) {
    using Bytes = std::vector<std::byte>;
    const Blob blob = blob_of({{.guid = 1, .hull = Hull{3, {}, {}, 7}}, {.guid = 2, .hull = Hull{4}}}),
               alone = blob_of({{.guid = 2, .hull = Hull{4}}});
    spawned(blob, {.copies = 2, .overrides = {{"n1", "hull.level", 6}, {"n1", "hull.armor", 9, 1}}});
    Snapshot state;
    ASSERT_TRUE(save(world, state));
    const std::uint64_t hash = state_hash(world);
    struct Lie {
        const char* part;
        void (*change)(Bytes& bytes);
        const char* complaint;
    };
    static const auto given = [](Bytes& bytes) { return reinterpret_cast<SavedOverride*>(bytes.data()); };
    static const auto overridden = [](Bytes& bytes) { return reinterpret_cast<SavedOverridden*>(bytes.data()); };
    const Lie lies[] = {
        {"overridden", [](Bytes& b) { overridden(b)[0].entity = 2; }, "of no entity, or of no copy"},
        {"overridden", [](Bytes& b) { overridden(b)[1].num_copies = 2; }, "of no entity, or of no copy"},
        {"overridden", [](Bytes& b) { overridden(b)[0].num_copies = 0xFFFFFFFF; }, "of no entity, or of no copy"},
        {"overridden", [](Bytes& b) { b.resize(sizeof(SavedOverridden)); }, "overridden"},
        {"overrides", [](Bytes& b) { given(b)[1].copy = 3; }, "of no entity, or of no copy"},
        {"overrides", [](Bytes& b) { given(b)[0].type = 0; }, "no known type"},
        {"overrides", [](Bytes& b) { given(b)[0].type = 99; }, "no known type"},
        {"overrides", [](Bytes& b) { given(b)[0].type = std::uint32_t(FieldType::kBlobArray); }, "no known type"},
        {"overrides", [](Bytes& b) { given(b)[0].value_bytes = 0; }, "no known type"},
        {"overrides", [](Bytes& b) { given(b)[0].array_length = 0xFFFFFFFF; }, "no known type"},
        {"overrides", [](Bytes& b) { given(b)[1].field_bytes += 1; }, "no known type"},
        {"overrides", [](Bytes& b) { given(b)[1].field_bytes -= 1; }, "do not fill their texts and values"},
        {"overrides", [](Bytes& b) { b.resize(sizeof(SavedOverride)); }, "do not fill their texts and values"},
        {"override_texts", [](Bytes& b) { b[1] = std::byte(0xFF); }, "texts that are not UTF-8"},
        {"override_texts", [](Bytes& b) { b.pop_back(); }, "texts that are not UTF-8"},
        {"override_values", [](Bytes& b) { b.pop_back(); }, "no known type"},
        {"override_values", [](Bytes& b) { b.push_back({}); }, "do not fill their texts and values"},
    };
    for (const Lie& lie : lies) {
        const Status status = load(world, with_other_spawns(state, lie.part, lie.change), false);
        EXPECT_NE(status.message().find(lie.complaint), std::string_view::npos) << lie.part << ": " << status.message();
        EXPECT_EQ(state_hash(world), hash);
    }
    const auto change_level = [](Bytes& bytes) { bytes[2] = std::byte(1); };  // 65542, which is out of range
    ASSERT_TRUE(load(world, with_other_spawns(state, "override_values", change_level), false));
    reloaded(blob, alone), world.settle();
    reloaded(alone, blob), world.settle();
    std::vector<Hull> hulls_of_first;
    for (const Entity entity : all_with_hull())
        if (hull_of(entity).armor != 4) hulls_of_first.push_back(hull_of(entity));
    ASSERT_EQ(hulls_of_first.size(), 2u);
    EXPECT_EQ(hulls_of_first[0].armor + hulls_of_first[1].armor, 3 + 9);
    for (const Hull& hull : hulls_of_first) EXPECT_EQ(hull.level, 7) << "the source's";
}

/// A source of some entities, all of which have a hull that says who they are, and refers to the first.
Source random_source_with_hulls(Random& random) {
    Source source;
    for (std::uint64_t guid = 1; guid <= 6; ++guid) {
        if (guid != 1 && random.below(4) == 0) continue;
        const auto number = [&] { return static_cast<float>(random.below(3)); };
        const Matrix3x4 frame = frame_at(number(), number(), 5);
        Item item{
            .guid = guid, .hull = Hull{number(), {number(), number(), 1}, {}, std::int32_t(guid), frame}, .target = 1};
        if (random.below(3) != 0) item.cargo = Cargo{number(), {1, std::int16_t(random.below(3)), 3}};
        if (random.below(3) != 0) item.transform = Transform{{number(), number(), number()}};
        source.push_back(item);
    }
    return source;
}

// req: D6
TEST(ReloadOverrides, after_any_versions_are_those_of_a_spawn_of_the_last_one) {
    constexpr const char* kFields[] = {"hull.armor",     "hull.size.y",          "cargo.mass",
                                       "cargo.boxes[1]", "transform.position.z", "hull.frame.position"};
    Random random(shoal_test::seed());
    for (int round = 0; round < 40; ++round) {
        Source source = random_source_with_hulls(random);
        const auto has = [&](const SpawnOverride& one) {
            for (const Item& item : source)
                if (one.entity == concat('n', item.guid))
                    return one.field[0] == 'h' ||
                           (one.field[0] == 'c' ? item.cargo.has_value() : item.transform.has_value());
            return false;
        };
        SpawnOptions options{.copies = 3};
        for (int i = 0; i < 8; ++i) {
            const std::uint32_t field = random.below(6);
            const int number = int(5 + random.below(4));
            SpawnOverride one{concat('n', 1 + random.below(6)), kFields[field], number};
            if (field == 5) one.value = Vec3{float(number), 8, 9};
            if (random.below(2) == 0) one.copy = static_cast<std::uint32_t>(random.below(3));
            if (has(one)) options.overrides.push_back(one);
        }
        const auto values_of_all = [&](World& world, const Spawned& spawned) {
            std::map<std::tuple<std::int32_t, std::uint32_t, std::string>, std::string> values;
            for (const Entity owner : world.manager<Hull>().core().table().entities()) {
                const Entity target = *world.get<Entity>(owner, "hull.target");
                std::uint32_t copy = 0;
                while (spawned.entity(0, copy) != target) ++copy;
                for (const char* field : kFields)
                    if (const Result<AnyValue> value = world.get(owner, field); value)
                        values[{*world.get<std::int32_t>(owner, "hull.level"), copy, field}] = value->to_text();
            }
            return values;
        };
        EntityManager entities, others;
        World reloaded(entities), fresh(others);
        Reloader reloader(reloaded);
        for (World* world : {&reloaded, &fresh}) ASSERT_TRUE(world->directory().claim<Cargo>(world->database()));
        for (World* world : {&reloaded, &fresh}) world->manager<Hull>();
        auto blob = std::make_unique<Blob>(blob_of(source));
        const Result<Spawned> ships = reloaded.spawn(*blob, options);
        ASSERT_TRUE(ships) << ships.message();
        for (int version = 0; version < 3; ++version) {
            source = random_source_with_hulls(random);
            auto newer = std::make_unique<Blob>(blob_of(source));
            ASSERT_TRUE(reloader.reload(*blob, *newer));
            reloaded.settle();
            blob = std::move(newer);
        }
        erase_if(options.overrides, [&](const SpawnOverride& one) { return !has(one); });
        const Result<Spawned> again = fresh.spawn(*blob, options);
        ASSERT_TRUE(again) << again.message();
        ASSERT_EQ(values_of_all(reloaded, *ships), values_of_all(fresh, *again)) << "round " << round;
    }
}

TEST_F(Reload, of_blobs_that_are_no_versions_of_one_resource_is_an_error) {
    const Source source = {{.guid = 1, .hull = Hull{1}}};
    const Blob before = blob_of(source);
    const Blob other = SourceWriter(source, "levels/lagoon").write().value(),
               nameless = SourceWriter(source, "").write().value();
    EXPECT_EQ(reloader.reload(before, other).message(),
              "\"levels/reef\" cannot be reloaded as \"levels/lagoon\"; give two versions of one resource");
    for (const Blob* const older : {&before, &nameless})
        EXPECT_EQ(reloader.reload(*older, nameless).message(),
                  "a blob without a name cannot be reloaded; give it one when it is compiled");
}

/// A store of one component type with nothing of its own.
template <class T>
class PlainStore : public Store {
public:
    PlainStore(EntityManager& entities, PagePool& pool) : rows_(schema_of<T>(), entities, pool) {}
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    Status spawn(const SpawnBatch& batch) override { return rows_.spawn(batch); }
    void drop(std::span<const Entity> entities) override { rows_.remove(entities); }
    void settle(const SettleContext& context) override { rows_.settle(context); }
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }

protected:
    OwnedRows rows_;
};

/// A store that refuses to have a field written.
class Stubborn final : public PlainStore<Note> {
public:
    using PlainStore::PlainStore;
    Status write_field(const ComponentRow&, const FieldPart&, const std::byte*) override {
        return Status::error("notes are carved in stone");
    }
};

TEST(ReloadErrors, a_reload_that_a_store_refuses_leaves_the_world_as_it_was) {
    shoal_test::LeakCheck leaks;
    EntityManager entities;
    World world(entities);
    Reloader reloader(world);
    world.manager<Hull>();
    ASSERT_TRUE(world.directory().claim<Cargo>(world.database()).ok());
    world.make_store<Stubborn>();
    const Source source = {{.guid = 1, .hull = Hull{1}, .transform = at(1), .tags = {"a", "b"}, .notes = {{1, 1}}},
                           {.guid = 2, .parent = 1, .cargo = Cargo{2}, .transform = at(2)},
                           {.guid = 3, .parent = 2, .hull = Hull{3}}};
    Source edited = source;
    edited[0].hull->armor = 10;
    edited[0].transform->position.x = 20;
    edited[0].tags = {"b", "c"};
    edited[1].parent = 0;
    edited[1].cargo->mass = 7;
    edited[2] = {.guid = 4, .parent = 1, .hull = Hull{3}, .target = 1};
    const Blob before = blob_of(source);
    const Blob fine = blob_of(edited);
    edited[0].notes[0].page = 2;
    const Blob refused = blob_of(edited);
    const Result<Spawned> ships = world.spawn(before, {.copies = 2});
    ASSERT_TRUE(ships.ok()) << ships.message();
    world.settle();
    TagManager tags(world.manager<Tag>(), world.strings());
    const std::uint64_t hash = state_hash(world);
    const Result<ReloadReport> report = reloader.reload(before, refused);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.message(), "cannot reload \"levels/reef\": notes are carved in stone");
    world.settle();
    EXPECT_EQ(state_hash(world), hash);
    EXPECT_TRUE(tags.has_tag(ships->entity(0), "a"));
    EXPECT_FALSE(tags.has_tag(ships->entity(0), "c"));
    ASSERT_TRUE(reloader.reload(before, fine).ok()) << "the next version is taken";
    EXPECT_TRUE(tags.has_tag(ships->entity(0), "c"));
}

/// A store that does not give its labels away.
class Clinging final : public PlainStore<Label> {
public:
    using PlainStore::PlainStore;
    Result<std::uint32_t> remove_values(const Schema&, std::span<const Entity>) override {
        return Status::error("labels stick");
    }
};

TEST(ReloadErrors, what_is_refused_late_leaves_lists_owners_links_and_enabled_bits_as_they_were) {
    for (const bool has_notes_in_database : {false, true}) {
        shoal_test::LeakCheck leaks;
        EntityManager entities;
        World world(entities);
        Reloader reloader(world);
        ASSERT_TRUE(!has_notes_in_database || world.directory().claim<Note>(world.database()).ok());
        if (!has_notes_in_database) world.manager<Note>();
        world.manager<Hull>();
        ASSERT_TRUE(world.directory().claim<Cargo>(world.database()).ok() &&
                    world.directory().claim<Asleep>(world.database()).ok());
        world.make_store<Clinging>();
        const Source source = {
            {.guid = 1,
             .hull = Hull{1},
             .transform = at(1),
             .tags = {"a", "b", "c"},
             .notes = {{1, 1}, {2, 2}, {3, 3}},
             .anchor = 1,
             .asleep = Asleep{1}},
            {.guid = 2,
             .parent = 1,
             .transform = at(2),
             .notes = {{4, 4}, {4, 4}},
             .owned_by = 1,
             .asleep = Asleep{2},
             .is_awake = true},
            {.guid = 3, .parent = 2, .cargo = Cargo{3}, .transform = at(3), .is_inactive = true, .owned_by = 1},
            {.guid = 4, .parent = 1, .transform = at(4), .zone = 3, .owned_by = 1}};
        Source edited = {{.guid = 2,
                          .hull = Hull{2},
                          .transform = at(2),
                          .notes = {{4, 4}, {5, 5}, {4, 4}, {4, 4}},
                          .asleep = Asleep{2}},
                         {.guid = 1,
                          .parent = 2,
                          .hull = Hull{7},
                          .transform = at(1),
                          .tags = {"c", "d", "a"},
                          .notes = {{0, 0}, {1, 1}, {3, 9}, {2, 2}},
                          .owned_by = 2,
                          .asleep = Asleep{1},
                          .is_awake = true},
                         {.guid = 3, .parent = 2, .transform = at(3), .tags = {"e"}, .notes = {{6, 6}}},
                         {.guid = 4, .parent = 2, .transform = at(4), .zone = 5, .owned_by = 3},
                         {.guid = 5, .parent = 1, .transform = at(5), .tags = {"a"}, .notes = {{8, 8}}, .owned_by = 1}};
        const Blob before = blob_of(source), refused = blob_of(edited);
        edited[1].anchor = 1;
        const Blob fine = blob_of(edited);
        const Result<Spawned> ships = world.spawn(before, {.copies = 2});
        ASSERT_TRUE(ships.ok()) << ships.message();
        world.settle();
        const Entity own = ships->entity(0, 1);  // the program's doing
        TagManager tags(world.manager<Tag>(), world.strings());
        ASSERT_TRUE(tags.add_tag(own, "mine").ok());
        const State state = state_of(world, entities);
        const auto num_rows = [&] {  // those of the dead, too
            std::size_t count = 0;
            for (const Store* store : world.directory().stores())
                for (const Table* table : store->tables()) count += table->num_rows();
            return count;
        };
        const std::size_t num_rows_before = num_rows();
        const Result<ReloadReport> report = reloader.reload(before, refused);
        EXPECT_EQ(num_rows(), num_rows_before);
        ASSERT_FALSE(report.ok());
        EXPECT_EQ(report.message(), "cannot reload \"levels/reef\": labels stick");
        EXPECT_TRUE(is_same_state(state_of(world, entities), state));
        world.settle();
        EXPECT_TRUE(is_same_state(state_of(world, entities), state));
        ASSERT_TRUE(world.transforms().validate().ok() && world.ownership().validate().ok());
        EXPECT_EQ(tags.entities_with("b").size(), 2u);
        EXPECT_EQ(tags.entities_with("d").size(), 0u);
        ASSERT_TRUE(reloader.reload(before, fine).ok()) << "the next version is taken";
        EXPECT_NE(state_of(world, entities), state);
        EXPECT_EQ(values_of<Note>(world, ships->entity(0)), edited[1].notes);
    }
}

TEST(ReloadErrors, components_that_a_spawn_function_took_cannot_be_changed) {
    EntityManager entities;
    World world(entities);
    Reloader reloader(world);
    ASSERT_TRUE(
        world.registry().set_spawn_function("hull", [](void*, const SpawnBatch&) { return Status(); }, nullptr).ok());
    const Blob before = blob_of({{.guid = 1, .hull = Hull{1}}}), after = blob_of({{.guid = 1, .hull = Hull{2}}});
    const Blob more = blob_of({{.guid = 1, .hull = Hull{1}}, {.guid = 2, .hull = Hull{3}}});
    ASSERT_TRUE(world.spawn(before).ok());
    EXPECT_EQ(
        reloader.reload(before, after).message(),
        "cannot reload \"levels/reef\": \"hull\" of an entity that stays has changed, and it was taken by a spawn "
        "function, which cannot be told; spawn the resource again");
    EXPECT_TRUE(reloader.reload(before, more).ok()) << "of new entities, it is called";
    const auto is_refused = [](std::string_view name, const Item& one, const Item& other) {
        EntityManager others;
        World plain(others);
        Reloader again(plain);
        EXPECT_TRUE(
            plain.registry().set_spawn_function(name, [](void*, const SpawnBatch&) { return Status(); }, nullptr).ok());
        const Blob from = blob_of({one}), to = blob_of({other});
        EXPECT_TRUE(plain.spawn(from).ok());
        return again.reload(from, to).message().find("of an entity that stays has changed") != std::string::npos;
    };
    EXPECT_TRUE(is_refused("hull", {.guid = 1}, {.guid = 1, .hull = Hull{1}}));
    EXPECT_TRUE(is_refused("hull", {.guid = 1, .hull = Hull{1}}, {.guid = 1}));
    EXPECT_TRUE(is_refused("note", {.guid = 1, .notes = {{1, 1}}}, {.guid = 1, .notes = {{1, 1}, {2, 2}}}));
    EXPECT_FALSE(is_refused("hull", {.guid = 1, .hull = Hull{1}}, {.guid = 1, .hull = Hull{1}, .notes = {{1, 1}}}));
}

TEST_F(Reload, what_was_spawned_before_there_was_a_reloader_stays_as_it_is) {
    World forgetful(entities);
    const Blob before = blob_of({{.guid = 1}}), after = blob_of({{.guid = 1}, {.guid = 2}});
    ASSERT_TRUE(forgetful.spawn(before).ok());
    Reloader late(forgetful);
    EXPECT_EQ(late.reload(before, after)->num_copies, 0u);
    ASSERT_TRUE(forgetful.spawn(before, {.copies = 2}).ok());
    EXPECT_EQ(late.reload(before, after)->num_created, 2u);
}

// --- what lies in blobs ------------------------------------------------------------------------------------------

struct Route {
    BlobArray<float> depths{};
    std::int32_t speed = 0;
};
SHOAL_COMPONENT(Route, depths, speed)

/// A blob whose entity i has a route with these depths. It lies in memory of its own, so that the address sanitizer sees
/// who looks at it too late.
Blob routes(const std::vector<std::vector<float>>& all, std::int32_t speed, const char* name = "routes") {
    BlobWriter writer;
    writer.set_name(name);
    const std::uint32_t type = writer.add_component_type(schema_of<Route>()).value();
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        Route route;
        route.speed = speed;
        static_cast<BlobArrayBase&>(route.depths) =
            writer.add_array(FieldType::kFloat, std::as_bytes(std::span(all[i])));
        writer.add_entity({.guid = i + 1});
        writer.add_component(type, i, std::as_bytes(std::span(&route, 1)));
    }
    return Blob::load(*writer.write()).value();
}

TEST(ReloadArrays, rows_refer_to_the_arrays_of_the_newer_version_and_the_older_one_may_go) {
    shoal_test::LeakCheck leaks;
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    auto& managed = world.manager<Route>();
    const Blob* const loaded = library.add(routes({{1, 2}, {3}, {7, 8, 9}}, 1)).value();
    const Result<Spawned> ships = world.spawn(*loaded);
    ASSERT_TRUE(ships.ok()) << ships.message();
    Entity own, lost;
    ASSERT_TRUE(entities.create({&own, 1}).ok() && entities.create({&lost, 1}).ok());
    const auto depths = [&](Entity entity) {
        const auto values = library.view(managed.get<&Route::depths>(managed.instance(entity)));
        return std::vector<float>(values.begin(), values.end());
    };
    const auto route_of = [&](Entity entity) {
        return Route{managed.get<&Route::depths>(managed.instance(entity)), 5};
    };
    ASSERT_TRUE(managed.add(own, route_of(ships->entity(2))).ok());   // what the program has copied
    ASSERT_TRUE(managed.add(lost, route_of(ships->entity(1))).ok());  // the same, and the source drops it
    {
        Result<Blob> before = library.replace(routes({{0, 0, 0}, {1, 2}, {7, 8, 9}}, 1));
        ASSERT_TRUE(before.ok()) << before.message();
        const Result<ReloadReport> report = reloader.reload(*before, *library.find("routes"));
        ASSERT_TRUE(report.ok()) << report.message();
        EXPECT_EQ(report->num_fields, 2u);
    }
    EXPECT_EQ(depths(ships->entity(0)), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(depths(ships->entity(1)), (std::vector<float>{1, 2}));
    EXPECT_EQ(depths(ships->entity(2)), (std::vector<float>{7, 8, 9}));
    EXPECT_EQ(depths(own), (std::vector<float>{7, 8, 9}));
    EXPECT_EQ(depths(lost), std::vector<float>());
    {
        Result<Blob> before = library.replace(routes({{0, 0, 0}, {1, 2}, {7, 8}}, 1));
        ASSERT_TRUE(before.ok() && reloader.reload(*before, *library.find("routes")).ok());
    }
    EXPECT_EQ(depths(ships->entity(2)), (std::vector<float>{7, 8}));
    EXPECT_EQ(depths(own), std::vector<float>()) << "the last one alone is another";
    const Result<ReloadReport> wrong = reloader.reload(routes({{1}, {2}, {3}}, 1), routes({{4}, {5}, {6}}, 1));
    EXPECT_EQ(
        wrong.message(),
        "the library has another version of \"routes\" than the newer one, and rows refer to its read-only arrays; "
        "call ResourceLibrary::replace() first, and reload with what it returns");
}

TEST(ReloadArrays, values_of_commands_that_wait_refer_to_the_newer_version_too) {
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    auto& managed = world.manager<Route>();
    const Result<Spawned> ships = world.spawn(*library.add(routes({{1, 2}, {3}}, 1)).value());
    ASSERT_TRUE(ships.ok()) << ships.message();
    const Result<Spawned> others = world.spawn(*library.add(routes({{4, 5, 6}}, 1, "others")).value());
    ASSERT_TRUE(others.ok()) << others.message();
    Entity kept, lost, other;
    for (Entity* const entity : {&kept, &lost, &other}) *entity = *entities.create();
    const auto array_of = [&](Entity entity) { return managed.get<&Route::depths>(managed.instance(entity)); };
    world.commands().add(kept, Route{array_of(ships->entity(0)), 5});
    world.commands().add(lost, Route{array_of(ships->entity(1)), 5});
    world.commands().add(other, Route{array_of(others->entity(0)), 5});
    const Result<Blob> before = library.replace(routes({{0, 0, 0}, {1, 2}}, 1));
    ASSERT_TRUE(before.ok() && reloader.reload(*before, *library.find("routes")).ok());
    world.settle();
    EXPECT_EQ(array_of(other), array_of(others->entity(0))) << "it is of another resource";
    EXPECT_EQ(library.view(array_of(other)).size(), 3u);
    const std::span<const float> depths = library.view(array_of(kept));
    EXPECT_EQ(std::vector<float>(depths.begin(), depths.end()), (std::vector<float>{1, 2}));
    EXPECT_EQ(array_of(lost).count, 0u);
}

TEST(ReloadArrays, rows_of_the_dead_do_not_keep_a_world_from_being_saved_and_loaded_or_the_blob_from_going) {
    for (const bool in_database : {false, true}) {
        ResourceLibrary library;
        EntityManager entities;
        World world(entities, {.library = &library});
        Reloader reloader(world);
        if (in_database)
            world.database().component<Route>();
        else
            world.manager<Route>();
        const Result<Spawned> ships = world.spawn(*library.add(routes({{1, 2}, {3}}, 1)).value());
        ASSERT_TRUE(ships.ok()) << ships.message();
        entities.destroy(ships->entities());
        const Result<Blob> before = library.replace(routes({{}, {}}, 1));
        ASSERT_TRUE(before.ok() && reloader.reload(*before, *library.find("routes")).ok());
        Array<std::byte> saved{Owner("test")};
        ASSERT_TRUE(save(world, saved).ok());
        const Status loaded = load(world, std::span<const std::byte>(saved));
        EXPECT_TRUE(loaded.ok()) << loaded.message();
        const Status unloaded = library.unload("routes");
        EXPECT_TRUE(unloaded.ok()) << unloaded.message();
    }
}

TEST(ReloadArrays, nothing_of_either_blob_is_needed_when_the_call_returns) {
    shoal_test::LeakCheck leaks;
    EntityManager entities;
    World world(entities);
    Reloader reloader(world);
    auto& hulls = world.manager<Hull>();
    const Source source = {{.guid = 1, .hull = Hull{1}, .tags = {"a"}}};
    Source edited = source;
    edited[0].hull->armor = 2;
    edited[0].tags.push_back("fresh");
    auto before = std::make_unique<Blob>(blob_of(source));
    const Result<Spawned> ships = world.spawn(*before);
    {
        const Blob after = blob_of(edited);
        ASSERT_TRUE(reloader.reload(*before, after).ok());
        before.reset();
    }
    world.settle();
    EXPECT_EQ(hulls.get<&Hull::armor>(hulls.instance(ships->entity(0))), 2);
    TagManager tags(world.manager<Tag>(), world.strings());
    EXPECT_EQ(tags.text(StringId("fresh")), "fresh");
    const Blob again = blob_of(edited);  // the world knows the version by its checksum
    Source last = edited;
    last[0].hull->armor = 3;
    ASSERT_TRUE(reloader.reload(again, blob_of(last)).ok());
    EXPECT_EQ(hulls.get<&Hull::armor>(hulls.instance(ships->entity(0))), 3);
}

struct Course {
    BlobArray<float> depths{};
    std::int32_t number = 0;
    Entity ship{};
};
SHOAL_COMPONENT((Course, many), depths, number, ship)

using Courses = std::vector<std::pair<std::vector<float>, std::int32_t>>;

/// A blob whose entity i has these courses, each of which refers to it; with a label if it is `labelled`.
Blob courses(const std::vector<Courses>& all, bool labelled = false) {
    BlobWriter writer;
    writer.set_name("courses");
    const std::uint32_t type = writer.add_component_type(schema_of<Course>()).value();
    const std::uint32_t label = labelled ? writer.add_component_type(schema_of<Label>()).value() : 0;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        writer.add_entity({.guid = i + 1});
        if (labelled) writer.add_component(label, i, schema_of<Label>().default_image());
        for (const auto& [depths, number] : all[i]) {
            Course course{.number = number, .ship = Entity{i}};
            static_cast<BlobArrayBase&>(course.depths) =
                writer.add_array(FieldType::kFloat, std::as_bytes(std::span(depths)));
            writer.add_component(type, i, std::as_bytes(std::span(&course, 1)));
        }
    }
    return Blob::load(*writer.write()).value();
}

TEST(ReloadArrays, of_lists_stay_with_their_values_when_others_come_and_go_and_after_a_refusal) {
    for (const bool is_in_database : {false, true}) {
        shoal_test::LeakCheck leaks;
        ResourceLibrary library;
        EntityManager entities;
        World world(entities, {.library = &library});
        Reloader reloader(world);
        ASSERT_TRUE(!is_in_database || world.directory().claim<Course>(world.database()).ok());
        if (!is_in_database) world.manager<Course>();
        world.make_store<Clinging>();
        const Courses four = {{{1}, 1}, {{2, 2}, 2}, {{3, 3, 3}, 3}, {{4}, 4}};
        const Courses others = {{{9, 9, 9}, 9}, {{3, 3, 3}, 3}, {{8}, 8}, {{1}, 1}};
        const Courses same = {{{5}, 5}, {{6, 6}, 6}};
        const std::vector<Courses> first = {four, same, four}, next = {others, same, others};
        const Blob* const loaded = library.add(courses(first, true)).value();
        const Result<Spawned> ships = world.spawn(*loaded);
        ASSERT_TRUE(ships.ok()) << ships.message();
        const Entity cut = ships->entity(2);  // the program takes the second one
        auto* const manager = dynamic_cast<ComponentManager*>(world.directory().find(schema_of<Course>().id()));
        if (is_in_database) {
            ASSERT_TRUE(world.database().remove_value<Course>(cut, 1).ok());
        } else {
            manager->remove(manager->next(manager->instance(cut)));
        }
        const auto courses_of = [&](Entity ship) {
            Courses found;
            for (const Course& course : values_of<Course>(world, ship)) {
                const auto depths = library.view(course.depths);
                found.push_back({{depths.begin(), depths.end()}, course.number});
                EXPECT_EQ(course.ship, ship);
            }
            return found;
        };
        const Entity own = *entities.create();
        const Course copied = values_of<Course>(world, ships->entity(0))[2];
        ASSERT_TRUE(
            world.directory()
                .find(schema_of<Course>().id())
                ->add_values(schema_of<Course>(), {&own, 1}, {.images = reinterpret_cast<const std::byte*>(&copied)})
                .ok());
        {
            Result<Blob> before = library.replace(courses(next));  // without the labels, which stick
            ASSERT_TRUE(before.ok()) << before.message();
            ASSERT_FALSE(reloader.reload(*before, *library.find("courses")).ok());
            ASSERT_TRUE(library.replace(std::move(*before)).ok());
        }
        EXPECT_EQ(courses_of(ships->entity(0)), first[0]);
        EXPECT_EQ(courses_of(ships->entity(1)), first[1]);
        {
            const Result<Blob> before = library.replace(courses(next, true));
            ASSERT_TRUE(before.ok()) << before.message();
            const Result<ReloadReport> report = reloader.reload(*before, *library.find("courses"));
            ASSERT_TRUE(report.ok()) << report.message();
            EXPECT_EQ(report->num_changed, 2u);
            EXPECT_EQ(report->num_left_out, 1u);
        }
        EXPECT_EQ(courses_of(ships->entity(0)), next[0]);
        EXPECT_EQ(courses_of(ships->entity(1)), next[1]) << "of which only the arrays lie elsewhere";
        EXPECT_EQ(courses_of(cut), (Courses{next[0][1], next[0][2], next[0][3]}))
            << "what has become of it is left out";
        const Course moved = values_of<Course>(world, own)[0];
        EXPECT_EQ(library.view(moved.depths).size(), 3u);
        EXPECT_EQ(library.view(moved.depths)[0], 3);
    }
}

TEST(ReloadArrays, each_of_several_values_of_a_new_entity_refers_to_entities_of_its_own_copy) {
    const auto blob = [](const std::vector<std::uint32_t>& of_third) {
        BlobWriter writer;
        writer.set_name("courses");
        const std::uint32_t type = writer.add_component_type(schema_of<Course>()).value();
        for (std::uint32_t i = 0; i < (of_third.empty() ? 2 : 3); ++i) writer.add_entity({.guid = i + 1});
        for (const std::uint32_t ship : of_third) {
            const Course course{.number = std::int32_t(ship), .ship = Entity{ship}};
            writer.add_component(type, 2, std::as_bytes(std::span(&course, 1)));
        }
        return Blob::load(*writer.write()).value();
    };
    for (const bool is_in_database : {false, true}) {
        EntityManager entities;
        World world(entities);
        Reloader reloader(world);
        ASSERT_TRUE(!is_in_database || world.directory().claim<Course>(world.database()).ok());
        if (!is_in_database) world.manager<Course>();
        const Blob before = blob({}), after = blob({0, 2, 1, 0});
        const Spawned ships = std::move(*world.spawn(before, {.copies = 2}));
        ASSERT_TRUE(reloader.reload(before, after).ok());
        std::set<Entity> made;
        world.query<Read<&Course::number>>().for_each([&](Entity entity, std::int32_t) { made.insert(entity); });
        ASSERT_EQ(made.size(), 2u);
        std::uint32_t copy = 0;
        for (const Entity third : made) {
            std::vector<Entity> found;
            for (const Course& course : values_of<Course>(world, third)) found.push_back(course.ship);
            const Entity first = ships.entity(0, copy), second = ships.entity(1, copy);
            EXPECT_EQ(found, (std::vector<Entity>{first, third, second, first}));
            ++copy;
        }
    }
}

TEST(ReloadArrays, of_lists_are_found_again_though_what_they_refer_to_has_died) {
    const auto blob = [](const std::vector<std::int32_t>& numbers) {
        BlobWriter writer;
        writer.set_name("courses");
        const std::uint32_t type = writer.add_component_type(schema_of<Course>()).value();
        writer.add_entity({.guid = 1});
        writer.add_entity({.guid = 2});
        for (const std::int32_t number : numbers) {
            const Course course{.number = number, .ship = Entity{1}};
            writer.add_component(type, 0, std::as_bytes(std::span(&course, 1)));
        }
        return Blob::load(*writer.write()).value();
    };
    EntityManager entities;
    World world(entities);
    Reloader reloader(world);
    auto& courses = world.manager<Course>();
    const Blob none = blob({}), one = blob({1}), other = blob({5});
    const Result<Spawned> ships = world.spawn(none);
    const Entity ship = ships->entity(0);
    entities.destroy(ships->entities().subspan(1, 1));
    world.settle();
    ASSERT_TRUE(reloader.reload(none, one).ok());
    ASSERT_EQ(values_of<Course>(world, ship).size(), 1u);
    EXPECT_FALSE(values_of<Course>(world, ship)[0].ship) << "it has died";
    ASSERT_TRUE(courses.add(ship, {.number = 7}).ok());
    ASSERT_TRUE(reloader.reload(one, other).ok());
    ASSERT_EQ(values_of<Course>(world, ship).size(), 2u);
    EXPECT_EQ(values_of<Course>(world, ship)[0].number, 7);
    EXPECT_EQ(values_of<Course>(world, ship)[1].number, 5);
}

/// A store of routes that counts how often it is asked for a row.
class CountingRoutes final : public PlainStore<Route> {
public:
    using PlainStore::PlainStore;
    ComponentRow find_row(ComponentId component, Entity entity, std::uint32_t index) const override {
        ++num_asked;
        return Store::find_row(component, entity, index);
    }
    mutable std::uint64_t num_asked = 0;
};

TEST(ReloadArrays, that_lie_where_they_lay_are_not_asked_for) {
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    auto& store = world.make_store<CountingRoutes>();
    std::vector<std::vector<float>> all;
    for (std::uint32_t i = 0; i < 1000; ++i) all.push_back({float(i), float(i + 1)});
    const Blob* const loaded = library.add(routes(all, 1)).value();
    const Result<Spawned> ships = world.spawn(*loaded);
    ASSERT_TRUE(ships.ok()) << ships.message();
    const auto reload = [&](Blob newer) {
        const Result<Blob> before = library.replace(std::move(newer));
        store.num_asked = 0;
        const Result<ReloadReport> report = reloader.reload(*before, *library.find("routes"));
        EXPECT_TRUE(report.ok()) << report.message();
        return report->num_fields;
    };
    all[500] = {7, 6};
    EXPECT_EQ(reload(routes(all, 1)), 1u);
    EXPECT_LE(store.num_asked, 4u) << "one array is another";
    all[500] = {1, 2};  // as that of the second; those behind it move up
    EXPECT_EQ(reload(routes(all, 1)), 1u);
    EXPECT_GE(store.num_asked, 499u);
    EXPECT_LE(store.num_asked, 2 * 499u + 4) << "those before it have not moved";
    all[500] = {0, 1};  // nobody's array has moved
    EXPECT_EQ(reload(routes(all, 1)), 1u);
    EXPECT_LE(store.num_asked, 2u);
}

/// A blob with a model of nodes at these heights on each entity; if it is `labelled`, with a label on the first.
Blob models(const std::vector<std::vector<float>>& all, bool labelled = false) {
    BlobWriter writer;
    writer.set_name("models");
    const std::uint32_t type = writer.add_component_type(schema_of<ModelPose>()).value();
    const auto keep = [&]<class T>(BlobArray<T>& array, const std::vector<T>& values) {
        static_cast<BlobArrayBase&>(array) =
            writer.add_array(FieldTraits<T>::type, std::as_bytes(std::span<const T>(values)));
    };
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        ModelPose pose;
        std::vector<StringId> names;
        std::vector<Vec3> positions;
        for (const float height : all[i]) {
            names.push_back(StringId(std::to_string(names.size())));
            positions.push_back({0, 0, height});
        }
        keep(pose.names, names);
        keep(pose.parents, std::vector<std::uint32_t>(names.size(), kNilRow));
        keep(pose.positions, positions);
        keep(pose.rotations, std::vector<Quaternion>(names.size()));
        keep(pose.scales, std::vector<Vec3>(names.size(), Vec3{1, 1, 1}));
        writer.add_entity({.guid = i + 1});
        if (!all[i].empty()) writer.add_component(type, i, std::as_bytes(std::span(&pose, 1)));
    }
    if (labelled)
        writer.add_component(writer.add_component_type(schema_of<Label>()).value(), 0,
                             schema_of<Label>().default_image());
    return Blob::load(*writer.write()).value();
}

TEST(ReloadArrays, models_whose_trees_have_changed_start_anew_and_others_stay_posed) {
    shoal_test::LeakCheck leaks;
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    const Blob* const loaded = library.add(models({{1, 2}, {3}, {9, 9}, {}})).value();
    const Result<Spawned> ships = world.spawn(*loaded, {.copies = 2});
    ASSERT_TRUE(ships.ok()) << ships.message();
    ModelPoseManager& poses = world.model_poses();
    poses.set_local(poses.instance(ships->entity(1)), 0, {{0, 0, 33}, {}, {1, 1, 1}});
    const Entity without = ships->entity(0, 1);  // the program has taken its model away
    poses.drop({&without, 1});
    {
        const Result<Blob> before = library.replace(models({{5, 6, 7}, {3}, {}, {4}}));
        ASSERT_TRUE(before.ok()) << before.message();
        const Result<ReloadReport> report = reloader.reload(*before, *library.find("models"));
        ASSERT_TRUE(report.ok()) << report.message();
        EXPECT_EQ(report->num_fields, 3u) << "one has another tree, and in both copies one a tree that has moved";
        EXPECT_EQ(report->num_left_out, 1u);
        EXPECT_EQ(report->num_changed, 5u)
            << "the one with another tree, and in both copies one lost and one got a model";
        EXPECT_FALSE(poses.has(without));
    }
    poses.compute();
    ASSERT_TRUE(poses.validate().ok()) << poses.validate().message();
    const auto height = [&](std::uint32_t entity, std::uint32_t node, std::uint32_t copy = 0) {
        return poses.model(poses.instance(ships->entity(entity, copy)), node).row[2].w;
    };
    EXPECT_EQ(height(0, 2), 7);
    EXPECT_EQ(height(1, 0), 33);
    EXPECT_EQ(height(1, 0, 1), 3);
    EXPECT_FALSE(poses.has(ships->entity(2)));
    EXPECT_EQ(height(3, 0, 1), 4);
    EXPECT_EQ(poses.num_trees(), 3u) << "the old ones went with their last instances";
    ASSERT_TRUE(world.spawn(*library.find("models")).ok());
    EXPECT_EQ(poses.num_trees(), 3u) << "the tree that stays is that of the newer version, wherever it lies there";
}

TEST(ReloadArrays, a_reload_that_is_refused_leaves_models_with_the_version_that_they_had) {
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    world.make_store<Clinging>();
    const std::vector<std::vector<float>> heights = {{1, 2}, {3}};
    ASSERT_TRUE(world.spawn(*library.add(models(heights, true)).value()).ok());
    ModelPoseManager& poses = world.model_poses();
    ASSERT_EQ(poses.num_trees(), 2u);
    Result<Blob> before = library.replace(models({{0, 0, 0}, {1, 2}, {3}}));
    ASSERT_TRUE(before.ok()) << before.message();
    EXPECT_FALSE(reloader.reload(*before, *library.find("models")).ok()) << "labels stick";
    ASSERT_TRUE(library.replace(std::move(*before)).ok());
    ASSERT_TRUE(world.spawn(*library.find("models")).ok());
    EXPECT_EQ(poses.num_trees(), 2u) << "each is still that of the version that was spawned";
}

struct Escort {
    std::array<Entity, 3> ships{};
};
SHOAL_COMPONENT(Escort, ships)

TEST(ReloadArrays, each_of_several_references_in_a_field_is_compared) {
    EntityManager entities;
    World world(entities);
    Reloader reloader(world);
    world.manager<Escort>();
    const auto blob = [](const std::array<std::uint32_t, 3>& numbers) {
        BlobWriter writer;
        writer.set_name("escorts");
        const std::uint32_t type = writer.add_component_type(schema_of<Escort>()).value();
        for (std::uint32_t i = 0; i < 3; ++i) writer.add_entity({.guid = i + 1});
        Escort escort;
        for (std::size_t i = 0; i < 3; ++i) escort.ships[i] = Entity{numbers[i]};
        writer.add_component(type, 0, std::as_bytes(std::span(&escort, 1)));
        return Blob::load(*writer.write()).value();
    };
    Blob before = blob({1, 2, 0});
    const Spawned ships = std::move(*world.spawn(before, {.copies = 2}));
    for (const std::array<std::uint32_t, 3>& numbers :
         {std::array{1u, 2u, 1u}, std::array{1u, 0u, 1u}, std::array{kNoBlobEntity, 0u, 1u}, std::array{2u, 0u, 1u}}) {
        Blob after = blob(numbers);
        EXPECT_EQ(reloader.reload(before, after)->num_fields, 2u);
        for (const std::uint32_t copy : {0u, 1u})
            for (std::size_t i = 0; i < 3; ++i)
                EXPECT_EQ(world.manager<Escort>().get<&Escort::ships>(
                              world.manager<Escort>().instance(ships.entity(0, copy)))[i],
                          numbers[i] == kNoBlobEntity ? kNullEntity : ships.entity(numbers[i], copy));
        before = std::move(after);
    }
}

TEST(ReloadArrays, one_model_alone_starts_anew_when_its_tree_has_changed) {
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    const Result<Spawned> ship = world.spawn(*library.add(models({{1, 2}})).value());
    ASSERT_TRUE(ship.ok()) << ship.message();
    {
        const Result<Blob> before = library.replace(models({{5, 6, 7}}));
        ASSERT_TRUE(before.ok()) << before.message();
        const Result<ReloadReport> report = reloader.reload(*before, *library.find("models"));
        ASSERT_TRUE(report.ok()) << report.message();
    }
    ModelPoseManager& poses = world.model_poses();
    poses.compute();
    const Instance now = poses.instance(ship->entity(0));
    ASSERT_EQ(poses.models(now).size(), 3u);
    EXPECT_EQ(poses.model(now, 2).row[2].w, 7);
}

// --- snapshots that refer to arrays -----------------------------------------------------------------------------

/// A game with ships that sail routes, as one process runs it.
struct Routes {
    explicit Routes(Blob blob, bool is_in_database = false) {
        EXPECT_TRUE(library.add(std::move(blob)).ok());
        if (is_in_database)
            world.database().component<Route>();
        else
            world.manager<Route>();
    }
    /// Spawns all ships and returns the first one.
    Entity spawn() { return world.spawn(*library.find("routes"))->entity(0); }
    BlobArray<float> array(Entity entity) {
        BlobArray<float> found;
        world.query<Read<&Route::depths>>().for_each([&](Entity one, const BlobArray<float>& depths) {
            if (one == entity) found = depths;
        });
        return found;
    }
    std::vector<float> depths(Entity entity) {
        const std::span<const float> values = library.view(array(entity));
        return {values.begin(), values.end()};
    }

    ResourceLibrary library;
    EntityManager entities;
    World world{entities, {.library = &library}};
    Reloader reloader{world};
    Persistence persistence{world};
};

std::string hex_of(const Blob& blob) {
    std::string text = "0x";
    append_hex(text, blob.header().checksum);
    return text;
}

/// Why a state of `older` is not loaded where `newer` is.
std::string refusal(const Blob& older, const Blob& newer, const char* what = "route.depths") {
    return concat(
        "the snapshot, part \"arrays/blobs\": \"", what, "\" refers to arrays of the resource \"", older.name(),
        "\" with the checksum ", hex_of(older), ", and the library has it with the checksum ", hex_of(newer),
        " and other arrays; give the library the older build with ResourceLibrary::replace(), load the state, "
        "and then go on to the newer one with replace() and Reloader::reload()");
}

Snapshot state_of(const World& world) {
    Snapshot state;
    const Status status = save(world, state);
    EXPECT_TRUE(status.ok()) << status.message();
    return state;
}

TEST(SavedArrays, a_save_is_refused_where_the_library_has_another_build_and_loaded_where_it_has_the_same) {
    for (const bool is_in_database : {false, true}) {
        Routes saved(routes({{1, 2}, {3}}, 1), is_in_database);
        const Entity ship = saved.spawn();
        Array<std::byte> bytes{Owner("test")};
        ASSERT_TRUE(save(saved.world, bytes).ok());

        Routes same(routes({{1, 2}, {3}}, 1), is_in_database);
        ASSERT_TRUE(load(same.world, bytes).ok());
        EXPECT_EQ(same.depths(ship), (std::vector<float>{1, 2}));

        Routes other(routes({{7, 8, 9}, {1, 2}, {3}}, 1), is_in_database);
        const Entity own = other.spawn();
        const std::string before = std::to_string(state_hash(other.world));
        EXPECT_EQ(load(other.world, bytes).message(),
                  refusal(*saved.library.find("routes"), *other.library.find("routes")));
        EXPECT_EQ(std::to_string(state_hash(other.world)), before);
        EXPECT_EQ(other.depths(own), (std::vector<float>{7, 8, 9}));

        // What the message says: the older build, then the newer one.
        Result<Blob> newer = other.library.replace(routes({{1, 2}, {3}}, 1));
        ASSERT_TRUE(newer.ok() && load(other.world, bytes).ok());
        EXPECT_EQ(other.depths(ship), (std::vector<float>{1, 2}));
        const Result<Blob> older = other.library.replace(std::move(*newer));
        ASSERT_TRUE(older.ok() && other.reloader.reload(*older, *other.library.find("routes")).ok());
        EXPECT_EQ(other.depths(ship), (std::vector<float>{7, 8, 9}));
    }
}

TEST(SavedArrays, a_build_with_other_values_beside_the_same_arrays_takes_a_save_of_the_older_one) {
    Routes saved(routes({{1, 2}, {3}}, 1)), other(routes({{1, 2}, {3}}, 5));
    ASSERT_NE(hex_of(*saved.library.find("routes")), hex_of(*other.library.find("routes")));
    const Entity ship = saved.spawn();
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved.world, bytes).ok());
    const Status status = load(other.world, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(other.depths(ship), (std::vector<float>{1, 2}));
}

TEST(SavedArrays, a_state_that_follows_another_knows_the_builds_of_its_own_time) {
    Routes game(routes({{1, 2}, {3}}, 1)), same(routes({{7, 8}, {3}}, 5)), other(routes({{7, 8}, {3}}, 1));
    ASSERT_TRUE(game.library.add(routes({{5}}, 1, "canals")).ok());
    ASSERT_TRUE(same.library.add(routes({{5}}, 2, "canals")).ok());
    ASSERT_TRUE(other.library.add(routes({{6}}, 1, "canals")).ok());
    const Entity ship = game.spawn();
    ASSERT_TRUE(game.world.spawn(*game.library.find("canals"), {.copies = 3}).ok());
    const Snapshot before = state_of(game.world);
    const Result<Blob> older = game.library.replace(routes({{7, 8}, {3}}, 1));
    ASSERT_TRUE(game.reloader.reload(*older, *game.library.find("routes")).ok());
    Snapshot now;
    ASSERT_TRUE(save(game.world, now, &before).ok());
    const Status status = load(same.world, now);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(same.depths(ship), (std::vector<float>{7, 8}));
    EXPECT_EQ(load(other.world, now).message(), refusal(*game.library.find("canals"), *other.library.find("canals")));
}

TEST(SavedArrays, what_rows_hold_that_their_entities_have_left_does_not_count) {
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    world.manager<Route>({.index = RowIndexKind::kIdentity});
    const Result<Spawned> ships = world.spawn(*library.add(routes({{1, 2}, {3}}, 1)).value());
    const Entity own = *entities.create();
    ASSERT_TRUE(ships.ok() && world.manager<Route>().add(own, Route{{}, 4}).ok());
    entities.destroy(ships->entities());
    world.settle();
    ASSERT_TRUE(library.unload("routes").ok()) << "nothing refers to it";
    const Snapshot state = state_of(world);
    EXPECT_EQ(state.find("arrays/blobs"), state.num_parts());
    const Status status = load(world, state, false);
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(SavedArrays, a_resource_that_is_not_loaded_is_named) {
    Routes saved(routes({{1, 2}, {3}}, 1)), other(routes({{1, 2}, {3}}, 1));
    saved.spawn();
    const Snapshot state = state_of(saved.world);
    ASSERT_TRUE(other.library.unload("routes").ok());
    for (const bool is_trusted : {false, true})
        EXPECT_EQ(load(other.world, state, is_trusted).message(),
                  concat("the snapshot, part \"arrays/blobs\": \"route.depths\" refers to arrays of the resource "
                         "\"routes\" with the checksum ",
                         hex_of(*saved.library.find("routes")),
                         ", which is not loaded; load it through the world's library, WorldOptions::library, before "
                         "the state"));
    EntityManager entities;
    World without_library(entities);
    without_library.manager<Route>();
    EXPECT_TRUE(load(without_library, state, false).ok()) << "a tool that shows the state";
}

Status go_back_over_a_reload(Frames& frames, Reloader& reloader, ResourceLibrary& library, Blob older,
                             std::uint64_t frame) {
    // [go_back]
    Result<Blob> newer = library.replace(std::move(older));  // what reload() was given as `before`
    if (!newer) return newer.status();
    if (Status status = frames.rewind(frame); !status) return status;
    const Result<Blob> before = library.replace(std::move(*newer));
    if (!before) return before.status();
    return reloader.reload(*before, *library.find(before->id())).status();
    // [go_back]
}

TEST(SavedArrays, a_rewind_over_a_reload_is_refused_until_the_library_has_the_older_build_again) {
    Routes game(routes({{1, 2}, {3}}, 1));
    const Entity ship = game.spawn();
    Frames frames(game.world, 4);
    game.world.step(0.1f);
    const std::uint64_t frame = game.world.frame();
    Result<Blob> older = game.library.replace(routes({{7, 8, 9}, {1, 2}, {3}}, 1));
    ASSERT_TRUE(game.reloader.reload(*older, *game.library.find("routes")).ok());
    game.world.step(0.1f);
    const std::uint64_t hash = state_hash(game.world);
    EXPECT_EQ(frames.rewind(frame).message(), refusal(*older, *game.library.find("routes")));
    EXPECT_EQ(state_hash(game.world), hash);
    EXPECT_EQ(game.depths(ship), (std::vector<float>{7, 8, 9}));
    EXPECT_TRUE(frames.rewind(frame + 1).ok()) << "what was kept since";

    const Status status = go_back_over_a_reload(frames, game.reloader, game.library, std::move(*older), frame);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(game.world.frame(), frame);
    EXPECT_EQ(game.depths(ship), (std::vector<float>{7, 8, 9}));
}

TEST(SavedArrays, a_persisted_world_comes_back_with_the_build_that_it_had_only) {
    const std::string folder =
        (std::filesystem::temp_directory_path() / ("shoal_saved_arrays_" + std::to_string(getpid()))).string();
    std::filesystem::remove_all(folder);
    Routes saved(routes({{1, 2}, {3}}, 1)), other(routes({{7, 8, 9}, {1, 2}}, 1)), same(routes({{1, 2}, {3}}, 1));
    const Entity ship = saved.spawn();
    ASSERT_TRUE(saved.persistence.start(folder).ok());
    saved.world.step(0.1f);
    ASSERT_TRUE(saved.persistence.stop().ok());
    const Result<Recovered> refused = other.persistence.recover(folder);
    EXPECT_NE(refused.message().find(refusal(*saved.library.find("routes"), *other.library.find("routes"))),
              std::string::npos)
        << refused.message();
    EXPECT_EQ(other.entities.num_alive(), 0u);
    const Result<Recovered> recovered = same.persistence.recover(folder);
    ASSERT_TRUE(recovered.ok()) << recovered.message();
    EXPECT_EQ(same.depths(ship), (std::vector<float>{1, 2}));
    std::filesystem::remove_all(folder);
}

TEST(SavedArrays, of_commands_that_wait_and_of_models_are_refused_likewise) {
    Routes saved(routes({{1, 2}, {3}}, 1)), other(routes({{7, 8, 9}, {1, 2}}, 1));
    const Result<Spawned> ships = saved.world.spawn(*saved.library.find("routes"));
    const Route route{saved.array(ships->entity(0)), 1};
    saved.entities.destroy(ships->entities());
    saved.world.settle();
    saved.world.commands().create(route);
    EXPECT_EQ(load(other.world, state_of(saved.world)).message(),
              refusal(*saved.library.find("routes"), *other.library.find("routes")));

    const auto library_of = [](ResourceLibrary& library, const std::vector<std::vector<float>>& all) {
        return library.add(models(all)).value();
    };
    ResourceLibrary older, newer;
    EntityManager entities, others;
    World world(entities, {.library = &older}), loaded(others, {.library = &newer});
    const Blob* const before = library_of(older, {{1, 2}, {3}});
    const Blob* const after = library_of(newer, {{1, 4}, {3}});
    ASSERT_TRUE(world.spawn(*before).ok());
    loaded.model_poses();
    EXPECT_EQ(load(loaded, state_of(world)).message(), refusal(*before, *after, "model_pose.names"));
}

/// A copy of a state in which `change` has changed the first value of a part.
template <class T, class Change>
Snapshot with_other(const Snapshot& from, std::string_view path, Change&& change) {
    return shoal_test::with_part(from, path, [&](auto& bytes) { change(*reinterpret_cast<T*>(bytes.data())); });
}

TEST(SavedArrays, an_array_that_its_blob_does_not_have_is_refused_in_rows_commands_and_models) {
    Routes game(routes({{1, 2, 3}, {5}}, 1));
    const Entity ship = game.spawn();
    game.world.commands().create(Route{game.array(ship), 1});
    const Snapshot state = state_of(game.world);
    const std::uint64_t hash = state_hash(game.world);
    using Change = void (*)(BlobArrayBase&);
    const std::vector<std::pair<Change, bool>> changes = {
        {[](BlobArrayBase& array) { array.offset += sizeof(float), array.count = 2; }, true},  // a part of it
        {[](BlobArrayBase& array) { array.count = 0; }, true},
        {[](BlobArrayBase& array) { array.count = 4; }, false},
        {[](BlobArrayBase& array) { array.count = 0xFFFFFFFF; }, false},
        {[](BlobArrayBase& array) { array.offset += 2; }, false},
        {[](BlobArrayBase& array) { array.offset += 3 * sizeof(float), array.count = 1; }, false},
        {[](BlobArrayBase& array) { array.offset = 0; }, false},
        {[](BlobArrayBase& array) { array.offset = ~std::uint64_t(0) - 3; }, false},
        {[](BlobArrayBase& array) { array.offset = 1u << 20; }, false},
    };
    constexpr std::string_view kWhy = "\"route.depths\" refers to an array that the resource \"routes\" does not have";
    for (const auto& [change, is_right] : changes) {
        const Status row =
            load(game.world, with_other<BlobArrayBase>(state, "stores/route/rows/field/depths", change), false);
        EXPECT_EQ(row.message(), is_right ? "" : concat("the snapshot, part \"stores/route\": ", kWhy));
        const Status command =
            load(game.world, with_other<BlobArrayBase>(state, "commands/list/0/route/field/depths", change), false);
        EXPECT_EQ(command.ok(), is_right);
        EXPECT_NE(concat(command.message(), is_right ? kWhy : "").find(kWhy), std::string::npos) << command.message();
        ASSERT_TRUE(load(game.world, state, false).ok());
        EXPECT_EQ(state_hash(game.world), hash);
    }
    const auto elsewhere = [](BlobArrayBase& array) { array.resource = ResourceId("elsewhere"); };
    EXPECT_EQ(load(game.world, with_other<BlobArrayBase>(state, "stores/route/rows/field/depths", elsewhere), false)
                  .message(),
              "the snapshot, part \"stores/route\": \"route.depths\" refers to an array of a resource that is not "
              "loaded; load it through the world's library, WorldOptions::library, before the state");

    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    ASSERT_TRUE(world.spawn(*library.add(models({{1, 2}})).value()).ok());
    ASSERT_TRUE(library.add(routes({{1}}, 1)).ok());
    const Snapshot posed = state_of(world);
    ASSERT_TRUE(load(world, posed, false).ok());
    const auto change_model = [&](void (*change)(ModelPose&)) -> std::string {
        const Status status =
            load(world, with_other<ModelPose>(posed, "stores/model_pose/tree/0/source", change), false);
        return std::string(status.message());
    };
    constexpr std::string_view kModel =
        "the snapshot, part \"stores/model_pose/tree/0/source\": \"models\" does not have these arrays";
    EXPECT_EQ(change_model([](ModelPose& pose) { pose.parents.resource = ResourceId("routes"); }), kModel)
        << "nothing would pin it";
    EXPECT_EQ(change_model([](ModelPose& pose) { pose.positions.offset += 4; }), kModel);
}

// --- fields that come and go -------------------------------------------------------------------------------------

FieldDefinition field_of(std::string name, FieldType type) {
    FieldDefinition field;
    field.name = std::move(name);
    field.type = type;
    return field;
}

template <class T>
FieldDefinition field_of(std::string name, FieldType type, const T& otherwise) {
    FieldDefinition field = field_of(std::move(name), type);
    const auto* const bytes = reinterpret_cast<const std::byte*>(&otherwise);
    field.default_value.assign(bytes, bytes + sizeof otherwise);
    return field;
}

Schema schema_with(Array<FieldDefinition> fields, bool many = false, std::uint32_t version = 1) {
    ComponentDefinition definition;
    definition.name = "engine";
    definition.version = version;
    definition.many = many;
    definition.fields = std::move(fields);
    return Schema::make(std::move(definition)).value();
}

/// A blob in which entity i has an engine with these values: the bytes of the first field, then those of the second.
template <class... Ts>
Blob engines(const Schema& schema, const std::vector<std::tuple<std::uint32_t, Ts...>>& all,
             std::uint32_t num_entities) {
    BlobWriter writer;
    writer.set_name("engines");
    for (std::uint32_t i = 0; i < num_entities; ++i) writer.add_entity({.guid = i + 1});
    const std::uint32_t type = writer.add_component_type(schema).value();
    for (const auto& values : all) {
        std::vector<std::byte> image(schema.default_image().begin(), schema.default_image().end());
        std::size_t f = 0;
        std::apply(
            [&](std::uint32_t, const auto&... value) {
                (std::memcpy(image.data() + schema.fields()[f++].struct_offset, &value, sizeof value), ...);
            },
            values);
        writer.add_component(type, std::get<0>(values), image);
    }
    return Blob::load(*writer.write()).value();
}

struct ReloadSchema : ::testing::Test {
    shoal_test::LeakCheck leaks;
    EntityManager entities;
    World world{entities};
    Reloader reloader{world};
    const FieldDefinition power = field_of("power", FieldType::kFloat, 1.0f),
                          place = field_of("place", FieldType::kVec3), crew = field_of("crew", FieldType::kInt32, 5);

    Spawned spawned(const Blob& blob) {
        EXPECT_TRUE(world.adopt_schemas(blob).ok());
        Result<Spawned> result = world.spawn(blob, {.copies = 2});
        EXPECT_TRUE(result.ok()) << result.message();
        world.settle();
        return std::move(*result);
    }
    template <class T>
    T value(Entity entity, std::string_view name) {
        const Result<T> result = world.get<T>(entity, name);
        EXPECT_TRUE(result.ok()) << result.message();
        return result ? *result : T();
    }
};

TEST_F(ReloadSchema, a_field_that_comes_has_its_default_and_one_that_goes_is_gone_while_rows_stay) {
    using One = std::tuple<std::uint32_t, float, Vec3>;
    using Two = std::tuple<std::uint32_t, std::int32_t, float>;
    const Schema one = schema_with({power, place}), two = schema_with({crew, power});
    const Blob before = engines(one, std::vector<One>{{0, 2, {1, 2, 3}}, {1, 3, {}}}, 3);
    const Blob after = engines(two, std::vector<Two>{{0, 5, 2}, {1, 9, 4}, {2, 8, 6}}, 3);
    const Spawned ships = spawned(before);
    ASSERT_TRUE(world.set(ships.entity(0, 1), "engine.power", AnyValue(20.0f)).ok());
    Entity own;  // of the program
    ASSERT_TRUE(entities.create({&own, 1}).ok());
    ASSERT_TRUE(world.directory().find(one.id())->add_values(one, {&own, 1}, {}).ok());
    world.observers().keep_journal(1000);
    const std::uint64_t since = world.stamp();
    const Result<ReloadReport> report = reloader.reload(before, after);
    ASSERT_TRUE(report.ok()) << report.message();
    EXPECT_EQ(report->num_schemas, 1u);
    EXPECT_EQ(value<float>(ships.entity(0, 1), "engine.power"), 20) << "the source has not changed it";
    EXPECT_EQ(value<std::int32_t>(ships.entity(0, 1), "engine.crew"), 5);
    EXPECT_EQ(value<std::int32_t>(ships.entity(1), "engine.crew"), 9);
    EXPECT_EQ(value<float>(ships.entity(1), "engine.power"), 4);
    EXPECT_EQ(value<float>(ships.entity(2, 1), "engine.power"), 6);
    EXPECT_EQ(value<float>(own, "engine.power"), 1);
    EXPECT_EQ(value<std::int32_t>(own, "engine.crew"), 5);
    EXPECT_FALSE(world.get(own, "engine.place").ok());
    world.settle();
    for (const JournalEntry& entry : world.observers().journal(since).entries)
        EXPECT_NE(entry.kind, JournalEntry::Kind::kRemoved) << "nobody has lost an engine";
    ASSERT_TRUE(reloader.reload(after, before).ok()) << "and back";
    EXPECT_EQ(value<Vec3>(ships.entity(0), "engine.place"), (Vec3{1, 2, 3}));
    EXPECT_EQ(value<float>(ships.entity(0, 1), "engine.power"), 20);
    EXPECT_FALSE(world.directory().find(one.id())->find_row(one.id(), ships.entity(2), 0));
    entities.destroy({&own, 1});
    world.settle();
    EXPECT_EQ(world.directory().find(one.id())->tables()[0]->num_rows(), 4u);
}

TEST_F(ReloadSchema, what_is_written_behind_a_change_of_fields_carries_the_stamp_of_the_world) {
    const Schema one = schema_with({power}), two = schema_with({power, crew});
    spawned(engines(one, std::vector<std::tuple<std::uint32_t, float>>{{0, 2}}, 1));
    world.settle();
    const Result<SchemaChange*> change = begin_schema_change(world, two);
    ASSERT_TRUE(change.ok()) << change.message();
    end_schema_change(*change, true);
    Table& table = (*world.manager(two))->table();
    table.write_element(0, 0);
    EXPECT_EQ(table.written_stamp(0, 0), world.stamp());
}

TEST_F(ReloadSchema, a_store_that_was_replaced_keeps_no_rows_in_memory_and_no_deaths_in_the_list) {
    using One = std::tuple<std::uint32_t, float>;
    using Two = std::tuple<std::uint32_t, float, std::int32_t>;
    const Schema one = schema_with({power}), two = schema_with({power, crew});
    const Blob before = engines(one, std::vector<One>{{0, 2}}, 1);
    const Blob after = engines(two, std::vector<Two>{{0, 2, 5}}, 1);
    const Spawned ships = spawned(before);
    std::vector<Entity> own(50'000);
    ASSERT_TRUE(entities.create(own).ok());
    ASSERT_TRUE(world.directory().find(one.id())->add_values(one, own, {}).ok());
    const auto there_and_back = [&] {
        ASSERT_TRUE(reloader.reload(before, after).ok());
        world.settle();
        ASSERT_TRUE(reloader.reload(after, before).ok());
        world.settle();
    };
    there_and_back();
    const std::size_t in_use = world.pool().statistics().slab_used_bytes, list = entities.memory_use().used_bytes;
    for (int i = 0; i < 5; ++i) there_and_back();
    EXPECT_LE(world.pool().statistics().slab_used_bytes, in_use);
    for (int i = 0; i < 10; ++i) {
        entities.destroy(own);
        ASSERT_TRUE(entities.create(own).ok());
        world.settle();
    }
    EXPECT_LE(entities.memory_use().used_bytes, 2 * list) << "the list of deaths grows for a store that nobody settles";
}

TEST_F(ReloadSchema, values_are_converted_to_another_type_if_they_fit) {
    using Whole = std::tuple<std::uint32_t, std::int32_t>;
    using Broken = std::tuple<std::uint32_t, double>;
    const Schema one = schema_with({crew}), two = schema_with({field_of("crew", FieldType::kDouble)});
    const Blob before = engines(one, std::vector<Whole>{{0, 3}, {1, 4}}, 2);
    const Blob after = engines(two, std::vector<Broken>{{0, 3}, {1, 4.5}}, 2);
    const Spawned ships = spawned(before);
    ASSERT_TRUE(world.set(ships.entity(0), "engine.crew", AnyValue(30)).ok());
    ASSERT_TRUE(reloader.reload(before, after).ok());
    EXPECT_EQ(value<double>(ships.entity(0), "engine.crew"), 30);
    EXPECT_EQ(value<double>(ships.entity(1), "engine.crew"), 4.5);
    const std::uint64_t hash = state_hash(world);
    const Result<ReloadReport> report = reloader.reload(after, before);
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.message().find("cannot change the fields of \"engine\""), std::string_view::npos)
        << report.message();
    EXPECT_EQ(state_hash(world), hash);
    EXPECT_EQ(value<double>(ships.entity(1), "engine.crew"), 4.5);
}

TEST_F(ReloadSchema, migrations_say_what_became_of_a_field) {
    using One = std::tuple<std::uint32_t, float>;
    const Schema one = schema_with({power}), two = schema_with({field_of("thrust", FieldType::kFloat)}, false, 2);
    const Blob before = engines(one, std::vector<One>{{0, 3}}, 1), after = engines(two, std::vector<One>{{0, 3}}, 1);
    const Spawned ships = spawned(before);
    ASSERT_TRUE(world.set(ships.entity(0), "engine.power", AnyValue(30.0f)).ok());
    world.registry().migrations(two).from(1).rename("power", "thrust");
    const Result<ReloadReport> report = reloader.reload(before, after);
    ASSERT_TRUE(report.ok()) << report.message();
    EXPECT_EQ(value<float>(ships.entity(0), "engine.thrust"), 30);
}

TEST_F(ReloadSchema, of_several_values_of_an_entity_keeps_the_order) {
    using One = std::tuple<std::uint32_t, float>;
    const Schema one = schema_with({power}, true), two = schema_with({power, crew}, true);
    const Blob before = engines(one, std::vector<One>{{0, 1}, {0, 2}, {0, 3}}, 1);
    const Blob after = engines(two, std::vector<One>{{0, 1}, {0, 2}, {0, 4}}, 1);
    const ManagerOptions options{
        .index = RowIndexKind::kHash, .death = DeathPolicy::kRandomProbe, .max_collected = 77, .capacity_rows = 500};
    ASSERT_TRUE(world.manager(one, options).ok());
    const Spawned ships = spawned(before);
    ASSERT_TRUE(world.set(ships.entity(0), "engine[1].power", AnyValue(20.0f)).ok());
    const Entity own = *entities.create();  // of the program, so the source says nothing about the order of its values
    for (const float power_of_own : {7.0f, 8.0f, 9.0f})
        ASSERT_TRUE(world.directory()
                        .find(one.id())
                        ->add_values(one, {&own, 1}, {.images = reinterpret_cast<const std::byte*>(&power_of_own)})
                        .ok());
    ASSERT_TRUE(reloader.reload(before, after).ok());
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(value<float>(own, "engine[" + std::to_string(i) + "].power"), 9.0f - float(i));
    const OwnedRowsOptions& kept = world.directory().find_as<ComponentManager>(one.id())->rows().options();
    EXPECT_EQ(kept.index, options.index);
    EXPECT_EQ(kept.death, options.death);
    EXPECT_EQ(kept.max_collected, options.max_collected);
    EXPECT_EQ(kept.capacity_rows, options.capacity_rows);
    EXPECT_EQ(value<float>(ships.entity(0), "engine[0].power"), 1);
    EXPECT_EQ(value<float>(ships.entity(0), "engine[1].power"), 20);
    EXPECT_EQ(value<float>(ships.entity(0), "engine[2].power"), 4);
    EXPECT_EQ(value<std::int32_t>(ships.entity(0), "engine[2].crew"), 5);
}

// The fields take as many bytes as those of then, so nothing else would tell.
TEST_F(ReloadSchema, what_a_world_saved_in_memory_with_the_older_fields_is_refused_by_a_load) {
    using One = std::tuple<std::uint32_t, float>;
    const Schema one = schema_with({power}), two = schema_with({field_of("thrust", FieldType::kFloat)}, false, 2);
    const Blob before = engines(one, std::vector<One>{{0, 2}}, 1), after = engines(two, std::vector<One>{{0, 30}}, 1);
    const Spawned ships = spawned(before);
    const Snapshot state = state_of(world);
    world.registry().migrations(two).from(1).rename("power", "thrust");
    ASSERT_TRUE(reloader.reload(before, after).ok());
    const Status status = load(world, state);
    EXPECT_NE(status.message().find("it has \"engine\" with other fields than the world"), std::string_view::npos)
        << status.message();
    EXPECT_EQ(value<float>(ships.entity(0), "engine.thrust"), 30);
}

TEST_F(ReloadSchema, drops_and_logs_commands_that_wait_with_values_of_the_older_fields) {
    using One = std::tuple<std::uint32_t, float>;
    using Two = std::tuple<std::uint32_t, std::int32_t, float>;
    const Schema one = schema_with({power}), two = schema_with({crew, power});
    const Blob before = engines(one, std::vector<One>{{0, 2}}, 1), after = engines(two, std::vector<Two>{{0, 5, 2}}, 1);
    spawned(before);
    Entity given;
    ASSERT_TRUE(entities.create({&given, 1}).ok());
    const Schema& older = *world.directory().find(one.id())->schemas()[0];
    const float asked = 30;
    world.commands().add(given, older, reinterpret_cast<const std::byte*>(&asked));
    ASSERT_TRUE(reloader.reload(before, after).ok());
    std::vector<std::string> lines;
    {
        const shoal_test::Logged logged;
        world.settle();
        lines = logged.lines;
    }
    const std::vector<std::string> expected = {
        "commands to change 1 entities were dropped: the rows are of engine v1 {crew int32, power float}, not of "
        "engine "
        "v1 {power float}"};
    EXPECT_EQ(lines, expected);
    EXPECT_FALSE(world.directory().find(two.id())->find_row(two.id(), given, 0));
    EXPECT_TRUE(entities.alive(given));
}

TEST_F(ReloadSchema, that_is_refused_takes_back_what_it_has_made_among_new_component_types) {
    ComponentDefinition sail{.name = "sail", .fields = {field_of("area", FieldType::kFloat)}}, hatch = sail;
    hatch.name = "hatch";
    const Schema of_sail = Schema::make(sail).value(), of_hatch = Schema::make(hatch).value();
    const Schema one = schema_with({power}), two = schema_with({power, crew});
    const auto make = [&](const Schema& engine, float area, bool has_hatch) {
        BlobWriter writer;
        writer.set_name("engines");
        writer.add_entity({.guid = 1});
        writer.add_component(*writer.add_component_type(engine), 0, engine.default_image());
        writer.add_component(*writer.add_component_type(of_sail), 0, std::as_bytes(std::span(&area, 1)));
        if (has_hatch)
            writer.add_component(*writer.add_component_type(of_hatch), 0, std::as_bytes(std::span(&area, 1)));
        return Blob::load(*writer.write()).value();
    };
    ASSERT_TRUE(
        world.registry().set_spawn_function("sail", [](void*, const SpawnBatch&) { return Status(); }, nullptr).ok());
    const Blob before = make(one, 1, false), refused = make(two, 2, true), fine = make(two, 1, true);
    const Spawned ships = spawned(before);
    EXPECT_FALSE(reloader.reload(before, refused).ok()) << "a function took the sail";
    EXPECT_FALSE(world.get(ships.entity(0), "engine.crew").ok());
    EXPECT_EQ(value<float>(ships.entity(0), "engine.power"), 1);
    world.settle();
    ASSERT_TRUE(reloader.reload(before, fine).ok());
    EXPECT_EQ(value<std::int32_t>(ships.entity(0), "engine.crew"), 5);
    EXPECT_EQ(value<float>(ships.entity(0, 1), "hatch.area"), 1);
}

TEST_F(ReloadSchema, a_type_does_not_become_one_that_a_world_has_once) {
    const auto schema_of_weather = [&](bool singleton, Array<FieldDefinition> fields) {
        return Schema::make({.name = "engine", .singleton = singleton, .fields = std::move(fields)}).value();
    };
    using One = std::tuple<std::uint32_t, float>;
    const Schema many = schema_of_weather(false, {power}), singleton = schema_of_weather(true, {power, crew});
    const Blob before = engines(many, std::vector<One>{{0, 1}}, 1),
               after = engines(singleton, std::vector<One>{{0, 1}}, 1);
    spawned(before);
    EXPECT_EQ(reloader.reload(before, after).message(),
              "cannot reload \"engines\": \"engine\" is now something that a world has once; start the program again");
}

TEST_F(ReloadSchema, several_values_of_an_entity_do_not_become_one) {
    using One = std::tuple<std::uint32_t, float>;
    const Blob before = engines(schema_with({power}, true), std::vector<One>{{0, 1}, {0, 2}}, 1),
               after = engines(schema_with({power, crew}),
                               std::vector<std::tuple<std::uint32_t, float, std::int32_t>>{{0, 1, 2}}, 1);
    const Spawned ships = spawned(before);
    EXPECT_EQ(reloader.reload(before, after).message(),
              "cannot reload \"engines\": an entity could have several \"engine\", and now has one; start the program "
              "again");
    EXPECT_EQ(value<float>(ships.entity(0), "engine[1].power"), 2);
}

TEST_F(ReloadSchema, component_types_of_cpp_and_of_the_database_say_that_they_cannot_change) {
    using One = std::tuple<std::uint32_t, float>;
    const Schema one = schema_with({power}), two = schema_with({power, crew});
    const Blob before = engines(one, std::vector<One>{{0, 1}}, 1), after = engines(two, std::vector<One>{{0, 1}}, 1);
    ASSERT_TRUE(world.directory().claim(world.database(), one).ok());
    spawned(before);
    const std::uint64_t hash = state_hash(world);
    EXPECT_EQ(reloader.reload(before, after).message(),
              "cannot reload \"engines\": \"engine\" has other fields now, " + two.to_text() +
                  ", but the database of the running program cannot change them: only component types that come with a "
                  "schema alone, and have managers, can; start the program again");
    EXPECT_EQ(state_hash(world), hash);
}

// --- random ------------------------------------------------------------------------------------------------------

/// What the plainest program that follows the rule has for an entity of a copy.
struct Shadow {
    Entity entity;
    bool lives = true;
    std::optional<Hull> hull{};
    std::optional<Cargo> cargo{};
    std::optional<Vec3> place{};      // relative to the parent
    Entity parent{};                  // in the transforms
    std::vector<std::string> tags{};  // in order
    std::vector<Note> notes{};
    bool is_inactive = false;
};
using Copy = std::map<std::uint64_t, Shadow>;  // by GUID

/// Random versions of a source, random changes by the program, and both of them in a world and in shadows.
class RandomReload {
public:
    explicit RandomReload(bool has_notes_in_database) {
        if (has_notes_in_database)
            EXPECT_TRUE(world.directory().claim<Note>(world.database()).ok());
        else
            world.manager<Note>();
        EXPECT_TRUE(world.directory().claim<Cargo>(world.database()).ok());
        EXPECT_TRUE(entities.create({&dock, 1}).ok());
        EXPECT_TRUE(world.transforms().add({&dock, 1}, at(1000)).ok());
        world.manager<Hull>();
        world.manager<Label>();
        world.activity();
        source.push_back({.guid = 1, .anchor = 1});
        edit_source(source);
        blob.emplace(blob_of(source));
        spawn();
    }

    void run(std::int64_t num_steps) {
        for (std::int64_t i = 0; i < num_steps; ++i) {
            const std::uint32_t what = random.below(8);
            if (what == 0 && copies.size() < 4) spawn();
            if (what < 6)
                change_world();
            else
                reload();
            check();
            if (::testing::Test::HasFatalFailure()) return;
        }
    }

private:
    bool chance(std::uint32_t one_in) { return random.below(one_in) == 0; }
    float number() { return static_cast<float>(random.below(100)); }
    Vec3 vector() { return {number(), number(), number()}; }

    // --- the source ----------------------------------------------------------------------------------------------

    std::uint64_t any_guid(const Source& all) {
        return all.empty() || chance(3) ? 0 : all[random.below(std::uint32_t(all.size()))].guid;
    }

    Item new_item() {
        Item item{.guid = ++last_guid, .anchor = 1};
        edit(item);
        edit(item);
        edit(item);
        return item;
    }
    void edit(Item& item) {
        switch (random.below(9)) {
            case 0:
                item.hull = item.hull && chance(4) ? std::optional<Hull>() : Hull{number(), vector(), {}, 3};
                break;
            case 1:
                if (item.hull) item.hull->armor = number();
                break;
            case 2:
                if (item.hull) item.hull->size.y = number();
                break;
            case 3:
                item.cargo = item.cargo && chance(4) ? std::optional<Cargo>() : Cargo{number(), {1, 2, 3}, {}};
                break;
            case 4:
                if (item.cargo) item.cargo->boxes[random.below(3)] = static_cast<std::int16_t>(random.below(9));
                break;
            case 5:
                item.transform =
                    item.transform && chance(4) ? std::optional<Transform>() : Transform{vector(), {}, {1, 1, 1}};
                break;
            case 6:
                item.is_inactive = chance(2);
                break;
            case 7:
                edit_notes(item.notes);
                edit_notes(item.notes);
                break;
            default:
                edit_tags(item.tags);
                break;
        }
    }
    Note note() { return {std::int32_t(random.below(3)), std::int32_t(random.below(3))}; }
    std::ptrdiff_t place_in(const auto& list) { return std::ptrdiff_t(random.below(std::uint32_t(list.size()))); }
    void edit_notes(std::vector<Note>& notes) {
        const std::uint32_t what = random.below(5);
        if (notes.empty() || what == 0)
            notes.insert(notes.begin() + std::ptrdiff_t(random.below(std::uint32_t(notes.size() + 1))), note());
        else if (what == 1)
            notes.erase(notes.begin() + place_in(notes));
        else if (what == 2)
            std::swap(notes.front(), notes[std::size_t(place_in(notes))]);
        else if (what == 3)
            notes[std::size_t(place_in(notes))] = note();
        else
            notes[std::size_t(place_in(notes))].page = note().page;
    }
    void edit_tags(std::vector<std::string>& tags) {
        const std::string tag(1, static_cast<char>('a' + random.below(6)));
        const auto found = std::find(tags.begin(), tags.end(), tag);
        if (found != tags.end())
            tags.erase(found);
        else
            tags.insert(tags.begin() + std::ptrdiff_t(random.below(std::uint32_t(tags.size() + 1))), tag);
    }
    void edit_source(Source& edited) {
        while (edited.size() < 3 || chance(2)) edited.push_back(new_item());
        for (std::uint32_t i = random.below(4); i > 0; --i) edit(edited[random.below(std::uint32_t(edited.size()))]);
        const auto any = edited.begin() + std::ptrdiff_t(random.below(std::uint32_t(edited.size())));
        if (any->guid != 1 && (edited.size() > 6 || (edited.size() > 3 && chance(3)))) edited.erase(any);
        if (chance(3)) std::swap(edited[0], edited[random.below(std::uint32_t(edited.size()))]);
        for (std::size_t i = 0; i < edited.size(); ++i) {
            const auto is_there = [&](std::uint64_t guid, std::size_t end) {
                return std::any_of(edited.begin(), edited.begin() + std::ptrdiff_t(end),
                                   [&](const Item& item) { return item.guid == guid; });
            };
            Item& item = edited[i];
            if (chance(4) && i > 0) item.parent = edited[random.below(std::uint32_t(i))].guid;
            if (chance(8) || !is_there(item.parent, i)) item.parent = 0;
            if (chance(4)) item.target = any_guid(edited);
            if (chance(4)) item.owner = any_guid(edited);
            if (!is_there(item.target, edited.size())) item.target = 0;
            if (!is_there(item.owner, edited.size())) item.owner = 0;
        }
    }
    static const Item* find(const Source& all, std::uint64_t guid) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const Item& item) { return item.guid == guid; });
        return found == all.end() ? nullptr : &*found;
    }
    /// The nearest item above that has a transform; 0: none.
    static std::uint64_t above(const Source& all, const Item& item) {
        for (const Item* parent = find(all, item.parent); parent != nullptr; parent = find(all, parent->parent))
            if (parent->transform) return parent->guid;
        return 0;
    }

    // --- the shadows ---------------------------------------------------------------------------------------------

    static Entity reference(const Copy& copy, std::uint64_t guid) {
        const auto found = copy.find(guid);
        return found == copy.end() || !found->second.lives ? kNullEntity : found->second.entity;
    }
    Vec3 world_place(const Copy& copy, const Shadow& shadow) const {
        Vec3 place = *shadow.place;
        if (shadow.parent == dock) return place + Vec3{1000, 0, 0};
        for (const auto& [guid, other] : copy)
            if (shadow.parent && other.entity == shadow.parent) return place + world_place(copy, other);
        return place;
    }
    /// The children of one that loses its transform stay where they are.
    void free_children(Copy& copy, Entity parent) {
        std::vector<std::pair<Shadow*, Vec3>> freed;
        for (auto& [guid, child] : copy)
            if (child.lives && child.place && child.parent == parent)
                freed.push_back({&child, world_place(copy, child)});
        for (auto& [child, place] : freed) child->parent = {}, child->place = place;
    }
    void kill(Copy& copy, Shadow& shadow) {
        if (shadow.place) free_children(copy, shadow.entity);
        shadow.lives = false;
        shadow.place.reset();
    }
    Shadow first_shadow(const Copy& copy, const Item& item, Entity entity) {
        Shadow shadow{.entity = entity};
        shadow.hull = item.hull, shadow.cargo = item.cargo, shadow.is_inactive = item.is_inactive;
        if (shadow.hull) shadow.hull->target = reference(copy, item.target);
        if (shadow.cargo) shadow.cargo->owner = reference(copy, item.owner);
        if (item.transform) shadow.place = item.transform->position;
        shadow.tags = item.tags, shadow.notes = item.notes;
        return shadow;
    }

    void spawn() {
        const Result<Spawned> spawned = world.spawn(*blob);
        ASSERT_TRUE(spawned.ok()) << spawned.message();
        Copy& copy = copies.emplace_back();
        for (std::uint32_t i = 0; i < source.size(); ++i) copy[source[i].guid].entity = spawned->entity(i);
        for (const Item& item : source) {
            Shadow& shadow = copy[item.guid];
            shadow = first_shadow(copy, item, shadow.entity);
            if (shadow.place) shadow.parent = reference(copy, above(source, item));
        }
        world.settle();
    }

    void change_world() {
        Copy& copy = copies[random.below(std::uint32_t(copies.size()))];
        if (copy.empty()) return;
        auto& [guid, shadow] = *std::next(copy.begin(), random.below(std::uint32_t(copy.size())));
        if (!shadow.lives) return;
        const Entity entity = shadow.entity;
        auto& hulls = world.manager<Hull>();
        TagManager tags(world.manager<Tag>(), world.strings());
        switch (random.below(10)) {
            case 0:
                if (shadow.hull) hulls.set<&Hull::armor>(hulls.instance(entity), shadow.hull->armor = number());
                break;
            case 1:
                if (shadow.hull)
                    hulls.set<&Hull::level>(hulls.instance(entity),
                                            shadow.hull->level = 1 + std::int32_t(random.below(9)));
                break;
            case 2:
                if (shadow.hull) {
                    ASSERT_TRUE(world.set(entity, "hull.target", shadow.hull->target = dock).ok());
                }
                break;
            case 3:
                if (chance(2))
                    hulls.remove(entity), shadow.hull.reset();
                else
                    ASSERT_TRUE(hulls.add(entity, *(shadow.hull = Hull{number(), vector(), {}, 4})).ok());
                break;
            case 4:
                if (shadow.cargo) {
                    ASSERT_TRUE(world.set(entity, "cargo.mass", shadow.cargo->mass = number()).ok());
                }
                break;
            case 5:
                if (shadow.place) {
                    ASSERT_TRUE(world.set(entity, "transform.position", *(shadow.place = vector())).ok());
                }
                break;
            case 6:
                if (!shadow.place) break;
                ASSERT_TRUE(world.transforms()
                                .link(world.transforms().instance(entity), world.transforms().instance(dock))
                                .ok());
                shadow.parent = dock;
                break;
            case 7: {
                const std::string tag(1, static_cast<char>('a' + random.below(8)));
                if (std::erase(shadow.tags, tag) != 0) {
                    tags.remove_tag(entity, tag);
                } else {
                    shadow.tags.insert(shadow.tags.begin(), tag);
                    ASSERT_TRUE(tags.add_tag(entity, tag).ok());
                }
                break;
            }
            case 8:
                change_notes(entity, shadow.notes);
                break;
            default:
                if (!chance(3) || guid == 1) break;
                entities.destroy({&entity, 1});
                kill(copy, shadow);
                world.settle();
        }
    }

    void change_notes(Entity entity, std::vector<Note>& notes) {
        const std::uint32_t what = random.below(3);
        if (what == 0 || notes.empty()) {
            notes.insert(notes.begin(), note());
            Store& store = *world.directory().find(schema_of<Note>().id());
            const auto* const image = reinterpret_cast<const std::byte*>(&notes.front());
            ASSERT_TRUE(store.add_values(schema_of<Note>(), {&entity, 1}, {.images = image}).ok());
            return;
        }
        const auto index = std::uint32_t(place_in(notes));
        if (what == 1) {
            notes[index].page = note().page;
            const std::string path = "note[" + std::to_string(index) + "].page";
            ASSERT_TRUE(world.set(entity, path, notes[index].page).ok());
            return;
        }
        notes.erase(notes.begin() + std::ptrdiff_t(index));
        if (world.directory().find(schema_of<Note>().id()) == &world.database()) {
            ASSERT_TRUE(world.database().remove_value<Note>(entity, index).ok());
            return;
        }
        auto& manager = world.manager<Note>();
        Instance at = manager.instance(entity);
        for (std::uint32_t i = 0; i < index; ++i) at = manager.next(at);
        manager.remove(at);
    }

    // --- the rule ------------------------------------------------------------------------------------------------

    static void merge_note(Note& now, const Note& before, const Note& after) {
        merge(now.number, before.number, after.number);
        merge(now.page, before.page, after.page);
    }

    void reload() {
        Source edited = source;
        edit_source(edited);
        Blob newer = blob_of(edited);
        const Living before = living();
        const Result<ReloadReport> report = reloader.reload(*blob, newer);
        ASSERT_TRUE(report.ok()) << report.message();
        check_report(*report, before, living());
        std::erase_if(copies, [](const Copy& copy) {
            return std::none_of(copy.begin(), copy.end(), [](const auto& one) { return one.second.lives; });
        });
        ASSERT_EQ(report->num_copies, copies.size());
        for (Copy& copy : copies) reload(copy, edited);
        source = std::move(edited);
        blob = std::move(newer);
        world.settle();
        if (copies.empty()) spawn();
    }

    /// What each living entity has.
    using Living = std::map<EntityBits, std::map<std::string, std::vector<std::vector<std::byte>>>>;
    Living living() {
        Living all;
        for (const Copy& copy : copies)
            for (const auto& [guid, shadow] : copy)
                if (shadow.lives) all[shadow.entity.id];
        for (auto& [key, values] : state_of(world, entities)) all[key.first][key.second] = std::move(values);
        std::erase_if(all, [&](const auto& one) { return !entities.alive(Entity{one.first}); });
        return all;
    }
    /// What a report counts is what two states differ in. References to the dead, which are all alike, and poses, which may
    /// differ because a parent has gone, may count or not.
    void check_report(const ReloadReport& report, const Living& before, const Living& now) {
        ReloadReport differs;
        std::uint64_t num_surely_changed = 0;
        bool have_lists_changed = false;
        for (const auto& [id, values] : now) {
            const auto old = before.find(id);
            if (old == before.end()) {
                ++differs.num_created;
                continue;
            }
            std::set<std::string> names, sure;
            for (const auto* one : {&values, &old->second})
                for (const auto& [name, value] : *one) {
                    const bool is_in_both = values.contains(name) && old->second.contains(name);
                    if (is_in_both && values.at(name) == old->second.at(name)) continue;
                    names.insert(name);
                    if (!is_in_both ||
                        without_reference(name, values.at(name)[0]) != without_reference(name, old->second.at(name)[0]))
                        sure.insert(name);
                    if (is_in_both || name == "parent") continue;
                    ++(one == &values ? differs.num_components_added : differs.num_components_removed);
                }
            have_lists_changed |= names.contains("tag") || names.contains("note");
            differs.num_changed += !names.empty();
            sure.erase("transform"), sure.erase("parent");
            num_surely_changed += !sure.empty();
        }
        for (const auto& [id, values] : before) differs.num_destroyed += !now.contains(id);
        EXPECT_EQ(report.num_created, differs.num_created);
        EXPECT_EQ(report.num_destroyed, differs.num_destroyed);
        EXPECT_LE(report.num_changed, differs.num_changed);
        EXPECT_GE(report.num_changed, num_surely_changed);
        if (have_lists_changed) return;  // of which each value counts
        EXPECT_EQ(report.num_components_added, differs.num_components_added);
        EXPECT_EQ(report.num_components_removed, differs.num_components_removed);
    }
    /// The bytes of a value, as state_of() lists them, without the entity to which it refers.
    static std::vector<std::byte> without_reference(const std::string& name, std::vector<std::byte> value) {
        const std::size_t begin = name == "hull"    ? 1 + sizeof(float) + sizeof(Vec3)
                                  : name == "cargo" ? 1 + sizeof(double) + 3 * sizeof(std::int16_t)
                                                    : value.size();
        for (std::size_t i = begin; i < begin + sizeof(Entity) && i < value.size(); ++i) value[i] = std::byte();
        return value;
    }
    void reload(Copy& copy, const Source& edited) {
        make_new(copy, edited);
        for (const Item& after : edited)
            if (const Item* const before = find(source, after.guid); before != nullptr)
                if (Shadow& shadow = copy[after.guid]; shadow.lives) follow(copy, shadow, *before, after);
        link(copy, edited);
        for (const Item& after : edited) {
            Shadow& shadow = copy[after.guid];
            if (!shadow.lives || !shadow.place || after.transform) continue;
            free_children(copy, shadow.entity);
            shadow.place.reset(), shadow.parent = {};
        }
        for (auto& [guid, shadow] : copy)
            if (find(edited, guid) == nullptr && shadow.lives) kill(copy, shadow);
        std::erase_if(copy, [&](const auto& one) { return find(edited, one.first) == nullptr; });
    }

    void make_new(Copy& copy, const Source& edited) {
        std::vector<const Item*> news;
        for (const Item& after : edited) {
            if (find(source, after.guid) != nullptr) continue;
            news.push_back(&after);
            const Item* const parent = find(edited, after.parent);
            copy[after.guid].lives = parent == nullptr || copy[parent->guid].lives;
            if (copy[after.guid].lives) copy[after.guid].entity = find_new(copy.at(1).entity, after.guid);
        }
        for (const Item* item : news)
            if (Shadow& shadow = copy[item->guid]; shadow.lives) shadow = first_shadow(copy, *item, shadow.entity);
    }
    /// Only the world knows the ids of new entities; their labels say who they are.
    Entity find_new(Entity anchor, std::uint64_t guid) {
        const auto& labels = world.manager<Label>();
        for (const Entity entity : labels.core().table().entities())
            if (entities.alive(entity) && labels.get<&Label::guid>(labels.instance(entity)) == guid &&
                labels.get<&Label::anchor>(labels.instance(entity)) == anchor)
                return entity;
        ADD_FAILURE() << "no new entity has the label " << guid;
        return {};
    }

    void follow(Copy& copy, Shadow& now, const Item& before, const Item& after) {
        if (!after.hull && before.hull) now.hull.reset();
        if (after.hull && !before.hull) {
            now.hull = after.hull;
            now.hull->target = reference(copy, after.target);
        } else if (after.hull && now.hull) {
            merge(now.hull->armor, before.hull->armor, after.hull->armor);
            merge(now.hull->size, before.hull->size, after.hull->size);
            merge(now.hull->level, before.hull->level, after.hull->level);
            if (before.target != after.target) now.hull->target = reference(copy, after.target);
        }
        if (!after.cargo && before.cargo) now.cargo.reset();
        if (after.cargo && !before.cargo) {
            now.cargo = after.cargo;
            now.cargo->owner = reference(copy, after.owner);
        } else if (after.cargo && now.cargo) {
            merge(now.cargo->mass, before.cargo->mass, after.cargo->mass);
            merge(now.cargo->boxes, before.cargo->boxes, after.cargo->boxes);
            if (before.owner != after.owner) now.cargo->owner = reference(copy, after.owner);
        }
        if (after.transform && !before.transform)
            now.place = after.transform->position;
        else if (after.transform && now.place)
            merge(*now.place, before.transform->position, after.transform->position);
        merge(now.is_inactive, before.is_inactive, after.is_inactive);
        shoal_test::merge_list(now.tags, before.tags, after.tags, merge<std::string>, false);
        shoal_test::merge_list(now.notes, before.notes, after.notes, merge_note);
    }

    /// A link that would make a cycle, with one that was left out before, is left out.
    void link(Copy& copy, const Source& edited) {
        std::vector<std::tuple<Shadow*, Entity, Entity>> links;
        for (const Item& after : edited) {
            const Item* const before = find(source, after.guid);
            const std::uint64_t was = before != nullptr && before->transform ? above(source, *before) : 0;
            const std::uint64_t is = above(edited, after);
            Shadow& shadow = copy[after.guid];
            if (!shadow.lives || !after.transform || !shadow.place || was == is) continue;
            const bool has_parent = is == 0 || (copy[is].lives && copy[is].place);
            if (has_parent) links.emplace_back(&shadow, shadow.parent, reference(copy, is));
        }
        for (const auto& [shadow, was, is] : links) shadow->parent = {};
        for (const auto& [shadow, was, is] : links) shadow->parent = is_below(copy, is, shadow->entity) ? was : is;
    }
    static bool is_below(const Copy& copy, Entity entity, Entity ancestor) {
        for (const auto& [guid, shadow] : copy)
            if (entity && shadow.lives && shadow.entity == entity)
                return entity == ancestor || is_below(copy, shadow.parent, ancestor);
        return false;
    }

    // --- the comparison ------------------------------------------------------------------------------------------

    void check() {
        std::size_t num_hulls = 0;
        for (const Copy& copy : copies)
            for (const auto& [guid, shadow] : copy) {
                SCOPED_TRACE(guid);
                ASSERT_EQ(entities.alive(shadow.entity), shadow.lives);
                if (shadow.lives) check(shadow);
                num_hulls += shadow.lives && shadow.hull;
            }
        ASSERT_EQ(world.manager<Hull>().num_components(), num_hulls);
        ASSERT_TRUE(world.transforms().validate().ok());
        ASSERT_TRUE(world.activity().validate().ok());
    }
    void check(const Shadow& shadow) {
        const Entity entity = shadow.entity;
        const auto& hulls = world.manager<Hull>();
        const Instance at = hulls.instance(entity);
        ASSERT_EQ(bool(at), bool(shadow.hull));
        if (at) {
            ASSERT_EQ((Hull{hulls.get<&Hull::armor>(at), hulls.get<&Hull::size>(at), hulls.get<&Hull::target>(at),
                            hulls.get<&Hull::level>(at)}),
                      *shadow.hull);
        }
        const Result<double> mass = world.get<double>(entity, "cargo.mass");
        ASSERT_EQ(mass.ok(), bool(shadow.cargo)) << mass.message();
        if (mass) {
            ASSERT_EQ(*mass, shadow.cargo->mass);
            ASSERT_EQ((world.get<std::array<std::int16_t, 3>>(entity, "cargo.boxes").value()), shadow.cargo->boxes);
            ASSERT_EQ(world.get<Entity>(entity, "cargo.owner").value(), shadow.cargo->owner);
        }
        const TransformManager& transforms = world.transforms();
        ASSERT_EQ(transforms.has(entity), bool(shadow.place));
        if (shadow.place) {
            ASSERT_EQ(transforms.local(transforms.instance(entity)).position, *shadow.place);
            const Instance parent = transforms.parent(transforms.instance(entity));
            ASSERT_EQ(parent ? transforms.entity(parent) : kNullEntity, shadow.parent);
        }
        std::vector<std::string> tags;
        TagManager tagged(world.manager<Tag>(), world.strings());
        tagged.for_each_tag(entity, [&](StringId tag) { tags.emplace_back(tagged.text(tag)); });
        ASSERT_EQ(tags, shadow.tags);
        ASSERT_EQ(values_of<Note>(world, entity), shadow.notes);
        ASSERT_EQ(
            world.directory().find(schema_of<Inactive>().id())->find_row(schema_of<Inactive>().id(), entity, 0).table !=
                nullptr,
            shadow.is_inactive);
    }

    Random random{shoal_test::seed()};
    EntityManager entities;
    World world{entities};
    Reloader reloader{world};
    Entity dock;
    Source source;
    std::uint64_t last_guid = 1;
    std::optional<Blob> blob;
    std::vector<Copy> copies;
};

TEST(RandomReload, every_field_is_what_the_three_way_rule_says_and_ids_stay) {
    SCOPED_TRACE(shoal_test::seed_text());
    RandomReload model(false);
    model.run(shoal_test::scaled_operations(3'000));
}

TEST(RandomReload, the_same_holds_for_lists_in_the_database) {
    SCOPED_TRACE(shoal_test::seed_text());
    RandomReload model(true);
    model.run(shoal_test::scaled_operations(3'000));
}

}  // namespace reload_test

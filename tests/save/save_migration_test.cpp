// Saves that were made with older fields: what migrations say is done to every row, and everything else stays as it was.

#include "save/state_file.h"
#include "shoal/react/observers.h"
#include "shoal/react/relations.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/relation_index.h"
#include "shoal/world/entity_blob.h"

#include "support/changed_state.h"
#include "support/older_world.h"
#include "support/saved_zones.h"
#include "support/testing.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

// Only one test has keels, whose depth has another unit now, and one has places, which were berths.
namespace shoal_test::then {
struct Keel {
    float depth = 0;
};
SHOAL_COMPONENT(Keel, depth)
}  // namespace shoal_test::then
namespace shoal_test::now {
struct Keel {
    float depth = 0;
};
SHOAL_COMPONENT((Keel, version(2)), depth)
struct Place {
    std::uint32_t dock = 0;
};
SHOAL_COMPONENT(Place, dock)
}  // namespace shoal_test::now

namespace save_migration_test {

using namespace shoal;
using namespace shoal_test;

template <class T>
T value_of(const World& world, Entity entity, const char* path) {
    const Result<T> value = world.get<T>(entity, path);
    EXPECT_TRUE(value.ok()) << path << ": " << value.message();
    return value.ok() ? *value : T();
}

TEST(SaveMigration, every_row_of_an_older_save_becomes_what_the_migrations_say) {
    const LeakCheck leaks;
    Then saved(1);
    const StringId teak = saved.world.strings().intern("teak").value();
    const Array<std::byte> bytes = saved.bytes();
    Now loaded;
    const Status status = load(loaded.world, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(loaded.sea.validate().ok()) << loaded.sea.validate().message();
    World &before = saved.world, &after = loaded.world;
    EXPECT_EQ(before.frame(), after.frame());
    EXPECT_EQ(after.strings().text(teak), "teak");
    EXPECT_EQ(after.singleton<now::Wind>().velocity.y, 12);
    std::size_t num_checked = 0;
    for (const Entity entity : saved.all) {
        ASSERT_EQ(saved.entities.alive(entity), loaded.entities.alive(entity));
        if (!saved.entities.alive(entity)) continue;
        ++num_checked;
        const auto number = value_of<std::uint16_t>(before, entity, "hull.number");
        ASSERT_EQ(value_of<std::uint64_t>(after, entity, "hull.number"), number);
        EXPECT_EQ(value_of<float>(after, entity, "hull.armor"), 10 * value_of<float>(before, entity, "hull.armour"));
        const Vec2 size = value_of<Vec2>(before, entity, "hull.size");
        EXPECT_EQ(value_of<float>(after, entity, "hull.width"), size.x);
        EXPECT_EQ(value_of<float>(after, entity, "hull.length"), size.y);
        EXPECT_EQ(value_of<Vec3>(after, entity, "hull.place"), (Vec3{1, 2, 3}));
        const bool was_red = value_of<then::Paint>(before, entity, "hull.paint") == then::Paint::kRed;
        EXPECT_EQ(value_of<now::Paint>(after, entity, "hull.paint"), was_red ? now::Paint::kRed : now::Paint::kGrey);
        EXPECT_EQ(saved.sea.find(entity).table->zone(), loaded.sea.find(entity).table->zone());
        EXPECT_EQ(value_of<Vec3>(after, entity, "spot.position").x, float(number));
        ASSERT_EQ(loaded.sea.has<now::Mooring>(entity), number % 3 == 0);
        if (number % 3 == 0) {
            EXPECT_EQ(value_of<std::uint32_t>(after, entity, "mooring.dock"), number + 7u);
            EXPECT_EQ(value_of<float>(after, entity, "mooring.rope"), 4);
        }
        const ComponentRow signal = saved.sea.find_row(schema_of<then::Signal>().id(), entity, 0);
        const ComponentRow signal_now = loaded.sea.find_row(schema_of<now::Signal>().id(), entity, 0);
        ASSERT_EQ(bool(signal_now), bool(signal));
        EXPECT_EQ(signal_now.is_enabled, signal.is_enabled) << number;
        if (signal && signal.is_enabled) {
            EXPECT_EQ(value_of<std::uint8_t>(after, entity, "signal.flag"), std::uint8_t(number));
            EXPECT_EQ(value_of<float>(after, entity, "signal.since"), -1);
        }
        ASSERT_EQ(loaded.sea.has<Plankton>(entity), number % 5 == 0);
        if (number % 5 == 0) {
            EXPECT_EQ(value_of<std::uint64_t>(after, entity, "plankton.cells"), number);
        }
        ASSERT_EQ(after.manager<now::Sail>().instance(entity).row, before.manager<then::Sail>().instance(entity).row);
        if (number % 2 == 0) {
            EXPECT_EQ(value_of<float>(after, entity, "sail.area"), number + 100.0f);
        }
        if (number % 6 == 0) {
            EXPECT_EQ(value_of<Vec3>(after, entity, "fin.velocity").z, float(number));
        }
        auto& cargo = after.manager<now::Cargo>();
        std::uint32_t count = 0;
        for (Instance i = cargo.instance(entity); i; i = cargo.core().next(i), ++count) {
            EXPECT_TRUE(cargo.get<&now::Cargo::sealed>(i));
            EXPECT_EQ(cargo.get<&now::Cargo::crates>(i), number * 10u + number % 4u - 1 - count);
        }
        EXPECT_EQ(count, number % 4u);
        if (number % 3 != 0) {
            EXPECT_EQ(value_of<double>(after, entity, "logbook.depth"), number + number % 3 - 1);
        }
    }
    EXPECT_GT(num_checked, 2000u);
    after.step(0.1f);
    const Entity leader = saved.all[4];
    std::vector<Entity> followers_before, followers;
    for (const Entity follower : before.relations().referrers<&then::Follows::leader>(leader))
        followers_before.push_back(follower);
    for (const Entity follower : after.relations().referrers<&now::Follows::leader>(leader))
        followers.push_back(follower);
    std::sort(followers.begin(), followers.end()), std::sort(followers_before.begin(), followers_before.end());
    EXPECT_EQ(followers, followers_before);
    EXPECT_FALSE(followers.empty());
    for (const Entity follower : followers) {
        EXPECT_EQ(value_of<double>(after, follower, "follows.distance"),
                  double(value_of<std::uint64_t>(after, follower, "hull.number")));
    }
    for (int i = 0; i < 5; ++i) after.step(0.1f);
    ASSERT_TRUE(loaded.sea.validate().ok());
}

/// A folder for the files of zones, which goes.
struct ZonesFolder {
    explicit ZonesFolder(const char* name)
        : path((std::filesystem::temp_directory_path() / ("shoal_save_migration_" + std::to_string(getpid()) + name))
                   .string()) {
        std::filesystem::remove_all(path);
    }
    ~ZonesFolder() { std::filesystem::remove_all(path); }
    std::string path;
};

TEST(SaveMigration, the_files_of_unloaded_zones_become_what_the_same_rows_in_memory_become) {
    const LeakCheck leaks;
    const ZonesFolder then("then"), now("now");
    Then saved(8, 300);
    Now whole, away, streaming;
    const Array<std::byte> in_memory = saved.bytes();
    ASSERT_TRUE(saved.zones.start(then.path).ok());
    ASSERT_TRUE(saved.zones.unload(1).ok() && saved.zones.unload(2).ok());
    const Array<std::byte> in_files = saved.bytes();
    ASSERT_TRUE(streaming.zones.start(now.path).ok());
    ASSERT_TRUE(load(whole.world, in_memory).ok());
    Status status = load(away.world, in_files);
    ASSERT_TRUE(status.ok()) << status.message();
    status = load(streaming.world, in_files);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(streaming.zones.unloaded(), (ZoneSet{1, 2}));
    ASSERT_TRUE(streaming.zones.load_all().ok());
    for (Now* program : {&away, &streaming}) {
        ASSERT_TRUE(program->sea.validate().ok()) << program->sea.validate().message();
        ASSERT_EQ(program->sea.num_rows(), whole.sea.num_rows());
        for (const Entity entity : saved.all)
            ASSERT_EQ(text_of(program->world, entity), text_of(whole.world, entity)) << entity.index();
        for (const Entity entity : saved.all)
            ASSERT_TRUE(!whole.entities.alive(entity) ||
                        program->sea.find(entity).table->zone() == whole.sea.find(entity).table->zone());
    }
    Now again;
    ASSERT_TRUE(load(again.world, saved.bytes()).ok()) << "the save has not changed";
}

TEST(SaveMigration, the_files_of_unloaded_zones_name_a_type_as_it_is_called_now_also_when_its_fields_are_the_same) {
    const ZonesFolder of_then("called_then"), of_now("called_now");
    EntityManager saved_entities;
    World saved(saved_entities);
    ZoneStreaming saved_zones(saved);
    const Entity boat = *saved.database().create(Zone(1), Spot{{1, 2, 3}}, then::Berth{7});
    ASSERT_TRUE(saved_zones.start(of_then.path).ok() && saved_zones.unload(1).ok());
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved, bytes).ok());
    for (const bool streams : {false, true}) {
        EntityManager entities;
        World loaded(entities);
        ZoneStreaming zones(loaded);
        loaded.registry().migrations<now::Place>().renamed_from("berth");
        loaded.database().component<now::Place>();
        ASSERT_TRUE(!streams || zones.start(of_now.path).ok());
        Status status = load(loaded, bytes);
        ASSERT_TRUE(status.ok()) << status.message();
        if (streams) status = zones.load(1);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(value_of<std::uint32_t>(loaded, boat, "place.dock"), 7u);
        EXPECT_EQ(value_of<Vec3>(loaded, boat, "spot.position"), (Vec3{1, 2, 3}));
    }
}

TEST(SaveMigration, a_false_file_of_a_zone_of_an_older_program_is_refused_or_gives_a_world_that_works) {
    const ZonesFolder then("damaged");
    Then saved(9, 120);
    ASSERT_TRUE(saved.zones.start(then.path).ok());
    ASSERT_TRUE(saved.zones.unload(1).ok() && saved.zones.unload(2).ok());
    SerialExecutor serial;
    const Result<Snapshot> state = read_state(saved.bytes(), serial);
    ASSERT_TRUE(state.ok());
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    int num_refused = 0, num_taken = 0;
    for (std::int64_t i = 0, end = shoal_test::scaled_operations(200); i < end; ++i) {
        const Zone zone = 1 + random.below(2);
        const Snapshot damaged = with_file(*state, zone, damaged_copy(file_in(*state, zone), random));
        Now program;
        const Entity one = *program.entities.create();
        ASSERT_TRUE(program.sea.add(one, now::Hull{}).ok());
        const std::uint64_t before = state_hash(program.world);
        const Status status = load(program.world, damaged, false);
        ++(status ? num_taken : num_refused);
        if (!status) {
            ASSERT_EQ(state_hash(program.world), before) << status.message();
        }
        ASSERT_TRUE(program.sea.validate().ok()) << program.sea.validate().message();
        program.world.step(0.1f);
    }
    EXPECT_GT(num_refused, 0);
    EXPECT_GT(num_taken, 0);
}

TEST(SaveMigration, a_zone_is_converted_in_the_time_of_the_number_of_its_tables) {
    const ZonesFolder then("tables");
    Then saved(10, 30);
    ASSERT_TRUE(saved.zones.start(then.path).ok());
    ASSERT_TRUE(saved.zones.unload(1).ok());
    SerialExecutor serial;
    const Result<Snapshot> state = read_state(saved.bytes(), serial);
    ASSERT_TRUE(state.ok());
    std::uint32_t number = 0;
    ASSERT_TRUE(SnapshotReader(file_in(*state, 1)).value("num_tables", number).ok());
    const auto num_tables = static_cast<std::uint32_t>(scaled_operations(60'000));
    Snapshot large = with_part(file_in(*state, 1), "num_tables", [&](std::vector<std::byte>& bytes) {
        ASSERT_EQ(bytes.size(), sizeof num_tables);
        std::memcpy(bytes.data(), &num_tables, sizeof num_tables);
    });
    SnapshotWriter to(large);
    const std::uint64_t layout = schema_of<then::Berth>().layout_hash();
    for (; number < num_tables; ++number) {
        const std::string path = "table/" + std::to_string(number) + "/";
        to.text(path + "components", "berth\n");
        to.array(path + "layouts", std::span(&layout, 1));
        to.array(path + "owner", std::span<const Entity>());
        to.array(path + "berth/column/0", std::span<const std::uint32_t>());
    }
    Now program, expected;
    const Status status = load(program.world, with_file(*state, 1, large), false);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(load(expected.world, *state, false).ok());
    for (const Entity entity : saved.all)
        ASSERT_EQ(text_of(program.world, entity), text_of(expected.world, entity)) << entity.index();
}

TEST(SaveMigration, a_component_of_a_save_becomes_what_it_becomes_in_a_blob) {
    Then saved(2);
    Now loaded, spawned;
    ASSERT_TRUE(load(loaded.world, saved.bytes()).ok());
    for (Store* const store : saved.world.directory().stores())
        if (store != &saved.sea) store->drop(saved.all);  // those of the database have migrations of blobs, too
    const Result<EntityBlob> entity_blob = save_zones(saved.world, {0, 1, 2}, {.name = "zones"});
    ASSERT_TRUE(entity_blob.ok()) << entity_blob.message();
    const Result<Blob> blob = Blob::load(entity_blob->bytes);
    ASSERT_TRUE(blob.ok());
    const Result<Spawned> made = spawned.world.spawn(*blob);
    ASSERT_TRUE(made.ok()) << made.message();
    // By the number of the hull, which both have.
    const auto by_number = [](Now& program) {
        std::vector<std::string> found;
        program.world.query<Read<&now::Hull::number>>().for_each([&](Entity entity, std::uint64_t) {
            std::string text;
            for (const char* path :
                 {"hull.number", "hull.paint", "hull.armor", "hull.width", "hull.length", "hull.place", "mooring.dock",
                  "mooring.rope", "signal.flag", "signal.since", "logbook.depth", "spot.position", "plankton.cells"}) {
                const Result<AnyValue> value = program.world.get(entity, path);
                text += value ? value->to_text() + " " : "- ";
            }
            found.push_back(text);
        });
        std::sort(found.begin(), found.end());
        return found;
    };
    EXPECT_EQ(by_number(loaded), by_number(spawned));
    EXPECT_GT(by_number(loaded).size(), 2000u);
}

TEST(SaveMigration, a_save_that_no_migration_reaches_is_refused_with_both_schemas_and_the_world_stays) {
    const Array<std::byte> bytes = Then(3).bytes();
    const auto refusal = [&](ComponentDefinition definition) {
        EntityManager entities;
        World world(entities);
        const Result<ComponentManager*> manager = world.manager(Schema::make(std::move(definition)).value());
        const Entity one = *entities.create();
        EXPECT_TRUE((*manager)->add_images({&one, 1}, (*manager)->schema().default_image().data(), 0).ok());
        const std::uint64_t before = state_hash(world);
        const std::string message(load(world, bytes).message());
        EXPECT_EQ(state_hash(world), before);
        EXPECT_EQ(world.directory().stores().size(), 1u);
        return message;
    };
    const std::string start = "the snapshot, part \"types\": it has sail v1 {area float}, and this program has ";
    EXPECT_EQ(refusal({.name = "sail", .fields = {{.name = "height"}}}),
              start +
                  "sail v1 {height float}; no migration leads from one to the other: there is no field \"area\" in "
                  "version 1; say what became of it, or remove() it");
    EXPECT_EQ(
        refusal({.name = "sail", .singleton = true, .fields = {{.name = "area"}}}),
        start +
            "sail v1 whole {area float}; no migration leads from one to the other: it is now what a world has once");
    EXPECT_EQ(refusal({.name = "cargo", .fields = {{.name = "crates", .type = FieldType::kUint32}}}),
              "the snapshot, part \"types\": it has cargo v1 {crates uint32}, and this program has cargo v1 {crates "
              "uint32}; no migration leads from one to the other: an entity could have several then, and now has one; "
              "remove those beyond the first before");
}

TEST(SaveMigration, what_may_be_disabled_stays_so_or_is_refused_in_rows_and_in_commands_that_wait) {
    ComponentDefinition definition{.name = "signal", .version = 2};
    definition.fields = {{.name = "flag", .type = FieldType::kUint8}};
    const Schema plain = Schema::make(std::move(definition)).value();
    for (const bool in_commands : {false, true}) {
        EntityManager entities, others;
        World saved(entities), loaded(others);
        // What a store keeps is refused for its rows already, so only commands name the component then.
        if (!in_commands) saved.database().component<then::Signal>();
        const Entity one = *saved.database().create(Spot{});
        if (in_commands)
            saved.commands().add(one, Disabled{then::Signal{4}});
        else
            ASSERT_TRUE(saved.database().add(one, Disabled{then::Signal{4}}).ok());
        Array<std::byte> bytes{Owner("test")};
        ASSERT_TRUE(save(saved, bytes).ok());
        ASSERT_TRUE(loaded.database().add_component(plain).ok());
        const std::uint64_t before = state_hash(loaded);
        const std::string message(load(loaded, bytes).message());
        EXPECT_NE(message.find("it was enableable, and is not now"), std::string::npos) << message;
        EXPECT_EQ(state_hash(loaded), before);
    }
}

TEST(SaveMigration, what_could_not_be_disabled_is_enabled_where_it_can) {
    const auto lantern = [](bool enableable) {
        ComponentDefinition definition{.name = "lantern"};
        definition.enableable = enableable;
        definition.fields = {{.name = "oil", .type = FieldType::kUint8}};
        return Schema::make(std::move(definition)).value();
    };
    const Schema plain = lantern(false), enableable = lantern(true);
    EntityManager entities, others;
    World saved(entities), loaded(others);
    std::vector<Entity> all(70);  // more than one word of bits, of which the last is not full
    ASSERT_TRUE(entities.create(all));
    ASSERT_TRUE(saved.database().add_component(plain).ok());
    ASSERT_TRUE(saved.database().add_values(plain, all, {}).ok());
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved, bytes).ok());
    ASSERT_TRUE(loaded.database().add_component(enableable).ok());
    const Status status = load(loaded, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(loaded.database().validate().ok()) << loaded.database().validate().message();
    for (const Entity one : all) EXPECT_TRUE(loaded.database().find_row(enableable.id(), one, 0).is_enabled);
    ASSERT_TRUE(loaded.database().remove_values(enableable, {&all[69], 1}).ok());
    EXPECT_FALSE(loaded.database().find_row(enableable.id(), all[69], 0).is_enabled);
    EXPECT_TRUE(loaded.database().validate().ok());
}

TEST(SaveMigration, a_save_in_which_commands_wait_to_set_a_field_of_what_changed_is_refused) {
    Then saved(3);
    Now loaded;
    saved.world.commands().set<&then::Hull::number>(saved.all[0], 4);
    const Status status = load(loaded.world, saved.bytes());
    EXPECT_NE(status.message().find("commands wait to set a field of it; settle before saving"), std::string::npos)
        << status.message();
    saved.world.settle();
    EXPECT_TRUE(load(loaded.world, saved.bytes()).ok());
}

TEST(SaveMigration, a_save_of_a_newer_program_is_refused) {
    EntityManager entities, older_entities;
    World newer(entities), older(older_entities);
    newer.manager<now::Hull>(), older.manager<then::Hull>();
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(newer, bytes).ok());
    const Status status = load(older, bytes);
    EXPECT_NE(status.message().find("this program knows versions up to 1; update the program"), std::string::npos)
        << status.message();
}

TEST(SaveMigration, a_type_that_only_a_registry_knows_is_converted_to_what_it_says) {
    Then saved(4);
    EntityManager entities;
    World world(entities);
    say_what_changed(world.registry());
    const Status status = load(world, saved.bytes());
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(value_of<float>(world, saved.all[2], "sail.area"), 102);
    EXPECT_EQ(value_of<float>(world, saved.all[2], "hull.length"), 5);
    EXPECT_EQ(value_of<float>(world, saved.all[3], "mooring.rope"), 4);
    EXPECT_EQ(world.directory().find(schema_of<then::Berth>().id()), nullptr);
}

/// When a field of the first row was written last.
std::uint64_t stamp_of(World& world, const char* component, const char* field) {
    const Schema* schema = nullptr;
    Store& store = *world.directory().find(ComponentId(std::string_view(component)));
    for (const Table* table : store.tables())
        for (const Field& one : table->schema().fields()) {
            schema = &table->schema();
            if (one.name == std::string(component) + "." + field && table->num_rows() != 0)
                return table->written_stamp(one.first_column, 0);
        }
    ADD_FAILURE() << component << " has no rows; the last table is of " << (schema != nullptr ? schema->name() : "");
    return 0;
}

TEST(SaveMigration, columns_that_are_converted_count_as_written_when_the_world_was_saved) {
    Then saved(7, 50);
    Now loaded;
    ASSERT_TRUE(load(loaded.world, saved.bytes()).ok());
    const std::uint64_t then = stamp_of(saved.world, "spot", "position");
    ASSERT_GT(then, 0u);
    for (const char* field : {"number", "armor", "width", "place"})
        EXPECT_GT(stamp_of(loaded.world, "hull", field), then) << field;
    EXPECT_LE(stamp_of(loaded.world, "hull", "armor"), loaded.world.stamp());
    EXPECT_EQ(stamp_of(loaded.world, "spot", "position"), then) << "it was not converted";
}

/// The entities that a journal names, by component type.
std::map<ComponentId, std::vector<Entity>> named_in(const Journal& journal) {
    std::map<ComponentId, std::vector<Entity>> named;
    for (const JournalEntry& entry : journal.entries)
        for (const Entity entity : entry.entities) named[entry.component].push_back(entity);
    return named;
}

TEST(SaveMigration, a_journal_goes_on_unless_it_names_types_of_before_and_a_converted_value_has_not_changed) {
    SerialExecutor serial;
    EntityManager entities;
    World saved(entities);
    saved.manager<then::Berth>(), saved.manager<then::Keel>(), saved.manager<Spot>();
    saved.observers().on_change<&then::Keel::depth>([](std::span<const Entity>) {});
    saved.observers().keep_journal(100);
    std::vector<Entity> made(3);
    ASSERT_TRUE(entities.create(made).ok());
    const Entity early = made[0], late = made[2];
    ASSERT_TRUE(saved.manager<then::Berth>().add(early, {7}).ok());
    ASSERT_TRUE(saved.manager<then::Keel>().add(early, {1}).ok() && saved.manager<Spot>().add(early).ok());
    const std::uint64_t since = saved.stamp();
    saved.settle();
    const auto known = named_in(saved.observers().journal(since));
    ASSERT_EQ(known.size(), 3u);
    ASSERT_TRUE(saved.manager<then::Keel>().add(late, {2}).ok() && saved.manager<Spot>().add(late).ok());
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved, bytes).ok());
    const Result<Snapshot> state = read_state(bytes, serial);
    ASSERT_TRUE(state.ok()) << state.message();
    const Snapshot in_older_words = with_parts(*state, [](ChangedPart& part) {
        if (part.path.starts_with("observers/")) part.path = Snapshot::older_path(part.path);
        return true;
    });
    for (const Snapshot* from : {&*state, &in_older_words})
        for (const bool is_renamed : {false, true}) {
            EntityManager others;
            World loaded(others);
            loaded.registry().migrations<now::Keel>().from(1).convert("depth", [](float depth) { return 10 * depth; });
            if (is_renamed)
                loaded.registry().migrations<now::Mooring>().renamed_from("berth"), loaded.manager<now::Mooring>();
            else
                loaded.manager<then::Berth>();
            loaded.manager<now::Keel>(), loaded.manager<Spot>();
            std::size_t num_changed = 0;
            loaded.observers().on_change<&now::Keel::depth>(
                [&](std::span<const Entity> all) { num_changed += all.size(); });
            loaded.observers().keep_journal(100);
            const Status status = load(loaded, *from, false);
            ASSERT_TRUE(status.ok()) << status.message();
            ASSERT_EQ(value_of<float>(loaded, early, "keel.depth"), 10);
            const std::uint64_t then = loaded.stamp();
            EXPECT_EQ(loaded.observers().journal(since).is_complete, !is_renamed) << "it names a berth";
            EXPECT_EQ(named_in(loaded.observers().journal(since)), is_renamed ? decltype(known)() : known);
            loaded.settle();
            EXPECT_EQ(num_changed, 0u) << "it has another unit";
            ASSERT_TRUE(loaded.observers().journal(then).is_complete);
            decltype(named_in({})) expected;
            if (!is_renamed) expected[schema_of<Spot>().id()] = {late};
            EXPECT_EQ(named_in(loaded.observers().journal(then)), expected) << "keels and berths begin anew";
        }
}

TEST(SaveMigration, component_types_that_a_database_has_in_another_order_keep_the_stamps_of_their_columns) {
    EntityManager entities, other_entities;
    World saved(entities), loaded(other_entities);
    saved.database().component<Spot>(), saved.database().component<then::Hull>();
    loaded.database().component<then::Hull>(), loaded.database().component<Spot>();
    const Entity one = *saved.database().create(Spot{{1, 2, 3}}, then::Hull{});
    saved.step(0.1f);
    for (int i = 0; i < 3; ++i) {
        saved.step(0.1f);
        saved.database().set<&then::Hull::number>(saved.database().find(one), 9);
    }
    Snapshot state;
    ASSERT_TRUE(save(saved, state).ok());
    ASSERT_NE(stamp_of(saved, "hull", "number"), stamp_of(saved, "hull", "armour"));
    const Status status = load(loaded, state);
    ASSERT_TRUE(status.ok()) << status.message();
    for (const char* field : {"armour", "size", "number", "paint"})
        EXPECT_EQ(stamp_of(loaded, "hull", field), stamp_of(saved, "hull", field)) << field;
    EXPECT_EQ(stamp_of(loaded, "spot", "position"), stamp_of(saved, "spot", "position"));
    EXPECT_EQ(loaded.database().get<&then::Hull::number>(loaded.database().find(one)), 9);
}

TEST(SaveMigration, a_save_that_has_a_field_of_now_beside_those_of_then_is_refused) {
    SerialExecutor serial;
    const Result<Snapshot> older = read_state(Then(6, 20).bytes(), serial);
    ASSERT_TRUE(older.ok());
    const char* const added = "stores/database/table/0/field/hull.place.x";
    Snapshot both;
    SnapshotWriter to(both);
    for (std::size_t i = 0; i < older->num_parts(); ++i) {
        const SnapshotPart part = older->part(i);
        to.copy(part.path, *older, part);
    }
    to.text(added, "more");
    ASSERT_TRUE(to.status().ok()) << to.status().message();
    Now program;
    const std::uint64_t before = state_hash(program.world);
    EXPECT_EQ(load(program.world, both, false).message(),
              "two parts of the state are called \"stores/database/table/0/field/hull.place.x\"");
    EXPECT_EQ(state_hash(program.world), before);
}

TEST(SaveMigration, an_archetype_that_has_a_component_type_twice_is_refused) {
    SerialExecutor serial;
    const Result<Snapshot> older = read_state(Then(6, 20).bytes(), serial);
    ASSERT_TRUE(older.ok());
    const Snapshot twice = with_part(*older, "stores/database/archetypes", [](std::vector<std::byte>& bytes) {
        const std::uint32_t members[] = {2, 0, 0};  // an archetype, before the others
        const std::span<const std::byte> added = std::as_bytes(std::span(members));
        bytes.insert(bytes.begin(), added.begin(), added.end());
    });
    Now program;
    const std::uint64_t before = state_hash(program.world);
    EXPECT_EQ(load(program.world, twice, false).message(),
              "the snapshot, part \"stores/database/archetypes\": an archetype has a component type twice");
    EXPECT_EQ(state_hash(program.world), before);
}

TEST(SaveMigration, a_save_whose_rows_become_too_large_is_refused) {
    const Array<std::byte> bytes = Then(6, 3000).bytes();
    Now program;
    const Result<Snapshot> older = read_save(bytes, {});
    ASSERT_TRUE(older.ok());
    const Status status = load(program.world, bytes, {.max_bytes = older->num_bytes() + 1000});
    EXPECT_NE(status.message().find("if you trust its source, set LoadOptions::max_bytes"), std::string_view::npos)
        << status.message();
    EXPECT_TRUE(load(program.world, bytes, {.max_bytes = older->num_bytes() * 3}).ok());
}

TEST(SaveMigration, a_damaged_save_of_an_older_program_is_refused_or_gives_a_world_that_works) {
    SerialExecutor serial;
    const Result<Snapshot> state = read_state(Then(5).bytes(), serial);
    ASSERT_TRUE(state.ok());
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    int num_refused = 0;
    for (std::int64_t i = 0, end = shoal_test::scaled_operations(200); i < end; ++i) {
        const Snapshot damaged = damaged_copy(*state, random);
        Now program;
        const Entity one = *program.entities.create();
        ASSERT_TRUE(program.sea.add(one, now::Hull{}).ok());
        const std::uint64_t before = state_hash(program.world);
        const Status status = load(program.world, damaged, false);
        if (!status) {
            ++num_refused;
            ASSERT_EQ(state_hash(program.world), before) << status.message();
        }
        program.world.step(0.1f);
    }
    EXPECT_GT(num_refused, 0);
}

}  // namespace save_migration_test

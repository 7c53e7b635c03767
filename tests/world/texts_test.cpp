// Texts of names, tags, properties and other fields: kept while something has their ids, and then let go.

#include "shoal/components/debug_name.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/database/database.h"
#include "shoal/pose/model_pose.h"
#include "shoal/react/observers.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/frames.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace texts_test {
namespace {

using namespace shoal;

struct Sign {
    StringId text;
    StringId others[2];
};
SHOAL_COMPONENT(Sign, text, others)

struct Mark {
    std::uint32_t number = 0;
    StringId text;
};
SHOAL_COMPONENT((Mark, whole), number, text)

struct Line {
    StringId text;
};
SHOAL_COMPONENT((Line, many), text)

struct Load {  // has no text
    float tons = 0;
};
SHOAL_COMPONENT(Load, tons)

struct Song {
    BlobArray<StringId> words;
};
SHOAL_COMPONENT(Song, words)

struct Heard {
    StringId text;
};
struct HeardWords {
    std::uint32_t speaker;
    std::uint32_t words[2];  // a string, as properties have it
};

struct TextsTest : ::testing::Test {
    ResourceLibrary library;
    EntityManager entities;
    World world{entities, {.library = &library}};
    ZoneStreaming zones{world};
    DebugNameManager names{world.manager<DebugName>(), world.strings()};
    TagManager tags{world.manager<Tag>(), world.strings()};
    int num_made = 0;

    bool has(std::string_view text) const { return world.strings().text(StringId(text)) == text; }

    StringId keep(std::string_view text) { return *world.strings().intern_until_unused(text); }

    /// Lets the world collect: names many entities, destroys them, and settles until it has looked at its texts.
    void collect() {
        for (int round = 0; round < 2; ++round) {
            std::vector<Entity> passing(3000);
            EXPECT_TRUE(entities.create(passing));
            for (const Entity entity : passing)
                EXPECT_TRUE(names.set_name(entity, "passing " + std::to_string(num_made++)));
            entities.destroy(passing);
            world.settle();
        }
    }
};

/// Returns how many texts a world has that loads what this one saves.
std::size_t num_saved_texts(const World& world) {
    Array<std::byte> bytes{Owner("test")};
    EXPECT_TRUE(save(world, bytes));
    EntityManager entities;
    World other(entities);
    const Status loaded = load(other, bytes);
    EXPECT_TRUE(loaded.ok()) << loaded.message();
    return other.strings().size();
}

TEST_F(TextsTest, of_the_dead_are_let_go_so_that_memory_and_saves_are_bounded_by_what_lives) {
    const Entity lasting = *entities.create();
    ASSERT_TRUE(names.set_name(lasting, "lasting"));
    world.settle();
    const std::size_t bytes_before = bookkeeping_bytes();
    std::vector<Entity> passing(500);
    std::size_t most = 0, most_bytes = 0;
    for (int frame = 0; frame < 40; ++frame) {
        ASSERT_TRUE(entities.create(passing));
        for (const Entity entity : passing) {
            const std::string number = std::to_string(num_made++);
            ASSERT_TRUE(names.set_name(entity, "a rather long name of number " + number));
            ASSERT_TRUE(tags.add_tag(entity, "tag " + number));
            ASSERT_TRUE(world.properties().set(entity, "path " + number, "value " + number));
        }
        entities.destroy(passing);
        world.step(0.1f);
        most = std::max(most, world.strings().size());
        most_bytes = std::max(most_bytes, bookkeeping_bytes() - bytes_before);
    }
    EXPECT_LT(most, 5000u) << "of 80,000";
    EXPECT_LT(most_bytes, 2'000'000u) << "of more than 8 MB";
    EXPECT_EQ(num_saved_texts(world), 1u);
    EXPECT_EQ(names.name(lasting), "lasting");
}

TEST_F(TextsTest, of_many_that_die_at_once_are_let_go_though_no_text_comes) {
    std::vector<Entity> passing(5000);
    ASSERT_TRUE(entities.create(passing));
    for (const Entity entity : passing) ASSERT_TRUE(names.set_name(entity, "passing " + std::to_string(num_made++)));
    for (int i = 0; i < 130; ++i) world.settle();
    EXPECT_EQ(world.strings().size(), passing.size());
    entities.destroy(passing);
    world.settle();
    EXPECT_EQ(num_saved_texts(world), 0u) << "a save has only what is used, at any time";
    for (int i = 0; i < 65; ++i) world.settle();
    EXPECT_EQ(world.strings().size(), 0u);
}

TEST_F(TextsTest, are_kept_for_good_if_the_program_asks_for_it) {
    const StringId plain = *world.strings().intern("for good");
    keep("first until unused, then for good"), keep("until unused");
    ASSERT_TRUE(world.strings().intern("first until unused, then for good"));
    keep("for good");
    collect();
    EXPECT_EQ(world.strings().text(plain), "for good");
    EXPECT_TRUE(has("first until unused, then for good"));
    EXPECT_FALSE(has("until unused"));
}

TEST_F(TextsTest, stay_where_they_are_when_others_go) {
    const Entity entity = *entities.create();
    ASSERT_TRUE(names.set_name(entity, "here"));
    const char* const place = names.name(entity).data();
    collect();
    EXPECT_EQ(names.name(entity).data(), place);
}

TEST_F(TextsTest, are_kept_for_every_place_where_an_id_may_lie) {
    auto& signs = world.manager<Sign>();
    auto& database = world.database();
    database.component<Load>(), database.component<Mark>(), database.component<Line>();
    const Entity one = *entities.create(), two = *entities.create();
    ASSERT_TRUE(database.insert(two, Zone(3), Load{}, Mark{0, keep("in the database")}));
    ASSERT_TRUE(database.add(two, Line{keep("line 0")}).ok());
    ASSERT_TRUE(database.add(two, Line{keep("line 1")}).ok());
    ASSERT_TRUE(names.set_name(one, "name"));
    ASSERT_TRUE(tags.add_tag(one, "first tag"));
    ASSERT_TRUE(tags.add_tag(one, "second tag"));
    ASSERT_TRUE(signs.add(one, {keep("field"), {keep("array 0"), keep("array 1")}}).ok());
    ASSERT_TRUE(names.set_name(two, "another name"));
    ASSERT_TRUE(world.set(two, "debug_name.name", "by name"));
    const StringId nodes[] = {keep("node 0"), keep("node 1")};
    const std::uint32_t parents[] = {kNilRow, 0};
    const Vec3 positions[2] = {}, scales[] = {{1, 1, 1}, {1, 1, 1}};
    const Quaternion rotations[2] = {};
    ASSERT_TRUE(world.model_poses().add_node_tree({nodes, parents, positions, rotations, scales}));
    const std::vector<std::string> words = {"w0", "w1", "w2", "w3", "w4"};
    ASSERT_TRUE(world.properties().set_array(one, "path", words));
    collect();
    for (const char* text :
         {"in the database", "line 0", "line 1", "name", "first tag", "second tag", "field", "array 0", "array 1",
          "by name", "node 0", "node 1", "path", "w0", "w1", "w2", "w3", "w4"}) {
        EXPECT_TRUE(has(text)) << text;
    }
    EXPECT_LT(world.strings().size(), 4000u);
}

TEST_F(TextsTest, of_blobs_are_kept_with_their_arrays_data_and_defaults) {
    BlobWriter writer;
    writer.set_name("level");
    const StringId path = *writer.add_text("armor"), value = *writer.add_text("steel");
    const std::uint32_t words[] = {std::uint32_t(value.hash), std::uint32_t(value.hash >> 32)};
    const PropertyEntry entry{path, {PropertyType::kString, 1, 1}, words};
    Properties properties;
    const Array<std::uint32_t> table = make_property_table({&entry, 1});
    static_cast<BlobArrayBase&>(properties.values) =
        writer.add_array(FieldType::kUint32, std::as_bytes(std::span(table)));
    const std::uint32_t entity = writer.add_entity({});
    writer.add_component(*writer.add_component_type(schema_of<Properties>()), entity,
                         std::as_bytes(std::span(&properties, 1)));
    ASSERT_TRUE(writer.add_text("nowhere"));
    const Blob& blob = **library.load(*writer.write());
    const Entity tank = world.spawn(blob).value().entity(0);
    ASSERT_TRUE(has("nowhere"));
    FieldDefinition field{.name = "state", .type = FieldType::kStringId};
    const StringId standard = keep("idle");
    field.default_value.assign(reinterpret_cast<const std::byte*>(&standard),
                               reinterpret_cast<const std::byte*>(&standard + 1));
    const Result<Schema> schema = Schema::make({.name = "mind", .fields = {{.name = "calm"}, field}});
    ASSERT_TRUE(schema) << schema.message();
    ASSERT_TRUE(world.manager(*schema));
    collect();
    EXPECT_EQ(world.properties().text(tank, "armor"), "steel");
    EXPECT_TRUE(has("armor"));
    EXPECT_TRUE(has("idle")) << "a component may be added with its defaults";
    EXPECT_FALSE(has("nowhere"));
}

TEST_F(TextsTest, of_all_arrays_of_a_resource_are_kept) {
    BlobWriter writer;
    writer.set_name("songs");
    const std::uint32_t type = *writer.add_component_type(schema_of<Song>());
    for (const char* word : {"la", "lu"}) {
        const StringId id = *writer.add_text(word);
        Song song;
        static_cast<BlobArrayBase&>(song.words) =
            writer.add_array(FieldType::kStringId, std::as_bytes(std::span(&id, 1)));
        writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&song, 1)));
    }
    world.manager<Song>();
    ASSERT_TRUE(world.spawn(**library.load(*writer.write())).ok());
    collect();
    EXPECT_TRUE(has("la"));
    EXPECT_TRUE(has("lu"));
}

TEST_F(TextsTest, are_kept_for_events_and_for_commands_that_wait) {
    auto& signs = world.manager<Sign>();
    auto& heard = world.events<Heard>();
    auto& heard_words = world.events<HeardWords>();
    const Entity listener = *entities.create();
    world.properties();
    world.observers().on_add<DebugName>([&](std::span<const Entity>) {
        keep("in a property"), keep("as a value");
        world.commands().add(listener, Sign{keep("in a command"), {}}, PropertyValue("in a property", "as a value"));
    });
    world.schedule().add("tell", {writes(heard), writes(heard_words)}, [&](PassContext&) {
        heard.write({StringId("in an event")});
        const std::uint64_t words = StringId("in words").hash;
        heard_words.write({1, {std::uint32_t(words), std::uint32_t(words >> 32)}});
    });
    keep("in an event"), keep("in words");
    world.run_passes(0.1f);  // those of the next frame may read the event
    ASSERT_TRUE(names.set_name(listener, "listener"));
    collect();  // its first settle tells the observer, and its second carries out the command
    EXPECT_TRUE(signs.has(listener));
    EXPECT_TRUE(has("in a command"));
    EXPECT_EQ(world.properties().text(listener, "in a property"), "as a value");
    EXPECT_TRUE(has("in an event"));
    EXPECT_TRUE(has("in words"));
}

TEST_F(TextsTest, of_values_before_are_kept_until_observers_are_told) {
    auto& signs = world.manager<Sign>();
    const Entity entity = *entities.create();
    ASSERT_TRUE(signs.add(entity, {keep("a"), {keep("x"), {}}}).ok());
    std::vector<std::string> before;
    world.observers().on_change<&Sign::text>([&](std::span<const Entity>, std::span<const StringId> texts) {
        before.emplace_back(world.strings().text(texts[0]));
    });
    world.observers().on_remove<Sign>([&](std::span<const Entity>, std::span<const Sign> values) {
        for (const StringId id : {values[0].text, values[0].others[0]}) before.emplace_back(world.strings().text(id));
    });
    ASSERT_TRUE(world.set(entity, "sign.text", "b"));
    EXPECT_EQ(num_saved_texts(world), 3u);
    world.settle();
    world.observers().on_add<DebugName>([&](std::span<const Entity>) {  // it runs just before the world collects
        if (!signs.has(entity)) return;
        ASSERT_TRUE(world.set(entity, "sign.text", "c"));
        signs.remove(entity);
    });
    ASSERT_TRUE(names.set_name(*entities.create(), "listener"));
    collect();
    EXPECT_EQ(before, (std::vector<std::string>{"a", "b", "x"}));
    EXPECT_FALSE(has("a"));
    EXPECT_FALSE(has("c"));
}

/// A blob with one entity "sign", which has a name, or none.
std::vector<std::byte> sign_blob(bool has_name) {
    BlobWriter writer;
    writer.set_name("signs");
    const std::uint32_t entity = writer.add_entity({.guid = 1, .name = "sign"});
    const DebugName name{*writer.add_text("of the source")};
    if (has_name)
        writer.add_component(*writer.add_component_type(schema_of<DebugName>()), entity,
                             std::as_bytes(std::span(&name, 1)));
    return *writer.write();
}

struct OverriddenTexts : ::testing::Test {
    EntityManager entities;
    World world{entities};
    Reloader reloader{world};
    Blob named = Blob::load(sign_blob(true)).value(), bare = Blob::load(sign_blob(false)).value();
    StringId typed = *world.strings().intern_until_unused("typed");

    static void collect_in(World& in) {
        for (int round = 0; round < 2; ++round) {
            for (int i = 0; i < 3000; ++i) {
                ASSERT_TRUE(in.strings().intern_until_unused("passing " + std::to_string(3000 * round + i)));
            }
            in.settle();
        }
        ASSERT_LT(in.strings().size(), 100u);
    }
};

TEST_F(OverriddenTexts, come_back_with_what_a_reload_brings_back_also_from_a_save) {
    const Result<Spawned> spawned = world.spawn(
        named,
        {.copies = 2, .overrides = {{"sign", "debug_name.name", "a text", 0}, {"sign", "debug_name.name", typed, 1}}});
    ASSERT_TRUE(spawned) << spawned.status().message();
    const Entity first = spawned->entity(0, 0), second = spawned->entity(0, 1);
    ASSERT_TRUE(reloader.reload(named, bare));
    ASSERT_NO_FATAL_FAILURE(collect_in(world));
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(world, bytes));
    EntityManager other_entities;
    World other(other_entities);
    Reloader other_reloader(other);
    other.manager<DebugName>();
    const Status loaded = load(other, bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    for (World* const in : {&world, &other}) {
        ASSERT_NO_FATAL_FAILURE(collect_in(*in));
        ASSERT_TRUE((in == &world ? reloader : other_reloader).reload(bare, named));
        EXPECT_EQ(in->get(first, "debug_name.name")->to_text(&in->strings()), "\"a text\"");
        EXPECT_EQ(in->get(second, "debug_name.name")->to_text(&in->strings()), "\"typed\"");
    }
}

TEST_F(OverriddenTexts, of_spawns_that_wait_are_kept) {
    world.manager<DebugName>();
    world.observers().on_add<Tag>([&](std::span<const Entity>) {  // it runs just before the world collects
        for (const AnyValue& name : {AnyValue("plain"), AnyValue(typed)})
            world.commands().spawn(named, kNoZone, {{"sign", "debug_name.name", name}});
    });
    ASSERT_TRUE(world.manager<Tag>().add(*entities.create(), {}).ok());
    ASSERT_NO_FATAL_FAILURE(collect_in(world));
    EXPECT_EQ(world.strings().text(typed), "typed");
}

TEST_F(TextsTest, that_a_pass_sets_by_name_are_kept) {
    auto& signs = world.manager<Sign>();
    const Entity entity = *entities.create();
    ASSERT_TRUE(signs.add(entity, {}).ok());
    std::string refused;
    world.schedule().add("set", {writes(signs)}, [&](PassContext&) {
        ASSERT_TRUE(world.set(entity, "sign.text", "by name"));
        refused = world.set(entity, "sign.text", "\xFF").message();
    });
    world.step(0.1f);
    EXPECT_TRUE(has("by name"));
    EXPECT_EQ(refused, StringTable::check("\xFF").message());
    EXPECT_EQ(world.get(entity, "sign.text")->to_text(&world.strings()), "\"by name\"");
}

TEST_F(TextsTest, of_rows_in_the_files_of_unloaded_zones_come_back_with_them_also_from_a_save) {
    const std::string folder =
        (std::filesystem::temp_directory_path() / ("texts_" + std::to_string(getpid()))).string();
    auto& database = world.database();
    const Entity entity = *entities.create();
    ASSERT_TRUE(database.insert(entity, Zone(3), Mark{5, keep("far away")}));
    for (const char* text : {"farther", "farthest"})
        ASSERT_TRUE(database.insert(*entities.create(), Zone(3), Mark{6, keep(text)}));
    ASSERT_TRUE(zones.start(folder));
    ASSERT_TRUE(zones.unload(3));
    collect();
    ASSERT_TRUE(has("far away") && has("farther") && has("farthest"));
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(world, bytes));
    {
        EntityManager other_entities;
        World other(other_entities);
        ZoneStreaming other_zones(other);
        DebugNameManager other_names(other.manager<DebugName>(), other.strings());
        other.database().component<Mark>();
        ASSERT_TRUE(other_zones.start(folder + "_other"));
        const Status loaded = load(other, bytes);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        for (int round = 0; round < 2; ++round) {
            for (int i = 0; i < 3000; ++i)
                ASSERT_TRUE(other.strings().intern_until_unused("x " + std::to_string(num_made++)));
            other.settle();
        }
        EXPECT_LT(other.strings().size(), 3000u);
        ASSERT_TRUE(other_zones.load(3));
        EXPECT_EQ(other.get(entity, "mark.text")->to_text(&other.strings()), "\"far away\"");
    }
    ASSERT_TRUE(zones.load(3));
    EXPECT_EQ(world.get(entity, "mark.text")->to_text(&world.strings()), "\"far away\"");
    collect();
    EXPECT_TRUE(has("far away"));
    ASSERT_TRUE(zones.stop());
    std::filesystem::remove_all(folder), std::filesystem::remove_all(folder + "_other");
}

TEST_F(TextsTest, that_a_state_in_memory_needs_are_kept_as_long_as_it_lives) {
    const Entity entity = *entities.create();
    ASSERT_TRUE(names.set_name(entity, "Argo"));
    Snapshot state;
    ASSERT_TRUE(save(world, state));
    Snapshot moved = std::move(state);
    ASSERT_TRUE(names.set_name(entity, "Beagle"));
    collect(), collect();
    ASSERT_TRUE(load(world, moved));
    EXPECT_EQ(names.name(entity), "Argo");
    collect();
    EXPECT_EQ(names.name(entity), "Argo") << "it is used again";
    ASSERT_TRUE(names.set_name(entity, "Calypso"));
    collect();
    EXPECT_TRUE(has("Argo"));
    moved.clear();
    world.settle();
    EXPECT_FALSE(has("Argo")) << "no state needs it now";
    EXPECT_EQ(names.name(entity), "Calypso");
}

TEST_F(TextsTest, of_kept_frames_are_bounded_too) {
    Frames frames(world, 4);
    std::vector<Entity> passing(500);
    std::size_t most = 0;
    for (int frame = 0; frame < 40; ++frame) {
        ASSERT_TRUE(entities.create(passing));
        for (const Entity entity : passing)
            ASSERT_TRUE(names.set_name(entity, "passing " + std::to_string(num_made++)));
        world.step(0.1f);
        entities.destroy(passing);
        most = std::max(most, world.strings().size());
    }
    EXPECT_LT(most, 9000u) << "of 20,000";
}

/// Names, tags and values by entity, as a program without a string table would keep them.
struct Model {
    struct One {
        std::string name, sign;
        std::set<std::string> tags;
        std::map<std::string, std::string> properties;
    };
    std::map<Entity, One> all;
};

struct RandomTexts : TextsTest {
    Random random{shoal_test::seed()};
    Model model;

    std::string text() {
        return random.below(4) == 0 ? "often " + std::to_string(random.below(20))
                                    : "once " + std::to_string(num_made++);
    }

    void change(Entity entity, Model::One& one) {
        const std::string given = text();
        switch (random.below(6)) {
            case 0:
                ASSERT_TRUE(names.set_name(entity, one.name = random.below(4) == 0 ? "" : given));
                break;
            case 1:
                if (one.tags.size() < 3) {
                    ASSERT_TRUE(tags.add_tag(entity, given));
                    one.tags.insert(given);
                } else {
                    ASSERT_TRUE(tags.remove_tag(entity, *one.tags.begin()));
                    one.tags.erase(one.tags.begin());
                }
                break;
            case 2: {
                const std::string path = "path " + std::to_string(random.below(4));
                ASSERT_TRUE(world.properties().set(entity, path, one.properties[path] = given));
                break;
            }
            case 3:
                if (one.properties.empty()) break;
                ASSERT_TRUE(world.properties().reset(entity, one.properties.begin()->first));
                one.properties.erase(one.properties.begin());
                break;
            case 4:
                world.commands().name(entity, one.name = given);
                world.settle();
                break;
            default:
                ASSERT_TRUE(world.set(entity, "sign.text", one.sign = given));
        }
    }

    void expect_as_model(World& in) const {
        DebugNameManager names_in(in.manager<DebugName>(), in.strings());
        TagManager tags_in(in.manager<Tag>(), in.strings());
        for (const auto& [entity, one] : model.all) {
            ASSERT_EQ(names_in.name(entity), one.name);
            ASSERT_EQ(in.strings().text(*in.get(entity, "sign.text")->as<StringId>()), one.sign);
            std::set<std::string> found;
            tags_in.for_each_tag(entity, [&](StringId tag) { found.emplace(in.strings().text(tag)); });
            ASSERT_EQ(found, one.tags);
            std::map<std::string, std::string> properties;
            in.properties().for_each(entity, [&](StringId path, const PropertyView&) {
                properties[std::string(in.strings().text(path))] = in.properties().text(entity, path);
            });
            ASSERT_EQ(properties, one.properties);
        }
    }
};

TEST_F(RandomTexts, agree_with_a_model_that_keeps_them_apart) {
    SCOPED_TRACE(shoal_test::seed_text());
    auto& signs = world.manager<Sign>();
    world.properties();
    Snapshot kept;
    Model kept_model;
    for (int step = 0; step < 60; ++step) {
        while (model.all.size() < 40) {
            const Entity entity = *entities.create();
            ASSERT_TRUE(signs.add(entity, {}).ok());
            model.all[entity];
        }
        for (auto& [entity, one] : model.all)
            for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(change(entity, one));
        while (random.below(3) != 0 && model.all.size() > 1) {
            entities.destroy(model.all.begin()->first);
            model.all.erase(model.all.begin());
        }
        world.step(0.1f);
        if (step % 8 == 0) {
            kept.clear();
            ASSERT_TRUE(save(world, kept));
            kept_model = model;
        } else if (random.below(8) == 0) {
            ASSERT_TRUE(load(world, kept));
            model = kept_model;
        }
        ASSERT_NO_FATAL_FAILURE(expect_as_model(world)) << "step " << step;
    }
    EXPECT_LT(world.strings().size(), static_cast<std::size_t>(num_made) / 2) << "many texts were let go";
    Array<std::byte> bytes{Owner("test")}, again{Owner("test")};
    ASSERT_TRUE(save(world, bytes));
    EntityManager other_entities;
    World other(other_entities);
    other.manager<DebugName>(), other.manager<Tag>(), other.manager<Sign>(), other.properties();
    ASSERT_TRUE(load(other, bytes));
    ASSERT_NO_FATAL_FAILURE(expect_as_model(other));
    EXPECT_EQ(state_hash(other), state_hash(world));
    ASSERT_TRUE(save(other, again));
    EXPECT_TRUE(bytes == again) << "what is not used any more is in no save";
}

}  // namespace
}  // namespace texts_test

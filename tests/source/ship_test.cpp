// Entities in the short form: a mapping of component types to data, with structs, pairs, and files for components. The ship
// is one of our own, and one of a game's where it is at hand.

#include "shoal/base/file.h"
#include "shoal/resource/blob.h"
#include "shoal/world/world.h"
#include "support/source_fixture.h"

#include <cstring>
#include <vector>

using namespace shoal;
using shoal_test::SourceTest;

namespace {

const std::string kShips = SHOAL_SOURCE_DIR "/tests/samples/ships";
const std::string kShared = SHOAL_SOURCE_DIR "/../shared";

/// What a blob with one entity says.
struct OneEntity {
    explicit OneEntity(std::span<const std::byte> bytes) : blob(std::move(Blob::view(bytes)).value()) {}

    template <class T>
    T get(std::string_view component, std::string_view field) const {
        T result{};
        const BlobComponents* found = blob.find_components(ComponentId(component));
        const int index = found == nullptr ? -1 : found->schema->find_field(field);
        if (index < 0 || found->count() != 1) {
            ADD_FAILURE() << "there is no " << component << '.' << field;
            return result;
        }
        std::memcpy(&result, found->columns[found->schema->fields()[static_cast<std::size_t>(index)].first_column],
                    sizeof(T));
        return result;
    }
    template <class T>
    std::vector<T> list(std::string_view component, std::string_view field, FieldType type) const {
        const auto array = get<BlobArrayBase>(component, field);
        std::vector<T> values(array.count);
        if (array.count != 0) std::memcpy(values.data(), blob.array(array, type).data(), array.count * sizeof(T));
        return values;
    }
    std::size_t count(std::string_view component) const {
        const BlobComponents* found = blob.find_components(ComponentId(component));
        return found == nullptr ? 0 : found->count();
    }

    Blob blob;
};

class Ship : public SourceTest {
protected:
    void SetUp() override {
        ASSERT_TRUE(read_schema_file(kShips + "/ship.schema.yaml", registry, options.rules, diagnostics))
            << diagnostics.format();
        options.compose.roots = {"root"};
    }
    Result<CompiledSource> compile_text(const std::string& text) {
        file("root/ship.yaml", text);
        return compiled("root/ship.yaml");
    }
    /// Compiles a file of the disk, with the folder as root.
    Result<CompiledSource> compile_on_disk(const std::string& root, const std::string& path) {
        options.compose.files = nullptr;
        options.compose.roots = {root};
        return compiled(root + "/" + path);
    }
};

ResourceId resource(std::string_view name) { return ResourceId{StringId(name).hash}; }

/// Checks all nine components of the ship that the founding documents quote.
void expect_harpooner(const OneEntity& ship) {
    EXPECT_EQ(ship.get<ResourceId>("visual", "resource"), resource("visual/harpooner.yaml"));
    EXPECT_EQ(ship.get<float>("engine", "maxSpeed"), 250);
    EXPECT_EQ(ship.get<float>("engine", "acceleration"), 2500);
    EXPECT_EQ(ship.get<Vec2>("volume", "aabbox.min"), (Vec2{-25, 0}));
    EXPECT_EQ(ship.get<Vec2>("volume", "aabbox.max"), (Vec2{25, 30}));
    EXPECT_EQ(ship.list<std::uint8_t>("weapon", "slots", FieldType::kUint8), std::vector<std::uint8_t>{0});
    EXPECT_EQ(ship.list<ResourceId>("weapon", "resources", FieldType::kResourceId),
              std::vector<ResourceId>{resource("weapons/harpoonLauncher.yaml")});
    EXPECT_EQ(ship.count("collidable"), 1u);
    EXPECT_EQ(ship.get<std::uint16_t>("health", "points"), 55);
    EXPECT_EQ(ship.get<float>("warhead", "damage"), 45);
    EXPECT_FALSE(ship.get<bool>("warhead", "killsEntity"));
    EXPECT_EQ(ship.get<ResourceId>("dumbScript", "resource"), resource("dumbscripts/arrows.yaml"));
    EXPECT_FALSE(ship.get<bool>("dumbScript", "loops"));
    EXPECT_EQ(ship.get<std::uint32_t>("score", "exp"), 120u);
}

/// Returns the entity that the founding documents quote, byte for byte; empty when they are not at hand.
std::string quoted_ship() {
    const Result<std::string> slides = read_file(kShared + "/seeds/004_4eacb5ccda7d8e9b.txt");
    if (!slides) return {};
    std::size_t at = slides->find("Component entities - entity example");
    at = slides->find(".. code::\n\n", at) + 11;
    std::string text;
    while (slides->compare(at, 3, "   ") == 0) {
        const std::size_t end = slides->find('\n', at);
        text += slides->substr(at + 3, end + 1 - at - 3);
        at = end + 1;
    }
    return text;
}

TEST_F(Ship, the_entity_of_the_founding_documents_loads_as_it_is) {  // req: F4
    const std::string text = quoted_ship();
    if (text.empty()) GTEST_SKIP() << "skipped: there is no " << kShared;
    const Result<CompiledSource> ship = compile_text(text);
    ASSERT_TRUE(ship.ok()) << diagnostics.format();
    EXPECT_EQ(ship->num_entities, 1u);
    EXPECT_EQ(ship->num_components, 9u);
    EXPECT_EQ(diagnostics.format(), "");
    expect_harpooner(OneEntity(ship->blob));
}

TEST_F(Ship, the_ship_of_the_game_loads_as_it_is_and_keeps_what_no_schema_knows) {  // req: F4
    if (!is_directory(kShared + "/corpora/ice")) GTEST_SKIP() << "skipped: there is no " << kShared;
    const Result<CompiledSource> ship = compile_on_disk(kShared + "/corpora/ice", "ships/harpooner.yaml");
    ASSERT_TRUE(ship.ok()) << diagnostics.format();
    EXPECT_EQ(ship->num_components, 9u);
    EXPECT_EQ(ship->num_kept_components, 2u) << "spawner and sound";
    expect_harpooner(OneEntity(ship->blob));
}

TEST_F(SourceTest, files_that_a_ship_names_are_its_components_when_the_schema_says_so) {  // req: F4
    if (!is_directory(kShared + "/corpora/ice")) GTEST_SKIP() << "skipped: there is no " << kShared;
    schema(R"(
        unknown_components = keep  unknown_fields = keep
        components = {
            visual = { in_file = true  fields = { type = { type = enum values = [points lines] } } }
            deathTimeout = { fields = { seconds = float } }
        })");
    options.compose.files = nullptr;
    options.compose.roots = {kShared + "/corpora/ice"};
    const Result<CompiledSource> ship = compiled(kShared + "/corpora/ice/ships/harpooner.yaml");
    ASSERT_TRUE(ship.ok()) << diagnostics.format();
    EXPECT_EQ(OneEntity(ship->blob).get<std::uint32_t>("visual", "type"), 1u);
    EXPECT_EQ(ship->num_kept_fields, 1u) << "the vertices";
    EXPECT_EQ(ship->dependencies.back().name, "visual/harpooner.yaml");
}

TEST_F(Ship, every_file_of_the_game_is_read) {
    if (!is_directory(kShared + "/corpora/ice")) GTEST_SKIP() << "skipped: there is no " << kShared;
    const auto root_of = [&](const char* name, auto&& visit) {
        Result<std::string> text = read_file(kShared + "/corpora/ice/" + name);
        ASSERT_TRUE(text.ok());
        const Result<Document> document =
            read_document(diagnostics.add_file(name, std::move(text).value()), diagnostics);
        ASSERT_TRUE(document.ok()) << diagnostics.format();
        visit(document->root());
    };
    root_of("dumbscripts/arrows.yaml", [](Node script) {
        ASSERT_TRUE(script.is_list());
        EXPECT_EQ((*script[0].begin()).key(), "for 0.6");
        EXPECT_EQ(script[0].find("for 0.6").find("move-speed").as_double(), 0.15);
        EXPECT_TRUE(script[script.size() - 1].find("die").is_null());
    });
    root_of("visual/harpooner.yaml", [](Node visual) {
        EXPECT_EQ(visual.find("vertices")[0].find("color").as_string(), "rgba50FF9060");
        EXPECT_EQ(visual.find("vertices")[1].find("vertex")[0].as_double(), -25);
    });
    for (const char* name : {"explosions/deathBase.yaml", "explosions/spiralSmall.yaml", "levels/level1.yaml",
                             "projectiles/harpoon.yaml", "visual/harpoonCenter.yaml", "weapons/harpoonLauncher.yaml"})
        root_of(name, [](Node root) { EXPECT_TRUE(root.is_mapping()); });
}

TEST_F(Ship, a_ship_of_our_own_has_every_value_of_its_text) {  // req: F4
    const Result<CompiledSource> compiled_ship = compile_on_disk(kShips, "ships/cutter.yaml");
    ASSERT_TRUE(compiled_ship.ok()) << diagnostics.format();
    EXPECT_EQ(compiled_ship->num_components, 10u);
    EXPECT_EQ(compiled_ship->num_kept_components, 1u) << "sound";
    const OneEntity ship(compiled_ship->blob);
    EXPECT_EQ(ship.get<ResourceId>("visual", "resource"), resource("visual/cutter.yaml"));
    EXPECT_EQ(ship.get<float>("engine", "maxSpeed"), 120);
    EXPECT_EQ(ship.get<float>("engine", "acceleration"), 512);
    EXPECT_EQ(ship.get<Vec2>("volume", "aabbox.min"), (Vec2{-4, -1.5f}));
    EXPECT_EQ(ship.get<Vec2>("volume", "aabbox.max"), (Vec2{4, 1.5f}));
    EXPECT_EQ(ship.list<std::uint8_t>("weapon", "slots", FieldType::kUint8), (std::vector<std::uint8_t>{2, 0}))
        << "in the order of the text";
    EXPECT_EQ(ship.list<ResourceId>("weapon", "resources", FieldType::kResourceId),
              (std::vector<ResourceId>{resource("weapons/net.yaml"), resource("weapons/lantern.yaml")}));
    EXPECT_EQ(ship.count("collidable"), 1u);
    EXPECT_EQ(ship.get<std::uint16_t>("health", "points"), 35);
    EXPECT_EQ(ship.get<float>("warhead", "damage"), 12.5f);
    EXPECT_FALSE(ship.get<bool>("warhead", "killsEntity"));
    EXPECT_EQ(ship.get<ResourceId>("dumbScript", "resource"), resource("scripts/turns.yaml"));
    EXPECT_EQ(ship.get<std::uint32_t>("score", "exp"), 40u);
    EXPECT_EQ(ship.get<std::uint32_t>("outline", "type"), 1u);
    EXPECT_EQ(ship.list<StringId>("outline", "moves", FieldType::kStringId),
              (std::vector<StringId>{StringId("move"), StringId("line"), StringId("line"), StringId("move"),
                                     StringId("line")}));
    EXPECT_EQ(ship.list<Vec2>("outline", "vertices", FieldType::kVec2),
              (std::vector<Vec2>{{-4, 0}, {0, 1.5f}, {4, 0}, {0, 0}, {0, 6}}));
}

TEST_F(Ship, the_short_form_is_the_same_in_every_format) {
    const Result<CompiledSource> yaml = compile_text("health: 55\nvolume: {aabbox: {min: [1, 2]}}\ncollidable:\n");
    ASSERT_TRUE(yaml.ok()) << diagnostics.format();
    file("root/ship.sjson", "health = 55  volume = { aabbox.min = [1 2] }  collidable = null");
    file("root/ship.json", R"({"health": 55, "volume": {"aabbox": {"min": [1, 2]}}, "collidable": {}})");
    file("root/long.yml", "components:\n  health: 55\n  volume: {aabbox: {min: {x: 1, y: 2}}}\n  collidable: ~\n");
    const auto summary = [&](const char* path) {
        const Result<CompiledSource> source = compiled(path);
        EXPECT_TRUE(source.ok()) << diagnostics.format();
        const OneEntity ship(source->blob);
        const Vec2 least = ship.get<Vec2>("volume", "aabbox.min");
        return concat(source->num_components, ' ', ship.get<std::uint16_t>("health", "points"), ' ', least.x, ' ',
                      least.y);
    };
    for (const char* path : {"root/ship.yaml", "root/ship.sjson", "root/ship.json", "root/long.yml"})
        EXPECT_EQ(summary(path), "3 55 1 2") << path;
}

TEST_F(Ship, entities_of_a_level_can_be_short_and_prefabs_of_others) {
    file("root/cutter.yaml", "name: cutter\nhealth: 55\nengine: {maxSpeed: 3, acceleration: 4}\n");
    file("root/fleet.yaml",
         "entities:\n"
         "  a: {health: 5, name: first}\n"
         "  b:\n"
         "    prefab: cutter\n"
         "    modified_components: {engine: {maxSpeed: 9}}\n"
         "    children:\n"
         "      mate: {health: 1}\n");
    EXPECT_EQ(outline("root/fleet.yaml"),
              "a \"first\" health5\n"
              "b \"cutter\" health55 engine{maxSpeed=9 acceleration=4}\n"
              "b/mate health1\n");
    EXPECT_EQ(diagnostics.format(), "");
}

TEST_F(Ship, keys_of_a_short_component_are_all_fields) {
    schema("components = { buoy = { fields = { type = string_id  data = int32  id = int32 } } }");
    const Result<CompiledSource> source = compile_text("buoy: {type: red, data: 3, id: 4}\n");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    const OneEntity buoy(source->blob);
    EXPECT_EQ(buoy.get<StringId>("buoy", "type"), StringId("red"));
    EXPECT_EQ(buoy.get<std::int32_t>("buoy", "data"), 3);
    EXPECT_EQ(buoy.get<std::int32_t>("buoy", "id"), 4);
}

TEST_F(Ship, mistakes_in_the_short_form_are_told_with_their_place) {
    options.rules.keep_unknown_components = false;
    file("root/a.yaml",
         "helth: 55\nengine: {maxSped: 3}\nvolume: {aabbox: {mni: [1, 2]}, box: 1}\nscore: {exp: yes}\n");
    const std::string messages = errors("root/a.yaml");
    EXPECT_NE(messages.find("root/a.yaml:1:1: error: there is no component type \"helth\"; did you mean \"health\"?"),
              std::string::npos)
        << messages;
    EXPECT_NE(
        messages.find("a.yaml:2:10: error: component \"engine\" has no field \"maxSped\"; did you mean \"maxSpeed\"?"),
        std::string::npos)
        << messages;
    EXPECT_NE(messages.find(
                  "a.yaml:3:19: error: component \"volume\" has no field \"aabbox.mni\"; did you mean \"aabbox.min\"?"),
              std::string::npos)
        << messages;
    EXPECT_NE(messages.find("a.yaml:3:33: error: component \"volume\" has no field \"box\""), std::string::npos)
        << messages;
    EXPECT_NE(messages.find("a.yaml:4:14: error: component \"score\", field \"exp\": this is a string"),
              std::string::npos)
        << messages;
}

TEST_F(Ship, a_mistyped_key_of_the_long_form_is_not_taken_for_a_component) {
    file("root/a.yaml", "componets: {health: 55}\n");
    EXPECT_NE(errors("root/a.yaml").find("an entity has no key \"componets\"; did you mean `components`?"),
              std::string::npos)
        << diagnostics.format();
}

TEST_F(Ship, structs_merge_field_by_field_and_null_resets_them) {
    schema(R"(components = { hull = { fields = {
        box = { fields = { least = { type = vec2 default = [1 2] }  most = vec2
                           corner = { fields = { radius = { type = float default = 3 } } } } }
        target = { fields = { at = entity } } } } })");
    file("root/base.yaml", "hull: {box: {least: [5, 6], most: [7, 8], corner: {radius: 9}}}\n");
    file("root/a.yaml", "prefab: base\nmodified_components: {hull: {box: {most: {y: 0}}}}\n");
    const Result<CompiledSource> changed = compiled("root/a.yaml");
    ASSERT_TRUE(changed.ok()) << diagnostics.format();
    EXPECT_EQ(OneEntity(changed->blob).get<Vec2>("hull", "box.least"), (Vec2{5, 6}));
    EXPECT_EQ(OneEntity(changed->blob).get<Vec2>("hull", "box.most"), (Vec2{7, 0}));
    EXPECT_EQ(OneEntity(changed->blob).get<float>("hull", "box.corner.radius"), 9);
    file("root/b.yaml", "prefab: base\nmodified_components: {hull: {box: ~, target: {at: self}}}\n");
    const Result<CompiledSource> reset = compiled("root/b.yaml");
    ASSERT_TRUE(reset.ok()) << diagnostics.format();
    EXPECT_EQ(OneEntity(reset->blob).get<Vec2>("hull", "box.least"), (Vec2{1, 2}));
    EXPECT_EQ(OneEntity(reset->blob).get<float>("hull", "box.corner.radius"), 3);
    EXPECT_EQ(OneEntity(reset->blob).get<EntityBits>("hull", "target.at"), 0u)
        << "the number of the entity in the blob";
    file("root/d.yaml", "prefab: b\nmodified_components: {hull: {target: ~}}\n");
    const Result<CompiledSource> nobody = compiled("root/d.yaml");
    ASSERT_TRUE(nobody.ok()) << diagnostics.format();
    EXPECT_EQ(OneEntity(nobody->blob).get<EntityBits>("hull", "target.at"), static_cast<EntityBits>(~EntityBits(0)));
    file("root/c.yaml", "hull: {box: 3}\n");
    EXPECT_NE(errors("root/c.yaml")
                  .find("c.yaml:1:13: error: component \"hull\", field \"box\": this is an integer, but the "
                        "field has fields of its own; write a mapping of fields"),
              std::string::npos)
        << diagnostics.format();
}

TEST_F(Ship, unknown_fields_of_structs_are_kept_with_their_whole_name) {
    options.rules.keep_unknown_fields = true;
    const Result<CompiledSource> source = compile_text("volume: {aabbox: {min: [1, 2], hue: red}}\n");
    ASSERT_TRUE(source.ok());
    EXPECT_EQ(source->num_kept_fields, 1u);
    EXPECT_NE(diagnostics.format().find("kept 1 value of \"aabbox.hue\""), std::string::npos) << diagnostics.format();
}

TEST_F(Ship, pairs_are_a_mapping_or_a_list_and_nothing_else) {
    const Result<CompiledSource> named = compile_text("weapon: {resources: !!pairs [{1: a}, {1: b}]}\n");
    ASSERT_TRUE(named.ok()) << diagnostics.format();
    EXPECT_EQ(OneEntity(named->blob).list<std::uint8_t>("weapon", "slots", FieldType::kUint8),
              (std::vector<std::uint8_t>{1, 1}));
    const Result<CompiledSource> none = compile_text("weapon: {resources: }\n");
    ASSERT_TRUE(none.ok()) << diagnostics.format();
    EXPECT_TRUE(OneEntity(none->blob).list<std::uint8_t>("weapon", "slots", FieldType::kUint8).empty());
    file("root/a.yaml", "weapon: {resources: [a, b]}\n");
    EXPECT_NE(errors("root/a.yaml")
                  .find("a.yaml:1:21: error: component \"weapon\", field \"resources\": this is a list, but the "
                        "field is an array with keys; write a mapping"),
              std::string::npos)
        << diagnostics.format();
    file("root/b.yaml", "weapon: {300: a, x: b, 1: 3}\n");
    const std::string messages = errors("root/b.yaml");
    EXPECT_NE(
        messages.find("b.yaml:1:10: error: component \"weapon\", field \"slots\": the number does not fit a uint8"),
        std::string::npos)
        << messages;
    EXPECT_NE(messages.find("b.yaml:1:18: error: component \"weapon\", field \"slots\": this is a string"),
              std::string::npos)
        << messages;
    EXPECT_NE(messages.find("b.yaml:1:27: error: component \"weapon\", field \"resources\": this is an integer"),
              std::string::npos)
        << messages;
}

TEST_F(Ship, a_file_for_a_component_is_found_like_a_prefab_and_read_once) {
    file("root/outlines/box.yml", "type: lines\n");
    file("root/a.yaml",
         "entities:\n  a: {outline: outlines/box}\n  b: {outline: outlines/box}\n  c: {outline: {type: points}}\n");
    const std::size_t before = files.num_reads();
    const Result<CompiledSource> source = compiled("root/a.yaml");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    EXPECT_EQ(files.num_reads(), before + 2);
    std::string names;
    for (const SourceDependency& dependency : source->dependencies)
        if (dependency.kind == DependencyKind::kSource) append_text(names, concat(dependency.name, ' '));
    EXPECT_EQ(names, "a.yaml outlines/box.yml ");
    file("root/b.yaml", "outline: outlines/none\n");
    EXPECT_NE(errors("root/b.yaml")
                  .find("b.yaml:1:10: error: there is no file \"outlines/none\"; did you mean \"outlines/box\"?"),
              std::string::npos)
        << diagnostics.format();
    file("root/c.yaml", "outline: ../outlines\n");
    EXPECT_NE(errors("root/c.yaml")
                  .find("c.yaml:1:10: error: the file name \"../outlines\" cannot be used: it leaves the roots"),
              std::string::npos)
        << diagnostics.format();
    file("root/wrong.yaml", "type: circles\n");
    file("root/d.yaml", "outline: wrong\n");
    EXPECT_NE(errors("root/d.yaml").find("root/wrong.yaml:1:7: error: component \"outline\", field \"type\""),
              std::string::npos)
        << diagnostics.format();
}

TEST_F(Ship, a_schema_file_says_what_is_wrong_with_shorthands_keys_and_structs) {
    EXPECT_NE(schema_errors("components = { a = { fields = { x = { type = float shorthand = true } y = { type = float "
                            "shorthand = true } } } }")
                  .find("component \"a\", field \"y\": is a shorthand, and so is \"x\"; choose one of them"),
              std::string::npos)
        << diagnostics.format();
    EXPECT_NE(schema_errors("components = { b = { fields = { x = { type = blob_array of = float keys = z } } } }")
                  .find("field \"x\": its keys go to \"z\", which is no other field of the component; declare it"),
              std::string::npos)
        << diagnostics.format();
    EXPECT_NE(
        schema_errors("components = { c = { fields = { x = { type = blob_array of = float keys = y } y = float } } }")
            .find("field \"x\": its keys go to \"y\", which is no blob array of integers"),
        std::string::npos)
        << diagnostics.format();
    EXPECT_NE(schema_errors("components = { d = { fields = { x = { type = float keys = y } } } }")
                  .find("`keys` is for blob arrays"),
              std::string::npos)
        << diagnostics.format();
    EXPECT_NE(schema_errors("components = { e = { fields = { x = float  x.y = float } } }")
                  .find("field \"x.y\": lies inside of field \"x\"; rename one of them"),
              std::string::npos)
        << diagnostics.format();
    EXPECT_NE(schema_errors("components = { f = { fields = { x. = float } } }").find("is not a name"),
              std::string::npos)
        << diagnostics.format();
    EXPECT_NE(schema_errors("components = { g = { fields = { x = { unit = m fields = { y = float } } } } }")
                  .find("the struct \"x\" has no key \"unit\""),
              std::string::npos)
        << diagnostics.format();
}

TEST_F(Ship, a_schema_with_structs_shorthands_and_keys_is_written_and_read_again) {
    std::vector<SchemaDeclaration> declarations;
    for (const char* name : {"volume", "weapon", "dumbScript"}) declarations.push_back({registry.find(name)->schema});
    const Result<std::string> text = write_schema_text(declarations, PlainNames(nullptr));
    ASSERT_TRUE(text.ok()) << text.message();
    EXPECT_NE(text->find("keys = \"slots\""), std::string::npos) << *text;
    schema(*text);  // the same declarations are fine, different ones are an error
}

// --- C++ structs within structs ----------------------------------------------------------------------------------------

struct Rim {
    float width = 2;
};
SHOAL_COMPONENT(Rim, (width, unit("m")))
struct Bounds {
    Vec2 least{1, 2}, most;
    Rim rim;
};
SHOAL_COMPONENT(Bounds, (least, unit("m"), range(-10, 10)), (most, split), rim)
struct Raft {
    std::int32_t logs = 3;
    Bounds bounds;
    BlobArray<std::int32_t> slots;
    BlobArray<ResourceId> nets;
};
SHOAL_COMPONENT(Raft, (logs, shorthand), bounds, slots, (nets, keys("slots")))

TEST_F(Ship, a_struct_within_a_struct_is_described_field_by_field) {
    const Schema& schema = schema_of<Raft>();
    EXPECT_EQ(schema.to_text(),
              "raft v1 {logs int32, bounds.least vec2, bounds.most vec2 split, bounds.rim.width float, slots "
              "blob_array, nets "
              "blob_array}");
    const Field& least = schema.fields()[1];
    EXPECT_EQ(least.struct_offset, offsetof(Raft, bounds) + offsetof(Bounds, least));
    EXPECT_TRUE(least.has_range);
    EXPECT_EQ(least.unit, "m");
    EXPECT_TRUE(schema.fields()[0].shorthand);
    EXPECT_EQ(schema.fields()[5].keys, "slots");

    ASSERT_TRUE(registry.add<Raft>().ok());
    const Result<CompiledSource> source = compile_text("raft: {bounds: {most: [7, 8], rim: {width: 4}}}\n");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    EntityManager entities;
    World world(entities);
    auto& rafts = world.manager<Raft>();
    ResourceLibrary library;
    Entity raft;
    ASSERT_TRUE(entities.create({&raft, 1}).ok());
    ASSERT_TRUE(
        rafts.add(raft, Raft{.bounds = {.least = {5, 6}, .most = {}, .rim = {}}, .slots = {}, .nets = {}}).ok());
    EXPECT_EQ(OneEntity(source->blob).get<Vec2>("raft", "bounds.least"), (Vec2{1, 2})) << "the default of the struct";
    EXPECT_EQ(OneEntity(source->blob).get<float>("raft", "bounds.rim.width"), 4);

    constexpr auto kLeast = nested<&Raft::bounds, &Bounds::least>;
    constexpr auto kMost = nested<&Raft::bounds, &Bounds::most>;
    constexpr auto kWidth = nested<&Raft::bounds, nested<&Bounds::rim, &Rim::width>>;
    const auto at = rafts.instance(raft);
    EXPECT_EQ((rafts.get<kLeast>(at)), (Vec2{5, 6}));
    EXPECT_EQ((rafts.get<kWidth>(at)), 2);
    world.schedule().add("grow", query<Write<kMost>, Read<kLeast>>(rafts),
                         [](auto&& most, Vec2 least) { most = least; });
    world.step(0.1f);
    EXPECT_EQ(world.get<float>(raft, "raft.bounds.most.y").value(), 6);
    ASSERT_TRUE(world.set(raft, "raft.bounds.rim.width", 9.0f).ok());
    EXPECT_EQ((rafts.get<kWidth>(at)), 9);
    const Raft copy = rafts.get<all_fields<Raft>>(at);
    EXPECT_EQ(copy.bounds.most, (Vec2{5, 6}));
    EXPECT_EQ(copy.bounds.rim.width, 9);
}

TEST_F(Ship, a_field_that_is_given_in_a_struct_and_by_its_path_is_an_error) {
    const std::string text = "volume: {aabbox.min: [1, 2], aabbox: {min: [3, 4]}}\n";
    EXPECT_FALSE(compile_text(text).ok());
    EXPECT_NE(diagnostics.format().find(
                  "1:39: error: component \"volume\" is given the field \"aabbox.min\" twice; remove one of them"),
              std::string::npos)
        << diagnostics.format();
}

struct Hold {
    BlobArray<std::int32_t> slots;
    BlobArray<float> loads;
};
SHOAL_COMPONENT(Hold, slots, (loads, keys("slots"), shorthand))
struct Barge {
    std::int32_t crew = 3;
    Hold fore, aft;
};
SHOAL_COMPONENT(Barge, (crew, shorthand), fore, aft)

TEST_F(Ship, keys_and_the_shorthand_of_a_struct_are_its_own_wherever_it_lies) {
    const Schema& schema = schema_of<Barge>();
    EXPECT_EQ(schema.fields()[4].name, "aft.loads");
    EXPECT_EQ(schema.fields()[4].keys, "aft.slots");
    EXPECT_TRUE(schema.fields()[0].shorthand);
    EXPECT_FALSE(schema.fields()[4].shorthand) << "it is that of a hold alone";
    ASSERT_TRUE(registry.add<Barge>().ok());
    const Result<CompiledSource> source = compile_text("barge: {aft: {loads: {7: 1.5, 9: 2.5}}}\n");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    const Blob blob = Blob::load(source->blob).value();
    const auto slots = OneEntity(source->blob).get<BlobArrayBase>("barge", "aft.slots");
    EXPECT_EQ(slots.count, 2u);
    std::int32_t first = 0;
    std::memcpy(&first, blob.array(slots, FieldType::kInt32).data(), sizeof first);
    EXPECT_EQ(first, 7);
    EXPECT_EQ(OneEntity(source->blob).get<BlobArrayBase>("barge", "fore.slots").count, 0u);
}

}  // namespace

#include "support/source_fixture.h"

#include "shoal/base/file.h"
#include "shoal/base/random.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/resource/blob.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <vector>

namespace shoal_test {
namespace {

class Compiler : public SourceTest {
protected:
    void SetUp() override {
        schema(R"(components = {
            transform = { fields = { position = vec3  rotation = quaternion  scale = { type = vec3 default = [1 1
                1] } } }
            glow = { spawn_order = 2 fields = { power = { type = float range = [0 10] default = 1 }  hue = int8
                     mode = { type = enum values = [soft hard] }  mesh = resource_id  tag = string_id
                     label = { type = fixed_string capacity = 6 }  lit = bool  knots = { type = float array = 3 }
                     weight = { type = double range = [0 10] }  count = int64 } }
            link = { spawn_order = -1 fields = { to = entity  both = { type = entity array = 2 } } }
            sound = { many = true fields = { volume = float } }
            path = { fields = { points = { type = blob_array of = vec3 }  frame = matrix } }
        })");
    }

    Blob blob(const std::string& path) {
        const Result<CompiledSource> source = compiled(path);
        EXPECT_TRUE(source.ok()) << source.message() << diagnostics.format();
        Result<Blob> result = Blob::load(source->blob);
        EXPECT_TRUE(result.ok()) << result.message();
        return std::move(result).value();
    }
    template <class T>
    static T value(const Blob& blob, std::string_view component, std::string_view field, std::size_t row = 0) {
        const BlobComponents* found = blob.find_components(ComponentId(component));
        const Field& f = found->schema->fields()[static_cast<std::size_t>(found->schema->find_field(field))];
        T result;
        std::memcpy(&result, found->columns[f.first_column] + row * f.size, sizeof(T));
        return result;
    }
};

TEST_F(Compiler, every_field_type_comes_out_as_written) {  // req: D26 D4
    file("a/x.sjson", R"(
        _guid = "g" name = "Lamp"
        components = {
            transform = { position = [1 -2.5 3e2]  rotation = [0 0 1 0] }
            glow = { power = 3 hue = -5 mode = "hard" mesh = "lamps/a" tag = "warm" label = "abcde" lit = true
                knots = [1 2 3] weight = 10 count = 9007199254740992.0 }
            path = { points = [[1 2 3] [4 5 6]] frame = [1 0 0 7  0 1 0 8  0 0 1 9] }
        })");
    const Blob x = blob("a/x.sjson");
    EXPECT_EQ(x.name(), "x");
    EXPECT_EQ(value<double>(x, "glow", "weight"), 10) << "the greatest of its range";
    EXPECT_EQ(value<std::int64_t>(x, "glow", "count"), 9007199254740992) << "the greatest that a double counts to";
    EXPECT_EQ(x.num_entities(), 1u);
    EXPECT_EQ(x.entity_name(0), "Lamp");
    EXPECT_EQ(x.guid(0), hash_text("g"));
    EXPECT_EQ(x.source_file(0), "x.sjson");
    EXPECT_EQ(value<Vec3>(x, "transform", "position"), (Vec3{1, -2.5f, 300}));
    EXPECT_EQ(value<Quaternion>(x, "transform", "rotation"), (Quaternion{0, 0, 1, 0}));
    EXPECT_EQ(value<Vec3>(x, "transform", "scale"), (Vec3{1, 1, 1})) << "the default";
    EXPECT_EQ(value<float>(x, "glow", "power"), 3);
    EXPECT_EQ(value<std::int8_t>(x, "glow", "hue"), -5);
    EXPECT_EQ(value<std::uint32_t>(x, "glow", "mode"), 1u);
    EXPECT_EQ(value<ResourceId>(x, "glow", "mesh"), ResourceId("lamps/a"));
    EXPECT_EQ(value<StringId>(x, "glow", "tag"), StringId("warm"));
    EXPECT_EQ(x.text(StringId("warm")), "warm");
    EXPECT_EQ(value<FixedString<6>>(x, "glow", "label").view(), "abcde");
    EXPECT_EQ((value<std::array<float, 3>>(x, "glow", "knots")), (std::array<float, 3>{1, 2, 3}));
    EXPECT_EQ(value<Matrix3x4>(x, "path", "frame").row[2], (Vec4{0, 0, 1, 9}));
    const auto points = value<BlobArrayBase>(x, "path", "points");
    ASSERT_EQ(points.count, 2u);
    Vec3 second;
    std::memcpy(&second, x.array(points, FieldType::kVec3).data() + sizeof(Vec3), sizeof second);
    EXPECT_EQ(second, (Vec3{4, 5, 6}));
}

TEST_F(Compiler, component_types_lie_in_spawn_order_then_by_name) {  // req: D27
    file("x.sjson", "components = { transform = {} glow = {} sound = {} path = {} link = {} }");
    std::string order;
    const Result<CompiledSource> source = compiled("x.sjson");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    for (const ComponentCount& component : source->components) append_text(order, component.name + " ");
    EXPECT_EQ(order, "link path sound transform glow ");
}

TEST_F(Compiler, overrides_change_only_what_they_name) {  // req: G1 D4
    file("lamp.sjson",
         "components = { transform = { position = [1 2 3] scale = [2 2 2] } glow = { power = 5 hue = 4 knots = [1 2 3] "
         "} }");
    file("x.sjson", R"(entities = {
        a = { prefab = "lamp" }
        b = { prefab = "lamp" modified_components = { transform = { position = { y = 9 } } glow = { hue = 1 } } }
        c = { prefab = "lamp" modified_components = { glow = { power = null knots = null } } }
        d = { prefab = "lamp" }
    })");
    const Blob x = blob("x.sjson");
    EXPECT_EQ(value<Vec3>(x, "transform", "position", 0), (Vec3{1, 2, 3}));
    EXPECT_EQ(value<Vec3>(x, "transform", "position", 1), (Vec3{1, 9, 3}));
    EXPECT_EQ(value<Vec3>(x, "transform", "scale", 1), (Vec3{2, 2, 2}));
    EXPECT_EQ(value<float>(x, "glow", "power", 1), 5);
    EXPECT_EQ(value<std::int8_t>(x, "glow", "hue", 1), 1);
    EXPECT_EQ(value<float>(x, "glow", "power", 2), 1) << "null is the default of the schema";
    EXPECT_EQ(value<float>(x, "glow", "power", 3), 5);
    const auto knots = [&](std::size_t row) { return value<std::array<float, 3>>(x, "glow", "knots", row); };
    EXPECT_EQ(knots(1), (std::array<float, 3>{1, 2, 3}));
    EXPECT_EQ(knots(2), (std::array<float, 3>{})) << "all elements of an array";
    schema(
        "components = { rope = { fields = { to = entity  length = float  name = { type = fixed_string capacity = 8 } } "
        "} }");
    file("rope.sjson", "components = { rope = { to = \"self\"  length = 3  name = \"mooring\" } }");
    file("y.sjson", R"(entities = {
        a = { prefab = "rope" }
        b = { prefab = "rope" modified_components = { rope = { to = null length = 5 name = "b" } } }
        c = { prefab = "rope" }
    })");
    const Blob y = blob("y.sjson");
    for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(value<float>(y, "rope", "length", row), row == 1 ? 5 : 3) << "no user changes what another one gets";
        EXPECT_EQ(value<EntityBits>(y, "rope", "to", row), row == 1 ? ~EntityBits(0) : row);
        EXPECT_EQ(value<FixedString<8>>(y, "rope", "name", row),
                  row == 1 ? FixedString<8>("b") : FixedString<8>("mooring"))
            << "nothing stays of a longer text";
    }
}

TEST_F(Compiler, an_empty_mapping_changes_no_pairs) {
    schema(R"(components = { loot = { fields = { names = { type = blob_array of = string_id }
        counts = { type = blob_array of = int32  keys = names  shorthand = true } } } })");
    file("chest.sjson", "components = { loot = { gold = 3  gems = 2 } }");
    file("x.sjson", R"(entities = { a = { prefab = "chest" modified_components = { loot = {} } }
        b = { prefab = "chest" modified_components = { loot = { counts = {} } } } })");
    const Blob x = blob("x.sjson");
    EXPECT_EQ(value<BlobArrayBase>(x, "loot", "counts", 0).count, 2u);
    EXPECT_EQ(value<BlobArrayBase>(x, "loot", "names", 0).count, 2u);
    EXPECT_EQ(value<BlobArrayBase>(x, "loot", "counts", 1).count, 0u);
    EXPECT_EQ(value<BlobArrayBase>(x, "loot", "names", 1).count, 0u);
}

TEST_F(Compiler, keys_of_pairs_are_integers_of_any_size) {
    schema(R"(components = { table = { fields = { ids = { type = blob_array of = uint64 }
        names = { type = blob_array of = string_id  keys = ids } } } })");
    file("x.sjson", R"(components = { table = { names = { 7 = "a"  9223372036854775807 = "b"
        9223372036854775808 = "c"  18446744073709551615 = "d" } } })");
    const Blob x = blob("x.sjson");
    const std::span<const std::byte> ids = x.array(value<BlobArrayBase>(x, "table", "ids"), FieldType::kUint64);
    const std::uint64_t wanted[] = {7, (std::uint64_t(1) << 63) - 1, std::uint64_t(1) << 63, ~std::uint64_t(0)};
    ASSERT_EQ(ids.size(), sizeof wanted);
    EXPECT_EQ(std::memcmp(ids.data(), wanted, sizeof wanted), 0);
    file("y.sjson", R"(components = { table = { names = { 18446744073709551616 = "e" } } })");
    EXPECT_NE(errors("y.sjson").find("field \"ids\": this is a string"), std::string::npos) << diagnostics.format();
}

TEST_F(Compiler, a_component_of_one_field_can_be_its_value) {
    file("x.sjson", "components = { sound = 3.5 }");
    EXPECT_EQ(value<float>(blob("x.sjson"), "sound", "volume"), 3.5f);
}

TEST_F(Compiler, references_find_self_parent_paths_and_names_from_the_inside_out) {
    file("pair.sjson",
         R"(children = { left = { name = "L" components = { link = { to = "R" both = ["self" "parent"] } } }  right
            = { name = "R" } })");
    file("x.sjson", R"(entities = {
        p = { prefab = "pair" }
        q = { prefab = "pair" modified_children = { left = { modified_components = { link = { to = "p/left" both =
            [null "../right"] } } } } }
        r = { name = "Rex" components = { link = { to = "q" both = ["Rex" "#p/right"] } } }
    })");
    const Blob x = blob("x.sjson");  // p q r p/right q/right p/left q/left; the components: r p/left q/left
    const auto to = [&](std::size_t row) { return value<EntityBits>(x, "link", "to", row); };
    const auto both = [&](std::size_t row) { return value<std::array<EntityBits, 2>>(x, "link", "both", row); };
    EXPECT_EQ(to(0), 1u);
    EXPECT_EQ(both(0), (std::array<EntityBits, 2>{2, 3}));
    EXPECT_EQ(to(1), 3u);
    EXPECT_EQ(both(1), (std::array<EntityBits, 2>{5, 0}));
    EXPECT_EQ(to(2), 5u);
    EXPECT_EQ(both(2), (std::array<EntityBits, 2>{~EntityBits(0), 4}));
}

TEST_F(Compiler, the_nearest_entity_of_a_name_is_meant_even_if_it_is_the_one_that_says_it) {
    file("x.sjson", R"(entities = {
        a = { name = "Rex" }
        b = { name = "Rex" components = { link = { to = "Rex" } } children = { c = { components = { link = { to =
            "../Rex" } } } } }
        d = { name = "0A1B2C3D-ABCD-4C1B-8A77-0123456789EF" components = { link = { to =
            "0A1B2C3D-ABCD-4C1B-8A77-0123456789EF" } } }
    })");
    const Blob x = blob("x.sjson");  // a b d b/c, with links in the order b d c
    const BlobComponents& links = *x.find_components(ComponentId("link"));
    for (std::size_t row = 0; row < 3; ++row) {
        const std::uint32_t owner = links.entity_index[row], parent = x.parents()[owner];
        EXPECT_EQ(value<EntityBits>(x, "link", "to", row), parent == kNoBlobEntity ? owner : parent);
    }
    file("y.sjson", "entities = { a = {} b = { components = { link = { to = \"../../a\" } } } }");
    EXPECT_NE(errors("y.sjson").find("there is no entity \"../../a\""), std::string::npos)
        << "nothing is above a root" << diagnostics.format();
}

TEST_F(Compiler, entities_lie_by_generation_zone_and_component_types_and_then_as_in_the_source) {
    ASSERT_TRUE(registry.add<SpawnZone>());
    file("x.sjson", R"(entities = {
        a = { components = { sound = 1 }  children = {
            b = { components = { transform = {} } }  c = { components = { sound = 2 } }  d = { components = { transform = {} } } } }
        e = { components = { zone = 2 sound = 3 }  children = { f = { components = { sound = 4 } } } }
        g = { components = { sound = 5 zone = { zone = 1 } }  children = { h = { components = { transform = {} sound = 6 } } } }
        i = { components = { sound = 7 } }
    })");
    const Blob x = blob("x.sjson");
    std::string guids, sounds;
    const auto letter_of = [&](std::uint32_t entity) {
        for (const char* path : {"a", "a/b", "a/c", "a/d", "e", "e/f", "g", "g/h", "i"})
            if (x.guid(entity) == hash_text(path)) return std::string_view(path).back();
        return '?';
    };
    for (std::uint32_t entity = 0; entity < x.num_entities(); ++entity) guids += letter_of(entity);
    EXPECT_EQ(guids, "aigecbdhf");
    for (std::size_t row = 0; row < 7; ++row)
        sounds += std::to_string(static_cast<int>(value<float>(x, "sound", "volume", row)));
    EXPECT_EQ(sounds, "1753264") << "each with its entity";
    EXPECT_EQ(x.parents()[7], 2u) << "h is a child of g";
}

/// An entity of a random level, as the text says it.
struct ModelEntity {
    std::string path, parent;
    std::uint32_t generation = 0, zone = 0;
    std::size_t number = 0;               // in the text, and the value of what it has
    std::vector<std::string_view> types;  // sorted
    std::size_t num_components = 0;       // of some types it has several
    std::string kind() const {
        std::string text;
        for (const std::string_view type : types) text += concat(type, ' ');
        return text;
    }
};

/// Writes a level whose entities mix component types, and lists the entities in the order of the text.
class RandomLevel {
public:
    explicit RandomLevel(Random& random) : random_(random) { text = "entities = { "; }

    void add_entities(const ModelEntity* parent, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) add_entity(parent, concat('e', i));
    }

    std::string text;
    std::vector<ModelEntity> entities;

private:
    void add_entity(const ModelEntity* parent, const std::string& key) {
        ModelEntity made;
        made.path = key;
        made.number = entities.size();
        if (parent != nullptr) {
            made.path = concat(parent->path, '/', key);
            made.parent = parent->path;
            made.generation = parent->generation + 1;
            made.zone = parent->zone;
        }
        text += concat(key, " = { components = { ");
        for (const std::string_view type : {"glow", "sound", "transform", "zone"}) {
            if (random_.below(2) == 0) continue;
            made.types.push_back(type);
            if (type == "zone") made.zone = random_.below(3);
            const bool has_two = type == "sound" && random_.below(2) == 0;
            made.num_components += has_two ? 2 : 1;
            text += type == "glow" ? concat("glow = { label = \"", made.number, "\" } ")
                    : has_two
                        ? concat("sound = ", made.number, " more = { type = \"sound\"  volume = ", made.number, " } ")
                    : type == "sound"     ? concat("sound = ", made.number, ' ')
                    : type == "transform" ? concat("transform = { position = [", made.number, " 0 0] } ")
                                          : concat("zone = ", made.zone, ' ');
        }
        text += "} ";
        entities.push_back(made);
        if (made.generation < 3 && random_.below(3) == 0) {
            text += "children = { ";
            add_entities(&made, 1 + random_.below(4));
            text += "} ";
        }
        text += "} ";
    }

    Random& random_;
};

/// The entities as they have to lie: by generation, zone, first entity with the same component types, and place in the text.
std::vector<ModelEntity> in_order(std::vector<ModelEntity> entities) {
    std::vector<std::string> kinds;  // as they occur first
    for (const ModelEntity& entity : entities)
        if (std::ranges::find(kinds, entity.kind()) == kinds.end()) kinds.push_back(entity.kind());
    std::ranges::sort(entities, {}, [&](const ModelEntity& entity) {
        return std::tuple(entity.generation, entity.zone, std::ranges::find(kinds, entity.kind()) - kinds.begin(),
                          entity.number);
    });
    return entities;
}

TEST_F(Compiler, random_levels_lie_sorted_with_parents_first_and_the_values_that_they_say) {
    ASSERT_TRUE(registry.add<SpawnZone>());
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const std::int64_t rounds = scaled_operations(300);
    for (std::int64_t round = 0; round < rounds; ++round) {
        RandomLevel level(random);
        level.add_entities(nullptr, 1 + random.below(20));
        file("x.sjson", level.text + "}");
        const Blob x = blob("x.sjson");
        const std::vector<ModelEntity> wanted = in_order(level.entities);
        ASSERT_EQ(x.num_entities(), wanted.size());
        std::size_t num_components = 0, num_found = 0;
        for (std::uint32_t i = 0; i < wanted.size(); ++i) {
            ASSERT_EQ(x.guid(i), hash_text(wanted[i].path)) << "round " << round << ", entity " << i << '\n'
                                                            << level.text;
            const std::uint32_t parent = x.parents()[i];
            ASSERT_EQ(parent == kNoBlobEntity ? "" : wanted[parent].path, wanted[i].parent);
            ASSERT_TRUE(parent == kNoBlobEntity || parent < i);
            num_components += wanted[i].num_components;
        }
        for (const BlobComponents& type : x.component_types())
            for (std::size_t row = 0; row < type.count(); ++row, ++num_found) {
                const std::uint32_t owner = type.entity_index[row];
                const std::string& name = type.schema->name();
                ASSERT_NE(std::ranges::find(wanted[owner].types, name), wanted[owner].types.end()) << name;
                const auto number = static_cast<float>(wanted[owner].number);
                if (name == "sound") ASSERT_EQ(value<float>(x, name, "volume", row), number);
                if (name == "transform") ASSERT_EQ(value<Vec3>(x, name, "position", row).x, number);
            }
        ASSERT_EQ(num_found, num_components) << level.text;
    }
}

TEST_F(Compiler, transforms_lie_depth_first_whatever_the_order_of_the_entities) {
    ASSERT_TRUE(registry.set_blob_order("transform", BlobOrder::kDepthFirst));
    file("x.sjson", R"(entities = {
        a = { components = { transform = {} }  children = {
            b = { components = { transform = {} sound = 1 }  children = { c = { components = { transform = {} } } } }
            d = { components = { transform = {} } } } }
        e = { components = { transform = {} sound = 1 }  children = { f = { components = { transform = {} } } } }
        g = { components = { transform = {} }  children = { h = { components = { transform = {} } } } }
    })");
    const Blob x = blob("x.sjson");
    const std::span<const std::uint32_t> owners = x.find_components(ComponentId("transform"))->entity_index;
    std::string depth_first;
    for (const std::uint32_t owner : owners)
        for (const char* path : {"a", "a/b", "a/b/c", "a/d", "e", "e/f", "g", "g/h"})
            if (x.guid(owner) == hash_text(path)) depth_first += std::string_view(path).back();
    EXPECT_EQ(depth_first, "abcdghef") << "trees lie as their roots do";
    EXPECT_FALSE(std::is_sorted(owners.begin(), owners.end())) << "entities lie by generation";
}

TEST_F(Compiler, a_reference_to_nobody_or_to_several_is_an_error) {
    file("x.sjson",
         "entities = {\n a = { name = \"N\" }\n b = { name = \"M\" components = { link = { to = \"nobody\" } } }\n c = "
         "{ components = { link = { to = \"N\" } } }\n d = { name = \"N\" } }");
    const std::string text = errors("x.sjson");
    EXPECT_NE(text.find("3:48: error: component \"link\", field \"to\": there is no entity \"nobody\"; write a name, a "
                        "GUID path, `parent`, `self` or null"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("4:37: error: component \"link\", field \"to\": several entities are called \"N\"; name it by "
                        "its GUID path"),
              std::string::npos)
        << text;
}

TEST_F(Compiler, an_unknown_field_is_an_error_with_a_hint) {
    file("reef/garden.sjson", "components = {\n    transform = {\n        postion = [0 0 3]\n    }\n}\n");
    EXPECT_EQ(
        errors("reef/garden.sjson"),
        "reef/garden.sjson:3:9: error: component \"transform\" has no field \"postion\"; did you mean \"position\"?\n"
        "    3 |         postion = [0 0 3]\n"
        "      |         ^~~~~~~\n");
}

TEST_F(Compiler, an_unknown_component_is_an_error_with_a_hint) {
    file("x.sjson", "components = { transfrom = {} c1 = { type = \"zzz\" } }");
    const std::string text = errors("x.sjson");
    EXPECT_NE(text.find("1:16: error: there is no component type \"transfrom\"; did you mean \"transform\"?"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("1:45: error: there is no component type \"zzz\"; give a schema file that declares it, or one "
                        "that says `unknown_components = keep`"),
              std::string::npos)
        << text;
    file("y.sjson", "components = { c1 = { _type = \"zzz\" data = {} } }");
    EXPECT_NE(errors("y.sjson").find("y.sjson:1:31: error: there is no component type \"zzz\""), std::string::npos)
        << diagnostics.format();
}

TEST_F(Compiler, wrong_values_say_what_where_and_what_to_do) {  // req: D31
    for (const auto& [value, message] : std::map<std::string, std::string>{
             {"glow = { power = \"x\" }",
              "component \"glow\", field \"power\": this is a string, but the field is a float; write a number"},
             {"glow = { power = 11 }", "11 is out of range; write a number from 0 to 10"},
             {"sound = { volume = 1e300 }", "1e+300 does not fit a float"},
             {"glow = { hue = 200 }", "the number does not fit an int8; write a number from -128 to 127"},
             {"glow = { hue = 18446744073709551616 }",
              "the number does not fit an int8; write a number from -128 to 127, without point or exponent"},
             {"glow = { power = 1 data = { hue = 1 } }",
              "component \"glow\" has the field \"power\" beside its `data`; move it into `data`"},
             {"glow = { data = { type = \"glow\" } }", "component \"glow\" has no field \"type\""},
             {"glow = { weight = 11 }", "11 is out of range; write a number from 0 to 10"},
             {"glow = { count = 9007199254740994.0 }", "the number does not fit an int64; write a number from"},
             {"path = { frame = [[1 0 0 0] [0 1 0 0] [0 0 1 0 0]] }", "this is not a row of 4 numbers"},
             {"glow = { hue = 1.5 }", "this is a number, but the field is an int8; write a whole number"},
             {"glow = { mode = \"sfot\" }", "\"sfot\" is not one of its values; choose one of soft, hard"},
             {"glow = { mode = 1 }", "this is an integer, but the field is an enum; write one of soft, hard"},
             {"glow = { mesh = 1 }", "write the name of a resource, or null"},
             {"glow = { tag = [] }", "this is a list, but the field is a string_id; write a string, or null"},
             {"glow = { label = \"abcdef\" }", "the string has 6 bytes, but the field holds 5; shorten it"},
             {"glow = { lit = 1 }", "this is an integer, but the field is a bool; write true or false"},
             {"glow = { knots = [1 2] }", "this list has 2 values, but the field has 3; write 3 values"},
             {"glow = { knots = 1 }", "write a list of 3 values"},
             {"transform = { position = [1 2] }",
              "this list has 2 values, but a vec3 has 3; write a list of 3 numbers"},
             {"transform = { position = { w = 1 } }", "a vec3 has no \"w\""},
             {"transform = { position = [1 2 \"z\"] }", "this is a string, but the field is a vec3"},
             {"transform = 3",
              "component \"transform\" is given as an integer but has 3 fields; write a mapping of fields"},
             {"path = { points = 1 }", "write a list"},
             {"path = { points = [[1 2]] }", "this list has 2 values, but a vec3 has 3"},
             {"path = { frame = [1 2] }", "write a list of 12 numbers, or of 3 rows of 4"},
             {"link = { to = 3 }", "write the name or GUID path of an entity, or null"}}) {
        SCOPED_TRACE(value);
        file("x.sjson", concat("components = { ", value, " }"));
        EXPECT_NE(errors("x.sjson").find(message), std::string::npos) << diagnostics.format();
    }
}

TEST_F(Compiler, many_errors_are_reported_at_once_and_those_of_a_prefab_once) {  // req: D31
    file("lamp.sjson", "components = { glow = { power = 99 hue = 999 } }");
    file("x.sjson",
         R"(entities = { a = { prefab = "lamp" } b = { prefab = "lamp" } c = { prefab = "none" } d = { components =
            { trnsform = {} } } })");
    EXPECT_EQ(compiled("x.sjson").message(), "x.sjson: 4 errors");
    file("y.sjson", R"(prefab = "good" modified_components = { glow = { data = { type = "glow" } } })");
    file("good.sjson", "components = { glow = {} }");
    EXPECT_NE(errors("y.sjson").find("component \"glow\" has no field \"type\""), std::string::npos)
        << "inside of `data`, no key repeats the type";
}

TEST_F(Compiler, errors_come_in_the_order_of_the_source) {
    schema("components = { apple = { fields = { size = float } } berry = { fields = { size = float } } }");
    const std::uint32_t before = diagnostics.add_file("before", "ab");
    diagnostics.warning({before, 1}, "b");
    diagnostics.warning({before, 0}, "a");
    file(
        "x.sjson",
        "children = {\na = { components = { berry = { sise = 1 } } }\nb = { components = { apple = { size = \"red\" } "
        "} }\n"
        "c = { components = { berry = { size = [] } cherry = {} } }\nd = { components = { apple = { sice = 1 } } }\n}");
    EXPECT_FALSE(compiled("x.sjson").ok());
    std::vector<std::uint32_t> lines;
    for (const Diagnostic& entry : diagnostics.entries()) lines.push_back(diagnostics.locate(entry.position).line);
    EXPECT_EQ(lines, (std::vector<std::uint32_t>{1, 1, 2, 3, 4, 4, 5})) << diagnostics.format();
    EXPECT_EQ(diagnostics.entries()[0].message, "b") << "what was told before stays where it is";
}

TEST_F(Compiler, a_bad_reference_in_a_prefab_is_reported_once) {
    file("lamp.sjson", "components = { link = { to = \"nobody\" } }");
    file("x.sjson", R"(entities = { a = { prefab = "lamp" } b = { prefab = "lamp" }
            c = { components = { link = { to = "nobody" } } } })");
    EXPECT_EQ(compiled("x.sjson").message(), "x.sjson: 2 errors") << diagnostics.format();
}

TEST_F(Compiler, two_components_of_one_type_need_a_schema_that_says_many) {
    file("x.sjson",
         "components = {\n a = { type = \"glow\" }\n b = { type = \"glow\" }\n c = { type = \"sound\" } d = { type = "
         "\"sound\" } }");
    const std::string text = errors("x.sjson");
    EXPECT_NE(text.find("x.sjson:3:2: error: this entity has two components of type \"glow\"; delete one of them"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("x.sjson:2:2: note: the other is here"), std::string::npos) << text;
    EXPECT_EQ(diagnostics.num_errors(), 1u);
    file("y.sjson", "entities = { a = { prefab = \"x\" } b = { prefab = \"x\" } c = { components = { none = {} } } }");
    errors("y.sjson");
    EXPECT_EQ(diagnostics.num_errors(), 3u) << "once for all that share it, and the type that there is not";
    file("none.sjson", "components = { none = {} }");
    file("z.sjson", "entities = { a = { prefab = \"none\" } b = { prefab = \"none\" } }");
    errors("z.sjson");
    EXPECT_EQ(diagnostics.num_errors(), 4u);
}

TEST_F(Compiler, what_no_schema_knows_is_kept_as_text_counted_and_named_in_a_warning) {  // req: D11
    schema("unknown_components = keep unknown_fields = keep ignored_keys = [editor]");
    file("lamp.unit",
         R"(components = [ { _guid = "c1" _type = "glow" _extra = 1 data = { power = 2 halo = { size = 1 tint = [1
            2] } } } { _guid = "c2" _type = "magic" data = { a = 1 b = 2 } } ])");
    file("x.level", R"(sky = "blue" units = [
        { _guid = "a" prefab = "lamp" layer = 3 editor = {} }
        { _guid = "b" prefab = "lamp" modified_components = { #c1 = { _more = 2 data = { halo = { size = 5 } } }
            #c2 = { data = { b = 3 } } } } ])");
    const Result<CompiledSource> source = compiled("x.level");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    EXPECT_EQ(source->num_kept_components, 2u);
    EXPECT_EQ(source->num_kept_fields, 7u);
    EXPECT_EQ(source->num_warnings, 6u);
    const std::string text = diagnostics.format();
    for (const std::string_view warning :
         {"kept 2 components of type \"magic\" as text; no schema knows this type",
          "kept 2 values of \"halo\" in components of type \"glow\" as text", "kept 2 values of \"_extra\"",
          "kept 1 value of \"layer\" in the level or its entities", "kept 1 value of \"sky\"",
          "lamp.unit:1:76: warning: kept 2 values of \"halo\""})
        EXPECT_NE(text.find(warning), std::string::npos) << warning << "\n" << text;
    const Result<Blob> x = Blob::load(source->blob);
    ASSERT_TRUE(x.ok()) << x.message();
    std::map<std::string, std::string> kept;
    for (std::uint32_t i = 0; i < x->num_kept_texts(); ++i) {
        const KeptText entry = x->kept_text(i);
        const std::uint32_t number = diagnostics.add_file("kept", std::string(entry.text));
        kept[concat(static_cast<std::int32_t>(entry.entity_index), ' ', entry.component)] =
            flat_text(read_sjson(number, diagnostics)->root());
    }
    EXPECT_EQ(kept, (std::map<std::string, std::string>{{"0 magic", "{a=1 b=2}"},
                                                        {"1 magic", "{a=1 b=3}"},
                                                        {"0 glow", "{_extra=1 halo={size=1 tint=[1 2]}}"},
                                                        {"1 glow", "{_extra=1 halo={size=5 tint=[1 2]} _more=2}"},
                                                        {"0 ", "{layer=3}"},
                                                        {"-1 ", "{sky=blue}"}}));
    file("base.sjson", "layer = 1\ncomponents = { glow = { halo = 1 } }\n");
    file("y.sjson",
         "entities = {\n a = { layer = 2  prefab = \"base\" }\n b = { layer = 3  components = { glow = { halo = 2 } } "
         "} }");
    const Result<CompiledSource> second = compiled("y.sjson");
    ASSERT_TRUE(second.ok()) << diagnostics.format();
    EXPECT_EQ(second->num_warnings, 2u) << "those of this compilation";
    const Result<Blob> y = Blob::load(second->blob);
    std::string texts;
    for (std::uint32_t i = 0; i < y->num_kept_texts(); ++i) append_text(texts, y->kept_text(i).text);
    EXPECT_EQ(texts, "layer = 2\nlayer = 3\nhalo = 1\nhalo = 2\n") << "what a later text repeats counts alone";
    const std::string told = diagnostics.format();
    EXPECT_NE(told.find("y.sjson:2:8: warning: kept 2 values of \"layer\""), std::string::npos) << told;
    EXPECT_NE(told.find("base.sjson:2:25: warning: kept 2 values of \"halo\""), std::string::npos) << told;
    file("z.sjson", "components = { magic = {} spell = {} } children = { a = { components = { magic = {} } } }");
    const Result<CompiledSource> third = compiled("z.sjson");
    ASSERT_TRUE(third.ok()) << diagnostics.format();
    EXPECT_EQ(third->num_kept_components, 3u) << "of both types";
}

TEST_F(Compiler, ignored_keys_are_dropped_beside_the_fields_but_never_inside_data) {
    schema("unknown_fields = keep ignored_keys = [editor position]");
    file("x.level",
         R"(units = [ { _guid = "a" position = [1 2] components = [ { _guid = "c" _type = "glow" editor = 1 data = {
            position = 3 } } ] } ])");
    const Result<CompiledSource> source = compiled("x.level");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    EXPECT_EQ(source->num_kept_fields, 1u);
    const Result<Blob> x = Blob::load(source->blob);
    ASSERT_TRUE(x.ok() && x->num_kept_texts() == 1);
    EXPECT_EQ(x->kept_text(0).text, "position = 3\n");
}

TEST_F(Compiler, a_null_resets_a_struct_and_no_other_whose_name_begins_like_it) {
    schema(R"(components = { body = { fields = {
        box = { fields = { least = float  most = { type = float default = 3 } } }
        boxer = { fields = { height = float } } } } })");
    file("base.sjson", "components = { body = { box = { least = 1  most = 2 }  boxer = { height = 4 } } }");
    file("x.sjson", "prefab = \"base\"  modified_components = { body = { box = null } }");
    const Blob x = blob("x.sjson");
    EXPECT_EQ(value<float>(x, "body", "box.least"), 0);
    EXPECT_EQ(value<float>(x, "body", "box.most"), 3);
    EXPECT_EQ(value<float>(x, "body", "boxer.height"), 4);
    file("y.sjson", "components = { body = { box.least = 1  box = { least = 2 } } }");
    EXPECT_NE(errors("y.sjson").find("is given the field \"box.least\" twice"), std::string::npos);
}

TEST_F(Compiler, references_that_are_wrong_are_told_once_for_each_place_in_each_text) {
    for (const char* name : {"p.sjson", "q.sjson"}) file(name, "components = { link = { to = \"nobody\" } }");
    file("x.sjson",
         R"(entities = { a = { prefab = "p" } b = { prefab = "p" } c = { prefab = "q" } d = { prefab = "q" } })");
    EXPECT_EQ(compiled("x.sjson").message(), "x.sjson: 2 errors") << diagnostics.format();
}

TEST_F(Compiler, a_source_has_a_singleton_once) {
    schema("components = { wind = { singleton = true fields = { force = vec3  gust = float } } }");
    file("x.sjson", "entities = { a = { components = { wind = { force = [1 2 3] } } } b = { } }");
    const Blob x = blob("x.sjson");
    EXPECT_TRUE(x.find_components(ComponentId("wind"))->schema->singleton());
    file("gale.sjson", "components = { wind = { force = [9 0 0] } }");
    file("y.sjson", R"(entities = { a = { prefab = "gale" } b = { components = { wind = { gust = 1 } } } })");
    const std::string two = errors("y.sjson");
    EXPECT_NE(two.find("this is the second component of type \"wind\", of which a world has one; delete one of them"),
              std::string::npos)
        << two;
    EXPECT_NE(two.find("gale.sjson:1:"), std::string::npos) << "and shows the other";
}

// --- compile functions ---------------------------------------------------------------------------------------------

bool compile_sum(void* context, const CompileInput& input, CompileOutput& output) {
    ++*static_cast<int*>(context);
    const Node power = input.node.is_mapping() ? input.node.find("formula") : Node();
    if (!power || !power.is_list()) {
        input.diagnostics.error(input.node.position(), "a glow needs a formula", "write one");
        return false;
    }
    float sum = 0;
    for (const Node number : power) sum += static_cast<float>(number.as_double());
    std::memcpy(output.image().data(), &sum, sizeof sum);
    return true;
}

TEST_F(Compiler, a_registered_compile_function_gets_the_merged_node) {  // req: D26 D27 A1
    int num_calls = 0;
    ASSERT_TRUE(registry.set_compile_function("flame", compile_sum, &num_calls, 50).ok());
    schema("components = { flame = { fields = { heat = float } } }");
    file("lamp.sjson", "components = { flame = { formula = [1 2] other = 1 } }");
    file("x.sjson",
         R"(entities = { a = { prefab = "lamp" } b = { prefab = "lamp" modified_components = { flame = { formula =
            [3 4] } } } })");
    const Blob x = blob("x.sjson");
    EXPECT_EQ(num_calls, 2);
    EXPECT_EQ(value<float>(x, "flame", "heat", 0), 3);
    EXPECT_EQ(value<float>(x, "flame", "heat", 1), 7);
    EXPECT_EQ(x.component_types()[0].spawn_order, 50);
    file("y.sjson", "components = { flame = { } }");
    EXPECT_NE(errors("y.sjson").find("y.sjson:1:24: error: a glow needs a formula; write one"), std::string::npos)
        << diagnostics.format();
}

TEST_F(Compiler, the_spawn_order_comes_from_schema_files_and_from_the_program) {  // req: D27
    int num_calls = 0;
    ASSERT_TRUE(registry.set_compile_function("flame", compile_sum, &num_calls, -3).ok());
    ASSERT_TRUE(registry.set_compile_function("path", nullptr, nullptr, 1).ok())
        << "as the compiler does it, but later";
    schema("components = { flame = { spawn_order = 9 fields = { heat = float } } }");
    file("x.sjson",
         "components = { transform = {} glow = {} sound = {} path = {} link = {} flame = { formula = [1] } }");
    const Blob x = blob("x.sjson");
    std::string order;
    for (const BlobComponents& components : x.component_types())
        append_text(order, concat(components.schema->name(), ' ', components.spawn_order, ", "));
    EXPECT_EQ(order, "flame -3, link -1, sound 0, transform 0, path 1, glow 2, ") << "that of a function counts";
    EXPECT_EQ(num_calls, 1);
}

/// Makes the song of a component: the name of its owner, then its notes.
bool compile_song(void* context, const CompileInput& input, CompileOutput& output) {
    ++*static_cast<int*>(context);
    const Node notes = input.node.is_mapping() ? input.node.find("notes") : Node();
    if (!notes) {
        input.diagnostics.error(input.node.position(), "a song needs notes", "write some");
        return false;
    }
    std::vector<std::byte> bytes;
    for (const Node note : notes) bytes.push_back(std::byte(static_cast<int>(note.as_double())));
    if (const Node other = input.node.find("after")) bytes.push_back(std::byte(output.find_entity(other.as_string())));
    output.set_bytes(bytes);
    return true;
}

TEST_F(Compiler, a_function_makes_bytes_of_the_merged_component_without_a_schema) {  // req: D26 D27 A1
    int num_calls = 0;
    ASSERT_TRUE(registry.set_bytes_compile_function("song", compile_song, &num_calls, 50).ok());
    file("bird.sjson", "components = { song = { notes = [1 2 3] } }");
    file("x.sjson",
         R"(entities = { a = { prefab = "bird" } b = { prefab = "bird" }
            c = { prefab = "bird" modified_components = { song = { notes = [4 250] after = "a" } } }
            d = { components = { song = { notes = [] } } } })");
    for (const bool big_endian : {false, true}) {
        options.blob.big_endian = big_endian;
        num_calls = 0;
        const Result<CompiledSource> source = compiled("x.sjson");
        ASSERT_TRUE(source.ok()) << diagnostics.format();
        EXPECT_EQ(num_calls, 4) << "once per component";
        const Result<Blob> x = Blob::load(big_endian ? *swap_endianness(source->blob) : source->blob);
        ASSERT_TRUE(x.ok()) << x.message();
        const BlobComponents* const songs = x->find_components(ComponentId("song"));
        ASSERT_TRUE(songs != nullptr && songs->count() == 4);
        EXPECT_EQ(songs->spawn_order, 50);
        const auto bytes = [&](std::size_t row) {
            const auto array = value<BlobArray<std::uint8_t>>(*x, "song", "bytes", row);
            std::vector<int> numbers;
            for (const std::byte byte : x->array(array, FieldType::kUint8)) numbers.push_back(int(byte));
            return numbers;
        };
        EXPECT_EQ(bytes(0), (std::vector<int>{1, 2, 3}));
        EXPECT_EQ(bytes(1), bytes(0)) << "the prefab's";
        EXPECT_EQ(bytes(2), (std::vector<int>{4, 250, 0})) << "notes of the user, and the place of entity a";
        EXPECT_TRUE(bytes(3).empty());
        EXPECT_EQ(value<BlobArray<std::uint8_t>>(*x, "song", "bytes", 0).offset,
                  value<BlobArray<std::uint8_t>>(*x, "song", "bytes", 1).offset)
            << "equal bytes are kept once";
    }
    file("y.sjson", "components = { song = { } }");
    EXPECT_NE(errors("y.sjson").find("y.sjson:1:23: error: a song needs notes; write some"), std::string::npos)
        << diagnostics.format();
}

TEST_F(Compiler, a_function_finds_no_entity_by_a_name_that_several_have) {
    int num_calls = 0;
    ASSERT_TRUE(registry.set_bytes_compile_function("song", compile_song, &num_calls, 0).ok());
    file("x.sjson", R"(entities = { a = { components = { song = { notes = [] after = "twin" } } }
        b = { name = "twin" } c = { name = "twin" } })");
    const Blob x = blob("x.sjson");
    const auto bytes = value<BlobArray<std::uint8_t>>(x, "song", "bytes");
    ASSERT_EQ(bytes.count, 1u);
    EXPECT_EQ(x.array(bytes, FieldType::kUint8)[0], std::byte(0xFF)) << "none, as no entity has that place";
}

TEST_F(Compiler, a_function_without_a_schema_is_an_error) {
    int num_calls = 0;
    ASSERT_TRUE(registry.set_compile_function("flame", compile_sum, &num_calls).ok());
    file("x.sjson", "components = { flame = {} }");
    EXPECT_NE(errors("x.sjson").find("functions are registered for it, but no schema"), std::string::npos);
}

// --- the blob as a whole -------------------------------------------------------------------------------------------

TEST_F(Compiler, the_same_source_gives_the_same_bytes_in_every_folder) {  // req: D31
    const std::string level =
        R"(entities = { a = { prefab = "lamp" name = "A" } b = { prefab = "lamp" components = { sound = { volume =
            2 } } } })";
    for (const std::string_view folder : {"here", "some/where/else"}) {
        file(concat(folder, "/x.sjson"), level);
        file(concat(folder, "/lamp.sjson"), "components = { glow = { tag = \"t\" } transform = {} }");
    }
    const Result<CompiledSource> a = compiled("here/x.sjson"), b = compiled("some/where/else/x.sjson");
    ASSERT_TRUE(a.ok() && b.ok()) << diagnostics.format();
    EXPECT_TRUE(a->blob == b->blob);
}

TEST_F(Compiler, the_other_byte_order_holds_the_same) {  // req: D1 D31
    file("x.sjson",
         R"(entities = { a = { components = { transform = { position = [1 2 3] } link = { to = "self" } path = {
            points = [[1 2 3]] } } } })");
    const Result<CompiledSource> little = compiled("x.sjson");
    options.blob.big_endian = true;
    const Result<CompiledSource> big = compiled("x.sjson");
    ASSERT_TRUE(little.ok() && big.ok()) << diagnostics.format();
    EXPECT_FALSE(little->blob == big->blob);
    const Result<std::vector<std::byte>> swapped = swap_endianness(big->blob);
    ASSERT_TRUE(swapped.ok()) << swapped.message();
    EXPECT_TRUE(*swapped == little->blob);
}

TEST_F(Compiler, each_entity_has_the_line_of_its_own_file) {
    file("x.sjson", concat("entities = {\n a = {}\n b = { prefab = \"p\" }\n c = {}\n}\n", std::string(100, '\n')));
    file("p.sjson", concat(std::string(50, ' '), "\n\nchildren = {\n d = {}\n\n e = {} }"));
    const Blob x = blob("x.sjson");
    std::string places;
    for (std::uint32_t i = 0; i < x.num_entities(); ++i)
        append_text(places, concat(x.source_file(i), ':', x.source_line(i), ' '));
    EXPECT_EQ(places, "x.sjson:2 x.sjson:3 x.sjson:4 p.sjson:4 p.sjson:6 ");
}

TEST_F(Compiler, dependencies_go_into_the_blob) {  // req: G12
    file("x.sjson", R"(prefab = "lamp" components = { glow = { mesh = "m/a" } } children = { a = { components = {
            glow = { mesh = "" } } } })");
    file("lamp.json", "{}");
    const Blob x = blob("x.sjson");
    std::string text;
    for (const BlobDependency& dependency : x.dependencies())
        append_text(text, concat(static_cast<int>(dependency.kind), ' ', x.string(dependency.path), '\n'));
    EXPECT_EQ(text, "2 m/a\n1 x.sjson\n4 lamp.sjson\n3 lamp.json\n1 lamp.json\n") << "an empty name is no file";
}

TEST_F(Compiler, check_finds_the_same_errors_and_makes_no_blob) {
    file("x.sjson", "components = { glow = {} }");
    const Result<CompiledSource> good = check_source("x.sjson", registry, options, diagnostics);
    ASSERT_TRUE(good.ok());
    EXPECT_TRUE(good->blob.empty());
    EXPECT_EQ(good->num_components, 1u);
    file("y.sjson", "components = { glow = { power = 11 } }");
    EXPECT_EQ(check_source("y.sjson", registry, options, diagnostics).message(), "y.sjson: 1 error");
}

TEST_F(Compiler, a_prefab_on_disk_that_is_a_folder_is_an_error) {
    const std::string folder = ::testing::TempDir() + "shoal_source_test";
    std::filesystem::create_directories(folder + "/coral.sjson");
    ASSERT_TRUE(write_file(folder + "/x.sjson", "prefab = \"coral\"").ok());
    options.compose.files = nullptr;
    EXPECT_NE(errors(folder + "/x.sjson").find("coral.sjson"), std::string::npos) << diagnostics.format();
    EXPECT_NE(diagnostics.format().find("a prefab is a file with one entity"), std::string::npos)
        << diagnostics.format();
    EXPECT_FALSE(compiled(folder + "/nowhere.sjson").ok());
    std::filesystem::remove_all(folder);
}

TEST_F(Compiler, nothing_leaks) {
    LeakCheck leaks;
    Diagnostics own;
    MemoryFiles texts;
    texts.add("x.sjson", R"(entities = { a = { prefab = "lamp" } b = { prefab = "lamp" } c = { prefab = "none" } })");
    texts.add("lamp.sjson", "components = { glow = { powr = 2 } }");
    CompileOptions own_options;
    own_options.compose.files = &texts;
    EXPECT_FALSE(compile_source("x.sjson", registry, own_options, own).ok());
}

TEST_F(Compiler, a_link_that_leads_out_of_the_roots_is_refused_or_followed_as_asked) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "shoal_link_test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "root");
    std::filesystem::create_directories(folder / "elsewhere");
    ASSERT_TRUE(
        write_file((folder / "elsewhere/secret.sjson").string(), std::string_view("components = { body = {} }")));
    ASSERT_TRUE(write_file((folder / "root/near.sjson").string(), std::string_view("components = { body = {} }")));
    ASSERT_TRUE(write_file((folder / "root/x.sjson").string(), std::string_view("prefab = \"link\"")));
    ASSERT_TRUE(write_file((folder / "root/y.sjson").string(), std::string_view("prefab = \"inside\"")));
    std::filesystem::create_symlink("../elsewhere/secret.sjson", folder / "root/link.sjson");
    std::filesystem::create_symlink("near.sjson", folder / "root/inside.sjson");
    schema("components = { body = null }");
    options.compose.files = nullptr;  // the disk
    const std::string text = errors((folder / "root/x.sjson").string());
    EXPECT_NE(text.find("the prefab \"link\" is a link that leads out of the roots, to "), std::string::npos) << text;
    EXPECT_NE(text.find("elsewhere/secret.sjson; give the folder that it leads to as a root, put the file into one, or "
                        "follow links (--follow-links)"),
              std::string::npos)
        << text;
    EXPECT_TRUE(compiled((folder / "root/y.sjson").string()).ok()) << "a link inside of a root";
    options.compose.follow_links = true;
    EXPECT_TRUE(compiled((folder / "root/x.sjson").string()).ok()) << "links are followed: " << diagnostics.format();
    options.compose.follow_links = false;
    options.compose.roots = {(folder / "root").string(), (folder / "elsewhere").string()};
    EXPECT_TRUE(compiled((folder / "root/x.sjson").string()).ok())
        << "both folders are roots: " << diagnostics.format();
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace shoal_test

#include "support/source_fixture.h"

#include <cstring>
#include <vector>

namespace shoal_test {
namespace {

using SchemaFile = SourceTest;

template <class T>
T default_of(const Schema& schema, std::string_view field) {
    T value;
    std::memcpy(&value,
                schema.default_image().data() +
                    schema.fields()[static_cast<std::size_t>(schema.find_field(field))].struct_offset,
                sizeof(T));
    return value;
}

TEST_F(SchemaFile, declares_component_types_without_cpp) {  // req: D27 F1
    schema(R"(
        components = {
            ship = {
                version = 3  spawn_order = 7  many = true  enableable = true
                fields = {
                    speed = { type = float default = 2.5 unit = "m/s" range = [0 100] }
                    at = { type = vec3 split = true default = [1 2 3] }
                    turn = quaternion
                    state = { type = enum values = [idle busy] default = busy bytes = 1 }
                    rank = { type = enum values = { low = -1 high = 7 } }
                    slots = { type = int16 array = 3 default = [1 2 3] }
                    label = { type = fixed_string capacity = 8 default = "Nemo" }
                    path = { type = blob_array of = vec3 }
                    mesh = resource_id  target = entity
                }
            }
            marker = null
            block = { whole = true fields = { a = uint8 b = double } }
            leash = { fields = { dog = { type = entity relation = dies_too } post = { type = entity relation = kept } } }
        })");
    const RegisteredComponent* ship = registry.find("ship");
    ASSERT_NE(ship, nullptr);
    EXPECT_EQ(ship->spawn_order, 7);
    const Schema& s = *ship->schema;
    EXPECT_EQ(s.version(), 3u);
    EXPECT_TRUE(s.many() && s.enableable() && !s.whole());
    EXPECT_EQ(s.to_text(),
              "ship v3 {speed float, at vec3 split, turn quaternion, state enum(1), rank enum(4), slots int16[3], "
              "label fixed_string(8), "
              "path blob_array, mesh resource_id, target entity}");
    EXPECT_EQ(default_of<float>(s, "speed"), 2.5f);
    EXPECT_EQ(default_of<Vec3>(s, "at"), (Vec3{1, 2, 3}));
    EXPECT_EQ(default_of<Quaternion>(s, "turn"), Quaternion());
    EXPECT_EQ(default_of<std::uint8_t>(s, "state"), 1);
    EXPECT_EQ(default_of<std::int32_t>(s, "rank"), -1) << "the first value, when no default is given";
    EXPECT_EQ((default_of<std::array<std::int16_t, 3>>(s, "slots")), (std::array<std::int16_t, 3>{1, 2, 3}));
    EXPECT_EQ(default_of<FixedString<8>>(s, "label").view(), "Nemo");
    EXPECT_EQ(s.fields()[0].unit, "m/s");
    EXPECT_TRUE(s.fields()[0].has_range && s.fields()[0].maximum == 100);
    EXPECT_EQ(registry.find("marker")->schema->fields().size(), 0u);
    EXPECT_TRUE(registry.find("block")->schema->whole());
    EXPECT_EQ(registry.find("leash")->schema->fields()[0].relation, Relation::kDiesToo);
    EXPECT_EQ(registry.find("leash")->schema->fields()[1].relation, Relation::kKept);
}

TEST_F(SchemaFile, rules_add_up_over_several_files) {
    schema("unknown_components = keep  ignored_keys = [editor \"layer\"]");
    schema("unknown_fields = \"keep\"  ignored_keys = [editor]");
    EXPECT_TRUE(options.rules.keep_unknown_components && options.rules.keep_unknown_fields);
    EXPECT_EQ(options.rules.ignored_keys, (std::vector<std::string>{"editor", "layer"}));
}

TEST_F(SchemaFile, the_same_declaration_twice_is_fine) {
    schema("components = { glow = { fields = { power = float } } }");
    schema("components = { glow = { fields = { power = float } } }");
}

TEST_F(SchemaFile, contradictory_declarations_are_an_error_that_names_both_places) {
    schema("components = { glow = { fields = { power = float } } }");
    EXPECT_EQ(schema_errors("components = {\n  glow = { fields = { power = double } }\n}"),
              "test.schema.sjson:2:3: error: component \"glow\" is already declared, but differently: field "
              "\"power\" differs; it is known as glow v1 {power "
              "float}; make both the same, or rename one\n"
              "    2 |   glow = { fields = { power = double } }\n"
              "      |   ^~~~\n"
              "test.schema.sjson:1:16: note: it is declared here\n"
              "    1 | components = { glow = { fields = { power = float } } }\n"
              "      |                ^~~~\n");
}

TEST_F(SchemaFile, declarations_that_differ_in_any_mark_are_contradictory) {
    const std::string marks[] = {"type = float",
                                 "type = double",
                                 "type = float unit = m",
                                 "type = float unit = kg",
                                 "type = float range = [0 1]",
                                 "type = float range = [0 2]",
                                 "type = float range = [-1 1]",
                                 "type = float default = 1",
                                 "type = float array = 2",
                                 "type = float array = 3",
                                 "type = float shorthand = true",
                                 "type = vec3",
                                 "type = vec3 split = true",
                                 "type = fixed_string capacity = 8",
                                 "type = fixed_string capacity = 16",
                                 "type = enum values = [a b]",
                                 "type = enum values = [a c]",
                                 "type = enum values = { a = 0 b = 2 }",
                                 "type = enum values = [a b] bytes = 1",
                                 "type = enum values = [a b] default = b",
                                 "type = blob_array of = float",
                                 "type = blob_array of = double",
                                 "type = entity",
                                 "type = entity relation = kept",
                                 "type = entity relation = cleared"};
    for (const std::string& first : marks)
        for (const std::string& second : marks) {
            SCOPED_TRACE(first + " and " + second);
            ComponentRegistry both;
            SourceRules rules;
            Diagnostics told;
            const auto declare = [&](const std::string& field) {
                const std::string text = concat("components = { a = { fields = { x = { ", field, " } } } }");
                return read_schema_text(told.add_file("test.schema.sjson", text), both, rules, told);
            };
            ASSERT_TRUE(declare(first)) << told.format();
            EXPECT_EQ(declare(second), first == second);
            EXPECT_EQ(told.num_errors(), first == second ? 0u : 1u);
        }
}

TEST_F(SchemaFile, declarations_that_differ_in_a_mark_of_the_component_are_contradictory) {
    const std::string marks[] = {
        "", "version = 2 ", "whole = true ", "many = true ", "enableable = true ", "singleton = true "};
    for (const std::string& first : marks)
        for (const std::string& second : marks) {
            ComponentRegistry both;
            SourceRules rules;
            Diagnostics told;
            const auto declare = [&](const std::string& mark) {
                const std::string text = concat("components = { a = { ", mark, "fields = { x = float } } }");
                return read_schema_text(told.add_file("test.schema.sjson", text), both, rules, told);
            };
            ASSERT_TRUE(declare(first)) << told.format();
            EXPECT_EQ(declare(second), first == second) << first << "and " << second;
        }
}

TEST_F(SchemaFile, a_second_file_adds_what_the_first_one_does_not_say) {
    schema("components = { glow = { fields = { power = float } } }");
    schema("components = { glow = { renamed_from = gleam  fields = { power = float } } }");
    schema("components = { glow = { fields = { power = float } } }");
    EXPECT_EQ(registry.find_current(ComponentId("gleam")), registry.find("glow"));
    EXPECT_NE(schema_errors("components = { glow = { renamed_from = glare  fields = { power = float } } }")
                  .find("has other `migrations` or `renamed_from` than before"),
              std::string::npos)
        << diagnostics.format();
}

TEST_F(SchemaFile, the_most_fields_are_taken_and_one_more_refused) {
    std::string fields;
    for (std::size_t i = 0; i < kMaxFields; ++i) append_text(fields, concat("f", i, " = int8 "));
    schema(concat("components = { most = { fields = { ", fields, "} } }"));
    EXPECT_EQ(registry.find("most")->schema->fields().size(), kMaxFields);
    EXPECT_NE(
        schema_errors(concat("components = { more = { fields = { ", fields, "more = int8 } } }"))
            .find(concat("component \"more\" has ", kMaxFields + 1, " fields; a component has at most ", kMaxFields)),
        std::string::npos)
        << diagnostics.format();
}

TEST_F(SchemaFile, a_declaration_in_cpp_counts_too) {
    ComponentDefinition definition;
    definition.name = "glow";
    definition.fields.emplace_back().name = "power";
    ASSERT_TRUE(registry.add(*Schema::make(definition)).ok());
    schema("components = { glow = { spawn_order = 4 fields = { power = float } } }");
    EXPECT_EQ(registry.find("glow")->spawn_order, 4);
    EXPECT_NE(schema_errors("components = { glow = { many = true fields = { power = float } } }").find("differs"),
              std::string::npos);
}

TEST_F(SchemaFile, a_wrong_file_adds_nothing) {
    schema_errors("components = { good = {} bad = { fields = { x = flaot } } } unknown_fields = keep");
    EXPECT_EQ(registry.find("good"), nullptr);
    EXPECT_FALSE(options.rules.keep_unknown_fields);
}

TEST_F(SchemaFile, mistakes_say_what_where_and_what_to_do) {
    for (const auto& [text, message] : std::map<std::string, std::string>{
             {"component = {}", "1:1: error: a schema file has no key \"component\"; did you mean `components`?"},
             {"unknown_fields = kep", "1:18: error: `unknown_fields` cannot be this; write keep or error"},
             {"ignored_keys = editor", "`ignored_keys` is a string; write a list: [editor]"},
             {"components = { a = { version = 2 migrations = [ { from = 1 split = { at = [x yy] } } ] fields = { x = "
              "float y = float } } }",
              "1:78: error: component \"a\" has no field \"yy\" in version 2; did you mean \"y\"?"},
             {"components = []", "`components` is a list; write a mapping: { ... }"},
             {"components = { a = { field = {} } }", "component \"a\" has no key \"field\"; did you mean `fields`?"},
             {"components = { a = { many = 1 } }", "`many` is an integer; write true or false"},
             {"components = { a = { version = 0 } }",
              "`version` cannot be this; write a whole number from 1 to 4294967295"},
             {"components = { \"a-b\" = {} }", "a component cannot be called \"a-b\""},
             {"components = { a = { fields = { x = flaot } } }",
              "there is no field type \"flaot\"; did you mean float?"},
             {"components = { a = { fields = { x = {} } } }",
              "field \"x\" has no type; write { type = float } or the type alone"},
             {"components = { a = { fields = { x = { type = float rnage = [0 1] } } } }",
              "field \"x\" has no key \"rnage\"; did you mean `range`?"},
             {"components = { a = { fields = { x = { type = float range = 1 } } } }",
              "`range` is not two numbers; write [least greatest]"},
             {"components = { a = { fields = { x = { type = float range = [1 0] } } } }", "the range 1 to 0 is empty"},
             {"components = { a = { fields = { x = { type = float range = [0 1] default = 2 } } } }",
              "2 is out of range; write a number from 0 to 1"},
             {"components = { a = { fields = { x = { type = float default = yes } } } }",
              "this is a string, but the field is a float; write a number"},
             {"components = { a = { fields = { x = enum } } }", "field \"x\" is of type enum, which needs `values`"},
             {"components = { a = { fields = { x = { type = enum values = [a a] } } } }", "the enum names \"a\" twice"},
             {"components = { a = { fields = { x = fixed_string } } }",
              "field \"x\" is of type fixed_string, which needs `capacity`"},
             {"components = { a = { fields = { x = blob_array } } }",
              "field \"x\" is of type blob_array, which needs `of`"},
             {"components = { a = { fields = { x = { type = blob_array of = entity } } } }",
              "a blob array holds numbers, vectors, string ids or resource ids"},
             {"components = { a = { fields = { x = { type = float split = true } } } }",
              "field \"x\" is of type float, and `split` is for vectors and quaternions"},
             {"components = { a = { whole = true fields = { x = { type = vec3 split = true } } } }",
              "component \"a\" is `whole`, and its field \"x\" is `split`"},
             {"components = { a = { fields = { x = { type = float range = [1 2] } } } }",
              "without a default it is 0, which is outside the range 1 to 2"},
             {"components = { a = { fields = { x = { type = entity relation = dies } } } }",
              "`relation` does not say what becomes of the reference when its target dies; write kept, cleared or "
              "dies_too"},
             {"components = { a = { fields = { x = { type = float relation = kept } } } }",
              "field \"x\" is of type float, and `relation` is for single entities"},
             {"components = { a = { many = true fields = { x = { type = entity relation = kept } } } }",
              "a relation is one entity, of a component that an entity has once; remove `relation` or `many`"},
             {"components = { a = { fields = { x = { type = float of = vec3 } } } }",
              "field \"x\" is of type float, and `of` is for blob arrays"},
             {"components = { a = { fields = { x = { type = float capacity = 3 } } } }",
              "field \"x\" is of type float, and `capacity` is for fixed strings"},
             {"components = { a = { fields = { x = { type = float values = [b] } } } }",
              "field \"x\" is of type float, and `values` is for enums"},
             {"components = { a = { fields = { x = { type = float bytes = 1 } } } }",
              "field \"x\" is of type float, and `bytes` is for enums"},
             {"components = { a = { fields = { x = { type = bool range = [0 1] } } } }",
              "field \"x\" is of type bool, and `range` is for numbers and vectors"},
             {"components = { a = { fields = { x = { type = string_id range = [0 1] } } } }",
              "field \"x\" is of type string_id, and `range` is for numbers and vectors"},
             {"components = { a = { fields = { x = { type = entity array = 2 relation = kept } } } }",
              "component \"a\", field \"x\": a relation is one entity, of a component that an entity has once"},
             {"components = { a = { fields = { x = { type = int8 range = [-9 -2] } } } }",
              "without a default it is 0, which is outside the range -9 to -2"},
             {"components = { a = { fields = { x = { type = enum values = 3 } } } }",
              "`values` is an integer; write a list of names, or names with numbers"},
             {"components = { a = { fields = { x = { type = enum values = [3] } } } }", "the name of a value"},
             {"components = { a = { renamed_from = a } }", "component \"a\" is renamed from \"a\"; write the name"},
             {"components = { a = { renamed_from = \"\" } }", "component \"a\" is renamed from \"\"; write the name"},
             {"components = { a = { fields = { x = { type = entity default = b } } } }",
              "the default of an entity must be null; remove it"}}) {
        SCOPED_TRACE(text);
        EXPECT_NE(schema_errors(text).find(message), std::string::npos) << diagnostics.format();
    }
}

}  // namespace
}  // namespace shoal_test

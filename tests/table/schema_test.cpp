// Schemas made from definitions: places, every error, and the layout hash.

#include "shoal/table/detail/schema.h"
#include "shoal/table/describe.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

namespace shoal {
namespace {

FieldDefinition field(const char* name, FieldType type) {
    FieldDefinition result;
    result.name = name;
    result.type = type;
    return result;
}

template <class T>
Array<std::byte> bytes_of(const T& value) {
    Array<std::byte> result(sizeof(T));
    std::memcpy(result.data(), &value, sizeof(T));
    return result;
}

ComponentDefinition base() {
    ComponentDefinition definition;
    definition.name = "thing";
    definition.fields = {field("mass", FieldType::kFloat), field("position", FieldType::kVec3),
                         field("kind", FieldType::kEnum)};
    definition.fields[2].value_bytes = 1;
    definition.fields[2].enumerators = {{"a", 0}, {"b", 1}};
    return definition;
}

using Change = std::function<void(ComponentDefinition&)>;

std::string error_after(const Change& change) {
    ComponentDefinition definition = base();
    change(definition);
    const Result<Schema> result = Schema::make(std::move(definition));
    return std::string(result.message());
}

std::uint64_t hash_after(const Change& change) {
    ComponentDefinition definition = base();
    change(definition);
    const Result<Schema> result = Schema::make(std::move(definition));
    EXPECT_TRUE(result) << result.message();
    return result ? result->layout_hash() : 0;
}

TEST(Schema, lays_fields_out_as_c_would) {
    struct AsC {
        std::uint8_t flag;
        double number;
        std::uint16_t small;
        Vec3 vector;
        std::uint8_t last[3];
    };
    ComponentDefinition definition;
    definition.name = "as_c";
    definition.fields = {field("flag", FieldType::kBool), field("number", FieldType::kDouble),
                         field("small", FieldType::kUint16), field("vector", FieldType::kVec3),
                         field("last", FieldType::kUint8)};
    definition.fields[4].array_length = 3;
    const Result<Schema> schema = Schema::make(definition);
    ASSERT_TRUE(schema) << schema.message();
    EXPECT_EQ(schema->fields()[1].struct_offset, offsetof(AsC, number));
    EXPECT_EQ(schema->fields()[2].struct_offset, offsetof(AsC, small));
    EXPECT_EQ(schema->fields()[3].struct_offset, offsetof(AsC, vector));
    EXPECT_EQ(schema->fields()[4].struct_offset, offsetof(AsC, last));
    EXPECT_EQ(schema->struct_bytes(), sizeof(AsC));
    EXPECT_EQ(schema->struct_alignment(), alignof(AsC));
    EXPECT_EQ(schema->row_bytes(), 1u + 8 + 2 + 12 + 3);
    EXPECT_EQ(schema->default_image().size(), sizeof(AsC));
    EXPECT_EQ(schema->find_field("vector"), 3);
    EXPECT_EQ(schema->find_field("victor"), -1);
    EXPECT_FALSE(schema->has_opaque());
    EXPECT_TRUE(schema->has(FieldType::kVec3));
    EXPECT_FALSE(schema->has(FieldType::kEntity));
}

TEST(Schema, says_what_it_is) {
    ComponentDefinition definition = base();
    definition.version = 4;
    definition.fields[0].array_length = 2;
    definition.fields[1].split = true;
    EXPECT_EQ(Schema::make(definition)->to_text(), "thing v4 {mass float[2], position vec3 split, kind enum(1)}");
    definition.whole = true;
    EXPECT_EQ(Schema::make(definition)->to_text(), "thing v4 whole {mass float[2], position vec3 split, kind enum(1)}");
    ComponentDefinition bond{.name = "bond"};
    bond.fields = {field("to", FieldType::kEntity), field("from", FieldType::kEntity)};
    bond.fields[0].relation = Relation::kCleared;
    EXPECT_EQ(Schema::make(bond)->to_text(), "bond v1 {to entity relation cleared, from entity}");
}

TEST(Schema, of_several_components_has_the_columns_and_types_of_all) {
    ComponentDefinition bond{.name = "bond"};
    bond.fields = {field("to", FieldType::kEntity), field("weight", FieldType::kDouble)};
    const Schema first = *Schema::make(base()), second = *Schema::make(bond);
    for (const bool backwards : {false, true}) {
        const Schema* const both[] = {backwards ? &second : &first, backwards ? &first : &second};
        const Schema all = Schema::combine(both);
        EXPECT_EQ(all.row_bytes(), first.row_bytes() + second.row_bytes());
        EXPECT_EQ(all.num_columns(), first.num_columns() + second.num_columns());
        for (const FieldType type :
             {FieldType::kFloat, FieldType::kVec3, FieldType::kEnum, FieldType::kEntity, FieldType::kDouble})
            EXPECT_TRUE(all.has(type)) << field_type_name(type);
        EXPECT_FALSE(all.has(FieldType::kBool));
    }
}

TEST(Schema, a_default_from_bytes_comes_out_in_the_image) {
    ComponentDefinition definition = base();
    definition.fields[1].default_value = bytes_of(Vec3{1, 2, 3});
    const Result<Schema> schema = Schema::make(definition);
    ASSERT_TRUE(schema) << schema.message();
    Vec3 value;
    std::memcpy(static_cast<void*>(&value), schema->default_image().data() + schema->fields()[1].struct_offset,
                sizeof value);
    EXPECT_EQ(value, (Vec3{1, 2, 3}));
}

TEST(Schema, every_error_says_what_and_where) {
    static const OpaqueOperations& text = opaque_operations<std::string>();
    struct Case {
        const char* expected;
        Change change;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Case cases[] = {
        {"a component cannot be called \"\"", [](auto& d) { d.name = ""; }},
        {"a component cannot be called \"two words\"", [](auto& d) { d.name = "two words"; }},
        {"a component cannot be called \"2fast\"", [](auto& d) { d.name = "2fast"; }},
        {"cannot be called", [](auto& d) { d.name = std::string(129, 'a'); }},
        {"component \"thing\": it has 65 fields; at most 64",
         [](auto& d) {
             d.fields.clear();
             for (int i = 0; i < 65; ++i)
                 d.fields.push_back(field(("f" + std::to_string(i)).c_str(), FieldType::kBool));
         }},
        {"component \"thing\", field \"mass\": declared twice", [](auto& d) { d.fields[1].name = "mass"; }},
        {"field \"beta\": its keys go to \"alpha\", which is no blob array of integers",
         [](auto& d) {
             d.fields = {field("alpha", FieldType::kBlobArray), field("beta", FieldType::kBlobArray),
                         field("gamma", FieldType::kBlobArray)};
             for (FieldDefinition& each : d.fields) each.element_type = FieldType::kInt32;
             d.fields[0].keys = "gamma", d.fields[1].keys = "alpha";
         }},
        {"is not a name", [](auto& d) { d.fields[1].name = std::string(64, 'a') + "." + std::string(64, 'b'); }},
        {"field \"no-name\": is not a name", [](auto& d) { d.fields[1].name = "no-name"; }},
        {"field \"mass\": has no type", [](auto& d) { d.fields[0].type = FieldType(0); }},
        {"field \"mass\": has no type", [](auto& d) { d.fields[0].type = FieldType(99); }},
        {"an array holds at most 65536 values", [](auto& d) { d.fields[0].array_length = 65537; }},
        {"a float has 4 bytes, not 8", [](auto& d) { d.fields[0].value_bytes = 8; }},
        {"an enum has 1, 2, 4 or 8 bytes", [](auto& d) { d.fields[2].value_bytes = 3; }},
        {"an enum has 1, 2, 4 or 8 bytes", [](auto& d) { d.fields[2].value_bytes = 0; }},
        {"an enum needs at least one named value", [](auto& d) { d.fields[2].enumerators.clear(); }},
        {"the enum names \"a\" twice", [](auto& d) { d.fields[2].enumerators[1].name = "a"; }},
        {"the enum value \"b\" = 256 does not fit 1 byte;", [](auto& d) { d.fields[2].enumerators[1].value = 256; }},
        {"the enum value \"b\" = -129 does not fit 1 byte;", [](auto& d) { d.fields[2].enumerators[1].value = -129; }},
        {"a fixed string has a capacity of 2 to 4096", [](auto& d) { d.fields[0].type = FieldType::kFixedString; }},
        {"a fixed string has a capacity of 2 to 4096",
         [](auto& d) {
             d.fields[0].type = FieldType::kFixedString;
             d.fields[0].value_bytes = 4097;
         }},
        {"a blob array holds numbers, vectors, string ids or resource ids",
         [](auto& d) { d.fields[0].type = FieldType::kBlobArray; }},
        {"a blob array holds",
         [](auto& d) {
             d.fields[0].type = FieldType::kBlobArray;
             d.fields[0].element_type = FieldType::kEntity;
         }},
        {"a blob array holds",
         [](auto& d) {
             d.fields[0].type = FieldType::kBlobArray;
             d.fields[0].element_type = FieldType::kEnum;
         }},
        {"an opaque C++ type needs its operations", [](auto& d) { d.fields[0].type = FieldType::kOpaque; }},
        {"cannot be an array",
         [](auto& d) {
             d.fields[0].type = FieldType::kOpaque;
             d.fields[0].opaque = &text;
             d.fields[0].array_length = 2;
         }},
        {"an opaque C++ type cannot be part of a whole component",
         [](auto& d) {
             d.fields[0].type = FieldType::kOpaque;
             d.fields[0].opaque = &text;
             d.whole = true;
         }},
        {"its C++ type has ",
         [](auto& d) {
             d.fields[0].type = FieldType::kOpaque;
             d.fields[0].opaque = &text;
             d.fields[0].value_bytes = 5;
         }},
        {"only vec2, vec3, vec4 and quaternion fields can be split", [](auto& d) { d.fields[0].split = true; }},
        {"fields can be split",
         [](auto& d) {
             d.fields[1].split = true;
             d.fields[1].array_length = 2;
         }},
        {"a enum cannot have a range", [](auto& d) { d.fields[2].has_range = true; }},
        {"the range 2 to 1 is empty",
         [](auto& d) {
             d.fields[0].has_range = true;
             d.fields[0].minimum = 2, d.fields[0].maximum = 1;
         }},
        {"the range nan to 1 is empty",
         [nan](auto& d) {
             d.fields[0].has_range = true;
             d.fields[0].minimum = nan, d.fields[0].maximum = 1;
         }},
        {"the range 0 to nan is empty",
         [nan](auto& d) {
             d.fields[0].has_range = true;
             d.fields[0].maximum = nan;
         }},
        {"the default has 3 bytes, the field 4", [](auto& d) { d.fields[0].default_value.resize(3); }},
        {"the default 7 is outside the range 1 to 5",
         [](auto& d) {
             d.fields[0].has_range = true;
             d.fields[0].minimum = 1, d.fields[0].maximum = 5;
             d.fields[0].default_value = bytes_of(7.f);
         }},
        {"the default 9 is outside the range 0 to 5",
         [](auto& d) {
             d.fields[1].has_range = true;
             d.fields[1].maximum = 5;
             d.fields[1].default_value = bytes_of(Vec3{1, 2, 9});
         }},
        {"the default 9 is outside the range 0 to 5",
         [](auto& d) {
             d.fields[0].has_range = true;
             d.fields[0].maximum = 5;
             d.fields[0].array_length = 2;
             d.fields[0].default_value = bytes_of(std::array{1.f, 9.f});
         }},
        {"is outside the range 0 to 5",
         [nan](auto& d) {
             d.fields[0].has_range = true;
             d.fields[0].maximum = 5;
             d.fields[0].default_value = bytes_of(nan);
         }},
        {"its fields lie outside the struct", [](auto& d) { d.struct_bytes = 12; }},
        {"no multiple of its alignment, 4", [](auto& d) { d.struct_bytes = 18; }},
        {"it is aligned to 128 bytes", [](auto& d) { d.struct_alignment = 128; }},
        {"it is aligned to 3 bytes", [](auto& d) { d.fields.clear(), d.struct_alignment = 3; }},
        {"field \"mass\": it lies at byte 2, but is aligned to 4", [](auto& d) { d.fields[0].struct_offset = 2; }},
        {"field \"position\": it lies over field \"mass\"",
         [](auto& d) {
             d.fields[0].struct_offset = 8;
             d.fields[1].struct_offset = 0;
         }},
        {"field \"position\": it ends beyond 1048576 bytes", [](auto& d) { d.fields[1].struct_offset = 0xFFFFFFF8; }},
        {"field \"kind\": it ends beyond 1048576 bytes",
         [](auto& d) {
             d.fields[0].array_length = 65536;
             d.fields[1].array_length = 65536;
         }},
        {"it has 2097152 bytes; at most 1048576 are possible", [](auto& d) { d.struct_bytes = 1 << 21; }},
    };
    for (const Case& c : cases) {
        const std::string message = error_after(c.change);
        EXPECT_NE(message.find(c.expected), std::string::npos) << "expected: " << c.expected << "\nbut: " << message;
        if (message.find("cannot be called") == std::string::npos) {
            EXPECT_NE(message.find("component \"thing\""), std::string::npos) << message;
        }
    }
    EXPECT_EQ(error_after([](auto&) {}), "");
}

TEST(Schema, what_is_just_allowed_is_allowed) {
    const Change allowed[] = {
        [](auto& d) { d.name = std::string(128, 'a'); },
        [](auto& d) { d.fields[0].array_length = 65536; },
        [](auto& d) { d.fields[2].enumerators = {{"low", -128}, {"high", 255}}; },
        [](auto& d) {
            d.fields[2].value_bytes = 8;
            d.fields[2].enumerators = {{"low", std::numeric_limits<std::int64_t>::min()},
                                       {"high", std::numeric_limits<std::int64_t>::max()}};
        },
        [](auto& d) { d.fields[0].value_bytes = 4; },
        [](auto& d) { d.fields[0].type = FieldType::kFixedString, d.fields[0].value_bytes = 4096; },
        [](auto& d) { d.fields[1].name = std::string(64, 'a') + "." + std::string(63, 'b'); },
        [](auto& d) { d.fields[0].struct_offset = 12, d.fields[1].struct_offset = 0, d.fields[2].struct_offset = 16; },
        [](auto& d) { d.fields.clear(); },
        [](auto& d) { d.struct_alignment = 64; },
        [](auto& d) {
            d.fields[0].has_range = true;
            d.fields[0].minimum = d.fields[0].maximum = 5;
            d.fields[0].default_value = bytes_of(5.f);
        },
        [](auto& d) {
            d.fields[0].type = FieldType::kOpaque;
            d.fields[0].opaque = &opaque_operations<std::string>();
        },
    };
    for (const Change& change : allowed) EXPECT_EQ(error_after(change), "");
    ComponentDefinition definition = base();
    definition.struct_alignment = 64;
    EXPECT_EQ(Schema::make(definition)->struct_bytes(), 64u) << "a multiple of the alignment";
    for (const bool has_zero : {false, true}) {
        ComponentDefinition moods = base();
        moods.fields[2].enumerators = {{"high", 5}, {"low", has_zero ? 0 : 3}};
        moods.fields[2].array_length = 3;
        const Result<Schema> schema = Schema::make(moods);
        for (std::uint32_t i = 0; i < 3; ++i)
            EXPECT_EQ(schema->default_image()[schema->fields()[2].struct_offset + i], std::byte(has_zero ? 0 : 5))
                << "0 if it has a name, and otherwise the first value, in each element";
    }
}

TEST(Schema, the_layout_hash_ignores_what_does_not_change_bytes) {
    const std::uint64_t hash = hash_after([](auto&) {});
    EXPECT_NE(hash, 0u);
    EXPECT_EQ(hash_after([](auto& d) { d.fields[0].unit = "kg"; }), hash);
    EXPECT_EQ(hash_after([](auto& d) { d.fields[0].default_value = bytes_of(3.f); }), hash);
    EXPECT_EQ(hash_after([](auto& d) { d.fields[0].has_range = true, d.fields[0].maximum = 1; }), hash);
    EXPECT_EQ(hash_after([](auto& d) { d.enableable = true; }), hash);
    EXPECT_EQ(hash_after([](auto& d) { d.struct_bytes = 64; }), hash) << "columns do not see the struct";
}

TEST(Schema, the_layout_hash_tells_different_columns_apart) {
    const Change changes[] = {
        [](auto&) {},
        [](auto& d) { d.name = "other"; },
        [](auto& d) { d.fields[0].name = "weight"; },
        [](auto& d) { d.fields[0].type = FieldType::kUint32; },
        [](auto& d) { d.fields[1].split = true; },
        [](auto& d) { d.whole = true; },
        [](auto& d) { d.whole = true, d.struct_bytes = 64; },
        [](auto& d) { d.whole = true, d.struct_bytes = 64, d.fields[2].struct_offset = 20; },
        [](auto& d) { std::swap(d.fields[0], d.fields[1]); },
        [](auto& d) { d.fields.pop_back(); },
        [](auto& d) { d.fields[0].array_length = 1; },
        [](auto& d) { d.fields[0].array_length = 2; },
        [](auto& d) { d.fields[2].value_bytes = 2; },
        [](auto& d) { d.fields[2].enumerators[1].value = 2; },
        [](auto& d) { d.fields[2].enumerators[1].name = "c"; },
        [](auto& d) { d.fields.push_back(field("extra", FieldType::kBool)); },
        [](auto& d) {
            d.fields.push_back(field("extra", FieldType::kBlobArray));
            d.fields.back().element_type = FieldType::kFloat;
        },
        [](auto& d) {
            d.fields.push_back(field("extra", FieldType::kBlobArray));
            d.fields.back().element_type = FieldType::kUint32;
        },
    };
    std::vector<std::uint64_t> hashes;
    for (const Change& change : changes) hashes.push_back(hash_after(change));
    for (std::size_t i = 0; i < hashes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(hashes[i], hashes[j]) << "changes " << i << " and " << j;
}

}  // namespace
}  // namespace shoal

// Declarations: SHOAL_COMPONENT, SHOAL_ENUM, FieldTraits, and what make_definition and schema_of make of them.

#include "shoal/table/describe.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

namespace game {

struct MyVec {
    float x, y, z;
};
struct MyPoint {
    double value;
};

}  // namespace game

template <>
struct shoal::FieldTraits<game::MyVec> : shoal::PlainField<shoal::FieldType::kVec3> {};

namespace game {

enum class Shape : std::uint8_t { kBox, kSphere = 7, kMesh };
SHOAL_ENUM(Shape, (kBox, "box"), (kSphere, "sphere"), kMesh)
enum Side : std::int16_t { kLeft = -1, kRight = 1 };
SHOAL_ENUM(Side, kLeft, kRight)
enum class Plain : std::uint32_t { kOne = 1 };

/// Names that a program may well use itself must not get in the way of the attributes.
[[maybe_unused]] inline int split() { return 0; }
[[maybe_unused]] constexpr int range = 3;
struct unit {};

/// Members that are no fields, among them a type that no field can have.
struct Lamp {
    float light = 1;
    void* scratch = nullptr;
    float warmth = 2;
    int history[3] = {};
};
SHOAL_COMPONENT(Lamp, (light, unit("lx")), (scratch, ignored), warmth, (history, ignored))

struct Coral {
    static constexpr const char* kStockName = "coral_stock";
};
struct Kelp {
    static constexpr const char* kStockName = "kelp_stock";
};
template <class Of>
struct Stock {
    float amount = 3;
};
SHOAL_COMPONENT_TEMPLATE((class Of), (Stock<Of>, name(Of::kStockName)), (amount, unit("kg")))
template <class A, class B>
struct Pair {
    A a;
    B b;
};
SHOAL_COMPONENT_TEMPLATE((class A, class B), ((Pair<A, B>), name("pair"), version(2)), a, b)

struct Everything {
    bool flag = true;
    std::int8_t i8 = -1;
    std::int16_t i16 = -2;
    std::int32_t i32 = -3;
    std::int64_t i64 = -4;
    std::uint8_t u8 = 1;
    std::uint16_t u16 = 2;
    std::uint32_t u32 = 3;
    std::uint64_t u64 = 4;
    float f = 0.5f;
    double d = 0.25;
    shoal::Vec2 v2{1, 2};
    shoal::Vec3 v3{1, 2, 3};
    shoal::Vec4 v4{1, 2, 3, 4};
    shoal::Quaternion q;
    shoal::Matrix3x4 m;
    Shape shape = Shape::kSphere;
    Side side = kRight;
    Plain plain = Plain::kOne;
    shoal::StringId string{11};
    shoal::ResourceId resource{12};
    shoal::Entity entity{13};
    shoal::FixedString<12> text{"hello"};
    shoal::BlobArray<float> samples;
    std::array<std::uint16_t, 3> small{7, 8, 9};
    float c_array[4] = {1, 2, 3, 4};
    std::array<Shape, 2> shapes{Shape::kMesh, Shape::kBox};
    shoal::FixedString<4> texts[2] = {shoal::FixedString<4>("ab"), shoal::FixedString<4>("cd")};
    MyVec mine{4, 5, 6};
    std::string opaque = "opaque";
};
SHOAL_COMPONENT(Everything, flag, i8, i16, i32, i64, u8, u16, u32, u64, f, d, v2, v3, v4, q, m, shape, side, plain,
                string, resource, entity, text, samples, small, c_array, shapes, texts, mine, opaque)

struct Noted {
    float mass = 1;
    shoal::Vec3 position;
    int level = 2;
    MyVec velocity{};
    shoal::Quaternion spin;
};
SHOAL_COMPONENT((Noted, version(3), name("annotated"), enableable, many), (mass, unit("kg"), range(0, 1e9)),
                (position, split, unit("m")), (level, range(-5, 5)), (velocity, split), spin)

struct Whole {
    std::uint8_t small = 1;
    shoal::Vec3 position{1, 2, 3};
    double big = 4;
};
SHOAL_COMPONENT((Whole, whole), small, (position, split), big)

struct Nothing {};
SHOAL_COMPONENT(Nothing)

struct HTTPServer2 {
    int port = 80;
};
SHOAL_COMPONENT((HTTPServer2), (port))

struct Outer {
    struct Inner {
        int value = 9;
    };
};
SHOAL_COMPONENT((Outer::Inner, name("inner")), value)

struct MoveOnly {
    std::unique_ptr<int> pointer;
    int number = 5;
};
SHOAL_COMPONENT(MoveOnly, pointer, number)

struct Sixty4 {
    int a0 = 0, a1 = 1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5,
        c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3,
        f4, f5, f6, f7, f8, f9, g0, g1, g2, g3 = 63;
};
SHOAL_COMPONENT(Sixty4, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3,
                c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9,
                f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, g0, g1, g2, (g3, unit("last")))

}  // namespace game

namespace elsewhere {

template <class T>
const shoal::Schema& schema_seen_from_here() {
    return shoal::schema_of<T>();
}

}  // namespace elsewhere

namespace shoal {
namespace {

const Field& field_of(const Schema& schema, std::string_view name) {
    const int index = schema.find_field(name);
    EXPECT_GE(index, 0) << "no field called " << name;
    return schema.fields()[static_cast<std::size_t>(index < 0 ? 0 : index)];
}

template <class T>
T default_of(const Schema& schema, std::string_view name) {
    const Field& field = field_of(schema, name);
    EXPECT_EQ(field.size, sizeof(T));
    T value;
    std::memcpy(static_cast<void*>(&value), schema.default_image().data() + field.struct_offset, sizeof(T));
    return value;
}

TEST(Describe, every_cpp_type_has_its_field_type) {
    const Schema& schema = schema_of<game::Everything>();
    const std::pair<const char*, FieldType> expected[] = {
        {"flag", FieldType::kBool},         {"i8", FieldType::kInt8},          {"i16", FieldType::kInt16},
        {"i32", FieldType::kInt32},         {"i64", FieldType::kInt64},        {"u8", FieldType::kUint8},
        {"u16", FieldType::kUint16},        {"u32", FieldType::kUint32},       {"u64", FieldType::kUint64},
        {"f", FieldType::kFloat},           {"d", FieldType::kDouble},         {"v2", FieldType::kVec2},
        {"v3", FieldType::kVec3},           {"v4", FieldType::kVec4},          {"q", FieldType::kQuaternion},
        {"m", FieldType::kMatrix3x4},       {"shape", FieldType::kEnum},       {"side", FieldType::kEnum},
        {"plain", FieldType::kUint32},      {"string", FieldType::kStringId},  {"resource", FieldType::kResourceId},
        {"entity", FieldType::kEntity},     {"text", FieldType::kFixedString}, {"samples", FieldType::kBlobArray},
        {"small", FieldType::kUint16},      {"c_array", FieldType::kFloat},    {"shapes", FieldType::kEnum},
        {"texts", FieldType::kFixedString}, {"mine", FieldType::kVec3},        {"opaque", FieldType::kOpaque}};
    ASSERT_EQ(schema.fields().size(), std::size(expected));
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(schema.fields()[i].name, expected[i].first);
        EXPECT_EQ(schema.fields()[i].type, expected[i].second) << expected[i].first;
        EXPECT_TRUE(schema.has(expected[i].second));
        EXPECT_EQ(schema.columns()[i].field_index, i) << "apart: one column per field";
    }
    EXPECT_EQ(schema.struct_bytes(), sizeof(game::Everything));
    EXPECT_EQ(schema.struct_alignment(), alignof(game::Everything));
    EXPECT_EQ(field_of(schema, "m").struct_offset, offsetof(game::Everything, m));
    EXPECT_TRUE(schema.has_opaque());
    EXPECT_EQ(field_of(schema, "samples").element_type, FieldType::kFloat);
}

TEST(Describe, arrays_hold_their_values_side_by_side) {
    const Schema& schema = schema_of<game::Everything>();
    EXPECT_EQ(field_of(schema, "small").array_length, 3u);
    EXPECT_EQ(field_of(schema, "small").size, 6u);
    EXPECT_EQ(field_of(schema, "c_array").array_length, 4u);
    EXPECT_EQ(field_of(schema, "shapes").array_length, 2u);
    EXPECT_EQ(field_of(schema, "shapes").enumerators.size(), 3u);
    EXPECT_EQ(field_of(schema, "texts").size, 8u);
    EXPECT_EQ(field_of(schema, "f").array_length, 0u);
    EXPECT_EQ((default_of<std::array<float, 4>>(schema, "c_array")), (std::array<float, 4>{1, 2, 3, 4}));
    EXPECT_EQ((default_of<std::array<game::Shape, 2>>(schema, "shapes"))[0], game::Shape::kMesh);
}

TEST(Describe, defaults_are_those_of_the_struct) {
    const Schema& schema = schema_of<game::Everything>();
    EXPECT_EQ(default_of<bool>(schema, "flag"), true);
    EXPECT_EQ(default_of<std::int64_t>(schema, "i64"), -4);
    EXPECT_EQ(default_of<double>(schema, "d"), 0.25);
    EXPECT_EQ(default_of<Vec4>(schema, "v4"), (Vec4{1, 2, 3, 4}));
    EXPECT_EQ(default_of<Quaternion>(schema, "q"), Quaternion());
    EXPECT_EQ(default_of<Matrix3x4>(schema, "m"), Matrix3x4());
    EXPECT_EQ(default_of<game::Shape>(schema, "shape"), game::Shape::kSphere);
    EXPECT_EQ(default_of<Entity>(schema, "entity"), Entity{13});
    EXPECT_EQ(default_of<FixedString<12>>(schema, "text").view(), "hello");
    EXPECT_EQ(default_of<game::MyVec>(schema, "mine").y, 5);
}

TEST(Describe, an_enum_lists_its_names_and_values) {
    const Field& shape = field_of(schema_of<game::Everything>(), "shape");
    const Array<EnumeratorDefinition> shapes{{"box", 0}, {"sphere", 7}, {"kMesh", 8}};
    EXPECT_EQ(shape.enumerators, shapes);
    EXPECT_EQ(shape.value_bytes, 1u);
    const Field& side = field_of(schema_of<game::Everything>(), "side");
    const Array<EnumeratorDefinition> sides{{"kLeft", -1}, {"kRight", 1}};
    EXPECT_EQ(side.enumerators, sides);
    EXPECT_EQ(side.value_bytes, 2u);
    EXPECT_TRUE(field_of(schema_of<game::Everything>(), "plain").enumerators.empty());
}

TEST(Describe, attributes_reach_the_schema) {
    const Schema& schema = schema_of<game::Noted>();
    EXPECT_EQ(schema.name(), "annotated");
    EXPECT_EQ(schema.id(), ComponentId(std::string_view("annotated")));
    EXPECT_EQ(schema.version(), 3u);
    EXPECT_TRUE(schema.enableable());
    EXPECT_TRUE(schema.many());
    EXPECT_FALSE(schema.whole());
    const Field& mass = field_of(schema, "mass");
    EXPECT_EQ(mass.unit, "kg");
    EXPECT_TRUE(mass.has_range);
    EXPECT_EQ(mass.minimum, 0);
    EXPECT_EQ(mass.maximum, 1e9);
    const Field& position = field_of(schema, "position");
    EXPECT_EQ(position.unit, "m");
    EXPECT_TRUE(position.split);
    EXPECT_FALSE(position.has_range);
    EXPECT_EQ(field_of(schema, "level").minimum, -5);
    EXPECT_TRUE(field_of(schema, "velocity").split) << "a type of the program's own can be split";
}

TEST(Describe, a_split_field_has_one_column_per_lane) {  // req: B4
    const Schema& schema = schema_of<game::Noted>();
    ASSERT_EQ(schema.columns().size(), 1u + 3 + 1 + 3 + 1);
    EXPECT_EQ(field_of(schema, "position").first_column, 1u);
    EXPECT_EQ(field_of(schema, "position").num_columns, 3u);
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
        const ColumnDefinition& column = schema.columns()[1 + lane];
        EXPECT_EQ(column.field_index, 1u);
        EXPECT_EQ(column.lane, lane);
        EXPECT_EQ(column.element_bytes, 4u);
        EXPECT_EQ(column.struct_offset, offsetof(game::Noted, position) + 4 * lane);
    }
    EXPECT_EQ(field_of(schema, "spin").first_column, 8u);
    EXPECT_EQ(schema.row_bytes(), 4u + 12 + 4 + 12 + 16);
    using Description = DescriptionOf<game::Noted>;
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(Description::first_column(i), schema.fields()[static_cast<std::size_t>(i)].first_column)
            << "what the compiler knows is what the schema says";
    EXPECT_TRUE(Description::split(1));
    EXPECT_FALSE(Description::split(0));
    EXPECT_EQ(Description::field_index<&game::Noted::level>(), 2);
}

TEST(Describe, a_whole_component_has_one_column) {
    const Schema& schema = schema_of<game::Whole>();
    ASSERT_EQ(schema.columns().size(), 1u);
    EXPECT_EQ(schema.columns()[0].field_index, ColumnDefinition::kWholeComponent);
    EXPECT_EQ(schema.columns()[0].element_bytes, sizeof(game::Whole));
    EXPECT_EQ(schema.columns()[0].alignment, alignof(game::Whole));
    EXPECT_EQ(field_of(schema, "position").num_columns, 1u) << "whole wins over split";
    EXPECT_FALSE(DescriptionOf<game::Whole>::split(1));
    EXPECT_EQ(DescriptionOf<game::Whole>::first_column(2), 0u);
    EXPECT_EQ(default_of<Vec3>(schema, "position"), (Vec3{1, 2, 3}));
}

TEST(Describe, a_component_can_have_no_fields_or_64) {
    const Schema& nothing = schema_of<game::Nothing>();
    EXPECT_EQ(nothing.fields().size(), 0u);
    EXPECT_EQ(nothing.columns().size(), 0u);
    EXPECT_EQ(nothing.row_bytes(), 0u);
    const Schema& sixty4 = schema_of<game::Sixty4>();
    ASSERT_EQ(sixty4.fields().size(), 64u);
    EXPECT_EQ(sixty4.fields()[63].name, "g3");
    EXPECT_EQ(sixty4.fields()[63].unit, "last");
    EXPECT_EQ(default_of<int>(sixty4, "g3"), 63);
    EXPECT_EQ(DescriptionOf<game::Sixty4>::field_index<&game::Sixty4::g3>(), 63);
}

TEST(Describe, names_are_snake_case_unless_given) {
    EXPECT_EQ(schema_of<game::HTTPServer2>().name(), "http_server2");
    EXPECT_EQ(schema_of<game::Outer::Inner>().name(), "inner");
    const std::pair<const char*, const char*> cases[] = {{"PointMass", "point_mass"},
                                                         {"A", "a"},
                                                         {"ABC", "abc"},
                                                         {"HTTPServer", "http_server"},
                                                         {"GPU2", "gpu2"},
                                                         {"RGB8Image", "rgb8_image"},
                                                         {"already_snake", "already_snake"},
                                                         {"Mixed_Case", "mixed_case"},
                                                         {"Vec3", "vec3"},
                                                         {"UVec3", "u_vec3"},
                                                         {"x", "x"},
                                                         {"", ""},
                                                         {"aB", "a_b"},
                                                         {"_Private", "_private"}};
    for (const auto& [from, to] : cases) EXPECT_EQ(snake_case(from), to) << from;
}

TEST(Describe, an_ignored_member_is_no_field) {
    const Schema& schema = schema_of<game::Lamp>();
    ASSERT_EQ(schema.fields().size(), 2u);
    EXPECT_EQ(schema.fields()[0].name, "light");
    EXPECT_EQ(schema.fields()[0].unit, "lx");
    EXPECT_EQ(schema.fields()[1].name, "warmth");
    EXPECT_EQ(schema.fields()[1].struct_offset, offsetof(game::Lamp, warmth));
    EXPECT_EQ(schema.struct_bytes(), sizeof(game::Lamp));
}

TEST(Describe, each_instance_of_a_template_is_a_component_type_of_its_own) {
    const Schema &corals = schema_of<game::Stock<game::Coral>>(), &pair = schema_of<game::Pair<float, std::int64_t>>();
    EXPECT_EQ(corals.name(), "coral_stock");
    EXPECT_EQ(schema_of<game::Stock<game::Kelp>>().name(), "kelp_stock");
    EXPECT_EQ(corals.fields()[0].unit, "kg");
    EXPECT_EQ(pair.version(), 2u);
    EXPECT_EQ(pair.fields()[1].type, FieldType::kInt64);
}

TEST(Describe, is_found_through_the_namespace_of_the_component) {
    EXPECT_EQ(&elsewhere::schema_seen_from_here<game::Noted>(), &schema_of<game::Noted>());
    EXPECT_TRUE(DescribedComponent<game::Noted>);
    EXPECT_FALSE(DescribedComponent<game::Outer>);
    EXPECT_FALSE(DescribedComponent<int>);
    EXPECT_TRUE(DescribedEnum<game::Shape>);
    EXPECT_FALSE(DescribedEnum<game::Plain>);
}

TEST(Describe, a_move_only_type_is_opaque) {
    const Schema& schema = schema_of<game::MoveOnly>();
    const Field& pointer = field_of(schema, "pointer");
    EXPECT_EQ(pointer.type, FieldType::kOpaque);
    ASSERT_NE(pointer.opaque, nullptr);
    EXPECT_EQ(pointer.opaque->copy_construct, nullptr);
    EXPECT_NE(opaque_operations<std::string>().copy_construct, nullptr);
    EXPECT_EQ(default_of<int>(schema, "number"), 5);
    using Pointer = std::unique_ptr<int>;
    alignas(Pointer) std::byte from[sizeof(Pointer)], to[sizeof(Pointer)];
    pointer.opaque->construct(from);
    reinterpret_cast<Pointer*>(from)->reset(new int(3));
    pointer.opaque->move_construct(to, from);
    EXPECT_EQ(*reinterpret_cast<Pointer*>(from), nullptr);
    EXPECT_EQ(**reinterpret_cast<Pointer*>(to), 3);
    pointer.opaque->destroy(from);
    pointer.opaque->destroy(to);
}

TEST(FixedString, keeps_whole_utf8_characters) {
    EXPECT_EQ(FixedString<8>("1234567").view(), "1234567");
    EXPECT_EQ(FixedString<8>("12345678").view(), "1234567");
    EXPECT_EQ(FixedString<4>("a\xC3\xA4z").view(), "a\xC3\xA4") << "two bytes fit";
    EXPECT_EQ(FixedString<4>("ab\xC3\xA4").view(), "ab") << "half a character does not";
    EXPECT_EQ(FixedString<4>("\xE2\x82\xAC").view(), "\xE2\x82\xAC");
    EXPECT_EQ(FixedString<3>("\xE2\x82\xAC").view(), "");
    EXPECT_EQ(FixedString<4>("\xF0\x9F\x90\x9F").view(), "");
    EXPECT_EQ(FixedString<6>("\xF0\x9F\x90\x9F!").view(), "\xF0\x9F\x90\x9F!");
    EXPECT_EQ(FixedString<2>(std::string_view()).view(), "");
}

TEST(FixedString, equal_texts_have_equal_bytes) {
    const FixedString<8> a("ab"), b(std::string_view("ab\0cd", 5));
    EXPECT_EQ(a, b);
    EXPECT_EQ(std::memcmp(a.data, b.data, sizeof a.data), 0);
    EXPECT_FALSE(a == FixedString<8>("abc"));
}

TEST(FieldType, names_read_back_and_sizes_are_those_of_the_types) {
    for (int i = 1; i < static_cast<int>(FieldType::kOpaque); ++i) {
        const auto type = static_cast<FieldType>(i);
        EXPECT_FALSE(field_type_name(type).empty());
        EXPECT_EQ(field_type_from_name(field_type_name(type)), type);
    }
    EXPECT_EQ(field_type_from_name("opaque"), FieldType(0));
    EXPECT_EQ(field_type_from_name(""), FieldType(0));
    EXPECT_EQ(field_type_from_name("Vec3"), FieldType(0));
    EXPECT_EQ(field_type_name(FieldType(200)), "");
    EXPECT_EQ(field_type_bytes(FieldType::kVec3), sizeof(Vec3));
    EXPECT_EQ(field_type_bytes(FieldType::kMatrix3x4), sizeof(Matrix3x4));
    EXPECT_EQ(field_type_bytes(FieldType::kEntity), sizeof(Entity));
    EXPECT_EQ(field_type_bytes(FieldType::kBlobArray), sizeof(BlobArray<float>));
    EXPECT_EQ(field_type_alignment(FieldType::kDouble), alignof(double));
    EXPECT_EQ(field_type_alignment(FieldType::kMatrix3x4), alignof(Matrix3x4));
    EXPECT_EQ(field_type_alignment(FieldType::kBlobArray), alignof(BlobArray<float>));
    EXPECT_EQ((FieldTraits<long long>::type), FieldType::kInt64);
    EXPECT_EQ((FieldTraits<unsigned long>::type), FieldType::kUint64);
    EXPECT_EQ((FieldTraits<game::MyPoint>::type), FieldType::kOpaque);
}

}  // namespace
}  // namespace shoal

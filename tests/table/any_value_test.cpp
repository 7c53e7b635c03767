// Values whose type is known at run time: conversions, and their text.

#include "shoal/table/detail/any_value.h"

#include "shoal/base/detail/string_table.h"
#include "shoal/table/describe.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <limits>

namespace any_value_test {

using namespace shoal;

enum class Mood : std::int16_t { kCalm = -1, kAngry = 300 };
SHOAL_ENUM(Mood, (kCalm, "calm"), (kAngry, "angry"))
enum class Size : std::int32_t { kSmall = 1 };
SHOAL_ENUM(Size, (kSmall, "small"))

struct Crab {
    Mood mood = Mood::kCalm;
    Size size = Size::kSmall;
};
SHOAL_COMPONENT(Crab, mood, size)

template <class To>
std::string converted(const AnyValue& value) {
    const Result<AnyValue> result = value.convert(value_type_of<To>(), "it");
    return result ? result->to_text() : std::string(result.message());
}

TEST(AnyValue, is_read_as_its_own_type_only) {
    const AnyValue value = Vec3{1, 2, 3};
    EXPECT_EQ(value.as<Vec3>().value(), (Vec3{1, 2, 3}));
    EXPECT_EQ(value.as<float>().message(), "the value is a vec3, not a float");
    EXPECT_EQ((value.as<std::array<float, 3>>().message()), "the value is a vec3, not a float[3]");
    EXPECT_EQ(AnyValue().as<Entity>().message(), "the value is nothing, not an entity");
}

TEST(AnyValue, holds_more_bytes_than_fit_in_place) {
    const shoal_test::LeakCheck leaks;
    std::array<Matrix3x4, 3> matrices{};
    matrices[2].row[2].w = 7;
    const AnyValue value = matrices, copy = value;
    EXPECT_EQ(copy.as<decltype(matrices)>()->at(2).row[2].w, 7);
    EXPECT_TRUE(copy == value);
    const std::string text(100, 'x');
    EXPECT_EQ(AnyValue(text).text(), text);
    EXPECT_TRUE(AnyValue(std::string_view("cod\0roe", 7)) == AnyValue("cod")) << "a text ends with its first zero";
    EXPECT_EQ(AnyValue(std::string_view("cod\0roe", 7)).type().value_bytes, 4u);
    EXPECT_FALSE(AnyValue(std::int32_t(7)) == AnyValue(std::uint32_t(7))) << "the same bytes of another type";
}

TEST(AnyValue, numbers_are_converted_if_they_fit) {
    EXPECT_EQ(converted<float>(3), "3.0");
    EXPECT_EQ(converted<std::uint8_t>(std::int64_t(255)), "255");
    EXPECT_EQ(converted<std::uint8_t>(-1), "\"it\" is a uint8, which cannot hold -1");
    EXPECT_EQ(converted<std::int64_t>(std::uint64_t(1) << 63),
              "\"it\" is an int64, which cannot hold 9223372036854775808");
    EXPECT_EQ(converted<float>((1 << 24) + 1), "\"it\" is a float, which cannot hold 16777217");
    EXPECT_EQ(converted<double>((std::int64_t(1) << 53) + 1), "\"it\" is a double, which cannot hold 9007199254740993");
    EXPECT_EQ(converted<double>(std::numeric_limits<std::uint64_t>::max()),
              "\"it\" is a double, which cannot hold 18446744073709551615");
    EXPECT_EQ(converted<float>(0.1), "0.1") << "the nearest float";
    EXPECT_EQ(converted<float>(1e300), "\"it\" is a float, which cannot hold 1e+300");
    EXPECT_EQ(converted<float>(std::numeric_limits<double>::infinity()), "\"inf\"");
    EXPECT_EQ(converted<std::int32_t>(2.0f), "\"it\" is an int32, not a float; give a whole number");
    EXPECT_EQ(converted<std::int32_t>(true), "\"it\" is an int32, not a bool");
    EXPECT_EQ(converted<bool>(1), "\"it\" is a bool, not an int32");
}

TEST(AnyValue, text_becomes_an_id_an_enumerator_or_a_fixed_string) {
    EXPECT_EQ(AnyValue("cod").convert(value_type_of<StringId>(), "it")->as<StringId>().value(), StringId("cod"));
    EXPECT_EQ(AnyValue("cod").convert(value_type_of<ResourceId>(), "it")->as<ResourceId>().value(), ResourceId("cod"));
    EXPECT_EQ(AnyValue("").convert(value_type_of<StringId>(), "it")->as<StringId>().value(), StringId());
    const ValueType mood = value_type_of(schema_of<Crab>().fields()[0]);
    EXPECT_EQ(AnyValue("calm").convert(mood, "it")->as<Mood>().value(), Mood::kCalm);
    EXPECT_EQ(AnyValue("angry").convert(mood, "it")->as<Mood>().value(), Mood::kAngry);
    EXPECT_EQ(AnyValue("sleepy").convert(mood, "it").message(), "\"it\" has no value \"sleepy\"; it has calm, angry");
    EXPECT_EQ(converted<FixedString<4>>("cod"), "\"cod\"");
    EXPECT_EQ(converted<FixedString<4>>("crab"), "\"it\" has room for 3 bytes of text; \"crab\" has 4");
    EXPECT_EQ(converted<Vec3>("crab"), "\"it\" is a vec3, not text");
}

TEST(AnyValue, is_written_as_a_dump_writes_it) {
    StringTable texts;
    ASSERT_TRUE(texts.intern("cod"));
    const ValueType mood = value_type_of(schema_of<Crab>().fields()[0]);
    const Mood calm = Mood::kCalm, other = Mood(7);
    EXPECT_EQ(AnyValue(mood, reinterpret_cast<const std::byte*>(&calm)).to_text(), "\"calm\"");
    EXPECT_EQ(AnyValue(mood, reinterpret_cast<const std::byte*>(&other)).to_text(), "7") << "without a name";
    const ValueType size = value_type_of(schema_of<Crab>().fields()[1]);
    const auto large = Size(1 + (1 << 16)), small = Size::kSmall;
    EXPECT_EQ(AnyValue(size, reinterpret_cast<const std::byte*>(&large)).to_text(), "65537") << "all bytes count";
    EXPECT_EQ(AnyValue(size, reinterpret_cast<const std::byte*>(&small)).to_text(), "\"small\"");
    EXPECT_EQ(AnyValue(StringId()).to_text(&texts), "\"\"");
    EXPECT_EQ(AnyValue(StringId("cod")).to_text(&texts), "\"cod\"");
    EXPECT_EQ(AnyValue(StringId(0x2A)).to_text(&texts), "\"#0x000000000000002a\"");
    EXPECT_EQ(AnyValue(make_entity(12, 3)).to_text(), "\"12:3\"");
    EXPECT_EQ(AnyValue(kNullEntity).to_text(), "null");
    EXPECT_EQ(AnyValue(std::array<bool, 2>{true, false}).to_text(), "[true, false]");
    EXPECT_EQ(AnyValue(std::array<Vec2, 2>{Vec2{1, 2}, Vec2{3, 4}}).to_text(), "[[1.0 2.0], [3.0 4.0]]");
    EXPECT_EQ(AnyValue(std::numeric_limits<float>::quiet_NaN()).to_text(), "\"nan\"");
    EXPECT_EQ(AnyValue("\xFF").to_text(), "\"(not UTF-8)\"");
    BlobArray<float> array;
    array.resource = ResourceId("cod");
    array.count = 3;
    EXPECT_EQ(AnyValue(array).to_text(&texts), "resource = \"cod\", count = 3");
    EXPECT_EQ(AnyValue().to_text(), "null");
}

}  // namespace any_value_test

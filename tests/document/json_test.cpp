#include "support/json.h"
#include "document_testing.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>

using nlohmann::json;
using shoal::Node;
using shoal::NodeKind;
using shoal_test::Reading;

namespace {

/// Returns whether a tree equals what the other library read. Integers beyond 64 bits are doubles in both.
bool same(Node node, const json& value) {
    switch (node.kind()) {
        case NodeKind::kNull:
            return value.is_null();
        case NodeKind::kBool:
            return value.is_boolean() && value.get<bool>() == node.as_bool();
        case NodeKind::kInteger:
            if (value.is_number_unsigned()) return *node.as_uint64() == value.get<std::uint64_t>();
            return value.is_number_integer() && *node.as_int64() == value.get<std::int64_t>();
        case NodeKind::kNumber:
            return value.is_number_float() &&
                   std::bit_cast<std::uint64_t>(value.get<double>()) == std::bit_cast<std::uint64_t>(node.as_double());
        case NodeKind::kString:
            return value.is_string() && value.get<std::string>() == node.as_string();
        case NodeKind::kList:
            if (!value.is_array() || value.size() != node.size()) return false;
            for (std::uint32_t i = 0; const Node child : node)
                if (!same(child, value[i++])) return false;
            return true;
        case NodeKind::kMapping:
            if (!value.is_object() || value.size() != node.size()) return false;
            for (const Node child : node)
                if (!value.contains(child.key()) || !same(child, value[std::string(child.key())])) return false;
            return true;
    }
    return false;
}

/// Compares both readers with the other library on one text: whether they accept it, and which values they read.
void check_against_oracle(const std::string& text) {
    const json oracle = json::parse(text, nullptr, false);
    const Reading strict = shoal_test::read_as_json(text);
    // A duplicate key is the only thing that we refuse and the other library accepts.
    const bool has_duplicate = strict.messages().find("defined twice") != std::string::npos;
    if (has_duplicate) return;
    ASSERT_EQ(strict.document.ok(), !oracle.is_discarded()) << text << "\n" << strict.messages();
    if (oracle.is_discarded()) return;
    ASSERT_TRUE(same(strict.root(), oracle)) << text << "\n" << shoal::write_json(strict.root());
    const Reading lenient(text);
    ASSERT_TRUE(lenient) << text << "\n" << lenient.messages();
    ASSERT_TRUE(shoal::equal(strict.root(), lenient.root())) << text;
}

}  // namespace

TEST(Json, valid_texts_are_read_as_the_oracle_does) {
    for (const char* text : {"null",
                             "true",
                             "false",
                             "0",
                             "-0",
                             "-0.0",
                             "1",
                             "-1",
                             "1.5",
                             "1e5",
                             "1E-5",
                             "1e+5",
                             "\"\"",
                             "\"a\"",
                             "[]",
                             "{}",
                             " [ 1 , 2 ] ",
                             "{\"a\":1}",
                             "{\"a\":{\"b\":[null,true,false]}}",
                             "\"\\u00e9\\ud83d\\udc1f\"",
                             "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                             "18446744073709551615",
                             "18446744073709551616",
                             "-9223372036854775808",
                             "-9223372036854775809",
                             "1e-400",
                             "-1e-400",
                             "4.9e-324",
                             "2.2250738585072011e-308",
                             "1.7976931348623157e308",
                             "0.1",
                             "123456789012345678",
                             "\xEF\xBB\xBF[1]",
                             "{\"\":0}",
                             "\"\x7F\"",
                             "[[[[[[]]]]]]",
                             "\"\\u0000\"",
                             "9007199254740993",
                             "9007199254740993.0"})
        check_against_oracle(text);
}

TEST(Json, invalid_texts_are_refused_as_the_oracle_does) {
    for (const char* text : {"",
                             " ",
                             "nul",
                             "truee",
                             "01",
                             "-01",
                             "1.",
                             ".5",
                             "+1",
                             "1e",
                             "1e+",
                             "-",
                             "0x1",
                             "NaN",
                             "Infinity",
                             "[",
                             "]",
                             "[1",
                             "[1,]",
                             "[,1]",
                             "[1 2]",
                             "[1,,2]",
                             "{",
                             "}",
                             "{\"a\"}",
                             "{\"a\":}",
                             "{\"a\":1,}",
                             "{a:1}",
                             "{'a':1}",
                             "{\"a\" 1}",
                             "{\"a\"=1}",
                             "{1:2}",
                             "\"",
                             "\"\t\"",
                             "\"\n\"",
                             "\"\\x\"",
                             "\"\\u12G4\"",
                             "\"\\ud800\"",
                             "\"\\udc00\"",
                             "\"\\ud800\\ud800\"",
                             "1 2",
                             "[] []",
                             "// c\n1",
                             "/* c */ 1",
                             "[1]x",
                             "1e999",
                             "-1e999",
                             "\"\xFF\"",
                             "\"\xC3\"",
                             "\"\"\"a\"\"\"",
                             "[1}",
                             "{\"a\":1]",
                             "\x0C"
                             "1",
                             "\xC2\xA0"
                             "1",
                             "true false",
                             "[\"a\"\"b\"]",
                             "{\"a\":1 \"b\":2}"})
        check_against_oracle(text);
}

TEST(Json, random_documents_are_read_as_the_oracle_does) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal_test::RandomTree trees(shoal_test::seed());
    for (std::int64_t i = shoal_test::scaled_operations(20'000); i > 0; --i) {
        const shoal::Document tree = trees.make();
        const std::string text = shoal::write_json(tree.root());
        const json oracle = json::parse(text, nullptr, false);
        ASSERT_TRUE(same(tree.root(), oracle)) << text;
        check_against_oracle(text);
        check_against_oracle(oracle.dump());
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(Json, damaged_documents_are_accepted_or_refused_as_the_oracle_does) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal_test::RandomTree trees(shoal_test::seed() + 1);
    constexpr std::string_view kBytes = "{}[]\",:0123456789.eE+-\\/ \n\ttrufalsn\x80\xC3";
    for (std::int64_t i = shoal_test::scaled_operations(50'000); i > 0; --i) {
        std::string text = shoal::write_json(trees.make().root());
        if (text.size() > 400) text.resize(400);
        shoal::Random& random = trees.random();
        for (std::uint32_t edits = 1 + random.below(3); edits > 0 && !text.empty(); --edits) {
            const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
            const char byte = kBytes[random.below(kBytes.size())];
            switch (random.below(3)) {
                case 0:
                    text[at] = byte;
                    break;
                case 1:
                    text.erase(at, 1);
                    break;
                default:
                    text.insert(at, 1, byte);
            }
        }
        check_against_oracle(text);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(Json, numbers_are_rounded_as_the_c_library_rounds_them) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal::Random random(shoal_test::seed());
    const auto digits = [&](std::uint32_t count) {
        std::string text;
        for (std::uint32_t i = 0; i < count; ++i) text += static_cast<char>('0' + random.below(10));
        return text;
    };
    for (std::int64_t i = shoal_test::scaled_operations(300'000); i > 0; --i) {
        std::string text = random.below(2) == 0 ? "-" : "";
        text += random.below(3) == 0 ? "0" : shoal::concat(1 + random.below(9), digits(random.below(20)));
        text += shoal::concat(".", digits(1 + random.below(24)));
        if (random.below(2) == 0) text += shoal::concat("e", static_cast<int>(random.below(660)) - 340);
        const Reading reading = shoal_test::read_as_json(text);
        const double expected = std::strtod(text.c_str(), nullptr);
        ASSERT_EQ(reading.document.ok(), std::isfinite(expected)) << text;
        if (!reading) continue;
        ASSERT_EQ(std::bit_cast<std::uint64_t>(reading.root().as_double()), std::bit_cast<std::uint64_t>(expected))
            << text;
    }
}

TEST(Json, numbers_halfway_between_two_doubles_are_rounded_to_even) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal::Random random(shoal_test::seed());
    for (std::int64_t i = shoal_test::scaled_operations(100'000); i > 0; --i) {
        const std::uint64_t odd =
            (random.next() >> 10) | std::uint64_t(1) << 53 | 1;  // 54 bits, one more than a double has
        const std::string text = shoal::concat(odd, "e", static_cast<int>(random.below(40)) - 20);
        const Reading reading = shoal_test::read_as_json(text);
        ASSERT_TRUE(reading.document.ok()) << text;
        ASSERT_EQ(std::bit_cast<std::uint64_t>(reading.root().as_double()),
                  std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)))
            << text;
    }
}

TEST(Json, a_number_that_is_rounded_up_to_a_power_of_two_is_that) {
    for (int power = 54; power <= 60; ++power) {
        const std::uint64_t number = (std::uint64_t(1) << power) - 1;
        const std::string text = shoal::concat(number, "e0");
        EXPECT_EQ(shoal_test::read_as_json(text).root().as_double(), std::ldexp(1.0, power)) << text;
    }
    EXPECT_EQ(shoal_test::read_as_json("9007199254740991.9").root().as_double(), 9007199254740992.0);
}

TEST(Json, depth_is_limited) {
    const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_TRUE(shoal_test::read_as_json(nested(128)));
    EXPECT_FALSE(shoal_test::read_as_json(nested(129)));
}

#include "document_testing.h"
#include "support/testing.h"

#include <bit>

#include <gtest/gtest.h>

using shoal::Node;
using shoal_test::Reading;

namespace {

/// Returns whether an SJSON text gives the same tree as a JSON text.
::testing::AssertionResult reads_as(std::string sjson, std::string json) {
    const Reading left(std::move(sjson));
    const Reading right(std::move(json), &shoal::read_json);
    if (!left) return ::testing::AssertionFailure() << left.messages();
    if (!right) return ::testing::AssertionFailure() << right.messages();
    if (!shoal::equal(left.root(), right.root()))
        return ::testing::AssertionFailure() << "got " << shoal::write_json(left.root());
    return ::testing::AssertionSuccess();
}

std::string string_value(std::string text) {
    const Reading reading(std::move(text));
    return reading ? std::string(reading.root().find("a").as_string()) : reading.messages();
}

}  // namespace

TEST(Sjson, root_braces_are_optional) {
    EXPECT_TRUE(reads_as("a = 1", R"({"a": 1})"));
    EXPECT_TRUE(reads_as("{ a = 1 }", R"({"a": 1})"));
    EXPECT_TRUE(reads_as("\"a\" = 1", R"({"a": 1})"));
    EXPECT_TRUE(reads_as("", "{}"));
    EXPECT_TRUE(reads_as(" // nothing\n", "{}"));
    EXPECT_TRUE(reads_as("[1 2]", "[1, 2]"));
}

TEST(Sjson, equals_and_colon_mean_the_same) {
    EXPECT_TRUE(reads_as("a = 1 b : 2 c=3 d:4 \"e\"=5 \"f\":6", R"({"a":1,"b":2,"c":3,"d":4,"e":5,"f":6})"));
}

TEST(Sjson, commas_are_white_space) { EXPECT_TRUE(reads_as(",a = 1,, b = [,1,,2,],", R"({"a": 1, "b": [1, 2]})")); }

TEST(Sjson, indentation_of_any_width_is_white_space) {
    for (std::size_t width = 0; width < 40; ++width)
        for (const char* const blank : {" ", "\t", " \t", "\r\n", ",\n", "\n"}) {
            std::string gap = "\n";
            for (std::size_t i = 0; i < width; ++i) gap += blank;
            SCOPED_TRACE(gap);
            const std::string text = "a = {" + gap + "b = [" + gap + "1" + gap + "2" + gap + "]" + gap + "}" + gap;
            EXPECT_TRUE(reads_as(text, R"({"a": {"b": [1, 2]}})"));
            EXPECT_FALSE(reads_as("a =" + gap + "\x01" + gap, R"({"a": null})")) << "a control character is none";
        }
}

TEST(Sjson, comments_may_stand_anywhere_between) {
    EXPECT_TRUE(reads_as("// first\n/* a */ a /* b */ = /* c\n */ 1 // d\n b = [ 1//e\n 2/*f*/3 true/**/] // end",
                         R"({"a": 1, "b": [1, 2, 3, true]})"));
    EXPECT_TRUE(reads_as("/***/ a = 1 /* * / */", R"({"a": 1})"));
}

TEST(Sjson, a_bare_key_is_any_run_without_white_space_and_equals) {
    EXPECT_TRUE(reads_as(
        "#guid = 1 $type = 2 43d2ce7f-9f3a = 3 a/b//c = 4 true = 5 -1 = 6 \xC3\xA9 = 7 x[0] = 8 a\"b = 9 @{}=10",
        "{\"#guid\":1,\"$type\":2,\"43d2ce7f-9f3a\":3,\"a/b//c\":4,\"true\":5,\"-1\":6,\"\xC3\xA9\":7,"
        "\"x[0]\":8,\"a\\\"b\":9,\"@{}\":10}"));
    EXPECT_TRUE(reads_as("modified_components.#43d2 = { mass = 1 }", R"({"modified_components.#43d2": {"mass": 1}})"));
}

TEST(Sjson, quoted_keys_hold_anything) {
    EXPECT_TRUE(reads_as("\"a b\" = 1 \"\" = 2 \"\\u0041=\" = 3", R"({"a b": 1, "": 2, "A=": 3})"));
}

TEST(Sjson, values_need_no_space_between_them) {
    EXPECT_TRUE(
        reads_as("a=[1 2]b={c=1}d=\"x\"e=[[1][2]\"y\"3]", R"({"a":[1,2],"b":{"c":1},"d":"x","e":[[1],[2],"y",3]})"));
}

TEST(Sjson, strings_know_all_json_escapes) {
    EXPECT_EQ(string_value(R"(a = "\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
    EXPECT_EQ(string_value(R"(a = "\u0041\u00e9\u20AC\ud83d\udc1f")"), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x9F");
    EXPECT_EQ(string_value(R"(a = "\u0000")"), std::string(1, '\0'));
    EXPECT_EQ(string_value("a = \"tab\there\""), "tab\there");
    EXPECT_EQ(string_value("a = \"plain text that is longer than a word, \xF0\x9F\x90\x9F\""),
              "plain text that is longer than a word, \xF0\x9F\x90\x9F");
}

TEST(Sjson, a_quote_is_found_wherever_it_stands) {
    for (std::size_t length = 0; length < 40; ++length) {
        const std::string text(length, 'x');
        EXPECT_EQ(string_value("a = \"" + text + "\" b = \"y\""), text);
        EXPECT_EQ(string_value("a = \"" + text + "\\n" + text + "\""), text + "\n" + text);
        const std::string accents = text + "\xC3\xBF" + text;
        EXPECT_EQ(string_value("a = \"" + accents + "\""), accents);
    }
}

TEST(Sjson, verbatim_text_is_taken_as_it_is_and_may_end_in_quotes) {
    EXPECT_EQ(string_value(R"(a = """a "quoted" \n word""")"), "a \"quoted\" \\n word");
    EXPECT_EQ(string_value("a = \"\"\"two\r\nlines\r\n\"\"\" b = 1"), "two\nlines\n") << "whichever ends lines have";
    EXPECT_EQ(string_value("a = \"\"\"a\rb\r\r\nc\"\"\" b = 1"), "a\rb\r\nc") << "others are characters";
    EXPECT_EQ(string_value(R"(a = """a"""")"), "a\"");
    EXPECT_EQ(string_value(R"(a = """a""""")"), "a\"\"");
    EXPECT_EQ(string_value(R"(a = """""")"), "");
    EXPECT_EQ(string_value(R"(a = """"a""" b = "x")"), "\"a");
    EXPECT_EQ(string_value(R"(a = "" b = "x")"), "");
}

TEST(Sjson, a_byte_order_mark_and_windows_line_ends_are_accepted) {
    EXPECT_TRUE(
        reads_as("\xEF\xBB\xBF"
                 "a = 1\r\nb = [\r\n1\r\n]\r\n",
                 R"({"a": 1, "b": [1]})"));
}

TEST(Sjson, numbers_are_integers_or_doubles) {
    const Reading reading(
        "[0 -0 1 -1 9223372036854775807 -9223372036854775808 9223372036854775808 18446744073709551616 "
        "-9223372036854775809 1.0 -0.0 1e2 1E+2 1e-2 123456789012345678901234567890]");
    ASSERT_TRUE(reading) << reading.messages();
    const Node n = reading.root();
    const auto is_double = [&](std::uint32_t i, double value) {
        return n[i].kind() == shoal::NodeKind::kNumber &&
               std::bit_cast<std::uint64_t>(n[i].as_double()) == std::bit_cast<std::uint64_t>(value);
    };
    EXPECT_EQ(*n[0].as_int64(), 0);
    EXPECT_EQ(*n[1].as_int64(), 0);
    EXPECT_EQ(*n[4].as_int64(), INT64_MAX);
    EXPECT_EQ(*n[5].as_int64(), INT64_MIN);
    EXPECT_EQ(*n[6].as_uint64(), 9223372036854775808u);
    EXPECT_TRUE(is_double(7, 18446744073709551616.0));
    EXPECT_TRUE(is_double(8, -9223372036854775809.0));
    EXPECT_TRUE(is_double(9, 1.0));
    EXPECT_TRUE(is_double(10, -0.0));
    EXPECT_TRUE(is_double(11, 100.0));
    EXPECT_TRUE(is_double(12, 100.0));
    EXPECT_TRUE(is_double(13, 0.01));
    EXPECT_TRUE(is_double(14, 123456789012345678901234567890.0));
}

TEST(Sjson, a_scalar_can_be_the_whole_text) {
    for (const char* text : {"5", "-2.5", "\"a\"", "null", " true ", "\"\\u0041\"", "false // end\n"}) {
        const Reading reading(text);
        EXPECT_TRUE(reading) << text << "\n" << reading.messages();
    }
    EXPECT_TRUE(reads_as("\"\"\"a\"\"\"", "\"a\""));
    EXPECT_TRUE(reads_as("5 = 1", R"({"5": 1})"));
    EXPECT_TRUE(reads_as("null : 1", R"({"null": 1})"));
}

TEST(Sjson, what_is_not_the_language_is_refused) {
    for (const char* text : {"a",
                             "a =",
                             "a = teapot",
                             "a = 01",
                             "a = +1",
                             "a = .5",
                             "a = 1.",
                             "a = 0x10",
                             "a = 1e",
                             "a = -",
                             "a = 1e999",
                             "a = NaN",
                             "a = tru",
                             "a = 1 a = 2",
                             "a = \"",
                             "a = \"x\ny\"",
                             "a = \"\\x\"",
                             "a = \"\\u12\"",
                             "a = \"\\ud800\"",
                             "a = \"\\udc00\"",
                             "a = \"\\ud800\\u0041\"",
                             "a = \"\\ud800x\"",
                             "a = \"\"\"x\"\"",
                             "a = {",
                             "a = [",
                             "}",
                             "]",
                             "{",
                             "[",
                             "{} 1",
                             "[] a = 1",
                             "1 2",
                             "a = [1 }",
                             "a = {b = 1 ]",
                             "/* x",
                             "a = 1 /*/",
                             "= 1",
                             "a = = 1",
                             "[a = 1]",
                             "{ {} }",
                             "\"\"\"k\"\"\" = 1",
                             "\"a\" \"b\"",
                             "a = 'x'",
                             "\x01",
                             "a = \x01",
                             "a = \"\x01\"",
                             "a = 1b = 2",
                             "teapot"}) {
        const Reading reading(text);
        EXPECT_FALSE(reading) << text;
        EXPECT_GE(reading.diagnostics.num_errors(), 1u) << text;
    }
}

TEST(Sjson, bytes_that_are_no_text_are_errors_with_a_place) {
    const Reading nul(std::string("a = 1\nb = \"x\0y\"", 15));
    EXPECT_FALSE(nul);
    EXPECT_EQ(nul.diagnostics.locate(nul.diagnostics.entries()[0].position), (shoal::SourceLocation{1, 2, 7}));
    for (const char* bytes : {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
        const std::string prefix(37, ' ');
        const Reading reading(prefix + "// " + bytes + "\na = 1");
        EXPECT_FALSE(reading);
        ASSERT_EQ(reading.diagnostics.num_errors(), 1u);
        EXPECT_EQ(reading.diagnostics.entries()[0].position.offset, 40u);
    }
}

TEST(Sjson, depth_is_limited) {
    const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_TRUE(Reading(nested(128)));
    const Reading deep(nested(129));
    EXPECT_FALSE(deep);
    EXPECT_EQ(deep.diagnostics.num_errors(), 1u);
    EXPECT_EQ(deep.diagnostics.entries()[0].position.offset, 128u);
    EXPECT_TRUE(Reading(nested(3), &shoal::read_sjson, {.max_depth = 3}));
    EXPECT_FALSE(Reading(nested(4), &shoal::read_sjson, {.max_depth = 3}));
}

// The messages that people read after a mistake, word for word.

#include "document_testing.h"
#include "shoal/base/file.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

using shoal_test::Reading;

namespace {

std::string sjson_messages(std::string text) { return Reading(std::move(text)).messages(); }
std::string json_messages(std::string text) { return shoal_test::read_as_json(std::move(text)).messages(); }

}  // namespace

TEST(SjsonMessages, a_duplicate_key_names_both_places) {
    EXPECT_EQ(sjson_messages("mass = 1\nat = [0 0]\n\"mass\" = 2\n"),
              "test.sjson:3:1: error: the key \"mass\" is defined twice; remove or rename one\n"
              "    3 | \"mass\" = 2\n"
              "      | ^~~~~~\n"
              "test.sjson:1:1: note: first defined here\n"
              "    1 | mass = 1\n"
              "      | ^~~~\n");
}

TEST(SjsonMessages, a_duplicate_key_of_a_large_mapping_is_found) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += shoal::concat("key", i, " = 1\n");
    const Reading reading(text + "key7 = 2\n");
    ASSERT_EQ(reading.diagnostics.num_errors(), 1u);
    const shoal::Diagnostic& entry = reading.diagnostics.entries()[0];
    EXPECT_EQ(reading.diagnostics.locate(entry.position).line, 101u);
    ASSERT_EQ(entry.notes.size(), 1u);
    EXPECT_EQ(reading.diagnostics.locate(entry.notes[0].position).line, 8u);
}

TEST(SjsonMessages, a_word_without_quotes) {
    EXPECT_EQ(sjson_messages("a = 1\nname = teapot // x\nb = 2"),
              "test.sjson:2:8: error: \"teapot\" is not a value; expected a number, true, false, null, a list, a "
              "mapping, or a string such as \"teapot\"\n"
              "    2 | name = teapot // x\n"
              "      |        ^~~~~~\n");
}

TEST(SjsonMessages, a_malformed_number) {
    EXPECT_EQ(sjson_messages("a = 007"),
              "test.sjson:1:5: error: \"007\" is not a number; leave out the leading zero\n"
              "    1 | a = 007\n"
              "      |     ^~~\n");
    EXPECT_EQ(sjson_messages("a = [1. 43d2ce7f]"),
              "test.sjson:1:6: error: \"1.\" is not a number; a decimal point needs a digit after it\n"
              "    1 | a = [1. 43d2ce7f]\n"
              "      |      ^~\n"
              "test.sjson:1:9: error: \"43d2ce7f\" is not a number; put it in quotes if it is a string\n"
              "    1 | a = [1. 43d2ce7f]\n"
              "      |         ^~~~~~~~\n");
    EXPECT_EQ(sjson_messages("a = 1e999"),
              "test.sjson:1:5: error: the number \"1e999\" is too large; the largest is about 1.8e308\n"
              "    1 | a = 1e999\n"
              "      |     ^~~~~\n");
}

TEST(SjsonMessages, an_unclosed_mapping_list_string_text_or_comment_says_where_it_opens) {
    EXPECT_EQ(sjson_messages("a = {\n  b = 1\n"),
              "test.sjson:1:5: error: the mapping that opens here is never closed; add \"}\"\n"
              "    1 | a = {\n"
              "      |     ^\n");
    EXPECT_EQ(sjson_messages("a = [1 2\n"),
              "test.sjson:1:5: error: the list that opens here is never closed; add \"]\"\n"
              "    1 | a = [1 2\n"
              "      |     ^\n");
    EXPECT_EQ(
        sjson_messages("a = { b = \"cod }\nc = 2\n"),
        "test.sjson:1:11: error: the string that opens here is not closed on its line; add a quote, or use \"\"\" "
        "for text of several lines\n"
        "    1 | a = { b = \"cod }\n"
        "      |           ^~~~~~\n");
    EXPECT_EQ(sjson_messages("a = [\"\"\"cod\n\n"),
              "test.sjson:1:6: error: the text that opens here is never closed; add \"\"\"\n"
              "    1 | a = [\"\"\"cod\n"
              "      |      ^~~\n");
    EXPECT_EQ(sjson_messages("a = [ /* cod\n\n"),
              "test.sjson:1:7: error: the comment that opens here is never closed; add \"*/\"\n"
              "    1 | a = [ /* cod\n"
              "      |       ^~\n");
}

TEST(SjsonMessages, a_missing_bracket_names_the_line_where_the_block_began) {
    EXPECT_EQ(
        sjson_messages("reef = {\n  crab = {\n    legs = 8\n  cod = { legs = 0 }\n}\n"),
        "test.sjson:1:8: error: the mapping that opens here is never closed; add \"}\"\n"
        "    1 | reef = {\n"
        "      |        ^\n"
        "test.sjson:2:10: note: is the mapping that begins in line 2 closed? The bracket in line 5, which closes it, "
        "is indented less\n"
        "    2 |   crab = {\n"
        "      |          ^\n");
    EXPECT_EQ(sjson_messages("reef = {\n    crabs = [ 1\n  2 ]\n"),
              "test.sjson:1:8: error: the mapping that opens here is never closed; add \"}\"\n"
              "    1 | reef = {\n"
              "      |        ^\n")
        << "a bracket behind a value says nothing by its indentation";
    // A bracket in a key, a string or a comment is not counted.
    EXPECT_EQ(
        sjson_messages("reef = {\n  crab = { a = {\n    b = \"{\" // {\n  }\n  cod = { le{g\"s = {} }\n}\n"),
        "test.sjson:1:8: error: the mapping that opens here is never closed; add \"}\"\n"
        "    1 | reef = {\n"
        "      |        ^\n"
        "test.sjson:2:10: note: is the mapping that begins in line 2 closed? The bracket in line 6, which closes it, "
        "is indented less\n"
        "    2 |   crab = { a = {\n"
        "      |          ^\n");
    EXPECT_EQ(sjson_messages("units = [\n  { a = \"}\" // }\n  { a = 2 }\n]\n"),
              "test.sjson:3:3: error: expected a key, found \"{\"; write key = value\n"
              "    3 |   { a = 2 }\n"
              "      |   ^\n"
              "test.sjson:2:3: note: it is inside the mapping that begins in line 2; is that closed?\n"
              "    2 |   { a = \"}\" // }\n"
              "      |   ^\n");
    EXPECT_EQ(json_messages("[\n  {\"a\": 1,\n  {\"a\": 2}\n]\n"),
              "test.sjson:3:3: error: expected a key, found \"{\"; write keys in quotes\n"
              "    3 |   {\"a\": 2}\n"
              "      |   ^\n"
              "test.sjson:2:3: note: it is inside the mapping that begins in line 2; is that closed?\n"
              "    2 |   {\"a\": 1,\n"
              "      |   ^\n");
}

TEST(SjsonMessages, numbers_that_are_not_finite_are_called_so) {
    for (const char* const word : {"nan", "NaN", "-nan(ind)", "inf", "-inf", "Infinity", "+Infinity", "1.#INF"}) {
        SCOPED_TRACE(word);
        const std::string messages = sjson_messages(shoal::concat("a = ", word, "\n"));
        EXPECT_NE(messages.find("; numbers are finite; NaN and infinity cannot be written\n"), std::string::npos)
            << messages;
    }
    EXPECT_EQ(sjson_messages("a = nano\n").find("finite"), std::string::npos);
}

TEST(SjsonMessages, a_wrong_bracket_is_one_error) {
    EXPECT_EQ(sjson_messages("a = {\n  b = [1 2\n}\nc = 3\n"),
              "test.sjson:3:1: error: expected \"]\", found \"}\"; close the list that begins in line 2 first\n"
              "    3 | }\n"
              "      | ^\n"
              "test.sjson:2:7: note: the list opens here\n"
              "    2 |   b = [1 2\n"
              "      |       ^\n");
    EXPECT_EQ(sjson_messages("a = 1\n}\nb = 2\n"),
              "test.sjson:2:1: error: \"}\" closes nothing; remove it, or add the \"{\" that it belongs to\n"
              "    2 | }\n"
              "      | ^\n");
    // What follows may be misread, so after the first error nothing is said of brackets, of signs and of equal keys.
    for (const std::string wrong :
         {"}", "]", "a = [ 1 2 }", "a = { b = 1 ]", "a = [ = 1 ]", "a = { { b = 1 } }", "a = [ 1\nb = 2", "a{ b = 1 }"})
        for (const std::string after : {"", "}", "]", "c = [ 1 2 }", "c = { d = 1 ]", "c = [ = 1 ]", "{ c = 1 }",
                                        "c = [ 1\nd = 2", "c = 1\nc = 2", "c = [ 1", "c = = 2", "/* c"}) {
            const Reading reading(wrong + "\n" + after + "\n");
            EXPECT_EQ(reading.diagnostics.num_errors(), 1u) << reading.messages();
        }
}

TEST(SjsonMessages, a_key_in_a_list) {
    EXPECT_EQ(sjson_messages("a = [\n  1\nb = 2\nc = 3\n"),
              "test.sjson:3:1: error: found the key \"b\" in a list; close the list with \"]\" first\n"
              "    3 | b = 2\n"
              "      | ^\n"
              "test.sjson:1:5: note: the list opens here\n"
              "    1 | a = [\n"
              "      |     ^\n");
}

TEST(SjsonMessages, a_missing_equals_or_value) {
    EXPECT_EQ(sjson_messages("mass 1\nat = [0]\nname\nb = 2\n"),
              "test.sjson:1:1: error: expected \"=\" after the key \"mass\"; write key = value\n"
              "    1 | mass 1\n"
              "      | ^~~~\n"
              "test.sjson:3:1: error: expected \"=\" after the key \"name\"; write key = value\n"
              "    3 | name\n"
              "      | ^~~~\n");
    EXPECT_EQ(sjson_messages("a =\nb = 1\n"),
              "test.sjson:1:1: error: expected a value for the key \"a\"; write null if it has none\n"
              "    1 | a =\n"
              "      | ^\n");
    EXPECT_EQ(sjson_messages("{ a = }"),
              "test.sjson:1:3: error: expected a value for the key \"a\"; write null if it has none\n"
              "    1 | { a = }\n"
              "      |   ^\n");
}

TEST(SjsonMessages, several_mistakes_are_reported_at_once) {
    const Reading reading("a = teapot\nb = 01\nc = \"\\q\"\nd = 1\nd = 2\ne 5\nf = \"\\ud800\"\n");
    EXPECT_FALSE(reading);
    EXPECT_EQ(reading.diagnostics.num_errors(), 6u) << reading.messages();
}

TEST(SjsonMessages, bad_escapes_are_marked_inside_the_string) {
    EXPECT_EQ(sjson_messages("a = \"cod\\qx\""),
              "test.sjson:1:9: error: \"\\q\" is not an escape sequence; write \\\\ for a backslash\n"
              "    1 | a = \"cod\\qx\"\n"
              "      |         ^~\n");
    EXPECT_EQ(sjson_messages("a = \"\\ud83d!\""),
              "test.sjson:1:6: error: this is half of a surrogate pair; write the character itself, or both halves\n"
              "    1 | a = \"\\ud83d!\"\n"
              "      |      ^~~~~~\n");
    EXPECT_EQ(sjson_messages("a = \"\\u12\""),
              "test.sjson:1:6: error: \\u needs four hexadecimal digits; write it like \\u00E9\n"
              "    1 | a = \"\\u12\"\n"
              "      |      ^~\n");
}

TEST(SjsonMessages, pairs_of_surrogates_are_read_up_to_the_last) {
    for (const auto& [escapes, bytes] : {std::pair{"\\ud800\\udc00", "\xF0\x90\x80\x80"},
                                         {"\\udbff\\udfff", "\xF4\x8F\xBF\xBF"},
                                         {"\\ud7ff", "\xED\x9F\xBF"},
                                         {"\\ue000", "\xEE\x80\x80"}}) {
        const Reading reading(shoal::concat("a = \"", escapes, "\""));
        ASSERT_TRUE(reading) << reading.messages();
        EXPECT_EQ(reading.root().find("a").as_string(), bytes) << escapes;
    }
    for (const char* half : {"\\ud800\\udbff", "\\udbff\\ue000", "\\udfff", "\\udc00\\ud800"})
        EXPECT_NE(sjson_messages(shoal::concat("a = \"", half, "\"")).find("half of a surrogate pair"),
                  std::string::npos)
            << half;
}

TEST(SjsonMessages, what_is_no_text) {
    EXPECT_EQ(sjson_messages("a = \"\xFF\""),
              "test.sjson:1:6: error: this is not UTF-8; save the file as UTF-8\n"
              "    1 | a = \"\\xFF\"\n"
              "      |      ^~~~~\n");
    EXPECT_EQ(sjson_messages(std::string("a = 1\0", 6)),
              "test.sjson:1:6: error: there is a NUL byte in the text; is this a text file?\n"
              "    1 | a = 1\\x00\n"
              "      |      ^~~~\n");
}

TEST(SjsonMessages, too_deep) {
    EXPECT_EQ(Reading("a = {b = {c = 1}}", &shoal::read_sjson, {.max_depth = 2}).messages(),
              "test.sjson:1:10: error: lists and mappings are nested deeper than 2 levels; flatten the data\n"
              "    1 | a = {b = {c = 1}}\n"
              "      |          ^\n");
}

TEST(JsonMessages, what_only_sjson_allows_is_named) {
    EXPECT_EQ(json_messages("{a: 1}"),
              "test.sjson:1:2: error: expected a key, found \"a\"; write keys in quotes\n"
              "    1 | {a: 1}\n"
              "      |  ^\n");
    EXPECT_EQ(json_messages("[1, // x\n2]"),
              "test.sjson:1:5: error: expected a value, found \"/\"; JSON has no comments\n"
              "    1 | [1, // x\n"
              "      |     ^\n");
    EXPECT_EQ(json_messages("[1 2]"),
              "test.sjson:1:4: error: expected \",\" or \"]\", found \"2\"\n"
              "    1 | [1 2]\n"
              "      |    ^\n");
    EXPECT_EQ(json_messages("[1, 2,]"),
              "test.sjson:1:6: error: there is a comma before \"]\"; remove it\n"
              "    1 | [1, 2,]\n"
              "      |      ^\n");
    EXPECT_EQ(json_messages("{\"a\": 1"),
              "test.sjson:1:1: error: the mapping that opens here is never closed; add \"}\"\n"
              "    1 | {\"a\": 1\n"
              "      | ^\n");
    EXPECT_EQ(json_messages(""),
              "test.sjson:1:1: error: expected a value, found the end of the text\n"
              "    1 | \n"
              "      | ^\n");
}

/// Texts with one or several mistakes. What is said of each, by the reader of each language, is in golden/messages.txt, which
/// SHOAL_WRITE_GOLDEN=1 renews: which mistakes are told after another one, where, and with which hint.
constexpr std::string_view kWrongTexts[] = {
    "a = [1 2\nb = 3\nc = {\n",
    "a = {\n\tb = [1 2\n\tc = 3\n}\nd = x\n",
    "a = [1 }\nb = x\n",
    "a = { b = 1 ]\nb = x\n",
    "a = { b = [ 1 } c = 2\n",
    "a = [ { b = 1 ] ]\n",
    "}\na = x\n",
    "]\na = x\n",
    "{ a = 1 } }\n",
    "{ a = 1 ]\n",
    "[ 1 2 ] ]\n",
    "[ 1 2 ] 3\n",
    "[ a = 1 ]\n",
    "a = [ b = 1 ]\nc = x\n",
    "a = { c = [ b = 1 }\nc = x\n",
    "a\nb = 1\n",
    "a b = 1\n",
    "a 1\nb 2\n",
    "a\n[1]\nb = 1\n",
    "a = = 1\nb = : x\n",
    "a =\nb = 1\n",
    "a = }\n",
    "a = { b = }\nc = [ d ]\n",
    "= 1\n",
    "a = { = 1 }\n",
    "a{ b = 1 }\nc = x\n",
    "a = 1 a = 2 a = x\n",
    "\"a\" = 1\na : 2\n",
    "a = \"x\nb = y\n",
    "a = \"\\q \\u12 \\ud800x \\udc00\" b = \"\\\n",
    "a = \"tab\there\x01\" b = x\n",
    "a = \"\"\"x\nb = y\n",
    "a = /* x\nb = y\n",
    "a = / 1\n",
    "a = tea/pot // x\nb = tea//pot\n",
    "a = tea/*pot*/\n",
    "a = [01 -01 1. .5 +1 1e 1e+ - 0x1 1_0 NaN -inf +Infinity nan(1) 1.#INF 1e400 -1e400]\n",
    "a = [tRue True yes none undefined]\n",
    "a = 12abc b = 3x\n",
    "a = 1.5.2\n",
    "{\n  \"a\": [1, 2\n}\n",
    "{\n  \"a\": [1, 2],\n}\n",
    "{ \"a\" 1, \"b\": 2 }",
    "{ \"a\": 1 \"b\": 2 }",
    "[1,, 2]",
    "[1 2]",
    "{\"a\": // x\n 1}",
    "{a: 1}",
    "{\"a\": tea}",
    "{\"a\": 1} x",
    "{\"a\": \"x\n\", \"a\": 2}",
    "{\"a\": {\"b\": [{\"c\": }]}}",
    "",
    " ",
    "\xEF\xBB\xBF]",
    "a = {\n\tb = {\n\t\tc = 1\n}\nd = 2\n",
    "a = [1 }\nb = = 1\nc = : = x\n",
    "a = 01\nb = 09\nb = 2\na = 3\n",
    "a = 1\nb = 2\n{ c = 3 }\n",
    "a = {\n\tb = 2\n\t{ c = 3 }\n}\n",
    "a = [\n\t{\n\t\tb = [\n\t\t\t1\n\t\t]\n\t{\n\t\tc = 1\n\t}\n]\n",
};

TEST(Messages, of_texts_with_one_or_several_mistakes_are_as_before) {
    std::string said;
    for (const std::string_view text : kWrongTexts)
        for (const bool is_json : {false, true})
            said += shoal::concat("--- ", is_json ? "JSON" : "SJSON", '\n', text, "\n---\n",
                                  is_json ? json_messages(std::string(text)) : sjson_messages(std::string(text)));
    const std::string path = SHOAL_SOURCE_DIR "/tests/document/golden/messages.txt";
    if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << said;
    const std::string before = shoal::read_file(path).value();
    const auto at = static_cast<std::size_t>(
        std::mismatch(said.begin(), said.end(), before.begin(), before.end()).first - said.begin());
    const std::size_t begin = said.rfind("--- ", at) == said.npos ? 0 : said.rfind("--- ", at);
    EXPECT_TRUE(said == before) << said.substr(begin, 800) << "\nbut it was\n"
                                << before.substr(std::min(begin, before.size()), 800);
}

// The reader of YAML: what docs/formats/yaml.md says, with places, limits and messages.

#include "shoal/source/detail/yaml.h"

#include "shoal/base/file.h"
#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"
#include "support/testing.h"

#include <string>

using namespace shoal;

namespace {

struct YamlReading {
    Diagnostics diagnostics;
    Result<Document> document;

    explicit YamlReading(std::string text, const ReadOptions& options = {})
        : document(read_yaml(diagnostics.add_file("test.yaml", std::move(text)), diagnostics, options)) {}
    std::string messages() const { return diagnostics.format(); }
    Node operator[](std::string_view key) const { return document->root().find(key); }
};

/// Returns whether YAML and JSON give equal trees.
::testing::AssertionResult same_as_json(const std::string& yaml, const std::string& json) {
    const YamlReading left(yaml);
    if (!left.document) return ::testing::AssertionFailure() << left.messages();
    Diagnostics diagnostics;
    const Result<Document> right = read_json(diagnostics.add_file("test.json", json), diagnostics);
    if (!right) return ::testing::AssertionFailure() << diagnostics.format();
    if (equal(left.document->root(), right->root())) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << yaml << "\nis read as " << write_json(left.document->root());
}

/// Returns the messages of a text that must be refused, without the lines of source.
std::string refused(std::string text, const ReadOptions& options = {}) {
    const YamlReading reading(std::move(text), options);
    EXPECT_FALSE(reading.document.ok());
    std::string result;
    for (const Diagnostic& entry : reading.diagnostics.entries()) {
        const SourceLocation place = reading.diagnostics.locate(entry.position);
        append_text(result, concat(result.empty() ? "" : "\n", place.line, ':', place.column, ": ", entry.message,
                                   entry.hint.empty() ? "" : "; ", entry.hint));
        for (const DiagnosticNote& note : entry.notes) {
            const SourceLocation at = reading.diagnostics.locate(note.position);
            append_text(result, concat("\n  ", at.line, ':', at.column, ": ", note.message));
        }
    }
    return result;
}

TEST(Yaml, each_row_of_the_table_of_its_manual_reads_as_the_json_beside_it) {
    const Result<std::string> manual = read_file(SHOAL_SOURCE_DIR "/docs/formats/yaml.md");
    ASSERT_TRUE(manual.ok());
    int num_rows = 0;
    std::size_t at = manual->find("| YAML | read as JSON |");
    ASSERT_NE(at, std::string::npos);
    while ((at = manual->find("\n| `", at)) != std::string::npos) {
        const std::size_t middle = manual->find("` | `", at), end = manual->find("` |\n", middle);
        const std::string yaml = manual->substr(at + 4, middle - at - 4);
        EXPECT_TRUE(same_as_json(yaml, manual->substr(middle + 5, end - middle - 5)));
        at = end;
        ++num_rows;
    }
    EXPECT_EQ(num_rows, 6);
}

TEST(Yaml, the_example_of_its_manual_reads) {
    const Result<std::string> manual = read_file(SHOAL_SOURCE_DIR "/docs/formats/yaml.md");
    ASSERT_TRUE(manual.ok());
    const std::size_t begin = manual->find("\n```\n") + 5;
    const YamlReading ship(manual->substr(begin, manual->find("```", begin) - begin));
    ASSERT_TRUE(ship.document.ok()) << ship.messages();
    EXPECT_EQ(*ship["engine"].find("maxSpeed").as_int64(), 250);
    EXPECT_EQ(*ship["volume"].find("aabbox").find("max")[1].as_int64(), 30);
    EXPECT_TRUE(ship["collidable"].is_null());
    EXPECT_EQ(ship["script"].as_string(), "turn left\nfire\n");
}

TEST(Yaml, scalars_mean_what_the_core_schema_of_1_2_says) {
    EXPECT_TRUE(same_as_json("[~, null, Null, NULL]", "[null, null, null, null]"));
    EXPECT_TRUE(same_as_json("-\n- a:\n", R"([null, {"a": null}])"));
    EXPECT_TRUE(same_as_json("[true, True, TRUE, false, False, FALSE]", "[true, true, true, false, false, false]"));
    EXPECT_TRUE(same_as_json("[yes, no, on, off, Yes, y, n, tRue, nULL]",
                             R"(["yes", "no", "on", "off", "Yes", "y", "n", "tRue", "nULL"])"));
    EXPECT_TRUE(same_as_json("[0, 12, -3, +7, 0x1F, 0o17, -0]", "[0, 12, -3, 7, 31, 15, 0]"));
    EXPECT_TRUE(
        same_as_json("[1.5, -.5, +.5, 5., 1e3, 1.e-2, 0.0, -0.0]", "[1.5, -0.5, 0.5, 5.0, 1e3, 1e-2, 0.0, -0.0]"));
    EXPECT_TRUE(same_as_json("[1_000, 0b11, 12:30, 2026-01-31, 0x, 0o8, 0xG, 1e, 1.2.3, ., -, +, .e3, 1 2]",
                             R"(["1_000", "0b11", "12:30", "2026-01-31", "0x", "0o8", "0xG", "1e", "1.2.3", ".", "-",
                                 "+", ".e3", "1 2"])"));
    EXPECT_TRUE(
        same_as_json("[9223372036854775807, -9223372036854775808, 18446744073709551615, 0xFFFFFFFFFFFFFFFF]",
                     "[9223372036854775807, -9223372036854775808, 18446744073709551615, 18446744073709551615]"));
    EXPECT_TRUE(same_as_json("[18446744073709551616, -9223372036854775809, 1e-400, -1e-400, 0.00001e-320]",
                             "[18446744073709551616, -9223372036854775809, 0.0, -0.0, 0.0]"));
}

TEST(Yaml, numbers_that_are_not_finite_or_ambiguous_are_refused) {
    EXPECT_EQ(refused("a: .inf"), "1:4: the number \".inf\" is not finite; write a finite number");
    for (const char* number : {"-.INF", "+.Inf", ".nan", ".NaN", "!!float .NAN"})
        EXPECT_NE(refused(number).find("is not finite"), std::string::npos) << number;
    EXPECT_EQ(
        refused("a: 012"),
        "1:4: \"012\" begins with a zero: YAML 1.1 and 1.2 read different numbers; leave out the zero, write 0o for "
        "octal, or put it in quotes if it is a string");
    for (const char* number : {"-00", "+01.5", "00e1"})
        EXPECT_NE(refused(number).find("begins with a zero"), std::string::npos) << number;
    EXPECT_NE(refused("a: 1e9223372036854775807").find("is too large"), std::string::npos);
    EXPECT_EQ(refused("a: 0x10000000000000000"),
              "1:4: the number \"0x10000000000000000\" is too large; the largest is 18446744073709551615");
    EXPECT_EQ(refused("a: 1e400"), "1:4: the number \"1e400\" is too large; the largest is about 1.8e308");
    for (const char* number : {"-1e309", "0.001e400", ".5e99999999999999999999", "0x10000000000000000", "123e4567"})
        EXPECT_NE(refused(number).find("is too large"), std::string::npos) << number;
}

TEST(Yaml, quoted_folded_and_kept_texts_are_strings) {
    EXPECT_TRUE(same_as_json("a: '1'\nb: \"null\"\nc: 'it''s'\nd: \"\\u00e9\\t\\x41\"\ne: ''",
                             R"({"a": "1", "b": "null", "c": "it's", "d": "é\tA", "e": ""})"));
    EXPECT_TRUE(
        same_as_json("kept: |\n  two\n    lines\nless: |-\n  one\nmore: |+\n  one\n\nfolded: >\n  two\n  lines\n",
                     R"({"kept": "two\n  lines\n", "less": "one", "more": "one\n\n", "folded": "two lines\n"})"));
    EXPECT_TRUE(same_as_json("plain: two\n  lines", R"({"plain": "two lines"})"));
}

TEST(Yaml, keys_are_strings_as_written_and_differ) {
    EXPECT_TRUE(same_as_json("0: a\n0x0: b\nnull: c\n'': d\ntrue: e\nfor 0.6: f",
                             R"({"0": "a", "0x0": "b", "null": "c", "": "d", "true": "e", "for 0.6": "f"})"));
    EXPECT_EQ(refused("a: 1\nb: 2\na: 3"),
              "3:1: the key \"a\" is defined twice; remove or rename one\n  1:1: first defined here");
    EXPECT_EQ(refused("[1]: a"), "1:1: this key is a list; write a text as the key, in quotes if need be");
    EXPECT_EQ(refused("? {a: b}\n: c"), "1:3: this key is a mapping; write a text as the key, in quotes if need be");
    EXPECT_EQ(refused("- &a x\n- {*a : 1}"),
              "2:4: this key is an alias; write a text as the key, in quotes if need be");
    EXPECT_EQ(refused("? ~\n: a\n? \n: b\n"), "3:2: this mapping has a value without a key; write `key: value`");
    EXPECT_EQ(refused("&a k: 1"), "1:1: a key has an anchor; remove it; keys cannot be repeated");
    std::string many;
    for (int i = 0; i < 2000; ++i) append_text(many, concat("key", i, ": ", i, '\n'));
    EXPECT_EQ(*YamlReading(many)["key1234"].as_int64(), 1234);
    EXPECT_NE(refused(many + "key7: 1").find("\"key7\" is defined twice"), std::string::npos);
}

TEST(Yaml, lists_of_pairs_keep_order_and_repeated_keys) {  // req: F4
    EXPECT_TRUE(
        same_as_json("v:\n  !!pairs\n  # main\n  - color: a\n  - vertex: [1.0, 0.0]\n\n  - vertex: [2.0, 0.0]\n",
                     R"({"v": [{"color": "a"}, {"vertex": [1.0, 0.0]}, {"vertex": [2.0, 0.0]}]})"));
    EXPECT_TRUE(same_as_json("v: !!pairs [{m: &p [1, 2]}, {l: *p}]", R"({"v": [{"m": [1, 2]}, {"l": [1, 2]}]})"));
    EXPECT_TRUE(same_as_json("!!omap\n- a: 1\n- b:\n", R"([{"a": 1}, {"b": null}])"));
    EXPECT_EQ(refused("!!pairs [1]"), "1:10: an element of a list of pairs is a single value; write `- key: value`");
    EXPECT_EQ(refused("!!pairs [[a]]"), "1:10: an element of a list of pairs is a list; write `- key: value`");
    EXPECT_EQ(refused("!!pairs [{a: 1, b: 2}]"),
              "1:10: an element of a list of pairs has 2 keys; write `- key: value`");
    EXPECT_EQ(refused("!!pairs [{}]"), "1:10: an element of a list of pairs has 0 keys; write `- key: value`");
    EXPECT_NE(refused("!!pairs {a: 1}").find("the tag \"!!pairs\" cannot stand here"), std::string::npos);
}

TEST(Yaml, tags_say_what_a_value_is_or_are_refused) {
    EXPECT_TRUE(
        same_as_json("[!!str 12, ! a, !!int 12, !!float 1, !!bool true, !!null ~, !!seq [], !!map {}, !!float 1.5]",
                     R"(["12", "a", 12, 1.0, true, null, [], {}, 1.5])"));
    EXPECT_TRUE(same_as_json("!!int '12'", "12"));
    EXPECT_EQ(refused("a: !!int x"), "1:4: \"x\" is not of the type that its tag !!int says; remove the tag");
    EXPECT_EQ(refused("!ship {}"),
              "1:1: the tag \"!ship\" cannot stand here; a mapping has the tag !!map or none; what a tag of "
              "another program says is a key in a source, such as `type`");
    EXPECT_EQ(refused("a: !!binary AA=="),
              "1:4: the tag \"!!binary\" cannot stand here; a value has the tag !!str, !!int, !!float, !!bool, !!null "
              "or none");
    EXPECT_NE(refused("!!set [a]").find("a list has the tag !!seq, !!pairs, !!omap or none"), std::string::npos);
    EXPECT_NE(refused("!!int 1: a").find("a key is a string and needs no tag"), std::string::npos);
    EXPECT_NE(refused("!x!y a").find("1:1: found undefined tag handle"), std::string::npos);
}

TEST(Yaml, aliases_repeat_values_with_their_places) {
    const YamlReading reading("a: &p {x: [1, 2]}\nb: *p\nc: &s text\nd: [*s, *p, &p 3, *p]\n");
    ASSERT_TRUE(reading.document.ok()) << reading.messages();
    EXPECT_EQ(write_sjson_line(reading.document->root()),
              "a = { x = [1 2] }, b = { x = [1 2] }, c = \"text\", d = [\"text\", { x = [1 2] }, 3, 3]");
    EXPECT_EQ(reading["b"].position(), reading["a"].position());
    EXPECT_NE(reading["b"].key_position(), reading["a"].key_position());
    EXPECT_EQ(refused("a: *p"), "1:4: there is no anchor \"p\"; write &p before a value above");
    EXPECT_EQ(
        refused("a: &p [1, *p]"),
        "1:11: the alias \"p\" repeats a value that it is part of; write the value out\n  1:4: the value begins here");
}

TEST(Yaml, a_repeated_mapping_with_many_keys_finds_them) {
    std::string text = "a: &m\n";
    for (int i = 0; i < 100; ++i) append_text(text, concat("  k", i, ": ", i, '\n'));
    const YamlReading reading(text + "b: *m\n");
    ASSERT_TRUE(reading.document.ok()) << reading.messages();
    EXPECT_EQ(*reading["b"].find("k73").as_int64(), 73);
    EXPECT_FALSE(reading["b"].find("k100"));
}

TEST(Yaml, a_few_aliases_that_stand_for_billions_of_values_are_refused) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        append_text(bomb, concat("a", i, ": &a", i, " ["));
        for (int j = 0; j < 10; ++j) append_text(bomb, concat(j == 0 ? "" : ", ", "*a", i - 1));
        bomb += "]\n";
    }
    EXPECT_EQ(refused(bomb).substr(0, 90), concat("6:50: aliases repeat more than ", kMaxYamlAliasNodes,
                                                  " values; use prefabs for what occurs many times"));
    EXPECT_EQ(kMaxYamlAliasNodes, 1'048'576u) << "the manual says so";
}

TEST(Yaml, depth_is_limited_also_through_aliases) {
    const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_TRUE(YamlReading(nested(128)).document.ok());
    EXPECT_EQ(refused(nested(129)), "1:129: lists and mappings are nested deeper than 128 levels; flatten the data");
    EXPECT_EQ(refused("{a: {b: {}}}", {.max_depth = 2}),
              "1:9: lists and mappings are nested deeper than 2 levels; flatten the data");
    EXPECT_TRUE(YamlReading("[&a [[]], [*a]]", {.max_depth = 4}).document.ok());
    EXPECT_EQ(refused("[&a [[], 1], [[*a]]]", {.max_depth = 4}), refused("[&a [1, []], [[*a]]]", {.max_depth = 4}))
        << "the deepest of its values counts, wherever it stands";
    EXPECT_EQ(refused("[&a [[]], [[*a]]]", {.max_depth = 4}),
              "1:13: lists and mappings are nested deeper than 4 levels; flatten the data");
    EXPECT_TRUE(YamlReading("[&a [[]], &b [*a], *b]", {.max_depth = 4}).document.ok());
    EXPECT_EQ(refused("[&a [[]], &b [*a], [*b]]", {.max_depth = 4}),
              "1:21: lists and mappings are nested deeper than 4 levels; flatten the data")
        << "an alias is as deep as what it repeats";
    EXPECT_FALSE(YamlReading(std::string(shoal_test::kMillion, '[')).document.ok());
    std::string block;
    for (int i = 0; i < 3000; ++i) append_text(block, concat(std::string(static_cast<std::size_t>(i), ' '), "a:\n"));
    EXPECT_NE(refused(block).find("nested deeper than 128 levels"), std::string::npos);
}

TEST(Yaml, a_text_is_one_document) {
    EXPECT_TRUE(same_as_json("", "{}"));
    EXPECT_TRUE(same_as_json("# nothing\n", "{}"));
    EXPECT_TRUE(same_as_json("%YAML 1.2\n---\na: 1\n...\n# the end\n...\n", R"({"a": 1})"));
    EXPECT_TRUE(
        same_as_json("\xEF\xBB\xBF"
                     "a: 1\r\nb: 2\r\n",
                     R"({"a": 1, "b": 2})"));
    EXPECT_EQ(refused("a: 1\n---\nb: 2\n"),
              "2:1: a second document begins here; write each to a file of its own, or make entities of one level of "
              "them: the lines `entities:` and `-` before the first, a line `-` in place of each `---`, and two spaces "
              "before all other lines");
    EXPECT_TRUE(same_as_json("entities:\n-\n  a: 1\n-\n  b: 2\n", R"({"entities": [{"a": 1}, {"b": 2}]})"));
    EXPECT_EQ(refused("---\na: 1\n...\n%YAML 1.2\n---\n"),
              "4:1: the document has ended before this; check the indentation");
    std::string directives;
    for (std::uint32_t i = 0; i <= kMaxYamlDirectives; ++i) append_text(directives, concat("%TAG !t", i, "! a:\n"));
    EXPECT_EQ(refused(directives + "---\n"),
              "17:1: the text begins with more than 16 directives; shoal needs none of them; remove them");
    for (const char* line_break : {"\r", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
        std::string other = directives;
        for (std::size_t at = 0; (at = other.find('\n', at)) != std::string::npos;) other.replace(at, 1, line_break);
        EXPECT_NE(refused(other + "---\n").find("more than 16 directives"), std::string::npos);
    }
}

TEST(Yaml, merge_keys_are_refused) {
    EXPECT_EQ(refused("a: &a {x: 1}\nb:\n  <<: *a\n"),
              "3:3: merge keys are not part of YAML 1.2; use a prefab, or write the values out");
    EXPECT_TRUE(same_as_json("'<<': 1", R"({"<<": 1})"));
}

TEST(Yaml, mistakes_in_the_syntax_are_shown_where_they_are_with_a_hint) {
    EXPECT_EQ(refused("a:\n\tb: 1\n"), "2:1: there is a tab in the indentation; indent with spaces");
    EXPECT_EQ(YamlReading("script: 'turn left\nhealth: 55\n").messages(),
              "test.yaml:1:9: error: the text that opens here is never closed; add the closing quote\n"
              "    1 | script: 'turn left\n"
              "      |         ^~~~~\n")
        << "as the manual shows";
    EXPECT_NE(refused("a: @b").find("put a text that begins with this sign in quotes"), std::string::npos);
    EXPECT_NE(
        refused("a: b: c").find("1:5: mapping values are not allowed in this context; put a text that holds \": \""),
        std::string::npos);
    EXPECT_NE(refused("a: [1, 2\nb: 3").find("close the list with \"]\""), std::string::npos);
    EXPECT_NE(refused("a: {b: 2\nc").find("close the mapping with \"}\""), std::string::npos);
    EXPECT_NE(refused("a: \"\\q\"").find("found unknown escape character"), std::string::npos);
    EXPECT_NE(refused("a: 1\n b: 2").find("2:3: mapping values are not allowed"), std::string::npos);
    EXPECT_NE(refused("a: 1\nb\nc: 2").find("could not find expected ':'"), std::string::npos);
    EXPECT_EQ(refused("a: \x01"),
              "1:4: there is a control character in the text; write it as \"\\xXX\" in double quotes");
    EXPECT_EQ(refused("a: \xC3"), "1:4: this is not UTF-8; save the file as UTF-8");
    EXPECT_EQ(refused(std::string("a: \0", 4)), "1:4: there is a NUL byte in the text; is this a text file?");
}

TEST(Yaml, values_know_their_line_and_column) {
    const YamlReading reading("# é\nä: ö\nlist:\n  - [1, \"é\", ü]\n  - key: 2\n");
    ASSERT_TRUE(reading.document.ok()) << reading.messages();
    const auto place = [&](SourcePosition position) {
        const SourceLocation at = reading.diagnostics.locate(position);
        return concat(at.line, ':', at.column);
    };
    EXPECT_EQ(place(reading["ä"].key_position()), "2:1");
    EXPECT_EQ(place(reading["ä"].position()), "2:4");
    const Node list = reading["list"];
    EXPECT_EQ(place(list.position()), "4:3");
    EXPECT_EQ(place(list[0].position()), "4:5");
    EXPECT_EQ(place(list[0][1].position()), "4:9");
    EXPECT_EQ(place(list[0][2].position()), "4:14");
    EXPECT_EQ(place(list[1].find("key").position()), "5:10");
    const YamlReading marked(
        "\xEF\xBB\xBF"
        "a: b");
    EXPECT_EQ(marked["a"].position().offset, 6u);
}

constexpr std::string_view kLevel = R"(%YAML 1.2
---
# A level.
entities:
  a1: &first
    prefab: "reef/coral"
    modified_components:
      "#43d2ce7f": {position: [1.5, -2, 0x10], name: 'it''s', on: true}
  a2: *first
  b: !!pairs
    - vertex: [0.0, 1e3]
    - vertex: ~
script: |
  if depth > 3
    print é
folded: >-
  a
  b
...
)";

TEST(Yaml, the_text_that_is_damaged_below_is_whole) { EXPECT_EQ(YamlReading(std::string(kLevel)).messages(), ""); }

/// Reads, and uses what was read.
void read_and_use(const std::string& text) {
    const YamlReading reading(text);
    ASSERT_EQ(reading.document.ok(), reading.diagnostics.num_errors() == 0) << text;
    if (!reading.document) {
        ASSERT_TRUE(is_utf8(reading.messages())) << text;
        return;
    }
    Diagnostics diagnostics;
    const Result<Document> again =
        read_sjson(diagnostics.add_file("again", write_sjson(reading.document->root())), diagnostics);
    ASSERT_TRUE(again.ok()) << diagnostics.format() << text;
    ASSERT_TRUE(equal(again->root(), reading.document->root())) << text;
}

TEST(Yaml, a_text_cut_anywhere_is_an_error_or_a_tree) {
    const shoal_test::LeakCheck leaks;
    for (std::size_t length = 0; length < kLevel.size(); ++length) read_and_use(std::string(kLevel.substr(0, length)));
}

TEST(Yaml, random_edits_are_an_error_or_a_tree) {
    SCOPED_TRACE(shoal_test::seed_text());
    const shoal_test::LeakCheck leaks;
    Random random(shoal_test::seed());
    constexpr std::string_view kSigns = "{}[]\"':,&*!|>-?#%@`~<\\\n \t\r.0e\xEF\xBB\xBF\xC3\x80";
    for (std::int64_t i = shoal_test::scaled_operations(20'000); i > 0; --i) {
        std::string text(kLevel);
        for (std::uint32_t edits = 1 + random.below(8); edits > 0; --edits) {
            const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
            if (random.below(3) == 0)
                text.erase(at, 1 + random.below(10));
            else
                text.insert(at, 1, kSigns[random.below(kSigns.size())]);
        }
        read_and_use(text);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

/// Writes a tree of JSON as YAML in block style, with every kind of scalar.
TEST(Yaml, json_is_read_as_the_same_tree) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed() + 3);
    const auto scalar = [&]() -> std::string {
        switch (random.below(6)) {
            case 0:
                return concat(static_cast<std::int64_t>(random.next() >> random.below(64)));
            case 1:
                return concat('-', random.below(1000), '.', random.below(1000));
            case 2:
                return random.below(2) == 0 ? "true" : "null";
            case 3:
                return concat(random.below(100), ".5e", random.below(20));
            default:
                return concat("\"text ", random.below(100), " # \\\"", random.below(2) == 0 ? "\\u00e9" : ": ",
                              "\\\" \\n\"");
        }
    };
    for (std::int64_t i = shoal_test::scaled_operations(3'000); i > 0; --i) {
        std::string json = "{", yaml;
        for (std::uint32_t k = 0, count = 1 + random.below(8); k < count; ++k) {
            const std::string key = concat('k', k, k % 3 == 0 ? " x" : "");
            append_text(json, concat(k == 0 ? "" : ", ", '"', key, "\": "));
            append_text(yaml, concat(key, ':'));
            if (random.below(2) == 0) {
                const std::string value = scalar();
                append_text(json, value);
                append_text(yaml, concat(' ', value, random.below(3) == 0 ? "  # comment\n" : "\n"));
                continue;
            }
            json += '[';
            yaml += '\n';
            for (std::uint32_t n = 0, length = 1 + random.below(4); n < length; ++n) {
                const std::string a = scalar(), b = scalar();
                append_text(json, concat(n == 0 ? "" : ", ", "{\"a\": ", a, ", \"b\": [", b, "]}"));
                append_text(yaml, concat("  - a: ", a, "\n    b:\n    - ", b, '\n'));
            }
            json += ']';
        }
        json += '}';
        ASSERT_TRUE(same_as_json(yaml, json)) << yaml;
        ASSERT_TRUE(same_as_json(json, json));
    }
}

}  // namespace

// Texts that are read with their comments and written again: by format, after edits, and random trees.

#include "shoal/rewrite/source_text.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/source/detail/source_files.h"

#include "support/random_tree.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace shoal {
namespace {

constexpr std::string_view kNames[] = {"test.sjson", "test.json", "test.yaml"};

/// A text with its comments.
struct Rewriting {
    Diagnostics diagnostics;
    SourceComments comments;
    Result<Document> document;

    explicit Rewriting(std::string text, SourceFormat format = SourceFormat::kSjson, bool bare_texts = false)
        : document(read_source_text(
              diagnostics.add_file(std::string(kNames[static_cast<std::size_t>(format)]), std::move(text)), diagnostics,
              comments, {.max_depth = 640, .bare_texts = bare_texts})) {
        EXPECT_TRUE(document) << diagnostics.format();
    }

    std::string as(SourceFormat format, const SourceLayout& layout = {}) const {
        return write_source_text(document->root(), format, diagnostics, comments, layout);
    }
};

std::string sjson(std::string text) { return Rewriting(std::move(text)).as(SourceFormat::kSjson); }
std::string yaml(std::string text) { return Rewriting(std::move(text), SourceFormat::kYaml).as(SourceFormat::kYaml); }
std::string sjson_to_yaml(std::string text) { return Rewriting(std::move(text)).as(SourceFormat::kYaml); }
std::string yaml_to_sjson(std::string text) {
    return Rewriting(std::move(text), SourceFormat::kYaml).as(SourceFormat::kSjson);
}

constexpr SourceFormat kFormats[] = {SourceFormat::kSjson, SourceFormat::kJson, SourceFormat::kYaml};

/// Returns the lines of the comments of a text, sorted.
std::vector<std::string> comment_lines(const SourceComments& comments) {
    std::vector<std::string> lines;
    for (const Comment* comment : comments.all())
        for (std::string& line : lines_of(*comment)) lines.push_back(std::move(line));
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// Returns the lines around the first byte where two texts differ.
std::string first_difference(const std::string& a, const std::string& b) {
    const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    if (at == a.size() && at == b.size()) return {};
    const std::size_t begin = at < 200 ? 0 : at - 200;
    return concat(a.substr(begin, 300), "\nbut\n", b.substr(begin, 300));
}

/// Writes a text in a format and reads it again: tree and comments are the same, and writing it again changes nothing.
std::string rewritten(const Rewriting& from, SourceFormat format, const SourceLayout& layout = {}) {
    const std::string text = from.as(format, layout);
    const Rewriting to(text, format);
    if (!to.document) {
        ADD_FAILURE() << text;
        return text;
    }
    EXPECT_TRUE(equal(from.document->root(), to.document->root())) << text;
    if (format != SourceFormat::kJson) {
        EXPECT_EQ(comment_lines(from.comments), comment_lines(to.comments)) << text;
    }
    EXPECT_EQ(first_difference(to.as(format, layout), text), "");
    return text;
}

constexpr std::string_view kCommented = R"(// A coral.
// Two lines.

// about the prefab
prefab = "reef/coral"  // behind it

components = {  // where it opens
	// about the place
	transform = { position = [4 0 12] }  /* a block */

	/* several
	   lines */
	glow = {
		power = 0.10
		speed = 1e3
		// the end of glow
	}
	// the end of components
}
// the end of the text
)";

TEST(SourceText, a_laid_out_text_with_comments_everywhere_stays_as_it_is) {
    EXPECT_EQ(sjson(std::string(kCommented)), kCommented);
}

TEST(SourceText, comments_move_to_yaml_and_back) {
    const std::string there = sjson_to_yaml(std::string(kCommented));
    EXPECT_EQ(there, R"(# A coral.
# Two lines.

# about the prefab
prefab: reef/coral  # behind it

components:  # where it opens
  # about the place
  transform: {position: [4, 0, 12]}  # a block

  # several
  # lines
  glow:
    power: 0.10
    speed: 1e3
    # the end of glow
  # the end of components
# the end of the text
)");
    EXPECT_EQ(yaml(there), there);
    EXPECT_EQ(yaml_to_sjson(there), R"(// A coral.
// Two lines.

// about the prefab
prefab = "reef/coral"  // behind it

components = {  // where it opens
	// about the place
	transform = { position = [4 0 12] }  // a block

	// several
	// lines
	glow = {
		power = 0.10
		speed = 1e3
		// the end of glow
	}
	// the end of components
}
// the end of the text
)");
}

// --- edits ---------------------------------------------------------------------------------------------------------

TEST(SourceText, an_edited_tree_keeps_comments_spelling_and_lines_of_what_it_takes_over) {
    const Rewriting old{std::string(kCommented)};
    const Node root = old.document->root(), glow = root.find("components").find("glow");
    DocumentBuilder builder;
    builder.begin_mapping(root.position());
    builder.member(root.find("prefab"));
    builder.key(root.find("components"));
    builder.begin_mapping(root.find("components").position());
    builder.key(glow);
    builder.begin_mapping(glow.position());
    builder.key(glow.find("power"));
    builder.number(0.2, glow.find("power").position());
    builder.member(glow.find("speed"));
    builder.number("height", 7);
    builder.end();
    builder.end();
    builder.end();
    const Document edited = builder.finish();
    EXPECT_EQ(write_source_text(edited.root(), SourceFormat::kSjson, old.diagnostics, old.comments), R"(// A coral.
// Two lines.

// about the prefab
prefab = "reef/coral"  // behind it

components = {  // where it opens
	/* several
	   lines */
	glow = {
		power = 0.2
		speed = 1e3
		height = 7.0
		// the end of glow
	}
	// the end of components
}
// the end of the text
)");
}

TEST(SourceText, comments_with_odd_characters_are_kept) {
    const Rewriting sjson(
        "a = 1 // one\rtwo \x01 \xC2\x85 three\r\n/* \xE2\x80\xA8 x */ b = \"\"\"\nz\"\"\" /* \x7F */\r\n");
    const Rewriting yaml("a: 1 # one\rb: 2 # two\xE2\x80\xA9# three\r\n\r\nc: 3\r\n", SourceFormat::kYaml);
    EXPECT_EQ(yaml.document->root().size(), 3u);
    for (const SourceFormat format : kFormats) {
        rewritten(sjson, format);
        rewritten(yaml, format);
    }
}

/// Returns a text with \r\n at the ends of its lines.
std::string with_carriage_returns(std::string_view text) {
    std::string result;
    for (const char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return result;
}

TEST(SourceText, comments_at_the_start_of_any_line_are_kept) {
    const std::string mark = "\xEF\xBB\xBF";
    for (const std::string& text : {mark + "# one\na: 1\n", std::string("a: 1\xE2\x80\xA9# one\nb: 2\n"),
                                    std::string("a: 1\xC2\x85# one\nb: 2\n"), std::string("a:\r  b: 1\r  # one\rc: 2")})
        EXPECT_EQ(comment_lines(Rewriting(text, SourceFormat::kYaml).comments), std::vector<std::string>{"one"})
            << text;
    EXPECT_EQ(comment_lines(Rewriting(mark + "// one\na = 1").comments), std::vector<std::string>{"one"});
}

TEST(SourceText, lines_end_as_they_did_and_mean_the_same) {
    const std::string_view sjson_text =
        "// all\na = 1 // one\n\n/* two\n   lines */\ntext = \"\"\"b\n\n c\n\"\"\"\n"
        "m = {\n    x = [\n        \"y\"  // z\n    ]\n}\n";
    const std::string_view yaml_text =
        "# all\na: 1 # one\n\ntext: |\n  b\n\n   c\nfolded: >\n  d\n  e\nm:\n  - x # z\n";
    const std::string_view json_text = "{\n  \"a\": [\n    \"b\"\n  ]\n}\n";
    const std::pair<std::string_view, SourceFormat> texts[] = {
        {sjson_text, SourceFormat::kSjson}, {yaml_text, SourceFormat::kYaml}, {json_text, SourceFormat::kJson}};
    for (const auto& [text, format] : texts) {
        const Rewriting plain{std::string(text), format};
        EXPECT_EQ(plain.as(format), text);
        for (const std::string& mark : {std::string(), std::string("\xEF\xBB\xBF")}) {
            const std::string returns = mark + with_carriage_returns(text);
            const Rewriting from(returns, format);
            EXPECT_TRUE(equal(from.document->root(), plain.document->root()));
            EXPECT_EQ(comment_lines(from.comments), comment_lines(plain.comments));
            EXPECT_EQ(from.as(format), returns);
            for (const SourceFormat other : kFormats) {
                if (other == format) continue;
                EXPECT_EQ(from.as(other), with_carriage_returns(plain.as(other)));
            }
        }
    }
}

/// Walking back to the start of the line for each of them would take minutes.
TEST(SourceText, a_million_bytes_in_one_line_are_laid_out_as_they_are_in_lines) {
    for (const SourceFormat format : kFormats) {
        const bool is_sjson = format == SourceFormat::kSjson;
        std::string one = is_sjson ? "" : "{", lines = one;
        for (int i = 0; i < 40000; ++i) {
            const std::string member = concat("\"key ", i, "\": {\"x\": [", i, "]}");
            one += concat(i > 0 ? ", " : "", member, is_sjson ? " /* is it */" : "");
            lines += concat(i > 0 ? ",\n" : "\n", member, is_sjson ? " /* is it */" : "");
        }
        const std::string end = is_sjson ? "\n" : "}\n";
        EXPECT_GE(one.size(), std::size_t(1) << 20);
        EXPECT_EQ(Rewriting(one + end, format).as(format), Rewriting(lines + end, format).as(format));
    }
}

TEST(SourceText, a_carriage_return_in_a_text_is_kept_in_every_format) {
    const Rewriting from("a = \"x\\r\\ny\\n\" b = \"\"\"x\ry\nz\"\"\" c = \"\"\"x\r\r\ny\"\"\"\r\n");
    EXPECT_EQ(from.document->root().find("a").as_string(), "x\r\ny\n");
    EXPECT_EQ(from.document->root().find("b").as_string(), "x\ry\nz");
    EXPECT_EQ(from.document->root().find("c").as_string(), "x\r\ny");
    for (const SourceFormat format : kFormats) rewritten(from, format);
}

/// Without quotes, a key at the very beginning would lose the first character.
TEST(SourceText, a_key_that_begins_with_a_byte_order_mark_keeps_it_in_every_format) {
    const Rewriting from("\n\xEF\xBB\xBFsea = 1\n");
    EXPECT_EQ((*from.document->root().begin()).key(), "\xEF\xBB\xBFsea");
    for (const SourceFormat format : kFormats) rewritten(from, format);
}

// --- spelling ------------------------------------------------------------------------------------------------------

TEST(SourceText, texts_with_a_meaning_in_yaml_are_quoted_and_others_are_plain) {
    Rewriting from(R"({"plain": ["word", "two words", "a/b.c", "x-1", "caf\u00e9", "don't", "a:b", "43d2ce7f-9f3a"],
"quoted": ["yes", "No", "on", "y", "null", "~", "", " a", "a ", "0x10", "1e3", "12:30", "-1", ".5", "2026-01-31", "a: b",
"a #b", "a:", "#a", "- a", "-", "?", "&a", "*a", "!a", "|", "> a", "%a", "@a", "`a", "\"a\"", "'a'", "[a]", "{a}", "a, b",
"---", "<<", "=", "\u0001", "\u0085", "\u2028", "\ufeff", "\t"],
"lines": "one\n two\n\nthree\n", "short": "one\ntwo", "blank": "one\n \ntwo", "ends": "one\n\n", "tab": "\tone\ntwo\n"})",
                   SourceFormat::kJson);
    const std::string text = rewritten(from, SourceFormat::kYaml, {.width = 1000});
    const std::size_t quoted = text.find("quoted:"), lines = text.find("lines:");
    EXPECT_EQ(text.substr(0, quoted).find_first_of("\""), std::string::npos) << text;
    const Node list = from.document->root().find("quoted");
    const auto num_quotes = std::count(text.begin() + static_cast<std::ptrdiff_t>(quoted),
                                       text.begin() + static_cast<std::ptrdiff_t>(lines), '"');
    EXPECT_EQ(num_quotes, 2 * list.size() + 2) << "each has quotes, and one has two inside\n" << text;
    EXPECT_EQ(text.substr(lines),
              "lines: |\n  one\n   two\n\n  three\nshort: |-\n  one\n  two\nblank: \"one\\n \\ntwo\"\n"
              "ends: \"one\\n\\n\"\ntab: |2\n  \tone\n  two\n");
}

TEST(SourceText, texts_that_only_begin_as_words_of_yaml_do_are_plain) {
    EXPECT_EQ(sjson_to_yaml("a = \"yesterday\"\nb = \"false!\"\nc = \"YES\"\nd = [\"x:?y\" \"x:y\" \"?x\" \"x?\"]\n"),
              "a: yesterday\nb: false!\nc: \"YES\"\nd: [\"x:?y\", x:y, \"?x\", x?]\n");
}

TEST(SourceText, texts_of_several_lines_in_yaml_mean_the_same_at_any_depth) {
    for (const std::string_view lines :
         {">2\n    lead\n   x\n", ">-\n  a\n  b\n", ">+\n  a\n\n\n", ">\n  a\n\n  b\n   c\n  d\n", "|2\n   a\n  b\n",
          "|-\n  a\n   b\n", "|+\n  a\n\n", "\"a\n  b\"\n", "'a\n\n  b'\n", "\"a\\\n  b\"\n"}) {
        SCOPED_TRACE(lines);
        const std::string shallow = concat("a: ", lines, "b: 1\n");
        std::string deep = "k:\n      m:\n        a: ";
        for (const char sign : lines) deep += sign == '\n' ? std::string("\n        ") : std::string(1, sign);
        deep += "\n      n: 2\n";
        for (const SourceFormat format : kFormats) {
            rewritten(Rewriting(shallow, SourceFormat::kYaml), format);
            rewritten(Rewriting(deep, SourceFormat::kYaml), format);
        }
    }
}

TEST(SourceText, signs_stay_as_they_are_where_the_layout_says_so) {
    const SourceLayout keeps{.keeps_signs = true};
    for (const std::string text : {
             "a: 1\nb: [1, 2]\nc: { d: 1, e: \"x\" }\n",
             "a = 1\nb = [1 2]\nc = { d = 1  e = \"x\" }\n",
             "a: 1\nb = [1, 2]\nc = { d: [3 4]  e = 5 }\n",
             "\"a\": 1\nb: [\n\t{ c: 1 }\n\t{ c: 2 }\n]\n",
             "{\n\ta: 1,\n\tb: [1, 2]\n}\n",
             "{ a = 1 }\n",
             "a: []\nb: {}\nc = [[] {}]\n",
             "a: 1,  // the comma is before the comment\nb: 2,\nc: 3\n",
         }) {
        EXPECT_EQ(rewritten(Rewriting(text), SourceFormat::kSjson, keeps), text);
        EXPECT_EQ(sjson(text).find(':'), std::string::npos) << "otherwise all are the usual ones";
    }
}

TEST(SourceText, numbers_keep_their_spelling_where_the_format_has_it) {
    const Rewriting written("a = [0.10 1e3 1E+3 -0.0 -0 18446744073709551615 1.0 99999999999999999999 5e-324]");
    for (const SourceFormat format : kFormats) {
        const std::string text = rewritten(written, format);
        for (const std::string_view number :
             {"0.10", "1e3", "1E+3", "-0.0", "-0", "18446744073709551615", "99999999999999999999", "5e-324"})
            EXPECT_NE(text.find(number), std::string::npos) << number << " is not in " << text;
    }
    EXPECT_EQ(yaml("a: [+7, .5, 5., 0x1F, 0o17, True, NULL]\n"), "a: [+7, .5, 5., 0x1F, 0o17, True, NULL]\n");
    EXPECT_EQ(yaml_to_sjson("a: [+7, .5, 5., 0x1F, 0o17, True, NULL]\n"), "a = [7 0.5 5.0 31 15 true null]\n");
    EXPECT_EQ(yaml("a: !!float 1\nb: !!str 12\n"), "a: 1.0\nb: \"12\"\n") << "a tag that the value needs no more";
    EXPECT_EQ(yaml("a: !!int 0x1F\nb: &b !!int 0o17\n"), "a: 0x1F\nb: &b 0o17\n");
}

TEST(SourceText, texts_with_escapes_keep_their_spelling) {
    const std::string text = "a: \"caf\\u00e9\"\nb: 'it''s'\nc: \"a\\x62\"\n";
    EXPECT_EQ(yaml(text), text);
    EXPECT_EQ(yaml_to_sjson("a: \"caf\\u00e9\"\n"), "a = \"caf\u00e9\"\n");
}

TEST(SourceText, anchors_aliases_and_pairs_stay_in_yaml_and_are_written_out_elsewhere) {
    const std::string text = "a: &a {x: 1}\nb: *a\nc: &b\n  - *a\n  - &a 5\n  - *a\nd: *b\n";
    EXPECT_EQ(yaml(text), text);
    EXPECT_EQ(yaml_to_sjson("a: &a {x: 1}\nb: *a\n"), "a = { x = 1 }\nb = { x = 1 }\n");
    const std::string pairs = "a: !!pairs\n  - x: 1\n  - x: 2\nb: !!pairs [{x: 1}, {x: 2}]\n";
    EXPECT_EQ(yaml(pairs), pairs);
    EXPECT_EQ(yaml_to_sjson("b: !!pairs [{x: 1}, {x: 2}]\n"), "b = [ { x = 1 } { x = 2 } ]\n");
}

TEST(SourceText, brackets_on_a_line_below_their_tag_or_anchor_stay_on_one_line) {
    EXPECT_EQ(yaml_to_sjson("a: !\n  [0, 6]\nb: &b # of b\n  !!map\n  {x: 1}\n"), "a = [0 6]\nb = { x = 1 }\n");
    EXPECT_EQ(yaml("a: !\n  [0, 6]\nn: !!null\nname: 1\n"), "a: [0, 6]\nn:\nname: 1\n");
}

TEST(SourceText, keys_that_are_long_and_trees_that_are_deep_are_written_in_every_format) {
    const std::string key(3000, 'k');
    const Rewriting keys("a = { " + key + " = { b = 1 } }\n\"" + key + " \" = [1 2]\n");
    std::string nested, lists;
    for (int i = 0; i < 300; ++i) nested += "a = {\n", lists += "[";
    const Rewriting deep(nested + std::string(300, '}') + "\nb = " + lists + std::string(300, ']'));
    for (const SourceFormat format : kFormats) {
        rewritten(keys, format);
        rewritten(deep, format);
    }
}

TEST(SourceText, words_of_schema_files_stay_bare_in_sjson) {
    const Rewriting schema("type = vec3 // a word\nunit = \"m\"\n", SourceFormat::kSjson, true);
    EXPECT_EQ(schema.as(SourceFormat::kSjson, {.bare_texts = true}), "type = vec3 // a word\nunit = \"m\"\n");
    EXPECT_EQ(schema.as(SourceFormat::kSjson), "type = \"vec3\" // a word\nunit = \"m\"\n");
    EXPECT_EQ(schema.as(SourceFormat::kYaml), "type: vec3 # a word\nunit: m\n");
}

TEST(SourceText, lines_are_what_the_author_wrote_if_they_fit) {
    EXPECT_EQ(sjson("a={b=1 c=2}\nd={\ne=1}\n"), "a = { b = 1  c = 2 }\nd = {\n\te = 1\n}\n");
    EXPECT_EQ(sjson("a = [\n1\n2\n3\n]\nb = [\n1 2\n3 4\n]"), "a = [1 2 3]\nb = [\n\t1 2\n\t3 4\n]\n");
    EXPECT_EQ(sjson("a = 1\n\n\n\nb = 2\n"), "a = 1\n\nb = 2\n");
    EXPECT_EQ(sjson("a = 0.10// c\nb = [1/* d */2]\n"), "a = 0.10 // c\nb = [\n\t1 /* d */\n\t2\n]\n");
    EXPECT_EQ(sjson("a = []\nb = {}\nc = [[] {}]\n"), "a = []\nb = {}\nc = [[] {}]\n");
    EXPECT_EQ(sjson("a = {\n  b = {\n    c = 1 } }"), "a = {\n  b = {\n    c = 1\n  }\n}\n");
    for (const std::string text : {"a = 1\n\n// of both\n\nb = 2\n", "a = 1\n// of b\n\nb = 2\n\n// at the end\n"})
        EXPECT_EQ(sjson(text), text) << "empty lines before and after a comment stay";
    std::string row = "words = [\n\t";
    for (int i = 0; i < 8; ++i) row += "\"ééééééééé\" ";  // 95 code points on a line
    row.back() = '\n';
    row += "\t\"a\" \"b\"\n]\n";
    EXPECT_EQ(sjson(row), row) << "a code point counts once";
    const Rewriting wide("name = { first = \"a word\"  second = \"another word\" }");
    EXPECT_EQ(wide.as(SourceFormat::kSjson, {.width = 40}),
              "name = {\n\tfirst = \"a word\"\n\tsecond = \"another word\"\n}\n");
    const Rewriting accents("name = { first = \"äöüß\"  list = [\"ä\" \"ö\"] }");  // 43 code points, 49 bytes
    EXPECT_EQ(accents.as(SourceFormat::kSjson, {.width = 43}), "name = { first = \"äöüß\"  list = [\"ä\" \"ö\"] }\n");
    EXPECT_NE(accents.as(SourceFormat::kSjson, {.width = 42}), "name = { first = \"äöüß\"  list = [\"ä\" \"ö\"] }\n");
}

// --- all trees -----------------------------------------------------------------------------------------------------

TEST(SourceText, random_trees_are_the_same_in_every_format) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal_test::RandomTree trees(shoal_test::seed());
    for (std::int64_t i = shoal_test::scaled_operations(3000); i > 0 && !::testing::Test::HasFailure(); --i) {
        const Document tree = trees.make();
        const std::uint32_t width = 20 + trees.random().below(100);
        for (const SourceFormat first : kFormats) {
            const Rewriting built(
                write_source_text(tree.root(), first, Diagnostics(), SourceComments(), {.width = width}), first);
            ASSERT_TRUE(built.document);
            ASSERT_TRUE(equal(built.document->root(), tree.root()) || tree.root().size() == 0);
            for (const SourceFormat second : kFormats) rewritten(built, second, {.width = width});
        }
    }
}

/// Adds where the keys and values of a tree begin.
void add_offsets(Node node, std::vector<std::uint32_t>& offsets) {
    if (node.has_key()) offsets.push_back(node.key_position().offset);
    offsets.push_back(node.position().offset);
    if (!node.is_list() && !node.is_mapping()) return;
    for (const Node child : node) add_offsets(child, offsets);
}

TEST(SourceText, random_comments_are_kept_in_every_format) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal_test::RandomTree trees(shoal_test::seed());
    Random& random = trees.random();
    for (std::int64_t i = shoal_test::scaled_operations(3000); i > 0 && !::testing::Test::HasFailure(); --i) {
        const Document tree = trees.make();
        const Rewriting plain(write_source_text(tree.root(), SourceFormat::kSjson, Diagnostics(), SourceComments()));
        std::string text(plain.diagnostics.text(1));
        std::vector<std::uint32_t> offsets{static_cast<std::uint32_t>(text.size())};
        add_offsets(plain.document->root(), offsets);
        std::sort(offsets.begin(), offsets.end(), std::greater<>());
        for (const std::uint32_t offset : offsets) {
            constexpr std::string_view kComments[] = {"// a\n", "\n// b\n", "/* c */ ", "\n\n/* d\n e */\n",
                                                      "\n",     " // f\n\n"};
            if (random.below(4) == 0) text.insert(offset, kComments[random.below(std::size(kComments))]);
        }
        const Rewriting commented(text);
        ASSERT_TRUE(commented.document) << text;
        ASSERT_TRUE(equal(commented.document->root(), tree.root()) || tree.root().size() == 0) << text;
        rewritten(commented, SourceFormat::kSjson);
        const Rewriting in_yaml(rewritten(commented, SourceFormat::kYaml), SourceFormat::kYaml);
        if (::testing::Test::HasFailure()) ADD_FAILURE() << text;
        rewritten(in_yaml, SourceFormat::kSjson);
    }
}

// --- odd texts -----------------------------------------------------------------------------------------------------

/// The odd texts are files of golden/: odd.sjson, odd.json and odd.yaml. Beside each is what is written of it in a format and a
/// width, such as odd.yaml.40.sjson. SHOAL_WRITE_GOLDEN=1 renews these.
std::string golden_path(const std::string& name) { return SHOAL_SOURCE_DIR "/tests/rewrite/golden/" + name; }

std::string odd_text(SourceFormat format) {
    const std::string name(kNames[static_cast<std::size_t>(format)]);
    return read_file(golden_path("odd" + name.substr(name.find('.')))).value();
}

TEST(SourceText, odd_texts_keep_all_that_is_in_them_and_are_laid_out_as_before) {
    for (const SourceFormat from : kFormats) {
        const Rewriting odd(odd_text(from), from);
        const std::string name = concat("odd", odd.diagnostics.name(1).substr(4));
        const SourceComments own = odd.comments.of(odd.document->root());
        EXPECT_EQ(own.all().size(), odd.comments.all().size());
        EXPECT_EQ(write_source_text(odd.document->root(), from, odd.diagnostics, own), odd.as(from))
            << "they are all its own";
        const std::pair<std::string, SourceLayout> layouts[] = {
            {"40", {.width = 40}}, {"100", {.width = 100}}, {"signs", {.width = 60, .indent = 3, .keeps_signs = true}}};
        for (const SourceFormat to : kFormats)
            for (const auto& [layout_name, layout] : layouts) {
                if (layout.keeps_signs && to != SourceFormat::kSjson) continue;
                const std::string path =
                    golden_path(concat(name, '.', layout_name, kNames[static_cast<std::size_t>(to)].substr(4)));
                const std::string text = rewritten(odd, to, layout);
                if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
                EXPECT_EQ(first_difference(text, read_file(path).value()), "") << path;
            }
    }
}

TEST(SourceText, random_edits_of_texts_lose_nothing) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    constexpr std::string_view kSigns = "\r{}[],:=#/*-?&!|>'\"%@` \n\n  \t~ab01.+x\\";
    const std::string yaml_text = odd_text(SourceFormat::kYaml), sjson_text = odd_text(SourceFormat::kSjson);
    std::size_t num_read = 0;
    for (std::int64_t i = shoal_test::scaled_operations(30000); i > 0 && !::testing::Test::HasFailure(); --i) {
        const bool is_yaml = i % 2 == 0;
        std::string text = is_yaml ? yaml_text : sjson_text;
        for (std::uint32_t edits = 1 + random.below(4); edits > 0; --edits) {
            const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
            if (random.below(3) == 0)
                text.erase(at, 1 + random.below(12));
            else
                text.insert(at, 1, kSigns[random.below(kSigns.size())]);
        }
        if (i % 3 == 0) text = with_carriage_returns(text);
        Diagnostics diagnostics;
        SourceComments comments;
        const SourceFormat format = is_yaml ? SourceFormat::kYaml : SourceFormat::kSjson;
        const std::string name(kNames[static_cast<std::size_t>(format)]);
        if (!read_source_text(diagnostics.add_file(name, text), diagnostics, comments)) continue;
        ++num_read;
        const Rewriting read(text, format);
        const std::uint32_t width = 20 + random.below(90);
        for (const SourceFormat to : kFormats) rewritten(read, to, {.width = width});
        if (::testing::Test::HasFailure()) ADD_FAILURE() << text;
    }
    EXPECT_GT(num_read, 100u);
}

// --- files ---------------------------------------------------------------------------------------------------------

/// Rewrites each text below a folder in every format. Returns how many there are.
std::size_t rewrite_files(const std::string& folder, const SourceLayout& layout) {
    std::size_t num_files = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
        const std::string path = file.path().string(), name = file.path().filename().string();
        const bool is_text =
            path.ends_with(".sjson") || path.ends_with(".yaml") || path.ends_with(".level") || path.ends_with(".unit");
        if (!file.is_regular_file() || !is_text) continue;
        SCOPED_TRACE(path);
        const Result<std::string> text = read_file(path);
        const Rewriting source(text.value(), source_format(path),
                               layout.bare_texts || name.find(".schema.") != name.npos);
        for (const SourceFormat format : kFormats) rewritten(source, format, layout);
        ++num_files;
    }
    return num_files;
}

TEST(SourceText, the_samples_are_the_same_in_every_format) {
    EXPECT_GE(rewrite_files(SHOAL_SOURCE_DIR "/samples", {}), 40u);
}

TEST(SourceText, texts_of_others_are_the_same_in_every_format) {
    const std::string folder = SHOAL_SOURCE_DIR "/../shared/corpora";
    if (!is_directory(folder)) GTEST_SKIP() << "skipped: there is no " << folder;
    EXPECT_GE(rewrite_files(folder, {}), 25u);
}

}  // namespace
}  // namespace shoal

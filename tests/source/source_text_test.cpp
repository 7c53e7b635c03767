// Texts that are read with their comments and written again: by format, after edits, and random trees.

#include "shoal/source/source_text.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/source/source_files.h"

#include "support/random_tree.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

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

// --- all trees -----------------------------------------------------------------------------------------------------

constexpr SourceFormat kFormats[] = {SourceFormat::kSjson, SourceFormat::kJson, SourceFormat::kYaml};

/// Returns the comments of a text, sorted, without blanks around them; of blocks each line.
std::vector<std::string> comment_lines(const SourceComments& comments) {
    std::vector<std::string> lines;
    for (const Comment* comment : comments.all())
        for (std::size_t begin = 0; begin <= comment->text.size();) {
            const std::size_t end = std::min(comment->text.find('\n', begin), comment->text.size());
            std::string line = comment->text.substr(begin, end - begin);
            line.erase(0, line.find_first_not_of(" \t\r"));
            line.erase(line.find_last_not_of(" \t\r") + 1);
            lines.push_back(line);
            begin = end + 1;
        }
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

constexpr std::string_view kOddYaml = R"(%YAML 1.2
--- # one document
# the ship
ship: &ship   # anchored
  # its engine
  engine: {speed: +7, 'power': .5, "heat": 0x1F}
  list:
  - a   # first
  -   # second
    b: 1
    c: [1, 2,   # inside
      3]
  - &name named
  - *name
  # the end of the list
name: "a \u00e9 \x41"
copy: *ship
script: |2   # two
    turn left

  fire

folded: >-
  one
  two

  three

# pairs
pairs: !!pairs
  # in pairs
  - a: 1
  - a: ~   # again
'single ''quotes''': plain text  # not # a comment
? long
: {}
empty: []   # nothing
nothing:
# the end
...
# after it
)";

constexpr std::string_view kOddSjson = R"(/* a head */ /* and more */ {   // opens
	a = /* before */ 1 // after
	"b c" : [ /* first */ 1, 2 // two
		3 /* three */ /* and */ ], // list
	path//file = """
	say "hi"
""" // verbatim
	// alone

	matrix = [
		1 0 0
		0 1 0 // row
	]
	rows = [ 1 2 3
		4 5 6
	]
	#43d2ce7f = { } // empty
	deep = [[[{ x = [] }]]]
	// the end
} // behind
// last
)";

TEST(SourceText, odd_texts_keep_all_that_is_in_them) {
    const Rewriting yaml(std::string(kOddYaml), SourceFormat::kYaml), sjson{std::string(kOddSjson)};
    EXPECT_EQ(yaml.comments.all().size(), 16u);
    EXPECT_EQ(sjson.comments.all().size(), 17u);
    for (const SourceFormat format : kFormats) {
        rewritten(yaml, format);
        rewritten(sjson, format);
    }
}

TEST(SourceText, random_edits_of_texts_lose_nothing) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    constexpr std::string_view kSigns = "{}[],:=#/*-?&!|>'\"%@` \n\n  \t~ab01.+x\\";
    std::size_t num_read = 0;
    for (std::int64_t i = shoal_test::scaled_operations(30000); i > 0 && !::testing::Test::HasFailure(); --i) {
        const bool is_yaml = i % 2 == 0;
        std::string text(is_yaml ? kOddYaml : kOddSjson);
        for (std::uint32_t edits = 1 + random.below(4); edits > 0; --edits) {
            const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
            if (random.below(3) == 0)
                text.erase(at, 1 + random.below(12));
            else
                text.insert(at, 1, kSigns[random.below(kSigns.size())]);
        }
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

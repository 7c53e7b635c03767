// Broken or hostile texts give an error or a tree, and never a crash or a long wait.

#include "document_testing.h"
#include "support/testing.h"

#include <gtest/gtest.h>
#include <vector>

using shoal_test::Reading;

namespace {

constexpr std::string_view kLevel = R"(_guid = "ba028395-428e-42f2-aca8-11a1523fe8bf"
_type = "level"
editor = {
	camera = {
		orthographic_size = 6.6574621199999999
		position = [
			28.217533100000001
			-36.9815331
		]
		text = """several
"quoted" lines""" // and a comment
	}
}
units = [
	{
		_guid = "00555854-bca8-410f-b2d3-17478cfa48fa"
		children = [
		]
		modified_components = {
			"#43d2ce7f" = { data.mass = 1e3, hidden = false, name = "r\u00e9cif \ud83d\udc1f" /* here */ }
		}
		prefab = null
	}
]
)";

/// Reads a text with both readers, and visits everything in the result.
void read_and_use(const std::string& text) {
    for (const auto reader : {&shoal::read_sjson, &shoal::read_json}) {
        const Reading reading(text, reader);
        ASSERT_EQ(reading.document.ok(), reading.diagnostics.num_errors() == 0) << text;
        if (!reading) {
            const std::string messages = reading.messages();
            ASSERT_NE(messages.find("error: "), std::string::npos);
            ASSERT_TRUE(shoal::is_utf8(messages)) << text;
            continue;
        }
        const Reading again(shoal::write_sjson(reading.root()));
        ASSERT_TRUE(again) << again.messages() << text;
        ASSERT_TRUE(shoal::equal(again.root(), reading.root())) << text;
    }
}

}  // namespace

TEST(HostileText, what_is_not_utf8_is_refused_in_a_string_and_all_else_is_read) {
    // The ends of what may come first for each length, and those after which less may follow; the ends of what follows.
    constexpr std::string_view kFirst = "\x41\x80\xC1\xC2\xDF\xE0\xE1\xED\xEF\xF0\xF1\xF3\xF4\xF5\xFF";
    constexpr std::string_view kOthers = "\x7F\x80\x82\x8F\x90\x9F\xA0\xBF\xC0";
    for (const char a : kFirst)
        for (const char b : kOthers)
            for (const char c : kOthers)
                for (const char d : kOthers) {
                    const char bytes[] = {a, b, c, d};
                    const std::string text(bytes, sizeof bytes);
                    const Reading reading("a = \"" + text + '"');
                    ASSERT_EQ(bool(reading), shoal::is_utf8(text)) << reading.messages();
                    if (reading) {
                        ASSERT_EQ(reading.root().find("a").as_string(), text);
                    } else {
                        ASSERT_EQ(reading.first_message(), "this is not UTF-8");
                    }
                }
}

TEST(HostileText, the_text_that_is_damaged_below_is_whole) {
    const Reading reading{std::string(kLevel)};
    EXPECT_TRUE(reading) << reading.messages();
}

TEST(HostileText, a_text_cut_anywhere_is_an_error_or_a_tree) {
    const shoal_test::LeakCheck leaks;
    for (std::size_t length = 0; length < kLevel.size(); ++length) {
        // In a buffer of its exact size, so that a sanitizer sees a read past the end.
        const std::vector<char> bytes(kLevel.begin(), kLevel.begin() + static_cast<std::ptrdiff_t>(length));
        for (const auto reader : {&shoal::read_sjson, &shoal::read_json}) {
            shoal::Diagnostics diagnostics;
            const std::uint32_t file = diagnostics.refer_file("cut", {bytes.data(), bytes.size()});
            const auto document = reader(file, diagnostics, {});
            ASSERT_EQ(document.ok(), diagnostics.num_errors() == 0);
            ASSERT_LE(diagnostics.num_errors(), 2u) << diagnostics.format();
        }
    }
}

TEST(HostileText, random_edits_are_an_error_or_a_tree) {
    SCOPED_TRACE(shoal_test::seed_text());
    const shoal_test::LeakCheck leaks;
    shoal::Random random(shoal_test::seed());
    constexpr std::string_view kSigns = "{}[]\"=:,/*\\\n \t\r#-+.eE0u\xEF\xBB\xBF\xC3\x80";
    for (std::int64_t i = shoal_test::scaled_operations(100'000); i > 0; --i) {
        std::string text(kLevel);
        for (std::uint32_t edits = 1 + random.below(8); edits > 0; --edits) {
            const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
            switch (random.below(4)) {
                case 0:
                    text[at] = static_cast<char>(random.below(256));
                    break;
                case 1:
                    text[at] = kSigns[random.below(kSigns.size())];
                    break;
                case 2:
                    text.insert(at, 1, kSigns[random.below(kSigns.size())]);
                    break;
                default:
                    text.erase(at, 1 + random.below(10));
            }
        }
        read_and_use(text);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(HostileText, sequences_of_signs_are_an_error_or_a_tree) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal::Random random(shoal_test::seed() + 1);
    constexpr std::string_view kTokens[] = {"{",  "}",     "[",  "]",      "=",    ":", ",",    "a",
                                            "b",  "\"a\"", "\"", "\"\"\"", "1",    "-", "null", "//",
                                            "/*", "*/",    "\n", " ",      "a = ", "/", "\\"};
    for (std::int64_t i = shoal_test::scaled_operations(200'000); i > 0; --i) {
        std::string text;
        for (std::uint32_t count = random.below(12); count > 0; --count)
            text += kTokens[random.below(std::size(kTokens))];
        read_and_use(text);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(HostileText, a_million_levels_are_refused_or_read_without_recursion) {
    const shoal_test::LeakCheck leaks;
    constexpr std::size_t kDepth = shoal_test::kMillion;
    std::string lists = std::string(kDepth, '[') + std::string(kDepth, ']');
    for (const auto reader : {&shoal::read_sjson, &shoal::read_json}) {
        EXPECT_FALSE(Reading(lists, reader));
        const Reading deep(lists, reader, {.max_depth = kDepth});
        ASSERT_TRUE(deep) << deep.messages();
        EXPECT_TRUE(shoal::equal(deep.root(), deep.root()));
    }
    std::string mappings;
    for (std::size_t i = 0; i < kDepth; ++i) mappings += "a={";
    EXPECT_EQ(Reading(mappings).diagnostics.num_errors(), 1u);
    EXPECT_EQ(Reading(mappings, &shoal::read_sjson, {.max_depth = 2 * kDepth}).diagnostics.num_errors(), 1u);
    const Reading wrong(std::string(kDepth, '[') + std::string(kDepth, '}'), &shoal::read_sjson, {.max_depth = kDepth});
    EXPECT_EQ(wrong.diagnostics.num_errors(), 1u);
}

TEST(HostileText, a_deep_tree_is_written_without_recursion) {
    constexpr std::size_t kDepth = 5'000;  // indentation makes the text quadratic
    const Reading deep(std::string(kDepth, '[') + std::string(kDepth, ']'), &shoal::read_sjson, {.max_depth = kDepth});
    ASSERT_TRUE(deep);
    const Reading again(shoal::write_sjson(deep.root()), &shoal::read_sjson, {.max_depth = kDepth});
    ASSERT_TRUE(again) << again.messages();
    EXPECT_TRUE(shoal::equal(again.root(), deep.root()));
}

TEST(HostileText, a_million_keys_in_one_mapping_are_read_and_found) {
    const shoal_test::LeakCheck leaks;
    constexpr int kKeys = shoal_test::kMillion;
    std::string text;
    for (int i = 0; i < kKeys; ++i) text += shoal::concat("k", i, "=", i, "\n");
    const Reading reading(text);
    ASSERT_TRUE(reading);
    ASSERT_EQ(reading.root().size(), static_cast<std::uint32_t>(kKeys));
    for (int i = 0; i < kKeys; i += 7) ASSERT_EQ(*reading.root().find(shoal::concat("k", i)).as_int64(), i);
    EXPECT_EQ(Reading(text + "k50000 = 1").diagnostics.num_errors(), 1u);
}

TEST(HostileText, a_million_mistakes_are_counted_and_few_are_kept) {
    std::string text;
    for (std::uint32_t i = 0; i < shoal_test::kMillion; ++i) text += "a=x\n";
    const Reading reading(text);
    EXPECT_GT(reading.diagnostics.num_errors(), shoal_test::kMillion);
    EXPECT_EQ(reading.diagnostics.entries().size(), 20u) << "ten words that are no values, ten keys defined twice";
    EXPECT_LT(reading.messages().size(), 10'000u);
}

TEST(HostileText, one_very_long_line_gives_a_short_message) {
    std::string text = "a = [";
    text.resize(20'000'000, ' ');
    text += "teapot ]";
    text.resize(40'000'000, ' ');
    const Reading reading(text);
    EXPECT_EQ(reading.messages(),
              "test.sjson:1:20000001: error: \"teapot\" is not a value; expected a number, true, false, null, a list, "
              "a mapping, or a string such as \"teapot\"\n"
              "    1 | ..." +
                  std::string(40, ' ') + "teapot ]" + std::string(52, ' ') +
                  "...\n"
                  "      | " +
                  std::string(43, ' ') + "^~~~~~\n");
}

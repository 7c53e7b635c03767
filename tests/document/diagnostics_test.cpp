#include "shoal/document/diagnostics.h"

#include "shoal/base/text.h"
#include "support/testing.h"

#include <string>

using shoal::Diagnostics;
using shoal::SourceLocation;

namespace {

std::uint32_t offset_of(const Diagnostics& diagnostics, std::uint32_t file, std::string_view part) {
    return static_cast<std::uint32_t>(diagnostics.text(file).find(part));
}

/// Returns the formatted error at the first `part` of `text`.
std::string format_at(std::string text, std::string_view part, std::uint32_t num_bytes = 0) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("f", std::move(text));
    diagnostics.error({file, offset_of(diagnostics, file, part)}, "m").underline(num_bytes);
    return diagnostics.format();
}

}  // namespace

TEST(Diagnostics, an_error_shows_place_message_hint_line_and_marker) {
    const shoal_test::LeakCheck leaks;
    Diagnostics diagnostics;
    std::string text(13, '\n');
    text += "        postion = [0 0 3]\n";
    const std::uint32_t file = diagnostics.add_file("reef/garden.sjson", text);
    diagnostics.error({file, 13 + 8}, "component \"transform\" has no field \"postion\"", "did you mean \"position\"?");
    EXPECT_EQ(
        diagnostics.format(),
        "reef/garden.sjson:14:9: error: component \"transform\" has no field \"postion\"; did you mean \"position\"?\n"
        "   14 |         postion = [0 0 3]\n"
        "      |         ^~~~~~~\n");
}

TEST(Diagnostics, a_note_has_its_own_place_and_line) {
    Diagnostics diagnostics;
    const std::uint32_t a = diagnostics.add_file("a", "x = 1\n");
    const std::uint32_t b = diagnostics.add_file("b", "\nx = 2\n");
    diagnostics.warning({b, 1}, "x is there twice").note({a, 0}, "first defined here");
    EXPECT_EQ(diagnostics.format(),
              "b:2:1: warning: x is there twice\n"
              "    2 | x = 2\n"
              "      | ^\n"
              "a:1:1: note: first defined here\n"
              "    1 | x = 1\n"
              "      | ^\n");
}

TEST(Diagnostics, an_error_without_a_place_is_one_line) {
    Diagnostics diagnostics;
    diagnostics.error({}, "no such file", "check the path");
    EXPECT_EQ(diagnostics.format(), "error: no such file; check the path\n");
}

TEST(Diagnostics, lines_and_columns_start_at_one_and_columns_are_code_points) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("f",
                                                    "a\n\tb\xC3\xA9"
                                                    "c\r\nd");
    EXPECT_EQ(diagnostics.locate({file, 0}), (SourceLocation{file, 1, 1}));
    EXPECT_EQ(diagnostics.locate({file, 3}), (SourceLocation{file, 2, 2}));
    EXPECT_EQ(diagnostics.locate({file, 6}), (SourceLocation{file, 2, 4}));
    EXPECT_EQ(diagnostics.locate({file, 9}), (SourceLocation{file, 3, 1}));
    EXPECT_EQ(diagnostics.locate({file, 1000}), (SourceLocation{file, 3, 2})) << "beyond the text is its end";
    EXPECT_EQ(diagnostics.locate({}), SourceLocation());
}

TEST(Diagnostics, a_byte_order_mark_is_no_column) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("f",
                                                    "\xEF\xBB\xBF"
                                                    "ab\ncd");
    EXPECT_EQ(diagnostics.locate({file, 3}), (SourceLocation{file, 1, 1}));
    EXPECT_EQ(diagnostics.locate({file, 4}), (SourceLocation{file, 1, 2}));
    EXPECT_EQ(diagnostics.locate({file, 7}), (SourceLocation{file, 2, 2}));
    EXPECT_EQ(format_at("\xEF\xBB\xBF"
                        "ab cd",
                        "ab"),
              "f:1:1: error: m\n    1 | ab cd\n      | ^~\n");
}

TEST(Diagnostics, every_place_of_a_random_text_is_where_counting_finds_it) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal::Random random(shoal_test::seed());
    std::string text;
    for (int i = 0; i < 20'000; ++i) {
        constexpr std::string_view kPieces[] = {"a", "\n", "\xC3\xA9", "\xF0\x9F\x90\x9F", "\t"};
        text += kPieces[random.below(random.below(50) == 0 ? 5 : 1)];
    }
    text += std::string(5000, 'x');
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("f", text);
    std::uint32_t line = 1, column = 1;
    for (std::uint32_t i = 0; i < text.size(); ++i) {
        const bool is_start = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
        if (is_start) {
            ASSERT_EQ(diagnostics.locate({file, i}), (SourceLocation{file, line, column})) << "offset " << i;
        }
        column = text[i] == '\n' ? 1 : column + (is_start ? 1 : 0);
        line += text[i] == '\n';
    }
}

TEST(Diagnostics, tabs_are_copied_into_the_marker_line) {
    EXPECT_EQ(format_at("\t\tkey\t= 1", "= 1"), "f:1:7: error: m\n    1 | \t\tkey\t= 1\n      | \t\t   \t^\n");
}

TEST(Diagnostics, the_marker_stands_under_its_place_behind_wide_narrow_and_combining_characters) {
    EXPECT_EQ(format_at("\xC3\xA9 x", "x"), "f:1:3: error: m\n    1 | \xC3\xA9 x\n      |   ^\n");
    EXPECT_EQ(format_at("\xE9\xAD\x9A x", "x"), "f:1:3: error: m\n    1 | \xE9\xAD\x9A x\n      |    ^\n");
    EXPECT_EQ(format_at("e\xCC\x81 x", "x"), "f:1:4: error: m\n    1 | e\xCC\x81 x\n      |   ^\n");
}

TEST(Diagnostics, the_underline_covers_the_word_the_string_or_the_bytes_asked_for) {
    EXPECT_EQ(format_at("a = \"b c\" d", "\"b"), "f:1:5: error: m\n    1 | a = \"b c\" d\n      |     ^~~~~\n");
    EXPECT_EQ(format_at("a = {b}", "{"), "f:1:5: error: m\n    1 | a = {b}\n      |     ^\n");
    EXPECT_EQ(format_at("a = bcd", "bcd", 2), "f:1:5: error: m\n    1 | a = bcd\n      |     ^~\n");
    EXPECT_EQ(format_at("ab\ncd", "ab", 100), "f:1:1: error: m\n    1 | ab\n      | ^~\n");
    EXPECT_EQ(format_at("ab\r\ncd", "ab", 100), "f:1:1: error: m\n    1 | ab\n      | ^~\n");
}

TEST(Diagnostics, the_end_of_the_text_can_be_marked) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("f", "ab");
    const std::uint32_t empty = diagnostics.add_file("g", "");
    diagnostics.error({file, 2}, "m");
    diagnostics.error({empty, 0}, "m");
    EXPECT_EQ(diagnostics.format(), "f:1:3: error: m\n    1 | ab\n      |   ^\ng:1:1: error: m\n    1 | \n      | ^\n");
}

TEST(Diagnostics, what_must_not_reach_a_terminal_is_escaped) {
    EXPECT_EQ(format_at("\x1B[31m x", "x"), "f:1:7: error: m\n    1 | \\x1B[31m x\n      |          ^\n");
    EXPECT_EQ(format_at("\xFF x", "x"), "f:1:3: error: m\n    1 | \\xFF x\n      |      ^\n");
    EXPECT_EQ(format_at("\xC2\x9B x", "x"), "f:1:3: error: m\n    1 | \\u009B x\n      |        ^\n");
    EXPECT_EQ(format_at("\xE2\x80\xAE x", "x"), "f:1:3: error: m\n    1 | \\u202E x\n      |        ^\n");
    Diagnostics diagnostics;
    diagnostics.error({}, "bad \x1B[2J", "do \x07");
    EXPECT_EQ(diagnostics.format(), "error: bad \\x1B[2J; do \\x07\n");
}

TEST(Diagnostics, a_long_line_is_cut_to_a_window_around_the_place) {
    std::string text(1 << 20, 'a');
    text[500'000] = 'X';
    const std::string formatted = format_at(text, "X", 1);
    EXPECT_EQ(formatted, "f:1:500001: error: m\n    1 | ..." + std::string(40, 'a') + "X" + std::string(59, 'a') +
                             "...\n      | " + std::string(43, ' ') + "^\n");
    const std::string at_start = format_at(text, "a", 1);
    EXPECT_EQ(at_start, "f:1:1: error: m\n    1 | " + std::string(100, 'a') + "...\n      | ^\n");
}

TEST(Diagnostics, a_window_is_cut_between_code_points) {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "\xF0\x9F\x90\x9F";
    text += "X";
    const std::string formatted = format_at(text, "X");
    EXPECT_EQ(formatted.find("\\x"), std::string::npos) << formatted;
    EXPECT_NE(formatted.find("\n    1 | ...\xF0\x9F\x90\x9F"), std::string::npos) << formatted;
}

TEST(Diagnostics, only_so_many_entries_are_kept_and_the_rest_is_counted) {
    Diagnostics diagnostics(3);
    for (int i = 0; i < 5; ++i) diagnostics.error({}, "e").note({}, "n");
    for (int i = 0; i < 4; ++i) diagnostics.warning({}, "w");
    EXPECT_EQ(diagnostics.num_errors(), 5u);
    EXPECT_EQ(diagnostics.num_warnings(), 4u);
    EXPECT_EQ(diagnostics.entries().size(), 6u);
    const std::string formatted = diagnostics.format();
    EXPECT_TRUE(formatted.ends_with("and 2 more errors\nand 1 more warning\n")) << formatted;
}

TEST(Diagnostics, those_of_one_kind_are_capped_with_a_count) {
    Diagnostics diagnostics;
    const auto message = [](int i) {
        return shoal::concat("component ", shoal::quoted(shoal::concat(i % 2 == 0 ? "cod" : "eel", i)), " has ", i,
                             " fields");
    };
    for (int i = 0; i < 422; ++i) diagnostics.error({}, message(i));
    diagnostics.error({}, "another error");
    for (int i = 0; i < 11; ++i) diagnostics.warning({}, message(i));  // a warning is of another kind than an error
    EXPECT_EQ(diagnostics.num_errors(), 423u);
    EXPECT_EQ(diagnostics.num_warnings(), 11u);
    EXPECT_EQ(diagnostics.entries().size(), 21u);
    const std::string formatted = diagnostics.format();
    EXPECT_NE(
        formatted.find("error: component \"eel9\" has 9 fields\nand 412 more of this kind\nerror: another error\n"),
        std::string::npos)
        << formatted;
    EXPECT_TRUE(formatted.ends_with("warning: component \"eel9\" has 9 fields\nand 1 more of this kind\n"))
        << formatted;
}

TEST(Diagnostics, are_sorted_as_a_reader_of_the_texts_meets_them) {
    Diagnostics diagnostics(100, 2);
    const std::uint32_t first = diagnostics.add_file("first", "a\nb\nc\n"),
                        second = diagnostics.add_file("second", "d");
    diagnostics.warning({second, 0}, "before");
    diagnostics.error({first, 4}, "no type 1");
    diagnostics.error({second, 0}, "other");
    diagnostics.error({first, 0}, "no type 2");
    diagnostics.error({first, 2}, "no type 3");
    diagnostics.warning({first, 4}, "later");
    diagnostics.error({}, "the cause");
    diagnostics.error({first, 1}, "between");
    diagnostics.sort_by_place(1);
    std::string messages;
    for (const shoal::Diagnostic& entry : diagnostics.entries()) messages += entry.message + ", ";
    EXPECT_EQ(messages, "before, the cause, no type 2, between, no type 1, later, other, ");
    EXPECT_NE(diagnostics.format().find("first:3:1: error: no type 1\n    3 | c\n      | ^\nand 1 more of this kind\n"),
              std::string::npos)
        << diagnostics.format();
}

TEST(Diagnostics, a_short_text_stays_where_it_is_when_files_are_added) {
    Diagnostics diagnostics;
    const std::uint32_t first = diagnostics.add_file("a", "x");
    const char* const place = diagnostics.text(first).data();
    for (int i = 0; i < 100; ++i) diagnostics.add_file("b", "y");
    EXPECT_EQ(diagnostics.text(first).data(), place);
    EXPECT_EQ(diagnostics.name(first), "a");
}

TEST(Diagnostics, a_referred_text_is_not_copied) {
    const std::string text = "some text";
    Diagnostics diagnostics;
    EXPECT_EQ(diagnostics.text(diagnostics.refer_file("f", text)).data(), text.data());
}

TEST(Diagnostics, quoted_cuts_and_escapes) {
    EXPECT_EQ(shoal::quoted("mass"), "\"mass\"");
    EXPECT_EQ(shoal::quoted(""), "\"\"");
    EXPECT_EQ(shoal::quoted("a\nb\x1B"), "\"a\\x0Ab\\x1B\"");
    EXPECT_EQ(shoal::quoted(std::string(100, 'a')), shoal::concat('"', std::string(64, 'a'), "...\""));
    EXPECT_EQ(shoal::quoted(std::string(63, 'a') + "\xC3\xA9"
                                                   "b"),
              shoal::concat('"', std::string(63, 'a'), "...\""));
}

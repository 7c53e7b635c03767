// The tree keeps its own rules, and each rule is shown to notice when it is broken.

#include "shoal/base/detail/config.h"
#include "source_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace structure {
namespace {

Path fixture(const std::string& name) { return project_root() / "tests/structure/fixtures" / name; }

bool mentions(const Lines& places, const std::string& text) { return to_text(places).find(text) != std::string::npos; }

TEST(Rooms, are_read_in_order_from_the_build) {
    const Lines rooms = read_rooms(project_root());
    ASSERT_GE(rooms.size(), 11u);
    EXPECT_EQ(rooms.front(), "base");
    EXPECT_EQ(rooms.back(), "script");
    EXPECT_EQ(read_rooms(fixture("upward")), (Lines{"upper", "lower"}));
}

TEST(Rooms, include_only_rooms_above_them) {
    const Lines broken = broken_room_order(project_root());
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Rooms, an_upward_include_is_noticed) {
    const Lines broken = broken_room_order(fixture("upward"));
    EXPECT_EQ(broken.size(), 3u) << to_text(broken);
    EXPECT_TRUE(mentions(broken, "include/shoal/upper/upper.h:2: room upper includes upwards"));
    EXPECT_TRUE(mentions(broken, "src/lower/lower.cpp:7: room lower includes a private header"));
    EXPECT_TRUE(mentions(broken, "src/lower/lower.cpp:5: includes \"shoal/cellar/cellar.h\", which is in no room"));
}

TEST(Rooms, users_do_not_include_details) {
    const Lines broken = broken_detail_includes(project_root());
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Rooms, a_detail_that_a_user_includes_is_noticed) {
    EXPECT_EQ(broken_detail_includes(fixture("details")),
              (Lines{"samples/sample.cpp:1: includes \"shoal/lower/detail/slots.h\""}));
}

TEST(Rooms, the_picture_shows_every_room) {
    const std::string picture = rooms_picture(project_root());
    if (const char* const file = std::getenv("SHOAL_WRITE_ROOMS")) std::ofstream(file, std::ios::binary) << picture;
    for (const std::string& room : read_rooms(project_root()))
        EXPECT_NE(picture.find('>' + room + '<'), std::string::npos) << room;
}

TEST(Rooms, the_picture_draws_an_include) {
    EXPECT_NE(rooms_picture(fixture("details")).find("<path d='M350"), std::string::npos);
    EXPECT_EQ(rooms_picture(fixture("snippets")).find("<path d='M350"), std::string::npos);
}

TEST(PublicHeaders, all_of_the_runtime_are_brought_by_shoal_h) {
    const Lines missing = headers_not_in_shoal_h(project_root());
    EXPECT_TRUE(missing.empty()) << to_text(missing);
    EXPECT_EQ(headers_not_in_shoal_h(fixture("details")), Lines{"shoal/lower/lower.h"});
}

// A public header is one that a program names something of. What only shoal's own code needs is in a detail/ folder.
TEST(PublicHeaders, are_at_most_90_and_have_different_names) {
    EXPECT_LE(public_headers(project_root()).size(), 90u) << to_text(public_headers(project_root()));
    EXPECT_TRUE(shared_header_names(project_root()).empty()) << to_text(shared_header_names(project_root()));
    EXPECT_EQ(shared_header_names(fixture("header_list")), Lines{"table.h"});
}

TEST(PublicHeaders, are_listed_by_what_they_are_for) {
    EXPECT_TRUE(broken_header_list(project_root()).empty()) << to_text(broken_header_list(project_root()));
    EXPECT_EQ(broken_header_list(fixture("header_list")),
              (Lines{"docs/headers.md: lists lower/table.h not once",
                     "docs/headers.md: upper/gone.h is not a public header"}));
}

TEST(PublicHeaders, include_only_ours_and_quick_standard_ones) {
    const Lines broken = broken_public_includes(project_root());
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(PublicHeaders, a_slow_or_foreign_include_is_noticed) {
    const Lines broken = broken_public_includes(fixture("upward"));
    EXPECT_EQ(broken.size(), 2u) << to_text(broken);
    EXPECT_TRUE(mentions(broken, "lower.h:6: <memory> is slow"));
    EXPECT_TRUE(mentions(broken, "lower.h:3: <fmt/format.h> is not for a public header"));
}

TEST(OperatingSystem, is_called_in_one_place) {
    const Lines broken = broken_system_includes(project_root());
    EXPECT_TRUE(broken.empty()) << to_text(broken);
    EXPECT_TRUE(mentions(broken_system_includes(fixture("upward")), "lower.cpp:3: <unistd.h> belongs to"));
}

// A function mostly fits in 25 lines: of those with more than three lines, at least nine in ten do. None has over 60.
TEST(Sizes, most_functions_fit_in_25_lines) {
    const std::vector<Function> functions = functions_beneath(project_root(), {"include", "src", "apps"});
    ASSERT_GT(functions.size(), 1'500u) << "the scanner does not find the functions";
    const auto with_more_than = [&](int num_lines) {
        return std::count_if(functions.begin(), functions.end(),
                             [&](const Function& function) { return function.num_lines > num_lines; });
    };
    const double fit = 1 - static_cast<double>(with_more_than(25)) / static_cast<double>(with_more_than(3));
    EXPECT_GE(fit, 0.9) << to_text(functions_longer_than(project_root(), functions, 25));
    RecordProperty("functions", static_cast<int>(functions.size()));
}

TEST(Sizes, no_function_has_more_than_60_lines) {
    const Lines broken =
        functions_longer_than(project_root(), functions_beneath(project_root(), {"include", "src", "apps"}), 60);
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Sizes, functions_are_found_and_measured) {
    const std::vector<Function> functions = functions_of(fixture("functions") / "functions.cpp");
    std::vector<int> num_lines;
    for (const Function& function : functions) num_lines.push_back(function.num_lines);
    EXPECT_EQ(num_lines, (std::vector<int>{1, 1, 3, 7, 5, 1, 7}));
    EXPECT_EQ(functions_longer_than(fixture("functions"), functions, 6),
              (Lines{"functions.cpp:19: a function of 7 lines", "functions.cpp:42: a function of 7 lines"}));
}

TEST(Sizes, no_example_has_80_lines) {
    const Lines broken = files_with_lines(project_root(), "examples", 80);
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Sizes, a_long_example_is_noticed) {
    EXPECT_TRUE(files_with_lines(fixture("upward"), "src", 10).empty());
    EXPECT_EQ(files_with_lines(fixture("upward"), "src", 9).size(), 1u);
}

TEST(Documents, every_cpp_snippet_is_compiled_and_run) {
    const Lines broken = broken_snippets(project_root());
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Documents, link_to_files_that_exist) {
    const Lines broken = broken_links(project_root());
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Documents, a_broken_link_is_noticed) {
    EXPECT_EQ(broken_links(fixture("links")), (Lines{"README.md:4: there is no file nowhere.h"}));
}

TEST(Documents, the_readme_shows_cpp) {
    if (!std::filesystem::exists(project_root() / "README.md")) GTEST_SKIP() << "this tree has no README.md";
    EXPECT_NE(read_text(project_root() / "README.md").find("```cpp\n"), std::string::npos);
}

TEST(Documents, a_snippet_that_differs_is_noticed) {
    const Lines broken = broken_snippets(fixture("snippets"));
    EXPECT_EQ(broken,
              (Lines{"docs/table.md:12: no example prints this; its output is in an .expected file in examples/",
                     "README.md:11: this C++ is no region `// [name]` of a source in examples/ or tests/"}));
}

TEST(Documents, what_is_shown_beside_other_libraries_is_compiled) {
    const Lines broken =
        calls_not_compiled(project_root(), "docs/guide/coming_from.md", "tests/manuals/coming_from_test.cpp");
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Documents, a_call_in_a_table_that_is_not_compiled_is_noticed) {
    const Lines broken = calls_not_compiled(fixture("snippets"), "docs/table.md", "examples/table.cpp");
    EXPECT_EQ(broken, (Lines{"docs/table.md:6: examples/table.cpp does not have `world.gone()`"}));
}

TEST(Documents, every_cpp_snippet_of_a_header_is_compiled_and_run) {
    const Lines broken = broken_header_snippets(project_root(), read_rooms(project_root()));
    EXPECT_TRUE(broken.empty()) << to_text(broken);
}

TEST(Documents, a_snippet_of_a_header_that_differs_is_noticed) {
    const std::string says = ": this C++ is no region `// [name]` of a source in examples/ or tests/";
    EXPECT_EQ(broken_header_snippets(fixture("snippets"), {"upper"}),
              (Lines{"include/shoal/upper/upper.h:9" + says, "include/shoal/upper/upper.h:13" + says}));
}

// Other people's files are read by tests only, and only where they are.
TEST(Corpora, are_named_by_tests_only) {
    const std::string name = std::string("..") + "/shared";
    for (const std::string folder : {"include", "src", "apps", "samples", "examples", "bench", "fuzz", "docs", "cmake"})
        for (const Path& file : files_beneath(project_root(), folder))
            EXPECT_EQ(read_text(file).find(name), std::string::npos) << file;
    for (const auto& entry : std::filesystem::directory_iterator(project_root()))
        if (entry.is_regular_file()) {
            EXPECT_EQ(read_text(entry.path()).find(name), std::string::npos) << entry.path();
        }
}

TEST(Version, is_the_same_in_the_headers_and_the_build) {
    const std::string version = std::to_string(SHOAL_VERSION_MAJOR) + "." + std::to_string(SHOAL_VERSION_MINOR) + "." +
                                std::to_string(SHOAL_VERSION_PATCH);
    EXPECT_EQ(version, SHOAL_VERSION);
}

int status_of(const std::string& command) { return WEXITSTATUS(std::system((command + " >/dev/null 2>&1").c_str())); }

TEST(Workbench, an_unknown_verb_is_an_error_and_help_is_not) {
    const std::string dev = (project_root() / "dev").string();
    EXPECT_EQ(status_of("'" + dev + "' help"), 0);
    EXPECT_EQ(status_of("'" + dev + "' hepl"), 2);
    EXPECT_EQ(status_of("'" + dev + "' test no_such_step"), 1);
    EXPECT_EQ(status_of("'" + dev + "' test wide"), 1) << "a step that there was, and that others do the work of";
    EXPECT_EQ(status_of("'" + dev + "' soak no_such_step"), 1);
    EXPECT_EQ(status_of("'" + dev + "' help <&-"), 0);
}

}  // namespace
}  // namespace structure

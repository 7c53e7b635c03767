// docs/requirements.md against the tests: what it lists as done is shown by a test that says so, nothing is left out,
// and no test shows a row that does not exist. docs/guarantees.md: each promise is shown by tests that exist.
//
// The document has two kinds of tables. Done: `| row | what | where | shown by |`, where the last cell holds entries
// `path: test_name` (a test with a `// req:` comment that names the row), `path` of an example, or `bench: workload`.
// Open: `| row | what | waits for | so far |`, with entries of the same kind, or none. Rows are written `A5`, `A5 A7`
// or `A5-A7`.

#include "source_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

namespace structure {
namespace {

using Rows = std::set<std::string>;

/// The rows that there are, by group.
const std::map<char, int> kGroups = {{'A', 23}, {'B', 21}, {'C', 24}, {'D', 31},
                                     {'E', 15}, {'F', 14}, {'G', 12}, {'H', 13}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Returns the number of a word such as "A13", or 0 when it is no row.
int number_of(std::string_view word) {
    if (word.size() < 2 || word.size() > 3 || word[0] < 'A' || word[0] > 'H') return 0;
    const std::string_view digits = word.substr(1);
    return std::all_of(digits.begin(), digits.end(), is_digit) ? std::stoi(std::string(digits)) : 0;
}

/// Adds "A13" or all of "A13-A16" to `rows`. Returns whether it was one of the two.
bool add_rows(std::string_view word, Rows& rows) {
    const std::size_t dash = word.find('-');
    const std::string_view first = word.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : word.substr(dash + 1);
    if (number_of(first) == 0 || number_of(last) < number_of(first) || first[0] != last[0]) return false;
    for (int i = number_of(first); i <= number_of(last); ++i) rows.insert(std::string(1, first[0]) + std::to_string(i));
    return true;
}

/// Returns the rows named in a text, up to the first word that is none; commas count as white space.
Rows rows_in(std::string_view text) {
    Rows rows;
    while (true) {
        const std::size_t begin = text.find_first_not_of(" \t,");
        if (begin == std::string_view::npos) return rows;
        text.remove_prefix(begin);
        if (!add_rows(text.substr(0, text.find_first_of(" \t,")), rows)) return rows;
        text.remove_prefix(std::min(text.size(), text.find_first_of(" \t,")));
    }
}

std::string to_text(const Rows& rows) {
    std::string text;
    for (const std::string& row : rows) text += text.empty() ? row : " " + row;
    return text;
}

// --- what tests say ------------------------------------------------------------------------------------------------

/// By name of the test, the rows that comments on it or in it name. "" has those that belong to no test of the file.
using Claims = std::map<std::string, Rows>;

/// Returns the name of the test that a line begins, or nothing.
std::string test_name(std::string_view line) {
    if (!line.starts_with("TEST") && !line.starts_with("TYPED_TEST")) return {};
    const std::size_t open = line.find('('), comma = line.find(','), close = line.find(')');
    if (open > comma || comma > close || close == std::string_view::npos) return {};
    return std::string(trim(line.substr(comma + 1, close - comma - 1)));
}

Claims read_claims(const Lines& lines) {
    static constexpr std::string_view kMark = "// req:";
    Claims claims;
    Rows waiting;  // from comments before a test
    std::string test;
    for (const std::string& line : lines) {
        const std::size_t mark = line.find(kMark);
        const Rows rows = mark == std::string::npos ? Rows() : rows_in(std::string_view(line).substr(mark + 7));
        const bool before_a_test = line.starts_with("//");
        if (before_a_test) waiting.insert(rows.begin(), rows.end());
        if (const std::string name = test_name(line); !name.empty()) {
            test = name;
            claims[test].merge(waiting);
            waiting.clear();
        } else if (!before_a_test && !waiting.empty()) {
            claims[""].merge(waiting);  // on something that is not a test
            waiting.clear();
        }
        if (!before_a_test && mark != std::string::npos) claims[test].insert(rows.begin(), rows.end());
        if (mark != std::string::npos && rows.empty()) claims[test].insert("nothing: " + line);
    }
    claims[""].merge(waiting);
    return claims;
}

// --- what the document says ----------------------------------------------------------------------------------------

struct Entry {
    std::string file;  ///< or "bench"
    std::string name;  ///< of the test or workload
};

struct Line {
    Rows rows;
    std::vector<Entry> shown_by;
    bool done;
    int number;
};

Lines cells_of(std::string_view line) {
    Lines cells;
    line.remove_prefix(1);
    for (std::size_t end = line.find('|'); end != std::string_view::npos; end = line.find('|')) {
        cells.emplace_back(trim(line.substr(0, end)));
        line.remove_prefix(end + 1);
    }
    return cells;
}

/// Reads `tests/a/b_test.cpp: one`, `two`, `bench: x/y` and `examples/a.cpp`, in back quotes; a name without a file is
/// of the same file.
std::vector<Entry> read_entries(std::string_view cell) {
    std::vector<Entry> entries;
    std::string file;
    for (std::size_t open = cell.find('`'); open != std::string_view::npos; open = cell.find('`')) {
        cell.remove_prefix(open + 1);
        const std::size_t close = cell.find('`');
        const std::string_view text = cell.substr(0, close);
        if (const std::size_t colon = text.find(": "); colon != std::string_view::npos) {
            file = text.substr(0, colon);
            entries.push_back({file, std::string(text.substr(colon + 2))});
        } else if (text.ends_with(".cpp")) {
            entries.push_back({std::string(text), ""});
        } else {
            entries.push_back({file, std::string(text)});
        }
        cell.remove_prefix(std::min(cell.size(), close == std::string_view::npos ? close : close + 1));
    }
    return entries;
}

std::vector<Line> read_document(const Lines& lines, Lines& broken) {
    std::vector<Line> result;
    bool done = false, in_table = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const int number = static_cast<int>(i) + 1;
        if (!lines[i].starts_with("|")) {
            in_table = false;
            continue;
        }
        const Lines cells = cells_of(lines[i]);
        if (!in_table) {
            in_table = true;
            done = cells.size() == 4 && cells[3] == "shown by";
            if (!done && (cells.size() != 4 || cells[3] != "so far"))
                broken.push_back(std::to_string(number) + ": a table of neither kind");
            continue;
        }
        if (lines[i].starts_with("| ---")) continue;
        Line line{cells.empty() ? Rows() : rows_in(cells[0]), read_entries(cells.back()), done, number};
        if (cells.size() != 4 || line.rows.empty())
            broken.push_back(std::to_string(number) + ": four cells that begin with a row are needed");
        result.push_back(std::move(line));
    }
    return result;
}

// --- both ----------------------------------------------------------------------------------------------------------

/// What the rules look at: so that a fixture can stand in for the project.
struct Evidence {
    Lines document;
    std::map<std::string, Claims> claims;  ///< by path of a test or example
    std::string bench;                     ///< the sources of the benchmarks
};

/// Returns what is wrong with one entry, and adds the rows that it shows to `shown`.
std::string broken_entry(const Evidence& evidence, const Line& line, const Entry& entry, Rows& shown) {
    if (entry.file == "bench")
        return evidence.bench.find('"' + entry.name + '"') == std::string::npos ? "there is no workload " + entry.name
                                                                                : std::string();
    const auto claims = evidence.claims.find(entry.file);
    if (claims == evidence.claims.end()) return "there is no test or example file \"" + entry.file + '"';
    const auto test = claims->second.find(entry.name);
    if (test == claims->second.end()) return entry.file + " has no test " + entry.name;
    Rows common;
    std::set_intersection(test->second.begin(), test->second.end(), line.rows.begin(), line.rows.end(),
                          std::inserter(common, common.end()));
    if (common.empty()) return entry.file + ": no `// req:` on " + entry.name + " names " + to_text(line.rows);
    shown.merge(common);
    return {};
}

Lines broken_requirements(const Evidence& evidence) {
    Lines broken;
    std::map<std::string, int> listed;  // row -> line
    for (const Line& line : read_document(evidence.document, broken)) {
        const auto add = [&](const std::string& what) { broken.push_back(std::to_string(line.number) + ": " + what); };
        Rows shown, missing;
        for (const Entry& entry : line.shown_by)
            if (const std::string what = broken_entry(evidence, line, entry, shown); !what.empty()) add(what);
        std::set_difference(line.rows.begin(), line.rows.end(), shown.begin(), shown.end(),
                            std::inserter(missing, missing.end()));
        if (line.done && !missing.empty()) add("no test shows " + to_text(missing));
        for (const std::string& row : line.rows)
            if (!listed.emplace(row, line.number).second) add(row + " is listed twice");
    }
    for (const auto& [group, count] : kGroups)
        for (int i = 1; i <= count; ++i)
            if (const std::string row = std::string(1, group) + std::to_string(i); listed.erase(row) == 0)
                broken.push_back(row + " is not listed");
    for (const auto& [row, number] : listed) broken.push_back(std::to_string(number) + ": there is no row " + row);
    for (const auto& [file, claims] : evidence.claims)
        for (const auto& [test, rows] : claims)
            for (const std::string& row : rows)
                if (number_of(row) == 0 || number_of(row) > kGroups.at(row[0]))
                    broken.push_back(file + ": there is no row \"" + row + '"');
    return broken;
}

Evidence evidence_of_the_project() {
    const Path root = project_root();
    Evidence evidence;
    evidence.document = read_lines(root / "docs/requirements.md");
    for (const std::string folder : {"tests", "examples"})
        for (const Path& file : files_beneath(root, folder, {".cpp", ".h"})) {
            const std::string name = std::filesystem::relative(file, root).string();
            if (name.starts_with("tests/structure/requirements_test")) continue;  // its fixtures are no claims
            evidence.claims[name] = read_claims(read_lines(file));
        }
    for (const Path& file : files_beneath(root, "bench", {".cpp", ".h"})) evidence.bench += read_text(file);
    return evidence;
}

TEST(Requirements, every_row_is_listed_once_and_what_is_done_is_shown_by_a_test_that_says_so) {
    const Evidence evidence = evidence_of_the_project();
    Lines broken;
    EXPECT_GT(read_document(evidence.document, broken).size(), 50u) << "the document was not read";
    broken = broken_requirements(evidence);
    EXPECT_TRUE(broken.empty()) << "docs/requirements.md:\n" << structure::to_text(broken);
}

/// A document in which every row is open, with one line per group, but for rows C1 to C3.
Evidence fixture_with(const Lines& lines) {
    Evidence evidence;
    evidence.document = {"| row | what | waits for | so far |", "| --- | --- | --- | --- |"};
    for (const char* rows : {"A1-A23", "B1-B21", "C4-C24", "D1-D31", "E1-E15", "F1-F14", "G1-G12", "H1-H13"})
        evidence.document.push_back(std::string("| ") + rows + " | x | y | |");
    for (const char* line : {"", "| row | what | where | shown by |", "| --- | --- | --- | --- |"})
        evidence.document.push_back(line);
    evidence.document.insert(evidence.document.end(), lines.begin(), lines.end());
    evidence.claims["tests/x/a_test.cpp"] = read_claims(
        {"// req: C1-C2", "TEST(A, both) {", "}", "TEST_F(A, third) {  // req: C3", "}", "TEST(A, none) {"});
    evidence.bench = "bench.compare({\"a/walk\", n}";
    return evidence;
}

TEST(Requirements, a_sound_document_is_accepted) {
    EXPECT_EQ(broken_requirements(fixture_with({"| C1-C2 | x | y | `tests/x/a_test.cpp: both` |",
                                                "| C3 | x | y | `tests/x/a_test.cpp: third`, `bench: a/walk` |"})),
              Lines());
    EXPECT_EQ(broken_requirements(fixture_with({"| C1-C3 | x | y | `tests/x/a_test.cpp: both`, `third` |"})), Lines());
}

TEST(Requirements, what_is_wrong_with_a_document_is_noticed) {
    const auto broken = [](const Lines& lines) { return broken_requirements(fixture_with(lines)); };
    const std::string good = "| C1-C3 | x | y | `tests/x/a_test.cpp: both`, `third`";
    EXPECT_EQ(broken({good + ", `none` |"}), Lines{"14: tests/x/a_test.cpp: no `// req:` on none names C1 C2 C3"});
    EXPECT_EQ(broken({good + ", `fourth` |"}), Lines{"14: tests/x/a_test.cpp has no test fourth"});
    EXPECT_EQ(broken({good + ", `tests/x/b_test.cpp: both` |"}),
              Lines{"14: there is no test or example file \"tests/x/b_test.cpp\""});
    EXPECT_EQ(broken({good + ", `bench: a/run` |"}), Lines{"14: there is no workload a/run"});
    EXPECT_EQ(broken({"| C1-C3 | x | y | `tests/x/a_test.cpp: both` |"}), Lines{"14: no test shows C3"});
    EXPECT_EQ(broken({"| C1-C3 | x | y | |"}), Lines{"14: no test shows C1 C2 C3"});
    EXPECT_EQ(broken({"| C1-C2 | x | y | `tests/x/a_test.cpp: both` |"}), Lines{"C3 is not listed"});
    EXPECT_EQ(broken({good + " |", "| C1 | x | y | `tests/x/a_test.cpp: both` |"}), Lines{"15: C1 is listed twice"});
    EXPECT_EQ(broken({"| C3-C1 | x | y | |", good + " |"}), Lines{"14: four cells that begin with a row are needed"});
    EXPECT_EQ(broken({good + " |", "", "| row | what |"}), Lines{"16: a table of neither kind"});
    EXPECT_EQ(broken({good + " |", "| C25 | x | y | |"}), (Lines{"15: no test shows C25", "15: there is no row C25"}));
}

/// Returns what is wrong with tables `| promise | shown by |`.
Lines broken_promises(const Lines& document, const std::map<std::string, Claims>& claims, std::size_t& num_promises) {
    Lines broken;
    num_promises = 0;
    for (std::size_t i = 0; i < document.size(); ++i) {
        if (!document[i].starts_with("|") || document[i].starts_with("| ---")) continue;
        const Lines cells = cells_of(document[i]);
        if (cells == Lines{"promise", "shown by"}) continue;
        const std::string place = std::to_string(i + 1) + ": ";
        const std::vector<Entry> entries = cells.empty() ? std::vector<Entry>() : read_entries(cells.back());
        if (cells.size() != 2 || entries.empty()) broken.push_back(place + "a promise and what shows it are needed");
        for (const Entry& entry : entries) {
            const auto file = claims.find(entry.file);
            if (file == claims.end() || !file->second.contains(entry.name))
                broken.push_back(place + entry.file + " has no test " + entry.name);
        }
        ++num_promises;
    }
    return broken;
}

TEST(Guarantees, each_promise_is_shown_by_tests_that_exist) {
    std::size_t num_promises = 0;
    const Lines broken = broken_promises(read_lines(project_root() / "docs/guarantees.md"),
                                         evidence_of_the_project().claims, num_promises);
    EXPECT_GT(num_promises, 15u) << "the document was not read";
    EXPECT_TRUE(broken.empty()) << "docs/guarantees.md:\n" << structure::to_text(broken);
}

TEST(Guarantees, a_promise_that_nothing_shows_is_noticed) {
    const auto claims = fixture_with({}).claims;
    std::size_t num_promises = 0;
    const auto broken = [&](const std::string& row) {
        return broken_promises({"| promise | shown by |", "| --- | --- |", row}, claims, num_promises);
    };
    EXPECT_EQ(broken("| x | `tests/x/a_test.cpp: both`, `third` |"), Lines());
    EXPECT_EQ(num_promises, 1u);
    EXPECT_EQ(broken("| x | `tests/x/a_test.cpp: both`, `fourth` |"),
              Lines{"3: tests/x/a_test.cpp has no test fourth"});
    EXPECT_EQ(broken("| x | |"), Lines{"3: a promise and what shows it are needed"});
}

TEST(Requirements, a_test_that_names_no_row_is_noticed) {
    Evidence evidence = fixture_with({"| C1-C3 | x | y | `tests/x/a_test.cpp: both`, `third` |"});
    evidence.claims["tests/x/b_test.cpp"] =
        read_claims({"// req: A23 A24", "struct Oracle {", "TEST(B, one) {", "    check();  // req: lots", "}"});
    EXPECT_EQ(broken_requirements(evidence),
              (Lines{"tests/x/b_test.cpp: there is no row \"A24\"",
                     "tests/x/b_test.cpp: there is no row \"nothing:     check();  // req: lots\""}));
}

TEST(Requirements, comments_belong_to_the_test_below_or_around_them) {
    const Claims claims = read_claims({"// req: A1, A2", "// and a word on why", "TYPED_TEST(A, one) {  // req: B1-B3",
                                       "    x();  // req: C4 — because", "}", "", "// req: D1", "struct Oracle {};",
                                       "TEST_P(A, two) { y(); }"});
    EXPECT_EQ(claims.at("one"), (Rows{"A1", "A2", "B1", "B2", "B3", "C4"}));
    EXPECT_EQ(claims.at("two"), Rows());
    EXPECT_EQ(claims.at(""), Rows{"D1"});
}

}  // namespace
}  // namespace structure

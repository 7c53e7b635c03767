// Functions and types say what they do.

#include "source_tree.h"

#include <gtest/gtest.h>

#include <cctype>

namespace structure {
namespace {

/// The code of a line: without a comment, and without what stands in quotes.
std::string code_of(std::string_view line) {
    std::string code;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quoted && line[i] == '\\') {
            ++i;
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && line.substr(i, 2) == "//") {
            break;
        } else if (!quoted) {
            code.push_back(line[i]);
        }
    }
    return code;
}

/// Returns the words of a name in lower case: `SceneUpdate`, `scene_update` and `kSceneUpdate` have "update".
Lines words_of(std::string_view name) {
    Lines words(1);
    for (const char c : name) {
        const bool starts_word = c == '_' || (std::isupper(static_cast<unsigned char>(c)) != 0);
        if (starts_word && !words.back().empty()) words.emplace_back();
        if (c != '_') words.back().push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
    return words;
}

/// Returns the names in `code` that say nothing: those with "update" in them, and process, handle and manager_impl.
Lines empty_names(const std::string& code) {
    Lines found;
    std::string name;
    for (const char c : code + " ") {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
            name.push_back(c);
            continue;
        }
        const Lines words = words_of(name);
        bool is_empty = words == Lines{"process"} || words == Lines{"handle"} || words == Lines{"manager", "impl"};
        for (const std::string& word : words) is_empty |= word == "update";
        if (is_empty) found.push_back(name);
        name.clear();
    }
    return found;
}

// req: B16
TEST(Names, nothing_is_called_update) {
    std::size_t num_lines = 0;
    for (const std::string folder : {"include", "src", "apps", "examples"})
        for (const Path& file : files_beneath(project_root(), folder, {".h", ".cpp"}))
            for (const std::string& line : read_lines(file)) {
                ++num_lines;
                EXPECT_EQ(empty_names(code_of(line)), Lines()) << file << ": " << line;
            }
    EXPECT_GT(num_lines, 10'000u) << "the sources were not found";
}

TEST(Names, an_update_is_noticed) {
    EXPECT_EQ(empty_names(code_of("void update(float dt);")), Lines{"update"});
    EXPECT_EQ(empty_names(code_of("scene.update_all(); Updater u; kUpdate;")), (Lines{"update_all", "kUpdate"}));
    EXPECT_EQ(empty_names(code_of("SceneUpdate a; ManagerImpl b; int handle = process;")),
              (Lines{"SceneUpdate", "ManagerImpl", "handle", "process"}));
    EXPECT_EQ(empty_names(code_of("std::puts(\"an \\\" update\");  // update")), Lines());
    EXPECT_EQ(empty_names(code_of("int updated = row_handle;")), Lines());
}

}  // namespace
}  // namespace structure

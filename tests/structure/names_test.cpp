// Functions and types say what they do.

#include "source_tree.h"

#include <gtest/gtest.h>

#include <cctype>

namespace structure {
namespace {

/// How the languages of the tree write comments, and what may enclose a text.
struct Syntax {
    std::string_view comment;  ///< to the end of the line
    std::string_view quotes;
};
constexpr Syntax kCpp{"//", "\""}, kPython{"#", "\"'"}, kLua{"--", "\"'"};

Syntax syntax_of(const Path& file) {
    return file.extension() == ".py" ? kPython : file.extension() == ".lua" ? kLua : kCpp;
}

/// The code of a line: without a comment, and without what stands in quotes.
std::string code_of(std::string_view line, const Syntax& syntax = kCpp) {
    std::string code;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quote != 0 && line[i] == '\\') {
            ++i;
        } else if (quote != 0) {
            if (line[i] == quote) quote = 0;
        } else if (syntax.quotes.find(line[i]) != std::string_view::npos) {
            quote = line[i];
        } else if (line.substr(i).starts_with(syntax.comment)) {
            break;
        } else if (line.substr(i, 2) == "/*" && line.find("*/", i) != std::string_view::npos) {
            i = line.find("*/", i) + 1;
        } else {
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
        if (is_empty && name != "xUpdate") found.push_back(name);  // a member of SQLite's
        name.clear();
    }
    return found;
}

// req: B16
TEST(Names, nothing_is_called_update) {
    std::size_t num_lines = 0;
    for (const std::string folder : {"include", "src", "apps", "examples", "samples", "plugins", "python", "tools"}) {
        const std::size_t before = num_lines;
        for (const Path& file : files_beneath(project_root(), folder, {".h", ".cpp", ".c", ".py", ".lua"}))
            for (const std::string& line : read_lines(file)) {
                ++num_lines;
                EXPECT_EQ(empty_names(code_of(line, syntax_of(file))), Lines()) << file << ": " << line;
            }
        EXPECT_GT(num_lines, before) << folder << " has no sources";
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
    EXPECT_EQ(empty_names(code_of("void update(float dt); /* update */", kCpp)), Lines{"update"});
    EXPECT_EQ(empty_names(code_of("def update(self): print('update', \"update\")  # update", kPython)),
              Lines{"update"});
    EXPECT_EQ(empty_names(code_of("local function update() return 'update' end -- update", kLua)), Lines{"update"});
}

}  // namespace
}  // namespace structure

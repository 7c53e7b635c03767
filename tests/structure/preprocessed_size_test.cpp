// What a file that includes our headers costs the compiler, in lines that g++ preprocesses.

#include "source_tree.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace structure {
namespace {

struct PreprocessedSize {
    std::size_t total = 0;  ///< every line, blank ones and line marks included
    std::size_t ours = 0;   ///< lines with text from include/shoal
    bool ok = false;
};

/// Reads what `g++ -E` prints: `# line "file" flags` says where the lines that follow come from.
void count_line(std::string_view line, bool& in_ours, PreprocessedSize& size) {
    ++size.total;
    if (line.starts_with("# ")) {
        in_ours = line.find("/include/shoal/") != std::string_view::npos;
    } else if (in_ours && !trim(line).empty()) {
        ++size.ours;
    }
}

PreprocessedSize preprocess(const std::string& name, const Lines& headers) {
    const Path file = Path(SHOAL_STRUCTURE_WORK_DIR) / (name + ".cpp");
    {
        std::ofstream stream(file);
        for (const std::string& header : headers) stream << "#include \"" << header << "\"\n";
    }
    const std::string command = std::string("'") + SHOAL_CXX_COMPILER + "' -std=c++20 -E -I '" +
                                (project_root() / "include").string() + "' '" + file.string() + "'";
    PreprocessedSize size;
    FILE* output = popen(command.c_str(), "r");
    if (output == nullptr) return size;
    std::string line;
    bool in_ours = false;
    for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) {
        if (c != '\n') {
            line.push_back(static_cast<char>(c));
            continue;
        }
        count_line(line, in_ours, size);
        line.clear();
    }
    size.ok = pclose(output) == 0;
    return size;
}

TEST(Preprocessed, the_entity_header_adds_fewer_than_500_lines) {
    const PreprocessedSize size = preprocess("entity_size", {"shoal/entity/entity.h"});
    ASSERT_TRUE(size.ok);
    EXPECT_GT(size.ours, 20u) << "the count does not see our lines";
    EXPECT_LT(size.ours, 500u);
}

TEST(Preprocessed, the_world_and_what_it_needs_are_at_most_45000_lines) {
    const PreprocessedSize size = preprocess("world_size", {"shoal/world/world.h"});
    ASSERT_TRUE(size.ok);
    EXPECT_GT(size.ours, 300u) << "the count does not see our lines";
    EXPECT_LE(size.total, 45000u);
    RecordProperty("lines", static_cast<int>(size.total));
}

}  // namespace
}  // namespace structure

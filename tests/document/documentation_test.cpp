// The reader does what docs/formats/sjson.md says.

#include "document_testing.h"
#include "shoal/base/file.h"
#include "support/testing.h"

#include <gtest/gtest.h>

using shoal_test::Reading;

namespace {

std::string manual() {
    const auto text = shoal::read_file(SHOAL_SOURCE_DIR "/docs/formats/sjson.md");
    EXPECT_TRUE(text) << text.message();
    return text ? *text : std::string();
}

/// Returns the text between `before` and `after`, starting at `*at`, and moves `*at` past it.
std::string cut(const std::string& text, std::string_view before, std::string_view after, std::size_t* at) {
    const std::size_t begin = text.find(before, *at);
    const std::size_t end = begin == std::string::npos ? begin : text.find(after, begin + before.size());
    *at = end;
    if (end == std::string::npos) return {};
    return text.substr(begin + before.size(), end - begin - before.size());
}

}  // namespace

TEST(SjsonManual, its_example_reads) {
    std::size_t at = 0;
    const Reading reading(cut(manual(), "\n```\n", "\n```\n", &at));
    ASSERT_TRUE(reading) << reading.messages();
    EXPECT_EQ(reading.root().find("prefab").as_string(), "reef/coral");
    EXPECT_EQ(*reading.root().find("modified_components").find("43d2ce7f").find("position")[2].as_int64(), 12);
    EXPECT_EQ(reading.root().find("script").as_string(), "\n\tif depth > 3 then print(\"deep\") end\n");
}

TEST(SjsonManual, each_row_of_its_table_reads_as_the_json_beside_it) {
    const std::string text = manual();
    std::size_t at = text.find("| --- | --- |");
    int num_rows = 0;
    while (at != std::string::npos) {
        const std::string sjson = cut(text, "\n| `", "` | `", &at);
        if (at == std::string::npos) break;
        const std::string json = cut(text, "` | `", "` |", &at);
        const Reading left(sjson);
        const Reading right = shoal_test::read_as_json(json);
        ASSERT_TRUE(left) << left.messages();
        ASSERT_TRUE(right) << right.messages();
        EXPECT_TRUE(shoal::equal(left.root(), right.root())) << sjson;
        ++num_rows;
    }
    EXPECT_EQ(num_rows, 4);
}

// What the headers of base and document show.

#include "shoal/base/file.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace shoal;

std::string last_printed;
void print(const std::string& text) { last_printed = text; }

Status copy_file(const std::string& from, const std::string& to) {
    // [base/status]
    Result<std::string> text = read_file(from);
    if (!text) return text.status();
    if (Status status = write_file(to, *text); !status) return status;
    // [base/status]
    return {};
}

TEST(BaseManuals, a_status_is_handed_on) {
    const std::string path = testing::TempDir() + "shoal_manual_status.txt";
    EXPECT_FALSE(copy_file(path + ".missing", path));
    ASSERT_TRUE(write_file(path, std::string_view("reef")));
    EXPECT_TRUE(copy_file(path, path + ".copy"));
    EXPECT_EQ(*read_file(path + ".copy"), "reef");
    EXPECT_EQ(std::remove(path.c_str()) + std::remove((path + ".copy").c_str()), 0);
}

TEST(DocumentManuals, diagnostics_are_printed) {
    std::string text = "postion = [0 0 3";
    // [document/diagnostics]
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("reef/garden.sjson", std::move(text));
    Result<Document> garden = read_sjson(file, diagnostics);
    if (!garden) print(diagnostics.format());
    // [document/diagnostics]
    EXPECT_TRUE(last_printed.starts_with("reef/garden.sjson:1:")) << last_printed;
}

TEST(DocumentManuals, a_document_is_built) {
    Diagnostics diagnostics;
    const Result<Document> source = read_sjson(
        diagnostics.add_file("prefab.sjson", std::string("transform = { position = [0 0 3] }")), diagnostics);
    ASSERT_TRUE(source) << diagnostics.format();
    const Node prefab = source->root(), level = source->root();
    // [document/builder]
    DocumentBuilder builder;
    builder.begin_mapping(level.position());
    builder.number("mass", 2.5);               // a key and its value
    builder.member(prefab.find("transform"));  // its key and its whole subtree, by reference
    builder.end();
    Document merged = builder.finish();
    // [document/builder]
    EXPECT_EQ(merged.root().find("mass").as_double(), 2.5);
    EXPECT_FALSE(merged.root().find("transform").find("position").is_null());
}

}  // namespace

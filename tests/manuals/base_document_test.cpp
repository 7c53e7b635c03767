// What the headers of base and document show.

#include "shoal/base/detail/array.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/file.h"
#include "shoal/base/file_watch.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

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

TEST(BaseManuals, a_file_that_is_written_is_read_again) {
    const std::string path = testing::TempDir() + "shoal_manual_watch.txt";
    ASSERT_TRUE(write_file(path, std::string_view("reef")));
    Result<std::string> text = read_file(path);
    const auto runs = [&](int frame) {
        if (frame == 0) {
            EXPECT_TRUE(write_file(path, std::string_view("lagoon")).ok());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return *text != "lagoon" && frame < 10'000;
    };
    int frame = 0;
    // [base/file_watch]
    FileWatch watch;
    watch.set({path, path + ".local"});  // files that were read, and files that were looked for
    while (runs(frame++))
        if (watch.has_changed()) text = read_file(path);
    // [base/file_watch]
    EXPECT_EQ(*text, "lagoon");
    EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(BaseManuals, an_array_lists_what_was_added) {
    std::vector<int> listed;
    const auto list = [&](int row) { listed.push_back(row); };
    // [base/array]
    Array<int> rows{Owner("table")};
    rows.push_back(3);
    for (const int row : rows) list(row);
    // [base/array]
    EXPECT_EQ(listed, std::vector<int>{3});
}

TEST(BaseManuals, a_bit_set_grows_with_its_bits) {
    std::vector<std::size_t> loaded, listed;
    const auto load = [&](std::size_t number) { loaded.push_back(number); };
    const auto list = [&](std::size_t number) { listed.push_back(number); };
    // [base/bit_set]
    BitSet seen{Owner("loader")};
    if (!seen.test_and_set(65)) load(65);
    seen.for_each([&](std::size_t number) { list(number); });
    // [base/bit_set]
    EXPECT_EQ(loaded, std::vector<std::size_t>{65});
    EXPECT_EQ(listed, loaded);
}

TEST(BaseManuals, a_hash_map_finds_what_was_inserted) {
    std::uint32_t used = 0;
    const auto use = [&](std::uint32_t row) { used += row; };
    // [base/hash_map]
    HashMap<std::uint64_t, std::uint32_t> rows{Owner("names")};
    rows.insert(7, 1);  // {&value, is_new}
    if (const std::uint32_t* row = rows.find(7)) use(*row);
    // [base/hash_map]
    EXPECT_EQ(used, 1u);
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

TEST(DocumentManuals, a_document_is_printed_while_it_is_built) {
    std::string text;
    std::string* const file = &text;
    const TextFunction write_to = [](void* to, std::string_view piece) {
        static_cast<std::string*>(to)->append(piece);
    };
    // [document/document_builder_printing]
    DocumentBuilder printer(TextFormat::kJson, write_to, file);  // calls write_to(file, text), which a program has
    // [document/document_builder_printing]
    printer.begin_mapping();
    printer.number("mass", 2.5);
    printer.end();
    printer.finish();
    EXPECT_EQ(text, "{\n  \"mass\": 2.5\n}\n");
}

}  // namespace

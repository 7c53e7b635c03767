#include "document_testing.h"
#include "shoal/document/detail/scalar_text.h"
#include "shoal/document/document_builder.h"
#include "support/testing.h"

#include <gtest/gtest.h>

using shoal_test::Reading;

TEST(Characters, a_code_point_counts_once_however_many_bytes_it_has) {
    EXPECT_EQ(shoal::num_code_points(""), 0u);
    EXPECT_EQ(shoal::num_code_points("reef"), 4u);
    EXPECT_EQ(shoal::num_code_points("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x9F\x7F"), 5u) << "1, 2, 3, 4 bytes and 1";
    EXPECT_EQ(shoal::num_code_points("\xCC\x81"), 1u) << "an accent that is drawn on the letter before it";
}

TEST(Writer, sjson_is_tidy) {
    const Reading reading(
        R"({"name":"cod","at":[0,0,3],"parts":[{"mass":1.0,"tags":["a","b"]},{}],"none":[],"odd key":null,
        "matrix":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],"many":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17],"text":"a\nb"})");
    ASSERT_TRUE(reading);
    EXPECT_EQ(
        shoal::write_sjson(reading.root()),
        "name = \"cod\"\n"
        "at = [0 0 3]\n"
        "parts = [\n"
        "\t{\n"
        "\t\tmass = 1.0\n"
        "\t\ttags = [\n"
        "\t\t\t\"a\"\n"
        "\t\t\t\"b\"\n"
        "\t\t]\n"
        "\t}\n"
        "\t{}\n"
        "]\n"
        "none = []\n"
        "\"odd key\" = null\n"
        "matrix = [1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1]\n"
        "many = [\n\t1\n\t2\n\t3\n\t4\n\t5\n\t6\n\t7\n\t8\n\t9\n\t10\n\t11\n\t12\n\t13\n\t14\n\t15\n\t16\n\t17\n]\n"
        "text = \"\"\"a\nb\"\"\"\n");
}

TEST(Writer, a_text_of_several_lines_is_quoted_where_its_quotes_would_end_it) {
    shoal::DocumentBuilder builder;
    builder.begin_list();
    const std::string_view texts[] = {"a\nb", "a\n\"\"\"b", "\"\"\"", "a\r\nb", "a\n\x01", "a\n\tb\"\""};
    for (const std::string_view text : texts) builder.string(text);
    builder.end();
    const shoal::Document document = builder.finish();
    const std::string written = shoal::write_sjson(document.root());
    EXPECT_EQ(written,
              "[\n\t\"\"\"a\nb\"\"\"\n\t\"a\\n\\\"\\\"\\\"b\"\n\t\"\\\"\\\"\\\"\"\n\t\"a\\r\\nb\"\n\t\"a\\n\\u0001\"\n"
              "\t\"\"\"a\n\tb\"\"\"\"\"\n]\n");
    const shoal_test::Reading again(written);
    ASSERT_TRUE(again) << again.messages();
    EXPECT_TRUE(shoal::equal(again.root(), document.root()));
}

TEST(Writer, a_line_of_sjson_reads_back_as_the_same_tree) {
    const Reading reading(
        "mass = 1.5 at = [0 0 3] text = \"a\\nb\" parts = [ [1 2] [3 4] ] body = { a = 1 b = [] } none = {}");
    ASSERT_TRUE(reading);
    const std::string line = shoal::write_sjson_line(reading.root());
    EXPECT_EQ(
        line,
        "mass = 1.5, at = [0 0 3], text = \"a\\nb\", parts = [[1 2], [3 4]], body = { a = 1, b = [] }, none = {}");
    const Reading again(line);
    ASSERT_TRUE(again);
    EXPECT_EQ(shoal::write_sjson(again.root()), shoal::write_sjson(reading.root()));
}

TEST(Writer, json_is_tidy) {
    const Reading reading("name = \"c\\\"od\" at = [0 0 3] parts = [ { mass = 1.0 } {} ] none = []");
    ASSERT_TRUE(reading);
    EXPECT_EQ(shoal::write_json(reading.root()),
              "{\n"
              "  \"name\": \"c\\\"od\",\n"
              "  \"at\": [0, 0, 3],\n"
              "  \"parts\": [\n"
              "    {\n"
              "      \"mass\": 1.0\n"
              "    },\n"
              "    {}\n"
              "  ],\n"
              "  \"none\": []\n"
              "}\n");
}

TEST(Writer, a_root_of_any_kind_reads_back) {
    for (const char* text :
         {"", "{}", "[]", "5", "5.0", "-0.0", "null", "true", "\"a\"", "\"a\\nb\"", "[[] {} [1 \"x\"]]"}) {
        const Reading reading(text);
        ASSERT_TRUE(reading) << text;
        const Reading sjson(shoal::write_sjson(reading.root()));
        ASSERT_TRUE(sjson) << sjson.messages();
        EXPECT_TRUE(shoal::equal(sjson.root(), reading.root())) << text;
        const Reading json = shoal_test::read_as_json(shoal::write_json(reading.root()));
        ASSERT_TRUE(json) << json.messages();
        EXPECT_TRUE(shoal::equal(json.root(), reading.root())) << text;
    }
}

TEST(Writer, numbers_keep_kind_and_bits) {
    const Reading reading("[1 1.0 -0.0 1e300 5e-324 0.1 1e22 123456789.125 18446744073709551615 -9223372036854775808]");
    ASSERT_TRUE(reading);
    EXPECT_EQ(shoal::write_sjson(reading.root()),
              "[1 1.0 -0.0 1e+300 5e-324 0.1 1e+22 123456789.125 18446744073709551615 -9223372036854775808]\n");
}

TEST(Writer, random_trees_read_back_equal_in_both_languages) {
    SCOPED_TRACE(shoal_test::seed_text());
    const shoal_test::LeakCheck leaks;
    shoal_test::RandomTree trees(shoal_test::seed() + 2);
    for (std::int64_t i = shoal_test::scaled_operations(50'000); i > 0; --i) {
        const shoal::Document tree = trees.make();
        const std::string sjson_text = shoal::write_sjson(tree.root());
        const Reading sjson(sjson_text);
        ASSERT_TRUE(sjson) << sjson.messages() << sjson_text;
        ASSERT_TRUE(shoal::equal(sjson.root(), tree.root())) << sjson_text;
        ASSERT_EQ(shoal::write_sjson(sjson.root()), sjson_text);
        const std::string json_text = shoal::write_json(tree.root());
        const Reading json = shoal_test::read_as_json(json_text);
        ASSERT_TRUE(json) << json.messages() << json_text;
        ASSERT_TRUE(shoal::equal(json.root(), tree.root())) << json_text;
    }
}

/// Keeps what it is given, and how much of that at once.
struct Pieces {
    static void add(void* context, std::string_view piece) {
        auto& pieces = *static_cast<Pieces*>(context);
        pieces.text += piece;
        pieces.largest = std::max(pieces.largest, piece.size());
    }
    std::string text;
    std::size_t largest = 0;
};

TEST(PrintingBuilder, prints_what_the_writers_return_for_the_same_document) {
    SCOPED_TRACE(shoal_test::seed_text());
    const shoal_test::LeakCheck leaks;
    for (std::int64_t i = shoal_test::scaled_operations(10'000); i > 0; --i) {
        const std::uint64_t seed = shoal_test::seed() + static_cast<std::uint64_t>(i);
        const shoal::Document tree = shoal_test::RandomTree(seed).make();
        for (const shoal::TextFormat format : {shoal::TextFormat::kSjson, shoal::TextFormat::kJson}) {
            Pieces pieces;
            shoal::DocumentBuilder printer(format, Pieces::add, &pieces);
            shoal_test::RandomTree(seed).build(printer);
            EXPECT_TRUE(printer.finish().root().is_null()) << "nothing is kept";
            ASSERT_EQ(pieces.text, format == shoal::TextFormat::kJson ? shoal::write_json(tree.root())
                                                                      : shoal::write_sjson(tree.root()));
            Pieces of_nodes;
            shoal::DocumentBuilder copier(format, Pieces::add, &of_nodes);
            copier.value(tree.root());
            copier.finish();
            ASSERT_EQ(of_nodes.text, pieces.text);
        }
    }
}

TEST(PrintingBuilder, prints_long_lists_and_texts_in_small_pieces) {
    constexpr std::size_t kMostBytes = 200'000;
    Pieces pieces;
    const std::string text(3'000'000, '"'), lines = std::string(3'000'000, 'x') + "\n";
    const std::size_t held_before = shoal::bookkeeping_bytes();
    shoal::DocumentBuilder printer(shoal::TextFormat::kSjson, Pieces::add, &pieces);
    printer.begin_list();
    for (int i = 0; i < 500'000; ++i) printer.boolean(i % 2 == 0);
    for (int i = 0; i < 500'000; ++i) printer.number(i + 0.5);
    printer.string(text);
    printer.string(lines);
    EXPECT_LT(shoal::bookkeeping_bytes(), held_before + 10'000);
    printer.end();
    printer.finish();
    EXPECT_LT(pieces.largest, kMostBytes);
    const Reading read(pieces.text);
    ASSERT_TRUE(read) << read.messages();
    ASSERT_EQ(read.root().size(), 1'000'002u);
    EXPECT_EQ(read.root()[999'999].as_double(), 499'999.5);
    EXPECT_TRUE(read.root()[1'000'000].as_string() == text);
    EXPECT_TRUE(read.root()[1'000'001].as_string() == lines);
}

TEST(PrintingBuilder, a_document_that_is_not_one_ends_the_program) {
    Pieces pieces;
    shoal::DocumentBuilder printer(shoal::TextFormat::kJson, Pieces::add, &pieces);
    printer.begin_list();
    EXPECT_DEATH(printer.finish(), "must be closed");
    EXPECT_DEATH(printer.key("a"), "a key belongs in a mapping");
    printer.end();
    EXPECT_DEATH(printer.null(), "a document has one root");
    EXPECT_DEATH(printer.end(), "without begin_mapping");
    printer.finish();
    EXPECT_EQ(pieces.text, "[]\n");
}

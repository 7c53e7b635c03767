#include "document_testing.h"
#include "support/testing.h"

#include <gtest/gtest.h>

using shoal_test::Reading;

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

#include "document_testing.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

using shoal::Document;
using shoal::DocumentBuilder;
using shoal::Node;
using shoal::NodeKind;
using shoal_test::Reading;

TEST(Document, children_come_in_source_order_with_key_and_places) {
    const shoal_test::LeakCheck leaks;
    const Reading reading("mass = 2\nat = [4 0]\nname = \"cod\"\n");
    ASSERT_TRUE(reading) << reading.messages();
    std::vector<std::string> keys;
    for (const Node child : reading.root()) keys.emplace_back(child.key());
    EXPECT_EQ(keys, (std::vector<std::string>{"mass", "at", "name"}));

    const Node at = reading.root().find("at");
    EXPECT_EQ(reading.diagnostics.locate(at.key_position()), (shoal::SourceLocation{1, 2, 1}));
    EXPECT_EQ(reading.diagnostics.locate(at.position()), (shoal::SourceLocation{1, 2, 6}));
    EXPECT_EQ(reading.diagnostics.locate(at[1].position()), (shoal::SourceLocation{1, 2, 9}));
    EXPECT_EQ(at.size(), 2u);
    EXPECT_FALSE(at[0].has_key());
    EXPECT_FALSE(reading.root().has_key());
}

TEST(Document, each_kind_gives_its_value_and_only_that) {
    const Reading reading("n = null b = true i = -7 u = 18446744073709551615 d = 2.5 s = \"x\" l = [] m = {}");
    ASSERT_TRUE(reading) << reading.messages();
    const Node root = reading.root();
    EXPECT_EQ(root.find("n").kind(), NodeKind::kNull);
    EXPECT_TRUE(root.find("b").as_bool());
    EXPECT_EQ(*root.find("i").as_int64(), -7);
    EXPECT_EQ(root.find("i").as_uint64(), nullptr);
    EXPECT_EQ(root.find("i").as_double(), -7.0);
    EXPECT_EQ(root.find("u").kind(), NodeKind::kInteger);
    EXPECT_EQ(root.find("u").as_int64(), nullptr);
    EXPECT_EQ(*root.find("u").as_uint64(), 18446744073709551615u);
    EXPECT_EQ(root.find("u").as_double(), 18446744073709551615.0);
    EXPECT_EQ(root.find("d").kind(), NodeKind::kNumber);
    EXPECT_EQ(root.find("d").as_double(), 2.5);
    EXPECT_EQ(root.find("d").as_int64(), nullptr);
    EXPECT_EQ(root.find("s").as_string(), "x");
    EXPECT_TRUE(root.find("l").is_list());
    EXPECT_TRUE(root.find("m").is_mapping());
    EXPECT_EQ(root.find("m").begin(), root.find("m").end());
    EXPECT_EQ(root.find("s").size(), 0u);
}

TEST(Document, find_gives_none_for_what_is_not_there) {
    const Reading reading("a = 1 list = [1]");
    EXPECT_FALSE(reading.root().find("b"));
    EXPECT_FALSE(reading.root().find(""));
    EXPECT_FALSE(reading.root().find("list").find("a"));
}

TEST(Document, find_works_at_every_size_of_a_mapping) {
    for (const int size : {1, 22, 23, 24, 25, 26, 63, 64, 65, 127, 128, 129, 5000}) {
        std::string text;
        for (int i = 0; i < size; ++i) text += shoal::concat("key", i, " = { value = ", i, " }\n");
        const Reading reading(text);
        ASSERT_TRUE(reading) << reading.messages();
        ASSERT_EQ(reading.root().size(), static_cast<std::uint32_t>(size));
        for (int i = 0; i < size; ++i) {
            const Node found = reading.root().find(shoal::concat("key", i));
            ASSERT_TRUE(found) << i << " of " << size;
            ASSERT_EQ(*found.find("value").as_int64(), i);
            ASSERT_EQ(found.key(), shoal::concat("key", i));
        }
        EXPECT_FALSE(reading.root().find(shoal::concat("key", size)));
    }
}

TEST(Document, a_child_is_found_by_place_in_flat_and_nested_lists) {
    const Reading reading("[ [1 2] 5 { a = 1 } [] \"x\" ]");
    ASSERT_TRUE(reading);
    EXPECT_EQ(*reading.root()[0][1].as_int64(), 2);
    EXPECT_EQ(*reading.root()[1].as_int64(), 5);
    EXPECT_EQ(*reading.root()[2].find("a").as_int64(), 1);
    EXPECT_EQ(reading.root()[4].as_string(), "x");
}

TEST(Document, moving_keeps_nodes_valid) {
    const shoal_test::LeakCheck leaks;
    Reading reading("a = \"x\\ty\" b = [1]");
    const Node a = reading.root().find("a");
    const Document moved = std::move(*reading.document);
    EXPECT_EQ(a.as_string(), "x\ty");
    EXPECT_EQ(*moved.root().find("b")[0].as_int64(), 1);
}

TEST(DocumentDeathTest, misuse_is_asserted) {
    const Reading reading("a = 1");
    EXPECT_DEATH(static_cast<void>(Node().kind()), "this Node is empty");
    EXPECT_DEATH(static_cast<void>(reading.root().find("a").as_string()), "needs a string");
    EXPECT_DEATH(static_cast<void>(reading.root()[1]), "child index is out of range");
}

TEST(DocumentBuilder, builds_every_kind) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.key("n"), builder.null();
    builder.key("b"), builder.boolean(true);
    builder.key("i"), builder.integer(-7);
    builder.key("u"), builder.unsigned_integer(18446744073709551615u);
    builder.key("most"), builder.unsigned_integer(9223372036854775807u);
    builder.key("small"), builder.unsigned_integer(7);
    builder.key("d"), builder.number(2.5);
    builder.key("s"), builder.string("x");
    builder.key("l"), builder.begin_list(), builder.integer(1), builder.begin_mapping(), builder.end(), builder.end();
    builder.end();
    const Document built = builder.finish();
    const Reading same(
        "n = null b = true i = -7 u = 18446744073709551615 most = 9223372036854775807 small = 7 d = 2.5 s = \"x\" l = "
        "[1 {}]");
    ASSERT_TRUE(same);
    EXPECT_TRUE(shoal::equal(built.root(), same.root()));
}

TEST(DocumentBuilder, a_key_and_its_value_are_written_in_one_call) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("b", true);
    builder.unsigned_integer("u", 18446744073709551615u);
    builder.number("d", 2.5);
    builder.number("no_number", std::numeric_limits<double>::quiet_NaN());
    builder.string("s", "x");
    builder.begin_list("l");
    builder.number(1);
    builder.end();
    builder.begin_mapping("m");
    builder.end();
    builder.end();
    const Document built = builder.finish();
    const Reading same("b = true u = 18446744073709551615 d = 2.5 no_number = null s = \"x\" l = [1.0] m = {}");
    ASSERT_TRUE(same) << same.messages();
    EXPECT_TRUE(shoal::equal(built.root(), same.root())) << shoal::write_sjson(built.root());
}

TEST(DocumentBuilder, merges_nodes_of_other_documents_and_keeps_their_places) {
    const shoal_test::LeakCheck leaks;
    const Reading prefab("transform = { position = [1 2 3] } tags = [] mass = 4");
    const Reading level("\n\nmass = 9");
    DocumentBuilder builder;
    builder.begin_mapping(level.root().position());
    builder.member(prefab.root().find("transform"));
    builder.member(prefab.root().find("tags"));
    builder.key(prefab.root().find("mass"));
    builder.value(level.root().find("mass"));
    builder.key("again");
    builder.value(prefab.root());
    builder.end();
    const Document merged = builder.finish();

    const Reading same(
        "transform = { position = [1 2 3] } tags = [] mass = 9 again = "
        "{ transform = { position = [1 2 3] } tags = [] mass = 4 }");
    EXPECT_TRUE(shoal::equal(merged.root(), same.root())) << shoal::write_sjson(merged.root());
    const Node transform = merged.root().find("transform");
    EXPECT_EQ(transform.position(), prefab.root().find("transform").position());
    EXPECT_EQ(transform.key_position(), prefab.root().find("transform").key_position());
    EXPECT_EQ(level.diagnostics.locate(merged.root().find("mass").position()), (shoal::SourceLocation{1, 3, 8}));
    EXPECT_EQ(merged.num_nodes(), 1u + 4 * 2) << "a subtree is one node";
}

TEST(DocumentBuilder, a_reference_to_a_reference_costs_one_step) {
    const Reading source("a = { b = [1 2] }");
    DocumentBuilder first_builder;
    first_builder.begin_list(), first_builder.value(source.root().find("a")), first_builder.end();
    const Document first = first_builder.finish();
    DocumentBuilder second_builder;
    second_builder.begin_mapping(), second_builder.key("x"), second_builder.value(first.root()[0]),
        second_builder.end();
    const Document second = second_builder.finish();
    EXPECT_EQ(*second.root().find("x").find("b")[1].as_int64(), 2);
    EXPECT_EQ(second.root().find("x").find("b").position(), source.root().find("a").find("b").position());
}

TEST(DocumentBuilder, the_root_itself_may_be_a_reference) {
    const Reading source("a = [1 2]");
    DocumentBuilder builder;
    builder.value(source.root());
    const Document built = builder.finish();
    EXPECT_TRUE(shoal::equal(built.root(), source.root()));
}

TEST(DocumentBuilder, a_large_mapping_is_hashed_and_a_builder_can_be_used_again) {
    const shoal_test::LeakCheck leaks;
    DocumentBuilder builder;
    for (int round = 0; round < 2; ++round) {
        builder.begin_mapping();
        for (int i = 0; i < 1000; ++i) builder.key(std::to_string(i)), builder.integer(i + round);
        builder.end();
        const Document built = builder.finish();
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(*built.root().find(std::to_string(i)).as_int64(), i + round);
    }
}

TEST(DocumentBuilder, documents_of_one_builder_share_no_memory) {
    DocumentBuilder builder;
    builder.string("first");
    const Document first = builder.finish();
    builder.string("second");
    const Document second = builder.finish();
    const std::string_view one = first.root().as_string(), other = second.root().as_string();
    EXPECT_EQ(one, "first");
    EXPECT_EQ(other, "second");
    EXPECT_NE(one.data() + one.size(), other.data()) << "texts of one document follow each other";
}

TEST(DocumentBuilder, an_unfinished_document_leaves_nothing_behind) {
    const shoal_test::LeakCheck leaks;
    DocumentBuilder builder;
    builder.begin_mapping();
    for (int i = 0; i < 1000; ++i) builder.key(std::to_string(i)), builder.string("some text");
}

TEST(DocumentBuilderDeathTest, misuse_is_asserted) {
    EXPECT_DEATH(DocumentBuilder().end(), "without begin");
    EXPECT_DEATH(static_cast<void>(DocumentBuilder().finish()), "one root");
    EXPECT_DEATH(DocumentBuilder().number(INFINITY), "finite");
    EXPECT_DEATH(DocumentBuilder().key("a"), "belongs in a mapping");
    DocumentBuilder builder;
    builder.begin_mapping();
    EXPECT_DEATH(builder.null(), "needs a key before it");
    builder.key("a");
    EXPECT_DEATH(builder.end(), "no value");
    builder.null(), builder.end();
    EXPECT_DEATH(builder.null(), "one root");
}

TEST(Document, equality_tells_apart_what_differs) {
    const auto are_equal = [](const char* a, const char* b) {
        const Reading x(a), y(b);
        return shoal::equal(x.root(), y.root());
    };
    EXPECT_TRUE(are_equal("a = [1 2 { b = null }]", "\"a\":[1,2,{\"b\":null}]"));
    EXPECT_FALSE(are_equal("a = 1", "a = 2"));
    EXPECT_FALSE(are_equal("a = 1", "b = 1"));
    EXPECT_FALSE(are_equal("a = 1", "a = 1.0"));
    EXPECT_FALSE(are_equal("a = 0.0", "a = -0.0"));
    EXPECT_FALSE(are_equal("a = 1 b = 2", "b = 2 a = 1"));
    EXPECT_FALSE(are_equal("a = [1 2]", "a = [1 2 3]"));
    EXPECT_FALSE(are_equal("a = []", "a = {}"));
    EXPECT_FALSE(are_equal("a = \"1\"", "a = 1"));
    EXPECT_FALSE(are_equal("a = 18446744073709551615", "a = 18446744073709551614"));
    EXPECT_FALSE(are_equal("[1]", "a = 1"));
    EXPECT_TRUE(are_equal("", "{}"));
}

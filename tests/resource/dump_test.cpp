#include "shoal/resource/detail/dump.h"

#include "resource/random_blob.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"
#include "shoal/resource/detail/property_table.h"
#include "shoal/resource/detail/registry.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace resource_test {
namespace {

/// Reads a dump back, so that tests ask a tree and not a text.
struct Parsed {
    explicit Parsed(std::string json)
        : document(read_json(diagnostics.add_file("dump", std::move(json)), diagnostics)) {
        EXPECT_TRUE(document.ok()) << diagnostics.format();
    }
    Node root() const { return document->root(); }

    Diagnostics diagnostics;
    Result<Document> document;
};

TEST(Dump, a_text_that_the_blob_does_not_have_is_a_hash) {
    BlobWriter writer;
    writer.set_name("hulls");
    const std::uint64_t paint = *writer.add_text("grey") ? StringId("grey").hash : 0, flag = StringId("red").hash;
    const std::uint32_t words[][2] = {{std::uint32_t(paint), std::uint32_t(paint >> 32)},
                                      {std::uint32_t(flag), std::uint32_t(flag >> 32)}};
    PropertyEntry entries[] = {{*writer.add_text("paint"), {PropertyType::kString, 1, 1}, words[0]},
                               {*writer.add_text("flag"), {PropertyType::kString, 1, 1}, words[1]}};
    std::ranges::sort(entries, {}, &PropertyEntry::path);
    const Array<std::uint32_t> table = make_property_table(entries);
    Properties row;
    static_cast<BlobArrayBase&>(row.values) = writer.add_array(FieldType::kUint32, std::as_bytes(std::span(table)));
    writer.add_component(add_type<Properties>(writer), writer.add_entity({}), image_of(row));
    const Parsed dump(dump_json(*Blob::load(*writer.write())));
    const Node values = dump.root().find("entity_data")[0].find("components").find("properties").find("values");
    ASSERT_TRUE(values);
    std::string hash;
    append_hex(hash, flag);
    EXPECT_EQ(values.find("paint").as_string(), "grey");
    EXPECT_NE(values.find("flag").as_string().find(hash), std::string_view::npos) << values.find("flag").as_string();
}

// req: D10-D14
TEST(Dump, json_tells_entities_roots_components_and_bytes) {
    const Blob blob = *Blob::load(sample_bytes());
    const Parsed dump(dump_json(blob));
    EXPECT_EQ(*dump.root().find("entities").as_uint64(), 5u);
    EXPECT_EQ(*dump.root().find("roots").as_uint64(), 1u);
    EXPECT_EQ(*dump.root().find("bytes").as_uint64(), blob.bytes().size());
    EXPECT_EQ(dump.root().find("name").as_string(), "levels/reef");
    const Node components = dump.root().find("components");
    EXPECT_EQ(components.size(), 4u);
    EXPECT_EQ(*components.find("stone").as_uint64(), 2u);
    EXPECT_EQ(*components.find("note").as_uint64(), 3u);
    EXPECT_EQ(dump.root().find("schemas").size(), 4u);
    EXPECT_EQ(dump.root().find("entity_data").size(), 5u);
}

TEST(Dump, shows_size_and_hash_of_bytes_that_a_function_made) {
    ComponentRegistry registry;
    ASSERT_TRUE(registry.set_bytes_compile_function(
        "song", [](void*, const CompileInput&, CompileOutput&) { return true; }, nullptr));
    BlobWriter writer;
    writer.set_name("songs");
    const std::uint32_t song = *writer.add_component_type(*registry.find("song")->schema);
    for (const std::string_view text : {"tirili", "tirila", ""}) {
        const BlobArrayBase array = writer.add_array(FieldType::kUint8, std::as_bytes(std::span(text)));
        writer.add_component(song, writer.add_entity({}), std::as_bytes(std::span(&array, 1)));
    }
    const Blob blob = *Blob::load(*writer.write());
    const Parsed dump(dump_json(blob));
    const Node entities = dump.root().find("entity_data");
    const auto shown = [&](std::size_t i) { return entities[i].find("components").find("song"); };
    EXPECT_EQ(*shown(0).find("bytes").as_uint64(), 6u);
    EXPECT_EQ(*shown(2).find("bytes").as_uint64(), 0u);
    std::string hash = "#";
    append_hex(hash, hash_text("tirili"));
    EXPECT_EQ(shown(0).find("hash").as_string(), hash);
    EXPECT_NE(shown(1).find("hash").as_string(), hash);
    EXPECT_NE(dump_text(blob).find(hash), std::string::npos);
}

TEST(Dump, shows_each_value_as_people_name_it) {
    const Blob blob = *Blob::load(sample_bytes());
    const Parsed dump(dump_json(blob));
    const Node entities = dump.root().find("entity_data");
    const Node stone = entities[2].find("components").find("stone");
    EXPECT_EQ(stone.find("mass").as_double(), 1.0);
    EXPECT_EQ(stone.find("position")[0].as_double(), 0.1) << "not 0.10000000149011612";
    EXPECT_EQ(stone.find("velocity")[2].as_double(), 6.0) << "split columns are one value";
    EXPECT_EQ(stone.find("shape").as_string(), "box");
    EXPECT_TRUE(stone.find("awake").as_bool());
    EXPECT_EQ(*stone.find("target").as_uint64(), 4u);
    EXPECT_EQ(stone.find("label").as_string(), "großer Stein");
    EXPECT_EQ(stone.find("kind").as_string(), "granite");
    EXPECT_EQ(stone.find("path")[1][2].as_double(), 6.0);
    EXPECT_EQ(*stone.find("cell")[2].as_int64(), 3);
    EXPECT_EQ(entities[2].find("name").as_string(), "c");
    EXPECT_EQ(*entities[2].find("parent").as_uint64(), 1u);
    EXPECT_EQ(entities[2].find("source").as_string(), "reef.sjson:20");
    EXPECT_TRUE(entities[0].find("components").find("stone").find("target").is_null());
    EXPECT_EQ(entities[0].find("components").find("stone").find("shape").as_string(), "sphere");
    EXPECT_FALSE(entities[0].find("parent"));
    EXPECT_EQ(entities[3].find("components").find("body").find("energy").as_double(), 0.5);
    EXPECT_EQ(*entities[3].find("components").find("body").find("table")[2].as_int64(), 9);
    EXPECT_EQ(entities[4].find("components").find("note").size(), 2u) << "a list where there may be many";
    EXPECT_EQ(*entities[4].find("components").find("note")[1].find("number").as_int64(), 13);
    EXPECT_EQ(dump.root().find("kept_texts")[0].find("component").as_string(), "light");
    EXPECT_EQ(dump.root().find("dependencies")[1].find("kind").as_string(), "must_not_exist");
}

TEST(Dump, tells_lengths_of_one_texts_of_the_first_entity_and_contents_of_sources_only) {
    ComponentDefinition definition{.name = "rope"};
    definition.fields = {{.name = "one", .type = FieldType::kFloat, .array_length = 1},
                         {.name = "none", .type = FieldType::kFloat}};
    BlobWriter writer;
    writer.set_name("ropes");
    const Schema schema = *Schema::make(definition);
    writer.add_component(*writer.add_component_type(schema), writer.add_entity({}), blob_default_image(schema));
    writer.add_entity({});
    for (const std::uint32_t entity : {0u, 1u, kNoBlobEntity}) writer.add_kept_text(entity, "light", "a = 1\n");
    writer.set_origin("shoal", 7);
    for (const DependencyKind kind : {DependencyKind::kSource, DependencyKind::kMustExist,
                                      DependencyKind::kMustNotExist, DependencyKind::kResource})
        writer.add_dependency(kind, "reef", 9);
    const Parsed dump(dump_json(*Blob::load(*writer.write())));
    const Node fields = dump.root().find("schemas")[0].find("fields");
    EXPECT_EQ(*fields[0].find("length").as_uint64(), 1u);
    EXPECT_FALSE(fields[1].find("length"));
    const Node texts = dump.root().find("kept_texts");
    ASSERT_EQ(texts.size(), 3u);
    std::string entities, contents;
    for (const Node text : texts)
        entities += text.find("entity") ? concat(*text.find("entity").as_uint64(), ' ') : "- ";
    EXPECT_EQ(entities, "0 1 - ");
    for (const Node dependency : dump.root().find("dependencies"))
        if (dependency.find("content")) append_text(contents, concat(dependency.find("kind").as_string(), ' '));
    EXPECT_EQ(contents, "source ");
}

TEST(Dump, lists_components_by_entity_whatever_their_order_in_the_blob) {
    BlobWriter writer;
    const std::uint32_t note = add_type<Note>(writer), stone = add_type<Stone>(writer);
    for (int i = 0; i < 3; ++i) writer.add_entity({});
    const std::pair<std::uint32_t, int> notes[] = {{2, 20}, {0, 1}, {2, 21}, {1, 10}, {0, 2}, {2, 22}};
    for (const auto& [entity, number] : notes) {
        Note value;
        value.number = number;
        writer.add_component(note, entity, image_of(value));
    }
    for (const std::uint32_t entity : {1u, 2u}) writer.add_component(stone, entity, image_of(Stone{}));
    const Parsed dump(dump_json(*Blob::load(*writer.write())));
    const Node entities = dump.root().find("entity_data");
    std::vector<std::vector<std::int64_t>> numbers;
    for (const Node entity : entities) {
        numbers.emplace_back();
        for (const Node value : entity.find("components").find("note"))
            numbers.back().push_back(*value.find("number").as_int64());
    }
    EXPECT_EQ(numbers, (std::vector<std::vector<std::int64_t>>{{1, 2}, {10}, {20, 21, 22}}));
    EXPECT_FALSE(entities[0].find("components").find("stone"));
    EXPECT_TRUE(entities[2].find("components").find("stone"));
}

TEST(Dump, tells_how_far_it_is) {
    BlobWriter writer;
    for (int i = 0; i < 2500; ++i) writer.add_entity({});
    const Blob blob = *Blob::load(*writer.write());
    std::vector<std::uint64_t> told;
    const auto tell = [](void* context, std::string_view units, std::uint64_t done, std::uint64_t total) {
        EXPECT_EQ(units, "entities");
        EXPECT_EQ(total, 2500u);
        static_cast<std::vector<std::uint64_t>*>(context)->push_back(done);
    };
    DocumentBuilder builder(TextFormat::kJson, [](void*, std::string_view) {}, nullptr);
    builder.begin_mapping();
    dump_members(blob, builder, {tell, &told});
    builder.end();
    builder.finish();
    EXPECT_EQ(told, (std::vector<std::uint64_t>{1024, 2048, 2500}));
}

TEST(Dump, numbers_that_no_text_format_has_are_words) {
    BlobWriter writer;
    Stone stone;
    stone.target.id = kNoReference;
    stone.position = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()};
    writer.add_component(add_type<Stone>(writer), writer.add_entity({}), image_of(stone));
    const Parsed dump(dump_json(*Blob::load(*writer.write())));
    const Node position = dump.root().find("entity_data")[0].find("components").find("stone").find("position");
    EXPECT_EQ(position[0].as_string(), "inf");
    EXPECT_EQ(position[1].as_string(), "-inf");
    EXPECT_EQ(position[2].as_string(), "nan");
}

TEST(Dump, text_and_json_say_the_same_of_random_blobs) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random seeds(shoal_test::seed() + 3);
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(500); ++i) {
        BlobWriter writer;
        Model model;
        RandomBlob(seeds.next()).build(writer, model);
        const Blob blob = *Blob::load(*writer.write());
        const Parsed json(dump_json(blob));
        Diagnostics diagnostics;
        const Result<Document> text = read_sjson(diagnostics.add_file("dump", dump_text(blob)), diagnostics);
        ASSERT_TRUE(text.ok()) << diagnostics.format();
        ASSERT_TRUE(equal(text->root(), json.root()));
        std::uint64_t num_components = 0;
        for (const Node entity : json.root().find("entity_data"))
            for (const Node component : entity.find("components"))
                num_components += component.is_list() ? component.size() : 1;
        std::uint64_t expected = 0;
        for (const ModelType& type : model.types) expected += type.components.size();
        ASSERT_EQ(num_components, expected);
    }
}

}  // namespace
}  // namespace resource_test

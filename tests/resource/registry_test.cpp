#include "shoal/resource/detail/registry.h"

#include "resource/samples.h"
#include "support/testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace resource_test {
namespace {

// Two names with one XXH3-64, found by search.
constexpr std::string_view kName = "bbbncljfejjajdli", kSameHash = "lghhjgggelphhpdg";

bool compile_nothing(void*, const CompileInput&, CompileOutput&) { return false; }
bool compile_other(void*, const CompileInput&, CompileOutput&) { return true; }
Status spawn_nothing(void*, const SpawnBatch&) { return {}; }
Status spawn_other(void*, const SpawnBatch&) { return Status::error("no"); }

Schema one_field(std::string_view name, const FieldDefinition& field) {
    ComponentDefinition definition;
    definition.name = name;
    definition.fields.push_back(field);
    return *Schema::make(definition);
}

// req: D26-D30 A1
TEST(Registry, finds_by_name_and_by_the_hash_of_the_name) {
    const shoal_test::LeakCheck leaks;
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add<Stone>());
    ASSERT_TRUE(registry.set_compile_function("stone", compile_nothing, &registry, 7));
    ASSERT_TRUE(registry.set_spawn_function("stone", spawn_nothing, nullptr));
    const RegisteredComponent* stone = registry.find("stone");
    ASSERT_NE(stone, nullptr);
    EXPECT_EQ(registry.find(ComponentId(hash_text("stone"))), stone);
    EXPECT_EQ(stone->compile, compile_nothing);
    EXPECT_EQ(stone->compile_context, &registry);
    EXPECT_EQ(stone->spawn_order, 7);
    EXPECT_EQ(stone->spawn, spawn_nothing);
    ASSERT_NE(stone->schema, nullptr);
    EXPECT_EQ(stone->schema->layout_hash(), schema_of<Stone>().layout_hash());
    EXPECT_EQ(registry.find("pebble"), nullptr);
    EXPECT_EQ(registry.components().size(), 1u);
}

TEST(Registry, functions_may_come_before_the_schema) {
    ComponentRegistry registry;
    ASSERT_TRUE(registry.set_compile_function("note", compile_nothing, nullptr));
    EXPECT_EQ(registry.find("note")->schema, nullptr);
    ASSERT_TRUE(registry.add<Note>());
    EXPECT_NE(registry.find("note")->schema, nullptr);
    EXPECT_EQ(registry.find("note")->compile, compile_nothing);
}

TEST(Registry, the_same_twice_is_fine) {
    ComponentRegistry registry;
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(registry.add<Stone>());
        EXPECT_TRUE(registry.set_compile_function("stone", compile_nothing, nullptr, 3));
        EXPECT_TRUE(registry.set_spawn_function("stone", spawn_nothing, nullptr));
    }
    EXPECT_EQ(registry.components().size(), 1u);
}

TEST(Registry, another_schema_of_the_same_name_is_an_error_that_shows_both) {
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add(one_field("lamp", {.name = "power", .type = FieldType::kFloat})));
    const Status layout = registry.add(one_field("lamp", {.name = "power", .type = FieldType::kDouble}));
    ASSERT_FALSE(layout);
    EXPECT_NE(layout.message().find("lamp v1 {power float}"), std::string_view::npos) << layout.message();
    EXPECT_NE(layout.message().find("lamp v1 {power double}"), std::string_view::npos);
    const Status unit = registry.add(one_field("lamp", {.name = "power", .type = FieldType::kFloat, .unit = "W"}));
    ASSERT_FALSE(unit);
    EXPECT_NE(unit.message().find("other defaults, units"), std::string_view::npos) << unit.message();
    FieldDefinition with_default{.name = "power", .type = FieldType::kFloat};
    with_default.default_value.assign(4, std::byte(0x40));
    EXPECT_FALSE(registry.add(one_field("lamp", with_default)));
    EXPECT_TRUE(registry.find("lamp")->schema->fields()[0].unit.empty()) << "the first stays";
}

TEST(Registry, a_schema_that_differs_in_anything_is_another) {
    ComponentDefinition plain;
    plain.name = "lamp";
    plain.fields.push_back({.name = "power", .type = FieldType::kFloat, .has_range = true, .maximum = 9, .unit = "W"});
    plain.fields.push_back({.name = "owner", .type = FieldType::kEntity, .relation = Relation::kKept});
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add(*Schema::make(plain)));
    ASSERT_TRUE(registry.add(*Schema::make(plain))) << "the same";
    const auto is_refused = [&](auto&& change) {
        ComponentDefinition other = plain;
        change(other);
        const Result<Schema> schema = Schema::make(other);
        EXPECT_TRUE(schema.ok()) << schema.message();
        return !registry.add(*schema).ok();
    };
    EXPECT_TRUE(is_refused([](auto& other) { other.version = 2; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.enableable = true; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.whole = true; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.struct_bytes = 64; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.fields[0].unit = "V"; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.fields[0].has_range = false; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.fields[0].minimum = -1; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.fields[0].maximum = 10; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.fields[0].default_value.assign(4, std::byte(0x3F)); }));
    EXPECT_TRUE(is_refused([](auto& other) { other.fields[1].relation = Relation::kCleared; }));
    EXPECT_TRUE(is_refused([](auto& other) { other.fields[1].relation = Relation::kNone; }));
    EXPECT_FALSE(is_refused([](auto&) {}));
    EXPECT_EQ(registry.find("lamp")->schema->fields()[0].unit, "W") << "the first stays";
}

TEST(Registry, functions_that_are_removed_leave_nothing_and_others_may_come) {
    static constexpr std::string_view kMore[] = {"glow"};
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add<Stone>());
    ASSERT_TRUE(registry.set_compile_function("stone", compile_nothing, &registry, 7, CompileScope::kLayer, kMore));
    ASSERT_TRUE(registry.set_spawn_function("stone", spawn_nothing, &registry));
    EXPECT_FALSE(registry.set_compile_function("stone", compile_nothing, nullptr, 7, CompileScope::kLayer, kMore));
    EXPECT_FALSE(registry.set_compile_function("stone", compile_nothing, &registry, 7, CompileScope::kComponent));
    EXPECT_FALSE(registry.set_spawn_function("stone", spawn_nothing, nullptr));
    const RegisteredComponent& stone = *registry.find("stone");
    ASSERT_EQ(stone.more_keys.size(), 1u);
    EXPECT_EQ(stone.more_keys[0], "glow");
    registry.remove_functions("pebble");
    registry.remove_functions("stone");
    EXPECT_TRUE(stone.compile == nullptr && stone.spawn == nullptr && !stone.has_spawn_function());
    EXPECT_TRUE(stone.compile_context == nullptr && stone.spawn_context == nullptr && stone.more_keys.empty());
    EXPECT_EQ(stone.spawn_order, 0);
    EXPECT_EQ(stone.compile_scope, CompileScope::kComponent) << "which type_hash() counts";
    EXPECT_NE(stone.schema, nullptr) << "fields stay";
    EXPECT_TRUE(registry.set_compile_function("stone", compile_other, nullptr, 3));
    EXPECT_TRUE(registry.set_spawn_function("stone", spawn_other, nullptr));
    registry.remove("stone");
    EXPECT_EQ(registry.find("stone"), nullptr);
    EXPECT_TRUE(registry.components().empty());
    EXPECT_FALSE(registry.set_compile_function("", compile_other, nullptr));
}

TEST(Registry, another_function_of_the_same_name_is_an_error) {
    ComponentRegistry registry;
    ASSERT_TRUE(registry.set_compile_function("lamp", compile_nothing, nullptr, 1));
    EXPECT_FALSE(registry.set_compile_function("lamp", compile_other, nullptr, 1));
    EXPECT_FALSE(registry.set_compile_function("lamp", compile_nothing, nullptr, 2));
    ASSERT_TRUE(registry.set_spawn_function("lamp", spawn_nothing, nullptr));
    EXPECT_FALSE(registry.set_spawn_function("lamp", spawn_other, nullptr));
    EXPECT_EQ(registry.find("lamp")->compile, compile_nothing);
    EXPECT_EQ(registry.find("lamp")->spawn, spawn_nothing);
    ASSERT_TRUE(registry.set_compile_function("rope", nullptr, nullptr, 4)) << "a spawn order alone";
    EXPECT_FALSE(registry.set_compile_function("rope", nullptr, nullptr, 5));
    EXPECT_FALSE(registry.set_compile_function("rope", compile_other, nullptr, 5));
    EXPECT_EQ(registry.find("rope")->spawn_order, 4);
}

TEST(Registry, bytes_that_a_function_made_are_one_array_of_bytes) {
    const auto is_bytes = [](std::string_view name, FieldType element) {
        return is_bytes_component(
            one_field("song", {.name = std::string(name), .type = FieldType::kBlobArray, .element_type = element}));
    };
    EXPECT_TRUE(is_bytes("bytes", FieldType::kUint8));
    EXPECT_FALSE(is_bytes("bytes", FieldType::kInt8));
    EXPECT_FALSE(is_bytes("bytes", FieldType::kFloat));
    EXPECT_FALSE(is_bytes("notes", FieldType::kUint8));
    EXPECT_FALSE(is_bytes_component(one_field("song", {.name = "bytes", .type = FieldType::kUint8})));
}

TEST(Registry, functions_of_bytes_make_the_schema_or_change_nothing) {
    const shoal_test::LeakCheck leaks;
    const BytesSpawnFunction spawn_bytes = [](void*, const SpawnBatch&, std::span<const std::span<const std::byte>>) {
        return Status();
    };
    ComponentRegistry registry;
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(registry.set_bytes_compile_function("song", compile_nothing, nullptr, 5));
        ASSERT_TRUE(registry.set_bytes_spawn_function("song", spawn_bytes, nullptr));
    }
    ASSERT_NE(registry.find("song")->schema, nullptr);
    EXPECT_TRUE(is_bytes_component(*registry.find("song")->schema));
    EXPECT_EQ(registry.find("song")->spawn_order, 5);
    EXPECT_FALSE(registry.set_spawn_function("song", spawn_nothing, nullptr)) << "it has another";
    EXPECT_FALSE(registry.set_bytes_compile_function("song", compile_other, nullptr, 5));

    ASSERT_TRUE(registry.add<Stone>());
    EXPECT_FALSE(is_bytes_component(schema_of<Stone>()));
    const Status fields = registry.set_bytes_compile_function("stone", compile_nothing, nullptr);
    EXPECT_NE(fields.message().find("so it cannot be bytes that a function makes"), std::string_view::npos)
        << fields.message();
    EXPECT_EQ(registry.find("stone")->compile, nullptr);
    EXPECT_FALSE(registry.set_bytes_spawn_function("stone", spawn_bytes, nullptr));
    EXPECT_FALSE(registry.find("stone")->has_spawn_function());

    registry.remove_functions("song");
    EXPECT_FALSE(registry.find("song")->has_spawn_function());
    EXPECT_TRUE(registry.set_spawn_function("song", spawn_nothing, nullptr)) << "the one of bytes is gone";
    ASSERT_TRUE(registry.set_spawn_function("lamp", spawn_nothing, nullptr));
    EXPECT_FALSE(registry.set_bytes_spawn_function("lamp", spawn_bytes, nullptr));
    EXPECT_EQ(registry.find("lamp")->schema, nullptr) << "nothing is half-done";
    EXPECT_FALSE(registry.set_bytes_compile_function("", compile_nothing, nullptr));
    EXPECT_EQ(registry.components().size(), 3u);
}

TEST(Registry, two_names_with_one_identifier_are_an_error_that_names_both) {
    ASSERT_EQ(hash_text(kName), hash_text(kSameHash));
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add(one_field(kName, {.name = "power", .type = FieldType::kFloat})));
    for (const Status& status : {registry.add(one_field(kSameHash, {.name = "power", .type = FieldType::kFloat})),
                                 registry.set_compile_function(kSameHash, compile_nothing, nullptr),
                                 registry.set_spawn_function(kSameHash, spawn_nothing, nullptr)}) {
        ASSERT_FALSE(status);
        EXPECT_NE(status.message().find(kName), std::string_view::npos) << status.message();
        EXPECT_NE(status.message().find(kSameHash), std::string_view::npos);
    }
    EXPECT_EQ(registry.components().size(), 1u);
    EXPECT_EQ(registry.find(kSameHash), nullptr);
}

TEST(Registry, many_components_are_all_found) {
    ComponentRegistry registry;
    for (int i = 0; i < 1000; ++i)
        ASSERT_TRUE(registry.add(one_field(concat("c", i), {.name = concat("f", i), .type = FieldType::kInt32})));
    for (int i = 0; i < 1000; ++i) {
        ASSERT_NE(registry.find(concat("c", i)), nullptr);
        EXPECT_EQ(registry.find(concat("c", i))->schema->fields()[0].name, concat("f", i));
    }
}

/// A compiler that knows one reference and reads nothing.
struct FindsAlwaysTwo final : CompileHost {
    std::uint32_t find_entity(std::string_view reference) const override {
        return reference == "../c" ? 2 : kNoBlobEntity;
    }
    bool read_field(Node) override { return false; }
    bool read_value(const Field&, Node, std::byte*) override { return false; }
};

TEST(CompileOutput, fills_an_image_and_keeps_what_goes_with_it) {
    BlobWriter blob;
    blob.set_name("out");
    for (int i = 0; i < 3; ++i) blob.add_entity({});
    const Schema& schema = schema_of<Stone>();
    std::vector<std::byte> image = blob_default_image(schema);
    EXPECT_EQ(get<EntityBits>(image, offsetof(Stone, target)), kNoReference);
    FindsAlwaysTwo host;
    CompileOutput out(schema, image, blob, host);
    Stone stone;
    stone.mass = 5;
    stone.kind = *out.intern("basalt");
    const Vec3 path[] = {{1, 2, 3}};
    static_cast<BlobArrayBase&>(stone.path) = out.add_array(FieldType::kVec3, std::as_bytes(std::span(path)));
    out.store(stone);
    EXPECT_EQ(get<EntityBits>(image, offsetof(Stone, target)), kNoReference) << "null is none, not entity 0";
    out.store_entity(offsetof(Stone, target), out.find_entity("../c"));
    out.add_dependency(DependencyKind::kResource, "rock.mesh");
    EXPECT_EQ(out.find_entity("nowhere"), kNoBlobEntity);
    blob.add_component(*blob.add_component_type(schema), 1, out.image());

    const Result<Blob> loaded = Blob::load(*blob.write());
    ASSERT_TRUE(loaded) << loaded.message();
    const BlobComponents& stones = loaded->component_types()[0];
    const std::vector<std::byte> row = gather(*stones.schema, stones.columns, 0);
    EXPECT_EQ(get<float>(row, 0), 5.0f);
    EXPECT_EQ(get<EntityBits>(row, offsetof(Stone, target)), 2u);
    EXPECT_EQ(loaded->text(stone.kind), "basalt");
    EXPECT_EQ(loaded->dependencies().size(), 1u);
}

struct Crew {
    float pay = 1;
    std::array<Entity, 3> members{};
};
SHOAL_COMPONENT(Crew, pay, members)

TEST(CompileOutput, no_reference_of_a_struct_that_is_stored_counts) {
    BlobWriter blob;
    const Schema& schema = schema_of<Crew>();
    std::vector<std::byte> image = blob_default_image(schema);
    FindsAlwaysTwo host;
    CompileOutput out(schema, image, blob, host);
    Crew crew;
    for (Entity& member : crew.members) member.id = 7;
    out.store(crew);
    for (std::size_t i = 0; i < crew.members.size(); ++i)
        EXPECT_EQ(get<EntityBits>(image, offsetof(Crew, members) + i * sizeof(Entity)), kNoReference) << i;
    out.store_entity(offsetof(Crew, members) + sizeof(Entity), 2);
    EXPECT_EQ(get<EntityBits>(image, offsetof(Crew, members)), kNoReference);
    EXPECT_EQ(get<EntityBits>(image, offsetof(Crew, members) + sizeof(Entity)), 2u);
}

TEST(Writer, two_texts_with_one_hash_are_an_error) {
    BlobWriter blob;
    ASSERT_TRUE(blob.add_text(kName));
    ASSERT_TRUE(blob.add_text(kName));
    const Result<StringId> other = blob.add_text(kSameHash);
    ASSERT_FALSE(other);
    EXPECT_NE(other.message().find(kName), std::string_view::npos);
}

}  // namespace
}  // namespace resource_test

#include "resource/samples.h"
#include "shoal/base/file.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace resource_test {
namespace {

TEST(Blob, gives_back_what_was_written) {
    const shoal_test::LeakCheck leaks;
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob) << blob.message();
    EXPECT_EQ(blob->name(), "levels/reef");
    EXPECT_EQ(blob->id(), ResourceId(std::string_view("levels/reef")));
    EXPECT_EQ(blob->num_entities(), 5u);
    EXPECT_EQ(blob->num_roots(), 1u);
    ASSERT_EQ(blob->component_types().size(), 4u);

    const BlobComponents* stones = blob->find_components(schema_of<Stone>().id());
    ASSERT_NE(stones, nullptr);
    ASSERT_EQ(stones->count(), 2u);
    EXPECT_EQ(stones->entity_index[0], 2u);
    EXPECT_EQ(stones->entity_index[1], 0u);
    Stone stone;
    std::memcpy(static_cast<void*>(&stone), gather(*stones->schema, stones->columns, 0).data(), sizeof stone);
    EXPECT_EQ(stone.position, (Vec3{0.1f, -2, 3}));
    EXPECT_EQ(stone.velocity, (Vec3{4, 5, 6}));
    EXPECT_EQ(stone.target.id, 4u);
    EXPECT_EQ(stone.label.view(), "großer Stein");
    EXPECT_EQ(stone.path.resource, blob->id());
    const std::span<const std::byte> path = blob->array(stone.path, FieldType::kVec3);
    ASSERT_EQ(path.size(), 2 * sizeof(Vec3));
    EXPECT_EQ(get<Vec3>(path, sizeof(Vec3)), (Vec3{4, 5, 6}));
    std::memcpy(static_cast<void*>(&stone), gather(*stones->schema, stones->columns, 1).data(), sizeof stone);
    EXPECT_EQ(stone.target.id, kNoReference);
    EXPECT_EQ(stone.path, BlobArray<Vec3>());

    const BlobComponents* bodies = blob->find_components(schema_of<Body>().id());
    ASSERT_NE(bodies, nullptr);
    Body body;
    std::memcpy(static_cast<void*>(&body), bodies->columns[0], sizeof body);
    EXPECT_EQ(body.owner.id, 1u);
    EXPECT_EQ(get<std::uint32_t>(blob->array(body.table, FieldType::kUint32), 8), 9u);
}

TEST(Blob, equal_arrays_are_kept_once) {
    BlobWriter writer;
    writer.set_name("arrays");
    writer.add_entity({});
    const std::uint32_t numbers[] = {1, 2, 3}, others[] = {1, 2, 4};
    const auto add = [&](FieldType type, std::span<const std::uint32_t> values) {
        return writer.add_array(type, std::as_bytes(values)).offset;
    };
    const std::uint64_t first = add(FieldType::kUint32, numbers);
    EXPECT_EQ(add(FieldType::kUint32, numbers), first);
    const std::uint64_t second = add(FieldType::kUint32, others);
    EXPECT_NE(second, first);
    EXPECT_NE(add(FieldType::kInt32, numbers), first) << "of another type";
    EXPECT_NE(add(FieldType::kUint32, std::span(numbers).first(2)), first) << "of another length";
    EXPECT_EQ(add(FieldType::kUint32, numbers), first);
    EXPECT_EQ(add(FieldType::kUint32, others), second);
}

// req: D18-D25
TEST(Blob, parents_none_0_1_1_2_make_the_tree_of_the_document) {
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob) << blob.message();
    const auto tree = [&](const auto& self, std::uint32_t parent) -> std::string {
        std::string text;
        for (std::uint32_t i = 0; i < blob->num_entities(); ++i)
            if (blob->parents()[i] == parent) text += std::string(1, static_cast<char>('A' + i)) + self(self, i);
        return text.empty() ? text : '(' + text + ')';
    };
    EXPECT_EQ(tree(tree, kNoBlobEntity), "(A(B(C(E)D)))");
}

// req: D18-D25
TEST(Blob, each_component_type_tells_its_identifier_count_owners_and_values) {
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob) << blob.message();
    EXPECT_EQ(blob->num_entities(), 5u);
    EXPECT_TRUE(std::ranges::equal(blob->parents(), kTreeParents));
    ASSERT_EQ(blob->component_types().size(), 4u);
    const auto expect_owners = [&](const char* name,
                                   const std::vector<std::uint32_t>& owners) -> const BlobComponents& {
        const BlobComponents& found = *blob->find_components(ComponentId(name));
        EXPECT_EQ(found.id, ComponentId(hash_text(name)));
        EXPECT_EQ(found.schema->name(), name);
        EXPECT_EQ(found.count(), owners.size());
        EXPECT_TRUE(std::ranges::equal(found.entity_index, owners)) << name;
        EXPECT_EQ(found.columns.size(), found.schema->columns().size());
        EXPECT_GE(found.num_bytes, owners.size() * (sizeof(std::uint32_t) + found.schema->row_bytes()));
        return found;
    };
    expect_owners("stone", {2, 0});
    expect_owners("marker", {4, 0});
    const auto body = gather(schema_of<Body>(), expect_owners("body", {3}).columns, 0);
    EXPECT_EQ(get<double>(body, offsetof(Body, energy)), 0.5);
    const BlobComponents& notes = expect_owners("note", {4, 1, 4});
    const std::int32_t numbers[] = {11, 12, 13};
    EXPECT_EQ(std::memcmp(notes.columns[0], numbers, sizeof numbers), 0);
}

// req: D26-D30
TEST(Blob, component_types_lie_in_spawn_order_then_by_name) {
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob);
    std::string order;
    for (const BlobComponents& components : blob->component_types()) order += components.schema->name() + ' ';
    EXPECT_EQ(order, "stone marker note body ");
}

TEST(Blob, finds_entities_by_name_and_by_guid) {
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob);
    EXPECT_EQ(blob->find_name("a"), 0u);
    EXPECT_EQ(blob->find_name("c"), 2u) << "the first of several";
    EXPECT_EQ(blob->find_name("d"), kNoBlobEntity);
    EXPECT_EQ(blob->find_name(""), kNoBlobEntity);
    EXPECT_EQ(blob->find_guid(hash_text("guid4")), 4u);
    EXPECT_EQ(blob->find_guid(hash_text("guid3")), kNoBlobEntity);
    EXPECT_EQ(blob->find_guid(0), kNoBlobEntity);
    EXPECT_EQ(blob->guid(3), 0u);
    EXPECT_EQ(blob->entity_name(4), "");
}

TEST(Blob, keeps_what_people_need) {
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob);
    EXPECT_EQ(blob->source_file(2), "reef.sjson");
    EXPECT_EQ(blob->source_line(2), 20u);
    EXPECT_EQ(blob->text(StringId(std::string_view("granite"))), "granite");
    EXPECT_EQ(blob->text(StringId(std::string_view("marble"))), "");
    ASSERT_EQ(blob->num_kept_texts(), 2u);
    EXPECT_EQ(blob->kept_text(0).entity_index, 1u);
    EXPECT_EQ(blob->kept_text(0).component, "light");
    EXPECT_EQ(blob->kept_text(1).entity_index, kNoBlobEntity);
    EXPECT_EQ(blob->kept_text(1).text, "zoom = 2");
    ASSERT_EQ(blob->dependencies().size(), 2u);
    EXPECT_EQ(blob->dependencies()[1].kind, DependencyKind::kMustNotExist);
    EXPECT_EQ(blob->string(blob->dependencies()[1].path), "coral.sjson");
}

// req: D31
TEST(Blob, says_what_it_was_made_from_and_one_from_before_says_nothing) {
    BlobWriter writer;
    writer.add_dependency(DependencyKind::kSource, "reef.sjson", 5);
    writer.add_dependency(DependencyKind::kMustNotExist, "coral.sjson");
    writer.set_origin("shoal 9.8.7", 6);
    writer.add_origin_type("stone", 7);
    const Result<Blob> blob = Blob::load(*writer.write());
    ASSERT_TRUE(blob) << blob.message();
    ASSERT_NE(blob->origin(), nullptr);
    EXPECT_TRUE(std::ranges::equal(blob->dependency_hashes(), std::vector<std::uint64_t>{5, 0}));
    EXPECT_EQ(blob->origin_types()[0].hash, 7u);
    EXPECT_EQ(Blob::load(sample_bytes())->origin(), nullptr);
}

// req: D1-D3
TEST(Blob, works_at_any_address_and_in_place_where_it_is_aligned) {
    const std::vector<std::byte> bytes = sample_bytes();
    std::vector<std::byte> room(bytes.size() + 8192);
    const std::size_t start = (kPageBytes - reinterpret_cast<std::uintptr_t>(room.data()) % kPageBytes) % kPageBytes;
    for (const std::size_t shift : {0, 64, 192, 4032, 1, 2, 4, 8, 16, 63}) {
        std::byte* address = room.data() + start + shift;
        std::memcpy(address, bytes.data(), bytes.size());
        const Result<Blob> blob = Blob::view({address, bytes.size()});
        ASSERT_TRUE(blob) << "shift " << shift << ": " << blob.message();
        EXPECT_EQ(blob->bytes().data() == address, shift % kBlobAlignment == 0) << "in place, or one copy";
        for (const BlobComponents& components : blob->component_types())
            for (const std::byte* column : components.columns)
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(column) % kBlobAlignment, 0u);
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), address)) << "nothing is patched";
        EXPECT_EQ(blob->find_name("b"), 1u);
    }
}

TEST(Blob, moves_without_moving_a_byte) {
    Result<Blob> loaded = Blob::load(sample_bytes());
    ASSERT_TRUE(loaded);
    const std::byte* data = loaded->bytes().data();
    const std::byte* column = loaded->component_types()[0].columns[1];
    Blob blob = std::move(*loaded);
    EXPECT_EQ(blob.bytes().data(), data);
    EXPECT_EQ(blob.component_types()[0].columns[1], column);
    EXPECT_EQ(blob.component_types()[0].schema->name(), "stone");
}

TEST(Blob, large_columns_start_on_the_alignment_of_the_header) {
    BlobWriter writer;
    const std::uint32_t note = add_type<Note>(writer);
    std::vector<std::uint32_t> owners(20000);
    std::vector<std::int32_t> numbers(owners.size());
    for (std::uint32_t i = 0; i < owners.size(); ++i) {
        owners[i] = writer.add_entity({});
        numbers[i] = static_cast<std::int32_t>(i * 3);
    }
    const auto* column = reinterpret_cast<const std::byte*>(numbers.data());
    writer.add_components(note, owners, {&column, 1});
    const Result<Blob> blob = Blob::load(*writer.write());
    ASSERT_TRUE(blob) << blob.message();
    const BlobComponents& notes = blob->component_types()[0];
    EXPECT_EQ((notes.columns[0] - blob->bytes().data()) % std::ptrdiff_t(kBlobColumnAlignment), 0);
    EXPECT_EQ(std::memcmp(notes.columns[0], numbers.data(), numbers.size() * 4), 0);
}

TEST(Blob, components_lie_in_the_order_in_which_they_were_added_one_by_one_or_by_column) {
    BlobWriter writer;
    const std::uint32_t note = add_type<Note>(writer), owners[] = {writer.add_entity({}), writer.add_entity({})};
    const std::int32_t numbers[] = {2, 3};
    const auto* const column = reinterpret_cast<const std::byte*>(numbers);
    writer.add_component(note, owners[1], image_of(Note{1}));
    writer.add_components(note, owners, {&column, 1});
    writer.add_component(note, owners[0], image_of(Note{4}));
    const Result<Blob> blob = Blob::load(*writer.write());
    ASSERT_TRUE(blob) << blob.message();
    const BlobComponents& notes = blob->component_types()[0];
    EXPECT_TRUE(std::ranges::equal(notes.entity_index, std::vector<std::uint32_t>{1, 0, 1, 0}));
    const std::int32_t wanted[] = {1, 2, 3, 4};
    EXPECT_EQ(std::memcmp(notes.columns[0], wanted, sizeof wanted), 0);
}

// req: D10-D14
TEST(Blob, one_jump_leads_past_each_component_type) {
    const std::vector<std::byte> bytes = sample_bytes();
    const std::size_t types = section_of(bytes, BlobSectionKind::kComponentTypes);
    std::uint64_t end = section_of(bytes, BlobSectionKind::kComponentData);
    for (std::uint32_t i = 0; i < 4; ++i) {
        const auto type = get<BlobComponentType>(bytes, types + i * sizeof(BlobComponentType));
        EXPECT_EQ(type.data_offset, round_up(end, kBlobAlignment));
        end = type.data_offset + type.data_bytes;
    }
    const auto entry = get<BlobSection>(bytes, entry_of(bytes, BlobSectionKind::kComponentData));
    EXPECT_EQ(end, entry.offset + entry.num_bytes);
}

// req: D10-D14
TEST(Blob, offset_tables_lead_to_the_rows_of_an_entity) {
    const Result<Blob> blob = Blob::load(sample_bytes({.offset_tables = true}));
    ASSERT_TRUE(blob) << blob.message();
    ASSERT_TRUE(blob->has_offset_tables());
    EXPECT_FALSE(Blob::load(sample_bytes())->has_offset_tables());
    std::string text;
    for (const BlobRow& row : blob->rows(4))
        text += concat(blob->component_types()[row.component_type].schema->name(), row.row, ' ');
    EXPECT_EQ(text, "marker0 note0 note2 ");
    EXPECT_EQ(blob->rows(3).size(), 1u);
}

TEST(Blob, padding_never_reaches_the_file) {
    BlobWriter first, second;
    fill_sample(first);
    fill_sample(second);
    EXPECT_EQ(*first.write(), *second.write());
    const Result<Blob> blob = Blob::load(*first.write());
    const std::byte* body = blob->find_components(schema_of<Body>().id())->columns[0];
    EXPECT_EQ(body[1], std::byte(0)) << "the byte after level was 0xCD in the struct";
}

TEST(Blob, a_file_is_read_and_its_path_named_in_errors) {
    const std::string path = ::testing::TempDir() + "resource_blob_test.blob";
    ASSERT_TRUE(write_file(path, sample_bytes()));
    const Result<Blob> blob = Blob::read(path);
    ASSERT_TRUE(blob) << blob.message();
    EXPECT_EQ(blob->num_entities(), 5u);
    ASSERT_TRUE(write_file(path, std::string_view("no blob")));
    const Result<Blob> damaged = Blob::read(path);
    ASSERT_FALSE(damaged);
    EXPECT_NE(damaged.message().find(path), std::string_view::npos) << damaged.message();
    std::remove(path.c_str());
    EXPECT_FALSE(Blob::read(path));
    EXPECT_FALSE(Blob::read(::testing::TempDir()));
}

TEST(Blob, an_empty_blob_is_a_blob) {
    const BlobWriter writer;
    const Result<Blob> blob = Blob::load(*writer.write({.offset_tables = true}));
    ASSERT_TRUE(blob) << blob.message();
    EXPECT_EQ(blob->num_entities(), 0u);
    EXPECT_EQ(blob->name(), "");
    EXPECT_FALSE(blob->id());
}

TEST(Blob, unknown_sections_are_skipped_unless_they_are_required) {
    std::vector<std::byte> bytes = sample_bytes();
    const std::size_t entry = entry_of(bytes, BlobSectionKind::kTexts);
    put<std::uint32_t>(bytes, entry, 1234);
    sign(bytes);
    const Result<Blob> skipped = Blob::load(bytes);
    ASSERT_TRUE(skipped) << skipped.message();
    EXPECT_EQ(skipped->text(StringId(std::string_view("granite"))), "");
    put<std::uint32_t>(bytes, entry + offsetof(BlobSection, flags), kBlobSectionRequired);
    sign(bytes);
    EXPECT_NE(Blob::load(bytes).message().find("section kind 1234"), std::string_view::npos);

    bytes = sample_bytes();
    put<std::uint32_t>(bytes, entry + offsetof(BlobSection, version), 2);
    sign(bytes);
    EXPECT_TRUE(Blob::load(bytes)) << "a later version of an optional section";
}

}  // namespace
}  // namespace resource_test

#include "resource/random_blob.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace resource_test {
namespace {

void expect_same_field(const Blob& blob, const Model& model, const Field& field, const std::byte* written,
                       const std::byte* read) {
    if (field.type != FieldType::kBlobArray) {
        EXPECT_EQ(std::memcmp(written, read, field.size), 0) << field.name;
        return;
    }
    for (std::uint32_t i = 0; i < field.num_values(); ++i) {
        const auto before = get<BlobArrayBase>({written, field.size}, i * sizeof(BlobArrayBase));
        const auto after = get<BlobArrayBase>({read, field.size}, i * sizeof(BlobArrayBase));
        EXPECT_EQ(before.count, after.count);
        if (before.count == 0) continue;
        const std::span<const std::byte> values = blob.array(after, field.element_type);
        const std::vector<std::byte>& expected = model.arrays.at(before.offset);
        EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.begin(), expected.end())) << field.name;
    }
}

void expect_same_type(const Blob& blob, const Model& model, const ModelType& type) {
    const BlobComponents* components = blob.find_components(type.schema.id());
    ASSERT_NE(components, nullptr);
    const Schema& schema = *components->schema;
    EXPECT_EQ(schema.layout_hash(), type.schema.layout_hash());
    EXPECT_EQ(schema.version(), type.schema.version());
    EXPECT_EQ(schema.enableable(), type.schema.enableable());
    EXPECT_EQ(schema.many(), type.schema.many());
    EXPECT_EQ(schema.to_text(), type.schema.to_text());
    EXPECT_EQ(components->spawn_order, type.spawn_order);
    for (std::size_t f = 0; f < schema.fields().size(); ++f) {
        EXPECT_EQ(schema.fields()[f].unit, type.schema.fields()[f].unit);
        EXPECT_EQ(schema.fields()[f].has_range, type.schema.fields()[f].has_range);
        EXPECT_EQ(schema.fields()[f].maximum, type.schema.fields()[f].maximum);
        EXPECT_EQ(schema.fields()[f].enumerators, type.schema.fields()[f].enumerators);
    }
    ASSERT_EQ(components->count(), type.components.size());
    for (std::uint32_t row = 0; row < components->count(); ++row) {
        EXPECT_EQ(components->entity_index[row], type.components[row].owner);
        const std::vector<std::byte> image = gather(schema, components->columns, row);
        for (const Field& field : schema.fields())
            expect_same_field(blob, model, field, type.components[row].image.data() + field.struct_offset,
                              image.data() + field.struct_offset);
    }
}

void expect_same_entities(const Blob& blob, const Model& model) {
    ASSERT_EQ(blob.num_entities(), model.parents.size());
    for (std::uint32_t i = 0; i < blob.num_entities(); ++i) {
        EXPECT_EQ(blob.parents()[i], model.parents[i]);
        EXPECT_EQ(blob.guid(i), model.guids[i]);
        EXPECT_EQ(blob.entity_name(i), model.names[i]);
        if (model.guids[i] != 0) {
            EXPECT_EQ(blob.find_guid(model.guids[i]), i);
        }
        const auto first = std::find(model.names.begin(), model.names.end(), model.names[i]) - model.names.begin();
        if (!model.names[i].empty()) {
            EXPECT_EQ(blob.find_name(model.names[i]), static_cast<std::uint32_t>(first));
        }
    }
}

void expect_right_offset_tables(const Blob& blob) {
    ASSERT_TRUE(blob.has_offset_tables());
    for (std::uint32_t entity = 0; entity < blob.num_entities(); ++entity) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> expected, found;
        for (std::uint32_t t = 0; t < blob.component_types().size(); ++t)
            for (std::uint32_t row = 0; row < blob.component_types()[t].count(); ++row)
                if (blob.component_types()[t].entity_index[row] == entity) expected.push_back({t, row});
        for (const BlobRow& row : blob.rows(entity)) found.push_back({row.component_type, row.row});
        EXPECT_EQ(found, expected);
    }
}

// req: D1-D3 D10-D14
TEST(RoundTrip, random_blobs_hold_what_was_put_in) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random seeds(shoal_test::seed());
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(5000); ++i) {
        BlobWriter writer;
        Model model;
        RandomBlob(seeds.next()).build(writer, model);
        const Result<std::vector<std::byte>> bytes = writer.write({.offset_tables = i % 2 == 0});
        ASSERT_TRUE(bytes) << bytes.message();
        const Result<Blob> blob = Blob::load(*bytes);
        ASSERT_TRUE(blob) << blob.message();
        expect_same_entities(*blob, model);
        ASSERT_EQ(blob->component_types().size(), model.types.size());
        for (const ModelType& type : model.types) expect_same_type(*blob, model, type);
        if (i % 2 == 0) expect_right_offset_tables(*blob);
        if (HasFailure()) return;
    }
}

TEST(RoundTrip, whole_columns_and_struct_images_give_the_same_bytes) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random seeds(shoal_test::seed() + 1);
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(500); ++i) {
        BlobWriter by_image;
        Model model;
        RandomBlob(seeds.next()).build(by_image, model);
        if (!model.arrays.empty()) continue;  // their offsets are of the first writer
        const Result<Blob> blob = Blob::load(*by_image.write());
        ASSERT_TRUE(blob) << blob.message();
        BlobWriter by_column;
        by_column.set_name(blob->name());
        for (std::uint32_t e = 0; e < blob->num_entities(); ++e)
            by_column.add_entity({.parent = blob->parents()[e], .guid = blob->guid(e), .name = blob->entity_name(e)});
        for (const ModelType& type : model.types) {
            const BlobComponents& components = *blob->find_components(type.schema.id());
            by_column.add_components(*by_column.add_component_type(*components.schema, components.spawn_order),
                                     components.entity_index, components.columns);
        }
        EXPECT_EQ(*by_column.write(), *by_image.write());
    }
}

TEST(Endianness, swapping_twice_gives_the_first_bytes_back) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random seeds(shoal_test::seed() + 2);
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(1000); ++i) {
        BlobWriter writer;
        Model model;
        RandomBlob(seeds.next()).build(writer, model);
        const std::vector<std::byte> native = *writer.write({.offset_tables = true});
        const std::vector<std::byte> other = *writer.write({.big_endian = true, .offset_tables = true});
        EXPECT_NE(native, other);
        const Result<std::vector<std::byte>> back = swap_endianness(other);
        ASSERT_TRUE(back) << back.message();
        ASSERT_EQ(*back, native);
        EXPECT_EQ(*swap_endianness(native), other);
    }
}

// req: D31
TEST(Endianness, what_a_blob_was_made_from_is_swapped_too) {
    const std::vector<std::byte> native = sample_bytes_with_origin();
    const Result<std::vector<std::byte>> back =
        swap_endianness(sample_bytes_with_origin({.big_endian = std::endian::native == std::endian::little}));
    ASSERT_TRUE(back) << back.message();
    EXPECT_EQ(*back, native);
    const Result<Blob> blob = Blob::load(*back);
    ASSERT_TRUE(blob) << blob.message();
    ASSERT_NE(blob->origin(), nullptr);
    EXPECT_EQ(blob->string(blob->origin()->compiler), "shoal 9.8.7");
    EXPECT_EQ(blob->origin()->rules, 0xFEDCBA9876543210);
    ASSERT_EQ(blob->dependency_hashes().size(), 2u);
    EXPECT_EQ(blob->dependency_hashes()[0], 0u) << "it was read twice, and was not the same";
    ASSERT_EQ(blob->origin_types().size(), 2u);
    EXPECT_EQ(blob->string(blob->origin_types()[0].name), "stone");
    EXPECT_EQ(blob->origin_types()[0].hash, 77u);
}

// req: D1-D3 D31
TEST(Endianness, every_number_is_swapped_where_it_lies) {
    const std::vector<std::byte> native = sample_bytes();
    const std::vector<std::byte> big = sample_bytes({.big_endian = true});
    ASSERT_EQ(native.size(), big.size());
    const Result<Blob> blob = Blob::load(native);
    ASSERT_TRUE(blob);
    const auto expect_swapped = [&](const void* place, std::size_t width, std::size_t count) {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(place) - blob->bytes().data());
        for (std::size_t i = 0; i < count * width; i += width)
            for (std::size_t b = 0; b < width; ++b)
                ASSERT_EQ(native[offset + i + b], big[offset + i + width - 1 - b]) << "byte " << offset + i + b;
    };
    EXPECT_EQ(std::memcmp(big.data(), kBlobMagic, 8), 0);
    expect_swapped(&blob->header().endianness, 4, 2);
    expect_swapped(&blob->header().total_bytes, 8, 2);
    const std::size_t guids = section_of(native, BlobSectionKind::kGuids);
    expect_swapped(blob->bytes().data() + guids, 8, 5);
    expect_swapped(blob->bytes().data() + guids + 5 * 8, 4, 5);
    const BlobComponents& stones = *blob->find_components(schema_of<Stone>().id());
    const auto column = [&](std::string_view field) {
        return stones
            .columns[stones.schema->fields()[static_cast<std::size_t>(stones.schema->find_field(field))].first_column];
    };
    expect_swapped(stones.entity_index.data(), 4, 2);
    expect_swapped(column("mass"), 4, 2);
    expect_swapped(column("position"), 4, 6);
    expect_swapped(column("velocity"), 4, 2);
    expect_swapped(column("shape"), 1, 2);
    expect_swapped(column("target"), sizeof(Entity), 2);
    expect_swapped(column("label"), 1, 32);
    expect_swapped(column("kind"), 8, 2);
    expect_swapped(column("cell"), 2, 6);
    const BlobComponents& bodies = *blob->find_components(schema_of<Body>().id());
    expect_swapped(bodies.columns[0] + offsetof(Body, level), 1, 1);
    expect_swapped(bodies.columns[0] + offsetof(Body, energy), 8, 1);
    expect_swapped(bodies.columns[0] + offsetof(Body, owner), sizeof(Entity), 1);
    Body body;
    std::memcpy(static_cast<void*>(&body), bodies.columns[0], sizeof body);
    expect_swapped(blob->array(body.table, FieldType::kUint32).data(), 4, 3);
}

// req: D31
TEST(Endianness, the_loader_refuses_the_other_byte_order_and_says_what_to_do) {
    const Result<Blob> blob = Blob::load(sample_bytes({.big_endian = true}));
    ASSERT_FALSE(blob);
    EXPECT_NE(blob.message().find("other byte order"), std::string_view::npos) << blob.message();
    EXPECT_NE(blob.message().find("--endian little"), std::string_view::npos) << blob.message();
}

TEST(Endianness, damage_is_not_signed_anew) {
    std::vector<std::byte> bytes = sample_bytes({.big_endian = true});
    bytes[200] ^= std::byte(1);
    const Result<std::vector<std::byte>> swapped = swap_endianness(bytes);
    ASSERT_FALSE(swapped);
    EXPECT_NE(swapped.message().find("checksum"), std::string_view::npos);
}

}  // namespace
}  // namespace resource_test

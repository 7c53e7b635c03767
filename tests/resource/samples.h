#pragma once
// Components, blobs and a store that the tests of this room share.

#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/table/describe.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace resource_test {

using namespace shoal;

enum class Shape : std::uint8_t { kBox = 2, kSphere = 7 };
SHOAL_ENUM(Shape, (kBox, "box"), (kSphere, "sphere"))

struct Stone {
    float mass = 1;
    Vec3 position;
    Vec3 velocity;
    Shape shape = Shape::kBox;
    bool awake = true;
    Entity target;
    FixedString<16> label;
    StringId kind;
    BlobArray<Vec3> path;
    std::array<std::int16_t, 3> cell = {1, 2, 3};
};
SHOAL_COMPONENT(Stone, (mass, unit("kg"), range(0, 100)), (position, unit("m")), (velocity, split), shape, awake,
                target, label, kind, path, cell)

/// Whole, with padding, references and an array inside.
struct Body {
    std::uint8_t level = 3;
    double energy = 0.5;
    Entity owner;
    BlobArray<std::uint32_t> table;
};
SHOAL_COMPONENT((Body, whole, version(4)), level, energy, owner, table)

/// An entity may have several.
struct Note {
    std::int32_t number = 0;
};
SHOAL_COMPONENT((Note, many), number)

/// No fields.
struct Marker {};
SHOAL_COMPONENT((Marker, enableable))

inline constexpr EntityBits kNoReference = static_cast<EntityBits>(~EntityBits(0));

template <class T>
std::vector<std::byte> image_of(const T& component) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&component);
    return {bytes, bytes + sizeof component};
}

template <class T>
std::uint32_t add_type(BlobWriter& blob, std::int32_t spawn_order = 0) {
    return *blob.add_component_type(schema_of<T>(), spawn_order);
}

/// The entities of the document: parents {none, 0, 1, 1, 2} are A, B below A, C and D below B, E below C.
inline constexpr std::uint32_t kTreeParents[] = {kNoBlobEntity, 0, 1, 1, 2};

/// A small blob in which every kind of section and field occurs.
inline void fill_sample(BlobWriter& blob) {
    blob.set_name("levels/reef");
    const char* const names[] = {"a", "b", "c", "c", ""};
    for (std::uint32_t i = 0; i < 5; ++i)
        blob.add_entity({.parent = kTreeParents[i],
                         .guid = i == 3 ? 0 : hash_text(concat("guid", i)),
                         .name = names[i],
                         .source_file = i == 4 ? "" : "reef.sjson",
                         .source_line = i * 10});
    const std::uint32_t body = add_type<Body>(blob, 30), stone = add_type<Stone>(blob, 10);
    const std::uint32_t note = add_type<Note>(blob, 20), marker = add_type<Marker>(blob, 20);

    const Vec3 path[] = {{1, 2, 3}, {4, 5, 6}};
    const std::uint32_t table[] = {7, 8, 9};
    Stone s;
    s.target.id = 4;
    s.label = FixedString<16>("großer Stein");
    s.kind = *blob.add_text("granite");
    static_cast<BlobArrayBase&>(s.path) = blob.add_array(FieldType::kVec3, std::as_bytes(std::span(path)));
    s.position = {0.1f, -2, 3};
    s.velocity = {4, 5, 6};
    blob.add_component(stone, 2, image_of(s));
    Stone plain;
    plain.target.id = kNoReference;
    plain.shape = Shape::kSphere;
    blob.add_component(stone, 0, image_of(plain));

    std::vector<std::byte> padded(sizeof(Body), std::byte(0xCD));  // what lies between the fields is arbitrary
    Body b;
    b.owner.id = 1;
    static_cast<BlobArrayBase&>(b.table) = blob.add_array(FieldType::kUint32, std::as_bytes(std::span(table)));
    for (const Field& field : schema_of<Body>().fields())
        std::memcpy(padded.data() + field.struct_offset, image_of(b).data() + field.struct_offset, field.size);
    blob.add_component(body, 3, padded);

    for (const std::int32_t number : {11, 12, 13})
        blob.add_component(note, number == 12 ? 1 : 4, image_of(Note{number}));
    for (const std::uint32_t entity : {4, 0}) blob.add_component(marker, entity, image_of(Marker()));
    blob.add_kept_text(1, "light", "color = [1 1 1]");
    blob.add_kept_text(kNoBlobEntity, "editor", "zoom = 2");
    blob.add_dependency(DependencyKind::kSource, "reef.sjson");
    blob.add_dependency(DependencyKind::kMustNotExist, "coral.sjson");
}

inline std::vector<std::byte> sample_bytes(const BlobWriteOptions& options = {}) {
    BlobWriter blob;
    fill_sample(blob);
    return std::move(*blob.write(options));
}

/// The same blob, which also says what it was made from.
inline std::vector<std::byte> sample_bytes_with_origin(const BlobWriteOptions& options = {}) {
    BlobWriter blob;
    blob.add_dependency(DependencyKind::kSource, "reef.sjson", 0x0123456789ABCDEF);
    fill_sample(blob);
    blob.set_origin("shoal 9.8.7", 0xFEDCBA9876543210);
    blob.add_origin_type("stone", 77);
    blob.add_origin_type("moss", 0);
    return std::move(*blob.write(options));
}

/// Makes the checksum right again after a change.
inline void sign(std::span<std::byte> bytes) {
    const std::uint64_t checksum = hash_bytes(bytes.data() + 24, bytes.size() - 24);
    std::memcpy(bytes.data() + 16, &checksum, sizeof checksum);
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class T>
T get(std::span<const std::byte> bytes, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

/// Returns where the directory entry of a section lies, or 0.
inline std::size_t entry_of(std::span<const std::byte> bytes, BlobSectionKind kind) {
    for (std::uint32_t i = 0; i < get<std::uint32_t>(bytes, offsetof(BlobHeader, num_sections)); ++i) {
        const std::size_t entry = sizeof(BlobHeader) + i * sizeof(BlobSection);
        if (get<std::uint32_t>(bytes, entry) == static_cast<std::uint32_t>(kind)) return entry;
    }
    return 0;
}

/// Returns where a section starts.
inline std::size_t section_of(std::span<const std::byte> bytes, BlobSectionKind kind) {
    return static_cast<std::size_t>(get<std::uint64_t>(bytes, entry_of(bytes, kind) + offsetof(BlobSection, offset)));
}

/// Returns the struct image of a component, read from the columns of a blob or a batch.
inline std::vector<std::byte> gather(const Schema& schema, std::span<const std::byte* const> columns, std::size_t row) {
    std::vector<std::byte> image(schema.struct_bytes());
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const ColumnDefinition& column = schema.columns()[c];
        std::memcpy(image.data() + column.struct_offset, columns[c] + row * column.element_bytes, column.element_bytes);
    }
    return image;
}

}  // namespace resource_test

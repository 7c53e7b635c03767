#pragma once
// Builds a blob from entities, component types and components. Components are added one by one or as whole columns.
//
//     BlobWriter blob;
//     blob.set_name("levels/reef");
//     std::uint32_t root = blob.add_entity({.name = "reef"});
//     std::uint32_t stone = blob.add_entity({.parent = root, .guid = hash_text("43d2ce7f")});
//     Result<std::uint32_t> type = blob.add_component_type(schema_of<PointMass>());
//     blob.add_component(*type, stone, image);
//     Result<std::vector<std::byte>> bytes = blob.write();
//
// The same calls produce the same bytes on every machine. blob_format.h and docs/formats/blob.md describe the format.
// Thread: a writer may be used by one thread at a time.

#include "shoal/resource/detail/blob_format.h"
#include "shoal/store/store.h"

#include <string_view>
#include <vector>

namespace shoal {

struct BlobContent;

/// An entity in a blob. A zero or empty field is not set.
struct BlobEntity {
    std::uint32_t parent = kNoBlobEntity;  ///< an entity added earlier
    std::uint64_t guid = 0;                ///< hash of its GUID path, unique in a blob
    std::string_view name = {};            ///< need not be unique
    std::string_view source_file = {};
    std::uint32_t source_line = 0;  ///< 1-based
};

struct BlobWriteOptions {
    bool big_endian = false;
    /// Adds tables that list the rows of each entity's components, so that readers need not search for them.
    bool offset_tables = false;
};

/// Returns the schema's defaults in the form that blobs use, in which a null Entity field has all bits set.
SHOAL_API std::vector<std::byte> blob_default_image(const Schema& schema);

class BlobWriter {
public:
    SHOAL_API BlobWriter();
    SHOAL_API ~BlobWriter();
    BlobWriter(const BlobWriter&) = delete;
    BlobWriter& operator=(const BlobWriter&) = delete;

    /// Sets the name of the resource: its path without extension. This is required if the blob has arrays.
    SHOAL_API void set_name(std::string_view name);

    /// Adds an entity, and returns its index. Requires: the parent has already been added, and the strings are UTF-8.
    SHOAL_API std::uint32_t add_entity(const BlobEntity& entity);
    SHOAL_API std::uint32_t num_entities() const;

    /// Adds a component type, and returns its index. In the blob, component types are ordered by spawn order, then by
    /// name.
    /// Errors: the blob already has a component type with this name, or a field is opaque.
    SHOAL_API Result<std::uint32_t> add_component_type(const Schema& schema, std::int32_t spawn_order = 0);

    /// Reserves memory for a total of `count` components of a type. Requires: the component type exists.
    SHOAL_API void reserve_components(std::uint32_t type, std::size_t count);

    /// Adds a component given as a struct image. An Entity field holds an entity index, or has all bits set if it is
    /// null. Requires: the type and the entity exist, and the image has Schema::struct_bytes() bytes.
    SHOAL_API void add_component(std::uint32_t type, std::uint32_t entity_index, std::span<const std::byte> image);
    /// Adds many components, given as whole columns. Shape: one column per element of Schema::columns(), each with
    /// entity_index.size() elements.
    SHOAL_API void add_components(std::uint32_t type, std::span<const std::uint32_t> entity_index,
                                  std::span<const std::byte* const> columns);

    /// Sets the order of a type's components in the blob: the component at index i in the blob is the one that was
    /// added at index `order[i]`. If `order` is empty, the components are in the order in which they were added.
    /// Requires: `order` contains every component of the type exactly once.
    SHOAL_API void order_components(std::uint32_t type, std::vector<std::uint32_t> order);

    /// Adds a read-only array and returns the value for a field that refers to the array. write() fills in the resource
    /// and the final offset. Equal arrays are stored once and have the same value. Shape: the size of `values` is a
    /// multiple of field_type_bytes(element_type). Requires: a blob array can have this element type.
    SHOAL_API BlobArrayBase add_array(FieldType element_type, std::span<const std::byte> values);

    /// Returns the bytes of an added array. Lifetime: until the next array is added.
    SHOAL_API std::span<const std::byte> array(const BlobArrayBase& array, FieldType element_type) const;

    /// Stores a string in the blob, so that readers can look it up by its id. Errors: a different string has the same
    /// hash.
    SHOAL_API Result<StringId> add_text(std::string_view text);
    /// Returns the string that was added with this id, or an empty string. Lifetime: as long as the writer.
    SHOAL_API std::string_view text(StringId id) const;
    /// Stores the source text of an unknown component, or of unknown fields. kNoBlobEntity stands for the resource as a
    /// whole.
    SHOAL_API void add_kept_text(std::uint32_t entity_index, std::string_view component, std::string_view text);
    /// Adds a file that the blob was made from or that it needs. A file is stored once per kind and path. `hash` is the
    /// hash of the content that was read.
    SHOAL_API void add_dependency(DependencyKind kind, std::string_view path, std::uint64_t hash = 0);
    /// Records the compiler and the rules that the blob was made with. The blob then also stores the hashes of its
    /// dependencies.
    SHOAL_API void set_origin(std::string_view compiler, std::uint64_t rules);
    /// Adds a component type used in the source, and the hash of its schema (0 if it has no schema).
    SHOAL_API void add_origin_type(std::string_view name, std::uint64_t hash);

    /// Checks the blob as Blob::load() does, and returns its bytes. Errors: an entity has two components of a type that
    /// is not `many`, a bool is neither 0 nor 1, an entity index is invalid, two entities have the same GUID, a string
    /// is not UTF-8, or the blob has arrays but no resource name.
    SHOAL_API Result<std::vector<std::byte>> write(const BlobWriteOptions& options = {}) const;

private:
    BlobContent* content_;
};

/// Returns a copy of a blob with the other byte order. Swapping twice gives the original bytes. Works on blobs of
/// either byte order. Errors: the blob is too damaged to be read. The copy is not fully checked; load it before use.
SHOAL_API Result<std::vector<std::byte>> swap_endianness(std::span<const std::byte> bytes);

}  // namespace shoal

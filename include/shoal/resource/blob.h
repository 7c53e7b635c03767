#pragma once
// A compiled resource, used in place. Loading validates the whole blob once, so later reads need no checks: every index
// is in range, every string is UTF-8, and parents come before children.
//
//     Result<Blob> level = Blob::read(path);
//     if (!level) return report(level.status());
//     for (const BlobComponents& components : level->component_types()) count += components.count();
//
// The check takes time and memory linear in the size of the blob, regardless of its content. A blob never changes.
// Thread: any thread may read. Moving a blob does not move its bytes.

#include "shoal/base/detail/page_memory.h"
#include "shoal/resource/detail/blob_format.h"
#include "shoal/store/store.h"

#include <string>

namespace shoal {

/// All components of one type in a blob.
struct BlobComponents {
    ComponentId id;
    const Schema* schema = nullptr;
    std::int32_t spawn_order = 0;
    std::span<const std::uint32_t> entity_index;  ///< the owner of each component
    std::span<const std::byte* const> columns;    ///< one per column of schema->columns(), with a value per component
    std::size_t num_bytes = 0;                    ///< size of entity indices and columns, including gaps between them

    std::uint32_t count() const { return static_cast<std::uint32_t>(entity_index.size()); }
};

/// The source text of a component or field that the compiler did not know.
struct KeptText {
    std::uint32_t entity_index = kNoBlobEntity;  ///< kNoBlobEntity for the resource as a whole
    std::string_view component;
    std::string_view text;
};

class Blob {
public:
    /// Checks `bytes` and keeps a copy. Errors: the bytes are invalid. The message describes the problem and gives its
    /// offset.
    SHOAL_API static Result<Blob> load(std::span<const std::byte> bytes);
    /// Checks `bytes` and refers to them, or copies them if they do not start at an address that is a multiple of 64.
    /// Lifetime: the bytes must outlive the blob, and must not change.
    SHOAL_API static Result<Blob> view(std::span<const std::byte> bytes);
    /// Reads and checks a file. Errors: the file cannot be read, or load() fails. The message contains the path.
    SHOAL_API static Result<Blob> read(const std::string& path);

    SHOAL_API Blob(Blob&& other) noexcept;
    SHOAL_API Blob& operator=(Blob&& other) noexcept;
    SHOAL_API ~Blob();

    std::span<const std::byte> bytes() const { return bytes_; }
    const BlobHeader& header() const { return *reinterpret_cast<const BlobHeader*>(bytes_.data()); }
    std::string_view name() const { return string(header().name); }
    ResourceId id() const { return ResourceId(header().resource_id); }

    std::uint32_t num_entities() const { return header().num_entities; }
    std::uint32_t num_roots() const { return header().num_roots; }
    /// The parent of each entity, or kNoBlobEntity. A parent comes before its children.
    std::span<const std::uint32_t> parents() const { return parents_; }
    /// The schemas in the blob; each component type uses one of them.
    std::span<const Schema> schemas() const { return schemas_; }
    /// In spawn order.
    std::span<const BlobComponents> component_types() const { return component_types_; }
    /// Returns the components of a type, or nullptr if there are none.
    SHOAL_API const BlobComponents* find_components(ComponentId id) const;

    /// An entity's name, GUID-path hash, source file and source line. They are empty or zero if the blob does not have
    /// them. Requires: entity < num_entities().
    SHOAL_API std::string_view entity_name(std::uint32_t entity) const;
    SHOAL_API std::uint64_t guid(std::uint32_t entity) const;
    SHOAL_API std::string_view source_file(std::uint32_t entity) const;
    SHOAL_API std::uint32_t source_line(std::uint32_t entity) const;

    /// Returns the first entity with this name or GUID-path hash, or kNoBlobEntity. Cost: O(log entities).
    SHOAL_API std::uint32_t find_name(std::string_view name) const;
    SHOAL_API std::uint32_t find_guid(std::uint64_t guid) const;

    /// All entities, sorted by GUID or by name; entities without a GUID or name come first. Empty if the blob has no
    /// GUIDs or names.
    std::span<const std::uint32_t> entities_by_guid() const { return entities_by_guid_; }
    std::span<const std::uint32_t> entities_by_name() const { return entities_by_name_; }

    /// The texts of the blob's string ids, sorted by hash; see string().
    std::span<const BlobText> texts() const { return texts_; }
    /// Returns the text of a string id, or an empty string. Cost: O(log texts).
    SHOAL_API std::string_view text(StringId id) const;

    std::uint32_t num_kept_texts() const { return static_cast<std::uint32_t>(kept_texts_.size()); }
    SHOAL_API KeptText kept_text(std::uint32_t index) const;

    std::span<const BlobDependency> dependencies() const { return dependencies_; }
    /// These functions return how the blob was made (nullptr if unknown), the content hash of each dependency, and the
    /// component types used in the source.
    const BlobOrigin* origin() const { return origin_; }
    std::span<const std::uint64_t> dependency_hashes() const { return dependency_hashes_; }
    std::span<const BlobOriginType> origin_types() const { return origin_types_; }

    bool has_offset_tables() const { return !first_row_.empty(); }
    /// The rows of an entity's components, in spawn order. Requires: has_offset_tables().
    SHOAL_API std::span<const BlobRow> rows(std::uint32_t entity) const;

    /// Returns the bytes of a read-only array that a field of this blob refers to. Lifetime: as long as the blob.
    /// Requires: the value comes from this blob.
    SHOAL_API std::span<const std::byte> array(const BlobArrayBase& array, FieldType element_type) const;

    /// Returns a string by its index. Requires: the index comes from this blob.
    SHOAL_API std::string_view string(std::uint32_t index) const;

private:
    friend class BlobCheck;
    friend class BlobMigration;
    Blob() = default;
    static Result<Blob> own(PageRange memory, std::size_t num_bytes);

    std::span<const std::byte> bytes_;
    PageRange memory_;                                 // holds the bytes, if they are owned
    Array<Array<std::byte>> migrated_{Owner("blob")};  // columns of migrated components; see migration.h
    Array<Schema> schemas_{Owner("blob")};
    Array<BlobComponents> component_types_{Owner("blob")};
    Array<const std::byte*> columns_{Owner("blob")};  // columns of all component types
    // Views into the bytes; empty if the blob does not have the section.
    const BlobSection* strings_ = nullptr;
    std::span<const std::uint32_t> parents_;
    std::span<const BlobArrayEntry> arrays_;
    std::span<const std::uint64_t> guids_;
    std::span<const std::uint32_t> entities_by_guid_;
    std::span<const std::uint32_t> names_;
    std::span<const std::uint32_t> entities_by_name_;
    std::span<const BlobSource> sources_;
    std::span<const BlobText> texts_;
    std::span<const BlobKeptText> kept_texts_;
    std::span<const BlobDependency> dependencies_;
    const BlobOrigin* origin_ = nullptr;
    std::span<const std::uint64_t> dependency_hashes_;
    std::span<const BlobOriginType> origin_types_;
    std::span<const std::uint32_t> first_row_;
    std::span<const BlobRow> rows_;
};

}  // namespace shoal

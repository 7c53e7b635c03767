#pragma once
// The differences between two versions of a blob, which are the same for all copies.
//
//     entities       matched by GUID, or else by order                      stay, new, gone
//     components     matched by their entities                               added, removed
//     fields         of components that stay, by value                       a bit for each that differs
//     values         of `many` types, as lists                               the entities whose lists differ
//
// Columns with the same layout are compared as a whole. References are compared by their targets, and read-only arrays
// by their contents.

#include "shoal/base/detail/hash_map.h"
#include "shoal/resource/blob.h"

namespace shoal {

/// The components of one type in both versions, or nullptr for a version that does not have the type.
struct TypeChanges {
    const BlobComponents* before = nullptr;
    const BlobComponents* after = nullptr;
    const Schema* schema = nullptr;
};

/// A component of a kept entity. `fields` has a bit for each field in the schema. The bit is set if the field differs.
struct ChangedFields {
    std::uint32_t type, after_entity, before_row, after_row;
    std::uint64_t fields;
};

/// A component that a kept entity has in only one of the versions.
struct ChangedComponent {
    std::uint32_t type, after_entity, row;
};

/// A kept entity's values of a `many` type, as ranges of BlobChanges::list_rows().
struct ChangedList {
    std::uint32_t type, after_entity;
    std::uint32_t first_before, num_before;
    std::uint32_t first_after, num_after;
};

class BlobChanges {
public:
    /// Lifetime: the blobs must outlive this object. Requires: component types with the same name have the same layout.
    BlobChanges(const Blob& before, const Blob& after);
    BlobChanges(const BlobChanges&) = delete;
    BlobChanges& operator=(const BlobChanges&) = delete;

    /// For each entity of one version, the matching entity of the other version, or kNoBlobEntity if there is none.
    std::span<const std::uint32_t> after_of() const { return after_of_; }
    std::span<const std::uint32_t> before_of() const { return before_of_; }
    /// Entities of the newer version that the older version does not have, ascending.
    std::span<const std::uint32_t> new_entities() const { return new_entities_; }
    /// Entities of the older version that the newer version does not have, ascending.
    std::span<const std::uint32_t> gone_entities() const { return gone_entities_; }

    std::span<const TypeChanges> types() const { return types_; }
    std::span<const ChangedFields> fields() const { return fields_; }
    std::span<const ChangedComponent> added() const { return added_; }
    std::span<const ChangedComponent> removed() const { return removed_; }
    std::span<const ChangedList> lists() const { return lists_; }
    std::span<const std::uint32_t> list_rows() const { return list_rows_; }
    /// Whether all read-only arrays have the same offsets in both versions.
    bool arrays_stay() const { return arrays_stay_; }

    /// Whether a field has the same value in two components, one of each version.
    bool same_field(const TypeChanges& type, const Field& field, std::uint32_t before_row,
                    std::uint32_t after_row) const;

private:
    void match_entities();
    void match_without_guids();
    void match(std::uint32_t before, std::uint32_t after);
    void add_types();
    void compare(std::uint32_t type);
    void compare_rows(std::uint32_t type);
    void compare_run(std::uint32_t type, std::uint32_t before_row, std::uint32_t after_row, std::uint32_t count);
    void compare_row(std::uint32_t type, std::uint32_t before_row, std::uint32_t after_row);
    bool bytes_tell(const TypeChanges& type) const;
    bool are_bytes_equal(const TypeChanges& type, std::uint32_t before_row, std::uint32_t after_row,
                         std::uint32_t count) const;
    void compare_lists(std::uint32_t type);
    bool is_same_list(const ChangedList& list) const;
    bool same_value(const Field& field, const std::byte* before, const std::byte* after) const;

    const Blob& before_;
    const Blob& after_;
    bool arrays_stay_;
    bool all_stay_ = false;  // entity i of one version matches entity i of the other
    Array<std::uint32_t> after_of_{Owner("reload")}, before_of_{Owner("reload")};
    Array<std::uint32_t> new_entities_{Owner("reload")}, gone_entities_{Owner("reload")};
    Array<TypeChanges> types_{Owner("reload")};
    Array<ChangedFields> fields_{Owner("reload")};
    Array<ChangedComponent> added_{Owner("reload")}, removed_{Owner("reload")};
    Array<ChangedList> lists_{Owner("reload")};
    Array<std::uint32_t> list_rows_{Owner("reload")};
};

/// Finds the arrays in the newer version that have the same values as arrays in the older version.
class MovedArrays {
public:
    /// Lifetime: the blobs must outlive this object.
    MovedArrays(const Blob& before, const Blob& after);

    bool empty() const { return num_moved_ == 0; }
    /// Returns the array with the same values, or an empty one if there is none. Cost: O(1) if the calls are in the
    /// order of the arrays in the older version, otherwise O(log arrays).
    BlobArrayBase find(FieldType type, const BlobArrayBase& before);

private:
    std::span<const BlobArrayEntry> befores_;       // by offset
    Array<BlobArrayBase> afters_{Owner("reload")};  // by index in befores_
    std::size_t num_moved_ = 0, next_ = 0;          // next_ is the index after the last array found
};

/// Copies a field of a component from a blob. Shape: `value` has field.size bytes.
void read_blob_field(const BlobComponents& components, const Field& field, std::uint32_t row, std::byte* value);

/// For each entity with a component of the type, returns the nearest ancestor that also has one, or kNoBlobEntity.
/// Shape: num_entities() elements, which are kNoBlobEntity for entities without the component.
Array<std::uint32_t> parents_among(const Blob& blob, const BlobComponents* components);

}  // namespace shoal

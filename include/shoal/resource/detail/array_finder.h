#pragma once
// Finds read-only arrays in the blobs of a library. Values in rows may come from a file, so they are checked.
// Thread: the same as for const calls on the library.

#include "shoal/resource/library.h"
#include "shoal/table/detail/schema.h"

#include <span>
#include <string>

namespace shoal {

struct BlobArrayEntry;

class ArrayFinder {
public:
    explicit ArrayFinder(const ResourceLibrary& library) : library_(library) {}

    /// Whether a blob in the library has this array with elements of this type. An empty array counts as present.
    SHOAL_API bool has(const BlobArrayBase& array, FieldType element_type);
    /// Describes what is wrong with the last array that was looked up.
    SHOAL_API std::string problem(const Schema& component, const Field& field) const;

private:
    const ResourceLibrary& library_;
    const Blob* blob_ = nullptr;
    std::span<const BlobArrayEntry> arrays_;
};

/// Checks the arrays that struct images of a component type refer to. Errors: the library does not have one of the
/// arrays. If `library` is nullptr, nothing is checked.
SHOAL_API Status check_arrays(const ResourceLibrary* library, const Schema& schema, std::span<const std::byte> images);

}  // namespace shoal

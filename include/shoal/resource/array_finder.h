#pragma once
// Finds read-only arrays in the blobs of a library: what rows say of them may come from a file.
// Thread: const calls of the library.

#include "shoal/resource/library.h"
#include "shoal/table/schema.h"

#include <span>
#include <string>

namespace shoal {

struct BlobArrayEntry;

class ArrayFinder {
public:
    explicit ArrayFinder(const ResourceLibrary& library) : library_(library) {}

    /// Whether a blob of the library has an array there, of elements of this type; an empty array is always there.
    SHOAL_API bool has(const BlobArrayBase& array, FieldType element_type);
    /// Says what is wrong with the array that was looked for last.
    SHOAL_API std::string problem(const Schema& component, const Field& field) const;

private:
    const ResourceLibrary& library_;
    const Blob* blob_ = nullptr;
    std::span<const BlobArrayEntry> arrays_;
};

/// Errors: values in the structs of a component type refer to arrays that the library does not have. Without one there
/// is nothing to check.
SHOAL_API Status check_arrays(const ResourceLibrary* library, const Schema& schema, std::span<const std::byte> images);

}  // namespace shoal

#pragma once
// Converts row values to blob values: entity references become indices of blob entities, read-only arrays are copied,
// and string ids stay the same, but their texts are added to the blob. This is used when rows are saved; see
// world/entity_blob.h. Also finds the arrays that values in rows refer to.
// Thread: an object may be used by one thread at a time.

#include "shoal/base/detail/string_table.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/library.h"

namespace shoal {

/// The program's data that the conversion needs. A plain struct of references.
struct BlobValueSources {
    const StringTable* texts = nullptr;        ///< provides the texts of string ids
    const ResourceLibrary* library = nullptr;  ///< provides the read-only arrays
    /// Returns the index of an entity in the blob, or kNoBlobEntity.
    std::uint32_t (*blob_entity_of)(void* context, Entity entity) = nullptr;
    void* context = nullptr;
};

class BlobValues {
public:
    BlobValues(BlobWriter& writer, const BlobValueSources& sources) : writer_(writer), sources_(sources) {}

    /// Whether a field is stored differently in rows and in a blob.
    SHOAL_API bool needs_translation(const Field& field) const;
    /// Converts the values of a field in place. Shape: `first` is the field in the first row, and `stride` is the
    /// number of bytes from one row to the next.
    /// Errors: a read-only array is not in the library, or two strings have the same hash.
    SHOAL_API Status translate(const Schema& schema, const Field& field, std::byte* first, std::size_t stride,
                               std::size_t num_rows);
    /// The number of references to entities that are not in the blob. The blob has null in their place.
    std::uint64_t num_lost_references() const { return num_lost_references_; }

private:
    Status translate_value(const Schema& schema, const Field& field, std::byte* value);
    Status copy_array(const Schema& schema, const Field& field, std::byte* value);

    BlobWriter& writer_;
    BlobValueSources sources_;
    std::uint64_t num_lost_references_ = 0;
};

/// The bytes of a blob's section, or empty if the blob has no section of that kind. Lifetime: as long as the blob.
SHOAL_API std::span<const std::byte> section_bytes(const Blob& blob, BlobSectionKind kind);
/// A blob's read-only arrays, sorted by offset. Lifetime: as long as the blob.
SHOAL_API std::span<const BlobArrayEntry> arrays_of(const Blob& blob);
/// Returns the entry of `arrays` that contains all values of `array`, or nullptr. Cost: O(log arrays).
SHOAL_API const BlobArrayEntry* find_array(std::span<const BlobArrayEntry> arrays, const BlobArrayBase& array,
                                           FieldType element_type);

}  // namespace shoal

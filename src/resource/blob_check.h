#pragma once
// The check that a blob must pass before it is used, and helpers for code that reads raw blob bytes.

#include "shoal/base/text.h"
#include "shoal/resource/blob.h"

namespace shoal {

/// Returns a blob that refers to `bytes`. Errors: the blob is invalid; the message describes the problem and gives its
/// offset.
/// Requires: `bytes` is 8-byte aligned. Cost: linear in the size, regardless of the content.
Result<Blob> check_blob(std::span<const std::byte> bytes);

/// Returns the name of a section for messages, such as "parents", or "unknown" for kinds that later versions have
/// added.
std::string_view section_name(std::uint32_t kind);

/// Whether a read-only array can have elements of this type.
constexpr bool is_array_element(FieldType type) {
    return type >= FieldType::kBool && type <= FieldType::kResourceId && type != FieldType::kEnum;
}

/// Returns an error that gives the offset in the blob.
template <class... Parts>
Status blob_error(std::uint64_t offset, const Parts&... parts) {
    return Status::error(concat("at byte ", offset, " of the blob: ", parts...));
}

}  // namespace shoal

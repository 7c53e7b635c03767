#pragma once
// A saved state as a file: a header, the table of parts, and the elements of all parts, compressed in pieces of 1 MiB.
// docs/formats/save.md has the format.
// Thread: any; the executor's workers compress and decompress pieces.

#include "shoal/base/saved_state.h"
#include "shoal/job/executor.h"

namespace shoal {

/// What a file may grow to in memory, whatever it says of itself.
inline constexpr std::uint64_t kMaxSavedBytes = std::uint64_t(1) << 36;

/// What says in a header in which order the bytes of numbers lie.
inline constexpr std::uint32_t kByteOrderOfStates = 0x01020304;
/// Errors: `what`, which was read, was written in another byte order; the message has both.
Status check_byte_order(std::string_view what, std::uint32_t written);

/// Returns the bytes of a file. Errors: no memory.
Result<Array<std::byte>> write_state(const SavedState& state, Executor& executor);
/// Reads them. Errors: they are no saved state, of another version or byte order, damaged, or larger than `max_bytes`; the
/// message says what is wrong.
Result<SavedState> read_state(std::span<const std::byte> bytes, Executor& executor,
                              std::uint64_t max_bytes = kMaxSavedBytes);

}  // namespace shoal

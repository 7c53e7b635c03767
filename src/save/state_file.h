#pragma once
// A snapshot as a file: a header, the table of parts, and the elements of all parts, compressed in pieces of 1 MiB.
// docs/formats/save.md has the format.
// Thread: any; the executor's workers compress and decompress pieces.

#include "shoal/job/executor.h"
#include "shoal/state/snapshot.h"

namespace shoal {

/// What says in a header in which order the bytes of numbers lie.
inline constexpr std::uint32_t kByteOrderOfStates = 0x01020304;
/// Errors: `what`, which was read, was written in another byte order; the message has both. Or there is none: only then,
/// `is_damaged` stays true.
Status check_byte_order(std::string_view what, std::uint32_t written, bool& is_damaged);

/// Whether an error of Zstandard is that it has found no memory.
bool is_lack_of_memory(std::size_t error);

/// Returns the bytes of a file. Errors: no memory.
Result<Array<std::byte>> write_state(const Snapshot& state, Executor& executor);
/// Reads them. Errors: they are no snapshot, cut short, damaged, of another version or byte order, or take more than
/// `max_bytes` in memory (0: max_snapshot_bytes()), or there is no memory; the message says which. `is_damaged` is told
/// whether it is one of the first three: no other program can read these bytes either, nor can this one later.
Result<Snapshot> read_state(std::span<const std::byte> bytes, Executor& executor, std::uint64_t max_bytes = 0,
                            bool* is_damaged = nullptr);
/// Returns what read_state() would take in memory if the bytes are sound, of which it looks at the header only; 0 if it is cut.
std::uint64_t unpacked_bytes(std::span<const std::byte> bytes);

}  // namespace shoal

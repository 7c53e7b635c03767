#pragma once
// A snapshot as a file: a header, the table of parts, and the elements of all parts, compressed in pieces of 1 MiB.
// docs/formats/save.md describes the format.
// Thread: any; the executor's workers compress and decompress pieces.

#include "shoal/job/executor.h"
#include "shoal/state/snapshot.h"

namespace shoal {

/// A number in file headers that shows their byte order.
inline constexpr std::uint32_t kByteOrderOfStates = 0x01020304;
/// Checks the byte order of `what`. Errors: the byte order is invalid, or differs from the native one (the message
/// contains both). On error, sets `is_damaged` to whether the byte order is invalid.
Status check_byte_order(std::string_view what, std::uint32_t written, bool& is_damaged);

/// Whether a Zstandard error means that memory has run out.
bool is_lack_of_memory(std::size_t error);

/// Writes a snapshot as the bytes of a file. Errors: memory has run out.
Result<Array<std::byte>> write_state(const Snapshot& state, Executor& executor);
/// Reads the bytes of a file. Errors: the bytes are not a snapshot, are cut short, are damaged, have a different
/// version or byte order, or take more than `max_bytes` in memory, or memory has run out. The message describes the
/// problem. If `max_bytes` is 0, max_snapshot_bytes() is the limit. `is_damaged` is set to true for the first three
/// errors, which mean that no program can read the bytes.
Result<Snapshot> read_state(std::span<const std::byte> bytes, Executor& executor, std::uint64_t max_bytes = 0,
                            bool* is_damaged = nullptr);
/// Returns how much memory read_state() would take if the bytes are valid. Reads only the header. Returns 0 if the
/// header is cut short.
std::uint64_t unpacked_bytes(std::span<const std::byte> bytes);

}  // namespace shoal

#pragma once
// A snapshot as a file: a header, the table of parts, and the elements of all parts, compressed in pieces of 1 MiB.
// docs/formats/save.md has the format.
// Thread: any; the executor's workers compress and decompress pieces.

#include "shoal/job/executor.h"
#include "shoal/state/snapshot.h"

namespace shoal {

/// A number in headers whose bytes show the byte order of the file.
inline constexpr std::uint32_t kByteOrderOfStates = 0x01020304;
/// Checks the byte order of `what`. Errors: it was written in another byte order (the message names both), or has no
/// valid byte order. `is_damaged` stays true only in the second case.
Status check_byte_order(std::string_view what, std::uint32_t written, bool& is_damaged);

/// Whether an error of Zstandard means that memory ran out.
bool is_lack_of_memory(std::size_t error);

/// Returns a snapshot as the bytes of a file. Errors: memory ran out.
Result<Array<std::byte>> write_state(const Snapshot& state, Executor& executor);
/// Reads the bytes of a file. Errors: the bytes are not a snapshot, are cut short or damaged, have another version or
/// byte order, or take more than `max_bytes` in memory (0: max_snapshot_bytes()); memory ran out. The message says
/// which. `is_damaged` is set to true for the first three errors, after which no program can ever read these bytes.
Result<Snapshot> read_state(std::span<const std::byte> bytes, Executor& executor, std::uint64_t max_bytes = 0,
                            bool* is_damaged = nullptr);
/// Returns the memory that read_state() would take if the bytes are valid. Reads only the header; returns 0 if the
/// header is cut short.
std::uint64_t unpacked_bytes(std::span<const std::byte> bytes);

}  // namespace shoal

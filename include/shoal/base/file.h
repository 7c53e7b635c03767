#pragma once
// Whole files, read and written. Writing is atomic: a temporary file beside the target is written, flushed to disk
// and renamed, so that a reader, or a crash, sees the old file or the new one and nothing between.

#include "shoal/base/page_memory.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

/// Reads a regular file into memory. Errors: missing, unreadable, a directory, larger than `max_bytes`; each message
/// names the path and the reason.
SHOAL_API Result<std::string> read_file(const std::string& path, std::size_t max_bytes = std::size_t(1) << 40);

/// Reads a regular file into pages of its own, which the caller releases. Bytes past `*num_bytes` are zero.
/// Errors: those of read_file, and no memory.
SHOAL_API Result<PageRange> read_file_pages(const std::string& path, std::size_t* num_bytes,
                                            std::size_t max_bytes = std::size_t(1) << 40);

/// Writes a whole file. Errors: the target keeps what it had, and no temporary file is left behind.
SHOAL_API Status write_file(const std::string& path, std::span<const std::byte> bytes);
SHOAL_API Status write_file(const std::string& path, std::string_view text);

SHOAL_API bool is_file(const std::string& path);
SHOAL_API bool is_directory(const std::string& path);
/// Whether the path leads to anything, readable or not: a link to nothing, and what one may not look at, count.
SHOAL_API bool is_anything(const std::string& path);

}  // namespace shoal

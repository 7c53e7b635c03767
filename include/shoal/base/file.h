#pragma once
// Reads and writes whole files. A write is atomic: it fills a temporary file beside the target, flushes it to disk and
// renames it. Readers see either the old file or the new one, even after a crash.
// Thread: any thread; two threads must not write the same file.

#include "shoal/base/page_memory.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

/// Reads a regular file into memory.
/// Errors: the file is missing, unreadable, not a regular file, or larger than `max_bytes`. The message names the path
/// and the reason.
SHOAL_API Result<std::string> read_file(const std::string& path, std::size_t max_bytes = std::size_t(1) << 40);

/// Reads a regular file into pages of its own, which the caller releases. Bytes past `*num_bytes` are zero.
/// Errors: those of read_file(); out of memory.
SHOAL_API Result<PageRange> read_file_pages(const std::string& path, std::size_t* num_bytes,
                                            std::size_t max_bytes = std::size_t(1) << 40);

/// Writes a whole file. Errors: the target is unchanged, and no temporary file is left behind.
SHOAL_API Status write_file(const std::string& path, std::span<const std::byte> bytes);
SHOAL_API Status write_file(const std::string& path, std::string_view text);

SHOAL_API bool is_file(const std::string& path);
SHOAL_API bool is_directory(const std::string& path);
/// Returns whether something exists at `path`. A dangling link counts, and so does anything in a folder that may not be
/// read.
SHOAL_API bool path_exists(const std::string& path);

}  // namespace shoal

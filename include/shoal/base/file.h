#pragma once
// Reads and writes whole files. A write is atomic: it fills a temporary file beside the target, flushes it to disk and
// renames it. Readers see either the old file or the new one, even after a crash. Only regular files with write
// permission are replaced. If the path is a link, the file that it points to is replaced. Thread: any thread; two
// threads must not write the same file.

#include "shoal/base/detail/page_memory.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

/// Reads a regular file into memory. Errors: the file is missing, unreadable, not a regular file, or larger than
/// `max_bytes`. The message names the path and the reason.
SHOAL_API Result<std::string> read_file(const std::string& path, std::size_t max_bytes = std::size_t(1) << 40);

/// Reads a regular file into new pages, which the caller must release. Bytes past `*num_bytes` are zero.
/// Errors: as for read_file(); out of memory.
SHOAL_API Result<PageRange> read_file_pages(const std::string& path, std::size_t* num_bytes,
                                            std::size_t max_bytes = std::size_t(1) << 40);

/// Writes a whole file. The new file gets the permissions of the old one, and its owner if that is allowed.
/// Errors: the target is a folder, a device, a pipe or a socket, or is read-only (an error even for root); the write
/// fails, for example because the disk is full. On error, the target is unchanged, and no temporary file is left
/// behind.
SHOAL_API Status write_file(const std::string& path, std::span<const std::byte> bytes);
SHOAL_API Status write_file(const std::string& path, std::string_view text);
/// Returns the error that write_file() would return, except for errors that occur only during the write.
SHOAL_API Status check_writable(const std::string& path);

/// Removes the temporary files of writes in progress, and blocks these writes and all later ones forever. A program
/// calls it before it ends because of a signal. Thread: any, but not from a signal handler; wait for the signal with
/// sigwait().
SHOAL_API void remove_temporary_files();

SHOAL_API bool is_file(const std::string& path);
SHOAL_API bool is_directory(const std::string& path);
/// Returns whether something exists at `path`, even if it is a dangling link. Returns true for any path in a folder
/// that the program has no permission to search.
SHOAL_API bool path_exists(const std::string& path);

/// The metadata of a regular file, without its content. When the content changes, the stamp changes too, unless the
/// content changes twice within one time step of the file system.
struct FileStamp {
    std::uint64_t num_bytes = 0, device = 0, inode = 0;  ///< 0: no stamp
    std::int64_t modified_ns = 0;                        ///< when the content changed; programs can set it
    std::int64_t changed_ns = 0;                         ///< when content, name or permissions changed; cannot be set

    explicit operator bool() const { return inode != 0; }
    friend bool operator==(const FileStamp&, const FileStamp&) = default;

    /// Returns whether the last change is old enough that any change after `wall_ns` yields a new stamp. File systems
    /// count time in steps of up to two seconds.
    SHOAL_API bool is_older_than(std::int64_t wall_ns) const;
};
/// Returns the stamp of a regular file, or an empty stamp for anything else. Follows links.
SHOAL_API FileStamp file_stamp(const std::string& path);

}  // namespace shoal

#pragma once
// A file that only grows, for logs. Flushed data survives a power failure. Unflushed data survives the end of the
// program, but not always a power failure.
// Thread: one thread at a time.

#include "shoal/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shoal {

class AppendFile {
public:
    AppendFile() = default;
    SHOAL_API AppendFile(AppendFile&& other) noexcept;
    SHOAL_API AppendFile& operator=(AppendFile&& other) noexcept;
    SHOAL_API ~AppendFile();

    /// Creates an empty file. Errors: a file with that name exists; the file cannot be created. The message names the
    /// path.
    SHOAL_API static Result<AppendFile> create(const std::string& path);
    /// Replaces a file, like write_file(). The new file is opened before it replaces the old one.
    /// Errors: as for write_file(); the file cannot be opened. On error, the old file is unchanged.
    SHOAL_API static Result<AppendFile> replace(const std::string& path, std::span<const std::byte> bytes);

    bool is_open() const { return file_ >= 0; }
    const std::string& path() const { return path_; }
    std::uint64_t num_bytes() const { return num_bytes_; }

    /// Appends bytes. Errors: the write fails, for example because the disk is full. A partial write is undone if
    /// possible. Requires: is_open().
    SHOAL_API Status append(std::span<const std::byte> bytes);
    /// Waits until all appended data is on disk. Requires: is_open().
    SHOAL_API Status flush();

private:
    std::string path_;
    int file_ = -1;
    std::uint64_t num_bytes_ = 0;
};

}  // namespace shoal

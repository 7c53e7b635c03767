#pragma once
// A file that only grows, for logs. What was appended and flushed is there after a crash; what was appended and not
// flushed is there after the end of the program, but perhaps not after a power failure.
// Thread: one at a time.

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

    /// Makes an empty file. Errors: there is one of that name; it cannot be made. The message names the path.
    SHOAL_API static Result<AppendFile> create(const std::string& path);
    /// Replaces a file by these bytes, as write_file() does, and opens it before the older one goes. Errors: those; it
    /// cannot be opened. An older file is unchanged then.
    SHOAL_API static Result<AppendFile> replace(const std::string& path, std::span<const std::byte> bytes);

    bool is_open() const { return file_ >= 0; }
    const std::string& path() const { return path_; }
    std::uint64_t num_bytes() const { return num_bytes_; }

    /// Appends bytes. Errors: the disk is full, ...: what was written of them is cut off again, if the system can.
    /// Requires: is_open().
    SHOAL_API Status append(std::span<const std::byte> bytes);
    /// Waits until all that was appended is on the disk. Requires: is_open().
    SHOAL_API Status flush();

private:
    std::string path_;
    int file_ = -1;
    std::uint64_t num_bytes_ = 0;
};

}  // namespace shoal

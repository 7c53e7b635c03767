#pragma once
// Creates, lists and locks folders in which a program keeps several files.
// Thread: any thread.

#include "shoal/base/status.h"

#include <string>
#include <vector>

namespace shoal {

/// Creates a folder if it is missing, and flushes its name to disk if the parent folder allows it. Errors: the parent
/// is missing; there is no permission; something other than a folder has that name.
SHOAL_API Status make_folder(const std::string& path);
/// Returns the names of the files and folders in a folder, in alphabetical order. Errors: there is no such folder;
/// there is no permission to read it.
SHOAL_API Result<std::vector<std::string>> list_folder(const std::string& path);
/// Flushes a folder's list of names to disk, so that creating and removing files survives a power failure. Errors:
/// there is no permission to read the folder; the disk fails.
SHOAL_API Status flush_folder(const std::string& path);
/// Removes a file. A missing file is not an error. Errors: the file cannot be removed.
SHOAL_API Status remove_file(const std::string& path);

/// A file that only one holder at a time can lock. The lock is released when the holder is destroyed or the program
/// ends or crashes. The file is not removed.
class FileLock {
public:
    FileLock() = default;
    FileLock(FileLock&& other) noexcept : file_(other.file_) { other.file_ = -1; }
    SHOAL_API FileLock& operator=(FileLock&& other) noexcept;
    SHOAL_API ~FileLock();

    /// Creates the file if it is missing. Errors: another holder has the lock; the file cannot be created.
    SHOAL_API static Result<FileLock> take(const std::string& path);
    bool is_held() const { return file_ >= 0; }

private:
    int file_ = -1;
};

}  // namespace shoal

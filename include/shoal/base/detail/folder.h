#pragma once
// Folders in which a program keeps several files.
// Thread: any thread.

#include "shoal/base/status.h"

#include <string>
#include <vector>

namespace shoal {

/// Creates a folder if there is none, and flushes its name to the disk if its parent allows that. Errors: its parent is
/// missing; the folder may not be created; something else has that name.
SHOAL_API Status make_folder(const std::string& path);
/// Returns the names of the files and folders in a folder, in alphabetical order. Errors: there is no such folder; the
/// folder may not be read.
SHOAL_API Result<std::vector<std::string>> list_folder(const std::string& path);
/// Waits until the names in a folder are on the disk: new files are there, and removed files are gone. Errors: the
/// folder may not be read; the disk fails.
SHOAL_API Status flush_folder(const std::string& path);
/// Removes a file. Errors: the file cannot be removed. A missing file is not an error.
SHOAL_API Status remove_file(const std::string& path);

/// A file that only one holder at a time can lock. The lock ends with the holder or with the program, however the
/// program ends. The file stays.
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

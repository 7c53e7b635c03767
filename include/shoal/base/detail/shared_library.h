#pragma once
// A shared library that is opened while the program runs. A copy of the file is opened, so the file may be replaced at
// any time, and opening it again loads the new content; without the copy, the system would return the library that is
// already open. Thread: one thread at a time.

#include "shoal/base/status.h"

#include <string>

namespace shoal {

class SharedLibrary {
public:
    SharedLibrary() = default;
    /// Opens a file; its symbols are for find() only. The copy is beside the file while it is opened, or among the
    /// temporary files. Errors: the file cannot be read; it is not a shared library; a symbol that it needs is missing;
    /// the system makes it share variables with a version that was opened before. The message says why, without the
    /// path.
    SHOAL_API static Result<SharedLibrary> open(const std::string& path);
    SharedLibrary(SharedLibrary&& other) noexcept : library_(other.library_) { other.library_ = nullptr; }
    SharedLibrary& operator=(SharedLibrary&& other) noexcept { return std::swap(library_, other.library_), *this; }
    SHOAL_API ~SharedLibrary();

    /// Returns the address of an exported symbol, or nullptr. Lifetime: the library's.
    SHOAL_API void* find(const char* name) const;

private:
    void* library_ = nullptr;
};

}  // namespace shoal

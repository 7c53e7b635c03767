#pragma once
// A shared library that is opened while the program is running. It opens a copy of the file, so the file may be
// replaced at any time and then opened again. Without the copy, the system would return the library that is already
// open. Thread: one thread at a time.

#include "shoal/base/status.h"

#include <string>

namespace shoal {

class SharedLibrary {
public:
    SharedLibrary() = default;
    /// Opens a file. Only find() sees its symbols; other libraries do not. During the call, the copy is next to the
    /// file or in the folder for temporary files. Errors: the file cannot be read; it is not a shared library; it needs
    /// a symbol that is missing; the system would make it share variables with a version that was opened earlier. The
    /// message gives the reason, without the path.
    SHOAL_API static Result<SharedLibrary> open(const std::string& path);
    SharedLibrary(SharedLibrary&& other) noexcept : library_(other.library_) { other.library_ = nullptr; }
    SharedLibrary& operator=(SharedLibrary&& other) noexcept { return std::swap(library_, other.library_), *this; }
    SHOAL_API ~SharedLibrary();

    /// Returns the address of an exported symbol, or nullptr. Lifetime: until this library is closed.
    SHOAL_API void* find(const char* name) const;

private:
    void* library_ = nullptr;
};

}  // namespace shoal

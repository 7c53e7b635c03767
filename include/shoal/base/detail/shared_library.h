#pragma once
// A shared library that is opened while the program runs. What is opened is a copy, so the file may be replaced
// meanwhile, and opening it again finds what it has become; the system would give the library that is open already.
// Thread: one thread at a time.

#include "shoal/base/status.h"

#include <string>

namespace shoal {

class SharedLibrary {
public:
    SharedLibrary() = default;
    /// Opens a file; its symbols are for find() only. The copy lies beside the file while it is opened, or among the
    /// temporary files. Errors: the file cannot be read, it is no shared library, a symbol that it needs is missing, or
    /// the system gives it variables of a version that was opened before; the message says why, without the path.
    SHOAL_API static Result<SharedLibrary> open(const std::string& path);
    SharedLibrary(SharedLibrary&& other) noexcept : library_(other.library_) { other.library_ = nullptr; }
    SharedLibrary& operator=(SharedLibrary&& other) noexcept { return std::swap(library_, other.library_), *this; }
    SHOAL_API ~SharedLibrary();

    /// Returns the address of what it exports by that name, or nullptr. Lifetime: that of the library.
    SHOAL_API void* find(const char* name) const;

private:
    void* library_ = nullptr;
};

}  // namespace shoal

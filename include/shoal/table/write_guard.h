#pragma once
// Finds writes that a pass has not declared, in checked builds: a table asks the guard of the writing thread, if there
// is one, before a column is marked as written; so do other objects that passes share.
// Thread: each thread has its own guard; a guard is asked from several threads at once.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

class Table;

class WriteGuard {
public:
    /// Ends the program when the column may not be written now.
    virtual void require(const Table& table, std::uint32_t column) const = 0;
    /// The same for an object that is no store, called `what` in the message.
    virtual void require(const void* object, const char* what) const = 0;

protected:
    ~WriteGuard() = default;
};

/// Sets the calling thread's guard, or removes it with nullptr, and returns the previous one.
SHOAL_API const WriteGuard* set_write_guard(const WriteGuard* guard);

/// Asks the calling thread's guard, if there is one.
SHOAL_API void ask_write_guard(const Table& table, std::uint32_t column);
SHOAL_API void ask_write_guard(const void* object, const char* what);

}  // namespace shoal

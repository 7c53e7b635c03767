#pragma once
// In checked builds, finds reads and writes that a pass has not declared. A table asks the calling thread's guard, if
// any, before it marks a column as written. Managers, databases, field paths and other objects shared by passes ask the
// guard before they are read.
// Thread: each thread has its own guard; several threads may use the same guard.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

class Table;

class AccessGuard {
public:
    /// Ends the program if the column must not be written now.
    virtual void require_write(const Table& table, std::uint32_t column) const = 0;
    /// Like the function above, but for an object that is not a store; `what` is its name in the message.
    virtual void require_write(const void* object, const char* what) const = 0;
    /// Ends the program if the column or the object must not be read now.
    virtual void require_read(const Table& table, std::uint32_t column) const = 0;
    virtual void require_read(const void* object, const char* what) const = 0;

protected:
    ~AccessGuard() = default;
};

/// Sets the calling thread's guard, or removes it if `guard` is null. Returns the previous guard.
SHOAL_API const AccessGuard* set_access_guard(const AccessGuard* guard);

/// Asks the calling thread's guard, if there is one.
SHOAL_API void ask_write_guard(const Table& table, std::uint32_t column);
SHOAL_API void ask_write_guard(const void* object, const char* what);
SHOAL_API void ask_read_guard(const Table& table, std::uint32_t column);
SHOAL_API void ask_read_guard(const void* object, const char* what);

}  // namespace shoal

#pragma once
// Finds undeclared reads and writes of a pass, in checked builds. A table asks the calling thread's guard, if any,
// before it marks a column as written. Managers, databases, fields by name and other objects that passes share ask it
// before they read.
// Thread: each thread has its own guard; several threads may use a guard at once.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

class Table;

class AccessGuard {
public:
    /// Ends the program if the column may not be written now.
    virtual void require_write(const Table& table, std::uint32_t column) const = 0;
    /// The same for an object that is not a store; `what` names it in the message.
    virtual void require_write(const void* object, const char* what) const = 0;
    /// The same for reading.
    virtual void require_read(const Table& table, std::uint32_t column) const = 0;
    virtual void require_read(const void* object, const char* what) const = 0;

protected:
    ~AccessGuard() = default;
};

/// Sets the calling thread's guard, or removes it with nullptr, and returns the previous one.
SHOAL_API const AccessGuard* set_access_guard(const AccessGuard* guard);

/// Asks the calling thread's guard, if there is one.
SHOAL_API void ask_write_guard(const Table& table, std::uint32_t column);
SHOAL_API void ask_write_guard(const void* object, const char* what);
SHOAL_API void ask_read_guard(const Table& table, std::uint32_t column);
SHOAL_API void ask_read_guard(const void* object, const char* what);

}  // namespace shoal

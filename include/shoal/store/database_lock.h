#pragma once
// Keeps the rows of a database where they are while a loop runs over them.

#include "shoal/store/database.h"

namespace shoal::inline SHOAL_ABI {

/// Keeps the rows of a database where they are: while it lives, structural calls end the program.
/// Thread: any; locks may lie within each other and side by side.
class DatabaseLock {
public:
    explicit DatabaseLock(Database& database) : database_(database) {
        __atomic_fetch_add(&database_.num_locks_, 1u, __ATOMIC_RELAXED);
    }
    DatabaseLock(const DatabaseLock&) = delete;
    DatabaseLock& operator=(const DatabaseLock&) = delete;
    ~DatabaseLock() { __atomic_fetch_sub(&database_.num_locks_, 1u, __ATOMIC_RELAXED); }

private:
    Database& database_;
};

}  // namespace shoal::inline SHOAL_ABI

#pragma once
// Keeps the rows of a database in place while a loop runs over them.

#include "shoal/database/database.h"

namespace shoal {

/// Keeps the rows of a database in place: while a lock exists, structural calls end the program.
/// Thread: any; locks may nest and overlap.
class DatabaseLock {
public:
    explicit DatabaseLock(Database& database) : DatabaseLock(&database) {}
    /// nullptr: locks nothing.
    explicit DatabaseLock(Database* database) : database_(database) {
        if (database_ != nullptr) database_->hold_rows(true);
    }
    DatabaseLock(const DatabaseLock&) = delete;
    DatabaseLock& operator=(const DatabaseLock&) = delete;
    ~DatabaseLock() {
        if (database_ != nullptr) database_->hold_rows(false);
    }

private:
    Database* database_;
};

}  // namespace shoal

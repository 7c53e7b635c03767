#pragma once
// The journal that a database keeps. See shoal/database/journal.h.
// Thread: the structural thread of the database.

#include "shoal/database/journal.h"

namespace shoal {

class JournalKeeper {
public:
    /// Changes with `stamp` and later will be in it.
    JournalKeeper(std::size_t max_changes, std::uint64_t stamp) : max_changes_(max_changes), complete_from_(stamp) {}

    /// Takes over the changes of a table.
    void collect(DatabaseTable& table, std::uint64_t stamp);
    /// Forgets the oldest stamps until at most `max_changes` are left.
    void trim();
    Journal since(std::uint64_t stamp) const;

private:
    std::size_t max_changes_;
    std::uint64_t complete_from_;
    std::size_t begin_ = 0;
    Array<JournalEntry> entries_{Owner("journal")};  // from begin_ on, by stamp
};

}  // namespace shoal

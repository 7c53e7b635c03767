#pragma once
// What has changed places in a database, for those who keep something beside it: an index, a renderer, a replica.
//
//     sea.keep_journal(100'000);
//     std::uint64_t seen = world.stamp();                         // and the index is made from all rows
//     world.step(dt);
//     const Journal journal = sea.journal(seen);
//     if (!journal.is_complete) rebuild();                        // too much has changed since
//     for (const JournalEntry& entry : journal.entries) {
//         const DatabaseTable* table = sea.all_tables()[entry.table];
//         if (entry.change.kind == StructuralChange::Kind::kRemoved) {
//             if (!sea.has_row(entry.change.entity)) index.erase(entry.change.entity);
//         } else if (table != nullptr) {
//             for (row in entry.change.rows, and below table->num_rows()) index[table->entities()[row]] = {table, row};
//         }
//     }
//     seen = world.stamp();
//
//     stamp 7 | table 3: rows 4-9 added | table 1: row 2 removed | table 1: row 8 moved to 2 | stamp 8 | ...
//
// It is a view of the tables' lists of structural changes, collected when the database settles. An entry names places,
// not what is there: who has them now, the table says, and whoever has read all entries knows where everybody is, in
// whatever order the tables come. An entity that goes to another table is removed from one and added to the other. A
// table whose number is free, or another's, is empty as far as older entries are concerned. Toggled component types
// move nobody and are not in it: their blocks count as written (see Query::changed_since).
// Bounded: when there are more entries than asked for, the oldest settles are forgotten, a whole one at a time.
// Thread: as for the database's const calls.

#include "shoal/database/database.h"

namespace shoal {

struct JournalEntry {
    std::uint64_t stamp = 0;  ///< of the database when it happened: World::stamp() before the settle
    std::uint32_t table = 0;  ///< index into Database::all_tables()
    StructuralChange change;
};

/// The changes since a stamp, itself included. Lifetime: until the next settle.
struct Journal {
    bool is_complete = false;  ///< false: older changes were forgotten, or none were kept
    std::span<const JournalEntry> entries;
};

}  // namespace shoal

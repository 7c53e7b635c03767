#pragma once
// Which rows of a database were added, removed and moved, for code that mirrors it: an index, a renderer, a replica.
//
//     sea.keep_journal(100'000);
//     std::uint64_t seen = world.stamp();  // and the index is made from all rows
//     world.step(dt);
//     const Journal journal = sea.journal(seen);
//     if (!journal.is_complete) rebuild();  // too much has changed since
//     for (const JournalEntry& entry : journal.entries) {
//         const DatabaseTable* table = sea.all_tables()[entry.table];
//         if (entry.change.kind == StructuralChange::Kind::kRemoved) {
//             if (!sea.has_row(entry.change.entity)) index.erase(entry.change.entity);
//         } else if (table != nullptr) {
//             const RowRange rows = entry.change.rows;
//             for (std::uint32_t row = rows.begin; row < std::min(rows.end, table->num_rows()); ++row)
//                 index[table->entities()[row]] = {table, row};
//         }
//     }
//     seen = world.stamp();
//
//     stamp 7 | table 3: rows 4-9 added | table 1: row 2 removed | table 1: row 8 moved to 2 | stamp 8 | ...
//
// The database collects the tables' lists of structural changes when it settles. An entry names rows, not their
// entities: the table says which entities own the rows now. After all entries were read, in any order of the tables,
// the place of every entity is known. An entity that goes to another table is removed from one and added to the other.
// For older entries, a table whose number is free, or was used again, counts as empty. Switching a toggled component
// moves no row and is not in the journal: its block counts as written (see changed_since() of queries). The journal is
// bounded: when it holds more entries than asked for, the oldest settles are dropped as a whole.
// Thread: as for the database's const calls.

#include "shoal/database/database.h"

namespace shoal {

struct JournalEntry {
    std::uint64_t stamp = 0;  ///< of the database when it happened: World::stamp() before the settle
    std::uint32_t table = 0;  ///< index into Database::all_tables()
    StructuralChange change;
};

/// The changes since a stamp, which is included. Lifetime: until the next settle.
struct Journal {
    bool is_complete = false;  ///< false: older changes were forgotten, or none were kept
    std::span<const JournalEntry> entries;
};

}  // namespace shoal

#pragma once
// The parts of a saved database that other code also reads, to convert or show snapshots.
//
//     components     the names of component types, one per line; their order numbers them below
//     archetypes     for each: how many component types it has, then their numbers
//     tables         a SavedTable for each table
//     table/N        the rows of table number N, in the schema of its archetype: see Schema::combine() and saved_rows.h
//     table/N/on/T   a bit per row for an enableable component type T
//     further/T      rows of a `many` component type T, after the first value of each entity
//     commands       the commands that wait for the database to settle: see command/detail/saved_commands.h
//
// Thread: any.

#include "shoal/store/detail/zone.h"

namespace shoal {

/// A saved table of a database.
struct SavedTable {
    std::uint32_t number, archetype;
    Zone zone;
    std::uint32_t empty_visits;
};

}  // namespace shoal

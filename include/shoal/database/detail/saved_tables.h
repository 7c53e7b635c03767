#pragma once
// The parts of a database in a snapshot that others than the database read: those who convert or show what was saved.
//
//     components     the names of component types, a line each; their numbers in what follows
//     archetypes     for each: how many component types it has, then their numbers
//     tables         a SavedTable each
//     table/N        the rows of table number N, whose schema is that of its archetype: see Schema::combine() and saved_rows.h
//     table/N/on/T   a bit per row for an enableable component type T
//     further/T      rows of a `many` component type T, after the first value of each entity
//     commands       what waits for the database to settle: see command/detail/saved_commands.h
//
// Thread: any.

#include "shoal/store/detail/zone.h"

namespace shoal {

/// A table of a database as it is saved.
struct SavedTable {
    std::uint32_t number, archetype;
    Zone zone;
    std::uint32_t empty_visits;
};

}  // namespace shoal

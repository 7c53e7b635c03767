#pragma once
// The journal of a world: which entities have gained or lost components of which type, for code that asks when it has
// time, such as an index, a renderer or a replica.
//
//     world.observers().keep_journal(100'000);
//     std::uint64_t seen = world.stamp();  // and all is copied
//     world.step(dt);
//     const Journal journal = world.observers().journal(seen);
//     if (!journal.is_complete) copy_all();  // too much has changed since
//     for (const JournalEntry& entry : journal.entries) apply(entry.component, entry.kind, entry.entities);
//     seen = world.stamp();
//
//     stamp 7 | "mesh" added: e3 e4 e9 | "wet" removed: e3 | stamp 8 | "wet" added: e1 | ...
//
// An entry tells how a settle differs from the one before, as observers do (see observers.h): what comes and goes in
// between is not in it, and neither are values; blocks of rows that were written are found with changed_since() of queries.
// The journal covers all stores of the world, those that come later too. It is bounded: when its entries name more
// entities than asked for, those of the oldest settles are dropped. Another keep_journal() drops all of them.
// Thread: the structural thread of the world.

#include "shoal/base/array.h"
#include "shoal/entity/entity.h"
#include "shoal/table/schema.h"

#include <span>

namespace shoal {

class SnapshotReader;
class SnapshotWriter;

/// Entities that have gained or lost components of one type, at one settle.
struct JournalEntry {
    enum class Kind : std::uint8_t { kAdded, kRemoved };

    std::uint64_t stamp = 0;  ///< World::stamp() before the settle
    ComponentId component;
    Kind kind = Kind::kAdded;
    std::span<const Entity> entities;
};

/// The changes since a stamp, which is included and was taken while the journal was kept.
/// Lifetime: until the next settle, or keep_journal().
struct Journal {
    bool is_complete = false;  ///< false: older changes were forgotten, or none were kept
    std::span<const JournalEntry> entries;
};

/// Keeps the entries of a world. Programs use it through World.
class ChangeJournal {
public:
    /// Keeps entries that name at most `max_entities`, of changes with `stamp` and later; 0: none. Forgets all others.
    SHOAL_API void keep(std::size_t max_entities, std::uint64_t stamp);
    bool is_kept() const { return max_entities_ != 0; }
    /// Returns what has happened with `stamp` and later.
    SHOAL_API Journal since(std::uint64_t stamp) const;

    /// Adds an entry, unless it names nobody. Requires: `stamp` is no less than before.
    SHOAL_API void add(std::uint64_t stamp, ComponentId component, JournalEntry::Kind kind,
                       std::span<const Entity> entities);
    /// Writes the entries. Forgets those that are there, and takes over what save() wrote, if it keeps any.
    SHOAL_API void save(SnapshotWriter& to) const;
    SHOAL_API Status load(SnapshotReader& from, std::uint64_t stamp);
    /// Forgets the oldest settles until few enough entities are named.
    SHOAL_API void trim();

private:
    std::size_t max_entities_ = 0;
    std::size_t num_entities_ = 0;
    std::uint64_t complete_from_ = 0;
    std::size_t begin_ = 0;                            // of the entries that are not dropped
    Array<JournalEntry> entries_{Owner("journal")};    // by stamp
    Array<Array<Entity>> entities_{Owner("journal")};  // of each entry
};

}  // namespace shoal

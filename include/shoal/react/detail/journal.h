#pragma once
// The journal of a world lists the entities that gained or lost components, by component type. It is for code that
// polls for changes, such as an index, a renderer or a replica.
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
// Entries record the same changes that observers report (see observers.h): the differences between two settles. A
// component that was added and removed between two settles has no entry. Entries hold no values. To find writes, use a
// query with changed_since(). The journal covers all stores of the world, including those attached later. Its size is
// limited: when its entries list more entities than the limit, the entries of the oldest settles are dropped. Every
// call to keep_journal() drops all entries.
// Thread: the structural thread of the world.

#include "shoal/base/detail/array.h"
#include "shoal/entity/entity.h"
#include "shoal/table/detail/schema.h"

#include <span>

namespace shoal {

class SnapshotReader;
class SnapshotWriter;

/// Entities that gained or lost components of one type, as reported by one settle.
struct JournalEntry {
    enum class Kind : std::uint8_t { kAdded, kRemoved };

    std::uint64_t stamp = 0;  ///< World::stamp() before the settle
    ComponentId component;
    Kind kind = Kind::kAdded;
    std::span<const Entity> entities;
};

/// The changes at or after a stamp. The changes are complete only if the journal was already kept at that stamp.
/// Lifetime: until the next settle or call to keep_journal().
struct Journal {
    bool is_complete = false;  ///< false if some changes were dropped or never recorded
    std::span<const JournalEntry> entries;
};

/// Keeps the journal of a world. Programs use it through World::observers().
class ChangeJournal {
public:
    /// From now on, keeps entries for changes at or after `stamp`. The entries list at most `max_entities` entities; 0
    /// ends the journal. Drops all earlier entries.
    SHOAL_API void keep(std::size_t max_entities, std::uint64_t stamp);
    bool is_kept() const { return max_entities_ != 0; }
    /// Returns the changes at or after `stamp`.
    SHOAL_API Journal since(std::uint64_t stamp) const;

    /// Adds an entry, unless `entities` is empty. Requires: `stamp` is not less than in earlier calls.
    SHOAL_API void add(std::uint64_t stamp, ComponentId component, JournalEntry::Kind kind,
                       std::span<const Entity> entities);
    /// save() writes the entries. If the journal is kept, load() replaces the entries with the saved ones.
    SHOAL_API void save(SnapshotWriter& to) const;
    SHOAL_API Status load(SnapshotReader& from, std::uint64_t stamp);
    /// Drops the entries of the oldest settles until the others are within the limit.
    SHOAL_API void trim();

private:
    std::size_t max_entities_ = 0;
    std::size_t num_entities_ = 0;
    std::uint64_t complete_from_ = 0;
    std::size_t begin_ = 0;                            // the first entry that was not dropped
    Array<JournalEntry> entries_{Owner("journal")};    // by stamp
    Array<Array<Entity>> entities_{Owner("journal")};  // by entry
};

}  // namespace shoal

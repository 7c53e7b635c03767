#pragma once
// Records the entities that were spawned from each blob, for reload/reloader.h.
//
//     blob (by name and checksum)  -->  entities, copy after copy, in blob order    root poses, one for each copy
//
// Stores an id per entity, a root pose per copy that has one, and the overrides. When the number of entities has
// doubled since the last search, copies whose entities are all dead are removed. An entity is only in the last copy
// that it became part of. Deaths are recorded at each settle, because ids are reused.
// Thread: the structural thread of the world.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/entity/detail/death_follower.h"
#include "shoal/resource/spawner.h"

#include <vector>

namespace shoal {

class TextMarks;

/// An override for a range of copies. See SpawnOptions::overrides.
struct LoggedOverride {
    SpawnOverride given;
    std::uint32_t entity = kNoBlobEntity;  // kNoBlobEntity if the version does not have the entity
    std::uint64_t guid = 0;                // finds the entity in other versions; 0 if it has none
    std::uint32_t first_copy = 0, num_copies = 0;
};

/// All copies of one version of a blob.
struct SpawnedCopies {
    ResourceId resource;  // null if it was loaded from an older state
    std::uint32_t num_blob_entities = 0;
    std::uint32_t num_copies = 0;   // also set for a version without entities
    std::size_t num_looked_at = 0;  // number of entities after the last search for dead ones
    /// Shape: num_blob_entities for each copy. An entity is null if it is dead or in a different copy.
    Array<Entity> entities{Owner("spawn log")};
    /// Shape: one for each copy, or empty if no copy has a root pose.
    Array<RootPose> root_poses{Owner("spawn log")};
    std::vector<LoggedOverride> overrides;  // in the order in which they were added

    std::span<const Entity> copy(std::uint32_t number) const {
        return {entities.data() + std::size_t(number) * num_blob_entities, num_blob_entities};
    }
};

class SpawnLog {
public:
    /// Lifetime: `entities` must outlive the log.
    explicit SpawnLog(EntityManager& entities)
        : entities_(entities), deaths_(entities, "the log of what was spawned") {}
    ~SpawnLog();
    SpawnLog(const SpawnLog&) = delete;
    SpawnLog& operator=(const SpawnLog&) = delete;

    /// Adds the copies of a spawn.
    void add(const Blob& blob, const Spawned& spawned, const SpawnOptions& options);
    /// Records deaths; called by each settle.
    void note_deaths();
    std::size_t num_known() const { return num_known_; }
    /// Returns the copies of a version of a blob, or nullptr if there are none. Lifetime: until the next add() or
    /// replace().
    SpawnedCopies* find(const Blob& blob);
    /// Like find(), but first removes copies whose entities are all dead.
    SpawnedCopies* find_living(const Blob& blob);
    /// Counts the copies of other versions of a blob. Does not count copies whose entities are all dead.
    std::uint32_t count_others(const Blob& blob);
    /// Records that the copies of a blob have been updated to a newer version. `overrides` are the overrides for all
    /// these copies, with the entities of `newer`. Shape: `entities` has newer.num_entities() entities for each copy of
    /// `older`.
    void replace(const Blob& older, const Blob& newer, Array<Entity> entities, std::vector<LoggedOverride> overrides);

    /// Marks the strings in overrides.
    void mark_texts(TextMarks& marks) const;
    void save(SnapshotWriter& to) const;
    /// Replaces the log with the data that save() wrote. Errors: the data is invalid. On error, the log is empty.
    Status load(SnapshotReader& from);

private:
    void clear();
    void take_out(std::span<const Entity> entities);
    SpawnedCopies& copies_of(const Blob& blob);
    Array<Entity> new_dead() const;
    void take_out_dead();
    void note_entities(std::span<const Entity> entities);
    void forget_dead(SpawnedCopies& copies);
    void append(SpawnedCopies& copies, std::uint32_t num_copies, std::span<const Entity> entities,
                std::span<const RootPose> root_poses, std::vector<LoggedOverride> overrides);

    const EntityManager& entities_;
    DeathFollower deaths_;
    BitSet is_known_{Owner("spawn log")};     // by entity index: whether a copy may have the entity
    Array<Entity> dead_{Owner("spawn log")};  // dead entities that are still in the copies, ascending
    std::size_t num_known_ = 0;               // number of entities in all copies
    HashMap<std::uint64_t, SpawnedCopies*> by_version_{Owner("spawn log")};
};

}  // namespace shoal

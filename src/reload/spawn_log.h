#pragma once
// Records the entities that were spawned from each blob, for reload/reloader.h.
//
//     blob (by name and checksum)  -->  entities, copy after copy, in blob order    root poses, one for each copy
//
// Stores an id per entity, a root pose per copy that has one, and the overrides. When the number of entities has
// doubled since the last search, copies whose entities are all dead are removed. An entity belongs only to the last
// copy that it became part of. Each settle records deaths, because ids are reused.
// Thread: the structural thread of the world.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/entity/detail/death_follower.h"
#include "shoal/resource/spawner.h"

#include <vector>

namespace shoal {

class TextMarks;

/// An override of a range of copies. See SpawnOptions::overrides.
struct LoggedOverride {
    SpawnOverride given;
    std::uint32_t entity = kNoBlobEntity;  // kNoBlobEntity: the version has no such entity
    std::uint64_t guid = 0;                // to find the entity in another version; 0: none
    std::uint32_t first_copy = 0, num_copies = 0;
};

/// All copies of one version of a blob.
struct SpawnedCopies {
    ResourceId resource;  // null: unknown, because it was loaded from an older state
    std::uint32_t num_blob_entities = 0;
    std::uint32_t num_copies = 0;   // also set for a version without entities
    std::size_t num_looked_at = 0;  // number of entities at the last search for dead entities
    /// Shape: num_blob_entities for each copy. Null: the entity is dead, or belongs to another copy.
    Array<Entity> entities{Owner("spawn log")};
    /// Shape: one for each copy; empty if no copy has a root pose.
    Array<RootPose> root_poses{Owner("spawn log")};
    std::vector<LoggedOverride> overrides;  // in the order of their creation

    std::span<const Entity> copy(std::uint32_t number) const {
        return {entities.data() + std::size_t(number) * num_blob_entities, num_blob_entities};
    }
};

class SpawnLog {
public:
    /// `entities` outlives the log.
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
    /// Returns the copies of a version of a blob, or nullptr. Lifetime: until the next add() or replace().
    SpawnedCopies* find(const Blob& blob);
    /// Does the same as find(), but first removes copies whose entities are all dead.
    SpawnedCopies* find_living(const Blob& blob);
    /// Counts the copies of other versions of a blob, without those whose entities are all dead.
    std::uint32_t count_others(const Blob& blob);
    /// Records that the copies of a blob have been updated to a newer version. Shape: `entities` has
    /// newer.num_entities() entities for each copy of `older`. `overrides`: the overrides of all these copies, with the
    /// entities of `newer`.
    void replace(const Blob& older, const Blob& newer, Array<Entity> entities, std::vector<LoggedOverride> overrides);

    /// Marks the texts of overrides.
    void mark_texts(TextMarks& marks) const;
    void save(SnapshotWriter& to) const;
    /// Replaces the log with the data that save() wrote. Errors: the data does not fit; the log is then empty.
    Status load(SnapshotReader& from);

private:
    void clear();
    void take_out(std::span<const Entity> entities);
    SpawnedCopies& copies_of(const Blob& blob);
    Array<Entity> new_dead() const;
    void take_out_dead();
    void note_entities(std::span<const Entity> entities);
    void forget_dead(SpawnedCopies& copies) const;
    void append(SpawnedCopies& copies, std::uint32_t num_copies, std::span<const Entity> entities,
                std::span<const RootPose> root_poses, std::vector<LoggedOverride> overrides);

    const EntityManager& entities_;
    DeathFollower deaths_;
    BitSet is_known_{Owner("spawn log")};     // by entity index: whether copies may have the entity
    Array<Entity> dead_{Owner("spawn log")};  // ascending; known to be dead, but still in the copies
    std::size_t num_known_ = 0;               // entities in all copies
    HashMap<std::uint64_t, SpawnedCopies*> by_version_{Owner("spawn log")};
};

}  // namespace shoal

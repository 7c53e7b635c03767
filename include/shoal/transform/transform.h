#pragma once
// Where things are: a pose relative to a parent, and the pose in the world that follows from it.
//
//     row         0    1    2    3    4  |  5    6        depth first where possible: a subtree is one range of rows
//     local       T    T    T    T    T  |  T    T        position [m], rotation [x y z w], scale; three columns
//     world       M    M    M    M    M  |  M    M        3x4; world = parent's world x T x R x S
//     extent      4    1    2    1    1  |  2    1        rows of the subtree if it is one range, otherwise 0
//     links       parent, first child, next, previous     rows
//                                clean   |  dirty         the suffix: whole subtrees that move every frame
//
// Optional per entity, and one per world: an entity can be in several worlds, at several places. When is `world` right?
//     immediate   when set_local() returns, for the whole subtree (the default)
//     batch       at the end of a TransformBatch, or of a call with spans: every moved subtree is computed once
//     deferred    after compute_moved(), once a frame: cost follows what moved, nothing is ever searched. What moves
//                 for the first frame goes on a list; what moves again is swapped into the suffix with its whole
//                 subtree, and leaves it after five frames of rest.
// One set of data serves all three. Results are the same, bit for bit, for every mode, machine and number of workers.
//
// Death: when an entity with children goes, they become roots where they are, or die with it (see ChildrenOfDead).
// Thread: structural calls (add, remove, link, compute_moved, settle) and setters from the world's structural thread;
// const calls from any thread between them. An Instance holds until the next structural call. While the passes of a
// world run, add, remove and settle end the program; a pass that writes the transforms may set poses, link, compute.
// Source: Frykholm, "Building a data-oriented entity system", part 3.

#include "shoal/store/owned_rows.h"
#include "shoal/table/describe.h"

namespace shoal {

class Executor;

/// A pose relative to the parent, or to the world for a root: first scaled, then rotated, then moved.
struct Transform {
    Vec3 position{};        ///< metres
    Quaternion rotation{};  ///< of length 1
    Vec3 scale = {1, 1, 1};

    friend constexpr bool operator==(const Transform&, const Transform&) = default;
};
SHOAL_COMPONENT(Transform, (position, unit("m")), rotation, scale)

enum class TransformMode : std::uint8_t { kImmediate, kDeferred };

/// What linking and unlinking keep of a child's pose.
enum class KeepPose : std::uint8_t { kLocal, kWorld };

enum class ChildrenOfDead : std::uint8_t {
    kBecomeRoots,  ///< and keep their pose in the world
    kDie,          ///< their entities are destroyed in the same call of EntityManager::destroy
};

struct TransformOptions {
    TransformMode mode = TransformMode::kImmediate;
    ChildrenOfDead children_of_dead = ChildrenOfDead::kBecomeRoots;
    std::uint32_t capacity_rows = kDefaultCapacityRows;
};

/// What was done so far; the work behind every call can be read here.
struct TransformCounts {
    std::uint64_t num_worlds_computed = 0;  ///< world matrices
    std::uint64_t num_locals_computed = 0;  ///< local poses, from world poses that were set or kept
    std::uint64_t num_swaps = 0;            ///< pairs of rows that changed places, for the suffix
    std::uint64_t num_restores = 0;         ///< times that all rows were put in depth-first order
};

class TransformManager final : public Store {
public:
    /// `entities` and `pool` outlive the manager.
    SHOAL_API TransformManager(EntityManager& entities, PagePool& pool, const TransformOptions& options = {});
    SHOAL_API ~TransformManager() override;

    // --- structure -----------------------------------------------------------------------------------------------

    /// Gives each living entity a transform, as a root; where there is one already, its local pose is set.
    /// Errors: no memory or the capacity is reached; nothing has changed.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, const Transform& local = {});
    /// The same with a pose each, linked at once. Shape: as many locals as entities; parents: empty, or for each entity
    /// the position of its parent in `entities`, kNilRow for a root. Children come in the order of the span; children
    /// of a dead entity follow the parent given for it; an entity with a transform keeps its links. Requires: parents
    /// come before children. Cost: world poses included; some passes more when not in depth-first order.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, std::span<const Transform> locals,
                                    std::span<const std::uint32_t> parents = {});
    /// Removes the transforms of these entities and returns how many went. Children become roots where they are; what
    /// is pending is computed first.
    SHOAL_API std::uint32_t remove(std::span<const Entity> entities);

    /// Makes `child` follow `parent`, as its first child, unless it does already. Errors: `parent` is `child` or a
    /// descendant of it; nothing has changed. Cost: none of it depends on the number of siblings; without children of
    /// `child`, nor on the depth, unless a world pose is kept while others are pending.
    SHOAL_API Status link(Instance child, Instance parent, KeepPose keep = KeepPose::kLocal);
    SHOAL_API void unlink(Instance child, KeepPose keep = KeepPose::kWorld);
    /// Puts all rows in depth-first order again, after many links and swaps. Cost: O(rows); nothing when in order.
    /// compute_moved() and settle() do it once walks along links have cost as much.
    SHOAL_API void restore_order();

    // --- look-up -------------------------------------------------------------------------------------------------

    Instance instance(Entity entity) const { return {rows_.find(entity)}; }
    bool has(Entity entity) const { return rows_.has(entity); }
    Entity entity(Instance instance) const { return rows_.owner(instance.row); }
    std::uint32_t num_rows() const { return rows_.num_rows(); }
    /// Rows of the dirty suffix.
    std::uint32_t num_dirty_rows() const { return num_rows() - num_clean_; }

    /// The nil instance when there is none.
    SHOAL_API Instance parent(Instance instance) const;
    SHOAL_API Instance first_child(Instance instance) const;
    SHOAL_API Instance next_sibling(Instance instance) const;
    /// Returns the one that follows in depth-first order inside the subtree of `root`, or the nil instance at its end.
    /// Requires: the instance is in that subtree.
    SHOAL_API Instance next_in_subtree(Instance instance, Instance root) const;

    // --- poses ---------------------------------------------------------------------------------------------------

    SHOAL_API Transform local(Instance instance) const;
    /// Sets a local pose, in whole or in part. Requires: finite; a rotation of length 1 (1e-3), no scale of zero. Where
    /// checks are off, a rotation is brought to length 1 or, without one, to none, and other numbers are taken as
    /// given.
    SHOAL_API void set_local(Instance instance, const Transform& local);
    SHOAL_API void set_position(Instance instance, Vec3 position);
    SHOAL_API void set_rotation(Instance instance, Quaternion rotation);
    SHOAL_API void set_scale(Instance instance, Vec3 scale);
    /// Sets the local pose so that the world pose becomes `world`, and returns whether it does exactly: under a parent
    /// that is scaled unevenly and rotated it may be sheared, and the nearest pose is taken. Requires: regular
    /// matrices. Where checks are off, the local pose stays as it is when there is none for `world`.
    SHOAL_API bool set_world_pose(Instance instance, const Matrix3x4& world);

    /// Right as the mode says.
    const Matrix3x4& world(Instance instance) const {
        SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
        return worlds()[instance.row];
    }
    SHOAL_API Vec3 world_position(Instance instance) const;
    SHOAL_API Quaternion world_rotation(Instance instance) const;
    /// Lengths of the axes; negative in x for a mirrored pose.
    SHOAL_API Vec3 world_scale(Instance instance) const;
    /// Shape: num_rows(), by row. Lifetime: until the next structural call.
    std::span<const Matrix3x4> worlds() const {
        return {reinterpret_cast<const Matrix3x4*>(table().column(kWorldColumn)), num_rows()};
    }

    // --- many at once --------------------------------------------------------------------------------------------

    /// Sets the local poses of many entities as one batch. Entities without a transform are skipped; returns how many
    /// were set. Shape: as many poses as entities.
    SHOAL_API std::size_t set_locals(std::span<const Entity> entities, std::span<const Transform> locals,
                                     Executor* executor = nullptr);
    SHOAL_API std::size_t set_positions(std::span<const Entity> entities, std::span<const Vec3> positions,
                                        Executor* executor = nullptr);
    /// Writes the world positions or poses of many entities; zero or the identity where there is none. Returns how many
    /// have one. Cost: look-ups are fetched ahead.
    SHOAL_API std::size_t world_positions(std::span<const Entity> entities, std::span<Vec3> out) const;
    SHOAL_API std::size_t world_poses(std::span<const Entity> entities, std::span<Matrix3x4> out) const;

    // --- time ----------------------------------------------------------------------------------------------------

    TransformMode mode() const { return options_.mode; }
    /// What is pending is computed first.
    SHOAL_API void set_mode(TransformMode mode);
    /// Deferred: computes all that moved since the last call, and ends the frame. Rows may change places.
    SHOAL_API void compute_moved(Executor* executor = nullptr);
    /// Calls moved(RowRange) for blocks of rows in which a world pose was computed, or a row added or moved, with
    /// `stamp` (see SettleContext) or a later one, in order: a view of the table's stamps, 1,024 rows fine.
    template <class Function>
    void for_each_moved_since(std::uint64_t stamp, Function&& moved) const;

    // --- health --------------------------------------------------------------------------------------------------

    const TransformCounts& counts() const { return counts_; }
    const Table& table() const { return rows_.table(); }
    /// Checks the table, its links, the extents, the suffix, and that nothing pending was lost. Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    void drop(std::span<const Entity> entities) override { remove(entities); }
    void hold_rows(bool hold) override { rows_.hold(hold); }
    SHOAL_API void settle(const SettleContext& context) override;
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }

private:
    friend class TransformBatch;
    class Work;

    static constexpr std::uint32_t kWorldColumn = DescriptionOf<Transform>::first_column(3);

    TransformOptions options_;
    Schema row_schema_;  // the fields of Transform, and what the manager keeps beside them
    OwnedRows rows_;
    std::uint32_t num_clean_ = 0;
    TransformCounts counts_;
    DestructionCallback callback_;
    Work* work_;  // what is pending, and all that moves rows
};

template <class Function>
void TransformManager::for_each_moved_since(std::uint64_t stamp, Function&& moved) const {
    for (std::uint32_t row = 0; row < num_rows(); row += kRowsPerStampBlock)
        if (table().written_stamp(kWorldColumn, row / kRowsPerStampBlock) >= stamp)
            moved(RowRange{row, num_rows() - row < kRowsPerStampBlock ? num_rows() : row + kRowsPerStampBlock});
}

/// While it lives, setters of the manager note what moves; at its end every moved subtree is computed once. Batches may
/// lie within each other: the outermost computes. In deferred mode it changes nothing.
class TransformBatch {
public:
    SHOAL_API explicit TransformBatch(TransformManager& transforms, Executor* executor = nullptr);
    SHOAL_API ~TransformBatch();
    TransformBatch(const TransformBatch&) = delete;
    TransformBatch& operator=(const TransformBatch&) = delete;

private:
    TransformManager& transforms_;
    Executor* executor_;
};

}  // namespace shoal

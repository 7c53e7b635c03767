#pragma once
// A transform is the pose of an entity relative to its parent, and the resulting pose in the world.
//
//     row         0    1    2    3    4  |  5    6        depth-first if possible: a subtree is a range of rows
//     local       T    T    T    T    T  |  T    T        position [m], rotation [x y z w] and scale, a column each
//     world       M    M    M    M    M  |  M    M        a 3x4 matrix: the parent's world x T x R x S
//     extent      4    1    2    1    1  |  2    1        rows of the subtree if it is one range, otherwise 0
//     links       parent, first child, next, previous     rows
//     parent      e    a    b    a    a  |  e    f        the entity of the parent's row; null for a root
//                                clean   |  dirty         the suffix: whole subtrees that move every frame
//
//     TransformManager& transforms = world.transforms();
//     const Transform locals[] = {{.position = {0, 0, 4}}, {.position = {1, 0, 0}}};  // a tower and its flag
//     const std::uint32_t parents[] = {kNilRow, 0};
//     if (auto added = transforms.add(entities, locals, parents); !added) return report(added.status());
//     transforms.set_position(transforms.instance(entities[0]), {0, 0, 5});
//     Vec3 flag = transforms.world_position(transforms.instance(entities[1]));  // {1, 0, 5}
//
// A transform is optional. Each world has its own transforms, so an entity can have a different place in each of
// several worlds. The world poses of a subtree are up to date:
//
//     immediate   when set_local() returns (the default)
//     batch       at the end of a TransformBatch, or of a call with spans: each subtree that moved is computed once
//     a query     that writes Transform: when its loop ends, as a batch; in deferred mode, after compute_moved()
//     deferred    after compute_moved(), once a frame. The cost depends on the number of moved rows. A row
//                 that moves is listed. If it moves in the next frame too, it is swapped into the suffix with its
//                 subtree, and stays there until it has rested for five frames.
//
// All modes use the same data. They give bit-identical results on every machine and for any number of workers.
//
// When an entity dies, its children either become roots and stay where they are, or also die (see ChildrenOfDead).
// Thread: the world's structural thread sets poses and makes the calls that change rows (add, remove, link,
// compute_moved, settle). Between these calls, any thread may make const calls. An Instance is valid until the next
// structural call. While a world's passes are running, add, remove and settle end the program. A pass that declares
// that it writes transforms may set poses, link and compute.
// Source: Frykholm, "Building a data-oriented entity system", part 3.

#include "shoal/store/detail/owned_rows.h"
#include "shoal/table/describe.h"

namespace shoal {

class Executor;

/// A pose relative to the parent, or to the world if there is no parent. The scale is applied first, then the rotation,
/// then the position.
struct Transform {
    Vec3 position{};        ///< metres
    Quaternion rotation{};  ///< of length 1
    Vec3 scale = {1, 1, 1};

    friend constexpr bool operator==(const Transform&, const Transform&) = default;
};
SHOAL_COMPONENT(Transform, (position, unit("m")), rotation, scale)

/// The pose of an entity in the world, for queries (Read<&WorldPose::matrix>). The mode determines when the pose is up
/// to date.
struct WorldPose {
    Matrix3x4 matrix{};  ///< maps a point in local space to metres in the world
};
SHOAL_COMPONENT((WorldPose, name("world_pose"), computed), matrix)

/// The parent of a transform, for queries (Read<&ChildOf::parent>) and commands (`commands.add(sword, ChildOf{hand})`).
/// Roots have no parent. Linking and unlinking change the parent; queries cannot write it. A program without transforms
/// may keep ChildOf in a separate manager, World::manager<ChildOf>(), and set parents there. Queries with Parent<> use
/// the store that has ChildOf.
struct ChildOf {
    Entity parent;
};
SHOAL_COMPONENT((ChildOf, computed), parent)

enum class TransformMode : std::uint8_t { kImmediate, kDeferred };

/// Which pose of a child stays the same when it is linked or unlinked.
enum class KeepPose : std::uint8_t { kLocal, kWorld };

enum class ChildrenOfDead : std::uint8_t {
    kBecomeRoots,  ///< they keep their world poses
    kDie,          ///< their entities are destroyed in the same call to EntityManager::destroy
};

struct TransformOptions {
    TransformMode mode = TransformMode::kImmediate;
    ChildrenOfDead children_of_dead = ChildrenOfDead::kBecomeRoots;
    std::uint32_t capacity_rows = kDefaultCapacityRows;
};

/// Counts of the work done so far.
struct TransformCounts {
    std::uint64_t num_worlds_computed = 0;  ///< world poses computed from local poses
    std::uint64_t num_locals_computed = 0;  ///< local poses computed from world poses that were set or kept
    std::uint64_t num_swaps = 0;            ///< pairs of rows swapped to move subtrees into the suffix and out of it
    std::uint64_t num_restores = 0;         ///< number of times that all rows were put in depth-first order
};

class TransformManager final : public Store {
public:
    /// `entities` and `pool` outlive the manager.
    SHOAL_API TransformManager(EntityManager& entities, PagePool& pool, const TransformOptions& options = {});
    SHOAL_API ~TransformManager() override;

    // --- structure -----------------------------------------------------------------------------------------------

    /// Gives each living entity a transform as a root. If an entity already has a transform, sets its local pose.
    /// Errors: out of memory, or the capacity is reached. On error, nothing has changed.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, const Transform& local = {});
    /// Like add() above, but with a pose for each entity, and with links. The children of a parent are in the order of
    /// the span. The children of a dead entity become children of its parent. An entity that already has a transform
    /// keeps its links.
    /// Shape: `locals` has a pose for each entity. `parents` is either empty or has, for each entity, the index of its
    /// parent in `entities` (kNilRow for a root). Requires: parents come before children.
    /// Cost: this computes the world poses, and takes longer if the entities are not in depth-first order.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, std::span<const Transform> locals,
                                    std::span<const std::uint32_t> parents = {});
    /// Makes room for `count` more transforms. Errors: out of memory, or the capacity is reached.
    Status reserve(std::size_t count) { return rows_.reserve(count); }
    /// Removes the transforms of these entities, and returns the number removed. Their children become roots and keep
    /// their world poses; pending poses are computed first.
    SHOAL_API std::uint32_t remove(std::span<const Entity> entities);

    /// Makes `child` the first child of `parent`, unless it is already one of its children.
    /// Errors: `parent` is `child` or one of its descendants. On error, nothing has changed.
    /// Cost: independent of the number of siblings. If `child` has no children, also independent of the depth. With
    /// KeepPose::kWorld, pending poses of its ancestors are computed first.
    SHOAL_API Status link(Instance child, Instance parent, KeepPose keep = KeepPose::kLocal);
    /// Makes `child` a root.
    SHOAL_API void unlink(Instance child, KeepPose keep = KeepPose::kWorld);
    /// Restores the depth-first order of all rows, which is broken by links and swaps. compute_moved() and settle()
    /// call this when rows that are out of order have cost about as much time as this call takes. Cost: O(rows), or
    /// nothing if the rows are in order.
    SHOAL_API void restore_order();

    // --- look-up -------------------------------------------------------------------------------------------------

    Instance instance(Entity entity) const { return rows_.instance(entity); }
    bool has(Entity entity) const { return rows_.has(entity); }
    Entity entity(Instance instance) const { return rows_.owner(instance); }
    std::uint32_t num_rows() const { return rows_.num_rows(); }
    /// The number of rows in the dirty suffix.
    std::uint32_t num_dirty_rows() const { return num_rows() - num_clean_; }

    /// Return the nil instance if there is none.
    SHOAL_API Instance parent(Instance instance) const;
    SHOAL_API Instance first_child(Instance instance) const;
    SHOAL_API Instance next_sibling(Instance instance) const;
    SHOAL_API Instance previous_sibling(Instance instance) const;
    /// Returns the next instance in the subtree of `root` in depth-first order, or the nil instance after the last one.
    /// Requires: the instance is in that subtree.
    SHOAL_API Instance next_in_subtree(Instance instance, Instance root) const;

    // --- poses ---------------------------------------------------------------------------------------------------

    SHOAL_API Transform local(Instance instance) const;
    /// Sets a local pose, or a part of it. Requires: finite numbers, a rotation of length 1 (within 1e-3) and no scale
    /// of 0. Unchecked builds normalize the rotation (or replace it with the identity if its length is 0), and do not
    /// check other numbers.
    SHOAL_API void set_local(Instance instance, const Transform& local);
    SHOAL_API void set_position(Instance instance, Vec3 position);
    SHOAL_API void set_rotation(Instance instance, Quaternion rotation);
    SHOAL_API void set_scale(Instance instance, Vec3 scale);
    /// Sets the local pose so that the world pose becomes `world`, and returns whether the result is exact. Under a
    /// rotated parent with non-uniform scale, the exact local pose may have shear; the nearest pose without shear is
    /// then used. Requires: `world` and the parent's world pose can be inverted. Otherwise, unchecked builds leave the
    /// local pose unchanged.
    SHOAL_API bool set_world_pose(Instance instance, const Matrix3x4& world);

    /// Returns the world pose. The mode determines when it is up to date.
    const Matrix3x4& world(Instance instance) const {
        require(instance);
        if constexpr (SHOAL_CHECKED != 0) ask_read_guard(table(), kWorldColumn);
        return worlds()[instance.row];
    }
    SHOAL_API Vec3 world_position(Instance instance) const;
    SHOAL_API Quaternion world_rotation(Instance instance) const;
    /// Returns the lengths of the axes. If the pose is mirrored, x is negative.
    SHOAL_API Vec3 world_scale(Instance instance) const;
    /// Returns all world poses. Shape: num_rows() poses, indexed by row. Lifetime: until the next structural call.
    std::span<const Matrix3x4> worlds() const {
        return {reinterpret_cast<const Matrix3x4*>(table().column(kWorldColumn)), num_rows()};
    }

    // --- many at once --------------------------------------------------------------------------------------------

    /// Sets the local poses of many entities as one batch. Skips entities without a transform, and returns the number
    /// of poses that were set. Shape: a pose for each entity.
    SHOAL_API std::size_t set_locals(std::span<const Entity> entities, std::span<const Transform> locals,
                                     Executor* executor = nullptr);
    SHOAL_API std::size_t set_positions(std::span<const Entity> entities, std::span<const Vec3> positions,
                                        Executor* executor = nullptr);
    /// Writes the world positions or poses of many entities. For entities without a transform, writes zero or the
    /// identity. Returns the number of entities that have a transform. Shape: `out` is as long as `entities`. Cost:
    /// rows are prefetched.
    SHOAL_API std::size_t world_positions(std::span<const Entity> entities, std::span<Vec3> out) const;
    SHOAL_API std::size_t world_poses(std::span<const Entity> entities, std::span<Matrix3x4> out) const;

    // --- time ----------------------------------------------------------------------------------------------------

    TransformMode mode() const { return options_.mode; }
    /// Computes pending poses first. Requires: no batch is open.
    SHOAL_API void set_mode(TransformMode mode);
    /// Computes everything that has moved since the last call, and ends the frame. Rows may move. Requires: deferred
    /// mode.
    SHOAL_API void compute_moved(Executor* executor = nullptr);
    /// Calls moved(RowRange) in ascending order for each block of 1,024 rows in which a world pose was computed, or a
    /// row was added or moved, at `stamp` (see SettleContext) or later.
    template <class Function>
    void for_each_moved_since(std::uint64_t stamp, Function&& moved) const;

    // --- health --------------------------------------------------------------------------------------------------

    const TransformCounts& counts() const { return counts_; }
    const Table& table() const { return rows_.table(); }
    /// For queries that follow links to parents.
    OwnedRows& rows() { return rows_; }
    /// Checks the table, its links, the extents and the suffix. Also checks that each moved row is either computed or
    /// pending.
    /// Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::string_view kind() const override { return "the transforms"; }
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    /// Queries can read and write Transform, and read WorldPose and ChildOf.
    SHOAL_API std::span<const Schema* const> shown_schemas() const override;
    SHOAL_API OwnedColumns find_columns(const Schema& component) override;
    /// Treats each row as the setters do. A rotation whose length is not 1 is normalized or, in checked builds, ends
    /// the program.
    SHOAL_API void finish_writes(std::uint64_t columns, std::span<const std::uint32_t> rows,
                                 Executor* executor) override;
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    void drop(std::span<const Entity> entities) override { remove(entities); }
    /// Like add() and remove(). For ChildOf, like link() and unlink() with their defaults.
    SHOAL_API Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                               const AddedValues& values) override;
    SHOAL_API Result<bool> prepare_values(const Schema& component, std::span<const Entity> entities,
                                          bool removes) override;
    SHOAL_API Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities) override;
    void hold_rows(bool hold) override { rows_.hold(hold); }
    bool is_held() const override { return rows_.is_held(); }
    SHOAL_API void settle(const SettleContext& context) override;
    SHOAL_API void save(SnapshotWriter& to) const override;
    SHOAL_API Status load(SnapshotReader& from) override;
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }
    /// The row of a transform has the columns of Transform, and the matrix `world`. Also finds WorldPose and ChildOf.
    SHOAL_API ComponentRow find_row(ComponentId component, Entity entity, std::uint32_t index) const override;
    /// Like the setters, but a failed requirement is an error. Writing `world` calls set_world_pose(). WorldPose and
    /// ChildOf cannot be written; the message says what to call instead.
    SHOAL_API Status write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) override;

private:
    friend class TransformBatch;
    class Work;

    static constexpr std::uint32_t kWorldColumn = DescriptionOf<Transform>::first_column(3);
    static constexpr std::uint32_t kParentColumn = kWorldColumn + 1;

    std::uint32_t link_all(std::span<const Entity> entities, const AddedValues& values);
    void require(Instance instance) const { rows_.require(instance); }

    TransformOptions options_;
    Schema row_schema_;  // the fields of Transform, and the manager's own data
    OwnedRows rows_;
    std::uint32_t num_clean_ = 0;
    TransformCounts counts_;
    DestructionCallback callback_;
    Work* work_;  // pending poses, and all operations that move rows
};

template <class Function>
void TransformManager::for_each_moved_since(std::uint64_t stamp, Function&& moved) const {
    for (std::uint32_t row = 0; row < num_rows(); row += kRowsPerStampBlock)
        if (table().written_stamp(kWorldColumn, row / kRowsPerStampBlock) >= stamp)
            moved(RowRange{row, num_rows() - row < kRowsPerStampBlock ? num_rows() : row + kRowsPerStampBlock});
}

/// Collects moved transforms while it exists. Its destructor computes each moved subtree once. If batches are nested,
/// only the outermost one computes poses. In deferred mode, a batch does nothing.
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

/// Returns a directory's transforms; nullptr if Transform has no store, or its store is of a different class.
SHOAL_API TransformManager* find_transforms(const ComponentDirectory& directory);

}  // namespace shoal

#pragma once
// Models have scene graphs of their own: the nodes of a skeleton, with poses relative to the entity. They need nothing
// of the entity's place in the world, so they are computed beside the entity transforms, not after them.
//
//     node tree       names, parents, default poses of n nodes        once, shared by all its instances
//     instance        entity --index--> block i of its tree's table
//     table of tree   | block 0: n rows | block 1: n rows | ...
//       local           position, rotation, scale                     written by animation
//       model           3x4, relative to the entity                   parent's model x T x R x S, by compute()
//
// Instances refer to their tree, they never copy it. A tree comes from memory (add_node_tree), or it is what a resource
// says of the component "model_pose": equal trees lie in its blob once, as read-only arrays, and are used in place; the
// instances pin the blob. How people write one is in model_pose_text.h.
//
// A frame:    write locals  ->  compute()   beside   TransformManager::compute_moved()   ->   apply_constraints()
// A constraint knows the world and moves nodes there; what it moves stays until the next compute(), which starts again
// from local poses. Death: rows go at settle. One manager per world; an entity may have other poses in another one.
// Thread: structural calls (add, remove, spawn, settle) and setters from the world's structural thread; const calls
// from any thread between them. An Instance holds until the next structural call.
// Source: Frykholm, "Building a data-oriented entity system", part 3.

#include "shoal/resource/library.h"
#include "shoal/transform/transform.h"

namespace shoal {

/// What a blob holds of an instance: its node tree, in arrays that all instances of the tree refer to.
struct ModelPose {
    BlobArray<StringId> names;
    BlobArray<std::uint32_t> parents;
    BlobArray<Vec3> positions;
    BlobArray<Quaternion> rotations;
    BlobArray<Vec3> scales;
};
SHOAL_COMPONENT(ModelPose, names, parents, positions, rotations, scales)

/// A row of a tree's table.
struct NodePose {
    Vec3 position{};
    Quaternion rotation{};
    Vec3 scale = {1, 1, 1};
    Matrix3x4 model{};
};
SHOAL_COMPONENT(NodePose, (position, unit("m")), rotation, scale, model)

/// A tree of nodes. Shape: one element per node in each span.
struct NodeTree {
    std::span<const StringId> names;         ///< all different, none empty
    std::span<const std::uint32_t> parents;  ///< comes before its children; kNilRow: the entity itself
    std::span<const Vec3> positions;         ///< default local poses; metres
    std::span<const Quaternion> rotations;
    std::span<const Vec3> scales;

    std::uint32_t num_nodes() const { return static_cast<std::uint32_t>(names.size()); }
};
inline constexpr std::uint32_t kMaxNodesPerTree = 65536;

/// A tree that a manager knows. Zero is none.
struct NodeTreeId {
    std::uint32_t slot = 0;
    std::uint32_t use = 0;
    explicit operator bool() const { return use != 0; }
    friend bool operator==(NodeTreeId, NodeTreeId) = default;
};

/// The local poses of all instances of a tree, to be written. Shape: as NodePose columns, block after block.
struct NodeLocals {
    std::span<Vec3> positions;
    std::span<Quaternion> rotations;
    std::span<Vec3> scales;
};

struct ModelPoseOptions {
    const TransformManager* transforms = nullptr;  ///< outlives the manager; nullptr: all entities lie at the origin
    ResourceLibrary* library = nullptr;            ///< outlives the manager; needed by spawns
    std::uint32_t capacity_rows = kDefaultCapacityRows;  ///< nodes of all instances of one tree
};

class ModelPoseManager;
/// Moves nodes in the world, with ModelPoseManager::set_node_world.
using ConstraintFunction = void (*)(void* context, ModelPoseManager& models);

class ModelPoseManager final : public Store {
public:
    /// `entities` and `pool` outlive the manager.
    SHOAL_API ModelPoseManager(EntityManager& entities, PagePool& pool, const ModelPoseOptions& options = {});
    SHOAL_API ~ModelPoseManager() override;

    // --- trees ---------------------------------------------------------------------------------------------------

    /// Copies a tree. Errors: what is wrong with which node; no nodes, or too many.
    SHOAL_API Result<NodeTreeId> add_node_tree(const NodeTree& tree);
    /// Errors: it has instances, or came from a resource (then it goes with its last instance); it stays.
    SHOAL_API Status remove_node_tree(NodeTreeId tree);
    /// Requires: the tree is known. Lifetime: that of the tree.
    SHOAL_API const NodeTree& nodes(NodeTreeId tree) const;
    /// Returns the node called `name`, or kNilRow. Cost: O(log nodes).
    SHOAL_API std::uint32_t find_node(NodeTreeId tree, StringId name) const;
    SHOAL_API std::uint32_t num_instances(NodeTreeId tree) const;
    std::uint32_t num_trees() const { return num_trees_; }

    // --- instances -----------------------------------------------------------------------------------------------

    /// Gives each living entity an instance in the default pose, in place of the one it had.
    /// Errors: no memory or the capacity is reached; nothing has changed.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, NodeTreeId tree);
    /// Removes the instances of these entities and returns how many went.
    SHOAL_API std::uint32_t remove(std::span<const Entity> entities);

    Instance instance(Entity entity) const { return {instances_.find(entity)}; }
    bool has(Entity entity) const { return instances_.has(entity); }
    std::uint32_t num_instances() const { return instances_.num_rows(); }
    /// All of these require an instance that is not nil.
    Entity entity(Instance instance) const { return instances_.owner(instance.row); }
    SHOAL_API NodeTreeId tree(Instance instance) const;
    /// Its rows in the columns of the tree are [block x num_nodes, (block + 1) x num_nodes).
    SHOAL_API std::uint32_t block(Instance instance) const;

    // --- local poses ---------------------------------------------------------------------------------------------

    SHOAL_API Transform local(Instance instance, std::uint32_t node) const;
    /// Requires: as TransformManager::set_local.
    SHOAL_API void set_local(Instance instance, std::uint32_t node, const Transform& local);
    /// Sets all nodes of an instance. Shape: one per node.
    SHOAL_API void set_locals(Instance instance, std::span<const Transform> locals);
    /// Returns the columns of all instances, to be written by any number of threads until compute(), which computes
    /// them all. Lifetime: until the next structural call.
    SHOAL_API NodeLocals write_locals(NodeTreeId tree);

    // --- poses ---------------------------------------------------------------------------------------------------

    /// Computes the model poses of all instances with a changed local pose, or with a constraint before.
    /// Returns how many matrices. The result is the same, bit for bit, for any number of workers.
    SHOAL_API std::uint64_t compute(Executor* executor = nullptr);

    /// Right after compute(). Shape: by node. Lifetime: until the next structural call.
    SHOAL_API std::span<const Matrix3x4> models(Instance instance) const;
    /// Of all instances of a tree, block after block.
    SHOAL_API std::span<const Matrix3x4> models(NodeTreeId tree) const;
    const Matrix3x4& model(Instance instance, std::uint32_t node) const {
        const std::span<const Matrix3x4> all = models(instance);
        SHOAL_ASSERT(node < all.size(), "the model has no such node");
        return all[node];
    }

    /// Returns entity world x node model. Right after both computes.
    SHOAL_API Matrix3x4 node_world(Instance instance, std::uint32_t node) const;
    /// The same for all instances of a tree. Shape: as models(tree).
    SHOAL_API void world_poses(NodeTreeId tree, std::span<Matrix3x4> out, Executor* executor = nullptr) const;

    // --- constraints ---------------------------------------------------------------------------------------------

    /// Has `function` called by apply_constraints(), after those added before.
    SHOAL_API void add_constraint(ConstraintFunction function, void* context);
    /// Requires: added with this context.
    SHOAL_API void remove_constraint(void* context);
    /// Puts a node at a place in the world, until the next compute(); it may be sheared. The nodes below follow when
    /// the constraint function returns, or at apply_constraints(), except those that are put somewhere meanwhile too.
    /// Requires: finite, and the entity's world pose is regular.
    SHOAL_API void set_node_world(Instance instance, std::uint32_t node, const Matrix3x4& world);
    /// Calls the constraints in order, and lets nodes follow after each. Returns how many matrices were computed: only
    /// nodes below those that were moved.
    SHOAL_API std::uint64_t apply_constraints(Executor* executor = nullptr);

    // --- health --------------------------------------------------------------------------------------------------

    /// Checks tables, blocks and index, and computes every model pose again that should be right. Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::span<const Schema* const> schemas() const override { return instances_.schemas(); }
    /// Errors: no library, or the arrays are not in it; a tree that is not one (which node, and why); no memory.
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    void drop(std::span<const Entity> entities) override { remove(entities); }
    void hold_rows(bool hold) override { instances_.hold(hold); }
    SHOAL_API void settle(const SettleContext& context) override;
    /// First the instances, then one table per tree.
    std::span<const Table* const> tables() const override { return tables_; }
    SHOAL_API std::size_t statistics(std::span<StoreStatistics> out) const override;

private:
    struct Tree;
    struct Moved {
        Entity entity;
        std::uint32_t node;
    };
    struct Constraint {
        ConstraintFunction function;
        void* context;
    };

    Tree& tree_at(NodeTreeId id) const;
    Tree& tree_of(Instance instance) const;
    std::uint32_t insert_tree(Tree* tree);
    Result<std::uint32_t> find_tree(const ModelPose& pose);
    void remove_tree(std::uint32_t slot);
    void remove_unused_trees();
    void list_tables();
    Status reserve_blocks(std::uint32_t slot, std::size_t count);
    Status spawn_all(const SpawnBatch& batch);
    void append(Entity entity, std::uint32_t slot);
    std::uint32_t remove_rows(std::span<const Entity> entities, bool only_dead);
    void remove_row(std::uint32_t row);
    void forget_moved(std::span<const Entity> entities);
    Matrix3x4 entity_world(Entity entity) const;
    std::uint64_t compute_tree(Tree& tree, Executor* executor);
    std::uint64_t let_nodes_follow(Executor* executor);

    EntityManager& entities_;
    PagePool& pool_;
    ModelPoseOptions options_;
    OwnedRows instances_;  // of each the slot of its tree and its block
    std::uint32_t num_trees_ = 0;
    std::uint32_t num_uses_ = 0;                // of slots, ever
    Array<Tree*> trees_{Owner("model poses")};  // by slot; nullptr: free
    Array<const Table*> tables_{Owner("model poses")};
    Array<Constraint> constraints_{Owner("model poses")};  // in order
    Array<Moved> moved_{Owner("model poses")};             // by constraints, nodes below not computed yet
};

}  // namespace shoal

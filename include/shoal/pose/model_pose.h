#pragma once
// Each model has its own scene graph, for example the nodes of a skeleton. Model poses are the poses of nodes relative
// to the model's entity. They do not depend on where the entity is, so they are computed in parallel with the
// transforms of entities.
//
//     node tree       names, parents, default poses of n nodes        once, shared by all its instances
//     instance        entity --index--> block i of its tree's table
//     table of tree   | block 0: n rows | block 1: n rows | ...
//       local           position, rotation, scale                     written by animation
//       model           3x4, relative to the entity                   parent's model x T x R x S, by compute()
//
// Instances refer to their tree and never copy it. A tree is made from memory (add_node_tree) or loaded with a
// resource, as the component "model_pose" (see model_pose_text.h). A blob stores equal trees only once, as read-only
// arrays that are used in place. The instances pin the blob.
//
// One frame:
//
//     write local poses  ->  compute()  and  TransformManager::compute_moved()  ->  apply_constraints()
//
// A constraint moves nodes to places in the world. The nodes stay there until the next compute(), which starts from the
// local poses. Rows of dead entities are removed when the world settles. Each world has its own manager, so an entity
// may have different poses in different worlds.
// Thread: the structural thread of the world makes structural calls (add, remove, spawn, settle) and sets poses.
// Between these calls, any thread may make const calls. An Instance is valid until the next structural call.
// Source: Frykholm, "Building a data-oriented entity system", part 3.

#include "shoal/resource/library.h"
#include "shoal/transform/transform.h"

namespace shoal {

/// An instance in a blob. It has the arrays of its node tree, which all instances of the tree share.
struct ModelPose {
    BlobArray<StringId> names;
    BlobArray<std::uint32_t> parents;
    BlobArray<Vec3> positions;
    BlobArray<Quaternion> rotations;
    BlobArray<Vec3> scales;

    friend bool operator==(const ModelPose&, const ModelPose&) = default;
};
SHOAL_COMPONENT(ModelPose, names, parents, positions, rotations, scales)

/// A row of a tree's table. `model` is relative to the entity, and the other fields are relative to the parent node.
struct NodePose {
    Vec3 position{};
    Quaternion rotation{};
    Vec3 scale = {1, 1, 1};
    Matrix3x4 model{};
};
SHOAL_COMPONENT(NodePose, (position, unit("m")), rotation, scale, model)

/// A tree of nodes. Shape: one element per node in each span.
struct NodeTree {
    std::span<const StringId> names;         ///< unique and not empty
    std::span<const std::uint32_t> parents;  ///< index of an earlier node, or kNilRow for the entity itself
    std::span<const Vec3> positions;         ///< default local poses; metres
    std::span<const Quaternion> rotations;
    std::span<const Vec3> scales;

    std::uint32_t num_nodes() const { return static_cast<std::uint32_t>(names.size()); }
};
inline constexpr std::uint32_t kMaxNodesPerTree = 65536;

/// Identifies a tree in a manager. Zero means no tree.
struct NodeTreeId {
    std::uint32_t slot = 0;
    std::uint32_t use = 0;
    explicit operator bool() const { return use != 0; }
    friend bool operator==(NodeTreeId, NodeTreeId) = default;
};

/// The local poses of all instances of a tree, for writing. Shape: one element per node of each instance, block by
/// block.
struct NodeLocals {
    std::span<Vec3> positions;
    std::span<Quaternion> rotations;
    std::span<Vec3> scales;
};

struct ModelPoseOptions {
    const TransformManager* transforms = nullptr;  ///< outlives the manager; if nullptr, all entities are at the origin
    ResourceLibrary* library = nullptr;            ///< outlives the manager; needed to spawn
    std::uint32_t capacity_rows = kDefaultCapacityRows;  ///< number of nodes in all instances of one tree
};

class ModelPoseManager;
/// A function that moves nodes with ModelPoseManager::set_node_world().
using ConstraintFunction = void (*)(void* context, ModelPoseManager& models);

class ModelPoseManager final : public Store {
public:
    /// `entities` and `pool` outlive the manager.
    SHOAL_API ModelPoseManager(EntityManager& entities, PagePool& pool, const ModelPoseOptions& options = {});
    SHOAL_API ~ModelPoseManager() override;

    // --- trees ---------------------------------------------------------------------------------------------------

    /// Copies a tree. Errors: a node is invalid (the message names it and gives the reason), or the tree has no nodes
    /// or too many.
    SHOAL_API Result<NodeTreeId> add_node_tree(const NodeTree& tree);
    /// Errors: the tree has instances, or it is from a resource and is therefore removed with its last instance.
    /// On error, nothing has changed.
    SHOAL_API Status remove_node_tree(NodeTreeId tree);
    /// Requires: the tree has not been removed (this holds for all calls that take a tree). Lifetime: as long as the
    /// tree.
    SHOAL_API const NodeTree& nodes(NodeTreeId tree) const;
    /// Returns the node called `name`, or kNilRow. Cost: O(log nodes).
    SHOAL_API std::uint32_t find_node(NodeTreeId tree, StringId name) const;
    SHOAL_API std::uint32_t num_instances(NodeTreeId tree) const;
    std::uint32_t num_trees() const { return num_trees_; }
    /// Calls visit(context, name) for each node name in all trees, including trees without instances.
    SHOAL_API void visit_names(void (*visit)(void* context, StringId name), void* context) const;

    // --- instances -----------------------------------------------------------------------------------------------

    /// Gives each living entity an instance in the default pose, which is already computed. Replaces existing
    /// instances.
    /// Errors: out of memory, or the capacity is reached. On error, nothing has changed.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, NodeTreeId tree);
    /// Removes the instances of these entities, and returns the number removed.
    SHOAL_API std::uint32_t remove(std::span<const Entity> entities);

    Instance instance(Entity entity) const { return instances_.instance(entity); }
    bool has(Entity entity) const { return instances_.has(entity); }
    std::uint32_t num_instances() const { return instances_.num_rows(); }
    /// Requires: the instance is not nil (this holds for all calls that take an instance).
    Entity entity(Instance instance) const { return instances_.owner(instance); }
    SHOAL_API NodeTreeId tree(Instance instance) const;
    /// Returns the block of an instance. Its rows in the tree's table are [block x num_nodes, (block + 1) x num_nodes).
    SHOAL_API std::uint32_t block(Instance instance) const;

    // --- local poses ---------------------------------------------------------------------------------------------

    SHOAL_API Transform local(Instance instance, std::uint32_t node) const;
    /// Requires: the same as for TransformManager::set_local().
    SHOAL_API void set_local(Instance instance, std::uint32_t node, const Transform& local);
    /// Sets the local poses of all nodes in an instance. Shape: one pose per node.
    SHOAL_API void set_locals(Instance instance, std::span<const Transform> locals);
    /// Returns the local poses of all instances of a tree, for writing. The next compute() recomputes all instances.
    /// Lifetime: until the next structural call. Thread: any number of threads may write at the same time, until
    /// compute().
    SHOAL_API NodeLocals write_locals(NodeTreeId tree);

    // --- poses ---------------------------------------------------------------------------------------------------

    /// Computes the model poses of all instances in which a local pose has changed or a constraint has moved a node.
    /// Returns the number of matrices that it computed. The result is bit-identical for any number of workers.
    SHOAL_API std::uint64_t compute(Executor* executor = nullptr);

    /// Returns the model poses from the last compute(), or the default poses of a new instance. Shape: indexed by node.
    /// Lifetime: until the next structural call.
    SHOAL_API std::span<const Matrix3x4> models(Instance instance) const;
    /// Returns the model poses of all instances of a tree, block by block.
    SHOAL_API std::span<const Matrix3x4> models(NodeTreeId tree) const;
    const Matrix3x4& model(Instance instance, std::uint32_t node) const {
        const std::span<const Matrix3x4> all = models(instance);
        SHOAL_ASSERT(node < all.size(), "the model has no such node");
        return all[node];
    }

    /// Returns the entity's world pose x the node's model pose. It is up to date after the poses of both the models and
    /// the transforms have been computed.
    SHOAL_API Matrix3x4 node_world(Instance instance, std::uint32_t node) const;
    /// Writes node_world() of each node in each instance of a tree. Shape: like models(tree).
    SHOAL_API void world_poses(NodeTreeId tree, std::span<Matrix3x4> out, Executor* executor = nullptr) const;

    // --- constraints ---------------------------------------------------------------------------------------------

    /// Makes apply_constraints() call function(context, *this) after the constraints that were added earlier.
    SHOAL_API void add_constraint(ConstraintFunction function, void* context);
    /// Removes the first constraint that was added with this context. Requires: a constraint has this context.
    SHOAL_API void remove_constraint(void* context);
    /// Moves a node to a world pose, which may have shear, until the next compute(). Its descendants follow when the
    /// constraint function returns, except nodes that are moved themselves. If this is called outside of a constraint
    /// function, they follow in apply_constraints(). Requires: `world` is finite, and the entity's world pose can be
    /// inverted.
    SHOAL_API void set_node_world(Instance instance, std::uint32_t node, const Matrix3x4& world);
    /// Calls the constraints in order. After each of them, computes the descendants of the nodes that it moved. Returns
    /// the number of matrices that were computed.
    SHOAL_API std::uint64_t apply_constraints(Executor* executor = nullptr);

    // --- health --------------------------------------------------------------------------------------------------

    /// Checks the tables, the blocks and the index. Also recomputes every model pose that should be up to date, and
    /// compares it with the stored one. Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::string_view kind() const override { return "the model poses"; }
    std::span<const Schema* const> schemas() const override { return instances_.schemas(); }
    SHOAL_API OwnedColumns find_columns(const Schema& component) override;
    /// Errors: there is no library, the blob is not in the library, a tree is invalid (the message names the node and
    /// gives the reason), or memory runs out. On error, nothing has changed.
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    /// Like spawn(), but entities may already have instances, which are replaced.
    SHOAL_API Status respawn(const SpawnBatch& batch);
    /// Replaces trees in the blob `before` with equal trees in `after`, which is a different version of the blob. Trees
    /// that have no equal are copied, and each copy is removed with its last instance. Afterwards, `before` is no
    /// longer used.
    SHOAL_API void move_trees(const Blob& before, const Blob& after);
    void drop(std::span<const Entity> entities) override { remove(entities); }
    void hold_rows(bool hold) override { instances_.hold(hold); }
    bool is_held() const override { return instances_.is_held(); }
    SHOAL_API void settle(const SettleContext& context) override;
    SHOAL_API void save(SnapshotWriter& to) const override;
    /// Like Store::load(), but it is also an error if a resource is not loaded. Constraints are kept.
    SHOAL_API Status load(SnapshotReader& from) override;
    /// Returns the table of instances, followed by one table per tree.
    std::span<const Table* const> tables() const override { return tables_; }
    SHOAL_API std::size_t statistics(std::span<StoreStatistics> out) const override;
    /// "model_pose" has the tree and the block of an instance. "node_pose" has the nodes of the instance, by number.
    SHOAL_API ComponentRow find_row(ComponentId component, Entity entity, std::uint32_t index) const override;
    /// Sets the local pose of a node. Errors: set_local() does not allow the pose, or the field is not the local pose.
    SHOAL_API Status write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) override;

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
    void list_all_tables();
    void forget_trees();
    Status load_trees(SnapshotReader& from);
    Status check_loaded(SnapshotReader& from) const;
    Status validate_blocks() const;
    Status reserve_blocks(std::uint32_t slot, std::size_t count);
    Status spawn_all(const SpawnBatch& batch, bool replaces);
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
    OwnedRows instances_;  // the slot of each instance's tree, and its block
    std::uint32_t num_trees_ = 0;
    std::uint32_t num_uses_ = 0;                // number of trees made so far
    Array<Tree*> trees_{Owner("model poses")};  // by slot; nullptr: free
    Array<const Table*> tables_{Owner("model poses")};
    Array<Constraint> constraints_{Owner("model poses")};  // in calling order
    Array<Moved> moved_{Owner("model poses")};             // moved nodes whose descendants are not computed yet
};

}  // namespace shoal

// Local poses, model poses, poses in the world, and constraints.

#include "pose/model_pose_tree.h"
#include "shoal/job/row_ranges.h"
#include "shoal/transform/pose_kernels.h"
#include "shoal/transform/pose_math.h"

namespace shoal {
namespace {

constexpr std::uint32_t kNodesPerChunk = 4096;

/// Calls function(begin, end, worker) for parts of [0, num_items), which stand for `num_nodes` in all.
template <class Function>
void for_parts(Executor* executor, std::size_t num_items, std::size_t num_nodes, Function&& function) {
    if (num_items == 0) return;
    SerialExecutor serial;
    const std::size_t least = num_items * kNodesPerChunk / std::max<std::size_t>(num_nodes, 1);
    const RowCuts cuts = cut_rows(static_cast<std::uint32_t>(num_items), 1,
                                  static_cast<std::uint32_t>(std::clamp<std::size_t>(least, 1, num_items)));
    for_rows(executor != nullptr ? *executor : serial, cuts, function);
}

}  // namespace

// --- local poses -------------------------------------------------------------------------------------------------

Transform ModelPoseManager::local(Instance instance, std::uint32_t node) const {
    const Tree& tree = tree_of(instance);
    SHOAL_ASSERT(node < tree.num_nodes(), "the model has no such node");
    const std::size_t row = tree.rows(block(instance)).begin + node;
    return {tree.column<Vec3>(kPositions)[row], tree.column<Quaternion>(kRotations)[row],
            tree.column<Vec3>(kScales)[row]};
}

void ModelPoseManager::set_local(Instance instance, std::uint32_t node, const Transform& local) {
    Tree& tree = tree_of(instance);
    SHOAL_ASSERT(node < tree.num_nodes(), "the model has no such node");
    tree.write_local(block(instance), node, local);
    tree.mark_changed(block(instance), node);
}

void ModelPoseManager::set_locals(Instance instance, std::span<const Transform> locals) {
    Tree& tree = tree_of(instance);
    SHOAL_ASSERT(locals.size() == tree.num_nodes(), "one local pose per node is needed");
    for (std::uint32_t node = 0; node < locals.size(); ++node) tree.write_local(block(instance), node, locals[node]);
    tree.mark_changed(block(instance), 0);
}

NodeLocals ModelPoseManager::write_locals(NodeTreeId id) {
    Tree& tree = tree_at(id);
    for (std::uint32_t block = 0; block < tree.num_blocks(); ++block) tree.mark_changed(block, 0);
    const std::uint32_t num_rows = tree.table.num_rows();
    for (const NodeColumn column : {kPositions, kRotations, kScales}) tree.table.mark_written(column, {0, num_rows});
    return {{tree.column<Vec3>(kPositions), num_rows},
            {tree.column<Quaternion>(kRotations), num_rows},
            {tree.column<Vec3>(kScales), num_rows}};
}

// --- model poses -------------------------------------------------------------------------------------------------

std::uint64_t ModelPoseManager::compute(Executor* executor) {
    moved_.clear();  // the blocks of what constraints moved are listed as changed
    std::uint64_t num_computed = 0;
    for (Tree* tree : trees_)
        if (tree != nullptr && !tree->changed_groups.empty()) num_computed += compute_tree(*tree, executor);
    return num_computed;
}

std::uint64_t ModelPoseManager::compute_tree(Tree& tree, Executor* executor) {
    const Array<std::uint32_t> groups = tree.take_changed_groups();
    std::uint64_t num_computed = 0;
    for_parts(executor, groups.size(), groups.size() * kBlocksPerGroup * tree.num_nodes(),
              [&](RowRange part, std::uint32_t) {
                  std::uint64_t count = 0;
                  for (std::uint32_t i = part.begin; i < part.end; ++i) count += tree.compute_group(groups[i]);
                  __atomic_fetch_add(&num_computed, count, __ATOMIC_RELAXED);
              });
    for (const std::uint32_t group : groups) tree.mark_models_written(tree.blocks(group));
    return num_computed;
}

std::span<const Matrix3x4> ModelPoseManager::models(Instance instance) const {
    const Tree& tree = tree_of(instance);
    return {tree.column<Matrix3x4>(kModels) + tree.rows(block(instance)).begin, tree.num_nodes()};
}

std::span<const Matrix3x4> ModelPoseManager::models(NodeTreeId id) const {
    const Tree& tree = tree_at(id);
    return {tree.column<Matrix3x4>(kModels), tree.table.num_rows()};
}

// --- in the world ------------------------------------------------------------------------------------------------

Matrix3x4 ModelPoseManager::entity_world(Entity entity) const {
    const Instance placed = options_.transforms != nullptr ? options_.transforms->instance(entity) : kNilInstance;
    return placed ? options_.transforms->world(placed) : Matrix3x4{};
}

Matrix3x4 ModelPoseManager::node_world(Instance instance, std::uint32_t node) const {
    SHOAL_ASSERT(node < tree_of(instance).num_nodes(), "the model has no such node");
    return product(entity_world(entity(instance)), model(instance, node));
}

void ModelPoseManager::world_poses(NodeTreeId id, std::span<Matrix3x4> out, Executor* executor) const {
    const Tree& tree = tree_at(id);
    SHOAL_ASSERT(out.size() == tree.table.num_rows(), "one place per node of each instance is needed");
    const auto* models = tree.column<Matrix3x4>(kModels);
    for_parts(executor, tree.num_groups(), out.size(), [&](RowRange part, std::uint32_t) {
        const RowRange blocks{tree.blocks(part.begin).begin, tree.blocks(part.end - 1).end};
        for (std::uint32_t block = blocks.begin; block < blocks.end; ++block) {
            const RowRange rows = tree.rows(block);
            const Matrix3x4 world = entity_world(tree.table.entities()[rows.begin]);
            for (std::uint32_t row = rows.begin; row < rows.end; ++row) out[row] = product(world, models[row]);
        }
    });
}

// --- constraints -------------------------------------------------------------------------------------------------

void ModelPoseManager::add_constraint(ConstraintFunction function, void* context) {
    SHOAL_ASSERT(function != nullptr, "a constraint needs a function");
    constraints_.push_back({function, context});
}

void ModelPoseManager::remove_constraint(void* context) {
    const auto found = std::find_if(constraints_.begin(), constraints_.end(),
                                    [&](const Constraint& constraint) { return constraint.context == context; });
    SHOAL_ASSERT(found != constraints_.end(), "no constraint was added with this context");
    constraints_.erase(found);
}

void ModelPoseManager::set_node_world(Instance instance, std::uint32_t node, const Matrix3x4& world) {
    Tree& tree = tree_of(instance);
    SHOAL_ASSERT(node < tree.num_nodes(), "the model has no such node");
    SHOAL_CHECK(is_finite(world), "a node was put at a pose that is infinite or not a number");
    const Matrix3x4 model = relative_matrix(entity_world(entity(instance)), world);
    tree.write_model(block(instance), node, model);
    tree.mark_changed(block(instance), node);
    moved_.push_back({entity(instance), node});
}

std::uint64_t ModelPoseManager::apply_constraints(Executor* executor) {
    std::uint64_t num_computed = let_nodes_follow(executor);
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
        constraints_[i].function(constraints_[i].context, *this);
        num_computed += let_nodes_follow(executor);
    }
    return num_computed;
}

/// Computes the nodes below those that were moved.
std::uint64_t ModelPoseManager::let_nodes_follow(Executor* executor) {
    std::sort(moved_.begin(), moved_.end(), [](const Moved& a, const Moved& b) {
        return a.entity == b.entity ? a.node < b.node : a.entity < b.entity;
    });
    Array<std::span<const Moved>> by_instance{Owner("model poses")};
    std::size_t num_nodes = 0;
    for (std::size_t begin = 0, end = 0; begin < moved_.size(); begin = end) {
        while (end < moved_.size() && moved_[end].entity == moved_[begin].entity) ++end;
        const Instance there = instance(moved_[begin].entity);
        if (!there) continue;  // it was removed meanwhile
        by_instance.push_back(std::span<const Moved>(moved_).subspan(begin, end - begin));
        num_nodes += tree_of(there).num_nodes();
    }
    std::uint64_t num_computed = 0;
    for_parts(executor, by_instance.size(), num_nodes, [&](RowRange part, std::uint32_t) {
        Array<std::uint8_t> follows{Owner("model poses")};
        std::uint64_t count = 0;
        for (std::uint32_t i = part.begin; i < part.end; ++i) {
            const Instance there = instance(by_instance[i].front().entity);
            count += tree_of(there).compute_below(block(there), by_instance[i], follows);
        }
        __atomic_fetch_add(&num_computed, count, __ATOMIC_RELAXED);
    });
    for (const std::span<const Moved> moved : by_instance) {
        const Instance there = instance(moved.front().entity);
        tree_of(there).mark_models_written({block(there), block(there) + 1});
    }
    moved_.clear();
    return num_computed;
}

}  // namespace shoal

// Keeps the node trees, instances, local and model poses, and constraints of a world. The code for one tree is in
// model_pose_tree.cpp.

#include "shoal/pose/model_pose.h"

#include "pose/model_pose_tree.h"
#include "shoal/base/text.h"
#include "shoal/job/row_ranges.h"
#include "shoal/transform/detail/pose_kernels.h"
#include "shoal/transform/detail/pose_math.h"

#include <cstring>
#include <memory>
#include <utility>

namespace shoal {

/// A row in the table of instances.
struct ModelInstance {
    std::uint32_t tree = 0;  ///< slot
    std::uint32_t block = 0;
};
SHOAL_COMPONENT(ModelInstance, tree, block)

namespace {

enum InstanceColumn : std::uint32_t { kTree, kBlock };

std::uint32_t value_at(const Table& table, InstanceColumn column, std::uint32_t row) {
    return reinterpret_cast<const std::uint32_t*>(table.column(column))[row];
}

void set_value(Table& table, InstanceColumn column, std::uint32_t row, std::uint32_t value) {
    std::memcpy(table.write_element(column, row), &value, sizeof value);
}

ModelPose pose_in(std::span<const std::byte* const> columns, std::size_t i) {
    ModelPose pose;
    BlobArrayBase* const arrays[] = {&pose.names, &pose.parents, &pose.positions, &pose.rotations, &pose.scales};
    for (std::size_t c = 0; c < std::size(arrays); ++c)
        std::memcpy(static_cast<void*>(arrays[c]), columns[c] + i * sizeof(BlobArrayBase), sizeof(BlobArrayBase));
    return pose;
}
ModelPose pose_at(const SpawnBatch& batch, std::size_t i) { return pose_in(batch.columns, i); }

template <class T>
std::span<const T> values_in(const Blob& blob, const BlobArray<T>& array) {
    const std::span<const std::byte> bytes = blob.array(array, FieldTraits<T>::type);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}
NodeTree nodes_in(const Blob& blob, const ModelPose& pose) {
    return {values_in(blob, pose.names), values_in(blob, pose.parents), values_in(blob, pose.positions),
            values_in(blob, pose.rotations), values_in(blob, pose.scales)};
}
template <class T>
bool same_bytes(std::span<const T> a, std::span<const T> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
bool is_same_tree(const NodeTree& a, const NodeTree& b) {
    return same_bytes(a.names, b.names) && same_bytes(a.parents, b.parents) && same_bytes(a.positions, b.positions) &&
           same_bytes(a.rotations, b.rotations) && same_bytes(a.scales, b.scales);
}

constexpr std::uint32_t kNodesPerChunk = 4096;

/// Calls function(part, worker) for parts of [0, num_items), which have `num_nodes` nodes in total.
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

ModelPoseManager::ModelPoseManager(EntityManager& entities, PagePool& pool, const ModelPoseOptions& options)
    : entities_(entities),
      pool_(pool),
      options_(options),
      instances_(schema_of<ModelPose>(), entities, pool,
                 {.row_schema = &schema_of<ModelInstance>(),
                  .remove_dead =
                      [](void* self, std::span<const Entity> dead) {
                          static_cast<ModelPoseManager*>(self)->remove_rows(dead, true);
                      },
                  .store = this,
                  .kind = "the model poses"}) {
    list_all_tables();
    if (options.library == nullptr) return;
    options.library->add_pin_counter(
        [](void* self, ResourceId resource) {
            std::uint64_t num_pins = 0;
            for (const Tree* tree : static_cast<ModelPoseManager*>(self)->trees_)
                if (tree != nullptr && tree->in_blob() && tree->source.names.resource == resource)
                    num_pins += tree->num_blocks();
            return num_pins;
        },
        this);
}

ModelPoseManager::~ModelPoseManager() {
    if (options_.library != nullptr) options_.library->remove_pin_counter(this);
    for (Tree* tree : trees_) delete tree;
}

// --- trees -------------------------------------------------------------------------------------------------------

ModelPoseManager::Tree& ModelPoseManager::tree_at(NodeTreeId id) const {
    SHOAL_ASSERT(id.slot < trees_.size() && trees_[id.slot] != nullptr && trees_[id.slot]->use == id.use,
                 "the node tree is null or was removed");
    return *trees_[id.slot];
}

ModelPoseManager::Tree& ModelPoseManager::tree_of(Instance instance) const {
    instances_.require(instance);
    return *trees_[value_at(instances_.table(), kTree, instance.row)];
}

/// Returns the slot of the tree.
std::uint32_t ModelPoseManager::insert_tree(Tree* tree) {
    tree->use = ++num_uses_;
    ++num_trees_;
    tree->table.set_stamp(instances_.table().stamp());
    const auto free = std::find(trees_.begin(), trees_.end(), nullptr);
    const auto slot = static_cast<std::uint32_t>(free - trees_.begin());
    if (free == trees_.end()) trees_.push_back(nullptr);
    trees_[slot] = tree;
    list_all_tables();
    return slot;
}

void ModelPoseManager::remove_tree(std::uint32_t slot) {
    delete std::exchange(trees_[slot], nullptr);
    --num_trees_;
    list_all_tables();
}

/// Removes trees that are in blobs and have no instances, so that the blobs can be unloaded.
void ModelPoseManager::remove_unused_trees() {
    for (std::uint32_t slot = 0; slot < trees_.size(); ++slot)
        if (trees_[slot] != nullptr && trees_[slot]->goes_with_last_instance() && trees_[slot]->num_blocks() == 0)
            remove_tree(slot);
}

void ModelPoseManager::list_all_tables() {
    tables_.assign(1, &instances_.table());
    for (const Tree* tree : trees_)
        if (tree != nullptr) tables_.push_back(&tree->table);
}

Result<NodeTreeId> ModelPoseManager::add_node_tree(const NodeTree& nodes) {
    auto tree = std::make_unique<Tree>(pool_, options_.capacity_rows);
    if (Status status = tree->accept(nodes); !status) return status;
    tree->keep_copy(nodes);
    const std::uint32_t slot = insert_tree(tree.release());
    return NodeTreeId{slot, trees_[slot]->use};
}

Status ModelPoseManager::remove_node_tree(NodeTreeId id) {
    const Tree& tree = tree_at(id);
    if (tree.goes_with_last_instance()) return Status::error("a node tree from a resource goes with its last instance");
    if (tree.num_blocks() != 0)
        return Status::error(concat("the node tree has ", tree.num_blocks(), " instances; remove them first"));
    remove_tree(id.slot);
    return {};
}

/// Returns the slot of a blob's tree, making the tree if there is none yet.
Result<std::uint32_t> ModelPoseManager::find_tree(const ModelPose& pose) {
    for (std::uint32_t slot = 0; slot < trees_.size(); ++slot)
        if (trees_[slot] != nullptr && trees_[slot]->in_blob() && trees_[slot]->source == pose) return slot;
    if (pose.names.count == 0) return Status::error("a \"model_pose\" has no nodes");
    if (options_.library == nullptr || options_.library->find(pose.names.resource) == nullptr)
        return Status::error(
            "the nodes of a \"model_pose\" lie in a resource that is not loaded; load it through the library of the "
            "model pose manager before it is spawned");
    const ResourceLibrary& library = *options_.library;
    auto tree = std::make_unique<Tree>(pool_, options_.capacity_rows);
    Status status = tree->accept({library.view(pose.names), library.view(pose.parents), library.view(pose.positions),
                                  library.view(pose.rotations), library.view(pose.scales)});
    if (!status)
        return Status::error(
            concat("resource \"", library.find(pose.names.resource)->name(), "\", \"model_pose\": ", status.message()));
    tree->source = pose;
    return insert_tree(tree.release());
}

const NodeTree& ModelPoseManager::nodes(NodeTreeId tree) const { return tree_at(tree).nodes; }

std::uint32_t ModelPoseManager::num_instances(NodeTreeId tree) const { return tree_at(tree).num_blocks(); }

void ModelPoseManager::visit_names(void (*visit)(void* context, StringId name), void* context) const {
    for (const Tree* tree : trees_)
        if (tree != nullptr)
            for (const StringId name : tree->nodes.names) visit(context, name);
}

std::uint32_t ModelPoseManager::find_node(NodeTreeId id, StringId name) const {
    const Tree& tree = tree_at(id);
    const auto found = std::lower_bound(tree.by_name.begin(), tree.by_name.end(), name,
                                        [&](std::uint32_t node, StringId n) { return tree.nodes.names[node] < n; });
    return found != tree.by_name.end() && tree.nodes.names[*found] == name ? *found : kNilRow;
}

// --- instances ---------------------------------------------------------------------------------------------------

NodeTreeId ModelPoseManager::tree(Instance instance) const {
    const Tree& tree = tree_of(instance);
    return {value_at(instances_.table(), kTree, instance.row), tree.use};
}

std::uint32_t ModelPoseManager::block(Instance instance) const {
    instances_.require(instance);
    return value_at(instances_.table(), kBlock, instance.row);
}

/// Reserves memory for the nodes of `count` more instances of a tree.
Status ModelPoseManager::reserve_blocks(std::uint32_t slot, std::size_t count) {
    if (count == 0) return {};
    Tree& tree = *trees_[slot];
    const std::uint32_t num_rows = tree.table.num_rows(), most_rows = tree.table.capacity_rows();
    if (count > (most_rows - num_rows) / tree.num_nodes())
        return Status::error(concat("a node tree of ", tree.num_nodes(), " nodes has ", tree.num_blocks(),
                                    " instances, and room for ", most_rows, " nodes; ", count,
                                    " more instances do not fit"));
    return tree.table.reserve(static_cast<std::uint32_t>(count) * tree.num_nodes());
}

/// Adds an instance. Requires: the entity has no instance, and memory is reserved.
void ModelPoseManager::append(Entity entity, std::uint32_t slot) {
    const std::uint32_t row = instances_.append(entity);
    set_value(instances_.table(), kTree, row, slot);
    set_value(instances_.table(), kBlock, row, trees_[slot]->append_block(entity));
}

/// Forgets which nodes of these entities were moved, because their instances are being removed or replaced.
void ModelPoseManager::forget_moved(std::span<const Entity> entities) {
    if (moved_.empty()) return;
    Array<Entity> sorted(entities.begin(), entities.end(), "model poses");
    std::sort(sorted.begin(), sorted.end());
    erase_if(moved_,
             [&](const Moved& moved) { return std::binary_search(sorted.begin(), sorted.end(), moved.entity); });
}

Result<AddCounts> ModelPoseManager::add(std::span<const Entity> added, NodeTreeId id) {
    Tree& tree = tree_at(id);
    // A copy, because the span may refer to one of the tables.
    const Array<Entity> entities(added.begin(), added.end(), "model poses");
    std::uint32_t highest = 0;
    std::size_t num_newcomers = 0;
    for (const Entity entity : entities) {
        if (!entities_.alive(entity)) continue;
        highest = std::max(highest, entity.index());
        const Instance there = instance(entity);
        num_newcomers += !there || &tree_of(there) != &tree;
    }
    if (Status status = instances_.reserve(num_newcomers, highest); !status) return status;
    if (Status status = reserve_blocks(id.slot, num_newcomers); !status) return status;
    forget_moved(entities);
    AddCounts counts;
    for (const Entity entity : entities) {
        if (!entities_.alive(entity)) {
            ++counts.num_skipped;
            continue;
        }
        const bool has_one = instances_.remove_stale(entity);
        ++(has_one ? counts.num_set : counts.num_added);
        if (has_one && &tree_of(instance(entity)) == &tree) {
            tree.reset_block(block(instance(entity)));
            continue;
        }
        if (has_one) remove_row(instance(entity).row);
        append(entity, id.slot);
    }
    remove_unused_trees();
    return counts;
}

void ModelPoseManager::remove_row(std::uint32_t row) {
    Tree& tree = tree_of({row});
    const std::uint32_t block = value_at(instances_.table(), kBlock, row);
    const std::uint32_t last = tree.num_blocks() - 1;
    const Entity last_owner = tree.table.entities()[tree.rows(last).begin];
    set_value(instances_.table(), kBlock, instances_.find(last_owner), block);
    tree.remove_block(block);
    instances_.remove_row(row);
}

std::uint32_t ModelPoseManager::remove(std::span<const Entity> entities) {
    const std::uint32_t num_removed = remove_rows(entities, false);
    if (num_removed != 0) remove_unused_trees();
    return num_removed;
}

/// Removes the instances of these entities or, if `only_dead` is set, of the dead ones among them. Does not remove
/// trees without instances.
std::uint32_t ModelPoseManager::remove_rows(std::span<const Entity> entities, bool only_dead) {
    instances_.require_unlocked("remove()");
    Array<Entity> leaving{Owner("model poses")};  // a copy, because the span may refer to one of the tables
    for (const Entity entity : entities)
        if (has(entity) && !(only_dead && entities_.alive(entity))) leaving.push_back(entity);
    forget_moved(leaving);
    const std::uint32_t num_before = num_instances();
    for (const Entity entity : leaving)
        if (const Instance there = instance(entity)) remove_row(there.row);
    return num_before - num_instances();
}

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

ComponentRow ModelPoseManager::find_row(ComponentId component, Entity entity, std::uint32_t index) const {
    const bool is_node = component == schema_of<NodePose>().id();
    if (!is_node && component != schema_of<ModelPose>().id()) return {};
    ComponentRow found{is_node ? &schema_of<NodePose>() : &schema_of<ModelInstance>()};
    const Instance at = instance(entity);
    if (!at || index >= (is_node ? tree_of(at).num_nodes() : 1)) return found;
    found.table = is_node ? &tree_of(at).table : &instances_.table();
    found.row = is_node ? tree_of(at).rows(block(at)).begin + index : at.row;
    return found;
}

Status ModelPoseManager::write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) {
    if (at.schema != &schema_of<NodePose>() || part.field->struct_offset >= sizeof(Transform))
        return Status::error(concat('"', part.field->name,
                                    "\" of a model pose is computed and cannot be written; write ",
                                    "the position, the rotation or the scale of a \"node_pose\""));
    const Instance owner = instance(at.table->entities()[at.row]);
    const std::uint32_t node = at.row - tree_of(owner).rows(block(owner)).begin;
    const Result<Transform> changed = local_with(local(owner, node), part, value, "node_pose");
    if (changed) set_local(owner, node, *changed);
    return changed.status();
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
    moved_.clear();  // their blocks are listed as changed
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
    SHOAL_ASSERT(out.size() == tree.table.num_rows(), "one pose per node of each instance is needed");
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

/// Computes the descendants of moved nodes.
std::uint64_t ModelPoseManager::let_nodes_follow(Executor* executor) {
    std::sort(moved_.begin(), moved_.end(), [](const Moved& a, const Moved& b) {
        return a.entity == b.entity ? a.node < b.node : a.entity < b.entity;
    });
    Array<std::span<const Moved>> by_instance{Owner("model poses")};
    std::size_t num_nodes = 0;
    for (std::size_t begin = 0, end = 0; begin < moved_.size(); begin = end) {
        while (end < moved_.size() && moved_[end].entity == moved_[begin].entity) ++end;
        const Instance there = instance(moved_[begin].entity);
        if (!there) continue;  // the instance has been removed
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

// --- store -------------------------------------------------------------------------------------------------------

Status ModelPoseManager::spawn(const SpawnBatch& batch) {
    Status status = spawn_all(batch, false);
    remove_unused_trees();
    return status;
}

Status ModelPoseManager::respawn(const SpawnBatch& batch) {
    Status status = spawn_all(batch, true);
    remove_unused_trees();
    return status;
}

void ModelPoseManager::move_trees(const Blob& before, const Blob& after) {
    const BlobComponents* const poses = after.find_components(schema_of<ModelPose>().id());
    for (Tree* tree : trees_) {
        if (tree == nullptr || !tree->in_blob() || tree->source.names.resource != before.id()) continue;
        std::uint32_t row = 0;
        const std::uint32_t count = poses == nullptr ? 0 : poses->count();
        while (row < count && !is_same_tree(tree->nodes, nodes_in(after, pose_in(poses->columns, row)))) ++row;
        if (row < count) {
            tree->source = pose_in(poses->columns, row);
            tree->nodes = nodes_in(after, tree->source);
            continue;
        }
        tree->keep_copy(NodeTree(tree->nodes));
        tree->source = {};
        tree->was_in_blob = true;
    }
}

/// If this fails, there may be new trees without instances.
Status ModelPoseManager::spawn_all(const SpawnBatch& batch, bool replaces) {
    const Status reserved =
        replaces ? instances_.reserve(batch.entity_index.size() * batch.num_copies) : instances_.reserve_batch(batch);
    if (!reserved) return reserved;
    const std::size_t num_components = batch.entity_index.size();
    Array<std::uint32_t> slots(num_components, 0, "model poses");  // indexed by component
    for (std::size_t i = 0; i < num_components; ++i) {
        const bool as_before = i != 0 && pose_at(batch, i) == pose_at(batch, i - 1);
        Result<std::uint32_t> slot = as_before ? Result<std::uint32_t>(slots[i - 1]) : find_tree(pose_at(batch, i));
        if (!slot) return slot.status();
        slots[i] = *slot;
    }
    Array<std::size_t> counts(trees_.size(), 0, "model poses");  // new instances, by slot
    for (const std::uint32_t slot : slots) counts[slot] += batch.num_copies;
    for (std::uint32_t slot = 0; slot < trees_.size(); ++slot)
        if (Status status = reserve_blocks(slot, counts[slot]); !status) return status;
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < num_components; ++i) {
            const Entity owner = batch.owner(copy, i);
            if (replaces) remove_rows({&owner, 1}, false), instances_.remove_stale(owner);
            append(owner, slots[i]);
        }
    return {};
}

void ModelPoseManager::settle(const SettleContext& context) {
    instances_.settle(context);
    remove_unused_trees();
    for (Tree* tree : trees_) {
        if (tree == nullptr) continue;
        tree->table.settle_memory();
        tree->table.set_stamp(std::max(tree->table.stamp(), context.stamp));
    }
}

std::size_t ModelPoseManager::statistics(std::span<StoreStatistics> out) const {
    const std::size_t count = instances_.statistics(out);
    for (const Tree* tree : trees_)
        if (tree != nullptr && !out.empty()) out[0].rows += tree->table.memory_use();
    return count;
}

Status ModelPoseManager::validate() const {
    if (Status status = validate_blocks(); !status) return status;
    for (std::uint32_t slot = 0; slot < trees_.size(); ++slot)
        if (trees_[slot] != nullptr)
            if (Status status = trees_[slot]->validate(); !status) return status;
    return {};
}

/// Checks that each instance has its own block.
Status ModelPoseManager::validate_blocks() const {
    if (Status status = instances_.validate(); !status) return status;
    std::size_t num_blocks = 0;
    for (const Tree* tree : trees_) num_blocks += tree != nullptr ? tree->num_blocks() : 0;
    if (num_blocks != instances_.num_rows())
        return Status::error(concat("model poses: ", num_blocks, " blocks for ", instances_.num_rows(), " instances"));
    for (std::uint32_t row = 0; row < instances_.num_rows(); ++row) {
        const std::uint32_t slot = value_at(instances_.table(), kTree, row);
        const Tree* tree = slot < trees_.size() ? trees_[slot] : nullptr;
        const std::uint32_t block = value_at(instances_.table(), kBlock, row);
        if (tree == nullptr || block >= tree->num_blocks())
            return Status::error(concat("model poses: instance ", row, " has no block"));
        for (std::uint32_t i = tree->rows(block).begin; i < tree->rows(block).end; ++i)
            if (tree->table.entities()[i] != instances_.owner(Instance{row}))
                return Status::error(concat("model poses: the block of instance ", row, " belongs to another entity"));
    }
    return {};
}

OwnedColumns ModelPoseManager::find_columns(const Schema& component) {
    OwnedColumns columns = instances_.find_columns(component);
    columns.has_fields = false;
    return columns;
}

}  // namespace shoal

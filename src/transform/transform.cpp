// Adds, removes, links, spawns and settles transforms.

#include "shoal/transform/transform.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/stable_span.h"
#include "shoal/transform/detail/pose_math.h"
#include "transform/transform_work.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kRemovalDistance = 32;  // number of entities ahead at which removals are prefetched
constexpr std::uint32_t kBlockRows = 256;     // the local and world poses of a block fit into the L1 cache

FieldDefinition extra_field(const char* name, FieldType type) {
    FieldDefinition field;
    field.name = name;
    field.type = type;
    return field;
}

enum class Extra : std::uint8_t { kWorld, kAll };

/// Returns the fields of Transform, followed by the world pose, the parent, and fields that only the manager uses.
Schema make_row_schema(Extra extra) {
    ComponentDefinition definition = make_definition<Transform>();
    definition.struct_bytes = 0;
    definition.struct_alignment = 0;
    for (FieldDefinition& field : definition.fields) field.struct_offset = FieldDefinition::kPacked;
    definition.fields.push_back(extra_field("world", FieldType::kMatrix3x4));
    if (extra == Extra::kAll) {
        definition.fields.push_back(extra_field("parent", FieldType::kEntity));
        definition.fields.push_back(extra_field("extent", FieldType::kUint32));
        definition.fields.push_back(extra_field("mark", FieldType::kUint32));
    }
    Result<Schema> schema = Schema::make(std::move(definition));
    SHOAL_ASSERT(schema.ok(), schema.ok() ? "" : schema.message().data());
    return std::move(schema).value();
}

}  // namespace

std::span<const Schema* const> TransformManager::shown_schemas() const {
    static const Schema* const kShown[] = {&schema_of<WorldPose>(), &schema_of<ChildOf>()};
    return kShown;
}

OwnedColumns TransformManager::find_columns(const Schema& component) {
    const bool is_world = component.id() == schema_of<WorldPose>().id();
    const bool is_link = component.id() == schema_of<ChildOf>().id();
    OwnedColumns columns = is_world || is_link ? OwnedColumns{.rows = &rows_} : rows_.find_columns(component);
    columns.first_column = is_world ? kWorldColumn : is_link ? kParentColumn : 0;
    columns.needs_parent = columns.is_link = is_link;
    columns.is_read_only = is_world || is_link;
    if (is_link)
        columns.instead = "link transforms with Commands::add(child, ChildOf{parent}) or TransformManager::link()";
    if (is_world) columns.instead = "write \"transform\", or call TransformManager::set_world_pose()";
    columns.is_source = !columns.is_read_only;
    return columns;
}

/// Links each entity to the parent in its value; null makes the entity a root. Skips entities that cannot be linked.
std::uint32_t TransformManager::link_all(std::span<const Entity> entities, const AddedValues& values) {
    std::uint32_t num_linked = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        ChildOf child_of;
        if (values.images != nullptr) std::memcpy(&child_of, values.images + i * values.stride, sizeof child_of);
        const Instance child = instance(entities[i]), parent = instance(child_of.parent);
        Status status;
        if (!child || (child_of.parent && !parent))
            status = Status::error(concat(child ? "its parent" : "it", " has no transform"));
        else if (parent && !rows_.entity_manager().alive(child_of.parent))
            status = Status::error("its parent is dead");
        else if (parent)
            status = link(child, parent);
        else
            unlink(child);
        if (status)
            ++num_linked;
        else
            log(LogLevel::kError, concat("entity ", entity_text(entities[i]), " was not linked to ",
                                         entity_text(child_of.parent), ": ", status.message()));
    }
    return num_linked;
}

Result<std::uint32_t> TransformManager::remove_values(const Schema& component, std::span<const Entity> entities) {
    if (component.id() != schema_of<ChildOf>().id()) return remove(entities);
    std::uint32_t num_unlinked = 0;
    for (const Entity entity : entities) {
        const Instance child = instance(entity);
        if (!child || !parent(child)) continue;
        unlink(child);
        ++num_unlinked;
    }
    return num_unlinked;
}

Result<bool> TransformManager::prepare_values(const Schema& component, std::span<const Entity> entities, bool removes) {
    if (component.id() != schema_of<Transform>().id()) return false;
    return rows_.prepare_values(entities, removes);
}

Result<std::uint32_t> TransformManager::add_values(const Schema& component, std::span<const Entity> entities,
                                                   const AddedValues& values) {
    if (component.id() == schema_of<ChildOf>().id()) return link_all(entities, values);
    if (component.id() == schema_of<WorldPose>().id())
        return Status::error("\"world_pose\" is computed; give the entity a \"transform\", or call set_world_pose()");
    Array<Transform> locals(entities.size(), Transform(), "transform");
    for (std::size_t i = 0; values.images != nullptr && i < locals.size(); ++i)
        std::memcpy(static_cast<void*>(&locals[i]), values.images + i * values.stride, sizeof(Transform));
    const Result<AddCounts> added = add(entities, std::span<const Transform>(locals));
    if (!added) return added.status();
    return added->num_added + added->num_set;
}

TransformManager::TransformManager(EntityManager& entities, PagePool& pool, const TransformOptions& options)
    : options_(options),
      row_schema_(make_row_schema(Extra::kAll)),
      rows_(schema_of<Transform>(), entities, pool,
            {.capacity_rows = options.capacity_rows,
             .row_schema = &row_schema_,
             .tree = true,
             .remove_dead =
                 [](void* self, std::span<const Entity> dead) {
                     static_cast<TransformManager*>(self)->work_->remove(dead, true);
                 },
             .store = this,
             .kind = "the transforms"}),
      work_(make_owned<Work>("transform manager", *this)) {
    if (options.children_of_dead != ChildrenOfDead::kDie) return;
    callback_ = entities.add_destruction_callback(
        [](void* work, std::span<const Entity> dead) { static_cast<Work*>(work)->destroy_children(dead); }, work_);
}

TransformManager::~TransformManager() {
    if (callback_.number != 0) rows_.entity_manager().remove_destruction_callback(callback_);
    destroy_owned("transform manager", work_);
}

ComponentRow TransformManager::find_row(ComponentId component, Entity entity, std::uint32_t index) const {
    static const Schema kShown = make_row_schema(Extra::kWorld);
    const bool is_world = component == schema_of<WorldPose>().id(), is_link = component == schema_of<ChildOf>().id();
    ComponentRow found = Store::find_row(is_world || is_link ? rows_.schema().id() : component, entity, index);
    if (found.schema == nullptr) return found;
    found.schema = is_world ? &schema_of<WorldPose>() : is_link ? &schema_of<ChildOf>() : &kShown;
    found.first_column = is_world ? kWorldColumn : is_link ? kParentColumn : 0;
    if (is_link && found && !parent({found.row})) found.table = nullptr;
    return found;
}

// --- adding ------------------------------------------------------------------------------------------------------

Result<AddCounts> TransformManager::add(std::span<const Entity> entities, const Transform& local) {
    return work_->add(entities, {&local, 1}, {});
}

Result<AddCounts> TransformManager::add(std::span<const Entity> entities, std::span<const Transform> locals,
                                        std::span<const std::uint32_t> parents) {
    SHOAL_ASSERT(locals.size() == entities.size(), "one pose per entity is needed");
    SHOAL_ASSERT(parents.empty() || parents.size() == entities.size(), "one parent per entity is needed, or none");
    return work_->add(entities, locals, parents);
}

/// Turns appended rows into roots. If there are at least as many of them as rows in the suffix, all rows become clean.
/// Otherwise they join the suffix.
void TransformManager::Work::admit(RowRange rows) {
    if (rows.size() >= rows.begin - manager_.num_clean_) leave_all();
    std::fill(extents() + rows.begin, extents() + rows.end, 1u);
    std::fill(marks() + rows.begin, marks() + rows.end, 0u);
    std::fill(parent_entities() + rows.begin, parent_entities() + rows.end, kNullEntity);
}

/// Links new rows to each other, repeating `parents` for each copy. Returns whether the rows are in depth-first order.
bool TransformManager::Work::link_new(RowRange rows, std::span<const std::uint32_t> parents) {
    if (parents.empty()) return true;
    const auto step = static_cast<std::uint32_t>(parents.size());
    for (std::uint32_t row = rows.begin; row < rows.end; row += step) table_.link_trees(row, parents);
    for (std::uint32_t row = rows.begin; row < rows.end; ++row)
        parent_entities()[row] = owner_or_null(this->parents()[row]);
    return add_extents(rows);
}

/// Sets the extents to the sizes of the subtrees. Returns whether each subtree is one range, in which the first child
/// follows its parent, and every other child follows the subtree of the sibling before it. Requires: all extents are 1,
/// parents come first, and siblings are in row order.
bool TransformManager::Work::add_extents(RowRange rows) {
    const std::uint32_t* const parent_of = parents();
    const std::uint32_t* const first_child = first_children();
    const std::uint32_t* const next = next_siblings();
    std::uint32_t* const extent = extents();
    bool is_depth_first = true;
    for (std::uint32_t row = rows.end; row-- > rows.begin;) {
        is_depth_first &= first_child[row] == kNilRow || first_child[row] == row + 1;
        if (parent_of[row] == kNilRow) continue;
        is_depth_first &= next[row] == kNilRow || next[row] == row + extent[row];
        extent[parent_of[row]] += extent[row];
    }
    return is_depth_first;
}

Result<AddCounts> TransformManager::Work::add(std::span<const Entity> added, std::span<const Transform> locals,
                                              std::span<const std::uint32_t> given_parents) {
    const StableSpan stable(added, table_.entities());
    const StableSpan stable_parents(given_parents, table_.links(LinkColumn::kTreeParent));
    const std::span<const Entity> entities = stable.get();
    const std::span<const std::uint32_t> parents = stable_parents.get();
    std::uint32_t highest = 0;
    for (const Entity entity : entities) highest = std::max(highest, entity.index());
    highest = std::min(highest, static_cast<std::uint32_t>(entities_.num_indices_used()));
    if (!rows_.reserve(entities.size(), highest) || !rows_.append_all(entities))
        return add_some(entities, locals, parents, highest);
    const RowRange rows{num_rows() - static_cast<std::uint32_t>(entities.size()), num_rows()};
    admit(rows);
    if (link_new(rows, parents)) {
        // Works in blocks, so that the local poses are still in the cache when the world poses are computed.
        for (std::uint32_t row = rows.begin; row < rows.end; row += kBlockRows) {
            const RowRange block{row, std::min(row + kBlockRows, rows.end)};
            write_locals(block, locals.size() == 1 ? locals : locals.subspan(row - rows.begin, block.size()));
            compute_rows(block);
        }
    } else {
        write_locals(rows, locals);
        order(rows);
        compute_rows(rows);
    }
    follow_parents(rows);
    return AddCounts{rows.size(), 0, 0};
}

/// Shape: one pose per row, or one pose for all rows.
void TransformManager::Work::write_locals(RowRange rows, std::span<const Transform> locals) {
    const PoseColumns columns = pose_columns();
    auto* const positions = const_cast<Vec3*>(columns.position) + rows.begin;
    auto* const rotations = const_cast<Quaternion*>(columns.rotation) + rows.begin;
    auto* const scales = const_cast<Vec3*>(columns.scale) + rows.begin;
    const std::size_t step = locals.size() == 1 ? 0 : 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Transform local = sound_pose(locals[i * step]);
        positions[i] = local.position;
        rotations[i] = local.rotation;
        scales[i] = local.scale;
    }
}

/// Like add(), but works even if some entities have a row, are dead or occur twice, or if memory may run out.
Result<AddCounts> TransformManager::Work::add_some(std::span<const Entity> entities, std::span<const Transform> locals,
                                                   std::span<const std::uint32_t> parents, std::uint32_t highest) {
    std::size_t num_new = 0;
    for (const Entity entity : entities) num_new += entities_.alive(entity) && row_of(entity) == kNilRow;
    if (Status status = rows_.reserve(num_new, highest); !status) return status;
    for (const Entity entity : entities)
        if (entities_.alive(entity)) rows_.remove_stale(entity);
    AddCounts counts;
    Array<std::uint32_t> places{Owner("transform manager")};     // rows, by position in the span
    Array<std::uint32_t> above_new{Owner("transform manager")};  // parents of the new rows
    const std::uint32_t first = num_rows();
    for (std::size_t i = 0; i < entities.size(); ++i) {
        const bool is_root = parents.empty() || parents[i] == kNilRow;
        SHOAL_ASSERT(is_root || parents[i] < i, "a parent does not come before its child");
        const std::uint32_t above = is_root ? kNilRow : places[parents[i]];
        std::uint32_t row = row_of(entities[i]);
        if (!entities_.alive(entities[i])) {
            ++counts.num_skipped;
            row = above;  // children of a dead entity become children of its parent
        } else if (row != kNilRow) {
            ++counts.num_set;
        } else {
            row = rows_.append(entities[i]);
            above_new.push_back(above);
            ++counts.num_added;
        }
        places.push_back(row);
    }
    const RowRange rows{first, num_rows()};
    admit(rows);
    std::fill(worlds() + rows.begin, worlds() + rows.end, Matrix3x4{});
    begin_batch();
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (!entities_.alive(entities[i])) continue;
        write_local(places[i], sound_pose(locals[locals.size() == 1 ? 0 : i]));
        note(places[i]);
    }
    // Children are linked by entity, because linking may move rows, and in reverse order, because the child that is
    // linked last becomes the first child.
    Array<std::pair<Entity, Entity>> links{Owner("transform manager")};
    for (std::uint32_t i = rows.size(); i-- > 0;)
        if (above_new[i] != kNilRow) links.push_back({owner(first + i), owner(above_new[i])});
    for (const auto& [child, parent] : links) link(row_of(child), row_of(parent));
    end_batch(nullptr);
    if (!in_batch()) compute_pending(nullptr);
    return counts;
}

// --- removing ----------------------------------------------------------------------------------------------------

std::uint32_t TransformManager::remove(std::span<const Entity> entities) { return work_->remove(entities, false); }

/// Turns the children of a row into roots, and lists them in `freed`. remove() restores the world poses of children
/// that are not removed.
void TransformManager::Work::free_children(std::uint32_t row, Array<Entity>& freed) {
    for (std::uint32_t child = first_children()[row]; child != kNilRow; child = first_children()[row]) {
        freed.push_back(owner(child));
        link(child, kNilRow);
    }
}

std::uint32_t TransformManager::Work::remove(std::span<const Entity> removed, bool only_dead) {
    rows_.require_unlocked("remove()");
    const StableSpan stable(removed, table_.entities());
    const std::span<const Entity> entities = stable.get();
    compute_pending(nullptr);
    begin_batch();
    if (entities.size() > table_.num_rows() - manager_.num_clean_) leave_all();
    const bool fetches = entities.size() >= kFetchFrom;
    Array<Entity> freed{Owner("transform manager")};
    std::uint32_t num_removed = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (fetches && i + 2 * kRemovalDistance < entities.size()) {
            rows_.index().prefetch(entities[i + 2 * kRemovalDistance]);
            table_.prefetch(row_of(entities[i + kRemovalDistance]));
        }
        if (only_dead && entities_.alive(entities[i])) continue;
        const std::uint32_t row = row_of(entities[i]);
        if (row == kNilRow) continue;
        free_children(row, freed);
        remove_row(row);
        ++num_removed;
    }
    // No pose has been computed since the links changed, so the world poses of these children are still the old ones.
    for (const Entity entity : freed)
        if (const std::uint32_t row = row_of(entity); row != kNilRow) set_world(row, Matrix3x4(worlds()[row]), false);
    end_batch(nullptr);
    return num_removed;
}

/// Destroys the children of dead entities. If a child was already dead, its own children have already been destroyed.
void TransformManager::Work::destroy_children(std::span<const Entity> dead) {
    Array<Entity> children{Owner("transform manager")};
    for (const Entity entity : dead) {
        const std::uint32_t root = row_of(entity);
        if (root == kNilRow) continue;
        for (std::uint32_t child = first_children()[root]; child != kNilRow; child = next_siblings()[child])
            if (entities_.alive(owner(child))) children.push_back(owner(child));
    }
    entities_.destroy_next(children);
}

// --- links -------------------------------------------------------------------------------------------------------

Status TransformManager::link(Instance child, Instance parent, KeepPose keep) {
    rows_.require_no_loop("link()");
    require(child);
    require(parent);
    if (work_->is_ancestor(child.row, parent.row))
        return child == parent
                   ? Status::error(concat("cannot link entity ", entity(child).index(), " to itself"))
                   : Status::error(concat("cannot link entity ", entity(child).index(), " to entity ",
                                          entity(parent).index(), ", its descendant; unlink the descendant first"));
    if (work_->parents()[child.row] == parent.row) return {};
    work_->link_keeping(child.row, parent.row, keep);
    return {};
}

void TransformManager::unlink(Instance child, KeepPose keep) {
    rows_.require_no_loop("unlink()");
    require(child);
    if (work_->parents()[child.row] != kNilRow) work_->link_keeping(child.row, kNilRow, keep);
}

void TransformManager::Work::link_keeping(std::uint32_t child, std::uint32_t parent, KeepPose keep) {
    if (keep == KeepPose::kLocal) return touch(link(child, parent));
    const bool is_stale = refresh(child);
    const Matrix3x4 kept = worlds()[child];
    set_world(link(child, parent), kept, is_stale);
}

void TransformManager::restore_order() {
    rows_.require_no_loop("restore_order()");
    work_->restore_order();
}

// --- look-up -----------------------------------------------------------------------------------------------------

Instance TransformManager::parent(Instance instance) const {
    require(instance);
    return rows_.instance_at(work_->parents()[instance.row]);
}

Instance TransformManager::first_child(Instance instance) const {
    require(instance);
    return rows_.instance_at(work_->first_children()[instance.row]);
}

Instance TransformManager::next_sibling(Instance instance) const {
    require(instance);
    return rows_.instance_at(work_->next_siblings()[instance.row]);
}

Instance TransformManager::previous_sibling(Instance instance) const {
    require(instance);
    return rows_.instance_at(table().links(LinkColumn::kTreePrevious)[instance.row]);
}

Instance TransformManager::next_in_subtree(Instance instance, Instance root) const {
    require(instance);
    require(root);
    return rows_.instance_at(work_->next_in_subtree(instance.row, root.row));
}

// --- store -------------------------------------------------------------------------------------------------------

Status TransformManager::spawn(const SpawnBatch& batch) {
    SHOAL_ASSERT(batch.root_poses.empty() || batch.root_poses.size() == batch.num_copies,
                 "one root pose per copy is needed, or none");
    return work_->spawn(batch);
}

/// For each transform in one copy, finds the transform index of the nearest ancestor that has a transform.
Status TransformManager::Work::find_parents(const SpawnBatch& batch, Array<std::uint32_t>& parents) {
    if (batch.parents.empty()) return {};
    Array<std::uint32_t> positions{Owner("transform manager")};  // the transform of each blob entity, or its ancestor's
    positions.assign(batch.num_blob_entities, kNilRow);
    for (std::uint32_t i = 0; i < batch.entity_index.size(); ++i) positions[batch.entity_index[i]] = i;
    parents.assign(batch.entity_index.size(), kNilRow);
    for (std::uint32_t entity = 0; entity < batch.num_blob_entities; ++entity) {
        const std::uint32_t parent = batch.parents[entity];
        if (parent == kNoBlobEntity) continue;
        if (parent >= entity) return Status::error("a blob names a parent that does not come before its child");
        const std::uint32_t own = positions[entity], above = positions[parent];
        if (own == kNilRow)
            positions[entity] = above;
        else if (above == kNilRow || above < own)
            parents[own] = above;
        else
            return Status::error("the transforms of a blob are not in order: a child comes before its parent");
    }
    return {};
}

/// Repeats the checks of the source compiler, because a blob may be forged.
Status TransformManager::Work::check_poses(const SpawnBatch& batch) {
    const auto values = [&]<class T>(std::uint32_t column, const T&) {
        return std::span(reinterpret_cast<const T*>(batch.columns[column]), batch.entity_index.size());
    };
    const auto refuse = [&](std::size_t i, std::string_view what) {
        return Status::error(concat("the transform of blob entity ", batch.entity_index[i], " has ", what,
                                    "; compile its source again"));
    };
    const auto positions = values(kPositionColumn, Vec3());
    const auto rotations = values(kRotationColumn, Quaternion());
    const auto scales = values(kScaleColumn, Vec3());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        if (!is_sound_position(positions[i])) return refuse(i, "a position that is infinite or not a number");
        if (!is_sound_rotation(rotations[i])) return refuse(i, "a rotation that is not of length 1");
        if (!is_sound_scale(scales[i])) return refuse(i, "a scale that is zero, infinite or not a number");
    }
    return {};
}

Status TransformManager::Work::spawn(const SpawnBatch& batch) {
    if (Status status = rows_.reserve_batch(batch); !status) return status;
    if (batch.entity_index.empty() || batch.num_copies == 0) return {};
    if (Status status = check_poses(batch); !status) return status;
    Array<std::uint32_t> parents{Owner("transform manager")};
    if (Status status = find_parents(batch, parents); !status) return status;
    const RowRange rows = rows_.append_batch(batch);
    admit(rows);
    const auto count = static_cast<std::uint32_t>(batch.entity_index.size());
    for (std::uint32_t copy = 0; copy < batch.root_poses.size(); ++copy) {
        const std::uint32_t first = rows.begin + copy * count;
        const auto& [position, rotation, scale] = batch.root_poses[copy];
        const Transform root = sound_pose({position, rotation, scale});
        for (std::uint32_t i = 0; i < count; ++i)
            if (parents.empty() || parents[i] == kNilRow)
                write_local(first + i, compose(root, manager_.local({first + i})));
    }
    if (!link_new(rows, parents)) order(rows);
    compute_rows(rows);
    follow_parents(rows);
    return {};
}

void TransformManager::settle(const SettleContext& context) {
    SHOAL_ASSERT(!work_->in_batch(), "the transforms settled inside a batch");
    if (options_.mode == TransformMode::kDeferred && !work_->ended_frame()) work_->end_frame(context.executor);
    rows_.remove_dead(context);
    work_->compute_pending(nullptr);
    work_->begin_settled_frame();
    rows_.settle_table(context);
}

TransformManager* find_transforms(const ComponentDirectory& directory) {
    return directory.find_as<TransformManager>(schema_of<Transform>().id());
}

}  // namespace shoal

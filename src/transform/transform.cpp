// Structure: rows that come and go, links, look-up.

#include "shoal/transform/transform.h"

#include "shoal/base/text.h"
#include "transform/transform_work.h"

#include <algorithm>

namespace shoal {
namespace {

FieldDefinition extra_field(const char* name, FieldType type) {
    FieldDefinition field;
    field.name = name;
    field.type = type;
    return field;
}

/// The fields of Transform, then what the manager keeps for itself.
Schema make_row_schema() {
    ComponentDefinition definition = make_definition<Transform>();
    definition.struct_bytes = 0;
    definition.struct_alignment = 0;
    for (FieldDefinition& field : definition.fields) field.struct_offset = FieldDefinition::kPacked;
    definition.fields.push_back(extra_field("world", FieldType::kMatrix3x4));
    definition.fields.push_back(extra_field("extent", FieldType::kUint32));
    definition.fields.push_back(extra_field("mark", FieldType::kUint32));
    Result<Schema> schema = Schema::make(std::move(definition));
    SHOAL_ASSERT(schema.ok(), schema.ok() ? "" : schema.message().data());
    return std::move(schema).value();
}

}  // namespace

TransformManager::TransformManager(EntityManager& entities, PagePool& pool, const TransformOptions& options)
    : options_(options),
      row_schema_(make_row_schema()),
      rows_(schema_of<Transform>(), entities, pool,
            {.capacity_rows = options.capacity_rows,
             .row_schema = &row_schema_,
             .tree = true,
             .remove_dead =
                 [](void* self, std::span<const Entity> dead) {
                     static_cast<TransformManager*>(self)->work_->remove(dead, true);
                 },
             .store = this}),
      work_(new(allocate_memory(sizeof(Work), "transform manager")) Work(*this)) {
    if (options.children_of_dead != ChildrenOfDead::kDie) return;
    callback_ = entities.add_destruction_callback(
        [](void* work, std::span<const Entity> dead) { static_cast<Work*>(work)->destroy_children(dead); }, work_);
}

TransformManager::~TransformManager() {
    if (callback_.number != 0) rows_.entity_manager().remove_destruction_callback(callback_);
    work_->~Work();
    release_memory(work_, sizeof(Work), "transform manager");
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

// --- removing and linking ----------------------------------------------------------------------------------------

std::uint32_t TransformManager::remove(std::span<const Entity> entities) { return work_->remove(entities, false); }

Status TransformManager::link(Instance child, Instance parent, KeepPose keep) {
    SHOAL_ASSERT(child.row < num_rows() && parent.row < num_rows(), "the instance is nil or was removed");
    if (work_->is_ancestor(child.row, parent.row))
        return Status::error(concat("cannot link entity ", entity(child).index(), " to entity ", entity(parent).index(),
                                    ": it ", child == parent ? "is" : "descends from", " the former; unlink it first"));
    if (work_->parents()[child.row] == parent.row) return {};
    const bool is_stale = keep == KeepPose::kWorld && work_->refresh(child.row);
    const Matrix3x4 kept = world(child);
    const std::uint32_t row = work_->link(child.row, parent.row);
    if (keep == KeepPose::kWorld)
        work_->set_world(row, kept, is_stale);
    else
        work_->touch(row);
    return {};
}

void TransformManager::unlink(Instance child, KeepPose keep) {
    SHOAL_ASSERT(child.row < num_rows(), "the instance is nil or was removed");
    if (work_->parents()[child.row] == kNilRow) return;
    const bool is_stale = keep == KeepPose::kWorld && work_->refresh(child.row);
    const Matrix3x4 kept = world(child);
    const std::uint32_t row = work_->link(child.row, kNilRow);
    if (keep == KeepPose::kWorld)
        work_->set_world(row, kept, is_stale);
    else
        work_->touch(row);
}

void TransformManager::restore_order() { work_->restore_order(); }

// --- look-up -----------------------------------------------------------------------------------------------------

Instance TransformManager::parent(Instance instance) const {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    return {work_->parents()[instance.row]};
}

Instance TransformManager::first_child(Instance instance) const {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    return {work_->first_children()[instance.row]};
}

Instance TransformManager::next_sibling(Instance instance) const {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    return {work_->next_siblings()[instance.row]};
}

Instance TransformManager::next_in_subtree(Instance instance, Instance root) const {
    SHOAL_ASSERT(instance.row < num_rows() && root.row < num_rows(), "the instance is nil or was removed");
    return {work_->next_in_subtree(instance.row, root.row)};
}

}  // namespace shoal

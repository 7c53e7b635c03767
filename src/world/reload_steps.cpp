#include "world/reload_steps.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/pose/model_pose.h"
#include "shoal/table/field_part.h"
#include "shoal/transform/transform.h"
#include "world/entity_texts.h"

#include <cstring>

namespace shoal {

Array<std::byte> image_of_row(const ComponentRow& at, const Schema& schema) {
    Array<std::byte> image(schema.struct_bytes(), std::byte(), "reload");
    for (std::size_t f = 0; f < schema.fields().size(); ++f)
        read_part(*at.table, at.first_column, at.row, field_part(*at.schema, at.schema->fields()[f]),
                  image.data() + schema.fields()[f].struct_offset);
    return image;
}

Result<bool> ReloadSteps::write(const ReloadPlace& place, std::size_t field, const std::byte* value) {
    const ComponentRow at = place.find();
    SHOAL_ASSERT(at, "a field is reloaded of an entity without the component");
    const FieldPart part = field_part(*at.schema, at.schema->fields()[field]);
    Array<std::byte> old(part.type.num_bytes(), std::byte(), "reload");
    read_part(*at.table, at.first_column, at.row, part, old.data());
    if (std::memcmp(old.data(), value, old.size()) == 0) return false;
    if (Status status = place.store->write_field(at, part, value); !status) return status;
    steps_.push_back({.kind = Kind::kWrite, .place = place, .field = field, .bytes = std::move(old)});
    return true;
}

Status ReloadSteps::add(Store& store, const Schema& schema, std::span<const Entity> entities, const std::byte* images) {
    if (entities.empty()) return {};
    if (Result<bool> promised = store.prepare_values(schema, entities, false); !promised) return promised.status();
    const Result<std::uint32_t> added =
        store.add_values(schema, entities, {.images = images, .stride = schema.struct_bytes()});
    if (!added) return added.status();
    for (const Entity entity : entities) steps_.push_back({.kind = Kind::kAdd, .place = {&store, &schema, entity}});
    return {};
}

void ReloadSteps::note_removed(const ReloadPlace& place, const ComponentRow& at) {
    steps_.push_back({.kind = Kind::kRemove, .place = place, .bytes = image_of_row(at, *place.schema)});
}

Status ReloadSteps::remove(Store& store, const Schema& schema, std::span<const Entity> entities) {
    if (entities.empty()) return {};
    if (dynamic_cast<ModelPoseManager*>(&store) != nullptr) {
        store.drop(entities);  // the poses of its nodes do not come back, so this is the last step
        return {};
    }
    const std::size_t num_before = steps_.size();
    for (const Entity entity : entities) {
        const ReloadPlace place{&store, &schema, entity};
        note_removed(place, place.find());
    }
    const Result<std::uint32_t> removed = store.remove_values(schema, entities);
    if (!removed) steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(num_before), steps_.end());
    return removed.status();
}

Status ReloadSteps::remove_one(const ReloadPlace& place) {
    const ComponentRow at = place.find();
    SHOAL_ASSERT(at, "a value is reloaded that the entity does not have");
    note_removed(place, at);
    Status status = remove_one_value(*place.store, *place.schema, place.entity, at, place.index);
    if (!status) steps_.pop_back();
    return status;
}

Status ReloadSteps::set_parent(TransformManager& transforms, Entity child, Entity parent) {
    if (parent) return transforms.link(transforms.instance(child), transforms.instance(parent), KeepPose::kLocal);
    transforms.unlink(transforms.instance(child), KeepPose::kLocal);
    return {};
}

Status ReloadSteps::link(Entity child, Entity parent) {
    const Instance before = transforms_->parent(transforms_->instance(child));
    const Entity old_parent = before ? transforms_->entity(before) : kNullEntity;
    if (Status status = set_parent(*transforms_, child, parent); !status) return status;
    steps_.push_back({.kind = Kind::kLink, .place = {.entity = child}, .parent = old_parent});
    return {};
}

Status ReloadSteps::move(Database& database, Entity entity, Zone zone) {
    const Zone before = database.find(entity).table->zone();
    const Result<bool> moved = database.move(entity, zone);
    if (moved) steps_.push_back({.kind = Kind::kMove, .place = {.store = &database, .entity = entity}, .zone = before});
    return moved.status();
}

void ReloadSteps::undo() {
    for (; !steps_.empty(); steps_.pop_back()) undo(steps_.back());
}

void ReloadSteps::undo(const Step& step) {
    const auto& [store, schema, entity, index] = step.place;
    Status status;
    if (step.kind == Kind::kWrite) {
        if (const ComponentRow at = step.place.find())
            status = store->write_field(at, field_part(*at.schema, at.schema->fields()[step.field]), step.bytes.data());
    } else if (step.kind == Kind::kAdd && schema->many()) {
        if (const ComponentRow at = step.place.find()) status = remove_one_value(*store, *schema, entity, at, 0);
    } else if (step.kind == Kind::kAdd) {
        status = dynamic_cast<ModelPoseManager*>(store) != nullptr
                     ? (store->drop({&entity, 1}), Status())
                     : store->remove_values(*schema, {&entity, 1}).status();
    } else if (step.kind == Kind::kRemove) {
        status = store->add_values(*schema, {&entity, 1}, {.images = step.bytes.data()}).status();
    } else if (step.kind == Kind::kLink) {
        status = set_parent(*transforms_, entity, step.parent);
    } else {
        status = static_cast<Database*>(store)->move(entity, step.zone).status();
    }
    if (!status) log(LogLevel::kError, concat("a part of a reload could not be taken back: ", status.message()));
}

}  // namespace shoal

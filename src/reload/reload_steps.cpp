#include "reload/reload_steps.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/components/ownership.h"
#include "shoal/pose/model_pose.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/transform/transform.h"

#include <algorithm>
#include <cstring>

namespace shoal {

Image image_of_row(const Store& store, const ComponentRow& at, const Schema& schema) {
    Image image(schema.struct_bytes(), std::byte(), "reload");
    for (std::size_t f = 0; f < schema.fields().size(); ++f)
        store.read_field(at, field_part(*at.schema, at.schema->fields()[f]),
                         image.data() + schema.fields()[f].struct_offset);
    return image;
}

Array<Image> images_of_list(const ReloadedComponent& first) {
    Array<Image> images{Owner("reload")};
    for (ComponentRow at = first.find(); at;
         at = first.store->find_next(at, first.entity, static_cast<std::uint32_t>(images.size())))
        images.push_back(image_of_row(*first.store, at, *first.schema));
    return images;
}

bool same_image(const Image& a, const Image& b, const Schema& schema) {
    return std::ranges::all_of(schema.fields(), [&](const Field& field) {
        return std::memcmp(a.data() + field.struct_offset, b.data() + field.struct_offset, field.size) == 0;
    });
}

Result<bool> ReloadSteps::write(const ReloadedComponent& place, std::size_t field, const std::byte* value) {
    const ComponentRow at = place.find();
    SHOAL_ASSERT(at, "a field is reloaded of an entity without the component");
    const FieldPart part = field_part(*at.schema, at.schema->fields()[field]);
    Array<std::byte> old(part.type.num_bytes(), std::byte(), "reload");
    place.store->read_field(at, part, old.data());
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

void ReloadSteps::note_removed(const ReloadedComponent& place, const ComponentRow& at) {
    steps_.push_back({.kind = Kind::kRemove, .place = place, .bytes = image_of_row(*place.store, at, *place.schema)});
}

Status ReloadSteps::remove(Store& store, const Schema& schema, std::span<const Entity> entities) {
    if (entities.empty()) return {};
    if (dynamic_cast<ModelPoseManager*>(&store) != nullptr) {
        store.drop(entities);  // node poses cannot be restored, so models are removed last
        return {};
    }
    const std::size_t num_before = steps_.size();
    for (const Entity entity : entities) {
        const ReloadedComponent place{&store, &schema, entity};
        note_removed(place, place.find());
    }
    const Result<std::uint32_t> removed = store.remove_values(schema, entities);
    if (!removed) steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(num_before), steps_.end());
    return removed.status();
}

Status ReloadSteps::set_list(const ReloadedComponent& first, std::span<const Image> values, bool in_place) {
    Array<Image> before = images_of_list(first);
    if (!in_place || before.size() != values.size()) {
        steps_.push_back({.kind = Kind::kList, .place = first, .list = std::move(before)});
        Status status = replace_list(first, values);
        if (status) return {};
        undo(steps_.back());
        steps_.pop_back();
        return status;
    }
    ReloadedComponent place = first;
    for (; place.index < values.size(); ++place.index) {
        if (same_image(before[place.index], values[place.index], *place.schema)) continue;
        for (std::size_t f = 0; f < place.schema->fields().size(); ++f) {
            const std::byte* const value = values[place.index].data() + place.schema->fields()[f].struct_offset;
            if (const Result<bool> written = write(place, f, value); !written) return written.status();
        }
    }
    return {};
}

/// Values are added in front, so equal values at the end are kept, and the values in front of them are replaced. New
/// values are added before old values are removed, because a database moves an entity that loses its last value.
Status ReloadSteps::replace_list(const ReloadedComponent& first, std::span<const Image> values) {
    const auto& [store, schema, entity, index] = first;
    const Array<Image> before = images_of_list(first);
    const std::size_t most = std::min(before.size(), values.size());
    std::size_t num_same = 0;
    while (num_same < most &&
           same_image(before[before.size() - 1 - num_same], values[values.size() - 1 - num_same], *schema))
        ++num_same;
    std::size_t num_gone = before.size() - num_same;
    if (num_gone != 0 && !store->takes_single_values()) {
        const Result<std::uint32_t> removed = store->remove_values(*schema, {&entity, 1});
        if (!removed) return removed.status();
        num_gone = num_same = 0;
    }
    const std::size_t num_new = values.size() - num_same;
    for (std::size_t i = num_new; i-- > 0;) {
        const Result<std::uint32_t> added = store->add_values(*schema, {&entity, 1}, {.images = values[i].data()});
        if (!added) return added.status();
    }
    ReloadedComponent gone = first;
    for (; num_gone > 0; --num_gone) {
        gone.index = static_cast<std::uint32_t>(num_new + num_gone - 1);
        if (Status status = store->remove_one_value(*schema, entity, gone.find(), gone.index); !status) return status;
    }
    return {};
}

Result<bool> ReloadSteps::set_enabled(Database& database, const ReloadedComponent& place, bool on) {
    if (place.find().is_enabled == on) return false;
    steps_.push_back({.kind = Kind::kEnable, .place = place});
    const ComponentValues value{.component = database.find_component(place.schema->id()), .is_disabled = !on};
    const Result<AddCounts> done = database.add({&place.entity, 1}, std::span(&value, 1));
    if (done) return true;
    steps_.pop_back();
    return done.status();
}

/// For each owner, records all of its entities, because undo() must restore their order.
void ReloadSteps::note_owners(OwnershipManager& owners, std::span<const Entity> owned) {
    Step step{.kind = Kind::kOwn, .place = {.store = &owners, .entity = {}}};
    Array<Entity> all{Owner("reload")};
    BitSet is_noted{Owner("reload")};
    for (const Entity entity : owned) {
        const Entity owner = owners.owner(entity);
        all.clear();
        if (!owner)
            all.push_back(entity);
        else if (!is_noted.test_and_set(owner.index()))
            owners.for_each_owned(owner, [&](Entity other) { all.push_back(other); });
        for (std::size_t i = all.size(); i-- > 0;) {
            step.owners.push_back(all[i]);
            step.owners.push_back(owner);
        }
    }
    steps_.push_back(std::move(step));
}

/// Assigns entities to their former owners. The list is in reverse order, because the entity that was assigned last
/// becomes the owner's first.
Status ReloadSteps::give_back(const Step& step) {
    auto& owners = static_cast<OwnershipManager&>(*step.place.store);
    for (std::size_t i = 0; i < step.owners.size(); i += 2) owners.release(step.owners[i]);
    for (std::size_t i = 0; i < step.owners.size(); i += 2)
        if (const Entity owner = step.owners[i + 1])
            if (Status status = owners.own(owner, step.owners[i]); !status) return status;
    return {};
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
    const Status status =
        step.kind == Kind::kLink ? set_parent(*transforms_, step.place.entity, step.parent) : take_back(step);
    if (!status) log(LogLevel::kError, concat("a part of a reload could not be taken back: ", status.message()));
}

/// Undoes a step other than kLink.
Status ReloadSteps::take_back(const Step& step) {
    const auto& [store, schema, entity, index] = step.place;
    const ComponentRow at = schema == nullptr ? ComponentRow() : step.place.find();
    switch (step.kind) {
        case Kind::kWrite:
            if (!at) return {};
            return store->write_field(at, field_part(*at.schema, at.schema->fields()[step.field]), step.bytes.data());
        case Kind::kAdd:
            if (dynamic_cast<ModelPoseManager*>(store) == nullptr)
                return store->remove_values(*schema, {&entity, 1}).status();
            store->drop({&entity, 1});
            return {};
        case Kind::kRemove:
            return store->add_values(*schema, {&entity, 1}, {.images = step.bytes.data()}).status();
        case Kind::kList:
            return replace_list(step.place, step.list);
        case Kind::kEnable: {
            auto& database = static_cast<Database&>(*store);
            const ComponentValues value{.component = database.find_component(schema->id()),
                                        .is_disabled = at.is_enabled};
            return database.add({&entity, 1}, std::span(&value, 1)).status();
        }
        case Kind::kOwn:
            return give_back(step);
        default:
            return static_cast<Database*>(store)->move(entity, step.zone).status();
    }
}

}  // namespace shoal

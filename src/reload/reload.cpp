// Live reload: applies the differences between two versions of a blob, copy by copy.

#include "shoal/reload/reloader.h"

#include "reload/blob_changes.h"
#include "reload/reload_overrides.h"
#include "reload/reload_steps.h"
#include "reload/schema_change.h"
#include "reload/spawn_log.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/entity/entity_text.h"
#include "shoal/pose/model_pose.h"
#include "shoal/react/service.h"
#include "shoal/resource/detail/current_blob.h"
#include "shoal/resource/detail/spawn_instructions.h"
#include "shoal/table/detail/entity_fields.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/transform/detail/pose_math.h"
#include "shoal/transform/transform.h"
#include "shoal/world/detail/blob_stores.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace shoal {
namespace {

bool has_arrays(const Blob& blob) {
    for (const BlobComponents& components : blob.component_types())
        if (components.schema->has(FieldType::kBlobArray)) return true;
    return false;
}

/// Errors: the blobs are not versions of the same resource.
Status check_names(const Blob& before, const Blob& after) {
    if (before.id() && before.id() == after.id()) return {};
    if (!before.id() || !after.id())
        return Status::error("a blob without a name cannot be reloaded; give it one when it is compiled");
    return Status::error(concat("\"", before.name(), "\" cannot be reloaded as \"", after.name(),
                                "\"; give two versions of one resource"));
}

/// Whether the fields of a component type differ between the blobs.
bool have_other_fields(const Blob& before, const Blob& after) {
    for (const BlobComponents& components : before.component_types())
        for (const Schema& schema : after.schemas())
            if (schema.id() == components.id && schema.layout_hash() != components.schema->layout_hash()) return true;
    return false;
}

}  // namespace

class ReloadCall {
public:
    ReloadCall(World& world, SpawnLog& log, const Blob& before, const Blob& after, SpawnedCopies* copies)
        : world_(world),
          transforms_(find_transforms(world.directory())),
          ownership_(world.directory().find_as<OwnershipManager>(schema_of<Owned>().id())),
          model_poses_(world.directory().find_as<ModelPoseManager>(schema_of<ModelPose>().id())),
          log_(log),
          before_(before),
          after_(after),
          copies_(copies),
          changes_(before, after),
          steps_(transforms_),
          transform_type_(type_number(schema_of<Transform>())),
          owned_type_(type_number(schema_of<Owned>())) {}
    ReloadCall(const ReloadCall&) = delete;
    ReloadCall& operator=(const ReloadCall&) = delete;

    static Result<ReloadReport> run(World& world, SpawnLog& log, const Blob& before, const Blob& after);

private:
    // --- the call ------------------------------------------------------------------------------------------------

    static Status check_library(const World& world, const Blob& before, const Blob& after) {
        const Blob* const loaded = world.library() == nullptr ? nullptr : world.library()->find(after.id());
        if (loaded == nullptr || loaded->bytes().data() == after.bytes().data()) return {};
        if (!has_arrays(before) && !has_arrays(after)) return {};
        return Status::error(concat("the library has another version of \"", after.name(),
                                    "\" than the newer one, and rows refer to its read-only arrays; call ",
                                    "ResourceLibrary::replace() first, and reload with what it returns"));
    }

    /// Creates the missing stores for component types that only the newer version has.
    static Status take_new_types(World& world, const Blob& before, const Blob& after) {
        if (Status status = prepare_stores(world, after, "reload"); !status) return status;
        for (const BlobComponents& components : after.component_types()) {
            if (!goes_to_store(world.registry(), components) || world.directory().find(components.id) != nullptr)
                continue;
            if (before.find_components(components.id) != nullptr) continue;  // the type had no store before either
            if (Status status = world.adopt_schemas(*components.schema); !status) return status;
        }
        return {};
    }

    Result<ReloadReport> carry_out() {
        if (Status status = find_takers(); !status) return status;
        list_entities();
        if (copies_ != nullptr && !copies_->overrides.empty()) overrides_.find(world_, *copies_, changes_, after_);
        if (model_poses_ != nullptr) model_poses_->move_trees(before_, after_);
        Status status = change_all();
        if (!status) {
            undo();
            return Status::error(concat("cannot reload \"", after_.name(), "\": ", status.message()));
        }
        finish();
        return report_;
    }

    /// The last two steps remove transforms and models. They cannot be undone, but no store can refuse them.
    Status change_all() {
        using Part = Status (ReloadCall::*)();
        constexpr Part kParts[] = {&ReloadCall::match_lists,
                                   &ReloadCall::move_arrays,
                                   &ReloadCall::create_entities,
                                   &ReloadCall::complete_new_entities,
                                   &ReloadCall::override_new_entities,
                                   &ReloadCall::change_fields,
                                   &ReloadCall::change_singletons,
                                   &ReloadCall::change_lists,
                                   &ReloadCall::add_components,
                                   &ReloadCall::change_enabled,
                                   &ReloadCall::link_all,
                                   &ReloadCall::own_all,
                                   &ReloadCall::remove_components,
                                   &ReloadCall::move_all,
                                   &ReloadCall::respawn_models,
                                   &ReloadCall::remove_transforms,
                                   &ReloadCall::remove_models};
        for (const Part part : kParts)
            if (Status status = (this->*part)(); !status) return status;
        return {};
    }

    void undo() {
        steps_.undo();
        for (Store* store : world_.directory().stores()) store->drop(created_);
        world_.entities().destroy(created_);
        if (model_poses_ != nullptr) model_poses_->move_trees(after_, before_);
    }

    /// Runs the steps that cannot fail.
    void finish() {
        Array<Entity> gone{Owner("reload")};
        for (std::uint32_t copy = 0; copy < num_copies(); ++copy)
            for (const std::uint32_t entity : changes_.gone_entities())
                if (const Entity old = copies_->copy(copy)[entity]; alive(old)) gone.push_back(old);
        gone.insert(gone.end(), orphans_.begin(), orphans_.end());
        report_.num_destroyed = world_.entities().destroy(gone) - orphans_.size();
        for (const BlobText& text : after_.texts())
            if (Result<StringId> kept = world_.strings().intern_until_unused(after_.string(text.text)); !kept)
                log(LogLevel::kWarning, kept.message());
        report_.num_created = created_.size() - orphans_.size();
        report_.num_left_out += orphans_.size();
        for (std::size_t i = 0; i < now_.size(); ++i) report_.num_changed += changed_.test(i);
        move_arrays_of_commands();
        if (copies_ != nullptr) log_.replace(before_, after_, std::move(now_), overrides_.take());
    }

    // --- matching entities ---------------------------------------------------------------------------------------

    bool alive(Entity entity) const { return world_.entities().alive(entity); }
    std::uint32_t num_copies() const { return copies_ == nullptr ? 0 : copies_->num_copies; }
    std::size_t place_of(std::uint32_t copy, std::uint32_t entity) const {
        return std::size_t(copy) * after_.num_entities() + entity;
    }
    /// Returns a copy's entity for an entity of the newer version, or null if the program has destroyed it.
    Entity now(std::uint32_t copy, std::uint32_t entity) const {
        const Entity found = now_[place_of(copy, entity)];
        return alive(found) ? found : kNullEntity;
    }
    bool is_new(std::uint32_t entity) const { return changes_.before_of()[entity] == kNoBlobEntity; }
    void note_changed(std::uint32_t copy, std::uint32_t entity) { changed_.set(place_of(copy, entity)); }

    std::uint32_t type_number(const Schema& schema) const {
        for (std::uint32_t type = 0; type < changes_.types().size(); ++type)
            if (changes_.types()[type].schema->id() == schema.id()) return type;
        return kNoBlobEntity;
    }
    const TypeChanges& type_at(std::uint32_t type) const { return changes_.types()[type]; }
    /// Whether components of the type are ownership links; see own_all().
    bool is_owned(std::uint32_t type) const {
        return type == owned_type_ && ownership_ != nullptr && takers_[type] == ownership_;
    }
    bool is_transform(std::uint32_t type) const {
        return type == transform_type_ && transforms_ != nullptr && takers_[type] == transforms_;
    }
    /// Whether the components of a type are model poses, which are not stored as fields.
    bool is_model(std::uint32_t type) const { return model_poses_ != nullptr && takers_[type] == model_poses_; }

    /// Finds the store of each component type. Errors: components that were spawned by a spawn function have changed.
    Status find_takers() {
        takers_.resize(changes_.types().size(), nullptr);
        for (std::uint32_t type = 0; type < takers_.size(); ++type) {
            const TypeChanges& t = type_at(type);
            const RegisteredComponent* const registered = world_.registry().find(t.schema->id());
            if (registered == nullptr || !registered->has_spawn_function()) {
                takers_[type] = world_.directory().find(t.schema->id());
                continue;
            }
            const auto is_of_type = [&](const auto& change) { return change.type == type; };
            if (std::ranges::any_of(changes_.fields(), is_of_type) ||
                std::ranges::any_of(changes_.added(), is_of_type) ||
                std::ranges::any_of(changes_.removed(), is_of_type) ||
                std::ranges::any_of(changes_.lists(), is_of_type))
                return Status::error(concat("cannot reload \"", after_.name(), "\": \"", t.schema->name(),
                                            "\" of an entity that stays has changed, and it was taken by a spawn ",
                                            "function, which cannot be told; spawn the resource again"));
        }
        return {};
    }

    // --- new entities --------------------------------------------------------------------------------------------

    void list_entities() {
        now_.assign(std::size_t(num_copies()) * after_.num_entities(), kNullEntity);
        for (std::uint32_t copy = 0; copy < num_copies(); ++copy)
            for (std::uint32_t i = 0; i < after_.num_entities(); ++i)
                if (!is_new(i)) now_[place_of(copy, i)] = copies_->copy(copy)[changes_.before_of()[i]];
        report_.num_copies = num_copies();
        list_changed_models();
    }
    Status create_entities() {
        const std::span<const std::uint32_t> news = changes_.new_entities();
        if (news.empty() || num_copies() == 0) return {};
        SpawnOptions options;
        options.copies = num_copies();
        options.root_poses = copies_->root_poses;
        const Result<Spawned> spawned = spawn_part({world_.directory(), &world_.registry()}, after_, news, options);
        if (!spawned) return spawned.status();
        created_.assign(spawned->entities().begin(), spawned->entities().end());
        for (std::uint32_t copy = 0; copy < num_copies(); ++copy)
            for (std::size_t i = 0; i < news.size(); ++i)
                now_[place_of(copy, news[i])] = created_[copy * news.size() + i];
        list_orphans();
        return {};
    }

    /// Lists new entities that have an ancestor which the program has destroyed. finish() destroys these new entities.
    void list_orphans() {
        for (std::uint32_t copy = 0; copy < num_copies(); ++copy) {
            BitSet lost{Owner("reload")};
            lost.resize(after_.num_entities());
            for (std::uint32_t i = 0; i < after_.num_entities(); ++i) {
                const std::uint32_t parent = after_.parents()[i];
                const bool is_lost = is_new(i) ? parent != kNoBlobEntity && lost.test(parent) : !now(copy, i);
                if (is_lost) lost.set(i);
                if (is_lost && is_new(i)) orphans_.push_back(std::exchange(now_[place_of(copy, i)], kNullEntity));
            }
        }
    }

    /// In new entities, sets the values that spawn_part() leaves out: references to existing entities and, in copies
    /// with a root pose, the poses of roots.
    Status complete_new_entities() {
        if (created_.empty()) return {};
        for (std::uint32_t type = 0; type < takers_.size(); ++type) {
            const BlobComponents* const components = type_at(type).after;
            if (components == nullptr || takers_[type] == nullptr || components->schema->singleton()) continue;
            if (is_owned(type)) continue;
            const bool is_moved = type == transform_type_ && !copies_->root_poses.empty();
            if (!components->schema->has(FieldType::kEntity) && !is_moved) continue;
            Array<std::uint32_t> num_rows(after_.num_entities(), 0, "reload");
            for (std::uint32_t row = 0; row < components->count(); ++row) {
                const std::uint32_t entity = components->entity_index[row];
                const std::uint32_t index = num_rows[entity]++;
                for (std::uint32_t copy = 0; is_new(entity) && copy < num_copies(); ++copy)
                    if (Status status = complete(type, row, copy, index); !status) return status;
            }
        }
        return {};
    }
    Status complete(std::uint32_t type, std::uint32_t row, std::uint32_t copy, std::uint32_t index) {
        const TypeChanges& t = type_at(type);
        const Entity entity = now(copy, t.after->entity_index[row]);
        if (!entity) return {};  // an orphan, or an entity that the program has destroyed
        const ReloadedComponent place{takers_[type], t.schema, entity, index};
        for (std::size_t f = 0; f < t.schema->fields().size(); ++f) {
            if (t.schema->fields()[f].type != FieldType::kEntity && type != transform_type_) continue;
            read_value(type, f, row, copy);
            if (const Result<bool> written = steps_.write(place, f, value_.data()); !written) return written.status();
        }
        return {};
    }

    /// Applies overrides to new entities that also existed in an earlier version.
    Status override_new_entities() {
        for (const ReloadOverrides::Entry& entry : overrides_.all()) {
            if (!is_new(entry.entity) || takers_[entry.type] == nullptr || type_at(entry.type).schema->singleton())
                continue;
            if (is_owned(entry.type)) continue;  // own_all() sets these values
            for (std::uint32_t copy = entry.first_copy; copy < entry.first_copy + entry.num_copies; ++copy) {
                const ReloadedComponent place{takers_[entry.type], type_at(entry.type).schema, now(copy, entry.entity),
                                              entry.place};
                const ComponentRow at = place.entity ? place.find() : ComponentRow();
                if (!at) continue;
                const FieldPart whole = field_part(*at.schema, *entry.part.field);
                value_.resize(whole.type.num_bytes());
                place.store->read_field(at, whole, value_.data());
                write_part(value_.data(), entry.part, entry.value.bytes().data());
                if (const Result<bool> done = steps_.write(place, entry.field, value_.data()); !done)
                    return done.status();
            }
        }
        override_new_properties();
        return {};
    }
    /// Applies the overrides of named values to new entities. A value may have a different type in the newer version.
    /// If it does not fit, this is logged.
    void override_new_properties() {
        overrides_.for_each_named(world_.directory(), [&](const LoggedOverride& one, std::string_view path) {
            if (!is_new(one.entity)) return;
            for (std::uint32_t copy = one.first_copy; copy < one.first_copy + one.num_copies; ++copy) {
                const Entity entity = now(copy, one.entity);
                if (!entity) continue;
                if (const Status set = world_.properties().write(entity, path, one.given.value); !set)
                    log(LogLevel::kWarning,
                        concat("the override of \"", one.given.field, "\" of \"", one.given.entity,
                               "\" is left out of the reload of \"", after_.name(), "\": ", set.message()));
            }
        });
    }

    // --- values --------------------------------------------------------------------------------------------------

    /// Copies a field from a row of the newer version to value_, and adapts it to a copy.
    void read_value(std::uint32_t type, std::size_t f, std::uint32_t row, std::uint32_t copy) {
        const TypeChanges& t = type_at(type);
        const Field& field = t.schema->fields()[f];
        value_.resize(field.size);
        read_blob_field(*t.after, field, row, value_.data());
        if (field.type == FieldType::kEntity) translate(field, copy, value_.data());
        if (!copies_->root_poses.empty()) move_value(type, f, row, copy);
        for_each_override(*t.after, type, t.after->entity_index[row], row, f, copy, [&](const auto& override) {
            write_part(value_.data(), override.part, override.value.bytes().data());
        });
    }
    /// If a value holds a position, applies the root pose of a copy to it.
    void move_value(std::uint32_t type, std::size_t f, std::uint32_t row, std::uint32_t copy) {
        const Schema& schema = *type_at(type).schema;
        if (type == transform_type_) place_root(row, copy, schema.fields()[f]);
        if (takers_[type] != nullptr && takers_[type]->is_place_of_tiles(schema.id(), f)) move_place(copy);
    }
    /// Calls visit(override) for each override of a field in a row of the newer version.
    template <class Visit>
    void for_each_override(const BlobComponents& components, std::uint32_t type, std::uint32_t entity,
                           std::uint32_t row, std::size_t f, std::uint32_t copy, Visit&& visit) const {
        overrides_.for_each(type, entity, copy, f, [&](const ReloadOverrides::Entry& entry) {
            if (entry.place == place_of_row(components, row)) visit(entry);
        });
    }
    /// For a `many` type, returns the index of a row among its entity's values. For other types, returns 0.
    static std::uint32_t place_of_row(const BlobComponents& components, std::uint32_t row) {
        if (!components.schema->many()) return 0;
        const std::span<const std::uint32_t> before = components.entity_index.first(row);
        return static_cast<std::uint32_t>(std::ranges::count(before, components.entity_index[row]));
    }
    /// Translates entities of the newer version to entities of a copy.
    void translate(const Field& field, std::uint32_t copy, std::byte* values) const {
        for_each_entity(field, values, field.size, 1, [&](Entity& stored) {
            stored = stored.id < after_.num_entities() ? now(copy, static_cast<std::uint32_t>(stored.id)) : kNullEntity;
        });
    }
    /// Applies the root pose of a copy to the pose of a root.
    void place_root(std::uint32_t row, std::uint32_t copy, const Field& field) {
        const BlobComponents& poses = *type_at(transform_type_).after;
        if (parents_after()[poses.entity_index[row]] != kNoBlobEntity) return;
        Transform local;
        for (const Field& part : poses.schema->fields())
            read_blob_field(poses, part, row, reinterpret_cast<std::byte*>(&local) + part.struct_offset);
        const Transform placed = compose(root_pose(copy), local);
        std::memcpy(value_.data(), reinterpret_cast<const std::byte*>(&placed) + field.struct_offset, field.size);
    }
    /// Applies the root pose of a copy to the position that determines an entity's tile.
    void move_place(std::uint32_t copy) {
        Transform local;
        std::memcpy(&local.position, value_.data(), sizeof local.position);
        const Transform placed = compose(root_pose(copy), local);
        std::memcpy(value_.data(), &placed.position, sizeof placed.position);
    }
    Transform root_pose(std::uint32_t copy) const {
        const auto& [position, rotation, scale] = copies_->root_poses[copy];
        return {position, rotation, scale};
    }
    /// Returns the struct image of a row of the newer version, adapted to a copy.
    Image image_of(std::uint32_t type, std::uint32_t row, std::uint32_t copy) {
        const Schema& schema = *type_at(type).schema;
        Image image(schema.default_image().begin(), schema.default_image().end(), "reload");
        for (std::size_t f = 0; f < schema.fields().size(); ++f) {
            read_value(type, f, row, copy);
            std::memcpy(image.data() + schema.fields()[f].struct_offset, value_.data(), value_.size());
        }
        return image;
    }

    Status write(const ReloadedComponent& place, std::uint32_t type, std::size_t field, std::uint32_t row,
                 std::uint32_t copy, std::uint32_t entity) {
        read_value(type, field, row, copy);
        keep_overridden(place, type, field, row, copy);
        const Result<bool> written = steps_.write(place, field, value_.data());
        if (!written) return written.status();
        if (!*written) return {};
        ++report_.num_fields;
        if (entity != kNoBlobEntity) note_changed(copy, entity);
        return {};
    }

    /// Copies overridden parts of a value from the world to value_.
    void keep_overridden(const ReloadedComponent& place, std::uint32_t type, std::size_t field, std::uint32_t row,
                         std::uint32_t copy) {
        const BlobComponents& components = *type_at(type).after;
        for_each_override(components, type, components.entity_index[row], row, field, copy, [&](const auto& override) {
            Array<std::byte> kept(override.part.type.num_bytes(), std::byte(), "reload");
            place.store->read_field(place.find(), override.part, kept.data());
            write_part(value_.data(), override.part, kept.data());
        });
    }

    // --- entities that stay --------------------------------------------------------------------------------------

    Status change_fields() {
        for (const ChangedFields& change : changes_.fields()) {
            const TypeChanges& t = type_at(change.type);
            if (takers_[change.type] == nullptr || t.schema->singleton()) continue;
            if (is_model(change.type) || is_owned(change.type)) continue;
            for (std::uint32_t copy = 0; copy < num_copies(); ++copy) {
                const ReloadedComponent place{takers_[change.type], t.schema, now(copy, change.after_entity)};
                if (!place.entity || !place.find()) {
                    ++report_.num_left_out;
                    continue;
                }
                for (std::size_t f = 0; f < t.schema->fields().size(); ++f)
                    if ((change.fields >> f & 1) != 0)
                        if (Status status = write(place, change.type, f, change.after_row, copy, change.after_entity);
                            !status)
                            return status;
            }
        }
        return {};
    }

    /// Writes the changed fields of singletons, regardless of which entity has the singleton.
    Status change_singletons() {
        for (std::uint32_t type = 0; type < takers_.size(); ++type) {
            const TypeChanges& t = type_at(type);
            if (takers_[type] == nullptr || !t.schema->singleton() || num_copies() == 0) continue;
            if (t.after == nullptr || t.after->count() == 0 || takers_[type]->tables()[0]->num_rows() == 0) continue;
            const ReloadedComponent place{takers_[type], t.schema, takers_[type]->tables()[0]->entities()[0]};
            for (std::size_t f = 0; f < t.schema->fields().size(); ++f) {
                const bool was_there = t.before != nullptr && t.before->count() != 0;
                if (was_there && changes_.same_field(t, t.schema->fields()[f], 0, 0)) continue;
                if (Status status = write(place, type, f, 0, num_copies() - 1, kNoBlobEntity); !status) return status;
            }
        }
        return {};
    }

    /// Adds the new components, with one call per type. If the program has already added a component, its fields are
    /// set instead.
    Status add_components() {
        const std::span<const ChangedComponent> added = changes_.added();
        for (std::size_t begin = 0, end = 0; begin < added.size(); begin = end) {
            while (end < added.size() && added[end].type == added[begin].type) ++end;
            if (Status status = add_components(added.subspan(begin, end - begin)); !status) return status;
        }
        return {};
    }
    Status add_components(std::span<const ChangedComponent> added) {
        const TypeChanges& t = type_at(added[0].type);
        Store* const store = takers_[added[0].type];
        if (store == nullptr || t.schema->singleton() || is_owned(added[0].type)) return {};
        Array<Entity> entities{Owner("reload")};
        Array<std::byte> images{Owner("reload")};
        for (const ChangedComponent& change : added)
            for (std::uint32_t copy = 0; copy < num_copies(); ++copy) {
                const ReloadedComponent place{store, t.schema, now(copy, change.after_entity)};
                const bool is_there = place.entity && place.find();
                if (!place.entity)
                    ++report_.num_left_out;
                else if (is_model(change.type))
                    changed_models_.push_back({change.type, change.row, copy, change.after_entity});
                else if (!is_there)
                    list_added(change, copy, entities, images);
                else if (Status status = set_added(place, change, copy); !status)
                    return status;
            }
        report_.num_components_added += entities.size();
        return steps_.add(*store, *t.schema, entities, images.data());
    }
    void list_added(const ChangedComponent& change, std::uint32_t copy, Array<Entity>& entities,
                    Array<std::byte>& images) {
        const Image image = image_of(change.type, change.row, copy);
        entities.push_back(now(copy, change.after_entity));
        images.insert(images.end(), image.begin(), image.end());
        note_changed(copy, change.after_entity);
    }
    /// Sets the fields of a component that the program has already added.
    Status set_added(const ReloadedComponent& place, const ChangedComponent& change, std::uint32_t copy) {
        for (std::size_t f = 0; f < place.schema->fields().size(); ++f)
            if (Status status = write(place, change.type, f, change.row, copy, change.after_entity); !status)
                return status;
        return {};
    }

    Status remove_components() {
        const std::span<const ChangedComponent> removed = changes_.removed();
        for (std::size_t begin = 0, end = 0; begin < removed.size(); begin = end) {
            while (end < removed.size() && removed[end].type == removed[begin].type) ++end;
            if (is_model(removed[begin].type) || is_transform(removed[begin].type)) continue;  // removed later
            if (Status status = remove_components(removed.subspan(begin, end - begin)); !status) return status;
        }
        return {};
    }
    Status remove_components(std::span<const ChangedComponent> removed) {
        const TypeChanges& t = type_at(removed[0].type);
        Store* const store = takers_[removed[0].type];
        if (store == nullptr || t.schema->singleton() || is_owned(removed[0].type)) return {};
        Array<Entity> entities{Owner("reload")};
        for (const ChangedComponent& change : removed)
            for (std::uint32_t copy = 0; copy < num_copies(); ++copy) {
                const ReloadedComponent place{store, t.schema, now(copy, change.after_entity)};
                const ComponentRow at = place.entity ? place.find() : ComponentRow();
                if (!at || !at.is_enabled) continue;
                entities.push_back(place.entity);
                note_changed(copy, change.after_entity);
            }
        report_.num_components_removed += entities.size();
        return steps_.remove(*store, *t.schema, entities);
    }

    Status remove_transforms() { return remove_last(transform_type_, &ReloadCall::is_transform); }
    Status remove_models() { return remove_last(type_number(schema_of<ModelPose>()), &ReloadCall::is_model); }
    Status remove_last(std::uint32_t type, bool (ReloadCall::*is_it)(std::uint32_t) const) {
        if (type == kNoBlobEntity || !(this->*is_it)(type)) return {};
        Array<ChangedComponent> removed{Owner("reload")};
        for (const ChangedComponent& change : changes_.removed())
            if (change.type == type) removed.push_back(change);
        return removed.empty() ? Status() : remove_components(removed);
    }

    // --- enableable components --------------------------------------------------------------------------------------

    /// Enables and disables components, including new ones, as in the source.
    Status change_enabled() {
        for (std::uint32_t type = 0; type < takers_.size(); ++type) {
            const TypeChanges& t = type_at(type);
            auto* const database = dynamic_cast<Database*>(takers_[type]);
            if (database == nullptr || !t.schema->enableable() || t.after == nullptr) continue;
            const BitSet was_disabled = find_disabled_entities(before_, t.schema->id(), &world_.registry()),
                         is_disabled = find_disabled_entities(after_, t.schema->id(), &world_.registry());
            BitSet was_there{Owner("reload")};
            was_there.resize(before_.num_entities());
            if (t.before != nullptr)
                for (const std::uint32_t entity : t.before->entity_index) was_there.set(entity);
            for (const std::uint32_t entity : t.after->entity_index) {
                const std::uint32_t older = changes_.before_of()[entity];
                if (older == kNoBlobEntity) continue;
                if (was_there.test(older) && was_disabled.test(older) == is_disabled.test(entity)) continue;
                if (Status status = set_enabled_in_copies(*database, type, entity, !is_disabled.test(entity)); !status)
                    return status;
            }
        }
        return {};
    }
    /// In all copies, enables or disables an entity's component.
    Status set_enabled_in_copies(Database& database, std::uint32_t type, std::uint32_t entity, bool on) {
        for (std::uint32_t copy = 0; copy < num_copies(); ++copy) {
            const ReloadedComponent place{takers_[type], type_at(type).schema, now(copy, entity)};
            if (!place.entity || !place.find()) {
                ++report_.num_left_out;
                continue;
            }
            const Result<bool> changed = steps_.set_enabled(database, place, on);
            if (!changed) return changed.status();
            if (!*changed) continue;
            ++report_.num_enabled_or_disabled;
            note_changed(copy, entity);
        }
        return {};
    }

    // --- lists ---------------------------------------------------------------------------------------------------

    /// A value in a list of the older version, its counterpart in the newer version, and its index in the world.
    struct Pair {
        std::uint32_t before = kNoBlobEntity, after = kNoBlobEntity, world = kNoBlobEntity;
    };
    struct MatchedList {
        const ChangedList* list;
        std::uint32_t copy;
        Array<Pair> pairs{Owner("reload")};
    };

    /// Finds the values of changed lists in the world, before the lists are changed.
    Status match_lists() {
        for (const ChangedList& list : changes_.lists()) {
            if (takers_[list.type] == nullptr || num_copies() == 0) continue;
            const Array<Pair> pairs = pair_values(list);
            move_overrides(list, pairs);
            for (std::uint32_t copy = 0; copy < num_copies(); ++copy) {
                const ReloadedComponent place{takers_[list.type], type_at(list.type).schema,
                                              now(copy, list.after_entity)};
                if (!place.entity) {
                    ++report_.num_left_out;
                    continue;
                }
                MatchedList& matched = matched_lists_.emplace_back(&list, copy);
                matched.pairs.assign(pairs.begin(), pairs.end());
                find_in_world(list, copy, place, matched.pairs);
            }
        }
        return {};
    }

    /// Updates the list indices in overrides.
    void move_overrides(const ChangedList& list, std::span<const Pair> pairs) {
        if (overrides_.all().empty()) return;
        const auto befores = changes_.list_rows().subspan(list.first_before, list.num_before);
        Array<std::uint32_t> place_after(befores.size(), kNoBlobEntity, "reload");
        for (const Pair& pair : pairs)
            if (pair.before != kNoBlobEntity && pair.after != kNoBlobEntity)
                place_after[static_cast<std::size_t>(std::ranges::lower_bound(befores, pair.before) -
                                                     befores.begin())] = place_in_list(list, pair.after);
        overrides_.move_list(list.type, list.after_entity, place_after);
    }

    /// Pairs equal values regardless of order. Then pairs the remaining values in order. Tags are paired only if they
    /// are equal. Returns the pairs in the order of the older version, followed by the new values.
    Array<Pair> pair_values(const ChangedList& list) const {
        const TypeChanges& t = type_at(list.type);
        const auto befores = changes_.list_rows().subspan(list.first_before, list.num_before);
        const auto afters = changes_.list_rows().subspan(list.first_after, list.num_after);
        Array<Pair> pairs{Owner("reload")};
        Array<bool> is_paired(afters.size(), false, "reload");
        Array<std::uint32_t> left{Owner("reload")};
        for (std::size_t i = 0; i < befores.size(); ++i) {
            const std::size_t found = find_same(t, befores[i], afters, is_paired, i);
            if (found == afters.size())
                left.push_back(befores[i]);
            else
                is_paired[found] = true, pairs.push_back({befores[i], afters[found]});
        }
        std::size_t next = 0;
        for (std::size_t a = 0; a < afters.size(); ++a)
            if (!is_paired[a])
                pairs.push_back({next < left.size() && !is_tag(t) ? left[next++] : kNoBlobEntity, afters[a]});
        for (; next < left.size(); ++next) pairs.push_back({left[next], kNoBlobEntity});
        std::ranges::sort(pairs, {}, [](const Pair& pair) { return std::pair(pair.before, pair.after); });
        return pairs;
    }
    /// Returns the index of an equal value in the newer list, or the length of the list if there is none. Most values
    /// are still at `guess`.
    std::size_t find_same(const TypeChanges& t, std::uint32_t before, std::span<const std::uint32_t> afters,
                          const Array<bool>& is_paired, std::size_t guess) const {
        const auto is_same = [&](std::size_t a) { return !is_paired[a] && is_same_row(t, before, afters[a]); };
        if (guess < afters.size() && is_same(guess)) return guess;
        std::size_t found = 0;
        while (found < afters.size() && !is_same(found)) ++found;
        return found;
    }
    /// Tags must not be overwritten, because a write would not update the list of entities that have the tag.
    static bool is_tag(const TypeChanges& type) { return type.schema->id() == schema_of<Tag>().id(); }

    /// Returns the value that the copy got when the older version was spawned.
    Image old_image(const ChangedList& list, std::uint32_t row, std::uint32_t copy) const {
        const TypeChanges& t = type_at(list.type);
        Image image(t.schema->default_image().begin(), t.schema->default_image().end(), "reload");
        for (const Field& field : t.schema->fields())
            read_blob_field(*t.before, field, row, image.data() + field.struct_offset);
        for_each_entity(*t.schema, image.data(), 1, [&](Entity& stored) {
            const bool is_one = stored.id < before_.num_entities();
            stored = is_one ? copies_->copy(copy)[static_cast<std::size_t>(stored.id)] : kNullEntity;
        });
        for (std::size_t f = 0; f < t.schema->fields().size(); ++f)
            overrides_.for_each(list.type, list.after_entity, copy, f, [&](const ReloadOverrides::Entry& entry) {
                if (entry.place_before == place_of_row(*t.before, row))
                    write_part(image.data() + t.schema->fields()[f].struct_offset, entry.part,
                               entry.value.bytes().data());
            });
        return image;
    }

    /// Finds the values of the older version in the world. First finds equal values. Then matches the remaining values
    /// in order, if their number is unchanged.
    void find_in_world(const ChangedList& list, std::uint32_t copy, const ReloadedComponent& first,
                       Array<Pair>& pairs) const {
        const Array<Image> images = images_of_list(first);
        Array<bool> is_taken(images.size(), false, "reload");
        std::size_t num_open = 0;
        for (std::size_t p = pairs.size(); p-- > 0;) {  // in reverse, because the program adds values in front
            Pair& pair = pairs[p];
            if (pair.before == kNoBlobEntity) continue;
            const Image wanted = old_image(list, pair.before, copy);
            for (auto i = static_cast<std::uint32_t>(images.size()); i-- > 0 && pair.world == kNoBlobEntity;)
                if (!is_taken[i] && is_same_value(images[i], wanted, *first.schema)) pair.world = i, is_taken[i] = true;
            num_open += pair.world == kNoBlobEntity;
        }
        const auto num_others = static_cast<std::size_t>(std::ranges::count(is_taken, false));
        std::uint32_t next = 0;
        for (Pair& pair : pairs) {
            if (num_open != num_others || is_tag(type_at(list.type)) || pair.before == kNoBlobEntity ||
                pair.world != kNoBlobEntity)
                continue;
            while (is_taken[next]) ++next;
            pair.world = next++;
        }
    }
    /// Whether two values are equal, where all references to dead entities count as equal.
    bool is_same_value(const Image& a, const Image& b, const Schema& schema) const {
        for (const Field& field : schema.fields()) {
            const std::byte* const one = a.data() + field.struct_offset;
            const std::byte* const other = b.data() + field.struct_offset;
            if (std::memcmp(one, other, field.size) == 0) continue;
            if (field.type != FieldType::kEntity) return false;
            for (std::uint32_t i = 0; i < field.num_values(); ++i) {
                Entity first, second;
                std::memcpy(&first, one + i * sizeof first, sizeof first);
                std::memcpy(&second, other + i * sizeof second, sizeof second);
                if (first != second && (alive(first) || alive(second))) return false;
            }
        }
        return true;
    }

    /// The new content of a list: each value with its index in the newer version.
    struct NewList {
        Array<Image> values{Owner("reload")};
        Array<std::uint32_t> place_of{Owner("reload")};  // kNoBlobEntity for values that the program has added
        Array<bool> is_gone{Owner("reload")};
        std::size_t num_in_world = 0;  // the values in the world are first, in order
    };

    Status change_lists() {
        for (const MatchedList& matched : matched_lists_)
            if (Status status = change_list(*matched.list, matched.copy, matched.pairs); !status) return status;
        return {};
    }
    Status change_list(const ChangedList& list, std::uint32_t copy, std::span<const Pair> pairs) {
        const TypeChanges& t = type_at(list.type);
        const ReloadedComponent place{takers_[list.type], t.schema, now(copy, list.after_entity)};
        const Array<Image> before = images_of_list(place);
        NewList now_list;
        now_list.values.assign(before.begin(), before.end());
        now_list.place_of.resize(before.size(), kNoBlobEntity);
        now_list.is_gone.resize(before.size(), false);
        now_list.num_in_world = before.size();
        for (const Pair& pair : pairs)
            if (pair.before != kNoBlobEntity) follow_value(list, copy, pair, now_list);
        for (const Pair& pair : pairs)
            if (pair.before == kNoBlobEntity) take_value(list, copy, pair, now_list);
        const Array<Image> after = in_order(now_list, list.num_after);
        const auto is_same = [&](const Image& a, const Image& b) { return same_image(a, b, *t.schema); };
        if (std::ranges::equal(before, after, is_same)) return {};
        note_changed(copy, list.after_entity);
        return steps_.set_list(place, after, !is_tag(t));
    }
    /// Changes or removes a value of the older version.
    void follow_value(const ChangedList& list, std::uint32_t copy, const Pair& pair, NewList& now_list) {
        const TypeChanges& t = type_at(list.type);
        const bool has_changed = pair.after != kNoBlobEntity && !is_same_row(t, pair.before, pair.after);
        if (pair.world == kNoBlobEntity) {
            report_.num_left_out += has_changed;
            return;
        }
        if (pair.after == kNoBlobEntity) {
            now_list.is_gone[pair.world] = true;
            ++report_.num_components_removed;
            return;
        }
        now_list.place_of[pair.world] = place_in_list(list, pair.after);
        if (!has_changed) return;
        Image newer = image_of(list.type, pair.after, copy);
        for (std::size_t f = 0; f < t.schema->fields().size(); ++f) {
            const Field& field = t.schema->fields()[f];
            if (changes_.same_field(t, field, pair.before, pair.after)) continue;
            for_each_override(*t.after, list.type, list.after_entity, pair.after, f, copy, [&](const auto& override) {
                Array<std::byte> kept(override.part.type.num_bytes(), std::byte(), "reload");
                read_part(now_list.values[pair.world].data() + field.struct_offset, override.part, kept.data());
                write_part(newer.data() + field.struct_offset, override.part, kept.data());
            });
            std::byte* const value = now_list.values[pair.world].data() + field.struct_offset;
            report_.num_fields += std::memcmp(value, newer.data() + field.struct_offset, field.size) != 0;
            std::memcpy(value, newer.data() + field.struct_offset, field.size);
        }
    }
    /// Adds a value that is new in the newer version, unless the program has added an equal value.
    void take_value(const ChangedList& list, std::uint32_t copy, const Pair& pair, NewList& now_list) {
        const Image newer = image_of(list.type, pair.after, copy);
        const std::uint32_t place = place_in_list(list, pair.after);
        for (std::size_t i = 0; i < now_list.values.size(); ++i) {
            if (now_list.is_gone[i] || now_list.place_of[i] != kNoBlobEntity) continue;
            if (!is_same_value(now_list.values[i], newer, *type_at(list.type).schema)) continue;
            now_list.place_of[i] = place;
            return;
        }
        now_list.values.push_back(newer);
        now_list.place_of.push_back(place);
        now_list.is_gone.push_back(false);
        ++report_.num_components_added;
    }
    std::uint32_t place_in_list(const ChangedList& list, std::uint32_t row) const {
        const auto rows = changes_.list_rows().subspan(list.first_after, list.num_after);  // ascending
        return static_cast<std::uint32_t>(std::ranges::lower_bound(rows, row) - rows.begin());
    }
    /// Returns the values in the order of the newer version. A value that the program has added stays in front of the
    /// source's value that it preceded.
    static Array<Image> in_order(const NewList& list, std::uint32_t num_places) {
        struct OrderedValue {
            std::uint32_t place;
            bool is_of_source;
            std::size_t value;
        };
        Array<OrderedValue> all{Owner("reload")};
        for (std::size_t i = list.num_in_world; i < list.values.size(); ++i) all.push_back({list.place_of[i], true, i});
        std::uint32_t next = num_places;
        for (std::size_t i = list.num_in_world; i-- > 0;) {
            if (list.is_gone[i]) continue;
            const bool is_of_source = list.place_of[i] != kNoBlobEntity;
            if (is_of_source) next = list.place_of[i];
            all.push_back({next, is_of_source, i});
        }
        std::ranges::sort(all, [](const OrderedValue& a, const OrderedValue& b) {
            if (a.place != b.place) return a.place < b.place;
            return a.is_of_source != b.is_of_source ? b.is_of_source : a.value < b.value;
        });
        Array<Image> values{Owner("reload")};
        for (const OrderedValue& placed : all) values.push_back(list.values[placed.value]);
        return values;
    }
    bool is_same_row(const TypeChanges& t, std::uint32_t before, std::uint32_t after) const {
        return std::ranges::all_of(t.schema->fields(),
                                   [&](const Field& field) { return changes_.same_field(t, field, before, after); });
    }

    // --- parents and zones ---------------------------------------------------------------------------------------

    const Array<std::uint32_t>& parents_after() {
        if (parents_after_.empty())
            parents_after_ = parents_among(after_, after_.find_components(schema_of<Transform>().id()));
        return parents_after_;
    }

    /// Links transforms whose parents have changed. All of these transforms are unlinked first, so that the order of
    /// linking cannot cause a cycle.
    Status link_all() {
        if (transform_type_ == kNoBlobEntity || transforms_ == nullptr) return {};
        if (takers_[transform_type_] != transforms_) return {};
        const TypeChanges& t = type_at(transform_type_);
        if (t.after == nullptr || num_copies() == 0 || are_parents_equal()) return {};
        const Array<std::uint32_t> before = parents_among(before_, t.before);
        Array<std::uint32_t> relinked{Owner("reload")};
        for (const std::uint32_t entity : t.after->entity_index) {
            const std::uint32_t above = parents_after()[entity], older = changes_.before_of()[entity];
            const std::uint32_t was = older == kNoBlobEntity ? kNoBlobEntity : before[older];
            const bool same = was == kNoBlobEntity ? above == kNoBlobEntity
                                                   : above != kNoBlobEntity && changes_.after_of()[was] == above;
            if (!same) relinked.push_back(entity);
        }
        for (std::uint32_t copy = 0; copy < num_copies(); ++copy) {
            Array<NewLink> links{Owner("reload")};
            for (const std::uint32_t entity : relinked) list_link(copy, entity, links);
            for (const NewLink& link : links)
                if (Status status = steps_.link(link.child, kNullEntity); !status) return status;
            for (const NewLink& link : links) set_parent(copy, link);
        }
        return {};
    }
    struct NewLink {
        Entity child, before, now;
        std::uint32_t after_entity;
    };
    bool are_parents_equal() const {
        const TypeChanges& t = type_at(transform_type_);
        return changes_.new_entities().empty() && changes_.gone_entities().empty() && t.before != nullptr &&
               std::ranges::equal(before_.parents(), after_.parents()) &&
               std::ranges::equal(before_.entities_by_guid(), after_.entities_by_guid()) &&
               std::ranges::equal(t.before->entity_index, t.after->entity_index);
    }
    /// Lists an entity whose parent is not the intended one.
    void list_link(std::uint32_t copy, std::uint32_t entity, Array<NewLink>& links) {
        const TransformManager& transforms = *transforms_;
        const std::uint32_t above = parents_after()[entity];
        const Entity child = now(copy, entity), parent = above == kNoBlobEntity ? kNullEntity : now(copy, above);
        if (!child || !transforms.has(child) || (above != kNoBlobEntity && !transforms.has(parent))) {
            report_.num_left_out += !is_new(entity);
            return;
        }
        const Instance linked = transforms.parent(transforms.instance(child));
        const Entity before = linked ? transforms.entity(linked) : kNullEntity;
        if (before != parent) links.push_back({child, before, parent, entity});
    }
    /// Links a root to its new parent. If the program has made the new parent a descendant of the root, links the root
    /// to its former parent.
    void set_parent(std::uint32_t copy, const NewLink& link) {
        if (!steps_.link(link.child, link.now)) {
            ++report_.num_left_out;
            static_cast<void>(steps_.link(link.child, link.before));
        } else if (!is_new(link.after_entity)) {
            ++report_.num_linked;
            note_changed(copy, link.after_entity);
        }
    }

    // --- owners --------------------------------------------------------------------------------------------------

    struct NewOwner {
        Entity owned, owner;
        std::uint32_t copy, after_entity;
        std::uint64_t* count;  // the count in the report
    };

    /// Assigns entities to their new owners. All of these entities are released first, so that the order of assignments
    /// cannot cause a cycle. Errors: there is an ownership cycle because the program has changed owners.
    Status own_all() {
        if (owned_type_ == kNoBlobEntity || !is_owned(owned_type_)) return {};
        Array<NewOwner> owners{Owner("reload")};
        for (std::uint32_t copy = 0; copy < num_copies(); ++copy) list_owners(copy, owners);
        OwnershipManager& ownership = *ownership_;
        Array<Entity> owned{Owner("reload")};
        for (const NewOwner& one : owners) owned.push_back(one.owned);
        steps_.note_owners(ownership, owned);
        ownership.release(owned);
        for (const NewOwner& one : owners) {
            if (one.count != nullptr) ++*one.count;
            if (!is_new(one.after_entity)) note_changed(one.copy, one.after_entity);
            if (!one.owner) continue;
            if (Status status = ownership.own(one.owner, one.owned); !status)
                return Status::error(concat("entity ", entity_text(one.owned), " cannot be owned by ",
                                            entity_text(one.owner), " as the source says: ", status.message()));
        }
        return {};
    }
    /// Lists the entities of a copy whose owner is to change.
    void list_owners(std::uint32_t copy, Array<NewOwner>& owners) {
        const TypeChanges& t = type_at(owned_type_);
        for (std::uint32_t row = 0; t.after != nullptr && row < t.after->count(); ++row)
            if (const std::uint32_t entity = t.after->entity_index[row]; is_new(entity))
                list_owner(copy, entity, row, nullptr, owners);
        for (const ChangedComponent& change : changes_.added())
            if (change.type == owned_type_)
                list_owner(copy, change.after_entity, change.row, &report_.num_components_added, owners);
        for (const ChangedFields& change : changes_.fields()) {
            if (change.type != owned_type_) continue;
            const Entity entity = now(copy, change.after_entity);
            bool is_overridden = false;
            overrides_.for_each(owned_type_, change.after_entity, copy, 0, [&](const auto&) { is_overridden = true; });
            if (is_overridden) continue;
            if (entity && ownership_->owner(entity))
                list_owner(copy, change.after_entity, change.after_row, &report_.num_fields, owners);
            else
                ++report_.num_left_out;
        }
        for (const ChangedComponent& change : changes_.removed()) {
            const Entity entity = change.type == owned_type_ ? now(copy, change.after_entity) : kNullEntity;
            if (entity && ownership_->owner(entity))
                owners.push_back({entity, kNullEntity, copy, change.after_entity, &report_.num_components_removed});
        }
    }
    void list_owner(std::uint32_t copy, std::uint32_t entity, std::uint32_t row, std::uint64_t* count,
                    Array<NewOwner>& owners) {
        const TypeChanges& t = type_at(owned_type_);
        Entity named, owner;
        read_blob_field(*t.after, t.schema->fields()[0], row, reinterpret_cast<std::byte*>(&named));
        bool has_owner = named.id < after_.num_entities();
        if (has_owner) owner = now(copy, static_cast<std::uint32_t>(named.id));
        overrides_.for_each(owned_type_, entity, copy, 0, [&](const ReloadOverrides::Entry& entry) {
            std::memcpy(&owner, entry.value.bytes().data(), sizeof owner);
            has_owner = bool(owner);
        });
        const Entity owned = now(copy, entity);
        if (!owned || (has_owner && !owner))
            report_.num_left_out += !is_new(entity);
        else if (ownership_->owner(owned) != owner)
            owners.push_back({owned, owner, copy, entity, count});
    }

    /// Moves entities whose zone has changed in the source.
    Status move_all() {
        Array<Zone> before = named_zones(before_), after = named_zones(after_);
        if (before.empty() && after.empty()) return {};
        before.resize(before_.num_entities(), kNoZone), after.resize(after_.num_entities(), kNoZone);
        const Array<Database*> databases = list_databases(world_.directory());
        for (std::uint32_t i = 0; i < after_.num_entities(); ++i) {
            if (is_new(i) || after[i] == kNoZone || after[i] == before[changes_.before_of()[i]]) continue;
            for (std::uint32_t copy = 0; copy < num_copies(); ++copy)
                for (Database* database : databases) {
                    const DatabaseRow at = database->find(now(copy, i));
                    if (!at || at.table->zone() == after[i]) continue;
                    if (Status status = steps_.move(*database, now(copy, i), after[i]); !status) return status;
                    note_changed(copy, i);
                }
        }
        return {};
    }

    // --- models and arrays ---------------------------------------------------------------------------------------

    struct ChangedModel {
        std::uint32_t type, row, copy, after_entity;
    };

    void list_changed_models() {
        for (const ChangedFields& change : changes_.fields())
            for (std::uint32_t copy = 0; is_model(change.type) && copy < num_copies(); ++copy) {
                const Entity entity = now(copy, change.after_entity);
                if (entity && model_poses_->has(entity))
                    changed_models_.push_back({change.type, change.after_row, copy, change.after_entity});
                else
                    ++report_.num_left_out;
            }
    }

    /// Replaces models whose trees have changed.
    Status respawn_models() {
        if (changed_models_.empty()) return {};
        const TypeChanges& t = type_at(changed_models_[0].type);
        Array<Entity> entities{Owner("reload")};
        Array<std::uint32_t> numbers{Owner("reload")};
        std::vector<Array<std::byte>> columns(t.schema->columns().size(), Array<std::byte>(Owner("reload")));
        for (const ChangedModel& model : changed_models_) {
            numbers.push_back(static_cast<std::uint32_t>(entities.size()));
            entities.push_back(now(model.copy, model.after_entity));
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const std::size_t bytes = t.schema->columns()[c].element_bytes;
                const std::byte* const element = t.after->columns[c] + model.row * bytes;
                columns[c].insert(columns[c].end(), element, element + bytes);
            }
        }
        std::vector<const std::byte*> firsts;
        for (const Array<std::byte>& column : columns) firsts.push_back(column.data());
        SpawnBatch batch;
        batch.component = t.schema->id();
        batch.entities = entities;
        batch.num_blob_entities = static_cast<std::uint32_t>(entities.size());
        batch.entity_index = numbers;
        batch.columns = firsts;
        if (Status status = model_poses_->respawn(batch); !status) return status;
        for (const ChangedModel& model : changed_models_) note_changed(model.copy, model.after_entity);
        report_.num_fields += changed_models_.size();
        return {};
    }

    /// Updates all rows that refer to arrays in the older version. They then refer to the arrays with the same values
    /// in the newer version.
    Status move_arrays() {
        if (changes_.arrays_stay() || !has_arrays(before_)) return {};
        MovedArrays moved(before_, after_);
        if (moved.empty()) return {};
        for (const ReloadedComponent& place : places_with_moved(moved))
            if (Status status = move_arrays(place, moved); !status) return status;
        return {};
    }
    /// In pending commands, updates the values that refer to arrays in the older version.
    void move_arrays_of_commands() {
        if (changes_.arrays_stay() || !has_arrays(before_)) return;
        struct Moving {
            MovedArrays moved;
            ResourceId resource;
        };
        Moving moving{MovedArrays(before_, after_), before_.id()};
        const auto move = [](void* context, FieldType type, BlobArrayBase& array) {
            auto& [moved, resource] = *static_cast<Moving*>(context);
            const bool is_moved = array.count != 0 && array.resource == resource;
            if (is_moved) array = moved.find(type, array);
            return is_moved;
        };
        if (!moving.moved.empty()) WaitingCommands::of_directory(world_.directory()).visit_arrays(move, &moving);
    }
    /// Lists the components that have a moved array. For a `many` type, lists only the first component of each entity.
    /// Includes components of dead entities, because they are saved until the world settles.
    Array<ReloadedComponent> places_with_moved(MovedArrays& moved) {
        Array<ReloadedComponent> places{Owner("reload")};
        for (Store* store : world_.directory().stores())
            for (const Schema* schema : store->schemas()) {
                const OwnedColumns columns = store->find_columns(*schema);
                const bool has_fields = !columns || columns.has_fields;
                if (has_fields && schema->has(FieldType::kBlobArray)) list_moved(*store, *schema, moved, places);
            }
        return places;
    }
    void list_moved(Store& store, const Schema& schema, MovedArrays& moved, Array<ReloadedComponent>& places) {
        Array<ComponentTable> tables{Owner("reload")};
        store.list_tables(schema, tables);
        BitSet is_listed{Owner("reload")};
        for (const ComponentTable& table : tables)
            for (std::uint32_t row = 0; row < table.table->num_rows(); ++row) {
                const Entity entity = table.table->entities()[row];
                const ComponentRow at{&schema, table.table, row, table.first_column};
                const auto has_moved = [&](const Field& field) { return read_moved(at, field, moved); };
                if (!entity || std::ranges::none_of(schema.fields(), has_moved)) continue;
                if (!is_listed.test_and_set(entity.index())) places.push_back({&store, &schema, entity});
            }
    }
    /// Updates the arrays in all of an entity's values of one type.
    Status move_arrays(ReloadedComponent place, MovedArrays& moved) {
        for (ComponentRow at = place.find(); at;) {
            for (std::size_t f = 0; f < at.schema->fields().size(); ++f)
                if (read_moved(at, at.schema->fields()[f], moved))
                    if (const Result<bool> written = steps_.write(place, f, value_.data()); !written)
                        return written.status();
            ++place.index;
            at = place.schema->many() ? place.store->find_next(at, place.entity, place.index) : ComponentRow();
        }
        return {};
    }
    /// Copies a field with arrays to value_ and updates the copy to the newer version. Returns whether any array has
    /// moved.
    bool read_moved(const ComponentRow& at, const Field& field, MovedArrays& moved) {
        if (field.type != FieldType::kBlobArray) return false;
        value_.resize(field.size);
        read_part(*at.table, at.first_column, at.row, field_part(*at.schema, field), value_.data());
        bool moves = false;
        for (std::uint32_t i = 0; i < field.num_values(); ++i) {
            const auto array = read_as<BlobArrayBase>(value_.data() + i * sizeof(BlobArrayBase));
            if (array.count == 0 || array.resource != before_.id()) continue;
            const BlobArrayBase newer = moved.find(field.element_type, array);
            moves |= newer != array;
            std::memcpy(value_.data() + i * sizeof newer, &newer, sizeof newer);
        }
        return moves;
    }

    World& world_;
    TransformManager* transforms_;  // this and the next two are nullptr if the world has no such store
    OwnershipManager* ownership_;
    ModelPoseManager* model_poses_;
    SpawnLog& log_;
    const Blob& before_;
    const Blob& after_;
    SpawnedCopies* copies_;  // nullptr if there are no copies
    BlobChanges changes_;
    ReloadSteps steps_;
    std::uint32_t transform_type_, owned_type_;
    ReloadReport report_;
    Array<Store*> takers_{Owner("reload")};  // by component type; nullptr if there is no store
    Array<Entity> now_{Owner("reload")};     // by copy and entity of the newer version
    Array<Entity> created_{Owner("reload")};
    Array<Entity> orphans_{Owner("reload")};  // new entities that finish() destroys
    BitSet changed_{Owner("reload")};         // indexed like now_
    Array<std::uint32_t> parents_after_{Owner("reload")};
    Array<std::byte> value_{Owner("reload")};
    Array<ChangedModel> changed_models_{Owner("reload")};
    std::vector<MatchedList> matched_lists_;
    ReloadOverrides overrides_;
};

Result<ReloadReport> ReloadCall::run(World& world, SpawnLog& log, const Blob& before, const Blob& after) {
    if (Status status = check_names(before, after); !status) return status;
    if (Status status = check_library(world, before, after); !status) return status;
    const CurrentBlob newer(after, world.registry());
    if (!newer.status()) return newer.status();
    SchemaChange schemas(world);
    if (Status status = schemas.begin(newer.get()); !status)
        return Status::error(concat("cannot reload \"", after.name(), "\": ", status.message()));
    CurrentBlob older(before, world.registry());
    if (have_other_fields(older.get(), newer.get())) older.take_fields(newer.get().schemas(), world.registry());
    if (!older.status()) return older.status();
    if (Status status = take_new_types(world, older.get(), newer.get()); !status) return status;
    SpawnedCopies* const copies = log.find_living(before);
    Result<ReloadReport> report = ReloadCall(world, log, older.get(), newer.get(), copies).carry_out();
    if (!report) return report;
    report->num_schemas = schemas.num_schemas();
    report->num_other_copies = log.count_others(after);
    schemas.keep();
    return report;
}

// --- the service -------------------------------------------------------------------------------------------------

Reloader::Reloader(World& world)
    : WorldService("spawns", ServiceStage::kReloads), world_(&world), log_(new SpawnLog(world.entities())) {
    world.services().add(*this);
}

Reloader::~Reloader() {
    if (world_ == nullptr) return;
    world_->services().remove(*this);
    world_ends();
}

void Reloader::world_ends() {
    delete std::exchange(log_, nullptr);
    world_ = nullptr;
}

Result<ReloadReport> Reloader::reload(const Blob& before, const Blob& after) {
    SHOAL_ASSERT(world_ != nullptr, "a blob was to be reloaded in a world that has ended");
    SHOAL_ASSERT(world_->services().is_at_rest(),
                 "a pass, a callback or an observer called Reloader::reload(); reload after World::step()");
    if (Status status = world_->services().check_all_loaded("reloaded"); !status) return status;
    return ReloadCall::run(*world_, *log_, before, after);
}

std::string Reloader::describe() const { return concat("of ", log_->num_known(), " entities are known"); }

void Reloader::spawned(const Blob& blob, const Spawned& spawned, const SpawnOptions& options) {
    log_->add(blob, spawned, options);
}

void Reloader::note_deaths() { log_->note_deaths(); }

void Reloader::mark_texts(TextMarks& marks) const { log_->mark_texts(marks); }

void Reloader::save_part(SnapshotWriter& to) const { log_->save(to); }

Status Reloader::load_part(SnapshotReader& from, std::uint32_t) { return log_->load(from); }

}  // namespace shoal

#include "shoal/world/entity_blob.h"

#include "shoal/base/bit_set.h"
#include "shoal/base/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/components/ownership.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/entity/entity_text.h"
#include "shoal/resource/blob_values.h"
#include "shoal/table/table.h"
#include "shoal/transform/pose_math.h"
#include "shoal/transform/transform.h"

#include <algorithm>
#include <cstring>

namespace shoal {

std::vector<Entity> entities_below(World& world, Entity entity) {
    std::vector<Entity> found = {entity};
    BitSet is_found{Owner("entity blob")};
    is_found.set(entity.index());
    for (std::size_t i = 0; i < found.size(); ++i)
        for (const Store* store : world.stores())
            for (const Table* table : store->tables()) {
                if (!table->has_tree() || table->index() == nullptr) continue;
                const std::uint32_t row = table->index()->find(found[i]);
                if (row == kNilRow) continue;
                const std::span<const std::uint32_t> next = table->links(LinkColumn::kTreeNext);
                for (std::uint32_t child = table->links(LinkColumn::kTreeFirstChild)[row]; child != kNilRow;
                     child = next[child])
                    if (const Entity below = table->entities()[child];
                        world.entities().alive(below) && !is_found.test_and_set(below.index()))
                        found.push_back(below);
            }
    return found;
}

namespace {

class EntitySaver {
public:
    /// `for_copy`: what refers to other places of the same world is left out, for CopyCall to add. `seen_from`: the places
    /// of roots are as seen from this entity; null: from the world.
    EntitySaver(World& world, std::span<const Entity> entities, const EntityBlobOptions& options, bool for_copy = false,
                Entity seen_from = {})
        : world_(world),
          entities_(entities),
          options_(options),
          for_copy_(for_copy),
          seen_from_(seen_from),
          values_(writer_,
                  {&world.strings(), world.library(),
                   [](void* self, Entity entity) { return static_cast<EntitySaver*>(self)->find(entity); }, this}) {}
    EntitySaver(const EntitySaver&) = delete;
    EntitySaver& operator=(const EntitySaver&) = delete;

    Result<EntityBlob> save() {
        writer_.set_name(options_.name);
        if (Status status = list_entities(); !status) return status;
        for (Store* store : world_.stores())
            for (const Schema* component : store->schemas())
                if (Status status = add_components(*store, *component); !status) return status;
        if (Status status = add_zones(); !status) return status;
        if (Status status = add_type(schema_of<SpawnSwitchedOff>(), off_owners_, {off_}); !status) return status;
        Result<std::vector<std::byte>> bytes = writer_.write();
        if (!bytes) return bytes.status();
        return EntityBlob{std::move(*bytes), num_components_, values_.num_lost_references()};
    }

private:
    using Bytes = std::vector<std::byte>;

    std::uint32_t find(Entity entity) const { return number_of_.find_or(entity.id, kNoBlobEntity); }

    /// Returns the parent of an entity in the transforms, or null.
    Entity parent_of(Entity entity) const {
        const TransformManager* const transforms = world_.find_transforms();
        const Instance instance = transforms == nullptr ? kNilInstance : transforms->instance(entity);
        const Instance parent = instance ? transforms->parent(instance) : kNilInstance;
        return parent ? transforms->entity(parent) : kNullEntity;
    }

    Status list_entities() {
        for (std::uint32_t i = 0; i < entities_.size(); ++i) {
            if (!world_.entities().alive(entities_[i]))
                return Status::error(concat("entity ", entity_text(entities_[i]), " is dead, so it cannot be saved"));
            const Entity parent = parent_of(entities_[i]);
            writer_.add_entity({.parent = parent ? find(parent) : kNoBlobEntity});
            number_of_.set(entities_[i].id, i);
        }
        return {};
    }

    /// Adds all components of a type that the entities have.
    Status add_components(Store& store, const Schema& component) {
        if (for_copy_ && component.has_opaque()) return {};
        std::vector<std::uint32_t> owners;
        std::vector<Bytes> columns(component.columns().size());
        for (std::uint32_t i = 0; i < entities_.size(); ++i)
            for (std::uint32_t number = 0;; ++number) {
                const ComponentRow at = store.find_row(component.id(), entities_[i], number);
                if (!at || (number != 0 && !component.many())) break;
                if (component.id() == schema_of<Owned>().id() && !has_owner(at)) continue;
                if (Status status = check_fields(store, component); !status) return status;
                owners.push_back(i);
                append_row(component, at, columns);
                if (!at.is_on) note_off(component, i);
            }
        if (owners.empty()) return {};
        if (component.id() == schema_of<Transform>().id()) place_roots(owners, columns);
        for (const Field& field : component.fields()) {
            if (!values_.needs_translation(field)) continue;
            std::byte* const first = columns[field.first_column].data() + component.offset_in_column(field);
            const std::size_t stride = component.columns()[field.first_column].element_bytes;
            for (std::size_t i = 0; for_copy_ && field.type == FieldType::kBlobArray && i < owners.size(); ++i)
                std::memset(first + i * stride, 0, field.size);
            if (Status status = values_.translate(component, field, first, stride, owners.size()); !status)
                return status;
        }
        num_components_ += owners.size();
        return add_type(component, owners, columns);
    }

    /// Whether an owner is saved too. Entities that own others, and are owned by nobody, have a row of owners as well.
    bool has_owner(const ComponentRow& at) const {
        const std::uint32_t owner = at.table->links(LinkColumn::kTreeParent)[at.row];
        return owner != kNilRow && find(at.table->entities()[owner]) != kNoBlobEntity;
    }

    static Status check_fields(Store& store, const Schema& component) {
        if (component.has_opaque())
            return Status::error(
                concat("\"", component.name(), "\" has fields that are more than bytes, which a blob cannot hold"));
        const OwnedColumns columns = store.find_columns(component);
        if (columns && !columns.has_fields)
            return Status::error(
                concat("\"", component.name(), "\" is kept by ", store.kind(), " in a form that cannot be saved"));
        return {};
    }

    static void append_row(const Schema& component, const ComponentRow& at, std::vector<Bytes>& columns) {
        for (std::uint32_t c = 0; c < columns.size(); ++c) {
            const std::size_t bytes = component.columns()[c].element_bytes;
            const std::byte* const element = at.table->column(at.first_column + c) + std::size_t(at.row) * bytes;
            columns[c].insert(columns[c].end(), element, element + bytes);
        }
    }

    void note_off(const Schema& component, std::uint32_t owner) {
        const SpawnSwitchedOff off{component.id()};
        off_owners_.push_back(owner);
        const auto* const bytes = reinterpret_cast<const std::byte*>(&off);
        off_.insert(off_.end(), bytes, bytes + sizeof off);
    }

    /// Entities whose parents are not saved stay where they are in the world, or as seen from the original.
    void place_roots(std::span<const std::uint32_t> owners, std::vector<Bytes>& columns) {
        const TransformManager& transforms = *world_.find_transforms();
        const Instance origin = seen_from_ ? transforms.instance(seen_from_) : kNilInstance;
        for (std::size_t i = 0; i < owners.size(); ++i) {
            const Instance instance = transforms.instance(entities_[owners[i]]);
            const Instance parent = transforms.parent(instance);
            const bool stays_child = parent && find(transforms.entity(parent)) != kNoBlobEntity;
            if (stays_child || (!parent && !origin)) continue;
            Transform local;
            if (instance != origin)
                local =
                    nearest_relative_pose(origin ? transforms.world(origin) : Matrix3x4(), transforms.world(instance))
                        .pose;
            std::memcpy(columns[0].data() + i * sizeof(Vec3), &local.position, sizeof(Vec3));
            std::memcpy(columns[1].data() + i * sizeof(Quaternion), &local.rotation, sizeof(Quaternion));
            std::memcpy(columns[2].data() + i * sizeof(Vec3), &local.scale, sizeof(Vec3));
        }
    }

    Status add_zones() {
        std::vector<std::uint32_t> owners;
        Bytes zones;
        const Database* const database = world_.find_database();
        for (std::uint32_t i = 0; options_.keeps_zones && database != nullptr && i < entities_.size(); ++i) {
            const DatabaseRow at = database->find(entities_[i]);
            if (!at) continue;
            const Zone zone = at.table->zone();
            owners.push_back(i);
            const auto* const bytes = reinterpret_cast<const std::byte*>(&zone);
            zones.insert(zones.end(), bytes, bytes + sizeof zone);
        }
        return add_type(schema_of<SpawnZone>(), owners, {zones});
    }

    Status add_type(const Schema& component, std::span<const std::uint32_t> owners, const std::vector<Bytes>& columns) {
        if (owners.empty()) return {};
        const RegisteredComponent* const registered = world_.registry().find(component.id());
        const Result<std::uint32_t> type =
            writer_.add_component_type(component, registered == nullptr ? 0 : registered->spawn_order);
        if (!type) return type.status();
        std::vector<const std::byte*> firsts;
        for (const Bytes& column : columns) firsts.push_back(column.data());
        writer_.add_components(*type, owners, firsts);
        return {};
    }

    World& world_;
    std::span<const Entity> entities_;
    const EntityBlobOptions& options_;
    bool for_copy_;
    Entity seen_from_;
    BlobWriter writer_;
    BlobValues values_;
    HashMap<std::uint64_t, std::uint32_t> number_of_{Owner("entity blob")};  // by id
    std::vector<std::uint32_t> off_owners_;
    Bytes off_;
    std::uint64_t num_components_ = 0;
};

/// Gives copies what a blob cannot hold: references to entities that were not copied, read-only arrays of resources, and
/// components that are more than bytes.
class CopyCall {
public:
    CopyCall(World& world, std::span<const Entity> originals) : world_(world), originals_(originals) {
        for (std::uint32_t i = 0; i < originals.size(); ++i) number_of_.set(originals[i].id, i);
    }

    /// Errors: a component cannot be copied; the message names it.
    Status check() const {
        for (const Store* store : world_.stores())
            for (const Schema* component : store->schemas())
                for (const ColumnDefinition& column : component->columns())
                    if (column.opaque != nullptr && column.opaque->copy_construct == nullptr)
                        for (const Entity entity : originals_)
                            if (store->find_row(component->id(), entity, 0))
                                return Status::error(concat("\"", component->name(), "\" cannot be copied"));
        return {};
    }

    /// Completes the copies, which lie one behind the other. Errors: no memory; some are not complete.
    Status complete(std::span<const Entity> copies) {
        for (Store* store : world_.stores())
            for (const Schema* component : store->schemas())
                for (std::size_t first = 0; first < copies.size(); first += originals_.size())
                    if (Status status = complete(*store, *component, copies.subspan(first, originals_.size())); !status)
                        return status;
        return {};
    }

private:
    struct Original {
        const Schema& component;
        ComponentRow at;
        const CopyCall& call;
        std::span<const Entity> copies;
    };

    Status complete(Store& store, const Schema& component, std::span<const Entity> copies) {
        const bool refers = component.has(FieldType::kEntity) || component.has(FieldType::kBlobArray);
        for (std::size_t i = 0; (component.has_opaque() || refers) && i < originals_.size(); ++i) {
            const ComponentRow at = store.find_row(component.id(), originals_[i], 0);
            if (!at) continue;
            Status status;
            if (component.has_opaque())
                status = add_opaque(store, component, at, copies, copies[i]);
            else if (component.id() == schema_of<Owned>().id())
                status = give_owner(store, component, at, copies[i]);
            else
                status = copy_references(store, component, i, copies[i]);
            if (!status) return status;
        }
        return {};
    }

    /// Gives the copy the owner of the original, if that was not copied.
    Status give_owner(Store& store, const Schema& component, const ComponentRow& at, Entity copy) {
        const std::uint32_t row = at.table->links(LinkColumn::kTreeParent)[at.row];
        const Entity owner = row == kNilRow ? kNullEntity : at.table->entities()[row];
        if (!owner || number_of_.find(owner.id) != nullptr) return {};
        return store.add_values(component, {&copy, 1}, {reinterpret_cast<const std::byte*>(&owner)}).status();
    }

    /// Gives the copy a component that is more than bytes.
    Status add_opaque(Store& store, const Schema& component, const ComponentRow& at, std::span<const Entity> copies,
                      Entity copy) {
        const Original original{component, at, *this, copies};
        AddedValues values;
        values.context = &original;
        values.write = [](const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                          std::size_t) {
            const auto& from = *static_cast<const Original*>(context);
            for (std::uint32_t c = 0; c < from.component.columns().size(); ++c) {
                const ColumnDefinition& column = from.component.columns()[c];
                const std::byte* const source =
                    from.at.table->column(from.at.first_column + c) + std::size_t(from.at.row) * column.element_bytes;
                std::byte* const to = table.write_element(first_column + c, row);
                if (column.opaque == nullptr) {
                    std::memcpy(to, source, column.element_bytes);
                    continue;
                }
                column.opaque->destroy(to);
                column.opaque->copy_construct(to, source);
            }
            for (const Field& field : from.component.fields())
                if (field.type == FieldType::kEntity) from.call.translate(from, field, table, first_column, row);
        };
        return store.add_values(component, {&copy, 1}, values).status();
    }

    /// Lets an entity field of a copy refer to copies where the original refers to originals.
    void translate(const Original& from, const Field& field, Table& table, std::uint32_t first_column,
                   std::uint32_t row) const {
        const FieldPart part = field_part(from.component, field);
        Array<Entity> values(field.num_values(), Entity(), "entity blob");
        auto* const bytes = reinterpret_cast<std::byte*>(values.data());
        read_part(table, first_column, row, part, bytes);
        for (Entity& value : values)
            if (const std::uint32_t* const number = number_of_.find(value.id)) value = from.copies[*number];
        write_part(table, first_column, row, part, bytes);
    }

    /// Copies what refers to entities that were not copied, and to arrays of resources.
    Status copy_references(Store& store, const Schema& component, std::size_t original, Entity copy) {
        for (std::uint32_t index = 0;; ++index) {
            const ComponentRow from = store.find_row(component.id(), originals_[original], index);
            const ComponentRow to = from ? store.find_row(component.id(), copy, index) : ComponentRow();
            if (!to || (index != 0 && !component.many())) return {};
            for (const Field& field : component.fields())
                if (field.type == FieldType::kEntity || field.type == FieldType::kBlobArray)
                    if (Status status = copy_field(store, component, field, from, to); !status) return status;
        }
    }

    Status copy_field(Store& store, const Schema& component, const Field& field, const ComponentRow& from,
                      const ComponentRow& to) {
        const FieldPart part = field_part(component, field);
        std::vector<std::byte> old(field.size), now(field.size);
        read_part(*from.table, from.first_column, from.row, part, old.data());
        read_part(*to.table, to.first_column, to.row, part, now.data());
        for (std::size_t value = 0; value < field.size; value += field.value_bytes) {
            Entity entity;
            if (field.type == FieldType::kEntity) std::memcpy(&entity, old.data() + value, sizeof entity);
            if (number_of_.find(entity.id) == nullptr)
                std::memcpy(now.data() + value, old.data() + value, field.value_bytes);
        }
        return store.write_field(to, part, now.data());
    }

    World& world_;
    std::span<const Entity> originals_;
    HashMap<std::uint64_t, std::uint32_t> number_of_{Owner("entity blob")};  // by id
};

}  // namespace

Result<Spawned> World::copy(Entity original, const SpawnOptions& options) {
    if (!entities_.alive(original))
        return Status::error(concat("entity ", entity_text(original), " is dead, so it cannot be copied"));
    if (options.root_poses.size() != 0 && options.root_poses.size() != options.copies)
        return Status::error(concat(options.root_poses.size(), " poses for ", options.copies, " copies of entity ",
                                    entity_text(original), "; give one pose per copy, or none"));
    const std::vector<Entity> all = entities_below(*this, original);
    CopyCall call(*this, all);
    if (Status status = call.check(); !status) return status;
    const bool is_placed_anew = options.zone != kNoZone ||
                                (!options.root_poses.empty() && database_ != nullptr && database_->spawns_into_tiles());
    const Entity seen_from = options.root_poses.empty() ? kNullEntity : original;
    const Result<EntityBlob> saved = EntitySaver(*this, all, {"copy", !is_placed_anew}, true, seen_from).save();
    if (!saved) return saved.status();
    const Result<Blob> blob = Blob::view(saved->bytes);
    if (!blob) return blob.status();
    Result<Spawned> copies = spawn(*blob, options);
    if (!copies) return copies.status();
    if (Status status = call.complete(copies->entities()); !status) {
        entities_.destroy(copies->entities());
        return status;
    }
    return copies;
}

Result<EntityBlob> save_entities(World& world, std::span<const Entity> entities, const EntityBlobOptions& options) {
    return EntitySaver(world, entities, options).save();
}

}  // namespace shoal

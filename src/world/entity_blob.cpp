#include "shoal/world/entity_blob.h"

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/entity/entity_text.h"
#include "shoal/resource/detail/blob_values.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/table/detail/table.h"
#include "shoal/transform/detail/pose_math.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace shoal {

namespace {

/// The parents and world poses of a world's transforms.
class TransformRows {
public:
    explicit TransformRows(std::span<Store* const> stores) {
        for (Store* store : stores)
            if (const OwnedColumns columns = store->find_columns(schema_of<WorldPose>())) columns_ = columns;
    }

    bool has(Entity entity) const { return row_of(entity) != kNilRow; }
    /// Returns the parent, or null.
    Entity parent(Entity entity) const {
        const std::uint32_t row = row_of(entity);
        const std::uint32_t above =
            row == kNilRow ? kNilRow : columns_.rows->table().links(LinkColumn::kTreeParent)[row];
        return above == kNilRow ? kNullEntity : columns_.rows->table().entities()[above];
    }
    /// Requires: has(entity).
    Matrix3x4 world(Entity entity) const {
        return reinterpret_cast<const Matrix3x4*>(columns_.rows->table().column(columns_.first_column))[row_of(entity)];
    }

private:
    std::uint32_t row_of(Entity entity) const { return columns_ ? columns_.rows->find(entity) : kNilRow; }

    OwnedColumns columns_;
};

using NumberOf = HashMap<std::uint64_t, std::uint32_t>;  // by entity id

/// A set of entities, in the order in which they were found.
class Found {
public:
    explicit Found(World& world) : world_(world) {
        for (const Store* store : world.directory().stores()) {
            const std::span<const Table* const> tables = store->tables();
            if (tables.empty() || !tables.front()->has_tree()) continue;  // in a store, all or no tables have trees
            for (const Table* table : tables)
                if (table->index() != nullptr) trees_.push_back(table);
        }
    }

    std::size_t size() const { return all_.size(); }
    void add(Entity entity) {
        if (number_of_.insert(entity.id, std::uint32_t(all_.size())).is_new) all_.push_back(entity);
    }
    /// Adds the descendants (children and owned entities) of the set's entities, except those for which takes() is
    /// false.
    template <class Takes>
    void add_below(Takes&& takes) {
        for (std::size_t i = 0; i < all_.size(); ++i)
            for (const Table* table : trees_) {
                const std::uint32_t row = table->index()->find(all_[i]);
                if (row == kNilRow) continue;
                const std::span<const std::uint32_t> next = table->links(LinkColumn::kTreeNext);
                for (std::uint32_t child = table->links(LinkColumn::kTreeFirstChild)[row]; child != kNilRow;
                     child = next[child])
                    if (const Entity below = table->entities()[child]; world_.entities().alive(below) && takes(below))
                        add(below);
            }
    }
    /// Returns the entities sorted by depth, so that parents precede their children. `top` is treated as a root.
    std::vector<Entity> parents_first(Entity top) const {
        const std::vector<std::uint32_t> depths = depths_below(top);
        std::vector<std::pair<std::uint32_t, std::uint32_t>> by_depth;  // (depth, index)
        for (std::uint32_t i = 0; i < all_.size(); ++i) by_depth.emplace_back(depths[i], i);
        std::sort(by_depth.begin(), by_depth.end());
        std::vector<Entity> result;
        for (const auto& [depth, number] : by_depth) result.push_back(all_[number]);
        return result;
    }

private:
    static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

    /// Returns the depth of each entity: the number of its ancestors in the set. Cost: O(entities), at any depth.
    std::vector<std::uint32_t> depths_below(Entity top) const {
        const TransformRows places(world_.directory().stores());
        std::vector<std::uint32_t> depths(all_.size(), kUnknown), way;
        for (std::uint32_t i = 0; i < all_.size(); ++i) {
            std::uint32_t at = i;
            while (depths[at] == kUnknown) {
                const Entity parent = all_[at] == top ? kNullEntity : places.parent(all_[at]);
                const std::uint32_t* const above = parent ? number_of_.find(parent.id) : nullptr;
                if (above == nullptr) {
                    depths[at] = 0;
                } else {
                    way.push_back(at);
                    at = *above;
                }
            }
            std::uint32_t depth = depths[at];
            for (; !way.empty(); way.pop_back()) depths[way.back()] = ++depth;
        }
        return depths;
    }

    World& world_;
    std::vector<const Table*> trees_;
    std::vector<Entity> all_;
    NumberOf number_of_{Owner("entity blob")};
};

/// Returns the field of a component type that determines an entity's tile in a database, or nullptr.
const Field* find_tile_field(const Store& store, const Schema& component) {
    for (std::size_t f = 0; f < component.fields().size(); ++f)
        if (store.is_place_of_tiles(component.id(), f)) return &component.fields()[f];
    return nullptr;
}

Matrix3x4 translation(Vec3 place) {
    Matrix3x4 matrix;
    matrix.row[0].w = place.x, matrix.row[1].w = place.y, matrix.row[2].w = place.z;
    return matrix;
}

/// Returns the pose of an entity, from its transform if it has one, and otherwise from the field that determines its
/// tile.
std::optional<Matrix3x4> find_place(World& world, const TransformRows& places, Entity entity) {
    if (places.has(entity)) return places.world(entity);
    for (Store* store : world.directory().stores())
        for (const Schema* component : store->schemas()) {
            const Field* const field = find_tile_field(*store, *component);
            const ComponentRow at = field == nullptr ? ComponentRow() : store->find_row(component->id(), entity, 0);
            if (!at) continue;
            Vec3 place;
            read_part(*at.table, at.first_column, at.row, field_part(*component, *field),
                      reinterpret_cast<std::byte*>(&place));
            if (is_sound_position(place)) return translation(place);
        }
    return std::nullopt;
}

}  // namespace

std::vector<Entity> entities_below(World& world, Entity entity) {
    Found found(world);
    found.add(entity);
    found.add_below([](Entity) { return true; });
    if (found.size() == 1) return {entity};
    return found.parents_first(entity);
}

std::vector<Entity> entities_with_below(World& world, std::span<const Entity> entities) {
    Found found(world);
    const Array<Database*> databases = list_databases(world.directory());
    for (const Entity entity : entities) found.add(entity);
    found.add_below([&](Entity below) {
        bool is_elsewhere = world.services().unloaded_zone_of(below) != kNoZone;
        for (const Database* database : databases) is_elsewhere |= database->has_row(below);
        return !is_elsewhere;
    });
    if (found.size() == 1) return {entities.front()};
    return found.parents_first(kNullEntity);
}

std::vector<Entity> entities_in(World& world, const ZoneSet& zones) {
    std::vector<Entity> entities;
    for (const Database* database : list_databases(world.directory()))
        for (const DatabaseTable* table : database->all_tables())
            if (table != nullptr && zones.contains(table->zone()))
                for (const Entity entity : table->entities())
                    if (world.entities().alive(entity)) entities.push_back(entity);
    return entities_with_below(world, entities);
}

namespace {

/// Returns the row of value number `index` of an entity, or nil if the type is not `many`. `at` is the row of the
/// previous value.
ComponentRow next_value(const Store& store, const Schema& component, const ComponentRow& at, Entity entity,
                        std::uint32_t index) {
    return component.many() ? store.find_next(at, entity, index) : ComponentRow();
}

class EntitySaver {
public:
    /// If `for_copy` is true, omits values that refer to other parts of the same world; CopyCall adds them. If
    /// `seen_from` is not null, the poses of roots and the positions that determine tiles are relative to that entity;
    /// otherwise they are relative to the world.
    EntitySaver(World& world, std::span<const Entity> entities, const EntityBlobOptions& options, bool for_copy = false,
                Entity seen_from = {})
        : world_(world),
          entities_(entities),
          options_(options),
          for_copy_(for_copy),
          seen_from_(seen_from),
          places_(world.directory().stores()),
          origin_(seen_from ? find_place(world, places_, seen_from) : std::nullopt),
          values_(writer_,
                  {&world.strings(), world.library(),
                   [](void* self, Entity entity) { return static_cast<EntitySaver*>(self)->find(entity); }, this}) {}
    EntitySaver(const EntitySaver&) = delete;
    EntitySaver& operator=(const EntitySaver&) = delete;

    Result<EntityBlob> save() {
        writer_.set_name(options_.name);
        if (Status status = list_entities(); !status) return status;
        for (Store* store : world_.directory().stores())
            for (const Schema* component : store->schemas())
                if (Status status = add_components(*store, *component); !status) return status;
        if (Status status = add_texts_of_properties(); !status) return status;
        if (Status status = add_zones(); !status) return status;
        if (Status status = add_type(schema_of<SpawnDisabled>(), disabled_owners_, {disabled_}); !status) return status;
        Result<std::vector<std::byte>> bytes = writer_.write();
        if (!bytes) return bytes.status();
        return EntityBlob{std::move(*bytes), num_components_, values_.num_lost_references()};
    }

private:
    using Bytes = std::vector<std::byte>;

    std::uint32_t find(Entity entity) const { return number_of_.find_or(entity.id, kNoBlobEntity); }

    /// Returns the number of an entity's transform parent, or kNoBlobEntity if the parent does not precede it.
    std::uint32_t parent_of(std::uint32_t number) const {
        const Entity parent = places_.parent(entities_[number]);
        const std::uint32_t above = parent ? find(parent) : kNoBlobEntity;
        return above < number ? above : kNoBlobEntity;
    }

    Status list_entities() {
        for (std::uint32_t i = 0; i < entities_.size(); ++i) {
            if (!world_.entities().alive(entities_[i]))
                return Status::error(concat("entity ", entity_text(entities_[i]), " is dead, so it cannot be saved"));
            writer_.add_entity({.parent = parent_of(i)});
            number_of_.set(entities_[i].id, i);
        }
        return {};
    }

    /// Adds all components of this type.
    Status add_components(Store& store, const Schema& component) {
        if (for_copy_ && component.has_opaque()) return {};
        std::vector<std::uint32_t> owners;
        std::vector<Bytes> columns(component.columns().size());
        for (std::uint32_t i = 0; i < entities_.size(); ++i) {
            ComponentRow at = store.find_row(component.id(), entities_[i], 0);
            for (std::uint32_t next = 1; at; at = next_value(store, component, at, entities_[i], next++)) {
                if (component.id() == schema_of<Owned>().id() && !has_owner(at)) continue;
                if (Status status = check_fields(store, component); !status) return status;
                owners.push_back(i);
                append_row(component, at, columns);
                if (!at.is_enabled) note_disabled(component, i);
            }
        }
        if (owners.empty()) return {};
        if (component.id() == schema_of<Transform>().id()) place_roots(owners, columns);
        if (const Field* const field = find_tile_field(store, component); field != nullptr && origin_)
            see_from_origin(component, *field, owners.size(), columns);
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

    /// Returns whether the owner is also saved. Entities that own others have a row even if they have no owner.
    bool has_owner(const ComponentRow& at) const {
        if (!at.table->has_tree()) return true;
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

    void note_disabled(const Schema& component, std::uint32_t owner) {
        const SpawnDisabled disabled{component.id()};
        disabled_owners_.push_back(owner);
        const auto* const bytes = reinterpret_cast<const std::byte*>(&disabled);
        disabled_.insert(disabled_.end(), bytes, bytes + sizeof disabled);
    }

    /// If an entity's parent is not saved, replaces the entity's pose with its world pose, or with its pose relative to
    /// the original.
    void place_roots(std::span<const std::uint32_t> owners, std::vector<Bytes>& columns) {
        for (std::size_t i = 0; i < owners.size(); ++i) {
            const Entity entity = entities_[owners[i]];
            const bool was_root = !places_.parent(entity);
            if (parent_of(owners[i]) != kNoBlobEntity || (was_root && !origin_) || !places_.has(entity)) continue;
            Transform local;
            if (entity != seen_from_)
                local = nearest_relative_pose(origin_.value_or(Matrix3x4()), places_.world(entity)).pose;
            std::memcpy(columns[0].data() + i * sizeof(Vec3), &local.position, sizeof(Vec3));
            std::memcpy(columns[1].data() + i * sizeof(Quaternion), &local.rotation, sizeof(Quaternion));
            std::memcpy(columns[2].data() + i * sizeof(Vec3), &local.scale, sizeof(Vec3));
        }
    }

    /// Converts the positions in all rows to positions relative to the original, so that a spawn moves them with the
    /// copy.
    void see_from_origin(const Schema& component, const Field& field, std::size_t num_rows,
                         std::vector<Bytes>& columns) const {
        for (std::size_t i = 0; i < num_rows; ++i) {
            float place[3];
            const auto lane_at = [&](std::size_t lane) {
                if (field.num_columns == 3) return columns[field.first_column + lane].data() + i * sizeof(float);
                const std::size_t offset = component.offset_in_column(field) + lane * sizeof(float);
                return columns[field.first_column].data() + i * component.columns()[field.first_column].element_bytes +
                       offset;
            };
            for (std::size_t lane = 0; lane < 3; ++lane) std::memcpy(&place[lane], lane_at(lane), sizeof(float));
            const Matrix3x4 seen = relative_matrix(*origin_, translation({place[0], place[1], place[2]}));
            for (std::size_t lane = 0; lane < 3; ++lane) std::memcpy(lane_at(lane), &seen.row[lane].w, sizeof(float));
        }
    }

    /// Adds the strings that the paths and the string values of properties refer to. The values contain only string
    /// ids.
    Status add_texts_of_properties() {
        Array<StringId> ids{Owner("entity blob")};
        if (const PropertyManager* const properties = find_properties(world_.directory()); properties != nullptr)
            for (const Entity entity : entities_) properties->list_texts(entity, ids);
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        for (const StringId id : ids)
            if (const std::string_view text = world_.strings().text(id); !text.empty())
                if (const Result<StringId> kept = writer_.add_text(text); !kept) return kept.status();
        return {};
    }

    /// Adds the zones of all entities that have a row in a database.
    Status add_zones() {
        std::vector<std::uint32_t> owners;
        Bytes zones;
        const Array<Database*> databases = list_databases(world_.directory());
        for (std::uint32_t i = 0; options_.keeps_zones && i < entities_.size(); ++i) {
            DatabaseRow at;
            for (const Database* database : databases)
                if (!at) at = database->find(entities_[i]);
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
    TransformRows places_;
    std::optional<Matrix3x4> origin_;  // the pose of seen_from_
    BlobWriter writer_;
    BlobValues values_;
    NumberOf number_of_{Owner("entity blob")};
    std::vector<std::uint32_t> disabled_owners_;
    Bytes disabled_;
    std::uint64_t num_components_ = 0;
};

/// Copies the data that a blob cannot hold: references to entities that were not copied, references to read-only arrays
/// of resources, and components that are not plain bytes.
class CopyCall {
public:
    /// A copy whose row is created here is in `zone`, or in the zone of its original if `zone` is kNoZone.
    CopyCall(World& world, std::span<const Entity> originals, Zone zone)
        : world_(world), originals_(originals), zone_(zone) {
        for (std::uint32_t i = 0; i < originals.size(); ++i) number_of_.set(originals[i].id, i);
    }

    /// Errors: a component cannot be copied. The message names the component.
    Status check() const {
        for (const Store* store : world_.directory().stores())
            for (const Schema* component : store->schemas())
                for (const ColumnDefinition& column : component->columns())
                    if (column.opaque != nullptr && column.opaque->copy_construct == nullptr)
                        for (const Entity entity : originals_)
                            if (store->find_row(component->id(), entity, 0))
                                return Status::error(concat("\"", component->name(), "\" cannot be copied"));
        return {};
    }

    /// Completes the copies, which are stored one after another in the span. Errors: out of memory. On error, some
    /// copies are incomplete.
    Status complete(std::span<const Entity> copies) {
        Status status;
        for (Database* database : list_databases(world_.directory()))
            if (status) status = give_rows(*database, copies);
        if (!status) return status;
        for (Store* store : world_.directory().stores())
            for (const Schema* component : store->schemas())
                for (std::size_t first = 0; first < copies.size(); first += originals_.size())
                    if (Status status = complete(*store, *component, copies.subspan(first, originals_.size())); !status)
                        return status;
        return {};
    }

private:
    struct Original {
        const Store& store;
        const Schema& component;
        Entity entity;
        const ComponentRow* at;  // row of the value; nullptr: the first value, which is looked up
        const CopyCall& call;
        std::span<const Entity> copies;
    };

    /// Creates rows for copies whose row is not in the blob, because none of their components are plain bytes.
    Status give_rows(Database& database, std::span<const Entity> copies) const {
        for (std::size_t i = 0; i < copies.size(); ++i) {
            const DatabaseRow original = database.find(originals_[i % originals_.size()]);
            if (!original || database.has_row(copies[i])) continue;
            const Zone zone = zone_ != kNoZone ? zone_ : original.table->zone();
            const Result<AddCounts> inserted = database.insert({&copies[i], 1}, database.archetype({}), zone);
            if (!inserted) return inserted.status();
        }
        return {};
    }

    Status complete(Store& store, const Schema& component, std::span<const Entity> copies) {
        const bool refers = component.has(FieldType::kEntity) || component.has(FieldType::kBlobArray);
        for (std::size_t i = 0; (component.has_opaque() || refers) && i < originals_.size(); ++i) {
            const ComponentRow at = store.find_row(component.id(), originals_[i], 0);
            if (!at) continue;
            Status status;
            if (component.has_opaque())
                status = add_all_opaque(store, component, i, copies);
            else if (component.id() == schema_of<Owned>().id())
                status = give_owner(store, component, at, copies[i]);
            else
                status = copy_references(store, component, i, copies[i]);
            if (!status) return status;
        }
        return {};
    }

    /// Gives the copy the same owner as the original, unless the owner was copied too.
    Status give_owner(Store& store, const Schema& component, const ComponentRow& at, Entity copy) {
        if (!at.table->has_tree()) return {};
        const std::uint32_t row = at.table->links(LinkColumn::kTreeParent)[at.row];
        const Entity owner = row == kNilRow ? kNullEntity : at.table->entities()[row];
        if (!owner || number_of_.find(owner.id) != nullptr) return {};
        return store.add_values(component, {&copy, 1}, {reinterpret_cast<const std::byte*>(&owner)}).status();
    }

    /// Copies the components of a type that is not plain bytes, from last to first, because a new value of a `many`
    /// type becomes the first.
    Status add_all_opaque(Store& store, const Schema& component, std::size_t original, std::span<const Entity> copies) {
        Array<ComponentRow> values("entity blob");
        for (ComponentRow at = store.find_row(component.id(), originals_[original], 0); at;) {
            values.push_back(at);
            at = next_value(store, component, at, originals_[original], static_cast<std::uint32_t>(values.size()));
        }
        for (std::size_t i = values.size(); i-- > 0;) {
            // Adding the copy's row may move the row of the first value; later values do not move.
            const ComponentRow* const at = i == 0 ? nullptr : &values[i];
            if (Status status =
                    add_opaque({store, component, originals_[original], at, *this, copies}, store, copies[original]);
                !status)
                return status;
        }
        return {};
    }

    static Status add_opaque(const Original& original, Store& store, Entity copy) {
        AddedValues values;
        values.context = &original;
        values.write = [](const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                          std::size_t) {
            const auto& from = *static_cast<const Original*>(context);
            const ComponentRow at =
                from.at != nullptr ? *from.at : from.store.find_row(from.component.id(), from.entity, 0);
            for (std::uint32_t c = 0; c < from.component.columns().size(); ++c) {
                const ColumnDefinition& column = from.component.columns()[c];
                const std::byte* const source =
                    at.table->column(at.first_column + c) + std::size_t(at.row) * column.element_bytes;
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
        return store.add_values(original.component, {&copy, 1}, values).status();
    }

    /// In an entity field of a copy, replaces references to originals with references to their copies.
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

    /// Copies references to arrays of resources, and to entities that were not copied.
    Status copy_references(Store& store, const Schema& component, std::size_t original, Entity copy) {
        ComponentRow from = store.find_row(component.id(), originals_[original], 0);
        ComponentRow to = store.find_row(component.id(), copy, 0);
        for (std::uint32_t next = 1; from && to; ++next) {
            for (const Field& field : component.fields())
                if (field.type == FieldType::kEntity || field.type == FieldType::kBlobArray)
                    if (Status status = copy_field(store, component, field, from, to); !status) return status;
            from = next_value(store, component, from, originals_[original], next);
            to = next_value(store, component, to, copy, next);
        }
        return {};
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
    Zone zone_;
    NumberOf number_of_{Owner("entity blob")};
};

}  // namespace

Result<Spawned> copy(World& world, Entity original, const SpawnOptions& options) {
    if (!world.entities().alive(original))
        return Status::error(concat("entity ", entity_text(original), " is dead, so it cannot be copied"));
    if (options.root_poses.size() != 0 && options.root_poses.size() != options.copies)
        return Status::error(concat(options.root_poses.size(), " poses for ", options.copies, " copies of entity ",
                                    entity_text(original), "; give one pose per copy, or none"));
    if (!options.overrides.empty())
        return Status::error(concat("overrides are given for a copy of entity ", entity_text(original),
                                    ", and name entities of a blob; set values of the copy with World::set()"));
    const std::vector<Entity> all = entities_below(world, original);
    if (Status status = world.services().check_loaded(all, "copied"); !status) return status;
    CopyCall call(world, all, options.zone);
    if (Status status = call.check(); !status) return status;
    const bool has_tiles = std::ranges::any_of(list_databases(world.directory()),
                                               [](const Database* one) { return one->spawns_into_tiles(); });
    const bool is_placed_anew = options.zone != kNoZone || (has_tiles && !options.root_poses.empty());
    const Entity seen_from = options.root_poses.empty() ? kNullEntity : original;
    const Result<EntityBlob> saved = EntitySaver(world, all, {"copy", !is_placed_anew}, true, seen_from).save();
    if (!saved) return saved.status();
    const Result<Blob> blob = Blob::view(saved->bytes);
    if (!blob) return blob.status();
    SpawnOptions untold = options;
    untold.tells_services = false;
    Result<Spawned> copies = world.spawn(*blob, untold);
    if (!copies) return copies.status();
    if (Status status = call.complete(copies->entities()); !status) {
        for (Store* store : world.directory().stores()) store->drop(copies->entities());
        world.entities().destroy(copies->entities());
        return status;
    }
    return copies;
}

Result<EntityBlob> save_entities(World& world, std::span<const Entity> entities, const EntityBlobOptions& options) {
    if (Status status = world.services().check_loaded(entities, "saved"); !status) return status;
    return EntitySaver(world, entities, options).save();
}

Result<EntityBlob> save_zones(World& world, const ZoneSet& zones, const EntityBlobOptions& options) {
    const ZoneSet unloaded = world.services().unloaded_zones();
    Status status;
    zones.for_each([&](Zone zone) {
        if (status && unloaded.contains(zone))
            status = Status::error(
                concat("zone ", zone, " cannot be saved while it is unloaded; call ZoneStreaming::load() before"));
    });
    if (!status) return status;
    return save_entities(world, entities_in(world, zones), options);
}

}  // namespace shoal

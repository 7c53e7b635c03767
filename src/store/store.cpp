#include "shoal/store/store.h"

#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/owned_rows.h"
#include "shoal/table/detail/entity_fields.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/table/detail/table.h"

#include <algorithm>

namespace shoal {

void detail::refuse_zone(Zone zone) {
    fail_assertion("zone < kMaxZones", concat("zone ", zone, " was asked for; zones are 0 to kMaxZones - 1, which is ",
                                              kMaxZones - 1, ": give tiles and states small numbers"));
}

namespace {

/// Finds row number `index` of an entity. If the table has no index, searches all owners.
bool find_in(const Table& table, Entity entity, std::uint32_t index, ComponentRow& found) {
    if (table.index() == nullptr) {
        const std::span<const Entity> owners = table.entities();
        for (found.row = 0; found.row < owners.size(); ++found.row)
            if (owners[found.row] == entity && index-- == 0) return found.table = &table, true;
        return false;
    }
    std::uint32_t row = table.index()->find(entity);
    for (; row != kNilRow && index > 0; --index)
        row = table.has_chain() ? table.links(LinkColumn::kChainNext)[row] : kNilRow;
    if (row == kNilRow) return false;
    found.table = &table;
    found.row = row;
    return true;
}

}  // namespace

void require_batch(const SpawnBatch& batch, const Schema& component) {
    SHOAL_ASSERT(batch.component == component.id() && batch.columns.size() == component.columns().size(),
                 "the batch is of another component type");
    SHOAL_ASSERT(batch.entities.size() == std::size_t(batch.num_blob_entities) * batch.num_copies,
                 "a batch has as many entities as there are blob entities in all copies");
    SHOAL_ASSERT(!component.has_opaque(), "a component with opaque fields cannot be spawned from a blob");
    std::uint32_t highest_owner = 0;
    for (const std::uint32_t owner : batch.entity_index) highest_owner = std::max(highest_owner, owner);
    SHOAL_ASSERT(batch.entity_index.empty() || highest_owner < batch.num_blob_entities,
                 "the owner of a component is not among the blob entities");
}

Store::~Store() { leave_directory(); }

Status Store::remove_one_value(const Schema& component, Entity, const ComponentRow&, std::uint32_t) {
    return Status::error(concat("\"", component.name(), "\" is kept in ", kind(),
                                ", which takes no single value from an entity that has several"));
}

void Store::leave_directory() {
    if (component_directory_ != alone_in_) component_directory_->leave(*this);
}

void Store::begin_alone(ComponentDirectory& alone) {
    const Status status = alone.add(*this);
    SHOAL_ASSERT(status.ok(), "the store is in no directory yet");
    alone_in_ = &alone;
}

Status Store::take_component(const Schema& component) {
    for (const Schema* schema : schemas()) {
        if (schema->id() != component.id()) continue;
        if (schema->layout_hash() == component.layout_hash()) return {};
        return Status::error(concat("there is another \"", schema->name(), "\" in ", kind(), ": ", schema->to_text(),
                                    ", not ", component.to_text()));
    }
    return Status::error(concat("\"", component.name(), "\" cannot be kept in ", kind(),
                                ", made for other component types; give it to the database, or make a manager for it"));
}

void Store::list_tables(const Schema& component, Array<ComponentTable>& tables) {
    if (const OwnedColumns columns = find_columns(component)) {
        tables.push_back(
            {&columns.rows->table(), columns.first_column, columns.has_fields, nullptr, columns.needs_parent});
        return;
    }
    for (const Table* table : this->tables())
        if (table->schema().id() == component.id()) tables.push_back({table});
}

ComponentRow Store::find_row(ComponentId component, Entity entity, std::uint32_t index) const {
    ComponentRow found;
    for (const Table* table : tables()) {
        if (table->schema().id() != component) continue;
        found.schema = &table->schema();
        if (!entity) return found;
        if (find_in(*table, entity, index, found)) return found;
    }
    return found;
}

ComponentRow Store::find_next(const ComponentRow& at, Entity entity, std::uint32_t index) const {
    if (!at || !at.table->has_chain() || at.table->index() == nullptr)
        return at ? find_row(at.schema->id(), entity, index) : at;
    ComponentRow next = at;
    next.row = at.table->links(LinkColumn::kChainNext)[at.row];
    if (next.row == kNilRow) next.table = nullptr;
    return next;
}

void Store::read_field(const ComponentRow& at, const FieldPart& part, std::byte* value) const {
    read_part(*at.table, at.first_column, at.row, part, value);
}

Status Store::write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) {
    write_part(const_cast<Table&>(*at.table), at.first_column, at.row, part, value);  // NOLINT: a table of this store
    return {};
}

namespace {

Status refuse_change(const Store& store, const Schema& component) {
    return Status::error(concat("\"", component.name(), "\" is kept in ", store.kind(),
                                ", which commands cannot change; change it when the passes have ended"));
}

}  // namespace

Result<std::uint32_t> Store::add_values(const Schema& component, std::span<const Entity>, const AddedValues&) {
    return refuse_change(*this, component);
}

Result<bool> Store::prepare_values(const Schema&, std::span<const Entity>, bool) { return false; }

Result<std::uint32_t> Store::remove_values(const Schema& component, std::span<const Entity>) {
    return refuse_change(*this, component);
}

Status Store::change(std::span<const Entity> entities, std::span<const ComponentChange> changes, ChangeCounts& counts) {
    for (const ComponentChange& one : changes) {
        const Result<std::uint32_t> changed =
            one.removes ? remove_values(*one.component, entities) : add_values(*one.component, entities, one.values);
        if (!changed) return changed.status();
        if (!one.removes) counts.num_left_out += static_cast<std::uint32_t>(entities.size()) - *changed;
        counts.num_changed = std::max(counts.num_changed, *changed);
        counts.has_begun = true;
    }
    return {};
}

Result<ChangePromise> Store::prepare_change(std::span<const Entity> entities,
                                            std::span<const ComponentChange> changes) {
    bool is_promised = true;
    Array<Entity> repeated{Owner("store")};
    for (const ComponentChange& one : changes) {
        // An entity may get several values of a `many` type.
        const auto num_alike = std::count_if(changes.begin(), changes.end(), [&](const ComponentChange& other) {
            return other.component->id() == one.component->id() && !other.removes;
        });
        std::span<const Entity> asked = entities;
        if (num_alike > 1 && entities.size() == 1) {
            repeated.assign(static_cast<std::size_t>(num_alike), entities[0]);
            asked = repeated;
        }
        const Result<bool> promised = prepare_values(*one.component, asked, one.removes);
        if (!promised) return promised.status();
        is_promised &= *promised;
    }
    return is_promised ? ChangePromise::kKept : ChangePromise::kNone;
}

void translate_entities(const SpawnBatch& batch, std::uint32_t copy, const Schema& component, Table& table,
                        std::uint32_t first_column, RowRange rows) {
    if (!component.has(FieldType::kEntity)) return;
    for (const Field& field : component.fields()) {
        if (field.type != FieldType::kEntity) continue;
        const std::size_t bytes = component.columns()[field.first_column].element_bytes;
        std::byte* const data =
            table.unmarked_column(first_column + field.first_column) + component.offset_in_column(field);
        for_each_entity(field, data + rows.begin * bytes, bytes, rows.size(),
                        [&](Entity& entity) { entity = batch.translate(copy, entity); });
    }
}

void Store::save(SnapshotWriter& to) const {
    to.refuse(concat(kind(), schemas().empty() ? std::string() : concat(" of \"", schemas().front()->name(), '"'),
                     " does not say what it keeps; its class overrides Store::save() and load()"));
}

Status Store::load(SnapshotReader& from) {
    return from.error("",
                      concat(kind(), " does not read what was saved; its class overrides Store::save() and load()"));
}

SettleCounts& SettleCounts::operator+=(const SettleCounts& other) {
    num_created += other.num_created, num_destroyed += other.num_destroyed;
    num_moved += other.num_moved, num_dropped += other.num_dropped, num_removed += other.num_removed;
    return *this;
}

void ZoneSet::insert_range(Zone begin, Zone end) {
    SHOAL_ASSERT(begin <= end, "a range of zones begins behind its end");
    if (begin != end) require_zone(end - 1);
    bits_.set_range(begin, end);
}

}  // namespace shoal

#include "world/schema_change.h"

#include "shoal/base/text.h"
#include "shoal/resource/migration.h"
#include "shoal/store/component_manager.h"
#include "shoal/table/table.h"
#include "shoal/world/reloader.h"
#include "shoal/world/service.h"
#include "world/own_services.h"
#include "world/zone_files.h"

#include <algorithm>
#include <cstring>

namespace shoal {

namespace {

ManagerOptions options_of_rows(const OwnedRowsOptions& options) {
    return {options.index, options.death, options.max_collected, options.capacity_rows};
}

/// The rows of living entities, in the order in which they are added elsewhere: with `many`, the last of each entity first,
/// because each becomes the first.
Array<std::uint32_t> living_rows(const ComponentManager& manager) {
    const std::span<const Entity> owners = manager.table().entities();
    Array<std::uint32_t> rows{Owner("reload")};
    for (std::uint32_t row = 0; row < owners.size(); ++row) {
        if (!manager.entity_manager().alive(owners[row]) || manager.instance(owners[row]).row != row) continue;
        const std::size_t first = rows.size();
        rows.push_back(row);
        if (!manager.schema().many()) continue;
        for (Instance next = manager.next({row}); next; next = manager.next(next)) rows.push_back(next.row);
        std::reverse(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end());
    }
    return rows;
}

}  // namespace

SchemaChange::~SchemaChange() {
    for (; !changes_.empty(); changes_.pop_back()) {
        const auto [before, after] = changes_.back();
        world_.replace_store(*after, *before);
        const auto is_it = [after](const World::Owned& owned) { return owned.manager == after; };
        world_.owned_.erase(std::ranges::find_if(world_.owned_, is_it));  // others may have come since
        World::destroy<ComponentManager>(after);
    }
}

/// The old managers live as long as the world, without rows and their memory, because paths and queries may refer to them.
void SchemaChange::keep() {
    for (const auto& [before, after] : changes_) {
        world_.services().for_each([old = before](WorldService& service) { service.forget(*old); });
        before->rows().retire();
        for (World::Owned& owned : world_.owned_)
            if (owned.manager == before) owned.manager = nullptr;  // it is found no more
    }
    const bool has_changed = !changes_.empty();
    changes_.clear();
    if (has_changed) world_.services().for_each([](WorldService& service) { service.fields_changed(); });
}

Status SchemaChange::begin(const Blob& blob) {
    for (const BlobComponents& components : blob.component_types()) {
        if (!world_.goes_to_store(components)) continue;
        Store* const store = world_.find_store(components.id);
        if (store == nullptr) continue;
        const auto is_same = [&](const Schema* taken) {
            return taken->id() != components.id || taken->layout_hash() == components.schema->layout_hash();
        };
        if (std::ranges::all_of(store->schemas(), is_same)) continue;
        if (Status status = change(*components.schema, *store); !status) return status;
    }
    return {};
}

Status SchemaChange::begin(const Schema& schema) {
    Store* const store = world_.find_store(schema.id());
    if (store == nullptr)
        return Status::error(concat("no store keeps \"", schema.name(), "\", so its fields cannot change"));
    return change(schema, *store);
}

Result<SchemaChange*> begin_schema_change(World& world, const Schema& schema) {
    return SchemaChange::make(world, schema);
}

Result<SchemaChange*> SchemaChange::make(World& world, const Schema& schema) {
    SHOAL_ASSERT(!world.passes_run_, "a pass changed the fields of a component type; change them between steps");
    if (world.own_services_->reactions.is_telling())
        return Status::error(
            concat("component \"", schema.name(),
                   "\" cannot get other fields while a reaction runs; declare it before the next step"));
    if (Status status = ZoneFiles::check_all_loaded(world, "given other fields"); !status) return status;
    auto* const begun = ::new (allocate_memory(sizeof(SchemaChange), "world")) SchemaChange(world);
    if (Status status = begun->begin(schema); !status) {
        World::destroy<SchemaChange>(begun);
        return status;
    }
    return begun;
}

void end_schema_change(SchemaChange* change, bool keep) {
    if (keep) change->keep();
    SchemaChange::destroy(change);
}

/// Returns the manager that a store is, if the world has made it from a schema alone.
ComponentManager* SchemaChange::find_changeable(const Store& store) const {
    for (const World::Owned& owned : world_.owned_)
        if (owned.store == &store && owned.manager != nullptr && !owned.typed) return owned.manager;
    return nullptr;
}

Status SchemaChange::change(const Schema& schema, Store& store) {
    ComponentManager* const before = find_changeable(store);
    if (before == nullptr)
        return Status::error(concat(
            "\"", schema.name(), "\" has other fields now, ", schema.to_text(), ", but ", store.kind(),
            " of the running program cannot change them: only component types that come with a schema alone, and ",
            "have managers, can; start the program again"));
    if (before->schema().single() != schema.single())
        return Status::error(concat("\"", schema.name(), "\" is ", schema.single() ? "now" : "no longer",
                                    " something that a world has once; start the program again"));
    if (before->schema().many() && !schema.many())
        return Status::error(
            concat("an entity could have several \"", schema.name(), "\", and now has one; start the program again"));
    auto& after = *::new (allocate_memory(sizeof(ComponentManager), "world")) ComponentManager(
        schema, world_.entities_, world_.pool_, options_of_rows(before->rows().options()));
    if (Status status = fill(*before, after); !status) {
        World::destroy<ComponentManager>(&after);
        return status;
    }
    world_.replace_store(*before, after);
    world_.owned_.push_back({&after, &after, &after, World::destroy<ComponentManager>, false});
    changes_.push_back({before, &after});
    after.settle({&world_.random_, world_.stamp_, world_.executor_, nullptr});  // so that its writes carry the stamp
    return {};
}

/// Gives the new manager the rows of the old one.
Status SchemaChange::fill(const ComponentManager& before, ComponentManager& after) const {
    const Table& table = before.table();
    const Schema& schema = after.schema();
    Array<const std::byte*> columns{Owner("reload")};
    for (std::uint32_t c = 0; c < before.schema().columns().size(); ++c) columns.push_back(table.column(c));
    const RegisteredComponent* const registered = world_.registry_.find(schema.id());
    const Result<ConvertedColumns> converted = convert_rows(before.schema(), columns, table.num_rows(), schema,
                                                            registered == nullptr ? nullptr : registered->migrations);
    if (!converted) return converted.status();
    Array<Entity> entities{Owner("reload")};
    Array<std::byte> images{Owner("reload")};
    for (const std::uint32_t row : living_rows(before)) {
        entities.push_back(table.entities()[row]);
        const std::size_t first = images.size();
        images.resize(first + schema.struct_bytes());
        for (std::size_t c = 0; c < schema.columns().size(); ++c) {
            const ColumnDefinition& column = schema.columns()[c];
            std::memcpy(images.data() + first + column.struct_offset,
                        converted->columns[c] + row * std::size_t(column.element_bytes), column.element_bytes);
        }
    }
    return after.add_values(schema, entities, {.images = images.data(), .stride = schema.struct_bytes()}).status();
}

}  // namespace shoal

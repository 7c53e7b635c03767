#include "reload/schema_change.h"

#include "shoal/base/text.h"
#include "shoal/react/observers.h"
#include "shoal/react/service.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/migration.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/table.h"
#include "shoal/world/detail/blob_stores.h"

#include <algorithm>
#include <cstring>

namespace shoal {

namespace {

ManagerOptions options_of_rows(const OwnedRowsOptions& options) {
    return {options.index, options.death, options.max_collected, options.capacity_rows};
}

/// Returns the rows of living entities in the order in which they must be added to a different manager. For a `many`
/// type, the rows of each entity are reversed, because an added component becomes the first.
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
        world_.directory().replace(*after, *before);
        world_.directory().destroy(*after);
    }
}

/// The old managers stay in the world, without rows or memory, because paths and queries may refer to them.
void SchemaChange::keep() {
    for (const auto& [before, after] : changes_) {
        world_.services().for_each([old = before](WorldService& service) { service.forget(*old); });
        before->rows().retire();
    }
    const bool has_changed = !changes_.empty();
    changes_.clear();
    if (has_changed) world_.services().for_each([](WorldService& service) { service.fields_changed(); });
}

Status SchemaChange::begin(const Blob& blob) {
    for (const BlobComponents& components : blob.component_types()) {
        if (!goes_to_store(world_.registry(), components)) continue;
        Store* const store = world_.directory().find(components.id);
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
    Store* const store = world_.directory().find(schema.id());
    if (store == nullptr)
        return Status::error(concat("no store keeps \"", schema.name(), "\", so its fields cannot change"));
    return change(schema, *store);
}

Result<SchemaChange*> begin_schema_change(World& world, const Schema& schema) {
    return SchemaChange::make(world, schema);
}

Result<SchemaChange*> SchemaChange::make(World& world, const Schema& schema) {
    SHOAL_ASSERT(!world.directory().is_held(),
                 "a pass changed the fields of a component type; change them between steps");
    if (world.observers().is_telling())
        return Status::error(
            concat("component \"", schema.name(),
                   "\" cannot get other fields while an observer runs; declare it before the next step"));
    if (Status status = world.services().check_all_loaded("given other fields"); !status) return status;
    auto* const begun = make_owned<SchemaChange>("reload", world);
    if (Status status = begun->begin(schema); !status) {
        destroy(begun);
        return status;
    }
    return begun;
}

void end_schema_change(SchemaChange* change, bool keep) {
    if (keep) change->keep();
    SchemaChange::destroy(change);
}

/// If the world has created the store from a schema alone, returns it as a manager. Otherwise returns nullptr.
ComponentManager* SchemaChange::find_changeable(const Store& store) const {
    for (const Schema* schema : store.schemas()) {
        auto* const manager = world_.directory().find_as<ComponentManager>(schema->id());
        if (manager == &store && world_.directory().owns(store) && manager->face() == nullptr) return manager;
    }
    return nullptr;
}

Status SchemaChange::change(const Schema& schema, Store& store) {
    ComponentManager* const before = find_changeable(store);
    if (before == nullptr)
        return Status::error(concat(
            "\"", schema.name(), "\" has other fields now, ", schema.to_text(), ", but ", store.kind(),
            " of the running program cannot change them: only component types that come with a schema alone, and ",
            "have managers, can; start the program again"));
    if (before->schema().singleton() != schema.singleton())
        return Status::error(concat("\"", schema.name(), "\" is ", schema.singleton() ? "now" : "no longer",
                                    " something that a world has once; start the program again"));
    if (before->schema().many() && !schema.many())
        return Status::error(
            concat("an entity could have several \"", schema.name(), "\", and now has one; start the program again"));
    auto& after = *make_owned<ComponentManager>("reload", schema, world_.entities(), world_.pool(),
                                                options_of_rows(before->rows().options()));
    const auto end = [](void* object) { destroy_owned("reload", static_cast<ComponentManager*>(object)); };
    if (Status status = fill(*before, after); !status) {
        end(&after);
        return status;
    }
    ComponentDirectory& directory = world_.directory();
    directory.replace(*before, after);
    directory.own(after, &after, end);
    changes_.push_back({before, &after});
    after.settle(
        {&world_.random(), world_.stamp(), &world_.executor(), nullptr});  // so that later writes get the current stamp
    return {};
}

/// Copies the rows of the old manager to the new one.
Status SchemaChange::fill(const ComponentManager& before, ComponentManager& after) const {
    const Table& table = before.table();
    const Schema& schema = after.schema();
    Array<const std::byte*> columns{Owner("reload")};
    for (std::uint32_t c = 0; c < before.schema().columns().size(); ++c) columns.push_back(table.column(c));
    const RegisteredComponent* const registered = world_.registry().find(schema.id());
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

#include "plugin/store.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/reload/reloader.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/access_guard.h"

#include "shoal/table/detail/field_part.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

const shoal_entity* given(std::span<const Entity> entities) {
    static_assert(sizeof(Entity) == sizeof(shoal_entity));
    return reinterpret_cast<const shoal_entity*>(entities.data());
}
std::uint32_t count_of(std::span<const Entity> entities) { return static_cast<std::uint32_t>(entities.size()); }

/// Returns the table's schema for a store that does not show columns.
Schema without_fields(const Schema& schema) {
    ComponentDefinition definition;
    definition.name = schema.name();
    definition.many = schema.many();
    Result<Schema> made = Schema::make(std::move(definition));
    SHOAL_ASSERT(made.ok(), "a component type without fields is one");
    return std::move(*made);
}

}  // namespace

PluginSpawn::PluginSpawn(const SpawnBatch& batch, const Schema& schema) : SpawnedImages(batch, schema) {
    view = {sizeof view,   count_of(owners),     given(owners), parents.empty() ? nullptr : given(parents),
            images.data(), schema.struct_bytes()};
}

PluginStore::PluginStore(shoal_world& owner, const Schema& schema, const shoal_store& given)
    : owner_(owner),
      given_(given),
      kind_(concat("a store of plugin \"", owner.name, "\"")),
      row_schema_(without_fields(schema)),
      rows_(schema, owner.world.entities(), owner.world.pool(),
            {.row_schema = given.get == nullptr ? nullptr : &row_schema_,
             .remove_dead = remove_dead,
             .store = this,
             .kind = kind_.c_str()}) {}

PluginStore::~PluginStore() {
    if (given_.end != nullptr) given_.end(given_.context);
}

// --- where the rows are ------------------------------------------------------------------------------------------

/// Checks the rows that the plugin shows, and lists their columns. Errors: the rows are invalid.
Status PluginStore::check(const shoal_rows& shown, Array<std::byte*>& columns) const {
    if (shown.num_rows != 0 && shown.entities == nullptr) return Status::error("it shows rows without entities");
    for (std::size_t c = 0; has_columns() && c < schema().columns().size(); ++c) {
        auto* const column = shown.columns == nullptr ? nullptr : static_cast<std::byte*>(shown.columns[c]);
        if (column == nullptr && shown.num_rows != 0)
            return Status::error(concat("it shows rows, but column ", c, " is NULL"));
        if (reinterpret_cast<std::uintptr_t>(column) % 64 != 0)
            return Status::error(concat("column ", c, " does not begin on a multiple of 64 bytes"));
        columns.push_back(column);
    }
    return {};
}

/// Logs an error, so that it is visible even if no caller checks it.
Status PluginStore::keep(const Status& status) const {
    if (status) return status;
    Status told = Status::error(
        concat("the store of \"", schema().name(), "\" of plugin \"", owner_.name, "\": ", status.message()));
    log(LogLevel::kError, told.message());
    return told;
}

Status PluginStore::refresh() {
    shoal_rows shown{sizeof shown, 0, nullptr, nullptr};
    given_.show(given_.context, &shown);
    Array<std::byte*> columns{Owner("plugins")};
    if (Status status = check(shown, columns); !status) {
        columns.assign(has_columns() ? schema().columns().size() : 0, nullptr);
        static_cast<void>(rows_.show({}, columns, {}));
        return keep(status);
    }
    const std::span<Entity> owners(reinterpret_cast<Entity*>(shown.entities), shown.num_rows);
    Array<std::uint32_t> next{Owner("plugins")};
    for (std::uint32_t row = 0; schema().many() && row < shown.num_rows; ++row)
        next.push_back(given_.next(given_.context, row));
    if (Status status = rows_.show(owners, columns, next); !status) return keep(status);
    for (std::uint32_t row = 0; SHOAL_CHECKED != 0 && row < owners.size(); ++row)
        if (rows_.find(owners[row]) == row && given_.first(given_.context, owners[row].id) != row)
            return keep(Status::error(concat("it shows row ", row, ", but finds row ",
                                             given_.first(given_.context, owners[row].id), " for its entity")));
    return {};
}

OwnedColumns PluginStore::find_columns(const Schema& component) {
    OwnedColumns columns = rows_.find_columns(component);
    columns.has_fields = has_columns();
    columns.is_source = given_.written != nullptr;
    return columns;
}

ComponentRow PluginStore::find_row(ComponentId component, Entity entity, std::uint32_t index) const {
    ComponentRow found;
    if (component != schema().id()) return found;
    found.schema = &schema();
    if (!entity) return found;
    found.row = given_.first(given_.context, entity.id);
    for (; found.row != kNilRow && index > 0; --index)
        found.row = schema().many() ? given_.next(given_.context, found.row) : kNilRow;
    if (found.row < rows_.num_rows()) found.table = &rows_.table();
    return found;
}

// --- adding and removing rows ------------------------------------------------------------------------------------

Status PluginStore::add(std::span<const Entity> entities, const void* images, std::size_t stride) {
    const Status status = call_plugin("the function create of the store", [&](shoal_error* error) {
        return given_.create(given_.context, given(entities), count_of(entities), images, stride, error);
    });
    if (!status) return status;
    return refresh();
}

Result<std::uint32_t> PluginStore::add_values(const Schema& component, std::span<const Entity> entities,
                                              const AddedValues& values) {
    rows_.require_unlocked("add()");
    if (component.layout_hash() != schema().layout_hash())
        return Status::error(concat("the rows are of ", schema().to_text(), ", not of ", component.to_text()));
    if (values.write != nullptr)
        return Status::error(concat("\"", component.name(), "\" is kept as bytes, and is given as more"));
    const bool has_images = values.images != nullptr;
    const void* const images = has_images ? values.images : schema().default_image().data();
    if (Status status = add(entities, images, has_images ? values.stride : 0); !status) return status;
    std::uint32_t num_there = 0;
    for (const Entity entity : entities) {
        const std::uint32_t row = rows_.find(entity);
        if (row == kNilRow) continue;
        rows_.table().stamp_row(row);
        ++num_there;
    }
    return num_there;
}

std::uint32_t PluginStore::remove(std::span<const Entity> entities) {
    rows_.require_unlocked("remove()");
    const std::uint32_t num_removed = given_.destroy(given_.context, given(entities), count_of(entities));
    static_cast<void>(refresh());  // refresh() logs errors
    return num_removed;
}

Result<std::uint32_t> PluginStore::remove_values(const Schema&, std::span<const Entity> entities) {
    return remove(entities);
}

void PluginStore::drop(std::span<const Entity> entities) { remove(entities); }

void PluginStore::remove_dead(void* self, std::span<const Entity> entities) {
    PluginStore& store = *static_cast<PluginStore*>(self);
    const Array<Entity> dead = dead_owners(store.rows_, entities);
    if (dead.empty()) return;
    if (store.given_.drop_dead == nullptr) return static_cast<void>(store.remove(dead));
    store.given_.drop_dead(store.given_.context, given(dead), count_of(dead));
    static_cast<void>(store.refresh());
}

// --- spawning ----------------------------------------------------------------------------------------------------

Status PluginStore::spawn(const SpawnBatch& batch) {
    rows_.require_unlocked("spawn()");
    require_batch(batch, schema());
    const PluginSpawn spawned(batch, schema());
    Status status;
    if (given_.spawn == nullptr) {
        status = add(spawned.owners, spawned.images.data(), schema().struct_bytes());
    } else {
        status = call_plugin("the function spawn of the store",
                             [&](shoal_error* error) { return given_.spawn(given_.context, &spawned.view, error); });
        if (status) status = refresh();
    }
    if (!status) return status;
    spawned_.insert(spawned_.end(), spawned.owners.begin(), spawned.owners.end());
    set_parents(spawned);
    return {};
}

void PluginStore::set_parents(const PluginSpawn& spawned) {
    if (given_.set_parents == nullptr) return;
    Array<Entity> children{Owner("plugins")}, parents{Owner("plugins")};
    for (std::size_t i = 0; i < spawned.parents.size(); ++i) {
        if (!spawned.parents[i]) continue;
        children.push_back(spawned.owners[i]);
        parents.push_back(spawned.parents[i]);
    }
    if (!children.empty()) given_.set_parents(given_.context, given(children), given(parents), count_of(children));
}

Status PluginStore::finish_spawn() {
    if (given_.after_spawn == nullptr || spawned_.empty()) return {};
    const Array<Entity> spawned = std::move(spawned_);
    spawned_ = Array<Entity>(Owner("plugins"));
    const Status status = call_plugin("the function after_spawn of the store", [&](shoal_error* error) {
        return given_.after_spawn(given_.context, given(spawned), count_of(spawned), error);
    });
    if (!status) remove(spawned);
    return status ? refresh() : status;
}

// --- fields ------------------------------------------------------------------------------------------------------

std::uint32_t PluginStore::number_of(const FieldPart& part) const {
    return static_cast<std::uint32_t>(schema().find_field(part.field->name));
}

void PluginStore::read_field(const ComponentRow& at, const FieldPart& part, std::byte* value) const {
    if (has_columns()) return Store::read_field(at, part, value);
    Array<std::byte> whole(part.field->size, std::byte(), "plugins");
    given_.get(given_.context, at.row, number_of(part), whole.data());
    read_part(whole.data(), part, value);
}

Status PluginStore::write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) {
    if (given_.set == nullptr && has_columns()) return Store::write_field(at, part, value);
    if (given_.set == nullptr)
        return Status::error(
            concat("plugin \"", owner_.name, "\" does not let fields of \"", schema().name(), "\" be set"));
    if constexpr (SHOAL_CHECKED != 0) ask_write_guard(rows_.table(), at.first_column + part.field->first_column);
    Array<std::byte> whole(part.field->size, std::byte(), "plugins");
    read_field(at, field_part(schema(), *part.field), whole.data());
    write_part(whole.data(), part, value);
    const Status status = call_plugin("the function set of the store", [&](shoal_error* error) {
        return given_.set(given_.context, at.row, number_of(part), whole.data(), error);
    });
    if (status) rows_.table().stamp_row(at.row);
    return status;
}

void PluginStore::finish_writes(std::uint64_t, std::span<const std::uint32_t> rows, Executor*) {
    given_.written(given_.context, rows.data(), static_cast<std::uint32_t>(rows.size()));
}

// --- reports, saving ---------------------------------------------------------------------------------------------

std::size_t PluginStore::statistics(std::span<StoreStatistics> out) const {
    const std::size_t count = rows_.statistics(out);
    if (out.empty()) return count;
    const std::size_t used = std::size_t(rows_.num_rows()) * (sizeof(Entity) + schema().row_bytes());
    shoal_memory memory{sizeof memory, 0, used, 0};
    if (given_.memory != nullptr) given_.memory(given_.context, &memory);
    const std::size_t rows = memory.row_bytes;
    out[0].rows = {.used_bytes = std::min(used, rows), .committed_bytes = rows, .reserved_bytes = rows};
    out[0].index.used_bytes += memory.index_bytes;
    out[0].index.committed_bytes += memory.index_bytes;
    out[0].index.reserved_bytes += memory.index_bytes;
    return count;
}

Status PluginStore::save(Array<std::byte>& bytes) const {
    shoal_writer writer{bytes};
    const Status status = call_plugin("its function save",
                                      [&](shoal_error* error) { return given_.save(given_.context, &writer, error); });
    if (status) return status;
    return Status::error(concat("the store of \"", schema().name(), "\" cannot be saved: ", status.message()));
}

Status PluginStore::load(const SavedStore& saved) {
    const Status status = call_plugin("its function load", [&](shoal_error* error) {
        return given_.load(given_.context, saved.bytes.data(), saved.bytes.size(), saved.version, error);
    });
    if (!status)
        return Status::error(concat("the store of \"", schema().name(), "\" cannot be loaded: ", status.message()));
    return refresh();
}

void PluginStore::save(SnapshotWriter& to) const {
    if (!is_saved())
        return to.refuse(concat("the plugin's store of \"", schema().name(), "\" has no functions save and load"));
    Array<std::byte> bytes{Owner("plugins")};
    if (const Status status = save(bytes); !status) return to.refuse(status.message());
    to.value("version", schema().version());
    to.array("bytes", std::span<const std::byte>(bytes));
}

Status PluginStore::load(SnapshotReader& from) {
    if (!is_saved())
        return from.error("bytes",
                          concat("the plugin's store of \"", schema().name(), "\" has no functions save and load"));
    SavedStore saved{.component = schema().name()};
    if (Status status = from.value("version", saved.version); !status) return status;
    if (Status status = from.array("bytes", saved.bytes); !status) return status;
    const std::span<const Entity> owners = rows_.table().entities();
    const Array<Entity> all(owners.begin(), owners.end(), "plugins");
    remove(all);
    return load(saved);
}

// --- what plugins call -------------------------------------------------------------------------------------------

namespace {

/// Errors: a function is missing.
Status check_store(const Schema& schema, const shoal_store& store) {
    const auto fail = [&](std::string_view why) {
        return Status::error(concat("the store of \"", schema.name(), "\" ", why));
    };
    if (!reaches(store, &shoal_store::end)) return fail("does not begin with sizeof(shoal_store)");
    if (store.create == nullptr) return fail("has no function create");
    if (store.destroy == nullptr) return fail("has no function destroy");
    if (store.show == nullptr) return fail("has no function show");
    if (store.first == nullptr) return fail("has no function first");
    if (schema.many() && store.next == nullptr) return fail("has no function next, which SHOAL_MANY needs");
    if (schema.singleton())
        return fail("cannot keep a singleton; declare it with declare_component(), and the world keeps its value");
    if (schema.enableable())
        return fail(
            "cannot keep an enableable component; give it a field for that, or declare it with "
            "declare_component()");
    const auto is_relation = [](const Field& field) { return field.relation != Relation::kNone; };
    if (store.get != nullptr && std::ranges::any_of(schema.fields(), is_relation))
        return fail("shows no columns, so that nobody finds who refers to whom by its relations");
    if ((store.save == nullptr) != (store.load == nullptr)) return fail("has one of save and load; give both or none");
    return {};
}

SavedStore* find_saved(PluginHost& host, std::string_view component) {
    for (SavedStore& saved : host.saved)
        if (saved.component == component && saved.has_bytes) return &saved;
    return nullptr;
}

/// Takes over a component type that only a schema has declared, such as a type from a level. Converts the rows to the
/// fields of the store, and removes the manager from the world. Errors: another store has the component type.
Result<ComponentManager*> take_over(shoal_world& plugin, const Schema& schema) {
    const KeptComponent kept = plugin.world.directory().find_kept(schema.id());
    if (!kept) return static_cast<ComponentManager*>(nullptr);
    if (dynamic_cast<ComponentManager*>(kept.store) == nullptr || !plugin.is_loading)
        return Status::error(concat("component \"", schema.name(), "\" is kept by ", kept.store->kind(),
                                    " of the world; a store of the plugin cannot keep it too"));
    if (const Guest* user = plugin.host.find_user(schema, *kept.store))
        return Status::error(concat("component \"", schema.name(), "\" is named in queries or observers of plugin \"",
                                    user->name, "\", so that no store of this one can take its rows over"));
    const Result<SchemaChange*> change = begin_schema_change(plugin.world, schema);
    if (!change) return change.status();
    plugin.changes.push_back(*change);
    return static_cast<ComponentManager*>(plugin.world.directory().find(schema.id()));
}

/// Adds the rows of a replaced manager to a store. Errors: the store refuses them.
Status move_rows(const ComponentManager& from, PluginStore& to) {
    const Schema& schema = from.schema();
    const std::span<const Entity> owners = from.table().entities();
    Array<std::byte> images(owners.size() * schema.struct_bytes(), std::byte(), "plugins");
    for (std::uint32_t row = 0; row < owners.size(); ++row)
        read_image(from.table(), schema, row, images.data() + row * std::size_t(schema.struct_bytes()));
    if (owners.empty()) return {};
    return to.add_values(schema, owners, {.images = images.data(), .stride = schema.struct_bytes()}).status();
}

/// Fills the store with its saved data, or with the rows of a manager. Errors: the store refuses them.
Status fill(PluginHost& host, PluginStore& store, const ComponentManager* manager) {
    if (Status status = store.refresh(); !status) return status;
    SavedStore* const saved = find_saved(host, store.schema().name());
    if (saved != nullptr) saved->was_loaded = true;
    if (Status status = saved != nullptr ? store.load(*saved) : Status(); !status) return status;
    return manager == nullptr ? Status() : move_rows(*manager, store);
}

Result<PluginStore*> make_store(shoal_world& plugin, const Schema& schema, const shoal_store& store) {
    if (Status status = check_store(schema, store); !status) return status;
    const Result<ComponentManager*> replaced = take_over(plugin, schema);
    if (!replaced) return replaced.status();
    auto* const made = make_owned<PluginStore>("plugins", plugin, schema, store);
    if (Status status = fill(plugin.plugins(), *made, *replaced); !status) {
        made->let_go();
        destroy_owned("plugins", made);
        if (*replaced != nullptr) {
            end_schema_change(plugin.changes.back(), false);
            plugin.changes.pop_back();
        }
        return status;
    }
    if (*replaced != nullptr) {
        plugin.world.detach(**replaced);
        plugin.replaced.push_back(*replaced);
    }
    const Status status = plugin.world.attach(*made);
    SHOAL_ASSERT(status.ok(), "a store of a component type that nobody keeps is attached");
    plugin.stores.push_back(made);
    return made;
}

const shoal_component* add_store(shoal_world* plugin, const shoal_schema* given, const shoal_store* store,
                                 shoal_error* error) {
    if (Status status = check_given("add_store", {{plugin, "the world"}, {given, "the schema"}, {store, "the store"}});
        !status)
        return refuse(error, status.message()), nullptr;
    const Result<Schema> schema = read_schema(*given);
    if (!schema) return refuse(error, schema.message()), nullptr;
    const Result<PluginStore*> made = make_store(*plugin, *schema, copy_given(*store));
    if (!made) return refuse(error, made.message()), nullptr;
    const shoal_component* const component = component_of(plugin->plugins(), *schema);
    note_type(*plugin, *component, *schema);
    return component;
}

int rows_moved(shoal_world* plugin, const shoal_component* component, shoal_error* error) {
    if (Status status = check_given("rows_moved", {{plugin, "the world"}, {component, "the component"}}); !status)
        return answer(error, status);
    for (PluginStore* store : plugin->stores) {
        if (store->schema().id() != component->id) continue;
        const Status status = store->refresh();
        if (status) store->mark_all();
        return answer(error, status);
    }
    return refuse(error, concat("plugin \"", plugin->name, "\" has no store of \"", component->name, "\""));
}

int write_bytes(shoal_writer* writer, const void* bytes, std::size_t num_bytes) {
    if (Status status = check_given("write_bytes", {{writer, "the writer"}}); !status) return complain(status);
    if (bytes == nullptr && num_bytes != 0) return complain(Status::error("write_bytes: the bytes are NULL"));
    const auto* const first = static_cast<const std::byte*>(bytes);
    writer->bytes.insert(writer->bytes.end(), first, first + num_bytes);
    return 1;
}

}  // namespace

void add_store_functions(shoal_host& table) {
    table.add_store = add_store;
    table.rows_moved = rows_moved;
    table.write_bytes = write_bytes;
}

}  // namespace shoal

// Plugins' component types. Makes schemas from the fields of C structs, and tables from schemas.

#include "plugin/host.h"
#include "shoal/base/text.h"
#include "shoal/resource/detail/value_change.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace shoal {

shoal_component* component_of(PluginHost& host, const Schema& schema) {
    for (shoal_component* known : host.components)
        if (known->id == schema.id()) return known;
    host.components.push_back(make_owned<shoal_component>("plugins", schema.id(), schema.name()));
    return host.components.back();
}

namespace {

static_assert(SHOAL_BOOL == int(FieldType::kBool) && SHOAL_INT64 == int(FieldType::kInt64));
static_assert(SHOAL_UINT8 == int(FieldType::kUint8) && SHOAL_DOUBLE == int(FieldType::kDouble));
static_assert(SHOAL_VEC2 == int(FieldType::kVec2) && SHOAL_MATRIX3X4 == int(FieldType::kMatrix3x4));
static_assert(SHOAL_STRING_ID == int(FieldType::kStringId) && SHOAL_FIXED_STRING == int(FieldType::kFixedString));
constexpr std::size_t kMostFieldBytes = std::size_t(1) << 20;  // limit for a default value
static_assert(sizeof(shoal_entity) == sizeof(Entity) && alignof(shoal_entity) == alignof(Entity));

static_assert(SHOAL_ENUM == int(FieldType::kEnum) && SHOAL_BLOB_ARRAY == int(FieldType::kBlobArray));

constexpr std::uint32_t kFieldFlags = SHOAL_SPLIT | SHOAL_RELATION | SHOAL_CLEARED | SHOAL_DIES_TOO;
constexpr std::uint32_t kSchemaFlags =
    SHOAL_WHOLE | SHOAL_ENABLEABLE | SHOAL_MANY | SHOAL_SINGLETON | SHOAL_WITHOUT_ROWS;

/// Whether a declaration of this type includes the size of a value.
bool has_value_bytes(std::uint32_t type) { return type == SHOAL_FIXED_STRING || type == SHOAL_ENUM; }

/// Errors: the field is a relation but not an entity, or has two kinds of relation.
Status read_relation(const shoal_field& given, FieldDefinition& field) {
    const std::uint32_t kinds = given.flags & (SHOAL_RELATION | SHOAL_CLEARED | SHOAL_DIES_TOO);
    if (kinds == 0) return {};
    if (given.type != SHOAL_ENTITY)
        return Status::error(concat("field \"", field.name, "\" is a relation, but no entity"));
    if ((kinds & SHOAL_CLEARED) != 0 && (kinds & SHOAL_DIES_TOO) != 0)
        return Status::error(
            concat("field \"", field.name, "\" cannot be cleared and die too, when its target dies; choose one"));
    field.relation = (kinds & SHOAL_CLEARED) != 0    ? Relation::kCleared
                     : (kinds & SHOAL_DIES_TOO) != 0 ? Relation::kDiesToo
                                                     : Relation::kKept;
    return {};
}

/// Errors: the enumerators are missing, or an enumerator has no name.
Status read_enumerators(const shoal_field& given, FieldDefinition& field) {
    if (given.type != SHOAL_ENUM) return {};
    if (given.enumerators == nullptr || given.num_enumerators == 0)
        return Status::error(concat("field \"", field.name, "\" is an enum without enumerators"));
    for (std::uint32_t i = 0; i < given.num_enumerators; ++i) {
        if (given.enumerators[i].name == nullptr)
            return Status::error(concat("enumerator ", i, " of field \"", field.name, "\" has no name"));
        field.enumerators.push_back({given.enumerators[i].name, given.enumerators[i].value});
    }
    return {};
}

/// Errors: plugins cannot declare this type, or a flag is unknown.
Status check_field(const shoal_field& given) {
    const auto fail = [&](std::string_view why) { return Status::error(concat("field \"", given.name, "\" ", why)); };
    if (given.type < SHOAL_BOOL || given.type > SHOAL_BLOB_ARRAY)
        return fail(concat("has type ", given.type, ", which is none of SHOAL_BOOL to SHOAL_BLOB_ARRAY"));
    const bool is_element = given.element_type >= SHOAL_BOOL && given.element_type <= SHOAL_ENTITY;
    if (given.type == SHOAL_BLOB_ARRAY && !is_element)
        return fail(
            concat("is a blob array of type ", given.element_type, ", which is none of SHOAL_BOOL to SHOAL_ENTITY"));
    if ((given.flags & ~kFieldFlags) != 0) return fail("has flags that this program does not know");
    return {};
}

/// Errors: a default value cannot be read.
Status read_default(const shoal_field& given, FieldDefinition& field) {
    if (given.default_value == nullptr) return {};
    if (given.type == SHOAL_BLOB_ARRAY)
        return Status::error(concat("field \"", field.name, "\" is a blob array, which has no default value"));
    const std::size_t value_bytes = has_value_bytes(given.type) ? given.value_bytes : field_type_bytes(field.type);
    const auto* const first = static_cast<const std::byte*>(given.default_value);
    const std::size_t num_bytes = value_bytes * std::max(given.array_length, 1u);
    if (num_bytes > kMostFieldBytes)
        return Status::error(concat("field \"", field.name, "\" has ", num_bytes, " bytes"));
    field.default_value.assign(first, first + num_bytes);
    return {};
}

}  // namespace

Status read_field(const shoal_field& given, FieldDefinition& field) {
    if (given.name == nullptr) return Status::error("a field has no name");
    if (Status status = check_field(given); !status) return status;
    field.name = given.name;
    field.type = static_cast<FieldType>(given.type);
    if (given.type == SHOAL_BLOB_ARRAY) field.element_type = static_cast<FieldType>(given.element_type);
    field.array_length = given.array_length;
    if (has_value_bytes(given.type)) field.value_bytes = given.value_bytes;
    field.split = (given.flags & SHOAL_SPLIT) != 0;
    if (given.unit != nullptr) field.unit = given.unit;
    if (Status status = read_relation(given, field); !status) return status;
    if (Status status = read_enumerators(given, field); !status) return status;
    return read_default(given, field);
}

Result<Schema> read_schema(const shoal_schema& schema) {
    if (!reaches(schema, &shoal_schema::flags))
        return Status::error("a component type does not begin with sizeof(shoal_schema)");
    const shoal_schema given = copy_given(schema);
    if (given.name == nullptr) return Status::error("a component type has no name");
    const auto fail = [&](std::string_view why) {
        return Status::error(concat("component \"", given.name, "\": ", why));
    };
    if ((given.flags & ~kSchemaFlags) != 0) return fail("it has flags that this program does not know");
    if (given.num_fields > kMaxFields) return fail(concat("it has ", given.num_fields, " fields; at most 64 fit"));
    if (given.num_fields != 0 && given.fields == nullptr) return fail("it has fields, but no list of them");
    ComponentDefinition definition;
    definition.name = given.name;
    definition.version = given.version;
    definition.whole = (given.flags & SHOAL_WHOLE) != 0;
    definition.enableable = (given.flags & SHOAL_ENABLEABLE) != 0;
    definition.many = (given.flags & SHOAL_MANY) != 0;
    definition.singleton = (given.flags & SHOAL_SINGLETON) != 0;
    for (std::uint32_t i = 0; i < given.num_fields; ++i) {
        const shoal_field* const field = element_of(given.fields, i, &shoal_field::reserved);
        if (field == nullptr) return fail(concat("field ", i, " does not begin with sizeof(shoal_field)"));
        definition.fields.emplace_back();
        if (Status status = read_field(copy_given(*field), definition.fields.back()); !status)
            return fail(status.message());
    }
    return Schema::make(std::move(definition));
}

namespace {

const shoal_component* declare_component(shoal_world* plugin, const shoal_schema* given, shoal_error* error) {
    if (Status status = check_given("declare_component", {{plugin, "the world"}, {given, "the schema"}}); !status)
        return refuse(error, status.message()), nullptr;
    const Result<Schema> schema = read_schema(*given);
    if (!schema) return refuse(error, schema.message()), nullptr;
    const bool has_rows = (given->flags & SHOAL_WITHOUT_ROWS) == 0;
    if (Status status = has_rows ? plugin->declare(*schema) : Status(); !status)
        return refuse(error, status.message()), nullptr;
    const shoal_component* const component = component_of(plugin->plugins(), *schema);
    note_type(*plugin, *component, *schema);
    return component;
}

// --- what a plugin adds to the fields ----------------------------------------------------------------------------

/// Errors: a field is invalid.
Status read_named(const shoal_field* fields, std::uint32_t count, std::vector<NamedType>& named) {
    if (count != 0 && fields == nullptr) return Status::error("fields are counted, but the list is NULL");
    if (count > kMaxFields) return Status::error(concat(count, " fields are more than a component type has"));
    for (std::uint32_t i = 0; i < count; ++i) {
        const shoal_field* const given = element_of(fields, i, &shoal_field::reserved);
        if (given == nullptr) return Status::error(concat("field ", i, " does not begin with sizeof(shoal_field)"));
        FieldDefinition field;
        if (Status status = read_field(copy_given(*given), field); !status) return status;
        ValueType type{.type = field.type};
        type.array_length = field.array_length;
        type.value_bytes = has_value_bytes(given->type) ? field.value_bytes : field_type_bytes(field.type);
        named.push_back({field.name, type});
    }
    return {};
}

Status read_migration(const shoal_migration& given, PluginMigration& migration) {
    if (given.from_version == 0) return Status::error("it begins at version 0; the first one is 1");
    migration.from_version = given.from_version;
    migration.migrate = given.migrate;
    if (Status status = read_named(given.olds, given.num_olds, migration.olds); !status) return status;
    if (Status status = read_named(given.news, given.num_news, migration.news); !status) return status;
    const bool is_simple = migration.olds.size() == 1 && migration.news.size() <= 1;
    if (given.migrate == nullptr && !is_simple)
        return Status::error("it has no function, and is neither another name for one field nor the end of one");
    return {};
}

Status read_migrations(const shoal_component_definition& given, std::vector<PluginMigration>& migrations) {
    if (given.num_migrations != 0 && given.migrations == nullptr)
        return Status::error("migrations are counted, but the list is NULL");
    for (std::uint32_t i = 0; i < given.num_migrations; ++i) {
        const shoal_migration* const one = element_of(given.migrations, i, &shoal_migration::migrate);
        if (one == nullptr)
            return Status::error(concat("migration ", i, " does not begin with sizeof(shoal_migration)"));
        migrations.emplace_back();
        const Status status = read_migration(*one, migrations.back());
        if (!status) return Status::error(concat("migration ", i, ": ", status.message()));
    }
    return {};
}

/// Errors: the type does not belong to this plugin or has already been defined, the definition is invalid, or the
/// program has functions for the type.
Status define(shoal_world& plugin, const shoal_component& component, const shoal_component_definition& definition) {
    const auto has_it = [&](const PluginType* type) { return &type->component == &component; };
    const auto at = std::ranges::find_if(plugin.types, has_it);
    const auto fail = [&](std::string_view why) {
        return Status::error(concat("component \"", component.name, "\": ", why));
    };
    if (at == plugin.types.end()) return fail("the plugin has not declared it; only its own types are defined");
    PluginType& type = **at;
    if (!reaches(definition, &shoal_component_definition::reserved))
        return fail("its definition does not begin with sizeof(shoal_component_definition)");
    if (type.is_defined) return fail("it is defined already; give all of it in one call");
    const shoal_component_definition given = copy_given(definition);
    std::vector<PluginMigration> migrations;
    if (Status status = read_migrations(given, migrations); !status) return fail(status.message());
    ComponentRegistry& registry = plugin.world.registry();
    const RegisteredComponent* const known = registry.find(component.name);
    const bool is_known = known != nullptr && (known->compile != nullptr || known->has_spawn_function() ||
                                               known->spawn_order != 0 || known->migrations != nullptr);
    if (is_known || (known != nullptr && !migrations.empty()))
        return fail("the program, or another plugin, has said what to do with it, so that this one cannot");
    type.definition = given;
    type.migrations = std::move(migrations);
    type.is_defined = true;
    type.has_entry = known == nullptr;
    Status status = type.add_to(registry);
    if (status) return status;
    type.leave_registry();
    type.definition = {};
    type.migrations.clear();
    return status;
}

int define_component(shoal_world* plugin, const shoal_component* component,
                     const shoal_component_definition* definition, shoal_error* error) {
    const Status status = check_given(
        "define_component", {{plugin, "the world"}, {component, "the component"}, {definition, "the definition"}});
    return answer(error, status ? define(*plugin, *component, *definition) : status);
}

// --- looking up --------------------------------------------------------------------------------------------------

const shoal_component* find_component(shoal_world* plugin, const char* name, shoal_error* error) {
    if (Status status = check_given("find_component", {{plugin, "the world"}, {name, "the name"}}); !status)
        return refuse(error, status.message()), nullptr;
    const Result<KeptComponent> kept = plugin->host.find_kept(name);
    if (!kept) return refuse(error, kept.message()), nullptr;
    return component_of(plugin->plugins(), *kept->schema);
}

std::uint32_t image_bytes(const shoal_world* plugin, const shoal_component* component) {
    if (Status status = check_given("image_bytes", {{plugin, "the world"}, {component, "the component"}}); !status)
        return complain(status), 0;
    const KeptComponent kept = plugin->world.directory().find_kept(component->id);
    return kept ? kept.schema->struct_bytes() : 0;
}

int has_component(const shoal_world* plugin, const shoal_component* component, shoal_entity entity) {
    if (Status status = check_given("has_component", {{plugin, "the world"}, {component, "the component"}}); !status)
        return complain(status);
    const KeptComponent kept = plugin->world.directory().find_kept(component->id);
    if (!kept || !plugin->world.entities().alive({entity})) return 0;
    const ComponentRow row = kept.store->find_row(component->id, {entity}, 0);
    return row && row.is_enabled ? 1 : 0;
}

/// Runs a migration step by calling the plugin's function.
void migrate_by_plugin(void* step, const std::byte* const* olds, std::byte* const* news, std::size_t num_rows) {
    static_cast<const PluginMigration*>(step)->migrate(reinterpret_cast<const void* const*>(olds),
                                                       reinterpret_cast<void* const*>(news), num_rows);
}

}  // namespace

PluginType& note_type(shoal_world& plugin, const shoal_component& component, const Schema& schema) {
    for (PluginType* type : plugin.types)
        if (&type->component == &component) return type->schema = schema, *type;
    plugin.types.push_back(make_owned<PluginType>("plugins", plugin, component, schema));
    return *plugin.types.back();
}

Status PluginType::add_to(ComponentRegistry& registry) const {
    // The program may have declared the type with different fields. This only matters if the plugin has functions for
    // the type.
    const RegisteredComponent* const known = registry.find(component.name);
    const bool is_of_world = &registry == &owner.world.registry();
    const bool is_known = known != nullptr && known->schema != nullptr && definition.compile == nullptr;
    if ((!is_of_world && !is_known) || !migrations.empty())
        if (Status status = registry.add(schema); !status) return status;
    Status status;
    if (definition.compile != nullptr || definition.spawn_order != 0)
        status =
            registry.set_compile_function(component.name, definition.compile == nullptr ? nullptr : compile_by_plugin,
                                          const_cast<PluginType*>(this), definition.spawn_order);  // NOLINT
    if (status && definition.spawn != nullptr)
        status = registry.set_spawn_function(component.name, spawn_by_plugin, const_cast<PluginType*>(this));  // NOLINT
    for (const PluginMigration& step : migrations) {
        if (!status) break;
        MigrationStep& to = registry.migrations(schema).from(step.from_version);
        if (step.migrate != nullptr)
            compute_values(to, step.olds, step.news, migrate_by_plugin, const_cast<PluginMigration*>(&step));  // NOLINT
        else if (step.news.empty())
            to.remove(step.olds[0].name);
        else
            to.rename(step.olds[0].name, step.news[0].name);
    }
    return status;
}

void PluginType::leave_registry() {
    ComponentRegistry& registry = owner.world.registry();
    if (has_entry)
        registry.remove(component.name);
    else if (is_defined)
        registry.remove_functions(component.name);
    has_entry = is_defined = false;
}

Status spawn_by_plugin(void* context, const SpawnBatch& batch) {
    const PluginType& type = *static_cast<const PluginType*>(context);
    require_batch(batch, type.schema);
    const PluginSpawn spawned(batch, type.schema);
    const GuestCallScope scope(type.owner.plugins());
    return call_plugin(concat("the spawn function of \"", type.component.name, "\""), [&](shoal_error* error) {
        return type.definition.spawn(type.definition.context, &spawned.view, error);
    });
}

Result<KeptComponent> find_bytes(GuestHost& host, const shoal_component& component) {
    Result<KeptComponent> kept = host.find_kept(component.name);
    if (kept && kept->schema->has_opaque())
        return Status::error(concat("\"", component.name, "\" has fields that are more than bytes"));
    return kept;
}

void add_component_functions(shoal_host& table) {
    table.declare_component = declare_component;
    table.define_component = define_component;
    table.find_component = find_component;
    table.image_bytes = image_bytes;
    table.has_component = has_component;
}

}  // namespace shoal

// Component types of plugins: fields as C structs become schemas, and those become tables of the world.

#include "plugin/host.h"
#include "shoal/base/text.h"
#include "shoal/store/component_manager.h"

#include <algorithm>
#include <cstring>

namespace shoal {

KeptComponent find_kept(const World& world, ComponentId component) {
    for (Store* store : world.stores())
        for (const Schema* schema : store->schemas())
            if (schema->id() == component) return {store, schema};
    for (Store* store : world.stores())
        for (const Schema* schema : store->shown_schemas())
            if (schema->id() == component) return {store, schema};
    return {};
}

Status unknown_component(const World& world, std::string_view name) {
    Array<std::string_view> names{Owner("plugins")};
    for (const Store* store : world.stores())
        for (const Schema* schema : store->schemas()) names.push_back(schema->name());
    const int close = closest_text(name, names.data(), names.size());
    return Status::error(concat("no store keeps a component \"", name, "\"",
                                close < 0
                                    ? "; declare it, or load the plugin that does before"
                                    : concat("; did you mean \"", names[static_cast<std::size_t>(close)], "\"?")));
}

shoal_component* component_of(PluginHost& host, const Schema& schema) {
    for (shoal_component* known : host.components)
        if (known->id == schema.id()) return known;
    host.components.push_back(make_owned<shoal_component>(schema.id(), schema.name()));
    return host.components.back();
}

namespace {

static_assert(SHOAL_BOOL == int(FieldType::kBool) && SHOAL_INT64 == int(FieldType::kInt64));
static_assert(SHOAL_UINT8 == int(FieldType::kUint8) && SHOAL_DOUBLE == int(FieldType::kDouble));
static_assert(SHOAL_VEC2 == int(FieldType::kVec2) && SHOAL_MATRIX3X4 == int(FieldType::kMatrix3x4));
static_assert(SHOAL_STRING_ID == int(FieldType::kStringId) && SHOAL_FIXED_STRING == int(FieldType::kFixedString));
static_assert(sizeof(shoal_entity) == sizeof(Entity) && alignof(shoal_entity) == alignof(Entity));

constexpr std::uint32_t kFieldFlags = SHOAL_SPLIT;
constexpr std::uint32_t kSchemaFlags = SHOAL_WHOLE | SHOAL_TOGGLED | SHOAL_MANY | SHOAL_SINGLE;

bool is_text_type(std::uint32_t type) { return type == SHOAL_FIXED_STRING; }

/// Errors: the type is none that plugins can declare, or a flag is unknown; Schema::make() finds the rest.
Status read_field(const shoal_field& given, FieldDefinition& field) {
    if (given.name == nullptr) return Status::error("a field has no name");
    field.name = given.name;
    const bool is_known = (given.type >= SHOAL_BOOL && given.type <= SHOAL_MATRIX3X4) ||
                          (given.type >= SHOAL_STRING_ID && given.type <= SHOAL_FIXED_STRING);
    if (!is_known)
        return Status::error(concat("field \"", field.name, "\" has type ", given.type,
                                    ", which is none of SHOAL_BOOL to SHOAL_FIXED_STRING"));
    if ((given.flags & ~kFieldFlags) != 0)
        return Status::error(concat("field \"", field.name, "\" has flags that this program does not know"));
    field.type = static_cast<FieldType>(given.type);
    field.array_length = given.array_length;
    if (is_text_type(given.type)) field.value_bytes = given.value_bytes;
    field.split = (given.flags & SHOAL_SPLIT) != 0;
    if (given.unit != nullptr) field.unit = given.unit;
    if (given.default_value == nullptr) return {};
    const std::size_t value_bytes = is_text_type(given.type) ? given.value_bytes : field_type_bytes(field.type);
    const auto* const first = static_cast<const std::byte*>(given.default_value);
    field.default_value.assign(first, first + value_bytes * std::max(given.array_length, 1u));
    return {};
}

Result<Schema> read_schema(const shoal_schema& schema) {
    const shoal_schema given = copy_given(schema);
    if (given.name == nullptr) return Status::error("a component type has no name");
    const auto fail = [&](std::string_view why) {
        return Status::error(concat("component \"", given.name, "\": ", why));
    };
    if ((given.flags & ~kSchemaFlags) != 0) return fail("it has flags that this program does not know");
    if (given.num_fields != 0 && given.fields == nullptr) return fail("it has fields, but no list of them");
    ComponentDefinition definition;
    definition.name = given.name;
    definition.version = given.version;
    definition.whole = (given.flags & SHOAL_WHOLE) != 0;
    definition.toggled = (given.flags & SHOAL_TOGGLED) != 0;
    definition.many = (given.flags & SHOAL_MANY) != 0;
    definition.single = (given.flags & SHOAL_SINGLE) != 0;
    const auto* at = reinterpret_cast<const char*>(given.fields);
    for (std::uint32_t i = 0; i < given.num_fields; ++i, at += given.fields->size) {
        const auto& field = *reinterpret_cast<const shoal_field*>(at);
        if (field.size != given.fields->size || field.size < offsetof(shoal_field, flags) + sizeof field.flags)
            return fail(concat("field ", i, " does not begin with sizeof(shoal_field)"));
        definition.fields.emplace_back();
        if (Status status = read_field(copy_given(field), definition.fields.back()); !status)
            return fail(status.message());
    }
    return Schema::make(std::move(definition));
}

/// Whether rows need not change for a declaration.
bool is_same(const Schema& a, const Schema& b) {
    return a.layout_hash() == b.layout_hash() && a.version() == b.version() && a.whole() == b.whole() &&
           a.toggled() == b.toggled() && a.many() == b.many() && a.single() == b.single() &&
           std::ranges::equal(a.default_image(), b.default_image());
}

/// Whether `text` names a component, as a word.
bool names(std::string_view text, std::string_view component) {
    const auto is_part = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
    for (std::size_t at = text.find(component); at != std::string_view::npos; at = text.find(component, at + 1)) {
        const std::size_t end = at + component.size();
        if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
    }
    return false;
}

bool uses(const shoal_world& plugin, const Schema& component, const Store& store) {
    const auto names_it = [&](const shoal_query* query) { return names(query->text, component.name()); };
    const auto touches_it = [&](const PluginPass* pass) {
        return std::ranges::any_of(pass->accesses, [&](const Access& access) { return access.store == &store; });
    };
    return std::ranges::any_of(plugin.queries, names_it) || std::ranges::any_of(plugin.passes, touches_it) ||
           std::ranges::any_of(plugin.reactions,
                               [&](const PluginReactionEntry& entry) { return entry.component == component.id(); });
}

/// Gives the rows of a component type other fields.
Status change_fields(shoal_world& plugin, const Schema& schema, const Store& store) {
    if (const shoal_world* user = find_user(plugin.host, schema, store))
        return Status::error(user == &plugin
                                 ? concat("component \"", schema.name(),
                                          "\" is declared with other fields than it has, behind "
                                          "queries and reactions that name it; declare it before them")
                                 : concat("component \"", schema.name(),
                                          "\" is declared with other fields than it has, and plugin \"", user->name,
                                          "\" has queries or reactions that name it; unload that one before"));
    Result<SchemaChange*> change = plugin.world.begin_schema_change(schema);
    if (!change) return change.status();
    if (plugin.is_loading)
        plugin.changes.push_back(*change);
    else
        plugin.world.end_schema_change(*change, true);
    return {};
}

Status make_table(shoal_world& plugin, const Schema& schema) {
    const Result<Store*> home = plugin.world.home_of(schema);
    if (!home || *home != nullptr) return home.status();
    const Result<ComponentManager*> made = plugin.world.manager(schema);
    if (!made) return made.status();
    if (plugin.is_loading) plugin.made_stores.push_back(*made);
    return {};
}

const shoal_component* declare(shoal_world* plugin, const shoal_schema* given, shoal_error* error) {
    const Result<Schema> schema = read_schema(*given);
    if (!schema) return refuse(error, schema.message()), nullptr;
    KeptComponent kept = find_kept(plugin->world, schema->id());
    Status status;
    if (!kept) status = make_table(*plugin, *schema);
    if (status) kept = find_kept(plugin->world, schema->id());
    if (status && !is_same(*kept.schema, *schema)) status = change_fields(*plugin, *schema, *kept.store);
    if (!status) return refuse(error, status.message()), nullptr;
    return component_of(plugin->host, *schema);
}

const shoal_component* find(shoal_world* plugin, const char* name, shoal_error* error) {
    if (name == nullptr) return refuse(error, "the name of a component type is NULL"), nullptr;
    const KeptComponent kept = find_kept(plugin->world, ComponentId(name));
    if (!kept) return refuse(error, unknown_component(plugin->world, name).message()), nullptr;
    return component_of(plugin->host, *kept.schema);
}

std::uint32_t image_bytes(const shoal_world* plugin, const shoal_component* component) {
    const KeptComponent kept = find_kept(plugin->world, component->id);
    return kept ? kept.schema->struct_bytes() : 0;
}

int has(const shoal_world* plugin, const shoal_component* component, shoal_entity entity) {
    const KeptComponent kept = find_kept(plugin->world, component->id);
    if (!kept || !plugin->world.entities().alive({entity})) return 0;
    const ComponentRow row = kept.store->find_row(component->id, {entity}, 0);
    return row && row.is_on ? 1 : 0;
}

}  // namespace

const shoal_world* find_user(const PluginHost& host, const Schema& component, const Store& store) {
    for (const shoal_world* plugin : host.plugins)
        if (uses(*plugin, component, store)) return plugin;
    return nullptr;
}

const shoal_component_functions& plugin_component_functions() {
    static constexpr shoal_component_functions kFunctions{sizeof kFunctions, declare, find, image_bytes, has};
    return kFunctions;
}

}  // namespace shoal

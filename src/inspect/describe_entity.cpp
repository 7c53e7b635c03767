#include "shoal/inspect/describe_entity.h"

#include "shoal/base/detail/lines.h"
#include "shoal/base/text.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/document/diagnostics.h"
#include "shoal/document/sjson.h"
#include "shoal/entity/entity_text.h"
#include "shoal/inspect/detail/service_rows.h"
#include "shoal/inspect/text_table.h"
#include "shoal/resource/detail/dump.h"
#include "shoal/resource/library.h"

#include <map>
#include <vector>

namespace shoal {
namespace {

/// Looks up the strings of ids and the names of entities in a world.
class WorldNames final : public ValueNames {
public:
    WorldNames(const World& world, const Result<FieldPath>& names) : world_(world), names_(names) {}

    std::string_view text(StringId id) const override { return world_.strings().text(id); }
    void write_entity(DocumentBuilder& builder, Entity entity) const override {
        if (!entity) return builder.null();
        const std::string_view name = name_of(entity);
        builder.string(concat(entity_text(entity), name.empty() ? "" : " ", name));
    }
    /// Writes the values if the world's library has the array.
    void write_array(DocumentBuilder& builder, const BlobArrayBase& array, FieldType element) const override {
        const ResourceLibrary* const library = world_.library();
        const std::span<const std::byte> values =
            library == nullptr ? std::span<const std::byte>() : library->view_bytes(array, element);
        if (values.empty() && array.count != 0) return ValueNames::write_array(builder, array, element);
        write_elements(builder, values, element, *this);
    }
    std::string_view name_of(Entity entity) const {
        if (!names_ || !names_->is<StringId>()) return {};
        const auto name = names_->find<StringId>(entity);
        return name ? text(*name) : std::string_view();
    }
    /// Returns an entity and its name, as in `12:3 "boat"`.
    std::string who(Entity entity) const {
        const std::string_view name = name_of(entity);
        return name.empty() ? entity_text(entity) : concat(entity_text(entity), ' ', quoted(name));
    }

private:
    const World& world_;
    const Result<FieldPath>& names_;
};

Result<FieldPath> find_names(const World& world) { return FieldPath::find_in(world.directory(), "debug_name.name"); }

/// Adds a mapping with the fields of a component.
void write_fields(const Store& store, const ComponentRow& at, const ValueNames& names, DocumentBuilder& builder) {
    std::vector<std::byte> bytes;
    builder.begin_mapping();
    for (const Field& field : at.schema->fields()) {
        builder.key(field.name);
        if (field.type == FieldType::kOpaque) {
            builder.string("opaque");
            continue;
        }
        const FieldPart part = field_part(*at.schema, field);
        bytes.resize(part.type.num_bytes());
        store.read_field(at, part, bytes.data());
        write_value(builder, part.type, bytes.data(), names);
    }
    builder.end();
}

std::string fields_text(const Store& store, const ComponentRow& at, const ValueNames& names) {
    DocumentBuilder builder;
    write_fields(store, at, names, builder);
    return write_sjson_line(builder.finish().root());
}

/// Describes the links of a row.
std::string links_text(const ComponentRow& at, const WorldNames& names) {
    if (!at.table->has_tree()) return {};
    const std::uint32_t parent = at.table->links(LinkColumn::kTreeParent)[at.row];
    const std::span<const std::uint32_t> next = at.table->links(LinkColumn::kTreeNext);
    std::uint32_t count = 0;
    for (std::uint32_t child = at.table->links(LinkColumn::kTreeFirstChild)[at.row]; child != kNilRow;
         child = next[child])
        ++count;
    if (at.schema->id() == schema_of<Owned>().id()) return concat(" (owns ", count, ')');
    const std::string above =
        parent == kNilRow ? "no parent" : concat("parent ", names.who(at.table->entities()[parent]));
    return concat(" (", above, ", ", count, count == 1 ? " child)" : " children)");
}

/// Returns an entity's properties, sorted by path.
std::map<std::string, PropertyView> values_of(const PropertyManager& properties, Entity entity,
                                              const WorldNames& names) {
    std::map<std::string, PropertyView> values;
    properties.for_each(entity, [&](StringId path, const PropertyView& value) {
        std::string name(names.text(path));
        if (name.empty()) append_hex(name, path.hash);
        values.emplace(std::move(name), value);
    });
    return values;
}

/// Appends an entity's properties, sorted by path, and the paths of its own values.
void append_properties(std::string& text, const PropertyManager& properties, Entity entity, const WorldNames& names) {
    const std::map<std::string, PropertyView> values = values_of(properties, entity, names);
    if (values.empty()) return;
    DocumentBuilder builder;
    std::string own;
    builder.begin_mapping();
    for (const auto& [path, value] : values) {
        builder.key(path);
        write_property(builder, value.shape(), value.joined_words(), names);
        if (value.is_own()) append_text(own, concat(own.empty() ? " (own: " : ", ", path));
    }
    builder.end();
    append_text(text,
                concat("  properties: ", write_sjson_line(builder.finish().root()), own, own.empty() ? "\n" : ")\n"));
}

void append_components(std::string& text, const Store& store, Entity entity, const WorldNames& names) {
    if (const auto* const properties = dynamic_cast<const PropertyManager*>(&store))
        return append_properties(text, *properties, entity, names);
    for (const Schema* schema : store.schemas()) {
        ComponentRow at = store.find_row(schema->id(), entity, 0);
        for (std::uint32_t i = 0; at; at = store.find_next(at, entity, ++i)) {
            append_text(text, concat("  ", schema->name()));
            if (schema->many()) append_text(text, concat('[', i, ']'));
            if (!at.is_enabled) append_text(text, " (disabled)");
            const std::string fields = fields_text(store, at, names);
            append_text(text, concat(fields.empty() ? "" : ": ", fields, links_text(at, names), '\n'));
        }
    }
}

/// Returns the table of a service, or an empty string.
std::string indented_table(const WorldService& service) {
    const std::vector<std::vector<std::string>> rows = service_rows(service);
    if (rows.empty()) return {};
    TextTable table(rows.front());
    for (std::size_t i = 1; i < rows.size(); ++i) table.add_row(rows[i]);
    const std::string lines = table.text();
    std::string text;
    for (std::string_view rest = lines; !rest.empty();) text += concat("    ", take_line(rest), '\n');
    return text;
}

}  // namespace

std::string describe(const World& world) {
    std::string text =
        concat("frame ", world.frame(), ": entities ", world.entities().num_alive(), ", stores ",
               world.directory().stores().size(), ", passes ", world.schedule().num_passes(), "; services:\n");
    world.services().for_each([&](const WorldService& service) {
        const std::string what = service.describe();
        text += concat("  ", service.name(), what.empty() ? "" : ": ", what, "\n");
        text += indented_table(service);
    });
    return text;
}

std::string describe(const World& world, Entity entity) {
    if (!entity) return "null is no entity\n";
    const Result<FieldPath> found = find_names(world);
    const WorldNames names(world, found);
    std::string components;
    for (const Store* store : world.directory().stores()) append_components(components, *store, entity, names);
    std::string text = concat("entity ", names.who(entity), " is ");
    if (world.entities().alive(entity))
        append_text(text, components.empty() ? "alive and has no components here\n" : "alive\n");
    else
        append_text(text,
                    components.empty() ? "dead\n" : "dead; these components are removed when the world settles\n");
    return text + components;
}

// --- documents ---------------------------------------------------------------------------------------------------

namespace {

/// Calls visit(store, schema, first value) for the component types that an entity has.
template <class Visit>
void for_each_component(const World& world, Entity entity, Visit&& visit) {
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas())
            if (const ComponentRow at = store->find_row(schema->id(), entity, 0)) visit(*store, *schema, at);
}

/// Returns the array of an entity's template values if it is not loaded, and otherwise an array with a count of 0.
BlobArrayBase find_unloaded(const World& world, const PropertyManager& properties, Entity entity) {
    const ComponentRow at = properties.find_row(schema_of<Properties>().id(), entity, 0);
    if (!at) return {};
    Properties value;
    for (const Field& field : at.schema->fields())
        properties.read_field(at, field_part(*at.schema, field),
                              reinterpret_cast<std::byte*>(&value) + field.struct_offset);
    const BlobArrayBase& array = value.values.count != 0 ? value.values : value.overrides;
    const ResourceLibrary* const library = world.library();
    return library != nullptr && library->find(array.resource) != nullptr ? BlobArrayBase() : array;
}

void write_properties_of(const World& world, const PropertyManager& properties, Entity entity, const WorldNames& names,
                         DocumentBuilder& builder) {
    const std::map<std::string, PropertyView> values = values_of(properties, entity, names);
    const BlobArrayBase unloaded = find_unloaded(world, properties, entity);
    if (values.empty() && unloaded.count == 0) return;
    builder.begin_mapping("properties");
    for (const bool is_own : {false, true}) {
        builder.begin_mapping(is_own ? "overrides" : "values");
        for (const auto& [path, value] : values) {
            if (value.is_own() != is_own) continue;
            builder.key(path);
            write_property(builder, value.shape(), value.joined_words(), names);
        }
        builder.end();
    }
    if (unloaded.count != 0) {
        builder.key("not_loaded");
        names.write_array(builder, unloaded, FieldType(0));
    }
    builder.end();
}

/// Adds the parents and owners of an entity, and its disabled components.
void write_relatives(const World& world, Entity entity, DocumentBuilder& builder) {
    std::vector<std::string> disabled;
    const Table* last = nullptr;
    for_each_component(world, entity, [&](const Store&, const Schema& schema, const ComponentRow& at) {
        if (!at.is_enabled) disabled.push_back(schema.name());
        if (!at.table->has_tree() || at.table == last) return;
        last = at.table;
        const std::uint32_t above = at.table->links(LinkColumn::kTreeParent)[at.row];
        if (above == kNilRow) return;
        const bool is_owned = schema.id() == schema_of<Owned>().id();
        builder.string(is_owned ? "owner" : "parent", entity_text(at.table->entities()[above]));
    });
    if (disabled.empty()) return;
    builder.begin_list("disabled");
    for (const std::string& name : disabled) builder.string(name);
    builder.end();
}

}  // namespace

EntityWriter::EntityWriter(const World& world) : world_(world), names_(find_names(world)) {}

void EntityWriter::write_value(const ValueType& type, const std::byte* bytes, DocumentBuilder& builder) const {
    shoal::write_value(builder, type, bytes, WorldNames(world_, names_));
}

std::string_view EntityWriter::name_of(Entity entity) const { return WorldNames(world_, names_).name_of(entity); }

void EntityWriter::write(Entity entity, DocumentBuilder& builder) const {
    const WorldNames names(world_, names_);
    builder.string("entity", entity_text(entity));
    if (const std::string_view name = names.name_of(entity); !name.empty()) builder.string("name", name);
    write_relatives(world_, entity, builder);
    if (const Database* const database = find_database(world_.directory()); database != nullptr)
        if (const DatabaseRow at = database->find(entity); at && at.table->zone() != database->first_zone())
            builder.unsigned_integer("zone", at.table->zone());
    builder.begin_mapping("components");
    for_each_component(world_, entity, [&](const Store& store, const Schema& schema, ComponentRow at) {
        if (&store == find_properties(world_.directory())) return;  // the values of properties are written below
        builder.key(schema.name());
        if (!schema.many()) return write_fields(store, at, names, builder);
        builder.begin_list();
        for (std::uint32_t i = 0; at; at = store.find_next(at, entity, ++i)) write_fields(store, at, names, builder);
        builder.end();
    });
    if (const PropertyManager* const properties = find_properties(world_.directory()); properties != nullptr)
        write_properties_of(world_, *properties, entity, names, builder);
    builder.end();
}

}  // namespace shoal

const char* shoal_describe_entity(const shoal::World* world, shoal::EntityBits id) {
    thread_local std::string text;
    text = shoal::describe(*world, shoal::Entity{id});
    return text.c_str();
}

// Lists entities, shows all data of an entity, and makes edits that can be undone.

#include "inspector/answers.h"
#include "inspector/json_text.h"
#include "inspector/value_of_json.h"
#include "shoal/base/text.h"
#include "shoal/components/ownership.h"
#include "shoal/entity/entity_text.h"
#include "shoal/inspect/describe_entity.h"
#include "shoal/react/relations.h"
#include "shoal/save/state_difference.h"
#include "shoal/source/detail/origins.h"

#include <algorithm>

namespace shoal::inspect {
namespace {

constexpr std::uint64_t kUsualEntities = 100, kMostEntities = 1000;
constexpr std::size_t kMostRelatives = 200;
constexpr std::size_t kMostEdits = 1000;

template <class Visit>
void for_each_component(const World& world, Entity entity, Visit&& visit) {
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas())
            if (const ComponentRow at = store->find_row(schema->id(), entity, 0)) visit(*store, *schema, at);
}

void write_entity(const World& world, const EntityWriter& writer, Entity entity, JsonText& json) {
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    builder.string("entity", entity_text(entity));
    json.text("name", writer.name_of(entity));
    builder.begin_list("components");
    for_each_component(world, entity,
                       [&](const Store&, const Schema& schema, const ComponentRow&) { json.text(schema.name()); });
    builder.end();
    builder.end();
}

/// Writes an entity, its name, and the field that relates it to the described entity.
void write_relative(const EntityWriter& writer, Entity entity, std::string_view field, JsonText& json) {
    json.builder.begin_mapping();
    json.builder.string("entity", entity_text(entity));
    json.text("name", writer.name_of(entity));
    if (!field.empty()) json.text("field", field);
    json.builder.end();
}

/// Lists the entities that an entity owns, or its children, without duplicates.
void write_below(const World& world, const EntityWriter& writer, Entity entity, bool owned, JsonText& json) {
    std::vector<Entity> below;
    for_each_component(world, entity, [&](const Store&, const Schema& schema, const ComponentRow& at) {
        if (!at.table->has_tree() || (schema.id() == schema_of<Owned>().id()) != owned) return;
        const std::span<const std::uint32_t> next = at.table->links(LinkColumn::kTreeNext);
        for (std::uint32_t child = at.table->links(LinkColumn::kTreeFirstChild)[at.row];
             child != kNilRow && below.size() < kMostRelatives; child = next[child])
            if (const Entity found = at.table->entities()[child]; std::ranges::find(below, found) == below.end())
                below.push_back(found);
    });
    json.builder.begin_list(owned ? "owned" : "children");
    for (const Entity one : below) write_relative(writer, one, {}, json);
    json.builder.end();
}

void write_referrers(const World& world, const EntityWriter& writer, Entity entity, JsonText& json) {
    json.builder.begin_list("referrers");
    std::size_t count = 0;
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas())
            for (std::uint32_t i = 0; i < schema->fields().size(); ++i) {
                const Field& field = schema->fields()[i];
                if (field.relation == Relation::kNone) continue;
                for (const Entity referrer : world.relations().referrers(schema->id(), i, entity)) {
                    if (++count > kMostRelatives) break;
                    write_relative(writer, referrer, concat(schema->name(), '.', field.name), json);
                }
            }
    json.builder.end();
}

/// Writes the prefabs that an entity is made from, innermost first, and the fields that other sources change.
void write_origins(const std::vector<LayerOrigin>& origins, std::string_view own_file, JsonText& json) {
    std::vector<std::string_view> named;
    json.builder.begin_list("prefabs");
    for (const LayerOrigin& origin : origins) {
        if (origin.file == own_file || std::ranges::find(named, origin.file) != named.end()) continue;
        named.push_back(origin.file);
        json.builder.begin_mapping();
        json.text("file", origin.file);
        json.builder.unsigned_integer("line", origin.line);
        json.builder.end();
    }
    json.builder.end();
    json.builder.begin_list("changes");
    for (const LayerOrigin& origin : origins)
        for (const std::string& field : origin.fields) {
            if (origin.declares) continue;
            json.builder.begin_mapping();
            json.text("field", concat(origin.component, '.', field));
            json.text("by", origin.file);
            json.builder.unsigned_integer("line", origin.line);
            json.builder.end();
        }
    json.builder.end();
}

/// Writes the file and line of an entity's source, if the entity was spawned while the inspector was running.
void write_source(const Session& session, Entity entity, JsonText& json) {
    json.builder.key("source");
    for (const SpawnRecord& spawn : session.spawns) {
        const auto at = std::ranges::find(spawn.entities, entity);
        if (at == spawn.entities.end()) continue;
        const auto index = static_cast<std::size_t>(at - spawn.entities.begin()) % spawn.source->lines.size();
        json.builder.begin_mapping();
        json.text("resource", spawn.source->resource);
        json.text("file", spawn.source->file_names[spawn.source->files[index]]);
        json.builder.unsigned_integer("line", spawn.source->lines[index]);
        if (session.options.host != nullptr)
            write_origins(session.options.host->origins(spawn.source->resource, spawn.source->guids[index]),
                          spawn.source->file_names[spawn.source->files[index]], json);
        json.builder.end();
        return;
    }
    json.builder.null();
}

/// Whether a string is the id of an entity or a part of its name.
bool is_called(const EntityWriter& writer, Entity entity, std::string_view text) {
    return entity_text(entity) == text || writer.name_of(entity).find(text) != std::string_view::npos;
}

Response show_edit(const Session& session, const Edit* edit, const AnyValue& value, const EntityWriter& writer) {
    JsonText json;
    json.builder.begin_mapping();
    if (edit != nullptr) {
        json.builder.string("entity", entity_text(edit->entity));
        json.text("field", edit->field);
    }
    json.builder.key("value");
    writer.write_value(value.type(), value.bytes().data(), json.builder);
    json.builder.unsigned_integer("undo", session.undo.size());
    json.builder.unsigned_integer("redo", session.redo.size());
    json.builder.end();
    return {200, "application/json", json.finish()};
}

/// Sets the old or the new value of the last edit in `from`, and moves the edit to `to`.
Response take_back(Session& session, std::vector<Edit>& from, std::vector<Edit>& to, bool older) {
    if (from.empty()) return refuse(400, older ? "there is no edit to take back" : "there is no edit to make again");
    Edit edit = std::move(from.back());
    from.pop_back();
    const AnyValue value = older ? edit.before : edit.after;
    if (const Status status = session.world.set(edit.entity, edit.field, value); !status)
        return refuse(400, concat(edit.field, " of ", entity_text(edit.entity), " stays as it is: ", status.message()));
    session.has_unkept_edits = true;
    to.push_back(std::move(edit));
    return show_edit(session, &to.back(), value, EntityWriter(session.world));
}

/// The field that a request sets. On error, `refusal` is the response to send.
struct WantedField {
    Entity entity;
    std::optional<FieldPath> path;
    std::optional<Response> refusal;
};

WantedField find_field(Session& session, const RequestBody& body) {
    WantedField wanted;
    if (!read_entity(body.text("entity"), wanted.entity) || !session.world.entities().alive(wanted.entity)) {
        wanted.refusal =
            refuse(400, concat("`entity` is a living entity such as \"12:3\", not \"", body.text("entity"), '"'));
        return wanted;
    }
    Result<FieldPath> path = session.world.find_field(body.text("field"));
    if (path)
        wanted.path.emplace(std::move(*path));
    else
        wanted.refusal = refuse(400, path.status().message());
    return wanted;
}

}  // namespace

Response list_entities(Session& session, const Request& request) {
    const World& world = session.world;
    const std::string query = request.parameter("query"), name = request.parameter("name");
    const std::uint64_t limit = number_parameter(request, "limit", kUsualEntities, kMostEntities);
    std::vector<Entity> found;
    if (query.empty()) {
        found = living_entities(world);
    } else {
        Selection selection = select(session, query);
        if (selection.refusal) return *std::move(selection.refusal);
        found = std::move(selection.entities);
    }
    const EntityWriter writer(world);
    if (!name.empty()) std::erase_if(found, [&](Entity entity) { return !is_called(writer, entity, name); });
    std::ranges::sort(found, {}, [](Entity entity) { return entity.index(); });
    std::size_t first = 0;
    if (Entity after; read_entity(request.parameter("after"), after))
        first = static_cast<std::size_t>(
            std::ranges::upper_bound(found, after.index(), {}, [](Entity entity) { return entity.index(); }) -
            found.begin());
    const std::size_t last = std::min<std::size_t>(found.size(), first + limit);
    JsonText json;
    json.builder.begin_mapping();
    json.builder.unsigned_integer("total", found.size());
    json.builder.boolean("more", last < found.size());
    json.builder.begin_list("entities");
    for (std::size_t i = first; i < last; ++i) write_entity(world, writer, found[i], json);
    json.builder.end();
    json.builder.end();
    return {200, "application/json", json.finish()};
}

Response show_entity(Session& session, const Request& request) {
    const World& world = session.world;
    Entity entity;
    if (!read_entity(request.parameter("id"), entity) || !entity)
        return refuse(400, "`id` is an entity such as 12:3, its index and its generation");
    const EntityWriter writer(world);
    JsonText json;
    json.builder.begin_mapping();
    json.builder.boolean("alive", world.entities().alive(entity));
    writer.write(entity, json.builder);
    write_below(world, writer, entity, false, json);
    write_below(world, writer, entity, true, json);
    write_referrers(world, writer, entity, json);
    write_source(session, entity, json);
    json.builder.end();
    return {200, "application/json", json.finish()};
}

Response set_field(Session& session, const Request& request) {
    const RequestBody body(request);
    if (body.refusal) return *body.refusal;
    WantedField wanted = find_field(session, body);
    if (wanted.refusal) return *std::move(wanted.refusal);
    const Result<AnyValue> before = wanted.path->read(wanted.entity);
    if (!before) return refuse(400, before.status().message());
    const Node given = body.find("value");
    if (!given) return refuse(400, "`value` is missing");
    const Result<AnyValue> value = value_of_json(given, *wanted.path);
    if (!value) return refuse(400, value.status().message());
    if (const Status status = session.world.set(wanted.entity, wanted.path->name(), *value); !status)
        return refuse(400, status.message());
    const Result<AnyValue> after = wanted.path->read(wanted.entity);
    if (!after) return refuse(400, after.status().message());
    session.has_unkept_edits = true;
    session.redo.clear();
    session.undo.push_back({wanted.entity, wanted.path->name(), *before, *after});
    if (session.undo.size() > kMostEdits) session.undo.erase(session.undo.begin());
    return show_edit(session, nullptr, *after, EntityWriter(session.world));
}

Response undo(Session& session, const Request&) { return take_back(session, session.undo, session.redo, true); }
Response redo(Session& session, const Request&) { return take_back(session, session.redo, session.undo, false); }

}  // namespace shoal::inspect

// What plugins ask of a world, translated: entities, rows, commands, events, reactions and the rest.

#include "plugin/host.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/job/row_ranges.h"

#include <algorithm>
#include <cstring>

namespace shoal {

int refuse(shoal_error* error, std::string_view message) {
    if (error == nullptr || error->size <= offsetof(shoal_error, text)) return 0;
    const std::size_t room = error->size - offsetof(shoal_error, text) - 1;
    const std::size_t length = std::min(room, message.size());
    std::memcpy(error->text, message.data(), length);
    error->text[length] = 0;
    return 0;
}

PluginHost::~PluginHost() {
    for (shoal_component* component : components) destroy_owned(component);
}

namespace {

// --- logging, entities -------------------------------------------------------------------------------------------

void write_log(shoal_world* plugin, std::uint32_t level, const char* text) {
    log(static_cast<LogLevel>(std::min<std::uint32_t>(level, SHOAL_LOG_ERROR)), concat(plugin->name, ": ", text));
}

std::span<const Entity> entities_of(const shoal_entity* entities, std::uint32_t count) {
    return {reinterpret_cast<const Entity*>(entities), count};
}

int create(shoal_world* plugin, shoal_entity* entities, std::uint32_t count, shoal_error* error) {
    const std::span<Entity> made(reinterpret_cast<Entity*>(entities), count);
    if (Status status = plugin->world.entities().create(made); !status) return answer(error, status);
    if (plugin->is_loading) plugin->made_entities.insert(plugin->made_entities.end(), made.begin(), made.end());
    return 1;
}

std::uint32_t destroy(shoal_world* plugin, const shoal_entity* entities, std::uint32_t count) {
    return static_cast<std::uint32_t>(plugin->world.entities().destroy(entities_of(entities, count)));
}

int alive(const shoal_world* plugin, shoal_entity entity) { return plugin->world.entities().alive({entity}) ? 1 : 0; }

// --- rows --------------------------------------------------------------------------------------------------------

Result<KeptComponent> find_bytes(const World& world, const shoal_component& component) {
    const KeptComponent kept = find_kept(world, component.id);
    if (!kept) return unknown_component(world, component.name);
    if (kept.schema->has_opaque())
        return Status::error(concat("\"", component.name, "\" has fields that are more than bytes"));
    return kept;
}

/// Errors: one of them is dead.
Status require_living(const EntityManager& entities, std::span<const Entity> asked) {
    for (std::size_t i = 0; i < asked.size(); ++i)
        if (!entities.alive(asked[i])) return Status::error(concat("entity ", i, " of ", asked.size(), " is dead"));
    return {};
}

int add_rows(shoal_world* plugin, const shoal_component* component, const shoal_entity* entities, std::uint32_t count,
             const void* images, std::size_t stride, shoal_error* error) {
    const Result<KeptComponent> kept = find_bytes(plugin->world, *component);
    if (!kept) return refuse(error, kept.message());
    const std::span<const Entity> to = entities_of(entities, count);
    if (Status status = require_living(plugin->world.entities(), to); !status) return answer(error, status);
    const AddedValues values{.images = static_cast<const std::byte*>(images), .stride = stride};
    return answer(error, kept->store->add_values(*kept->schema, to, values).status());
}

int remove_rows(shoal_world* plugin, const shoal_component* component, const shoal_entity* entities,
                std::uint32_t count, shoal_error* error) {
    const KeptComponent kept = find_kept(plugin->world, component->id);
    if (!kept) return refuse(error, unknown_component(plugin->world, component->name).message());
    return answer(error, kept.store->remove_values(*kept.schema, entities_of(entities, count)).status());
}

Status check_bytes(const char* path, const ValueType& type, std::size_t num_bytes) {
    if (type.num_bytes() == num_bytes) return {};
    return Status::error(
        concat("\"", path, "\" is ", type.to_text(), " of ", type.num_bytes(), " bytes, not ", num_bytes));
}

int get_field(const shoal_world* plugin, shoal_entity entity, const char* path, void* value, std::size_t num_bytes,
              shoal_error* error) {
    if (path == nullptr) return refuse(error, "the path of a field is NULL");
    const Result<AnyValue> found = plugin->world.field(Entity{entity}, path);
    if (!found) return refuse(error, found.message());
    if (Status status = check_bytes(path, found->type(), num_bytes); !status) return answer(error, status);
    std::memcpy(value, found->bytes().data(), num_bytes);
    return 1;
}

int set_field(shoal_world* plugin, shoal_entity entity, const char* path, const void* value, std::size_t num_bytes,
              shoal_error* error) {
    if (path == nullptr) return refuse(error, "the path of a field is NULL");
    const Result<FieldPath> found = plugin->world.find_field(path);
    if (!found) return refuse(error, found.message());
    if (Status status = check_bytes(path, found->type(), num_bytes); !status) return answer(error, status);
    return answer(error, found->write({entity}, AnyValue(found->type(), static_cast<const std::byte*>(value))));
}

// --- commands ----------------------------------------------------------------------------------------------------

shoal_entity create_later(shoal_commands* to) { return to->commands.create().id; }
void destroy_later(shoal_commands* to, shoal_entity entity) { to->commands.destroy(Entity{entity}); }

int add_later(shoal_commands* to, shoal_entity entity, const shoal_component* component, const void* image) {
    const KeptComponent kept = find_kept(to->world, component->id);
    if (!kept || kept.schema->has_opaque()) return 0;
    to->commands.add(Entity{entity}, *kept.schema, static_cast<const std::byte*>(image));
    return 1;
}

int remove_later(shoal_commands* to, shoal_entity entity, const shoal_component* component) {
    const KeptComponent kept = find_kept(to->world, component->id);
    if (!kept) return 0;
    to->commands.remove(Entity{entity}, *kept.schema);
    return 1;
}

void tag_later(shoal_commands* to, shoal_entity entity, const char* tag) { to->commands.tag(Entity{entity}, tag); }
void untag_later(shoal_commands* to, shoal_entity entity, const char* tag) { to->commands.untag(Entity{entity}, tag); }

// --- events ------------------------------------------------------------------------------------------------------

shoal_channel* open_channel(shoal_world* plugin, const char* name, std::uint32_t event_bytes, shoal_error* error) {
    if (name == nullptr) return refuse(error, "the name of a channel is NULL"), nullptr;
    for (shoal_channel* opened : plugin->channels)
        if (opened->name == name && opened->event_bytes == event_bytes) return opened;
    const Result<detail::EventLog*> log = plugin->world.events(name, event_bytes);
    if (!log) return refuse(error, log.message()), nullptr;
    plugin->channels.push_back(make_owned<shoal_channel>(**log, std::string(name), event_bytes));
    return plugin->channels.back();
}

void write_events(shoal_channel* channel, const void* events, std::uint32_t count) {
    channel->log.append({static_cast<const std::byte*>(events), std::size_t(count) * channel->event_bytes});
}

std::uint32_t show_events(const shoal_channel& channel, std::span<const std::byte> bytes, const void** events) {
    *events = bytes.data();
    return static_cast<std::uint32_t>(bytes.size() / channel.event_bytes);
}

std::uint32_t read_events(const shoal_channel* channel, const void** events) {
    return show_events(*channel, channel->log.read(), events);
}

std::uint32_t read_last_events(const shoal_channel* channel, const void** events) {
    return show_events(*channel, channel->log.read_last(), events);
}

// --- reactions ---------------------------------------------------------------------------------------------------

class PluginReaction final : public Reaction {
public:
    PluginReaction(PluginHost& host, shoal_reaction_function run, void* context, bool has_values)
        : host_(host), run_(run), context_(context), has_values_(has_values) {}
    void run(const ReactionBatch& batch) override {
        const shoal_change change{sizeof change, static_cast<std::uint32_t>(batch.entities.size()),
                                  reinterpret_cast<const shoal_entity*>(batch.entities.data()),
                                  has_values_ ? batch.values_before : nullptr};
        ++host_.num_calls;
        run_(context_, &change);
        --host_.num_calls;
    }

private:
    PluginHost& host_;
    shoal_reaction_function run_;
    void* context_;
    bool has_values_;
};

/// Says what a reaction listens to. Errors: there is no such kind or field.
Result<ReactionTo> reaction_to(std::uint32_t kind, const Schema& schema, const char* field) {
    if (kind > SHOAL_ON_CHANGE) return Status::error(concat("there is no kind ", kind, " of reactions"));
    ReactionTo to{.kind = static_cast<ReactionKind>(kind)};
    to.wants_values = kind != SHOAL_ON_ADD && !schema.many() && !schema.has_opaque();
    if (field == nullptr) return to;
    if (kind != SHOAL_ON_CHANGE) return Status::error("only a reaction to changes names a field");
    const int index = schema.find_field(field);
    if (index < 0) return Status::error(concat("\"", schema.name(), "\" has no field \"", field, "\""));
    to.field = static_cast<std::uint32_t>(index);
    return to;
}

std::uint32_t add_reaction(shoal_world* plugin, std::uint32_t kind, const shoal_component* component, const char* field,
                           shoal_reaction_function run, void* context, shoal_error* error) {
    const KeptComponent kept = find_kept(plugin->world, component->id);
    if (run == nullptr) return refuse(error, "a reaction has no function"), 0;
    if (!kept) return refuse(error, unknown_component(plugin->world, component->name).message()), 0;
    const Result<ReactionTo> to = reaction_to(kind, *kept.schema, field);
    if (!to) return refuse(error, to.message()), 0;
    auto* const reaction = make_owned<PluginReaction>(plugin->host, run, context, to->wants_values);
    const auto end = [](Reaction& done) { destroy_owned(static_cast<PluginReaction*>(&done)); };
    const Result<ReactionId> added = plugin->world.react(component->id, *to, *reaction, end);
    if (!added) return destroy_owned(reaction), refuse(error, added.message()), 0;
    plugin->reactions.push_back({*added, component->id});
    return added->number;
}

void remove_reaction(shoal_world* plugin, std::uint32_t reaction) {
    const auto is_it = [&](const PluginReactionEntry& entry) { return entry.id.number == reaction; };
    if (std::erase_if(plugin->reactions, is_it) != 0) plugin->world.remove_reaction({reaction});
}

// --- random numbers, jobs, blobs, strings ------------------------------------------------------------------------

std::uint64_t random_for(const shoal_pass* pass, std::uint64_t key) {
    const PassContext* const context = static_cast<const PluginPassView*>(pass)->context;
    return context == nullptr ? Random(key).state() : context->random_for(key).state();
}

template <class Number, Number (*kDraw)(Random&)>
Number draw(std::uint64_t* generator) {
    Random random(*generator);
    const Number number = kDraw(random);
    *generator = random.state();
    return number;
}
std::uint64_t draw_next(Random& random) { return random.next(); }
float draw_unit(Random& random) { return random.unit(); }

void run_rows(shoal_world* plugin, const shoal_pass* pass, std::uint32_t num_rows, shoal_rows_function run,
              void* context) {
    const PassContext* const frame = pass == nullptr ? nullptr : static_cast<const PluginPassView*>(pass)->context;
    for_rows(frame == nullptr ? plugin->world.executor() : frame->executor, num_rows, kByteGranularity,
             [&](RowRange rows, std::uint32_t) { run(context, rows.begin, rows.end); });
}

/// Errors: rows would refer to arrays in a blob that the plugin gives for the call only.
Status check_arrays(const Blob& blob) {
    for (const BlobComponents& components : blob.component_types())
        if (components.schema->has(FieldType::kBlobArray))
            return Status::error(
                concat("the blob has \"", components.schema->name(),
                       "\", whose read-only arrays stay in it; the program spawns it from its library"));
    return {};
}

Result<Spawned> spawn_bytes(World& world, std::span<const std::byte> bytes) {
    const Result<Blob> blob = Blob::load(bytes);
    if (!blob) return blob.status();
    if (Status status = check_arrays(*blob); !status) return status;
    if (Status status = world.adopt_schemas(*blob); !status) return status;
    return world.spawn(*blob, {.fail_on_unknown = true, .keep_names = false});
}

std::uint32_t spawn(shoal_world* plugin, const void* bytes, std::size_t num_bytes, shoal_entity* first,
                    shoal_error* error) {
    const Result<Spawned> spawned = spawn_bytes(plugin->world, {static_cast<const std::byte*>(bytes), num_bytes});
    if (!spawned) return refuse(error, spawned.message()), 0;
    const std::span<const Entity> made = spawned->entities();
    if (made.empty()) return refuse(error, "the blob has no entities"), 0;
    if (plugin->is_loading) plugin->made_entities.insert(plugin->made_entities.end(), made.begin(), made.end());
    if (first != nullptr) *first = made.front().id;
    return static_cast<std::uint32_t>(made.size());
}

int id_of(shoal_world* plugin, const char* text, std::uint64_t* id, shoal_error* error) {
    if (text == nullptr) return refuse(error, "the text is NULL");
    const Result<StringId> kept = plugin->world.strings().intern(text);
    if (!kept) return refuse(error, kept.message());
    *id = kept->hash;
    return 1;
}

std::uint32_t text_of(const shoal_world* plugin, std::uint64_t id, char* text, std::uint32_t capacity) {
    StringId asked;
    asked.hash = id;
    const std::string_view found = plugin->world.strings().text(asked);
    if (capacity == 0) return static_cast<std::uint32_t>(found.size());
    const std::size_t length = std::min<std::size_t>(capacity - 1, found.size());
    if (length != 0) std::memcpy(text, found.data(), length);
    text[length] = 0;
    return static_cast<std::uint32_t>(found.size());
}

constexpr shoal_log_functions kLog{sizeof kLog, write_log};
constexpr shoal_entity_functions kEntities{sizeof kEntities, create, destroy, alive};
constexpr shoal_row_functions kRows{sizeof kRows, add_rows, remove_rows, get_field, set_field};
constexpr shoal_command_functions kCommands{sizeof kCommands, create_later, destroy_later, add_later,
                                            remove_later,     tag_later,    untag_later};
constexpr shoal_event_functions kEvents{sizeof kEvents, open_channel, write_events, read_events, read_last_events};
constexpr shoal_reaction_functions kReactions{sizeof kReactions, add_reaction, remove_reaction};
constexpr shoal_random_functions kRandom{sizeof kRandom, random_for, draw<std::uint64_t, draw_next>,
                                         draw<float, draw_unit>};
constexpr shoal_job_functions kJobs{sizeof kJobs, run_rows};
constexpr shoal_blob_functions kBlobs{sizeof kBlobs, spawn};
constexpr shoal_string_functions kStrings{sizeof kStrings, id_of, text_of};

}  // namespace

const shoal_host& plugin_host_table() {
    static const shoal_host table{sizeof table,
                                  SHOAL_ABI_VERSION,
                                  &kLog,
                                  &kEntities,
                                  &plugin_component_functions(),
                                  &kRows,
                                  &plugin_query_functions(),
                                  &plugin_pass_functions(),
                                  &kCommands,
                                  &kEvents,
                                  &kReactions,
                                  &kRandom,
                                  &kJobs,
                                  &kBlobs,
                                  &kStrings};
    return table;
}

}  // namespace shoal

// --- what a plugin has made --------------------------------------------------------------------------------------

shoal_world::shoal_world(shoal::PluginHost& shared, std::string_view plugin)
    : host(shared), world(shared.world), name(plugin) {
    host.plugins.push_back(this);
}

shoal_world::~shoal_world() {
    remove_calls();
    remove_rest();
    host.plugins.erase(std::ranges::find(host.plugins, this));
}

void shoal_world::remove_calls() {
    for (; !passes.empty(); passes.pop_back()) {
        const shoal::Status removed = world.schedule().remove(passes.back()->name);
        static_cast<void>(removed);  // the program may have removed it
        shoal::destroy_owned(passes.back());
    }
    for (; !reactions.empty(); reactions.pop_back()) world.remove_reaction(reactions.back().id);
}

void shoal_world::remove_rest() {
    for (; !queries.empty(); queries.pop_back()) shoal::destroy_owned(queries.back());
    for (; !channels.empty(); channels.pop_back()) {
        world.end_events(channels.back()->log);
        shoal::destroy_owned(channels.back());
    }
}

void shoal_world::end_load(bool keep) {
    is_loading = false;
    if (!keep && !made_entities.empty()) world.entities().destroy(made_entities);
    for (; !changes.empty(); changes.pop_back()) world.end_schema_change(changes.back(), keep);
    for (shoal::Store* store : made_stores) {
        if (keep || std::ranges::find(world.stores(), store) == world.stores().end()) continue;
        store->drop(made_entities);
        world.detach(*store);
    }
    made_entities.clear();
    made_stores.clear();
}

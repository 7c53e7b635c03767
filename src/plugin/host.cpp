// The functions in the plugin table that deal with entities, rows, commands, events, observers and other subjects.

#include "plugin/host.h"

#include "plugin/store.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/job/detail/work_scope.h"
#include "shoal/job/row_ranges.h"
#include "shoal/react/observers.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/world/copy.h"

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

int complain(const Status& status) {
    log(LogLevel::kError, concat("a plugin called ", status.message()));
    return 0;
}

Status check_given(std::string_view call, std::initializer_list<Given> all) {
    for (const Given& given : all)
        if (given.pointer == nullptr) return Status::error(concat(call, ": ", given.what, " is NULL"));
    return {};
}

std::uint32_t give_text(std::string_view given, char* text, std::uint32_t capacity) {
    if (capacity != 0 && text != nullptr) {
        const std::size_t length = std::min<std::size_t>(capacity - 1, given.size());
        if (length != 0) std::memcpy(text, given.data(), length);
        text[length] = 0;
    }
    return static_cast<std::uint32_t>(given.size());
}

PluginHost::PluginHost(World& world_of_all)
    : GuestHost(world_of_all, "plugins",
                {"plugin", "declare it, or load the plugin that does before", "open it before"}, false) {}

PluginHost::~PluginHost() {
    for (shoal_component* component : components) destroy_owned("plugins", component);
}

namespace {

template <class Function>
const void* address(Function* function) {
    return reinterpret_cast<const void*>(function);
}

// --- logging, entities -------------------------------------------------------------------------------------------

void write_log(shoal_world* plugin, std::uint32_t level, const char* text) {
    if (Status status = check_given("log", {{plugin, "the world"}, {text, "the text"}}); !status)
        return static_cast<void>(complain(status));
    log(static_cast<LogLevel>(std::min<std::uint32_t>(level, SHOAL_LOG_ERROR)), concat(plugin->name, ": ", text));
}

std::span<const Entity> entities_of(const shoal_entity* entities, std::uint32_t count) {
    return {reinterpret_cast<const Entity*>(entities), count};
}

/// Returns a list of entities, which may be NULL if it is empty.
Given list_of(const shoal_entity* entities, std::uint32_t count) {
    static constexpr char kEmpty = 0;
    return {count == 0 ? static_cast<const void*>(&kEmpty) : entities, "the list of entities"};
}

int create_entities(shoal_world* plugin, shoal_entity* entities, std::uint32_t count, shoal_error* error) {
    if (Status status = check_given("create_entities", {{plugin, "the world"}, list_of(entities, count)}); !status)
        return answer(error, status);
    const std::span<Entity> made(reinterpret_cast<Entity*>(entities), count);
    if (Status status = plugin->world.entities().create(made); !status) return answer(error, status);
    plugin->note_made(made);
    return 1;
}

std::uint32_t destroy_entities(shoal_world* plugin, const shoal_entity* entities, std::uint32_t count) {
    if (Status status = check_given("destroy_entities", {{plugin, "the world"}, list_of(entities, count)}); !status)
        return complain(status), 0;
    return static_cast<std::uint32_t>(plugin->world.entities().destroy(entities_of(entities, count)));
}

int is_alive(const shoal_world* plugin, shoal_entity entity) {
    if (Status status = check_given("is_alive", {{plugin, "the world"}}); !status) return complain(status);
    return plugin->world.entities().alive({entity}) ? 1 : 0;
}

// --- rows --------------------------------------------------------------------------------------------------------

/// Errors: one of the entities is dead.
Status require_living(const EntityManager& entities, std::span<const Entity> asked) {
    for (std::size_t i = 0; i < asked.size(); ++i)
        if (!entities.alive(asked[i])) return Status::error(concat("entity ", i, " of ", asked.size(), " is dead"));
    return {};
}

int add_rows(shoal_world* plugin, const shoal_component* component, const shoal_entity* entities, std::uint32_t count,
             const void* images, std::size_t stride, shoal_error* error) {
    if (Status status =
            check_given("add_rows", {{plugin, "the world"}, {component, "the component"}, list_of(entities, count)});
        !status)
        return answer(error, status);
    const Result<KeptComponent> kept = find_bytes(plugin->host, *component);
    if (!kept) return refuse(error, kept.message());
    if (stride != 0 && stride < kept->schema->struct_bytes())
        return refuse(error, concat("images of \"", component->name, "\" have ", kept->schema->struct_bytes(),
                                    " bytes and cannot lie ", stride, " bytes apart; 0 is one for all"));
    const std::span<const Entity> to = entities_of(entities, count);
    if (Status status = require_living(plugin->world.entities(), to); !status) return answer(error, status);
    const AddedValues values{.images = static_cast<const std::byte*>(images), .stride = stride};
    return answer(error, kept->store->add_values(*kept->schema, to, values).status());
}

int remove_rows(shoal_world* plugin, const shoal_component* component, const shoal_entity* entities,
                std::uint32_t count, shoal_error* error) {
    if (Status status =
            check_given("remove_rows", {{plugin, "the world"}, {component, "the component"}, list_of(entities, count)});
        !status)
        return answer(error, status);
    const Result<KeptComponent> kept = plugin->host.find_kept(component->name);
    if (!kept) return answer(error, kept.status());
    return answer(error, kept->store->remove_values(*kept->schema, entities_of(entities, count)).status());
}

Status check_bytes(const char* path, const ValueType& type, std::size_t num_bytes) {
    if (type.num_bytes() == num_bytes) return {};
    return Status::error(
        concat("\"", path, "\" is ", type.to_text(), " of ", type.num_bytes(), " bytes, not ", num_bytes));
}

int get_field(const shoal_world* plugin, shoal_entity entity, const char* path, void* value, std::size_t num_bytes,
              shoal_error* error) {
    if (Status status = check_given("get_field", {{plugin, "the world"}, {path, "the path"}, {value, "the value"}});
        !status)
        return answer(error, status);
    const Result<AnyValue> found = plugin->world.get(Entity{entity}, path);
    if (!found) return refuse(error, found.message());
    if (Status status = check_bytes(path, found->type(), num_bytes); !status) return answer(error, status);
    std::memcpy(value, found->bytes().data(), num_bytes);
    return 1;
}

int set_field(shoal_world* plugin, shoal_entity entity, const char* path, const void* value, std::size_t num_bytes,
              shoal_error* error) {
    if (Status status = check_given("set_field", {{plugin, "the world"}, {path, "the path"}, {value, "the value"}});
        !status)
        return answer(error, status);
    const Result<FieldPath> found = plugin->world.find_field(path);
    if (!found) return refuse(error, found.message());
    if (Status status = check_bytes(path, found->type(), num_bytes); !status) return answer(error, status);
    return answer(error, found->write({entity}, AnyValue(found->type(), static_cast<const std::byte*>(value))));
}

int get_image(const shoal_world* plugin, const shoal_component* component, shoal_entity entity, void* image,
              shoal_error* error) {
    if (Status status =
            check_given("get_image", {{plugin, "the world"}, {component, "the component"}, {image, "the image"}});
        !status)
        return answer(error, status);
    const Result<KeptComponent> kept = find_bytes(plugin->host, *component);
    if (!kept) return refuse(error, kept.message());
    return answer(error, read_component(plugin->world, *kept, {entity}, static_cast<std::byte*>(image)));
}

// --- commands ----------------------------------------------------------------------------------------------------

thread_local const shoal_commands* open_commands = nullptr;

/// Errors: these are not the commands of the running call.
Status check_commands(std::string_view call, const shoal_commands* commands) {
    if (Status status = check_given(call, {{commands, "the object of the commands"}}); !status) return status;
    if (CommandScope::is_open(commands)) return {};
    return Status::error(
        concat(call, ": the commands are of another call, or thread; use those that the pass is given"));
}

shoal_entity command_create(shoal_commands* to) {
    if (Status status = check_commands("command_create", to); !status) return complain(status), 0;
    return to->commands.create().id;
}

int command_destroy(shoal_commands* to, shoal_entity entity) {
    if (Status status = check_commands("command_destroy", to); !status) return complain(status);
    to->commands.destroy(Entity{entity});
    return 1;
}

shoal_entity command_copy(shoal_commands* to, shoal_entity entity) {
    if (Status status = check_commands("command_copy", to); !status) return complain(status), 0;
    return to->commands.copy({entity}).id;
}

Result<KeptComponent> find_commanded(std::string_view call, const shoal_commands* to,
                                     const shoal_component* component) {
    if (Status status = check_commands(call, to); !status) return status;
    if (Status status = check_given(call, {{component, "the component"}}); !status) return status;
    const Result<KeptComponent> kept = find_bytes(to->host, *component);
    if (!kept) return Status::error(concat(call, ": ", kept.message()));
    return *kept;
}

int command_add(shoal_commands* to, shoal_entity entity, const shoal_component* component, const void* image) {
    const Result<KeptComponent> kept = find_commanded("command_add", to, component);
    if (!kept) return complain(kept.status());
    to->commands.add(Entity{entity}, *kept->schema, static_cast<const std::byte*>(image));
    return 1;
}

int command_remove(shoal_commands* to, shoal_entity entity, const shoal_component* component) {
    const Result<KeptComponent> kept = find_commanded("command_remove", to, component);
    if (!kept) return complain(kept.status());
    to->commands.remove(Entity{entity}, *kept->schema);
    return 1;
}

Status check_text(std::string_view call, const shoal_commands* to, const char* text, const char* what) {
    if (Status status = check_commands(call, to); !status) return status;
    if (Status status = check_given(call, {{text, what}}); !status) return status;
    return *text == 0 ? Status::error(concat(call, ": ", what, " is empty")) : Status();
}

int command_name(shoal_commands* to, shoal_entity entity, const char* name) {
    if (Status status = check_text("command_name", to, name, "the name"); !status) return complain(status);
    to->commands.name(Entity{entity}, name);
    return 1;
}

int command_tag(shoal_commands* to, shoal_entity entity, const char* tag) {
    if (Status status = check_text("command_tag", to, tag, "the tag"); !status) return complain(status);
    to->commands.tag(Entity{entity}, tag);
    return 1;
}

int command_untag(shoal_commands* to, shoal_entity entity, const char* tag) {
    if (Status status = check_text("command_untag", to, tag, "the tag"); !status) return complain(status);
    to->commands.untag(Entity{entity}, tag);
    return 1;
}

int with_commands(shoal_world* plugin, shoal_commands_function run, void* context, shoal_error* error) {
    if (Status status = check_given("with_commands", {{plugin, "the world"}, {address(run), "the function"}}); !status)
        return answer(error, status);
    shoal_commands given{plugin->world.commands(), plugin->host};
    const CommandScope scope(given);
    run(context, &given);
    return 1;
}

// --- events ------------------------------------------------------------------------------------------------------

shoal_channel* open_channel(shoal_world* plugin, const char* name, std::uint32_t event_bytes, shoal_error* error) {
    if (Status status = check_given("open_channel", {{plugin, "the world"}, {name, "the name"}}); !status)
        return refuse(error, status.message()), nullptr;
    if (auto* const opened = static_cast<shoal_channel*>(plugin->find_channel(name));
        opened != nullptr && opened->event_bytes == event_bytes)
        return opened;
    if (event_bytes == 0) return refuse(error, concat("events of channel \"", name, "\" have 0 bytes")), nullptr;
    const Result<detail::EventLog*> log = plugin->world.events().named(name, event_bytes);
    if (!log) return refuse(error, log.message()), nullptr;
    auto* const opened = make_owned<shoal_channel>("plugins", *plugin, name, **log, event_bytes);
    plugin->channels.push_back(opened);
    return opened;
}

/// Errors: the plugin does not have the channel.
Status check_channel(std::string_view call, const shoal_world* plugin, const shoal_channel* channel) {
    if (Status status = check_given(call, {{plugin, "the world"}, {channel, "the channel"}}); !status) return status;
    if (std::ranges::find(plugin->channels, channel) != plugin->channels.end()) return {};
    return Status::error(concat(call, ": plugin \"", plugin->name, "\" has no such channel; open it"));
}

int write_events(shoal_world* plugin, shoal_channel* channel, const void* events, std::uint32_t count) {
    if (Status status = check_channel("write_events", plugin, channel); !status) return complain(status);
    if (events == nullptr && count != 0) return complain(Status::error("write_events: the events are NULL"));
    channel->log.append({static_cast<const std::byte*>(events), std::size_t(count) * channel->event_bytes});
    return 1;
}

template <std::span<const std::byte> (detail::EventLog::*kRead)() const>
std::uint32_t read_events(const shoal_world* plugin, const shoal_channel* channel, const void** events) {
    Status status = check_channel("read_events", plugin, channel);
    if (status) status = check_given("read_events", {{events, "where the events go"}});
    if (!status) return complain(status), 0;
    const std::span<const std::byte> bytes = (channel->log.*kRead)();
    *events = bytes.data();
    return static_cast<std::uint32_t>(bytes.size() / channel->event_bytes);
}

// --- observers ---------------------------------------------------------------------------------------------------

std::uint32_t add_observer(shoal_world* plugin, std::uint32_t kind, const shoal_component* component, const char* field,
                           shoal_observer_function run, void* context, shoal_error* error) {
    if (Status status = check_given(
            "add_observer", {{plugin, "the world"}, {component, "the component"}, {address(run), "the function"}});
        !status)
        return refuse(error, status.message()), 0;
    if (kind > SHOAL_ON_CHANGE) return refuse(error, concat("there is no kind ", kind, " of observers")), 0;
    const Result<std::uint32_t> number = plugin->add({.component = component->id,
                                                      .kind = static_cast<ObserverKind>(kind),
                                                      .name = component->name,
                                                      .field = field == nullptr ? "" : field,
                                                      .function = reinterpret_cast<std::uintptr_t>(run),
                                                      .context = context});
    if (!number) return refuse(error, number.message()), 0;
    return *number;
}

int remove_observer(shoal_world* plugin, std::uint32_t observer, shoal_error* error) {
    const Status status = check_given("remove_observer", {{plugin, "the world"}});
    return answer(error, status ? plugin->remove_observer(observer) : status);
}

// --- random numbers, jobs, blobs, strings ------------------------------------------------------------------------

std::uint64_t random_for_key(const shoal_pass* pass, std::uint64_t key) {
    const PassContext* const context = pass == nullptr ? nullptr : static_cast<const PluginPassView*>(pass)->context;
    return context == nullptr ? Random(key).state() : context->random_for(key).state();
}

template <class Number, Number (*kDraw)(Random&)>
Number draw(std::uint64_t* generator) {
    if (generator == nullptr) return complain(Status::error("random_next: the generator is NULL")), Number();
    Random random(*generator);
    const Number number = kDraw(random);
    *generator = random.state();
    return number;
}
std::uint64_t draw_next(Random& random) { return random.next(); }
float draw_unit(Random& random) { return random.unit(); }

int run_rows(shoal_world* plugin, const shoal_pass* pass, std::uint32_t num_rows, shoal_rows_function run,
             void* context) {
    if (Status status = check_given("for_rows", {{plugin, "the world"}, {address(run), "the function"}}); !status)
        return complain(status);
    const PassContext* const frame = pass == nullptr ? nullptr : static_cast<const PluginPassView*>(pass)->context;
    for_rows(frame == nullptr ? plugin->world.executor() : frame->executor, num_rows, kByteGranularity,
             [&](RowRange rows, std::uint32_t) { run(context, rows.begin, rows.end); });
    return 1;
}

/// The overrides that a plugin passes.
struct GivenOverrides {
    World& world;
    const shoal_override* first;
    std::uint32_t count;
};

Status read_overrides(void* context, Array<SpawnOverride>& to) {
    const auto& [world, first, count] = *static_cast<const GivenOverrides*>(context);
    for (std::uint32_t i = 0; i < count; ++i) {
        const shoal_override* const given = element_of(first, i, &shoal_override::value);
        if (given == nullptr) return Status::error("an override does not begin with sizeof(shoal_override)");
        if (Status status = check_given("spawn_overridden", {{given->entity, "the name of an entity"},
                                                             {given->field, "the path of a field"},
                                                             {given->value, "the value"}});
            !status)
            return status;
        const Result<FieldPath> path = world.find_field(given->field);
        if (!path) return path.status();
        if (Status status = check_bytes(given->field, path->type(), given->num_bytes); !status) return status;
        to.push_back(
            {given->entity, given->field, AnyValue(path->type(), static_cast<const std::byte*>(given->value))});
    }
    return {};
}

std::uint32_t spawn_overridden(shoal_world* plugin, const void* bytes, std::size_t num_bytes,
                               const shoal_override* overrides, std::uint32_t num_overrides, shoal_entity* first,
                               shoal_error* error) {
    if (Status status = check_given("spawn_overridden", {{plugin, "the world"}, {bytes, "the blob"}}); !status)
        return refuse(error, status.message()), 0;
    if (num_overrides != 0 && overrides == nullptr) return refuse(error, "spawn_overridden: the overrides are NULL"), 0;
    GivenOverrides given{plugin->world, overrides, num_overrides};
    const Result<Spawned> spawned =
        spawn_bytes(plugin->world, {static_cast<const std::byte*>(bytes), num_bytes}, read_overrides, &given);
    if (!spawned) return refuse(error, spawned.message()), 0;
    const std::span<const Entity> made = spawned->entities();
    if (made.empty()) return refuse(error, "the blob has no entities"), 0;
    plugin->note_made(made);
    if (first != nullptr) *first = made.front().id;
    return static_cast<std::uint32_t>(made.size());
}

int copy_entity(shoal_world* plugin, shoal_entity entity, shoal_entity* made, shoal_error* error) {
    if (Status status = check_given("copy_entity", {{plugin, "the world"}, {made, "where the copy goes"}}); !status)
        return answer(error, status);
    const Result<Spawned> copied = copy(plugin->world, {entity});
    if (!copied) return refuse(error, copied.message());
    plugin->note_made(copied->entities());
    *made = copied->entity(0).id;
    return 1;
}

std::uint32_t spawn_blob(shoal_world* plugin, const void* bytes, std::size_t num_bytes, shoal_entity* first,
                         shoal_error* error) {
    if (Status status = check_given("spawn_blob", {{plugin, "the world"}, {bytes, "the blob"}}); !status)
        return refuse(error, status.message()), 0;
    return spawn_overridden(plugin, bytes, num_bytes, nullptr, 0, first, error);
}

const void* find_array(const shoal_world* plugin, const void* blob_array, std::uint32_t type, std::uint32_t* count) {
    const Status status = check_given(
        "find_array", {{plugin, "the world"}, {blob_array, "the array"}, {count, "where the number of values goes"}});
    if (!status) return complain(status), nullptr;
    *count = 0;
    BlobArrayBase array;
    std::memcpy(static_cast<void*>(&array), blob_array, sizeof array);
    const auto element = static_cast<FieldType>(type);
    const bool is_type = type >= SHOAL_BOOL && type <= SHOAL_ENTITY && type != SHOAL_ENUM;
    const ResourceLibrary* const library = plugin->world.library();
    if (array.count == 0 || !is_type || library == nullptr || library->find(array.resource) == nullptr) return nullptr;
    const std::span<const std::byte> bytes = library->view_bytes(array, element);
    *count = static_cast<std::uint32_t>(bytes.size() / field_type_bytes(element));
    return bytes.empty() ? nullptr : bytes.data();
}

int string_id(shoal_world* plugin, const char* text, std::uint64_t* id, shoal_error* error) {
    if (Status status =
            check_given("string_id", {{plugin, "the world"}, {text, "the text"}, {id, "where the id goes"}});
        !status)
        return answer(error, status);
    SHOAL_ASSERT(WorkScope::current() == nullptr,
                 "a function of a pass called string_id(), which changes the texts that others look at; ask for ids "
                 "between steps, and keep them");
    const Result<StringId> kept = plugin->world.strings().intern(text);
    if (!kept) return refuse(error, kept.message());
    *id = kept->hash;
    return 1;
}

std::uint32_t string_text(const shoal_world* plugin, std::uint64_t id, char* text, std::uint32_t capacity) {
    if (Status status = check_given("string_text", {{plugin, "the world"}}); !status) return complain(status), 0;
    StringId asked;
    asked.hash = id;
    return give_text(plugin->world.strings().text(asked), text, capacity);
}

// --- verbs -------------------------------------------------------------------------------------------------------

bool is_verb_name(std::string_view name) {
    const auto is_part = [](char c) {
        return c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    };
    return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, is_part);
}

int add_verb(shoal_world* plugin, const shoal_verb* verb, shoal_error* error) {
    if (Status status = check_given("add_verb", {{plugin, "the world"}, {verb, "the verb"}}); !status)
        return answer(error, status);
    if (!reaches(*verb, &shoal_verb::context)) return refuse(error, "a verb does not begin with sizeof(shoal_verb)");
    const shoal_verb given = copy_given(*verb);
    if (Status status = check_given("add_verb", {{given.name, "the name"}, {address(given.run), "the function"}});
        !status)
        return answer(error, status);
    if (!is_verb_name(given.name))
        return refuse(error, concat("a verb cannot be called \"", given.name,
                                    "\"; its name begins with a lower-case letter, and has letters, digits, - and _"));
    for (const Guest* other : plugin->host.guests)
        for (const PluginVerb& known : static_cast<const shoal_world*>(other)->verbs)
            if (known.name == given.name)
                return refuse(error, concat("plugin \"", other->name, "\" has a verb \"", known.name, "\" already"));
    plugin->verbs.push_back({given.name, given.summary == nullptr ? "" : given.summary,
                             given.operands == nullptr ? "" : given.operands, given.run, given.context});
    return 1;
}

shoal_host make_host_table() {
    shoal_host table{};
    table.size = sizeof table;
    table.abi_version = SHOAL_ABI_VERSION;
    table.log = write_log;
    table.create_entities = create_entities, table.destroy_entities = destroy_entities, table.is_alive = is_alive;
    table.add_rows = add_rows, table.remove_rows = remove_rows;
    table.get_field = get_field, table.set_field = set_field;
    table.command_create = command_create, table.command_destroy = command_destroy;
    table.command_add = command_add, table.command_remove = command_remove;
    table.command_tag = command_tag, table.command_untag = command_untag, table.command_name = command_name;
    table.command_copy = command_copy, table.copy_entity = copy_entity;
    table.with_commands = with_commands, table.get_image = get_image;
    table.open_channel = open_channel, table.write_events = write_events;
    table.read_events = read_events<&detail::EventLog::read>;
    table.read_last_events = read_events<&detail::EventLog::read_last>;
    table.add_observer = add_observer, table.remove_observer = remove_observer;
    table.random_for_key = random_for_key;
    table.random_next = draw<std::uint64_t, draw_next>, table.random_unit = draw<float, draw_unit>;
    table.for_rows = run_rows, table.spawn_blob = spawn_blob, table.find_array = find_array;
    table.spawn_overridden = spawn_overridden;
    table.string_id = string_id, table.string_text = string_text, table.add_verb = add_verb;
    add_component_functions(table);
    add_store_functions(table);
    add_query_functions(table);
    add_source_functions(table);
    return table;
}

}  // namespace

CommandScope::CommandScope(const shoal_commands& commands) : before_(open_commands) { open_commands = &commands; }
CommandScope::~CommandScope() { open_commands = before_; }
bool CommandScope::is_open(const shoal_commands* commands) { return commands == open_commands; }

void PluginHost::tell(Guest&, const GuestObserver& observer, const ObservedBatch& batch) {
    const shoal_change change{sizeof change, static_cast<std::uint32_t>(batch.entities.size()),
                              reinterpret_cast<const shoal_entity*>(batch.entities.data()), batch.values_before};
    const GuestCallScope scope(*this);
    reinterpret_cast<shoal_observer_function>(observer.function)(observer.context, &change);
}

const shoal_host& plugin_host_table() {
    static const shoal_host table = make_host_table();
    return table;
}

}  // namespace shoal

// --- what a plugin has made --------------------------------------------------------------------------------------

shoal_world::~shoal_world() {
    remove_calls();
    remove_channels();
}

void shoal_world::remove_calls() {
    remove_parts();
    verbs.clear();
    for (; !types.empty(); types.pop_back()) {
        types.back()->leave_registry();
        shoal::destroy_owned("plugins", types.back());
    }
    for (; !stores.empty(); stores.pop_back()) {
        world.detach(*stores.back());
        shoal::destroy_owned("plugins", stores.back());
    }
    for (; !replaced.empty(); replaced.pop_back()) {  // the replaced managers stay in place
        const shoal::Status attached = world.attach(*replaced.back());
        SHOAL_ASSERT(attached.ok(), "a manager that was detached from the world is attached again");
    }
}

void shoal_world::finish_load(bool keep) {
    for (; !replaced.empty(); replaced.pop_back()) replaced.back()->clear();  // their rows are now in the new stores
    end_load(keep);
}

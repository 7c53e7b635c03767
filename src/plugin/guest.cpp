#include "shoal/plugin/detail/guest.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/job/detail/work_scope.h"
#include "shoal/reload/reloader.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/entity_fields.h"
#include "shoal/table/detail/field_part.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace shoal {

// --- queries -----------------------------------------------------------------------------------------------------

Status GuestQuery::make() {
    forget();
    Result<TextQuery> made = TextQuery::make(guest.world.directory(), text);
    problem = made.status();
    if (problem) {
        query.emplace(std::move(*made));
        problem = find_columns();
    }
    if (problem) return {};
    forget();
    return problem = Status::error(concat("query \"", text, "\": ", problem.message()));
}

void GuestQuery::limit_writes() {
    for (std::size_t i = 0; i < query->components().size(); ++i) {
        if (!query->components()[i].is_written) continue;
        std::uint64_t asked = 0;
        for (const GuestColumn& column : columns)
            if (column.component == i && column.column < 64) asked |= std::uint64_t(1) << column.column;
        query->write_columns(i, asked);
    }
}

void GuestQuery::forget() {
    forget_columns();
    columns.clear();
    query.reset();
}

Result<NamedColumn> find_named_column(const TextQuery& query, std::string_view name) {
    const bool is_of_parent = name.starts_with('^');
    const std::string_view plain = name.substr(is_of_parent ? 1 : 0);
    const std::size_t dot = plain.find('.');
    if (dot == std::string_view::npos)
        return Status::error(concat("column \"", name, "\" names no field; write component.field"));
    const std::string_view component = plain.substr(0, dot);
    const std::span<const TextComponent> shown = query.components();
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (shown[i].schema->name() != component || shown[i].is_of_parent != is_of_parent) continue;
        if (!shown[i].has_columns)
            return Status::error(concat("the store of \"", component, "\" keeps its fields in a form without columns"));
        return NamedColumn{i, shown[i].schema, plain.substr(dot + 1)};
    }
    return Status::error(concat("column \"", name, "\" is of a component that the query does not name"));
}

Status Guest::add(GuestQuery& made) {
    Status status = made.make();
    if (status)
        queries.push_back(&made);
    else
        made.destroy();
    return status;
}

void Guest::remove(GuestQuery& query) {
    erase(queries, &query);
    query.forget();
    query.destroy();
}

// --- passes ------------------------------------------------------------------------------------------------------

namespace {

/// Adapts a pass to the schedule's interface.
struct GuestRows {
    const GuestPass* pass;

    template <class Function>
    static constexpr bool kFits = std::is_invocable_v<Function&, Executor&>;
    static constexpr std::uint64_t bytes_per_row() { return 0; }
    std::span<const Access> accesses() const { return pass->accesses; }
    std::uint64_t num_rows() const { return pass->query == nullptr ? 0 : pass->query->num_rows(); }
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        function(executor);
    }
};

Status add_stores(GuestPass& pass, const Array<std::string>& components, bool writes) {
    for (const std::string& name : components) {
        const Result<KeptComponent> kept = pass.guest.host.find_kept(name);
        if (!kept) return kept.status();
        const OwnedColumns columns = kept->store->find_columns(*kept->schema);
        const bool is_derived = columns.is_read_only || columns.is_source;
        pass.accesses.push_back(
            {kept->store, nullptr, is_derived ? ComponentId() : kept->schema->id(), kAllFields, writes});
    }
    return {};
}

Status add_channels(GuestPass& pass, const Array<std::string>& channels, bool writes) {
    for (const std::string& name : channels) {
        const GuestChannel* const channel = pass.guest.find_channel(name);
        const GuestWords& words = pass.guest.host.words;
        if (channel == nullptr)
            return Status::error(
                concat("the ", words.guest, " has opened no channel \"", name, "\"; ", words.how_to_open));
        pass.accesses.push_back({nullptr, &channel->log, {}, kAllFields, writes});
    }
    return {};
}

/// Removes a pass from the schedule. Errors: the program has already removed the pass.
Status unschedule_pass(GuestPass& pass) {
    return std::exchange(pass.is_added, false) ? pass.guest.world.schedule().remove(pass.name) : Status();
}

/// Errors: those of Guest::add(), except that the order is not checked.
Status schedule_pass(GuestPass& pass) {
    if (Status status = pass.find_accesses(); !status) return status;
    Schedule& schedule = pass.guest.world.schedule();
    if (schedule.is_taken(pass.name))
        return Status::error(concat("the world has a pass, or a group of passes, \"", pass.name,
                                    "\" already; give this one another name"));
    PassOrder order =
        schedule.add(pass.name, GuestRows{&pass}, [&pass](const PassContext& context, Executor& executor) {
            if (pass.query == nullptr || pass.query->query) pass.run(context, executor);
        });
    for (const std::string& other : pass.after) order.after(other);
    for (const std::string& other : pass.before) order.before(other);
    if (pass.every_frames > 1) order.every_frames(pass.every_frames);
    if (pass.every_seconds > 0) order.every_seconds(pass.every_seconds);
    pass.is_added = true;
    pass.rests = false;
    return {};
}

void destroy_pass(GuestPass& pass) {
    if (pass.query != nullptr) pass.guest.remove(*pass.query);
    pass.destroy();
}

}  // namespace

Status GuestPass::find_accesses() {
    accesses.clear();
    if (Status status = add_channels(*this, reads_from, false); !status) return status;
    if (Status status = add_channels(*this, writes_to, true); !status) return status;
    if (Status status = add_stores(*this, reads, false); !status) return status;
    if (Status status = add_stores(*this, writes, true); !status) return status;
    if (query != nullptr) {
        if (!query->query) return query->problem;
        const std::span<const Access> of_query = query->query->accesses();
        accesses.insert(accesses.end(), of_query.begin(), of_query.end());
    }
    if (!guest.host.runs_one_at_a_time) return {};
    is_everything = accesses.empty();
    accesses.push_back(is_everything ? writes_everything() : Access{.object = &guest.host, .writes = true});
    return {};
}

bool GuestPass::declares(const GuestChannel& channel, bool is_writing) const {
    return std::ranges::any_of(accesses, [&](const Access& access) {
        return access.object == &channel.log && (access.writes || !is_writing);
    });
}

void GuestPass::renew() {
    if (!is_added) return;
    Schedule& schedule = guest.world.schedule();
    const Status status = find_accesses();
    if (!status) accesses.clear();
    if (!schedule.declare(name, accesses)) return;  // the program has removed it
    if (status.ok() == rests) static_cast<void>(schedule.enable(name, status.ok()));
    if (!rests || status) is_told = false;
    rests = !status;
    if (rests && !guest.host.is_exchanging && !std::exchange(is_told, true))
        log(LogLevel::kWarning, concat("pass \"", name, "\" of ", guest.host.words.guest, " \"", guest.name,
                                       "\" rests until what it needs is there again: ", status.message()));
}

Status Guest::add(GuestPass& made) {
    Schedule& of_world = world.schedule();
    const bool was_ordered = of_world.prepare().ok();
    Status status = schedule_pass(made);
    if (status && was_ordered && !is_loading) status = of_world.prepare();
    if (status) return passes.push_back(&made), Status();
    static_cast<void>(unschedule_pass(made));
    destroy_pass(made);
    return status;
}

Status Guest::remove(GuestPass& pass) {
    erase(passes, &pass);
    Status status = unschedule_pass(pass);
    if (status) world.schedule().forget_order(pass.name);
    destroy_pass(pass);
    return status;
}

GuestPass* Guest::find_pass(std::string_view named) const {
    const auto at = std::ranges::find_if(passes, [&](const GuestPass* pass) { return pass->name == named; });
    return at == passes.end() ? nullptr : *at;
}

Array<std::string> Guest::pass_names() const {
    Array<std::string> all{Owner("guests")};
    for (const GuestPass* pass : passes) all.push_back(pass->name);
    return all;
}

GuestChannel* Guest::find_channel(std::string_view named) const {
    const auto at = std::ranges::find_if(channels, [&](const GuestChannel* channel) { return channel->name == named; });
    return at == channels.end() ? nullptr : *at;
}

// --- observers ---------------------------------------------------------------------------------------------------

namespace {

/// Adapts an observer to a world. Gives the guest a copy of the observer's data, because the guest may remove the
/// observer during the call.
class GuestListener final : public Observer {
public:
    GuestListener(Guest& guest, const GuestObserver& observer, bool has_values)
        : guest_(guest), observer_(observer), has_values_(has_values) {}
    void run(const ObservedBatch& batch) override {
        const ObservedBatch told{batch.entities, nullptr, has_values_ ? batch.values_before : nullptr, batch.component};
        guest_.host.tell(guest_, observer_, told);
    }

private:
    Guest& guest_;
    const GuestObserver observer_;
    const bool has_values_;
};

/// Errors: the component type does not have the field.
Result<ObservedChange> observed_change(const GuestObserver& observer, const Schema& schema) {
    ObservedChange to{.kind = observer.kind};
    to.wants_values = observer.kind != ObserverKind::kAdd && !schema.many() && !schema.has_opaque();
    if (observer.field.empty()) return to;
    if (observer.kind != ObserverKind::kChange) return Status::error("only an observer of changes names a field");
    const int index = schema.find_field(observer.field);
    if (index >= 0) {
        to.field = static_cast<std::uint32_t>(index);
        return to;
    }
    const Status status = find_field_part(schema, observer.field).status();
    return status ? Status::error(concat("\"", observer.field, "\" is a part of a field; name the whole field"))
                  : status;
}

/// Starts to observe the world. Errors: those of Guest::add().
Status listen(Guest& guest, GuestObserver& observer) {
    const Result<KeptComponent> kept = guest.host.find_kept(observer.name);
    if (!kept) return kept.status();
    const Result<ObservedChange> to = observed_change(observer, *kept->schema);
    if (!to) return to.status();
    auto* const listener = make_owned<GuestListener>("guests", guest, observer, to->wants_values);
    const auto end = [](Observer& done) { destroy_owned("guests", static_cast<GuestListener*>(&done)); };
    const Result<ObserverId> added = guest.world.observers().observe(kept->schema->id(), *to, *listener, end);
    if (!added) return destroy_owned("guests", listener), added.status();
    observer.id = *added;
    observer.store = kept->store;
    return {};
}

void stop_listening(Guest& guest, GuestObserver& observer) {
    guest.world.observers().remove(observer.id);
    observer.store = nullptr;
}

/// The observer is removed from its list first, because end() may call the guest.
void end_observer(Guest& guest, std::size_t index) {
    GuestObserver observer = std::move(guest.observers[index]);
    guest.observers.erase(guest.observers.begin() + static_cast<std::ptrdiff_t>(index));
    stop_listening(guest, observer);
    guest.host.end(observer);
}

}  // namespace

Result<std::uint32_t> Guest::add(GuestObserver observer) {
    observer.number = num_observers + 1;
    if (Status status = listen(*this, observer); !status) return status;
    observers.push_back(observer);
    return ++num_observers;
}

Status Guest::remove_observer(std::int64_t number) {
    const auto at = std::ranges::find(observers, number, &GuestObserver::number);
    if (at == observers.end())
        return Status::error(concat(host.words.guest, " \"", name, "\" has no observer ", number));
    end_observer(*this, static_cast<std::size_t>(at - observers.begin()));
    return {};
}

// --- component types ---------------------------------------------------------------------------------------------

namespace {

/// Whether `text` contains the name of a component as a word that is neither a tag nor in quotes.
bool names(std::string_view text, std::string_view component) {
    const auto is_part = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
    for (std::size_t at = text.find(component); at != std::string_view::npos; at = text.find(component, at + 1)) {
        const std::size_t end = at + component.size();
        const char before = at == 0 ? ' ' : text[at - 1];
        if (is_part(before) || before == '#' || before == '"') continue;
        if (end == text.size() || !is_part(text[end])) return true;
    }
    return false;
}

bool uses(const Guest& guest, const Schema& component, const Store& store) {
    return std::ranges::any_of(guest.queries,
                               [&](const GuestQuery* query) { return names(query->text, component.name()); }) ||
           std::ranges::any_of(guest.passes,
                               [&](const GuestPass* pass) {
                                   return std::ranges::find(pass->accesses, &store, &Access::store) !=
                                          pass->accesses.end();
                               }) ||
           std::ranges::find(guest.observers, component.id(), &GuestObserver::component) != guest.observers.end();
}

Status make_table(Guest& guest, const Schema& schema) {
    const Result<Store*> keeper = guest.world.directory().require(schema);
    if (!keeper || *keeper != nullptr) return keeper.status();
    const Result<ComponentManager*> made = guest.world.manager(schema);
    if (!made) return made.status();
    if (guest.is_loading) guest.made_stores.push_back(*made);
    return {};
}

Status change_fields(Guest& guest, const Schema& schema, const Store& store) {
    const GuestHost& host = guest.host;
    if (const Guest* const user = host.find_user(schema, store))
        return Status::error(concat("component \"", schema.name(), "\" is declared with other fields than it has, and ",
                                    host.words.guest, " \"", user->name,
                                    "\" has queries, passes or observers that name it; ",
                                    user == &guest ? "declare it before them" : "unload that one before"));
    const Result<SchemaChange*> change = begin_schema_change(guest.world, schema);
    if (!change) return change.status();
    if (guest.is_loading)
        guest.changes.push_back(*change);
    else
        end_schema_change(*change, true);
    return {};
}

}  // namespace

Status Guest::declare(const Schema& schema) {
    KeptComponent kept = world.directory().find_kept(schema.id());
    if (!kept) {
        if (Status status = make_table(*this, schema); !status) return status;
        kept = world.directory().find_kept(schema.id());
    }
    return is_same_declaration(*kept.schema, schema) ? Status() : change_fields(*this, schema, *kept.store);
}

// --- stores ------------------------------------------------------------------------------------------------------

SpawnedImages::SpawnedImages(const SpawnBatch& batch, const Schema& schema) {
    const std::size_t count = batch.entity_index.size(), bytes = schema.struct_bytes();
    owners.reserve(count * batch.num_copies);
    images.resize(count * batch.num_copies * bytes);
    std::byte* image = images.data();
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < count; ++i, image += bytes) {
            owners.push_back(batch.owner(copy, i));
            if (!batch.parents.empty()) {
                const std::uint32_t parent = batch.parents[batch.entity_index[i]];
                parents.push_back(parent == kNoBlobEntity
                                      ? kNullEntity
                                      : batch.entities[std::size_t(copy) * batch.num_blob_entities + parent]);
            }
            std::copy_n(schema.default_image().data(), bytes, image);
            read_columns(schema, batch.columns, i, image);
            for_each_entity(schema, image, 1, [&](Entity& entity) { entity = batch.translate(copy, entity); });
        }
}

void read_columns(const Schema& schema, std::span<const std::byte* const> columns, std::size_t row, std::byte* image) {
    for (std::size_t c = 0; c < schema.columns().size(); ++c) {
        const ColumnDefinition& column = schema.columns()[c];
        copy_bytes(image + column.struct_offset, columns[c] + row * column.element_bytes, column.element_bytes);
    }
}

void read_image(const Table& table, const Schema& schema, std::uint32_t row, std::byte* image) {
    for (const Field& field : schema.fields())
        read_part(table, 0, row, field_part(schema, field), image + field.struct_offset);
}

Status read_component(const World& world, const KeptComponent& kept, Entity entity, std::byte* image) {
    const ComponentRow row = kept.store->find_row(kept.schema->id(), entity, 0);
    if (!row || !row.is_enabled || !world.entities().alive(entity))
        return FieldPath::absence_of(world.entities(), entity, kept.schema->name());
    for (const Field& field : kept.schema->fields())
        if (field.type != FieldType::kOpaque)
            kept.store->read_field(row, field_part(*kept.schema, field), image + field.struct_offset);
    return {};
}

Array<Entity> dead_owners(const OwnedRows& rows, std::span<const Entity> entities) {
    Array<Entity> dead{Owner("guests")};
    for (const Entity entity : entities)
        if (rows.has(entity) && !rows.entity_manager().alive(entity)) dead.push_back(entity);
    return dead;
}

// --- a guest as a whole ------------------------------------------------------------------------------------------

Guest::Guest(GuestHost& of, std::string_view named) : host(of), world(of.world), name(named) {
    host.guests.push_back(this);
}

Guest::~Guest() { erase(host.guests, this); }

void Guest::note_made(std::span<const Entity> entities) {
    if (is_loading) made_entities.insert(made_entities.end(), entities.begin(), entities.end());
}

void Guest::end_load(bool keep) {
    is_loading = false;
    if (!keep && !made_entities.empty()) world.entities().destroy(made_entities);
    const bool are_taken_back = !keep && !changes.empty();
    for (; !changes.empty(); changes.pop_back()) end_schema_change(changes.back(), keep);
    if (are_taken_back) host.renew_all();
    for (Store* store : made_stores) {
        if (keep || !world.directory().has(*store)) continue;
        store->drop(made_entities);
        world.detach(*store);
    }
    made_entities.clear();
    made_stores.clear();
}

void Guest::suspend() {
    is_active = false;
    for (GuestPass* pass : passes) static_cast<void>(unschedule_pass(*pass));  // the program may have removed it
    for (GuestObserver& observer : observers) stop_listening(*this, observer);
}

Status Guest::resume() {
    is_active = true;
    for (GuestPass* pass : passes)
        if (Status status = schedule_pass(*pass); !status) return status;
    for (GuestObserver& observer : observers)
        if (Status status = listen(*this, observer); !status) return status;
    return {};
}

void Guest::renew() {
    for (GuestQuery* query : queries) static_cast<void>(query->make());  // the users of a query report its error
    for (GuestPass* pass : passes) pass->renew();
    for (GuestObserver& observer : observers) {
        const Store* const keeper = world.directory().find_kept(observer.component).store;
        if (!is_active || (observer.store != nullptr && observer.store == keeper)) continue;
        stop_listening(*this, observer);
        static_cast<void>(listen(*this, observer));  // fails while no store has the component type
    }
}

bool Guest::lacks_something() const {
    return is_active &&
           (std::ranges::any_of(queries, [](const GuestQuery* query) { return !query->query; }) ||
            std::ranges::any_of(passes, [](const GuestPass* pass) { return pass->rests; }) ||
            std::ranges::any_of(observers, [](const auto& observer) { return observer.store == nullptr; }));
}

void Guest::remove_parts() {
    while (!passes.empty()) {
        GuestPass& pass = *passes.back();
        passes.pop_back();
        static_cast<void>(unschedule_pass(pass));  // the program may have removed it
        destroy_pass(pass);
    }
    while (!observers.empty()) end_observer(*this, observers.size() - 1);
    while (!queries.empty()) remove(*queries.back());
}

void Guest::remove_channels() {
    while (!channels.empty()) {
        GuestChannel& channel = *channels.back();
        channels.pop_back();
        world.events().end(channel.log);
        channel.destroy();
    }
}

// --- all guests --------------------------------------------------------------------------------------------------

GuestHost::GuestHost(World& of, std::string_view service_name, const GuestWords& words_for_guests, bool one_at_a_time)
    : WorldService(service_name), world(of), words(words_for_guests), runs_one_at_a_time(one_at_a_time) {
    world.services().add(*this);
}

GuestHost::~GuestHost() { world.services().remove(*this); }

void GuestHost::renew_all() {
    for (Guest* guest : guests) guest->renew();
    has_lost_stores = false;
    num_known_stores = world.directory().stores().size();
}

void GuestHost::forget_passes(const Array<std::string>& gone) {
    for (const std::string& name : gone)
        if (!world.schedule().is_taken(name)) world.schedule().forget_order(name);
}

/// The program or a plugin may remove a store without notifying guests.
void GuestHost::forget(const Store& store) {
    for (Guest* guest : guests) {
        for (GuestObserver& observer : guest->observers)
            if (observer.store == &store) observer.store = nullptr;
        for (GuestQuery* query : guest->queries) {
            if (!query->query || std::ranges::none_of(query->query->accesses(),
                                                      [&](const Access& access) { return access.store == &store; }))
                continue;
            query->forget();
            query->problem =
                Status::error(concat("query \"", query->text, "\": a store that it names has left the world"));
        }
    }
    has_lost_stores = true;
}

void GuestHost::before_commands(const SettleContext&) {
    const bool may_be_back =
        num_known_stores != world.directory().stores().size() && std::ranges::any_of(guests, &Guest::lacks_something);
    if (has_lost_stores || may_be_back) renew_all();
}

Result<KeptComponent> GuestHost::find_kept(std::string_view component) {
    const KeptComponent kept = world.directory().find_kept(ComponentId(component));
    if (kept) return kept;
    return unknown_component(world, component, words.how_to_declare);
}

const Guest* GuestHost::find_user(const Schema& component, const Store& store, const Guest* but) const {
    for (const Guest* guest : guests)
        if (guest != but && guest->is_active && uses(*guest, component, store)) return guest;
    return nullptr;
}

void GuestHost::require_idle() const {
    SHOAL_ASSERT(WorkScope::current() == nullptr,
                 concat("a pass loaded or unloaded a ", words.guest, "; do it between steps").c_str());
    SHOAL_ASSERT(num_calls == 0, concat("a function of a ", words.guest, " loaded or unloaded a ", words.guest,
                                        "; let the program do it between steps")
                                     .c_str());
}

Guest* GuestHost::find_guest(std::string_view name) const {
    const auto at = std::ranges::find_if(guests, [&](const Guest* guest) { return guest->name == name; });
    return at == guests.end() ? nullptr : *at;
}

}  // namespace shoal

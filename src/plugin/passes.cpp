// Queries and passes of plugins: texts become queries, their columns plain pointers, and functions of plugins passes of
// the schedule.

#include "plugin/host.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/job/row_ranges.h"
#include "shoal/react/observers.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

// --- columns -----------------------------------------------------------------------------------------------------

/// Finds what a name such as "wheel.angle" means in the components of a query.
Result<PluginColumn> find_column(const TextQuery& query, std::string_view name) {
    const std::size_t dot = name.find('.');
    const std::string_view component = name.substr(0, dot);
    if (dot == std::string_view::npos)
        return Status::error(concat("column \"", name, "\" names no field; write component.field"));
    const std::span<const TextComponent> shown = query.components();
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (shown[i].schema->name() != component) continue;
        if (!shown[i].has_columns)
            return Status::error(concat("the store of \"", component, "\" keeps its fields in a form without columns"));
        const Result<FieldPart> part = find_field_part(*shown[i].schema, name.substr(dot + 1));
        if (!part) return part.status();
        if (part->num_columns > 1)
            return Status::error(concat("\"", name, "\" is split into columns of their own; name them: ", name, ".x"));
        if (part->lane_stride != 0)
            return Status::error(
                concat("the numbers of \"", name, "\" do not lie side by side; name them: ", name, ".x"));
        return PluginColumn{i, part->first_column, part->offset_in_column};
    }
    return Status::error(concat("column \"", name, "\" is of a component that the query does not name"));
}

Status find_columns(const TextQuery& query, const std::vector<std::string>& names, Array<PluginColumn>& columns) {
    columns.clear();
    for (const std::string& name : names) {
        const Result<PluginColumn> column = find_column(query, name);
        if (!column) return column.status();
        columns.push_back(*column);
    }
    return {};
}

/// Of what a query may write, a plugin writes what it has asked for.
void limit_writes(TextQuery& query, std::span<const PluginColumn> columns) {
    for (std::size_t i = 0; i < query.components().size(); ++i) {
        if (!query.components()[i].is_written) continue;
        std::uint64_t asked = 0;
        for (const PluginColumn& column : columns)
            if (column.component == i && column.column < 64) asked |= std::uint64_t(1) << column.column;
        query.write_columns(i, asked);
    }
}

shoal_column show_column(const PluginColumn& wanted, const TextBatch& rows) {
    const TextColumn column = rows.column(wanted.component, wanted.column);
    std::byte* const first = column.first == nullptr ? nullptr : column.first + wanted.offset;
    return {sizeof(shoal_column), static_cast<std::uint32_t>(column.stride), first, column.is_written ? first : nullptr,
            column.rows};
}

/// The columns of a table, if the batches of a loop are parts of it. Found out once, they need not be looked up for each.
struct PluginTable {
    explicit PluginTable(const shoal_query& of) : query(of) { query.query->look_at_table(look, this); }
    PluginTable(const PluginTable&) = delete;
    PluginTable& operator=(const PluginTable&) = delete;
    /// The row where a batch begins; num_rows or more: it is no part of the table.
    std::size_t first_row(const TextBatch& rows) const {
        const auto owner = reinterpret_cast<std::uintptr_t>(rows.entities().data());
        return (owner - reinterpret_cast<std::uintptr_t>(owners)) / sizeof(Entity);
    }

    const shoal_query& query;
    const Entity* owners = nullptr;
    std::size_t num_rows = 0;
    shoal_column columns[kMostPluginColumns];

private:
    static void look(void* self, const TextBatch& all) {
        PluginTable& table = *static_cast<PluginTable*>(self);
        table.owners = all.entities().data();
        table.num_rows = all.entities().size();
        for (std::size_t i = 0; i < table.query.columns.size(); ++i)
            table.columns[i] = show_column(table.query.columns[i], all);
    }
};

/// The columns of one batch, as a plugin sees them.
struct PluginBatch {
    PluginBatch(const PluginTable& table, const TextBatch& rows);

    shoal_batch batch{};
    shoal_column columns[kMostPluginColumns];
    const shoal_column* places[kMostPluginColumns];
};

PluginBatch::PluginBatch(const PluginTable& table, const TextBatch& rows) {
    static_assert(sizeof(Entity) == sizeof(shoal_entity));
    const std::size_t first_row = table.first_row(rows), num_columns = table.query.columns.size();
    for (std::size_t i = 0; i < num_columns; ++i) {
        places[i] = &columns[i];
        if (first_row >= table.num_rows) {
            columns[i] = show_column(table.query.columns[i], rows);
            continue;
        }
        const shoal_column& all = table.columns[i];
        const std::size_t offset = first_row * all.stride;
        std::byte* const written = static_cast<std::byte*>(all.first_written);
        columns[i] = {all.size, all.stride, static_cast<const std::byte*>(all.first) + offset,
                      written == nullptr ? nullptr : written + offset, nullptr};
    }
    batch = {sizeof batch, rows.num_rows(), reinterpret_cast<const shoal_entity*>(rows.entities().data()), places};
}

}  // namespace

PluginPassView::PluginPassView(const PassContext* of, shoal_commands* given) : shoal_pass{}, context(of) {
    size = sizeof(shoal_pass);
    commands = given;
    if (of == nullptr) return;
    dt = of->dt;
    frame = of->frame;
    random_seed = of->random_seed;
}

// --- running -----------------------------------------------------------------------------------------------------

namespace {

/// The calls of a function of a plugin in one loop.
struct PluginCalls {
    const PluginTable table;
    const PluginFunction& function;
    const PassContext* context;
    const PluginPassView pass{context, nullptr};  // without commands it is the same for all

    static void call_plainly(void* calls, const TextBatch& rows) {
        const PluginCalls& self = *static_cast<const PluginCalls*>(calls);
        const PluginBatch shown(self.table, rows);
        self.function.run(self.function.context, &self.pass, &shown.batch);
    }
    static void call_with_commands(void* calls, Commands& commands, const TextBatch& rows) {
        const PluginCalls& self = *static_cast<const PluginCalls*>(calls);
        shoal_commands given{commands, self.table.query.owner.world};
        const CommandScope scope(given);
        const PluginPassView pass(self.context, &given);
        const PluginBatch shown(self.table, rows);
        self.function.run(self.function.context, &pass, &shown.batch);
    }
};

}  // namespace

}  // namespace shoal

shoal::Status shoal_query::make() {
    query.reset();
    shoal::Result<shoal::TextQuery> made = shoal::TextQuery::make(owner.world.directory(), text);
    shoal::Status status = made.status();
    if (status) status = shoal::find_columns(*made, column_names, columns);
    if (!status) return shoal::Status::error(shoal::concat("query \"", text, "\": ", status.message()));
    shoal::limit_writes(*made, columns);
    query.emplace(std::move(*made));
    return {};
}

void shoal_query::run(shoal::Executor* executor, const shoal::PluginFunction& function,
                      const shoal::PassContext* context) const {
    if (!query) return;
    shoal::PluginCalls calls{shoal::PluginTable(*this), function, context};
    shoal::SerialExecutor serial;
    shoal::Executor& workers = executor == nullptr ? serial : *executor;
    if (function.may_command)
        query->for_each_batch(workers, owner.world.directory(), shoal::PluginCalls::call_with_commands, &calls);
    else
        query->for_each_batch(workers, shoal::PluginCalls::call_plainly, &calls);
}

namespace shoal {

void PluginPass::run(const PassContext& context, Executor& executor) const {
    if (query != nullptr) return query->run(&executor, function, &context);
    shoal_commands given{owner.world.commands(), owner.world};
    const CommandScope scope(given);
    const PluginPassView pass(&context, &given);
    const shoal_batch nothing{sizeof nothing, 0, nullptr, nullptr};
    function.run(function.context, &pass, &nothing);
}

namespace {

/// A pass as a schedule knows it.
struct PluginRows {
    const PluginPass* pass;

    template <class Function>
    static constexpr bool kFits = std::is_invocable_v<Function&, Executor&>;
    static constexpr std::uint64_t bytes_per_row() { return 0; }
    std::span<const Access> accesses() const { return pass->accesses; }
    std::uint64_t num_rows() const {
        return pass->query == nullptr || !pass->query->query ? 0 : pass->query->query->num_rows();
    }
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        function(executor);
    }
};

// --- making ------------------------------------------------------------------------------------------------------

/// A list of names that a plugin gives.
struct Names {
    const char* const* names;
    std::uint32_t count;
    const char* what;

    Status check() const {
        if (count != 0 && names == nullptr) return Status::error(concat(what, " are counted, but the list is NULL"));
        if (count > kMostNames) return Status::error(concat(count, ' ', what, " are more than ", kMostNames));
        for (std::uint32_t i = 0; i < count; ++i)
            if (names[i] == nullptr) return Status::error(concat("name ", i, " of ", what, " is NULL"));
        return {};
    }
    std::span<const char* const> all() const { return {names, count}; }
    std::vector<std::string> copies() const { return {names, names + count}; }

    static constexpr std::uint32_t kMostNames = 1024;
};

Result<shoal_query*> make_query(shoal_world& plugin, const char* text, const Names& columns) {
    if (Status status = columns.check(); !status) return status;
    if (columns.count > kMostPluginColumns)
        return Status::error(concat("a query shows at most ", kMostPluginColumns, " columns, not ", columns.count));
    auto* const query = make_owned<shoal_query>("plugins", plugin, text);
    query->column_names = columns.copies();
    if (Status status = query->make(); !status) {
        destroy_owned("plugins", query);
        return status;
    }
    plugin.queries.push_back(query);
    return query;
}

shoal_query* make(shoal_world* plugin, const char* text, const char* const* columns, std::uint32_t num_columns,
                  shoal_error* error) {
    if (Status status = check_given("make_query", {{plugin, "the world"}, {text, "the text"}}); !status)
        return refuse(error, status.message()), nullptr;
    const Result<shoal_query*> query = make_query(*plugin, text, {columns, num_columns, "columns"});
    if (!query) return refuse(error, query.message()), nullptr;
    return *query;
}

/// Errors: the plugin has no such query.
Status check_query(std::string_view call, const shoal_world* plugin, const shoal_query* query) {
    if (Status status = check_given(call, {{plugin, "the world"}, {query, "the query"}}); !status) return status;
    if (std::ranges::find(plugin->queries, query) != plugin->queries.end()) return {};
    return Status::error(concat(call, ": plugin \"", plugin->name, "\" has no such query; it was destroyed"));
}

void end_query(shoal_world& plugin, shoal_query* query) {
    plugin.queries.erase(std::ranges::find(plugin.queries, query));
    destroy_owned("plugins", query);
}

int destroy(shoal_world* plugin, shoal_query* query, shoal_error* error) {
    if (Status status = check_query("destroy_query", plugin, query); !status) return answer(error, status);
    for (const PluginPass* pass : plugin->passes)
        if (pass->query == query)
            return refuse(error, concat("destroy_query: the query is that of pass \"", pass->name, "\""));
    if (query->num_loops != 0)
        return refuse(error, "destroy_query: for_each_batch() runs over the query; destroy it when that has returned");
    end_query(*plugin, query);
    return 1;
}

std::uint64_t num_rows(const shoal_world* plugin, const shoal_query* query) {
    if (Status status = check_query("num_rows", plugin, query); !status) return complain(status), 0;
    return query->query ? query->query->num_rows() : 0;
}

int for_each_batch(shoal_world* plugin, const shoal_query* query, int on_all_workers, shoal_pass_function run,
                   void* context, shoal_error* error) {
    Status status = check_query("for_each_batch", plugin, query);
    if (status) status = check_given("for_each_batch", {{reinterpret_cast<const void*>(run), "the function"}});
    if (status && !query->query)
        status = Status::error(concat("query \"", query->text, "\" names what no store keeps now"));
    if (status) {
        ++query->num_loops;
        query->run(on_all_workers != 0 ? &query->owner.world.executor() : nullptr, {run, context, true}, nullptr);
        --query->num_loops;
    }
    return answer(error, status);
}

Status add_accesses(PluginPass& pass, const std::vector<std::string>& components, bool writes) {
    for (const std::string& name : components) {
        const World& world = pass.owner.world;
        const KeptComponent kept = world.directory().find_kept(ComponentId(name));
        if (!kept) return unknown_component(world, name);
        const OwnedColumns columns = kept.store->find_columns(*kept.schema);
        const bool is_derived = columns.is_read_only || columns.is_source;
        pass.accesses.push_back(
            {kept.store, nullptr, is_derived ? ComponentId() : kept.schema->id(), kAllFields, writes});
    }
    return {};
}

Status add_channels(PluginPass& pass, const Names& channels, bool writes) {
    for (const char* name : channels.all()) {
        const auto has_name = [&](const shoal_channel* channel) { return channel->name == name; };
        const auto at = std::ranges::find_if(pass.owner.channels, has_name);
        if (at == pass.owner.channels.end())
            return Status::error(concat("the plugin has opened no channel \"", name, "\"; open it before"));
        pass.channels.push_back({nullptr, &(*at)->log, {}, kAllFields, writes});
    }
    return {};
}

Status fill(PluginPass& pass, const shoal_pass_definition& given) {
    const Names reads{given.reads, given.num_reads, "reads"}, writes{given.writes, given.num_writes, "writes"};
    const Names reads_from{given.reads_from, given.num_reads_from, "reads_from"};
    const Names writes_to{given.writes_to, given.num_writes_to, "writes_to"};
    const Names after{given.runs_after, given.num_runs_after, "runs_after"};
    const Names before{given.runs_before, given.num_runs_before, "runs_before"};
    for (const Names* names : {&reads, &writes, &reads_from, &writes_to, &after, &before})
        if (Status status = names->check(); !status) return status;
    pass.reads = reads.copies(), pass.writes = writes.copies();
    if (Status status = add_channels(pass, reads_from, false); !status) return status;
    if (Status status = add_channels(pass, writes_to, true); !status) return status;
    pass.function = {given.run, given.context, (given.flags & SHOAL_NO_COMMANDS) == 0};
    if (Status status = pass.find_accesses(); !status || given.query == nullptr) return status;
    const Result<shoal_query*> query =
        make_query(pass.owner, given.query, {given.columns, given.num_columns, "columns"});
    if (!query) return query.status();
    pass.query = *query;
    return pass.find_accesses();
}

constexpr std::uint32_t kPassFlags = SHOAL_NO_COMMANDS;

Status check(const shoal_world& plugin, const shoal_pass_definition& given) {
    if (!reaches(given, &shoal_pass_definition::context))
        return Status::error("a pass does not begin with sizeof(shoal_pass_definition)");
    if (given.name == nullptr || *given.name == 0) return Status::error("a pass has no name");
    if (given.run == nullptr) return Status::error(concat("pass \"", given.name, "\" has no function"));
    if ((given.flags & ~kPassFlags) != 0)
        return Status::error(concat("pass \"", given.name, "\" has flags that this program does not know"));
    if (plugin.world.schedule().is_taken(given.name))
        return Status::error(concat("the world has a pass, or a group of passes, \"", given.name,
                                    "\" already; give this one another name"));
    return {};
}

/// Errors: passes have no order any more, because one has come; it is removed again. While a plugin loads, others may come.
Status keep_order(shoal_world& plugin, bool was_ordered) {
    Schedule& schedule = plugin.world.schedule();
    if (!was_ordered || plugin.is_loading) return {};
    const Status status = schedule.prepare();
    if (status) return status;
    PluginPass* const pass = plugin.passes.back();
    plugin.passes.pop_back();
    static_cast<void>(schedule.remove(pass->name));
    if (pass->query != nullptr) end_query(plugin, pass->query);
    destroy_owned("plugins", pass);
    return status;
}

Status add_pass(shoal_world& plugin, const shoal_pass_definition& given) {
    if (Status status = check(plugin, given); !status) return status;
    const bool was_ordered = plugin.world.schedule().prepare().ok();
    auto* const pass = make_owned<PluginPass>("plugins", plugin, given.name);
    if (Status status = fill(*pass, given); !status) {
        if (pass->query != nullptr) end_query(plugin, pass->query);
        destroy_owned("plugins", pass);
        return Status::error(concat("pass \"", given.name, "\": ", status.message()));
    }
    PassOrder order = plugin.world.schedule().add(
        given.name, PluginRows{pass},
        [pass](const PassContext& context, Executor& executor) { pass->run(context, executor); });
    for (std::uint32_t i = 0; i < given.num_runs_after; ++i) order.after(given.runs_after[i]);
    for (std::uint32_t i = 0; i < given.num_runs_before; ++i) order.before(given.runs_before[i]);
    if (given.every_frames > 1) order.every_frames(given.every_frames);
    plugin.passes.push_back(pass);
    return keep_order(plugin, was_ordered);
}

int add(shoal_world* plugin, const shoal_pass_definition* given, shoal_error* error) {
    const Status status = check_given("add_pass", {{plugin, "the world"}, {given, "the pass"}});
    return answer(error, status ? add_pass(*plugin, copy_given(*given)) : status);
}

int remove(shoal_world* plugin, const char* name, shoal_error* error) {
    if (Status status = check_given("remove_pass", {{plugin, "the world"}, {name, "the name"}}); !status)
        return answer(error, status);
    const auto has_name = [&](const PluginPass* pass) { return pass->name == name; };
    const auto at = std::ranges::find_if(plugin->passes, has_name);
    if (at == plugin->passes.end()) return refuse(error, concat("the plugin has no pass \"", name, "\""));
    PluginPass* const pass = *at;
    plugin->passes.erase(at);
    const Status status = plugin->world.schedule().remove(name);
    if (status) plugin->world.schedule().forget_order(name);
    if (pass->query != nullptr) end_query(*plugin, pass->query);
    destroy_owned("plugins", pass);
    return answer(error, status);
}

// --- making anew -------------------------------------------------------------------------------------------------

/// Makes what a pass touches anew, and lets it rest, or run again.
void renew_pass(PluginPass& pass) {
    Schedule& schedule = pass.owner.world.schedule();
    const Status status =
        pass.query == nullptr || pass.query->query ? pass.find_accesses() : pass.query->make();  // why it is not there
    if (!status) pass.accesses.clear();
    if (!schedule.declare(pass.name, pass.accesses)) return;  // the program has removed it
    if (status.ok() == !pass.rests) return;
    pass.rests = !status;
    static_cast<void>(schedule.enable(pass.name, status.ok()));
    if (!status)
        log(LogLevel::kWarning, concat("pass \"", pass.name, "\" of plugin \"", pass.owner.name,
                                       "\" rests until what it needs is there again: ", status.message()));
}

}  // namespace

Status PluginPass::find_accesses() {
    accesses.assign(channels.begin(), channels.end());
    if (Status status = add_accesses(*this, reads, false); !status) return status;
    if (Status status = add_accesses(*this, writes, true); !status) return status;
    if (query == nullptr || !query->query) return {};
    const std::span<const Access> of_query = query->query->accesses();
    accesses.insert(accesses.end(), of_query.begin(), of_query.end());
    return {};
}

void add_query_functions(shoal_host& table) {
    table.make_query = make, table.destroy_query = destroy;
    table.num_rows = num_rows, table.for_each_batch = for_each_batch;
    table.add_pass = add, table.remove_pass = remove;
}

}  // namespace shoal

void shoal_world::renew() {
    for (shoal_query* query : queries) static_cast<void>(query->make());  // what is not there is asked for in vain
    for (shoal::PluginPass* pass : passes) shoal::renew_pass(*pass);
    for (shoal::PluginObserverEntry& entry : observers)
        if (entry.store == nullptr || world.directory().find_kept(entry.component).store != entry.store) {
            world.observers().remove(entry.id);
            entry.store = nullptr;
            static_cast<void>(shoal::add_entry(*this, entry));  // nothing is told while nobody keeps the component type
        }
}

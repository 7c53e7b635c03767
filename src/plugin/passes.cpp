// Queries and passes of plugins: texts become queries, their columns plain pointers, and functions of plugins passes of
// the schedule.

#include "plugin/host.h"
#include "shoal/base/text.h"
#include "shoal/job/row_ranges.h"

#include <algorithm>

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
        return PluginColumn{i, part->first_column, part->offset_in_column};
    }
    return Status::error(concat("column \"", name, "\" is of a component that the query does not name"));
}

Status find_columns(const TextQuery& query, const char* const* names, std::uint32_t num_names,
                    Array<PluginColumn>& columns) {
    if (num_names > kMostPluginColumns)
        return Status::error(concat("a query shows at most ", kMostPluginColumns, " columns, not ", num_names));
    if (num_names != 0 && names == nullptr) return Status::error("columns are counted, but the list is NULL");
    for (std::uint32_t i = 0; i < num_names; ++i) {
        if (names[i] == nullptr) return Status::error(concat("the name of column ", i, " is NULL"));
        const Result<PluginColumn> column = find_column(query, names[i]);
        if (!column) return column.status();
        columns.push_back(*column);
    }
    return {};
}

}  // namespace

PluginBatch::PluginBatch(const shoal_query& query, const TextBatch& rows) {
    const std::span<const TextComponent> shown = query.query.components();
    for (std::size_t i = 0; i < query.columns.size(); ++i) {
        const PluginColumn& wanted = query.columns[i];
        const TextColumn column = rows.column(wanted.component, wanted.column);
        std::byte* const first = column.first == nullptr ? nullptr : column.first + wanted.offset;
        columns[i] = {sizeof(shoal_column), static_cast<std::uint32_t>(column.stride), first,
                      shown[wanted.component].is_written ? first : nullptr, column.rows};
        places[i] = &columns[i];
    }
    static_assert(sizeof(Entity) == sizeof(shoal_entity));
    batch = {sizeof batch, rows.num_rows(), reinterpret_cast<const shoal_entity*>(rows.entities().data()), places};
}

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

void call_batch(const shoal_query& query, const PluginFunction& function, const PassContext* context,
                Commands& commands, const TextBatch& rows) {
    shoal_commands given{commands, query.owner.world};
    const PluginPassView pass(context, &given);
    const PluginBatch batch(query, rows);
    function.run(function.context, &pass, &batch.batch);
}

}  // namespace

}  // namespace shoal

void shoal_query::run(shoal::Executor* executor, const shoal::PluginFunction& function,
                      const shoal::PassContext* context) const {
    struct Call {
        const shoal_query& query;
        const shoal::PluginFunction& function;
        const shoal::PassContext* context;
    } call{*this, function, context};
    shoal::SerialExecutor serial;
    query.for_each_batch(
        executor == nullptr ? serial : *executor, owner.world.keeper_of_commands(),
        [](void* of, shoal::Commands& commands, const shoal::TextBatch& rows) {
            const Call& self = *static_cast<const Call*>(of);
            shoal::call_batch(self.query, self.function, self.context, commands, rows);
        },
        &call);
}

namespace shoal {

void PluginPass::run(const PassContext& context, Executor& executor) const {
    if (query != nullptr) return query->run(&executor, function, &context);
    shoal_commands given{owner.world.commands(), owner.world};
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
    std::uint64_t num_rows() const { return pass->query == nullptr ? 0 : pass->query->query.num_rows(); }
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        function(executor);
    }
};

// --- making ------------------------------------------------------------------------------------------------------

Result<shoal_query*> make_query(shoal_world& plugin, const char* text, const char* const* columns,
                                std::uint32_t num_columns) {
    if (text == nullptr) return Status::error("the text of a query is NULL");
    Result<TextQuery> made = TextQuery::make(plugin.world.stores(), text);
    if (!made) return Status::error(concat("query \"", text, "\": ", made.message()));
    auto* const query = make_owned<shoal_query>(plugin, text, std::move(*made));
    if (Status status = find_columns(query->query, columns, num_columns, query->columns); !status) {
        destroy_owned(query);
        return Status::error(concat("query \"", text, "\": ", status.message()));
    }
    plugin.queries.push_back(query);
    return query;
}

shoal_query* make(shoal_world* plugin, const char* text, const char* const* columns, std::uint32_t num_columns,
                  shoal_error* error) {
    const Result<shoal_query*> query = make_query(*plugin, text, columns, num_columns);
    if (!query) return refuse(error, query.message()), nullptr;
    return *query;
}

void destroy(shoal_world* plugin, shoal_query* query) {
    const auto at = std::ranges::find(plugin->queries, query);
    if (at == plugin->queries.end()) return;
    plugin->queries.erase(at);
    destroy_owned(query);
}

std::uint64_t num_rows(const shoal_query* query) { return query->query.num_rows(); }

void for_each_batch(const shoal_query* query, int on_all_workers, shoal_pass_function run, void* context) {
    query->run(on_all_workers != 0 ? &query->owner.world.executor() : nullptr, {run, context}, nullptr);
}

/// A list of names that a definition has.
struct Names {
    const char* const* names;
    std::uint32_t count;
    const char* what;

    Status check() const {
        if (count != 0 && names == nullptr) return Status::error(concat(what, " are counted, but the list is NULL"));
        for (std::uint32_t i = 0; i < count; ++i)
            if (names[i] == nullptr) return Status::error(concat("name ", i, " of ", what, " is NULL"));
        return {};
    }
    std::span<const char* const> all() const { return {names, count}; }
};

Status add_accesses(PluginPass& pass, const Names& components, bool writes) {
    for (const char* name : components.all()) {
        const World& world = pass.owner.world;
        const KeptComponent kept = find_kept(world, ComponentId(name));
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
        pass.accesses.push_back({nullptr, &(*at)->log, {}, kAllFields, writes});
    }
    return {};
}

bool is_taken(const Schedule& schedule, std::string_view name) {
    for (std::size_t i = 0; i < schedule.num_passes(); ++i)
        if (schedule.statistics(i).name == name) return true;
    return false;
}

Status fill(PluginPass& pass, const shoal_pass_definition& given) {
    const Names reads{given.reads, given.num_reads, "reads"}, writes{given.writes, given.num_writes, "writes"};
    const Names reads_from{given.reads_from, given.num_reads_from, "reads_from"};
    const Names writes_to{given.writes_to, given.num_writes_to, "writes_to"};
    const Names after{given.runs_after, given.num_runs_after, "runs_after"};
    const Names before{given.runs_before, given.num_runs_before, "runs_before"};
    for (const Names* names : {&reads, &writes, &reads_from, &writes_to, &after, &before})
        if (Status status = names->check(); !status) return status;
    if (Status status = add_accesses(pass, reads, false); !status) return status;
    if (Status status = add_accesses(pass, writes, true); !status) return status;
    if (Status status = add_channels(pass, reads_from, false); !status) return status;
    if (Status status = add_channels(pass, writes_to, true); !status) return status;
    pass.function = {given.run, given.context};
    if (given.query == nullptr) return {};
    const Result<shoal_query*> query = make_query(pass.owner, given.query, given.columns, given.num_columns);
    if (!query) return query.status();
    pass.query = *query;
    const std::span<const Access> accesses = pass.query->query.accesses();
    pass.accesses.insert(pass.accesses.end(), accesses.begin(), accesses.end());
    return {};
}

Status check(const shoal_world& plugin, const shoal_pass_definition& given) {
    if (given.size < offsetof(shoal_pass_definition, context) + sizeof(void*))
        return Status::error("a pass does not begin with sizeof(shoal_pass_definition)");
    if (given.name == nullptr || *given.name == 0) return Status::error("a pass has no name");
    if (given.run == nullptr) return Status::error(concat("pass \"", given.name, "\" has no function"));
    if (is_taken(plugin.world.schedule(), given.name))
        return Status::error(concat("the world has a pass \"", given.name, "\" already; give this one another name"));
    return {};
}

Status add_pass(shoal_world& plugin, const shoal_pass_definition& given) {
    if (Status status = check(plugin, given); !status) return status;
    auto* const pass = make_owned<PluginPass>(plugin, given.name);
    if (Status status = fill(*pass, given); !status) {
        destroy_owned(pass);
        return Status::error(concat("pass \"", given.name, "\": ", status.message()));
    }
    PassOrder order = plugin.world.schedule().add(
        given.name, PluginRows{pass},
        [pass](const PassContext& context, Executor& executor) { pass->run(context, executor); });
    for (std::uint32_t i = 0; i < given.num_runs_after; ++i) order.after(given.runs_after[i]);
    for (std::uint32_t i = 0; i < given.num_runs_before; ++i) order.before(given.runs_before[i]);
    if (given.every_frames > 1) order.every_frames(given.every_frames);
    plugin.passes.push_back(pass);
    return {};
}

int add(shoal_world* plugin, const shoal_pass_definition* given, shoal_error* error) {
    return answer(error, add_pass(*plugin, copy_given(*given)));
}

int remove(shoal_world* plugin, const char* name, shoal_error* error) {
    if (name == nullptr) return refuse(error, "the name of a pass is NULL");
    const auto has_name = [&](const PluginPass* pass) { return pass->name == name; };
    const auto at = std::ranges::find_if(plugin->passes, has_name);
    if (at == plugin->passes.end()) return refuse(error, concat("the plugin has no pass \"", name, "\""));
    PluginPass* const pass = *at;
    plugin->passes.erase(at);
    const Status status = plugin->world.schedule().remove(name);
    if (pass->query != nullptr) destroy(plugin, pass->query);
    destroy_owned(pass);
    return answer(error, status);
}

}  // namespace

const shoal_query_functions& plugin_query_functions() {
    static constexpr shoal_query_functions kFunctions{sizeof kFunctions, make, destroy, num_rows, for_each_batch};
    return kFunctions;
}

const shoal_pass_functions& plugin_pass_functions() {
    static constexpr shoal_pass_functions kFunctions{sizeof kFunctions, add, remove};
    return kFunctions;
}

}  // namespace shoal

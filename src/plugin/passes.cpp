// Plugins' queries and passes. A query is made from a string, and its columns become plain pointers. A pass calls a
// function of the plugin.

#include "plugin/host.h"
#include "shoal/base/text.h"
#include "shoal/job/row_ranges.h"

#include <algorithm>

namespace shoal {
namespace {

// --- columns -----------------------------------------------------------------------------------------------------

Result<GuestColumn> find_column(const TextQuery& query, std::string_view name) {
    const Result<NamedColumn> named = find_named_column(query, name);
    if (!named) return named.status();
    const Result<FieldPart> part = find_field_part(*named->schema, named->field);
    if (!part) return part.status();
    if (part->num_columns > 1)
        return Status::error(concat("\"", name, "\" is split into columns of their own; name them: ", name, ".x"));
    if (part->lane_stride != 0)
        return Status::error(concat("the numbers of \"", name, "\" do not lie side by side; name them: ", name, ".x"));
    return GuestColumn{std::string(name), part->type, named->component, part->first_column, part->offset_in_column};
}

shoal_column show_column(const GuestColumn& wanted, const TextBatch& rows) {
    const TextColumn column = rows.column(wanted.component, wanted.column);
    std::byte* const first = column.first == nullptr ? nullptr : column.first + wanted.offset;
    return {sizeof(shoal_column), static_cast<std::uint32_t>(column.stride), first, column.is_written ? first : nullptr,
            column.rows};
}

/// The columns of a table. A loop looks them up once for all of the table's batches that it visits.
struct PluginTable {
    explicit PluginTable(const shoal_query& of) : query(of) { query.query->look_at_table(look, this); }
    PluginTable(const PluginTable&) = delete;
    PluginTable& operator=(const PluginTable&) = delete;
    /// Returns the first row of a batch. The result is num_rows or more if the batch is not part of the table.
    std::size_t first_row(const TextBatch& rows) const {
        const auto owner = reinterpret_cast<std::uintptr_t>(rows.entities().data());
        return (owner - reinterpret_cast<std::uintptr_t>(owners)) / sizeof(Entity);
    }

    const shoal_query& query;
    const Entity* owners = nullptr;
    std::size_t num_rows = 0;
    shoal_column columns[kMostGuestColumns];

private:
    static void look(void* self, const TextBatch& all) {
        PluginTable& table = *static_cast<PluginTable*>(self);
        table.owners = all.entities().data();
        table.num_rows = all.entities().size();
        for (std::size_t i = 0; i < table.query.columns.size(); ++i)
            table.columns[i] = show_column(table.query.columns[i], all);
    }
};

/// The columns of one batch in the form that plugins use.
struct PluginBatch {
    PluginBatch(const PluginTable& table, const TextBatch& rows);

    shoal_batch batch{};
    shoal_column columns[kMostGuestColumns];
    const shoal_column* places[kMostGuestColumns];
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

/// The calls to a plugin's function in one loop.
struct PluginCalls {
    const PluginTable table;
    const PluginFunction& function;
    const PassContext* context;
    const PluginPassView pass{context, nullptr};  // all calls share it, because it has no commands

    static void call_plainly(void* calls, const TextBatch& rows) {
        const PluginCalls& self = *static_cast<const PluginCalls*>(calls);
        const PluginBatch shown(self.table, rows);
        self.function.run(self.function.context, &self.pass, &shown.batch);
    }
    static void call_with_commands(void* calls, Commands& commands, const TextBatch& rows) {
        const PluginCalls& self = *static_cast<const PluginCalls*>(calls);
        shoal_commands given{commands, self.table.query.guest.host};
        const CommandScope scope(given);
        const PluginPassView pass(self.context, &given);
        const PluginBatch shown(self.table, rows);
        self.function.run(self.function.context, &pass, &shown.batch);
    }
};

}  // namespace

}  // namespace shoal

shoal::Status shoal_query::find_columns() {
    for (const std::string& name : column_names) {
        const shoal::Result<shoal::GuestColumn> column = shoal::find_column(*query, name);
        if (!column) return column.status();
        columns.push_back(*column);
    }
    limit_writes();
    return {};
}

void shoal_query::run(shoal::Executor* executor, const shoal::PluginFunction& function,
                      const shoal::PassContext* context) const {
    shoal::PluginCalls calls{shoal::PluginTable(*this), function, context};
    shoal::SerialExecutor serial;
    shoal::Executor& workers = executor == nullptr ? serial : *executor;
    if (function.may_command)
        query->for_each_batch(workers, guest.world.directory(), shoal::PluginCalls::call_with_commands, &calls);
    else
        query->for_each_batch(workers, shoal::PluginCalls::call_plainly, &calls);
}

namespace shoal {

namespace {

/// A plugin's pass.
struct PluginPass final : GuestPass {
    PluginPass(Guest& of, std::string_view named, const PluginFunction& called)
        : GuestPass(of, named), function(called) {}
    void destroy() override { destroy_owned("plugins", this); }
    void run(const PassContext& context, Executor& executor) override {
        if (query != nullptr) return static_cast<shoal_query*>(query)->run(&executor, function, &context);
        shoal_commands given{guest.world.commands(), guest.host};
        const CommandScope scope(given);
        const PluginPassView pass(&context, &given);
        const shoal_batch nothing{sizeof nothing, 0, nullptr, nullptr};
        function.run(function.context, &pass, &nothing);
    }

    const PluginFunction function;
};

// --- making ------------------------------------------------------------------------------------------------------

/// A list of names that a plugin passes.
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
    Array<std::string> copies() const { return Array<std::string>(names, names + count, "guests"); }

    static constexpr std::uint32_t kMostNames = 1024;
};

Result<shoal_query*> make_query(shoal_world& plugin, const char* text, const Names& columns) {
    if (Status status = columns.check(); !status) return status;
    if (columns.count > kMostGuestColumns)
        return Status::error(concat("a query shows at most ", kMostGuestColumns, " columns, not ", columns.count));
    auto* const query = make_owned<shoal_query>("plugins", plugin, text, columns.copies());
    if (Status status = plugin.add(*query); !status) return status;
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

/// Errors: the plugin does not have the query.
Status check_query(std::string_view call, const shoal_world* plugin, const shoal_query* query) {
    if (Status status = check_given(call, {{plugin, "the world"}, {query, "the query"}}); !status) return status;
    if (std::ranges::find(plugin->queries, query) != plugin->queries.end()) return {};
    return Status::error(concat(call, ": plugin \"", plugin->name, "\" has no such query; it was destroyed"));
}

int destroy(shoal_world* plugin, shoal_query* query, shoal_error* error) {
    if (Status status = check_query("destroy_query", plugin, query); !status) return answer(error, status);
    for (const GuestPass* pass : plugin->passes)
        if (pass->query == query)
            return refuse(error, concat("destroy_query: the query is that of pass \"", pass->name, "\""));
    if (query->num_loops != 0)
        return refuse(error, "destroy_query: for_each_batch() runs over the query; destroy it when that has returned");
    plugin->remove(*query);
    return 1;
}

std::uint64_t num_rows(const shoal_world* plugin, const shoal_query* query) {
    if (Status status = check_query("num_rows", plugin, query); !status) return complain(status), 0;
    return query->num_rows();
}

int for_each_batch(shoal_world* plugin, const shoal_query* query, int on_all_workers, shoal_pass_function run,
                   void* context, shoal_error* error) {
    Status status = check_query("for_each_batch", plugin, query);
    if (status) status = check_given("for_each_batch", {{reinterpret_cast<const void*>(run), "the function"}});
    if (status && !query->query)
        status = Status::error(concat("query \"", query->text, "\" names what no store keeps now"));
    if (status) {
        ++query->num_loops;
        query->run(on_all_workers != 0 ? &query->guest.world.executor() : nullptr, {run, context, true}, nullptr);
        --query->num_loops;
    }
    return answer(error, status);
}

/// Reads a definition. Errors: those of make_query(), or a list of names is invalid.
Status fill(PluginPass& pass, shoal_world& plugin, const shoal_pass_definition& given) {
    const struct {
        Names names;
        Array<std::string>& to;
    } lists[] = {{{given.reads, given.num_reads, "reads"}, pass.reads},
                 {{given.writes, given.num_writes, "writes"}, pass.writes},
                 {{given.reads_from, given.num_reads_from, "reads_from"}, pass.reads_from},
                 {{given.writes_to, given.num_writes_to, "writes_to"}, pass.writes_to},
                 {{given.runs_after, given.num_runs_after, "runs_after"}, pass.after},
                 {{given.runs_before, given.num_runs_before, "runs_before"}, pass.before}};
    for (const auto& [names, to] : lists) {
        if (Status status = names.check(); !status) return status;
        to = names.copies();
    }
    pass.every_frames = given.every_frames, pass.every_seconds = given.every_seconds;
    if (given.query == nullptr) return {};
    const Result<shoal_query*> query = make_query(plugin, given.query, {given.columns, given.num_columns, "columns"});
    if (query) pass.query = *query;
    return query.status();
}

constexpr std::uint32_t kPassFlags = SHOAL_NO_COMMANDS;

Status check(const shoal_pass_definition& given) {
    if (!reaches(given, &shoal_pass_definition::context))
        return Status::error("a pass does not begin with sizeof(shoal_pass_definition)");
    if (given.name == nullptr || *given.name == 0) return Status::error("a pass has no name");
    if (given.run == nullptr) return Status::error(concat("pass \"", given.name, "\" has no function"));
    if (!(given.every_seconds >= 0 && given.every_seconds <= 1e9f))
        return Status::error(concat("pass \"", given.name, "\": every_seconds is from 0 to 1e9"));
    if ((given.flags & ~kPassFlags) != 0)
        return Status::error(concat("pass \"", given.name, "\" has flags that this program does not know"));
    return {};
}

Status add_pass(shoal_world& plugin, const shoal_pass_definition& given) {
    if (Status status = check(given); !status) return status;
    const bool may_command = (given.flags & SHOAL_NO_COMMANDS) == 0;
    auto* const pass =
        make_owned<PluginPass>("plugins", plugin, given.name, PluginFunction{given.run, given.context, may_command});
    Status status = fill(*pass, plugin, given);
    if (!status)
        pass->destroy();
    else
        status = plugin.add(*pass);
    return status ? Status() : Status::error(concat("pass \"", given.name, "\": ", status.message()));
}

int add(shoal_world* plugin, const shoal_pass_definition* given, shoal_error* error) {
    const Status status = check_given("add_pass", {{plugin, "the world"}, {given, "the pass"}});
    return answer(error, status ? add_pass(*plugin, copy_given(*given)) : status);
}

int remove(shoal_world* plugin, const char* name, shoal_error* error) {
    if (Status status = check_given("remove_pass", {{plugin, "the world"}, {name, "the name"}}); !status)
        return answer(error, status);
    GuestPass* const pass = plugin->find_pass(name);
    if (pass == nullptr) return refuse(error, concat("the plugin has no pass \"", name, "\""));
    return answer(error, plugin->remove(*pass));
}

int enable(shoal_world* plugin, const char* name, int is_on, shoal_error* error) {
    const Status status = check_given("enable_pass", {{plugin, "the world"}, {name, "the name"}});
    return answer(error, status ? plugin->world.schedule().enable(name, is_on != 0) : status);
}

}  // namespace

void add_query_functions(shoal_host& table) {
    table.make_query = make, table.destroy_query = destroy;
    table.num_rows = num_rows, table.for_each_batch = for_each_batch;
    table.add_pass = add, table.remove_pass = remove, table.enable_pass = enable;
}

}  // namespace shoal

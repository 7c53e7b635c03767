#pragma once
// Queries over the tables of a database. See query.h.

#include "shoal/query/access.h"
#include "shoal/query/query_batch.h"
#include "shoal/query/query_run.h"
#include "shoal/query/query_tables.h"

namespace shoal {

template <class... Terms>
class DatabaseQuery {
public:
    static_assert(detail::kAreSound<Terms...>, "make queries with query<...>(database), which says what is wrong");
    using Loop = typename detail::LoopOf<detail::FieldTerms<Terms...>>::Type;

    /// One manager per Gather term's component, in any order.
    template <class... Others>
    explicit DatabaseQuery(Database& database, Others&... others)
        : fields_(database, detail::FieldTerms<Terms...>(), others...),
          filter_(database),
          tables_(detail::make_tables(database, detail::TermList<Terms...>())) {}

    /// The same query, on the rows of some zones only.
    DatabaseQuery in(const ZoneSet& zones) const {
        DatabaseQuery result = *this;
        result.tables_.set_zones(zones);
        return result;
    }
    /// The same query, on those blocks of 1,024 rows only in which a field that it reads was written at `stamp` or
    /// later, or to which rows were added or moved. 0: on all rows.
    DatabaseQuery changed_since(std::uint64_t stamp) const {
        static_assert(kWatches,
                      "changed_since() asks for writes to the fields that a query reads; add a Read or Maybe");
        DatabaseQuery result = *this;
        result.tables_.set_since(stamp);
        return result;
    }

    Database& database() const { return tables_.database(); }
    /// Rows in tables that match, those included whose toggled components are off. Cost: a step per table.
    std::uint64_t num_rows() const { return tables_.num_rows(); }
    /// Bytes of the named fields in one row, for rates.
    static constexpr std::size_t bytes_per_row() { return Fields::bytes_per_row(); }
    static constexpr bool writes() { return (Terms::kWrites || ...); }
    /// What a loop touches; for schedules.
    auto accesses() const { return fields_.accesses(tables_.database()); }

    // The checks stand in the functions that are called: a compiler's error is a line longer for each call between.

    /// Calls `function` for each row, and marks the written fields.
    template <class Function>
    void for_each(Function&& function) const {
        static_assert(Loop::template kFits<Function>,
                      "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
                      "const for Maybe and Gather, and optionally Commands& and an Entity before them");
        if constexpr (Loop::template kFits<Function>)
            for_each_range<Loop::template kTakesCommands<Function>>(
                [&](Commands* commands, DatabaseTable& table, RowRange rows) { run(commands, table, function, rows); });
    }
    /// The same on several threads; `function` is called from all of them at once.
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        start(executor, function).wait();
    }
    /// Starts the same and returns; wait() of the result marks what was written.
    /// Lifetime: this query and `function` outlive the result.
    template <class Function>
    auto start(Executor& executor, Function& function) const {
        static_assert(Loop::template kFits<Function>,
                      "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
                      "const for Maybe and Gather, and optionally Commands& and an Entity before them");
        auto call = [this, &function](Commands* commands, DatabaseTable& table, RowRange rows) {
            run(commands, table, function, rows);
        };
        return Run<decltype(call), Loop::template kTakesCommands<Function>>(*this, executor, call);
    }

    /// Calls `function` with a QueryBatch, and a Commands& before it if it takes one, for each range of rows, and marks
    /// the written fields.
    template <class Function>
    void for_each_batch(Function&& function) const {
        for_each_range<kBatchTakesCommands<Function>>([&](Commands* commands, DatabaseTable& table, RowRange rows) {
            run_batch(commands, table, function, rows);
        });
    }
    template <class Function>
    void for_each_batch(Executor& executor, Function&& function) const {
        auto call = [&](Commands* commands, DatabaseTable& table, RowRange rows) {
            run_batch(commands, table, function, rows);
        };
        Run<decltype(call), kBatchTakesCommands<Function>>(*this, executor, call).wait();
    }

private:
    template <class, class, bool>
    friend class QueryRun;
    template <class Call, bool kTakesCommands>
    using Run = QueryRun<DatabaseQuery, Call, kTakesCommands>;
    using Fields = detail::QueryFields<detail::FieldTerms<Terms...>>;

    using Filter = detail::RowFilter<detail::TermList<Terms...>>;
    using Batch = QueryBatch<detail::FieldTerms<Terms...>, typename Filter::Bits>;
    static constexpr bool kWatches = (detail::is_watched<Terms>() || ...);
    template <class Function>
    static constexpr bool kBatchTakesCommands = std::is_invocable_v<Function&, Commands&, Batch>;

    template <bool kTakesCommands, class Visit>
    void for_each_range(Visit&& visit) const {
        const DatabaseLock lock(database());
        const RowLock gathered(fields_.managers());
        refresh();
        Commands* const commands = kTakesCommands ? detail::open_commands(database(), 1) : nullptr;
        const detail::LoopScope scope;
        tables_.for_each_range([&](DatabaseTable& table, RowRange rows) {
            visit(commands, table, rows);
            fields_.mark_written(table, rows);
        });
    }
    void refresh() const {
        tables_.refresh();
        fields_.refresh(database());
    }
    Batch batch(DatabaseTable& table, RowRange rows) const {
        return Batch(table, rows, fields_.lanes(table), filter_.bits(table));
    }
    template <class Function>
    void run(Commands* commands, DatabaseTable& table, Function& function, RowRange rows) const {
        detail::bind_commands<Loop::template kTakesCommands<Function>>(
            function, commands, [&](auto& bound) { fields_.run(table, filter_.bits(table), bound, rows); });
    }
    template <class Function>
    void run_batch(Commands* commands, DatabaseTable& table, Function& function, RowRange rows) const {
        detail::bind_commands<kBatchTakesCommands<Function>>(function, commands,
                                                             [&](auto& bound) { bound(batch(table, rows)); });
    }

    Fields fields_;
    Filter filter_;
    QueryTables tables_;
};

}  // namespace shoal

#pragma once
// Queries over entities that have rows in a database and in managers. See query.h.
//
//     driver      its rows are gone through: the database's tables that match, or one manager, whoever has fewer
//     the rest    looked up by entity; who lacks a field of Read or Write is left out
//
// A loop on an executor is cut along the driver's rows. Where it writes fields of another side, whose rows are met in
// any order, it stays on the calling thread: two jobs would write one cache line.
// Thread: see query.h.

#include "shoal/query/query_database.h"
#include "shoal/query/query_join_fields.h"

namespace shoal {

/// `Ts` are the component types of the managers; `Fields` those of the terms that name fields.
template <class List, class FieldList, class... Ts>
class JoinQuery;

template <class... Terms, class... Fields, class... Ts>
class JoinQuery<detail::TermList<Terms...>, detail::TermList<Fields...>, Ts...> {
public:
    static_assert(detail::kAreSound<Terms...>, "make queries with query<...>(database), which says what is wrong");
    static_assert((!DescriptionOf<Ts>::kMany && ...), "a join needs managers with one component per entity");

    explicit JoinQuery(Database& database, Manager<Ts>&... managers)
        : fields_(database, managers...),
          filter_(database),
          tables_(detail::make_tables(database, Local())),
          managers_{&managers.core()...} {}

    /// The same query, on the rows of some zones only.
    JoinQuery in(const ZoneSet& zones) const {
        JoinQuery result = *this;
        result.tables_.set_zones(zones);
        return result;
    }

    /// The side that a loop would go through now: the database, or the core of a manager.
    const Store& driver() const {
        const ComponentManager* core = driving_manager();
        return core == nullptr ? static_cast<const Store&>(tables_.database()) : *core;
    }
    /// Rows of that side: no more are visited.
    std::uint64_t num_rows() const {
        const ComponentManager* core = driving_manager();
        return core == nullptr ? tables_.num_rows() : core->num_rows();
    }
    static constexpr std::size_t bytes_per_row() { return (0 + ... + sizeof(ValueOf<Fields::kMember>)); }
    static constexpr bool writes() { return (Terms::kWrites || ...); }
    auto accesses() const { return fields_.accesses(); }

    /// Calls `function` for each entity that has everything, and marks the written fields.
    template <class Function>
    void for_each(Function&& function) const {
        run(nullptr, function);
    }
    /// The same on several threads; `function` is called from all of them at once.
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        run(&executor, function);
    }

private:
    using JoinedFields = detail::JoinFields<detail::TermList<Fields...>, Ts...>;
    using Loop = typename JoinedFields::Loop;
    using Cursor = typename JoinedFields::Cursor;
    using Local = typename detail::LocalTerms<detail::TermList<Terms...>, Ts...>::List;
    using Filter = detail::RowFilter<Local>;

    /// nullptr: the database drives.
    ComponentManager* driving_manager() const { return fields_.smallest_manager(tables_.num_rows()); }

    template <class Function>
    void run(Executor* executor, Function& function) const {
        static_assert(Loop::template kFits<Function>,
                      "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
                      "const for Maybe and Gather, and optionally Commands& and an Entity before them");
        const DatabaseLock lock(tables_.database());
        const RowLock managers(managers_);
        tables_.refresh();
        if (ComponentManager* const driver = driving_manager())
            run_manager(executor, function, *driver);
        else
            run_tables(executor, function);
    }

    template <class Function>
    void run_tables(Executor* executor, Function& function) const {
        TableCuts cuts;
        tables_.for_each_range([&](DatabaseTable& table, RowRange rows) { cuts.add(table, rows); });
        cuts.cut();
        Executor* const threads = fields_.writes_beside(nullptr) ? nullptr : executor;
        run_chunks(threads, cuts.num_chunks(), function, [&](std::uint32_t chunk, auto& bound) {
            Cursor cursor;
            for (const TableRows& part : cuts.chunk(chunk)) {
                cursor.owners = part.table->entities().data();
                for (std::uint32_t row = part.rows.begin; row < part.rows.end; ++row)
                    visit(bound, cursor, {part.table, row}, nullptr, row);
            }
        });
        for (const TableRows& done : cuts.ranges())
            fields_.for_each_written(nullptr, [&](std::size_t field, std::uint32_t column) {
                const std::uint32_t first = done.table->first_column(fields_.component(field));
                done.table->table().mark_written(first + column, done.rows);
            });
    }

    template <class Function>
    void run_manager(Executor* executor, Function& function, ComponentManager& driver) const {
        const RowCuts cuts = cut_rows(driver.num_rows());
        Executor* const threads = fields_.writes_beside(&driver) ? nullptr : executor;
        run_chunks(threads, cuts.num_chunks, function, [&](std::uint32_t chunk, auto& bound) {
            Cursor cursor;
            cursor.owners = driver.table().entities().data();
            const RowRange rows = cuts.range(chunk);
            for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
                const DatabaseRow at = tables_.database().find(cursor.owners[row]);
                if (at && tables_.contains(*at.table, at.row)) visit(bound, cursor, at, &driver, row);
            }
        });
        fields_.for_each_written(&driver, [&](std::size_t, std::uint32_t column) {
            driver.table().mark_written(column, {0, driver.num_rows()});
        });
    }

    /// Calls run_chunk(chunk, function with the chunk's commands, if it takes them) for each chunk.
    template <class Function, class Chunk>
    void run_chunks(Executor* executor, std::uint32_t num_chunks, Function& function, Chunk&& run_chunk) const {
        constexpr bool kTakesCommands = Loop::template kTakesCommands<Function>;
        Commands* const commands = kTakesCommands ? detail::open_commands(tables_.database(), num_chunks) : nullptr;
        detail::run_chunks(executor, num_chunks, [&](std::uint32_t chunk) {
            detail::bind_commands<kTakesCommands>(function, commands + (kTakesCommands ? chunk : 0),
                                                  [&](auto& bound) { run_chunk(chunk, bound); });
        });
    }

    /// Calls `function` for one entity, if it has everything.
    template <class Function>
    void visit(Function& function, Cursor& cursor, DatabaseRow at, const ComponentManager* driver,
               std::uint32_t driver_row) const {
        const auto bits = filter_.bits(*at.table);
        if (Filter::Bits::kChooses && (bits.word(at.row / 64) >> (at.row % 64) & 1) == 0) return;
        if (!fields_.find_rows(cursor, at, driver, driver_row)) return;
        if (cursor.table != at.table) fields_.collect_lanes(cursor, *at.table);
        Loop::use_views(cursor, cursor.lanes.data,
                        [&](const auto&... views) { Loop::call(function, cursor, driver_row, views...); });
        fields_.mark_beside(cursor, driver);
    }

    JoinedFields fields_;
    Filter filter_;
    QueryTables tables_;
    ComponentManager* managers_[sizeof...(Ts)];
};

/// Makes a query over the rows of `database`; managers are there for the fields of their component types.
template <class... Terms, class... Ts>
auto query(Database& database, Manager<Ts>&... managers) {
    constexpr bool kHasManagers = ((!Terms::kGathers || detail::kIsOfManager<Terms, Ts...>) && ...);
    static_assert(sizeof...(Terms) > 0, "a query names at least one component type");
    static_assert(detail::kAreDeclared<Terms...>,
                  "a component is not declared; write SHOAL_COMPONENT(Name, fields...)");
    static_assert(detail::kNameFields<Terms...>,
                  "the member is not among the fields of its SHOAL_COMPONENT declaration");
    static_assert(detail::kNamesEachFieldOnce<Terms...>,
                  "a query names each field once; Write gives the old value too");
    static_assert(kHasManagers, "the manager of a gathered field is missing: query<...>(database, manager)");
    constexpr bool kJoins = ((detail::kIsOfManager<Terms, Ts...> && !Terms::kIsOptional) || ...);
    if constexpr (!detail::kAreSound<Terms...> || !kHasManagers)
        return;
    else if constexpr (kJoins)
        return JoinQuery<detail::TermList<Terms...>, detail::FieldTerms<Terms...>, Ts...>(database, managers...);
    else
        return DatabaseQuery<Terms...>(database, managers...);
}

}  // namespace shoal

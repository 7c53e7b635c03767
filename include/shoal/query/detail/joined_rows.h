#pragma once
// The rows of entities that several stores must have, or that one must lack.
//
//     driver      the store with the fewest rows: those of the database's tables that match, or those of a manager
//     the rest    looked up by entity; an entity that lacks a row, or has one that is ruled out, is left out
//
//     driver's rows       0 1 2 3 4 5 6 7
//     another store's     7 8 9 - - 3 4 0
//     runs                |---|     |-|-|       rows that follow each other in every store
//
// Each run is one loop, or one batch. A loop on an executor is cut along the driver's rows. Where it writes fields of
// another store, whose rows are met in any order, it stays on the calling thread: two jobs would write one cache line.
// Thread: as for the query.

#include "shoal/query/detail/database_side.h"
#include "shoal/query/detail/field_stores.h"
#include "shoal/query/detail/query_batch.h"

namespace shoal::detail {

/// Stands for the database of a join of managers.
template <class Stores>
struct NoDatabase {
    struct Lock {
        explicit Lock(const NoDatabase&) {}
    };
    template <class... Managers>
    explicit NoDatabase(Managers&...) {}
};

template <class Stores, class Terms, class Fields>
class JoinedRows;

template <class... Stores_, class... Terms, class... Fields>
class JoinedRows<From<Stores_...>, TermList<Terms...>, TermList<Fields...>> {
    using Stores = From<Stores_...>;
    using List = StoreList<Stores>;
    using Deciders = Deciding<Stores, Terms...>;
    using Fields_ = FieldStores<Stores, TermList<Fields...>>;
    static constexpr bool kHasDatabase = List::kHasDatabase;
    using Side = std::conditional_t<kHasDatabase, DatabaseSide<Stores, TermList<Terms...>, TermList<Fields...>>,
                                    NoDatabase<Stores>>;
    using DatabaseTable = typename Later<Stores, shoal::DatabaseTable>::Type;
    static constexpr std::size_t kNumStores = sizeof...(Stores_);
    static constexpr std::size_t kNumFields = sizeof...(Fields);
    static_assert(kNumFields <= 64);

public:
    using Loop = QueryLoop<Fields...>;
    using BatchTable = std::conditional_t<kHasDatabase, DatabaseTable, Table>;
    using Batch = QueryBatch<BatchTable, Stores, TermList<Fields...>, AllRows>;
    /// Keeps the rows where they are.
    struct Lock {
        explicit Lock(const JoinedRows& rows) : database(rows.lock_of(rows.side_)), managers(rows.stores_.managers()) {}
        const typename Side::Lock database;
        const RowLock managers;
    };

    explicit JoinedRows(Stores_&... stores) : stores_(stores...), side_(first(stores...)) {}

    void set_zones(const ZoneSet& zones) { side_.set_zones(zones); }
    void set_since(std::uint64_t stamp) { since_ = stamp; }
    auto& database() const { return side_.database(); }
    const Store& driver() const {
        const std::size_t store = driving_store();
        if constexpr (kHasDatabase)
            if (store == 0) return side_.database();
        return *stores_.core(store);
    }
    /// Rows of the driver: no more are visited.
    std::uint64_t num_rows() const { return num_rows_of(driving_store()); }
    auto accesses() const {
        if constexpr (kHasDatabase)
            return stores_.accesses(&side_.database());
        else
            return stores_.accesses(nullptr);
    }

    void refresh() const {
        if constexpr (kHasDatabase) side_.refresh();
    }
    bool can_share() const {
        constexpr bool kWrites[] = {Fields::kWrites..., false};
        const std::size_t driver = driving_store();
        for (std::size_t field = 0; field < kNumFields; ++field)
            if (kWrites[field] && Fields_::kStores[field] != driver) return false;
        return true;
    }
    bool is_small(std::uint32_t) const { return false; }

    template <class Visit>
    void for_each_part(Visit&& visit) const {
        const std::size_t driver = driving_store();
        if constexpr (kHasDatabase)
            if (driver == 0)
                return side_.for_each_table(
                    [&](DatabaseTable& table) { visit(QueryPart{&table.table(), &table, {0, table.num_rows()}}); });
        Table& table = stores_.core(driver)->table();
        visit(QueryPart{&table, nullptr, {0, table.num_rows()}});
    }
    template <class Function>
    void run(Function& function, const QueryPart& part) const {
        typename Loop::Lanes lanes;
        const DatabaseTable* of_lanes = nullptr;
        bool has_lanes = false;
        for_each_run(part, [&](const Run& run) {
            if (!has_lanes || run.table != of_lanes) collect(run, lanes);
            has_lanes = true, of_lanes = run.table;
            Loop::run(Places(*this, part, run), function, run.rows, lanes);
        });
    }
    template <class Function>
    void run_batch(Function& function, const QueryPart& part) const {
        for_each_run(part, [&](const Run& run) {
            typename Loop::Lanes lanes;
            collect(run, lanes);
            std::size_t field = 0;
            (begin_at<Fields>(run, field++, lanes), ...);
            const std::size_t store = kHasDatabase ? 0 : driver_of(part);
            const RowRange rows{run.first[store], run.first[store] + run.rows.size()};
            if constexpr (kHasDatabase)
                function(Batch(*run.table, rows, lanes, AllRows()));
            else
                function(Batch(*part.table, rows, lanes, AllRows()));
        });
    }
    /// Marks the driver's fields: those of other stores are marked run by run.
    void mark_written(const QueryPart& part) const {
        Run run;
        run.table = part.of_database, run.rows = part.rows;
        const std::size_t driver = driver_of(part);
        run.first[driver] = part.rows.begin;
        std::size_t field = 0;
        (mark<Fields>(run, field++, [driver](std::size_t store) { return store == driver; }), ...);
    }

private:
    /// Rows of the driver that follow each other in every store.
    struct Run {
        RowRange rows;
        DatabaseTable* table = nullptr;        // of the database, in which they are
        std::uint32_t first[kNumStores] = {};  // the row of the first, by store; any when nothing is required of it
        std::uint64_t missing = 0;             // bits of the Maybe fields of the database that they lack

        bool continues_with(const Run& next) const {
            for (std::size_t i = 0; i < kNumStores; ++i)
                if (Deciders::is_required(i) && next.first[i] != first[i] + rows.size()) return false;
            return next.table == table && next.missing == missing;
        }
    };

    /// Where the fields of a run's rows are.
    struct Places {
        static constexpr bool kChooses = false;
        const Entity* owners;
        const JoinedRows& joined;
        const Run& run;

        Places(const JoinedRows& rows, const QueryPart& part, const Run& of_run)
            : owners(part.table->entities().data()), joined(rows), run(of_run) {}
        template <std::size_t kField>
        SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
            if constexpr (Fields_::kLooksUp[kField]) return joined.stores_.template find_row<kField>(owners[owner_row]);
            if (kIsOptional[kField] && (run.missing >> kField & 1) != 0) return kNilRow;
            return run.first[Fields_::kStores[kField]] + (owner_row - run.rows.begin);
        }
        template <std::size_t kField>
        std::size_t size() const {
            constexpr std::size_t kStore = Fields_::kStores[kField];
            if constexpr (kHasDatabase && kStore == 0)
                return run.table->num_rows();
            else
                return joined.stores_.core(kStore)->num_rows();
        }
    };
    static constexpr bool kIsOptional[sizeof...(Fields) + 1] = {Fields::kIsOptional..., false};

    template <class First, class... Others>
    static First& first(First& first, Others&...) {
        return first;
    }
    auto& lock_of(const Side& side) const {
        if constexpr (kHasDatabase)
            return side.database();
        else
            return side;
    }

    std::uint64_t num_rows_of(std::size_t store) const {
        if constexpr (kHasDatabase)
            if (store == 0) return side_.num_rows();
        return stores_.core(store)->num_rows();
    }
    std::size_t driving_store() const {
        std::size_t fewest = Deciders::first_required();
        std::uint64_t num_rows = num_rows_of(fewest);
        for (std::size_t store = fewest + 1; store < kNumStores; ++store) {
            if (!Deciders::is_required(store) || stores_.core(store)->num_rows() >= num_rows) continue;
            fewest = store;
            num_rows = stores_.core(store)->num_rows();
        }
        return fewest;
    }
    std::size_t driver_of(const QueryPart& part) const {
        if (kHasDatabase && part.of_database != nullptr) return 0;
        std::size_t store = kHasDatabase ? 1 : 0;
        while (&stores_.core(store)->table() != part.table) ++store;
        return store;
    }

    /// Calls visit(run) for the rows of a part that are to be visited, and marks what was written beside the driver.
    template <class Visit>
    void for_each_run(const QueryPart& part, Visit&& visit) const {
        const std::size_t driver = driver_of(part);
        const Entity* const owners = part.table->entities().data();
        Run run;
        const auto end_run = [&] {
            if (run.rows.size() == 0) return;
            visit(std::as_const(run));
            std::size_t field = 0;
            (mark<Fields>(run, field++, [driver](std::size_t store) { return store != driver; }), ...);
            run.rows = {};
        };
        for (std::uint32_t row = part.rows.begin; row < part.rows.end; ++row) {
            Run next;
            next.rows = {row, row + 1}, next.table = part.of_database;
            if (!find(next, driver, owners[row])) continue;
            if (run.rows.end == row && run.rows.size() != 0 && run.continues_with(next)) {
                ++run.rows.end;
            } else {
                end_run();
                run = next;
            }
        }
        end_run();
    }
    /// Finds the rows of an entity in all stores. Returns whether it is to be visited.
    SHOAL_INLINE bool find(Run& run, std::size_t driver, Entity owner) const {
        if (!owner) return false;  // a hole
        run.first[driver] = run.rows.begin;
        if constexpr (kHasDatabase)
            if (!find_in_database(run, driver, owner)) return false;
        for (std::size_t store = kHasDatabase ? 1 : 0; store < kNumStores; ++store) {
            if (!Deciders::is_required(store) && !Deciders::is_excluded(store)) continue;
            if (store != driver) run.first[store] = stores_.core(store)->instance(owner).row;
            if (run.first[store] == kNilRow ? Deciders::is_required(store) : Deciders::is_excluded(store)) return false;
        }
        std::size_t field = 0;
        return since_ == 0 || (is_changed<Fields>(run, field++) || ...);
    }
    SHOAL_INLINE bool find_in_database(Run& run, std::size_t driver, Entity owner) const {
        if (driver != 0) {
            const auto at = side_.database().find(owner);
            if (!at || !side_.contains(*at.table)) return false;
            run.table = at.table, run.first[0] = at.row;
        }
        if (!side_.bits(*run.table).is_on(run.first[0])) return false;
        std::size_t field = 0;
        (note_missing<Fields>(run, field++), ...);
        return true;
    }
    template <class Field>
    SHOAL_INLINE void note_missing([[maybe_unused]] Run& run, [[maybe_unused]] std::size_t field) const {
        if constexpr (Field::kIsOptional && List::template kIsOfDatabase<Field>)
            if (!side_.has_field(*run.table, field, run.first[0])) run.missing |= std::uint64_t(1) << field;
    }
    template <class Field>
    bool is_changed([[maybe_unused]] const Run& run, [[maybe_unused]] std::size_t field) const {
        if constexpr (List::template kIsWatched<Field>) {
            using Place = FieldPlace<Field::kMember>;
            const std::uint32_t block = run.first[Fields_::kStores[field]] / kRowsPerStampBlock;
            const std::uint32_t first = first_column<Field>(run, field);
            if (first == kLacksColumns) return false;
            for (std::uint32_t c = first + Place::kFirstColumn; c < first + Place::kFirstColumn + Place::kNumColumns;
                 ++c)
                if (table_of<Field>(run, field).written_stamp(c, block) >= since_) return true;
        }
        return false;
    }

    template <class Field>
    Table& table_of([[maybe_unused]] const Run& run, std::size_t field) const {
        if constexpr (List::template kIsOfDatabase<Field>)
            return run.table->table();
        else
            return stores_.core(Fields_::kStores[field])->table();
    }
    template <class Field>
    std::uint32_t first_column([[maybe_unused]] const Run& run, [[maybe_unused]] std::size_t field) const {
        if constexpr (List::template kIsOfDatabase<Field>)
            return side_.first_column(*run.table, field);
        else
            return 0;
    }
    void collect(const Run& run, typename Loop::Lanes& lanes) const {
        std::size_t field = 0;
        ((collect_field<Fields>(run, field, lanes.data + Loop::first_lane(field)), ++field), ...);
    }
    template <class Field>
    void collect_field([[maybe_unused]] const Run& run, std::size_t field, std::byte** lanes) const {
        if constexpr (List::template kIsOfDatabase<Field>)
            side_.template collect<Field>(*run.table, field, lanes);
        else
            stores_.template collect<Field>(field, lanes);
    }
    /// Moves a field's lanes to the first row of a run; none for a Maybe field that its rows lack.
    template <class Field>
    static void begin_at(const Run& run, std::size_t field, typename Loop::Lanes& lanes) {
        std::byte** const first = lanes.data + Loop::first_lane(field);
        if (Field::kIsOptional && (run.missing >> field & 1) != 0)
            std::fill_n(first, FieldPlace<Field::kMember>::kNumColumns, nullptr);
        else if (!List::template kLooksUp<Field>)
            Loop::template advance<Field>(first, run.first[Fields_::kStores[field]]);
    }
    /// Marks the rows of a written field, if it is in a store that is meant.
    template <class Field, class IsMeant>
    SHOAL_INLINE void mark(const Run& run, std::size_t field, IsMeant&& is_meant) const {
        using Place = FieldPlace<Field::kMember>;
        if constexpr (Field::kWrites) {
            const std::size_t store = Fields_::kStores[field];
            if (!is_meant(store)) return;
            const RowRange rows{run.first[store], run.first[store] + run.rows.size()};
            const std::uint32_t first = first_column<Field>(run, field) + Place::kFirstColumn;
            for (std::uint32_t c = 0; c < Place::kNumColumns; ++c)
                mark_column(table_of<Field>(run, field), first + c, rows);
        }
    }

    Fields_ stores_;
    Side side_;
    std::uint64_t since_ = 0;
};

}  // namespace shoal::detail

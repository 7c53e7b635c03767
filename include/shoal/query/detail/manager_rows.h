#pragma once
// The rows of one manager, for queries of which no other store decides what rows are visited: one table, all rows of
// which match. Fields of other managers are looked up by entity.
// Thread: as for the query.

#include "shoal/job/row_ranges.h"
#include "shoal/query/detail/field_stores.h"
#include "shoal/query/detail/query_batch.h"

namespace shoal::detail {

template <class Stores, class Terms, class Fields>
class ManagerRows;

template <class... Stores, class... Terms, class... Fields>
class ManagerRows<From<Stores...>, TermList<Terms...>, TermList<Fields...>> {
    using Fields_ = FieldStores<From<Stores...>, TermList<Fields...>>;
    using List = StoreList<From<Stores...>>;
    static constexpr std::size_t kStore = Deciding<From<Stores...>, Terms...>::first_required();
    static constexpr bool kAnyLookedUp = (List::template kLooksUp<Fields> || ...);

public:
    using Loop = QueryLoop<Fields...>;
    using Batch = QueryBatch<Table, From<Stores...>, TermList<Fields...>, AllRows>;
    /// Keeps the rows where they are.
    struct Lock : RowLock {
        explicit Lock(const ManagerRows& rows) : RowLock(rows.stores_.owned_rows(), List::kNumManagers) {}
    };

    explicit ManagerRows(Stores&... stores) : stores_(stores...) {}

    void set_since(std::uint64_t stamp) { since_ = stamp; }
    void see_inactive() { sees_inactive_ = true; }
    const Store& driver() const { return core(); }
    std::uint32_t num_rows() const { return core().num_rows(); }
    auto accesses() const { return stores_.accesses(nullptr, nullptr); }

    void refresh() const {}
    /// Prepares a loop of several threads, and returns whether they may share it; whether it is one chunk anyhow.
    bool share() const { return true; }
    bool is_small(std::uint32_t grain) const { return num_rows() <= grain; }

    template <class Visit>
    void for_each_part(Visit&& visit) const {
        Table& table = core().table();
        if (SHOAL_LIKELY(since_ == 0)) return visit(QueryPart{&table, nullptr, {0, table.num_rows()}});
        std::uint32_t columns[Loop::kNumLanes + 1];
        std::size_t num_columns = 0;
        (add_watched<Fields>(columns, num_columns), ...);
        for (RowRange rows = next_changed(table, {columns, num_columns}, since_, 0); rows.size() != 0;
             rows = next_changed(table, {columns, num_columns}, since_, rows.end))
            visit(QueryPart{&table, nullptr, rows});
    }
    template <class Function>
    void run(Function& function, const QueryPart& part) const {
        const Entity* const owners = part.table->entities().data();
        const std::uint32_t num_rows = part.table->num_rows();
        for_each_run(left_out(), part, [&](RowRange rows) {
            if constexpr (kAnyLookedUp)
                Loop::run(LookedUpRows<Fields_>{owners, num_rows, stores_}, function, rows, lanes());
            else
                Loop::run(SameRows{owners, num_rows}, function, rows, lanes());
        });
    }
    template <class Function>
    void run_batch(Function& function, const QueryPart& part) const {
        for_each_run(left_out(), part, [&](RowRange rows) {
            typename Loop::Lanes moved = lanes();
            std::size_t field = 0;
            ((Loop::template advance<Fields>(moved.data + Loop::first_lane(field++), rows.begin)), ...);
            function(Batch(*part.table, rows, moved, AllRows()));
        });
    }
    void mark_written(const QueryPart& part) const { (mark<Fields>(part), ...); }

private:
    ComponentManager& core() const { return *stores_.core(kStore); }
    const InactiveEntities* left_out() const { return left_out_of(core().entity_manager(), sees_inactive_); }

    typename Loop::Lanes lanes() const {
        typename Loop::Lanes lanes;
        [[maybe_unused]] std::size_t field = 0;
        ((stores_.template collect<Fields>(field, lanes.data + Loop::first_lane(field)), ++field), ...);
        return lanes;
    }
    template <class Field>
    static void add_watched([[maybe_unused]] std::uint32_t* columns, [[maybe_unused]] std::size_t& num_columns) {
        using Layout = FieldLayout<Field::kMember>;
        if constexpr (List::template kIsWatched<Field>)
            for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c) columns[num_columns++] = Layout::kFirstColumn + c;
    }
    template <class Field>
    static void mark([[maybe_unused]] const QueryPart& part) {
        using Layout = FieldLayout<Field::kMember>;
        if constexpr (Field::kWrites)
            for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c)
                part.table->mark_written(Layout::kFirstColumn + c, part.rows);
    }

    Fields_ stores_;
    std::uint64_t since_ = 0;
    bool sees_inactive_ = (names_inactive<Terms>() || ...);
};

}  // namespace shoal::detail

#pragma once
// The rows of a database, for queries of which no manager decides what rows are visited: all tables whose archetypes
// match. Fields of managers are looked up by entity.
// Thread: as for the query.

#include "shoal/query/detail/database_side.h"
#include "shoal/query/detail/field_stores.h"
#include "shoal/query/detail/query_batch.h"

namespace shoal::detail {

template <class Stores, class Terms, class Fields>
class DatabaseRows;

template <class... Managers, class... Terms, class... Fields>
class DatabaseRows<From<Database, Managers...>, TermList<Terms...>, TermList<Fields...>> {
    using Stores = From<Database, Managers...>;
    using DatabaseTable = typename Later<Stores, shoal::DatabaseTable>::Type;
    using Fields_ = FieldStores<Stores, TermList<Fields...>>;
    using Side = DatabaseSide<Stores, TermList<Terms...>, TermList<Fields...>>;
    using List = StoreList<Stores>;
    using Bits = typename Side::Bits;
    static constexpr std::size_t kNumFields = sizeof...(Fields);
    static constexpr bool kAnyOptional = (Fields::kIsOptional || ...);

public:
    using Loop = QueryLoop<Fields...>;
    using Batch = QueryBatch<DatabaseTable, Stores, TermList<Fields...>, Bits>;
    /// Keeps the rows where they are.
    struct Lock {
        explicit Lock(const DatabaseRows& rows)
            : database(rows.side_.database()), managers(rows.stores_.owned_rows(), List::kNumManagers) {}
        const typename Side::Lock database;
        const RowLock managers;
    };

    explicit DatabaseRows(Database& database, Managers&... managers)
        : stores_(database, managers...), side_(database) {}

    void set_zones(const ZoneSet& zones) { side_.set_zones(zones); }
    void set_since(std::uint64_t stamp) { since_ = stamp; }
    void see_inactive() { sees_inactive_ = true; }
    Database& database() const { return side_.database(); }
    const Store& driver() const { return side_.database(); }
    std::uint64_t num_rows() const { return side_.num_rows(); }
    auto accesses() const { return stores_.accesses(&driver(), side_.zones()); }

    SHOAL_INLINE void refresh() const {
        side_.refresh();
        left_out_ = left_out_of(side_.database().entity_manager(), sees_inactive_);
    }
    bool share() const { return true; }
    bool is_small(std::uint32_t) const { return false; }

    template <class Visit>
    SHOAL_INLINE void for_each_part(Visit&& visit) const {
        side_.for_each_table([&, all_rows = since_ == 0](DatabaseTable& table) {
            if (SHOAL_LIKELY(all_rows))
                visit(QueryPart{&table.table(), &table, {0, table.num_rows()}});
            else
                visit_changed(table, visit);
        });
    }
    template <class Function>
    SHOAL_INLINE void run(Function& function, const QueryPart& part) const {
        DatabaseTable& table = *part.of_database;
        for_each_run(left_out_, part, [&](RowRange rows) SHOAL_INLINED {
            if constexpr (!kAnyOptional && !Bits::kChooses)
                Loop::run(SameRows{table.entities().data(), table.num_rows()}, function, rows, lanes(table));
            else
                Loop::run(RowLookup(*this, table), function, rows, lanes(table));
        });
    }
    template <class Function>
    void run_batch(Function& function, const QueryPart& part) const {
        DatabaseTable& table = *part.of_database;
        for_each_run(left_out_, part, [&](RowRange rows) {
            typename Loop::Lanes moved = lanes(table);
            [[maybe_unused]] std::size_t field = 0;
            ((Loop::template advance<Fields>(moved.data + Loop::first_lane(field++), rows.begin)), ...);
            function(Batch(table, rows, moved, side_.bits(table)));
        });
    }
    SHOAL_INLINE void mark_written(const QueryPart& part) const {
        [[maybe_unused]] std::size_t field = 0;
        (mark<Fields>(part, field++), ...);
    }

private:
    /// Where the fields of a row are, when not all are in the columns of its table, or not all are enabled.
    class RowLookup {
    public:
        static constexpr bool kChooses = Bits::kChooses, kMayBlend = true;
        const Entity* owners;

        RowLookup(const DatabaseRows& rows, const DatabaseTable& table)
            : owners(table.entities().data()),
              num_rows_(table.num_rows()),
              stores_(rows.stores_),
              bits_(rows.side_.bits(table)) {
            std::size_t field = 0;
            (note<Fields>(rows.side_, table, field++), ...);
        }
        SHOAL_INLINE std::uint64_t word(std::uint32_t index) const { return bits_.word(index); }
        template <std::size_t kField>
        SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
            if constexpr (Fields_::kLooksUp[kField]) {
                return stores_.template find_row<kField>(owners[owner_row]);
            } else if constexpr (kIsOptional[kField]) {
                if (!is_there_[kField]) return kNilRow;
                if constexpr (kFieldCanBeDisabled[kField])
                    if ((optional_bits_[kField][owner_row / 64] >> (owner_row % 64) & 1) == 0) return kNilRow;
                return owner_row;
            } else {
                return owner_row;
            }
        }
        template <std::size_t kField>
        std::size_t size() const {
            if constexpr (Fields_::kLooksUp[kField])
                return stores_.core(Fields_::kStores[kField])->num_rows();
            else
                return num_rows_;
        }

    private:
        static constexpr bool kIsOptional[sizeof...(Fields) + 1] = {Fields::kIsOptional..., false};
        static constexpr bool kFieldCanBeDisabled[sizeof...(Fields) + 1] = {
            kCanBeDisabled<typename Fields::Component>..., false};

        template <class Field>
        SHOAL_INLINE void note(const Side& side, const DatabaseTable& table, std::size_t field) {
            if constexpr (Field::kIsOptional && List::template kIsOfDatabase<Field>) {
                is_there_[field] = side.first_column(table, field) != kLacksColumns;
                if constexpr (kCanBeDisabled<typename Field::Component>)
                    optional_bits_[field] = side.presence(table, field);
            }
        }

        std::size_t num_rows_;
        const Fields_& stores_;
        const Bits bits_;
        bool is_there_[kNumFields + 1] = {};
        const std::uint64_t* optional_bits_[kNumFields + 1] = {};
    };

    template <class Visit>
    void visit_changed(DatabaseTable& table, Visit&& visit) const {
        std::uint32_t columns[Loop::kNumLanes + 1];
        std::size_t num_columns = 0, field = 0;
        (add_watched<Fields>(table, field++, columns, num_columns), ...);
        for (RowRange rows = next_changed(table.table(), {columns, num_columns}, since_, 0); rows.size() != 0;
             rows = next_changed(table.table(), {columns, num_columns}, since_, rows.end))
            visit(QueryPart{&table.table(), &table, rows});
    }
    template <class Field>
    void add_watched(const DatabaseTable& table, std::size_t field, std::uint32_t* columns,
                     std::size_t& num_columns) const {
        using Layout = FieldLayout<Field::kMember>;
        const std::uint32_t first = side_.first_column(table, field);
        if (!List::template kIsWatched<Field> || first == kLacksColumns) return;
        for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c)
            columns[num_columns++] = first + Layout::kFirstColumn + c;
    }
    SHOAL_INLINE typename Loop::Lanes lanes(DatabaseTable& table) const {
        typename Loop::Lanes lanes;
        [[maybe_unused]] std::size_t field = 0;
        ((collect<Fields>(table, field, lanes.data + Loop::first_lane(field)), ++field), ...);
        return lanes;
    }
    template <class Field>
    SHOAL_INLINE void collect(DatabaseTable& table, std::size_t field, std::byte** lanes) const {
        if constexpr (List::template kIsOfDatabase<Field>)
            side_.template collect<Field>(table, field, lanes);
        else
            stores_.template collect<Field>(field, lanes);
    }
    template <class Field>
    SHOAL_INLINE void mark(const QueryPart& part, std::size_t field) const {
        using Layout = FieldLayout<Field::kMember>;
        if constexpr (Field::kWrites) {
            const std::uint32_t first = side_.first_column(*part.of_database, field) + Layout::kFirstColumn;
            for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c) mark_column(*part.table, first + c, part.rows);
        }
    }

    Fields_ stores_;
    Side side_;
    std::uint64_t since_ = 0;
    bool sees_inactive_ = (names_inactive<Terms>() || ...);
    mutable const InactiveEntities* left_out_ = nullptr;  // of the loop that was begun last
};

}  // namespace shoal::detail

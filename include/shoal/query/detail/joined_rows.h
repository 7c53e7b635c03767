#pragma once
// The rows of entities that several stores must have, or that one must lack.
//
//     driver      the store with the fewest rows: those of the database's tables that match, or those of another store
//     the rest    looked up by entity; an entity that lacks a row, or has one that is ruled out, is left out
//
// The rows are found block by block (join_block.h); here a loop runs over the rows of a block that are visited. Where tables
// of the database are met, a loop runs for each of them, in the order in which the block meets them. Which store a term is
// about is known when the query is made.
//
// A loop on an executor is cut along the driver's rows, whatever it writes: an entity has one row in each store, so no
// two threads write one row. Where a loop writes fields of another store, whose rows are met in any order, two threads
// may write one cache line of it, and its marks. If the driver has several rows of an entity and each is visited, such a
// loop stays on the calling thread: they write the entity's row of the other store in turn.
// Thread: as for the query.

#include "shoal/query/detail/database_side.h"
#include "shoal/query/detail/field_stores.h"
#include "shoal/query/detail/join_block.h"
#include "shoal/query/detail/query_batch.h"
#include "shoal/query/detail/told_rows.h"

namespace shoal::detail {

template <class Stores, class Terms, class Fields>
class JoinedRows;

template <class... Stores_, class... Terms, class... Fields>
class JoinedRows<From<Stores_...>, TermList<Terms...>, TermList<Fields...>> {
    using Stores = From<Stores_...>;
    using List = StoreList<Stores>;
    using Side = DatabaseSide<Stores, TermList<Terms...>, TermList<Fields...>>;
    using Database = typename Later<Stores, shoal::Database>::Type;
    using DatabaseTable = typename Later<Stores, shoal::DatabaseTable>::Type;
    static constexpr bool kHasDatabase = List::kHasDatabase;
    static constexpr std::size_t kNumFields = sizeof...(Fields);

public:
    static constexpr std::size_t kNumAny = (0 + ... + num_any_of<Terms>());
    using Loop = QueryLoop<Fields...>;
    using BatchTable = std::conditional_t<std::is_same_v<Stores, From<ComponentDirectory>>, TableOfBatch,
                                          std::conditional_t<kHasDatabase, DatabaseTable, Table>>;
    using Batch = QueryBatch<BatchTable, Stores, TermList<Fields...>, AllRows>;
    /// Keeps the rows where they are.
    struct Lock {
        explicit Lock(const JoinedRows& rows)
            : database(rows.database_or_none()), locked(rows.owned_.data(), rows.owned_.size()) {}
        struct None {
            explicit None(std::nullptr_t) {}
        };
        static auto choose() {
            if constexpr (kHasDatabase)
                return std::type_identity<typename Side::Lock>();
            else
                return std::type_identity<None>();
        }
        const typename decltype(choose())::type database;
        const RowLock locked;
    };

    /// Of stores that a query was given: which one a term is about follows from their types.
    explicit JoinedRows(Stores_&... stores) : places_(given(stores...)) {
        if constexpr (kHasDatabase) side_.emplace_back(first(stores...));
        complete_places();
    }
    /// Of stores that were found by the terms' components. `database` is the one that they have, if any.
    JoinedRows(const TermStores& places, Database* database) : places_(places) {
        if (database != nullptr)
            side_.emplace_back(*database, [&](const Schema& component) { return is_of_database(component); });
        complete_places();
        for (std::uint8_t store = 0; store < places_.stores.size(); ++store)
            if (places_.stores[store].is_told) told_.push_back(ToldRows(store));
    }

    void set_zones(const ZoneSet& zones) {
        SHOAL_ASSERT(!side_.empty(), "zones are a database's; the world had none when the query was made");
        if (!places_.has_database()) places_.database = places_.add({&side().database()});
        places_.stores[places_.database].is_required = true;
        side_[0].set_zones(zones);
    }
    void set_since(std::uint64_t stamp) { since_ = stamp; }
    void see_inactive() { places_.sees_inactive = true; }
    void add_tag(Store& tags, StringId tag, bool excludes) {
        SHOAL_ASSERT(num_tags_ < kMostTags, "a query names at most four tags; test further ones in its function");
        ++num_tags_;
        places_.add_tag(tags, tag, excludes);
        owned_ = places_.locked();
    }
    auto& database() const {
        SHOAL_ASSERT(!side_.empty(), "the world had no database when the query was made");
        return side().database();
    }
    const Store& driver() const { return *places_.stores[driving_store()].store; }
    /// Rows of the driver: no more are visited.
    std::uint64_t num_rows() const { return num_rows_of(driving_store()); }
    auto accesses() const {
        std::array<Access, kNumFields + (kHasParents ? 1 : 0)> accesses;
        [[maybe_unused]] std::size_t field = 0;
        ((accesses[field] = access_of<Fields>(store_of(field)), ++field), ...);
        if constexpr (kHasDatabase)
            for (field = 0; field < kNumFields && places_.has_database(); ++field)  // parents may lie in other zones
                if (!kIsOfParent[field]) accesses[field] = accesses[field].of_query_in(side().zones());
        if constexpr (kHasParents) accesses[kNumFields] = reads(*places_.parents_store);
        return accesses;
    }

    void refresh() const {
        if constexpr (kHasDatabase)
            if (places_.has_database()) side().refresh();
        for (ToldRows& told : told_)
            told.begin(is_alone() || told.store != driving_store() ? 0 : places_.stores[told.store].rows->num_rows());
    }
    /// Prepares a loop of several threads. Returns whether they may share it.
    bool share() const {
        const std::size_t driver = driving_store();
        bool writes_others = false;
        [[maybe_unused]] std::size_t field = 0;
        ((writes_others |= places_.store_of[kTerms[field++]] != driver && Fields::kWrites), ...);
        if ((kMarksWhatItWatches<Fields> || ...) && writes_others && since_ != 0) return false;
        return ToldRows::share(told_, places_, driver, writes_others);
    }
    bool is_small(std::uint32_t grain) const { return is_alone() && num_rows() <= grain; }
    /// Whether all terms are about the database.
    bool is_in_database() const {
        return places_.stores.size() == 1 && places_.database == 0 && kNumAny == 0 && !kHasParents;
    }

    template <class Visit>
    void for_each_part(Visit&& visit) const {
        const std::size_t driver = driving_store();
        if constexpr (kHasDatabase)
            if (driver == places_.database)
                return side().for_each_table(
                    [&](DatabaseTable& table) { visit(QueryPart{&table.table(), &table, {0, table.num_rows()}}); });
        Table& table = places_.stores[driver].rows->table();
        visit(QueryPart{&table, nullptr, {0, table.num_rows()}});
    }
    template <class Function>
    void run(Function& function, const QueryPart& part) const {
        if (is_alone()) return run_alone(function, part);
        for_each_block(part, [&](const Block& block) {
            for_each_tables(block, [&](const Tables& tables, const std::uint64_t* words) {
                typename Loop::Lanes lanes;
                collect(tables, lanes);
                if (!are_side_by_side(block, words))
                    return Loop::run(RowsOfBlock(*this, block, words, tables), function, block.rows, lanes);
                begin_at(block, 0, lanes);
                Loop::run(SameRows{block.owners + block.rows.begin, block.rows.size()}, function,
                          RowRange{0, block.rows.size()}, lanes);
            });
            mark_others(block);
        });
    }
    template <class Function>
    void run_batch(Function& function, const QueryPart& part) const {
        if (is_alone()) return run_batches_alone(function, part);
        RowSpan run;
        const auto end_run = [&] {
            if (run.rows.size() != 0) call_with_batch(function, part, run.rows, run.tables.own, run.lanes);
        };
        for_each_block(part, [&](const Block& block) {
            for_each_tables(block, [&](const Tables& tables, const std::uint64_t* words) {
                for (std::uint32_t word = 0; word * 64 < block.size(); ++word)
                    for_each_bit(words[word], word * 64, [&](std::size_t bit) {
                        const auto i = static_cast<std::uint32_t>(bit);
                        if (continues(run, block, tables, i)) return static_cast<void>(++run.rows.end);
                        end_run();
                        begin_run(run, block, tables, i);
                    });
            });
            mark_others(block);
        });
        end_run();
    }
    /// Marks the driver's fields: those of other stores are marked block by block.
    void mark_written(const QueryPart& part) const {
        [[maybe_unused]] const std::size_t driver = places_.driver_of(part);
        [[maybe_unused]] std::size_t field = 0;
        (mark_part<Fields>(part, driver, field++), ...);
        for (ToldRows& told : told_) {
            if (told.store != driver) continue;
            if (is_alone())
                for_each_run(places_.left_out(), part, [&](RowRange rows) { told.add_all(rows); });
            else
                told.add_visited(part.rows);
        }
    }
    /// Called when a loop has ended and its fields are marked: tells stores that compute more from what was written.
    void finish_writes(Executor* executor) const {
        for (ToldRows& told : told_) {
            std::uint64_t columns = 0;
            [[maybe_unused]] std::size_t field = 0;
            ((columns |= written_columns<Fields>(told.store, field++)), ...);
            told.tell(*places_.stores[told.store].store, columns, executor);
        }
    }

private:
    static constexpr bool kIsOptional[sizeof...(Fields) + 1] = {Fields::kIsOptional..., false};
    static constexpr bool kIsOfParent[sizeof...(Fields) + 1] = {Fields::kIsOfParent..., false};
    static constexpr bool kLooksUp[sizeof...(Fields) + 1] = {List::template kLooksUp<Fields>..., false};
    static constexpr std::size_t kMostTags = std::is_same_v<Stores, From<ComponentDirectory>> ? 4 : 0;
    static constexpr std::size_t kNumOptional = (0 + ... + (Fields::kIsOptional ? 1 : 0));

    /// The term of each field.
    static constexpr std::array<std::size_t, kNumFields + 1> terms_of_fields() {
        std::array<std::size_t, kNumFields + 1> terms{};
        std::size_t field = 0, term = 0;
        ((Terms::kIsField ? void(terms[field++] = term++) : void(++term)), ...);
        return terms;
    }
    static constexpr auto kTerms = terms_of_fields();

    static constexpr bool kHasParents = (Terms::kIsOfParent || ...);

    template <class Field>
    static Access access_of(const JoinedStore& store) {
        if (store.is_derived) return {store.store, nullptr, {}, kAllFields, Field::kWrites};
        return field_access<Field::kMember>(*store.store, Field::kWrites);
    }

    // --- stores --------------------------------------------------------------------------------------------------

    void complete_places() {
        places_.sees_inactive = (names_inactive<Terms>() || ...);
        owned_ = places_.locked();
    }
    static TermStores given(Stores_&... stores) {
        using Deciders = Deciding<Stores, Terms...>;
        TermStores places(sizeof...(Terms));
        std::size_t number = 0, term = 0;
        ((places.add({&as_store(stores), rows_of(stores), false, false, Deciders::is_required(number),
                      Deciders::is_excluded(number)}),
          ++number),
         ...);
        ((places.store_of[term++] = static_cast<std::uint8_t>(List::template store_of<Terms>())), ...);
        if (kHasDatabase) places.database = 0;
        return places;
    }
    template <class S>
    static Store& as_store(S& store) {
        if constexpr (requires { store.core(); })
            return store.core();
        else
            return store;
    }
    template <class First, class... Others>
    static First& first(First& first, Others&...) {
        return first;
    }
    const Side& side() const { return side_[0]; }
    auto database_or_none() const {
        if constexpr (kHasDatabase)
            return places_.has_database() ? &side().database() : nullptr;
        else
            return nullptr;
    }
    bool is_of_database(const Schema& component) const {
        [[maybe_unused]] std::size_t term = 0;
        [[maybe_unused]] const auto is_it = [&]<class Term>(std::size_t number) {
            return !Term::kIsAny && places_.store_of[number] == places_.database &&
                   schema_of<typename Term::Component>().id() == component.id();
        };
        return (is_it.template operator()<Terms>(term++) || ...);
    }
    const JoinedStore& store_of(std::size_t field) const { return places_.stores[places_.store_of[kTerms[field]]]; }

    std::uint64_t num_rows_of(std::size_t store) const {
        if constexpr (kHasDatabase)
            if (store == places_.database) return side().num_rows();
        return places_.stores[store].rows->num_rows();
    }
    std::size_t driving_store() const {
        if constexpr (kHasDatabase)
            if (places_.has_database()) return places_.driver(side().num_rows());
        return places_.driver(0);
    }
    /// Whether there is one store, a manager's, of which every row is visited.
    bool is_alone() const { return since_ == 0 && places_.is_one_table(); }

    // --- blocks --------------------------------------------------------------------------------------------------

    /// A block with room for what is found.
    struct Block : JoinBlock {
        const std::uint32_t* rows_of[kNumFields + 1];  // by field: the rows in its store, or kNilRow
        std::uint32_t optional[kNumOptional + 1][kRows];
        std::uint32_t room[sizeof...(Stores_) + sizeof...(Terms) + kNumAny + kMostTags + 1][kRows];
        DatabaseTable* room_for_tables[kHasDatabase ? kRows : 1];
        DatabaseTable* room_for_parents[kHasParents ? kRows : 1];
        std::uint32_t parents[kHasParents ? kRows : 1];  // the rows in these tables, or kNilRow
    };
    /// The tables of the database that rows are in, and their parents; nullptr: none.
    struct Tables {
        DatabaseTable* own = nullptr;
        DatabaseTable* of_parents = nullptr;
    };
    template <class Visit>
    static void for_each_tables(const Block& block, Visit&& visit) {
        if constexpr (kHasParents)
            block.for_each_pair_of_tables([&](DatabaseTable* own, DatabaseTable* of_parents,
                                              const std::uint64_t* words) { visit(Tables{own, of_parents}, words); });
        else
            block.for_each_table([&](DatabaseTable* own, const std::uint64_t* words) { visit(Tables{own}, words); });
    }

    template <class Visit>
    void for_each_block(const QueryPart& part, Visit&& visit) const {
        Block block;
        block.found = block.room;
        if (kHasDatabase && places_.has_database()) block.tables = block.room_for_tables;
        FetchedColumn fetched[Loop::kNumLanes + 1];
        const JoinFinder finder = make_finder(fetched);
        for (std::uint32_t begin = part.rows.begin; begin < part.rows.end; begin += JoinBlock::kRows) {
            finder.find(block, part, begin);
            if constexpr (kHasParents) find_parents(block);
            [[maybe_unused]] std::size_t field = 0, optional = 0;
            (note_rows<Fields>(block, field++, optional), ...);
            if (since_ != 0) leave_out_unchanged(block);
            visit(static_cast<const Block&>(block));
            for (ToldRows& told : told_) told.add_block(block);
        }
    }
    /// Lifetime: that of `fetched`.
    JoinFinder make_finder(FetchedColumn* fetched) const {
        [[maybe_unused]] std::size_t num_fetched = 0, field = 0;
        (add_fetched<Fields>(fetched, num_fetched, field++), ...);
        if constexpr (kHasDatabase)
            if (places_.has_database()) return {places_, &side().match(), side().zones(), fetched, num_fetched};
        return {places_, nullptr, nullptr, fetched, num_fetched};
    }
    /// Columns of the database are fetched otherwise: a block may find rows of many tables.
    template <class Field>
    void add_fetched(FetchedColumn* fetched, std::size_t& num_fetched, std::size_t field) const {
        const std::uint8_t number = places_.store_of[kTerms[field]];
        if (Field::kIsOfParent || places_.stores[number].rows == nullptr) return;
        typename Loop::Lanes lanes;
        collect_field<Field>(nullptr, field, lanes.data);
        for (std::uint32_t c = 0; c < FieldLayout<Field::kMember>::kNumColumns; ++c)
            fetched[num_fetched++] = {number, lanes.data[c], FieldLayout<Field::kMember>::column_bytes(c)};
    }

    // --- rows of fields ------------------------------------------------------------------------------------------

    template <class Field>
    void note_rows(Block& block, std::size_t field, std::size_t& optional) const {
        const std::uint8_t store = places_.store_of[kTerms[field]];
        block.rows_of[field] = block.found[store];
        if constexpr (Field::kIsOptional) {
            std::uint32_t* const rows = block.optional[optional++];
            block.rows_of[field] = rows;
            for (std::uint32_t i = 0; i < block.size(); ++i)
                rows[i] = block.is_visited(i) ? optional_row<Field>(block, field, store, i) : kNilRow;
        }
    }
    template <class Field>
    std::uint32_t optional_row(const Block& block, std::size_t field, std::uint8_t store, std::uint32_t i) const {
        if constexpr (Field::kIsOfParent) {
            if (store == places_.database) {
                const std::uint32_t row = block.parents[i];
                return row != kNilRow && side().has_field(*block.room_for_parents[i], field, row) ? row : kNilRow;
            }
            return places_.parent_row(block.entities()[i], places_.stores[store]);
        } else {
            const std::uint32_t row = block.found[store][i];
            if constexpr (List::template kIsOfDatabase<Field>)
                if (store == places_.database)
                    return row != kNilRow && side().has_field(*block.table_of(i), field, row) ? row : kNilRow;
            return places_.stores[store].has(row) ? row : kNilRow;
        }
    }
    /// Finds the rows of the parents in the database, if fields of theirs lie there.
    void find_parents(Block& block) const {
        bool any = false;
        for (std::size_t field = 0; field < kNumFields; ++field)
            any |= kIsOfParent[field] && places_.store_of[kTerms[field]] == places_.database;
        if (!any) return;
        block.tables_of_parents = block.room_for_parents;
        for (std::uint32_t i = 0; i < block.size(); ++i) {
            const Entity parent = block.is_visited(i) ? places_.parent_of(block.entities()[i]) : kNullEntity;
            const auto at = side().database().find(parent);
            block.room_for_parents[i] = at.table, block.parents[i] = at ? at.row : kNilRow;
        }
    }

    template <class Field>
    std::uint32_t first_column([[maybe_unused]] const DatabaseTable* table, std::size_t field) const {
        if constexpr (List::template kHasColumnsInDatabase<Field>)
            if (places_.store_of[kTerms[field]] == places_.database)
                return table == nullptr ? kLacksColumns : side().first_column(*table, field);
        return places_.first_column[kTerms[field]];
    }
    /// The table with a field's columns: `of_database`, or that of another store.
    Table& table_of([[maybe_unused]] DatabaseTable* of_database, std::size_t field) const {
        if constexpr (kHasDatabase)
            if (store_of(field).rows == nullptr) return of_database->table();
        return store_of(field).rows->table();
    }
    /// The stamps of blocks that were asked for last. Most rows are in the same block as the row before.
    struct RecentStamps {
        struct One {
            const Table* table = nullptr;
            std::uint32_t column = 0, block = 0;
            std::uint64_t stamp = 0;
        } recent[8];

        std::uint64_t of(const Table& table, std::uint32_t column, std::uint32_t block) {
            One& one = recent[column % std::size(recent)];
            if (one.table != &table || one.column != column || one.block != block)
                one = {&table, column, block, table.written_stamp(column, block)};
            return one.stamp;
        }
    };
    void leave_out_unchanged(Block& block) const {
        RecentStamps stamps;
        block.for_each_visited([&](std::size_t bit) {
            const auto i = static_cast<std::uint32_t>(bit);
            std::size_t field = 0;
            if (!(is_changed<Fields>(block, field++, i, stamps) || ...)) block.leave_out(i);
        });
    }
    /// Whether what has changed is told by marks that the same loop makes: it reads and writes fields of a component that lies in
    /// one column.
    template <class Watched>
    static constexpr bool kMarksWhatItWatches =
        List::template kIsWatched<Watched> && FieldLayout<Watched::kMember>::kLayout == ColumnLayout::kWhole &&
        ((Fields::kWrites && std::is_same_v<typename FieldLayout<Watched::kMember>::Component,
                                            typename FieldLayout<Fields::kMember>::Component>) ||
         ...);
    template <class Field>
    bool is_changed([[maybe_unused]] const Block& block, [[maybe_unused]] std::size_t field,
                    [[maybe_unused]] std::uint32_t i, [[maybe_unused]] RecentStamps& stamps) const {
        if constexpr (List::template kIsWatched<Field>) {
            using Layout = FieldLayout<Field::kMember>;
            const std::uint32_t row = block.rows_of[field][i];
            const std::uint32_t first = row == kNilRow ? kLacksColumns : first_column<Field>(block.table_of(i), field);
            if (first == kLacksColumns) return false;
            const std::uint32_t begin = first + Layout::kFirstColumn;
            const Table& table = table_of(block.table_of(i), field);
            for (std::uint32_t c = begin; c < begin + Layout::kNumColumns; ++c)
                if (stamps.of(table, c, row / kRowsPerStampBlock) >= since_) return true;
        }
        return false;
    }

    // --- loops ---------------------------------------------------------------------------------------------------

    /// Where the fields of a block's rows are.
    struct RowsOfBlock {
        static constexpr bool kChooses = true, kMayBlend = false;
        const Entity* owners;
        const JoinedRows& joined;
        const Block& block;
        const std::uint64_t* words;
        const Tables tables;

        RowsOfBlock(const JoinedRows& rows, const Block& of_block, const std::uint64_t* visited, const Tables& in)
            : owners(of_block.owners), joined(rows), block(of_block), words(visited), tables(in) {}
        SHOAL_INLINE std::uint64_t word(std::uint32_t index) const { return words[index - block.rows.begin / 64]; }
        template <std::size_t kField>
        SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
            return block.rows_of[kField][owner_row - block.rows.begin];
        }
        template <std::size_t kField>
        std::size_t size() const {
            DatabaseTable* const table = kIsOfParent[kField] ? tables.of_parents : tables.own;
            if (joined.store_of(kField).rows == nullptr && table == nullptr) return 0;
            return joined.table_of(table, kField).num_rows();
        }
    };

    /// Whether all rows of a block are visited and follow each other in the store of every field.
    static bool are_side_by_side(const Block& block, const std::uint64_t* words) {
        if (!block.are_all(words)) return false;
        for (std::size_t field = 0; field < kNumFields; ++field)
            if (!block.follow_each_other(block.rows_of[field])) return false;
        return true;
    }
    /// Rows that follow each other in every store, perhaps over several blocks.
    struct RowSpan {
        RowRange rows;  // of the table that a batch shows
        Tables tables;
        std::uint32_t first[kNumFields + 1] = {};  // by field
        typename Loop::Lanes lanes;
    };

    void begin_run(RowSpan& run, const Block& block, const Tables& tables, std::uint32_t i) const {
        const std::uint32_t row = row_in_batch(block, i);
        run.rows = {row, row + 1}, run.tables = tables, run.lanes = {};
        collect(tables, run.lanes);
        begin_at(block, i, run.lanes);
        for (std::size_t field = 0; field < kNumFields; ++field) run.first[field] = block.rows_of[field][i];
    }
    bool continues(const RowSpan& run, const Block& block, const Tables& tables, std::uint32_t i) const {
        const std::uint32_t size = run.rows.size();
        if (size == 0 || run.tables.own != tables.own || run.tables.of_parents != tables.of_parents ||
            row_in_batch(block, i) != run.rows.end)
            return false;
        for (std::size_t field = 0; field < kNumFields; ++field) {
            const std::uint32_t expected = run.first[field] == kNilRow ? kNilRow : run.first[field] + size;
            if (!kLooksUp[field] && block.rows_of[field][i] != expected) return false;
        }
        return true;
    }
    /// The row of a place in the table that a batch shows: the database's if it has one, or else the driver's.
    std::uint32_t row_in_batch(const Block& block, std::uint32_t i) const {
        const bool shows_database =
            kHasDatabase && places_.has_database() && block.found[places_.database][i] != kNilRow;
        return block.found[shows_database ? places_.database : block.driver][i];
    }
    template <class Function>
    static void call_with_batch(Function& function, const QueryPart& part, RowRange rows,
                                [[maybe_unused]] DatabaseTable* table, const typename Loop::Lanes& lanes) {
        if constexpr (std::is_same_v<Stores, From<ComponentDirectory>>)
            function(
                Batch(TableOfBatch{table != nullptr ? table->table() : *part.table, table}, rows, lanes, AllRows()));
        else if constexpr (kHasDatabase)
            function(Batch(*table, rows, lanes, AllRows()));
        else
            function(Batch(*part.table, rows, lanes, AllRows()));
    }

    template <class Function>
    void run_alone(Function& function, const QueryPart& part) const {
        typename Loop::Lanes lanes;
        collect({}, lanes);
        const SameRows places{part.table->entities().data(), part.table->num_rows()};
        for_each_run(places_.left_out(), part, [&](RowRange rows) { Loop::run(places, function, rows, lanes); });
    }
    template <class Function>
    void run_batches_alone(Function& function, const QueryPart& part) const {
        for_each_run(places_.left_out(), part, [&](RowRange rows) {
            typename Loop::Lanes lanes;
            collect({}, lanes);
            [[maybe_unused]] std::size_t field = 0;
            ((Loop::template advance<Fields>(lanes.data + Loop::first_lane(field++), rows.begin)), ...);
            call_with_batch(function, part, rows, nullptr, lanes);
        });
    }
    // These two are always inlined. In a large source with -O3, g++ 12.2 otherwise takes lanes for null that they set; it
    // does not with -fno-ipa-modref.
    SHOAL_INLINE void collect([[maybe_unused]] const Tables& tables, typename Loop::Lanes& lanes) const {
        [[maybe_unused]] std::size_t field = 0;
        ((collect_field<Fields>(Fields::kIsOfParent ? tables.of_parents : tables.own, field,
                                lanes.data + Loop::first_lane(field)),
          ++field),
         ...);
    }
    template <class Field>
    SHOAL_INLINE void collect_field(DatabaseTable* table, std::size_t field, std::byte** lanes) const {
        const std::uint32_t first = first_column<Field>(table, field);
        if (first != kLacksColumns) Loop::template collect<Field>(table_of(table, field), first, lanes);
    }
    /// Moves the lanes to the rows of place `i`; none for a field that the entity lacks.
    void begin_at(const Block& block, [[maybe_unused]] std::uint32_t i, typename Loop::Lanes& lanes) const {
        [[maybe_unused]] std::size_t field = 0;
        (begin_field_at<Fields>(block.rows_of[field], i, lanes.data + Loop::first_lane(field), field), ...);
    }
    template <class Field>
    static void begin_field_at(const std::uint32_t* rows, std::uint32_t i, std::byte** first, std::size_t& field) {
        ++field;
        if (rows[i] == kNilRow)
            std::fill_n(first, FieldLayout<Field::kMember>::kNumColumns, nullptr);
        else
            Loop::template advance<Field>(first, rows[i]);
    }

    // --- marks ---------------------------------------------------------------------------------------------------

    template <class Field>
    void mark_part(const QueryPart& part, std::size_t driver, std::size_t field) const {
        if (!Field::kWrites || places_.store_of[kTerms[field]] != driver) return;
        const std::uint32_t first =
            first_column<Field>(part.of_database, field) + FieldLayout<Field::kMember>::kFirstColumn;
        for (std::uint32_t c = 0; c < FieldLayout<Field::kMember>::kNumColumns; ++c)
            mark_column(*part.table, first + c, part.rows);
    }
    /// Marks what was written in other stores than the driver.
    void mark_others([[maybe_unused]] const Block& block) const {
        if constexpr ((Fields::kWrites || ...))
            block.for_each_table([&](DatabaseTable* table, const std::uint64_t* words) {
                std::size_t field = 0;
                (mark_other<Fields>(block, table, words, field++), ...);
            });
    }
    template <class Field>
    void mark_other(const Block& block, DatabaseTable* table, const std::uint64_t* words, std::size_t field) const {
        using Layout = FieldLayout<Field::kMember>;
        if (!Field::kWrites || places_.store_of[kTerms[field]] == block.driver) return;
        const std::uint32_t first = first_column<Field>(table, field) + Layout::kFirstColumn;
        for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c)
            table_of(table, field).mark_shared(first + c, block.rows_of[field], {words, Block::kWords});
    }

    /// A bit for each column of a field if it is one of the store, and is written.
    template <class Field>
    std::uint64_t written_columns(std::uint8_t store, std::size_t field) const {
        using Layout = FieldLayout<Field::kMember>;
        if (!Field::kWrites || places_.store_of[kTerms[field]] != store) return 0;
        return (~std::uint64_t(0) >> (64 - Layout::kNumColumns))
               << (places_.first_column[kTerms[field]] + Layout::kFirstColumn);
    }

    TermStores places_;
    struct NoSide {};
    Array<std::conditional_t<kHasDatabase, Side, NoSide>> side_{Owner("query")};  // one, if there is a database
    Array<OwnedRows*> owned_{Owner("query")};                                     // locked while a loop runs
    // By store that is told what was written; used by the loop that runs. A query has one loop at a time.
    mutable Array<ToldRows> told_{Owner("query")};
    std::uint64_t since_ = 0;
    std::size_t num_tags_ = 0;
};

}  // namespace shoal::detail

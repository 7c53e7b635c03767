#pragma once
// The rows of entities that several stores must have, or that one must lack.
//
//     driver      the store with the fewest rows: those of the database's tables that match, or those of another store
//     the rest    looked up by entity; an entity that lacks a row, or has one that is ruled out, is left out
//
//     driver's rows       0 1 2 3 4 5 6 7        a block of 256 rows
//     another store's     7 8 9 - - 3 4 0        looked up for the whole block; what is found is prefetched
//     visited             1 1 1 0 0 1 1 1        a bit for each row
//
// Then a loop runs over the rows of the block that are visited. Where tables of the database are met, a loop runs for each
// of them, in the order in which the block meets them. Which store a term is about is known when the query is made.
//
// A loop on an executor is cut along the driver's rows. Where it writes fields of another store, whose rows are met in
// any order, it stays on the calling thread: two jobs would write one cache line.
// Thread: as for the query.

#include "shoal/query/detail/database_side.h"
#include "shoal/query/detail/field_stores.h"
#include "shoal/query/detail/query_batch.h"

namespace shoal::detail {

/// A store of a join. A row of it may be required of an entity, ruled out, or neither.
struct JoinedStore {
    Store* store = nullptr;
    OwnedRows* rows = nullptr;  ///< nullptr: a database
    bool needs_parent = false;  ///< see OwnedColumns
    bool is_derived = false;    ///< fields change when others of the store are written: an access is to all of it
    bool is_required = false, is_excluded = false;

    bool has(std::uint32_t row) const {
        return row != kNilRow && (!needs_parent || rows->table().links(LinkColumn::kTreeParent)[row] != kNilRow);
    }
};

/// One of the component types of an AnyOf term.
struct AnyPlace {
    std::uint8_t term = 0, store = 0;
    std::uint32_t component = 0;  ///< of the database
};

/// The stores of a query's terms, of which some are AnyOf terms with `kNumAny` component types in all.
template <std::size_t kNumTerms, std::size_t kNumAny>
struct TermPlaces {
    static constexpr std::size_t kMostStores = kNumTerms + kNumAny + 1;
    static constexpr std::uint8_t kNone = 0xFF;

    bool has_database() const { return database != kNone; }

    /// Returns the number of a store, which is added if need be.
    std::uint8_t add(const JoinedStore& store) {
        for (std::uint8_t i = 0; i < num_stores; ++i)
            if (stores[i].store == store.store && stores[i].rows == store.rows &&
                stores[i].needs_parent == store.needs_parent)
                return i;
        stores[num_stores] = store;
        return num_stores++;
    }

    JoinedStore stores[kMostStores];
    std::uint8_t num_stores = 0;
    std::uint8_t database = kNone;               ///< its number; kNone: it has no part in the join
    std::uint8_t store_of[kNumTerms] = {};       ///< by term
    std::uint32_t first_column[kNumTerms] = {};  ///< by term; of the database: any
    Store* parents_store = nullptr;
    OwnedRows* parents = nullptr;  ///< whose links say who is whose parent
    AnyPlace any[kNumAny + 1];
    std::size_t num_any = 0;
};

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
    static constexpr std::uint32_t kBlockRows = 256;  // what a block looks up stays in the innermost caches
    static constexpr std::uint32_t kFetchDistance = 32;

public:
    static constexpr std::size_t kNumAny = (0 + ... + num_any_of<Terms>());
    using Places = TermPlaces<sizeof...(Terms), kNumAny>;
    using Loop = QueryLoop<Fields...>;
    using BatchTable = std::conditional_t<std::is_same_v<Stores, From<World>>, TableOfBatch,
                                          std::conditional_t<kHasDatabase, DatabaseTable, Table>>;
    using Batch = QueryBatch<BatchTable, Stores, TermList<Fields...>, AllRows>;
    /// Keeps the rows where they are.
    struct Lock {
        explicit Lock(const JoinedRows& rows) : database(rows.database_or_none()), locked(rows.owned_) {}
        struct None {
            explicit None(std::nullptr_t) {}
        };
        const std::conditional_t<kHasDatabase, typename Side::Lock, None> database;
        const RowLock locked;
    };

    /// Of stores that a query was given: which one a term is about follows from their types.
    explicit JoinedRows(Stores_&... stores) : places_(given(stores...)) {
        if constexpr (kHasDatabase) side_.emplace_back(first(stores...));
        note_locked();
    }
    /// Of stores that were found by the terms' components. `database` is the one that they have, if any.
    JoinedRows(const Places& places, Database* database) : places_(places) {
        if (database != nullptr)
            side_.emplace_back(*database, [&](const Schema& component) { return is_of_database(component); });
        note_locked();
    }

    void set_zones(const ZoneSet& zones) {
        SHOAL_ASSERT(!side_.empty(), "zones are a database's; the world had none when the query was made");
        if (places_.database == kNone) places_.database = places_.add({&side().database()});
        places_.stores[places_.database].is_required = true;
        side_[0].set_zones(zones);
    }
    void set_since(std::uint64_t stamp) { since_ = stamp; }
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
        if constexpr (kHasParents) accesses[kNumFields] = reads(*places_.parents_store);
        return accesses;
    }

    void refresh() const {
        if constexpr (kHasDatabase)
            if (places_.database != kNone) side().refresh();
    }
    bool can_share() const {
        constexpr bool kWrites[] = {Fields::kWrites..., false};
        const std::size_t driver = driving_store();
        for (std::size_t field = 0; field < kNumFields; ++field)
            if (kWrites[field] && places_.store_of[kTerms[field]] != driver) return false;
        return true;
    }
    bool is_small(std::uint32_t grain) const { return is_alone() && num_rows() <= grain; }
    /// Whether all terms are about the database.
    bool is_in_database() const { return places_.num_stores == 1 && places_.database == 0 && kNumAny == 0; }

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
            for_each_table_of(block, [&](DatabaseTable* table, const std::uint64_t* words) {
                typename Loop::Lanes lanes;
                collect(table, lanes);
                if (!are_side_by_side(block, words))
                    return Loop::run(RowsOfBlock(*this, block, words, table), function, block.rows, lanes);
                begin_at(block, 0, lanes);
                Loop::run(SameRows{block.owners + block.rows.begin, block.rows.size()}, function,
                          RowRange{0, block.rows.size()}, lanes);
            });
            mark_others(block);
        });
    }
    template <class Function>
    void run_batch(Function& function, const QueryPart& part) const {
        if (is_alone()) return call_with_batch(function, part, part.rows, nullptr, lanes_alone(part));
        Run run;
        const auto end_run = [&] {
            if (run.rows.size() != 0) call_with_batch(function, part, run.rows, run.table, run.lanes);
        };
        for_each_block(part, [&](const Block& block) {
            for_each_table_of(block, [&](DatabaseTable* table, const std::uint64_t* words) {
                for (std::uint32_t word = 0; word * 64 < block.size(); ++word)
                    for_each_bit(words[word], word * 64, [&](std::size_t bit) {
                        const auto i = static_cast<std::uint32_t>(bit);
                        if (continues(run, block, table, i)) return static_cast<void>(++run.rows.end);
                        end_run();
                        begin_run(run, block, table, i);
                    });
            });
            mark_others(block);
        });
        end_run();
    }
    /// Marks the driver's fields: those of other stores are marked block by block.
    void mark_written(const QueryPart& part) const {
        [[maybe_unused]] const std::size_t driver = driver_of(part);
        [[maybe_unused]] std::size_t field = 0;
        (mark_part<Fields>(part, driver, field++), ...);
    }

private:
    static constexpr std::uint8_t kNone = Places::kNone;
    static constexpr bool kIsOptional[sizeof...(Fields) + 1] = {Fields::kIsOptional..., false};
    static constexpr bool kLooksUp[sizeof...(Fields) + 1] = {List::template kLooksUp<Fields>..., false};
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

    static Places given(Stores_&... stores) {
        using Deciders = Deciding<Stores, Terms...>;
        Places places;
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
            return places_.database == kNone ? nullptr : &side().database();
        else
            return nullptr;
    }
    bool is_of_database(const Schema& component) const {
        std::size_t term = 0;
        const auto is_it = [&]<class Term>(std::size_t number) {
            return !Term::kIsAny && places_.store_of[number] == places_.database &&
                   schema_of<typename Term::Component>().id() == component.id();
        };
        return (is_it.template operator()<Terms>(term++) || ...);
    }
    void note_locked() {
        owned_.clear();
        for (std::size_t i = 0; i < places_.num_stores; ++i)
            if (places_.stores[i].rows != nullptr) owned_.push_back(places_.stores[i].rows);
        if (places_.parents != nullptr) owned_.push_back(places_.parents);
    }
    const JoinedStore& store_of(std::size_t field) const { return places_.stores[places_.store_of[kTerms[field]]]; }

    std::uint64_t num_rows_of(std::size_t store) const {
        if constexpr (kHasDatabase)
            if (store == places_.database) return side().num_rows();
        return places_.stores[store].rows->num_rows();
    }
    /// Requires: some store is required.
    std::size_t driving_store() const {
        std::size_t fewest = kNone;
        std::uint64_t num_rows = ~std::uint64_t(0);
        for (std::size_t i = 0; i < places_.num_stores; ++i) {
            const JoinedStore& store = places_.stores[i];
            if (!store.is_required) continue;
            // An entity may have several rows there, and is visited once.
            if (fewest != kNone && store.rows != nullptr && store.rows->schema().many()) continue;
            const bool is_last_choice = fewest != kNone && places_.stores[fewest].rows != nullptr &&
                                        places_.stores[fewest].rows->schema().many();
            const std::uint64_t count = num_rows_of(i);
            if (count >= num_rows && !is_last_choice) continue;
            fewest = i;
            num_rows = count;
        }
        return fewest;
    }
    std::size_t driver_of(const QueryPart& part) const {
        if (part.of_database != nullptr) return places_.database;
        std::size_t store = 0;
        const auto drives = [&](const JoinedStore& one) {
            return one.is_required && one.rows != nullptr && &one.rows->table() == part.table;
        };
        while (!drives(places_.stores[store])) ++store;
        return store;
    }
    /// Whether there is one store, a manager's, of which every row is visited.
    bool is_alone() const {
        const JoinedStore& only = places_.stores[0];
        return places_.num_stores == 1 && only.rows != nullptr && !only.needs_parent && !visits_each_once(only) &&
               !only.is_excluded && since_ == 0 && places_.parents == nullptr && kNumAny == 0;
    }

    // --- blocks --------------------------------------------------------------------------------------------------

    /// Rows of the driver, and where their entities are in the other stores.
    struct Block {
        RowRange rows;
        std::size_t driver = 0;
        const Entity* owners = nullptr;  // of the driver's table
        DatabaseTable* of_database = nullptr;
        std::uint64_t words[kBlockRows / 64];          // the rows to visit
        const std::uint32_t* rows_of[kNumFields + 1];  // by field: the rows in its store, or kNilRow
        std::uint32_t found[Places::kMostStores][kBlockRows];
        std::uint32_t optional[kNumOptional + 1][kBlockRows];
        DatabaseTable* tables[kHasDatabase ? kBlockRows : 1];  // if the database does not drive

        std::uint32_t size() const { return rows.size(); }
        std::span<const Entity> entities() const { return {owners + rows.begin, size()}; }
        DatabaseTable* table_of([[maybe_unused]] std::uint32_t i) const {
            if constexpr (!kHasDatabase)
                return nullptr;
            else
                return of_database != nullptr ? of_database : tables[i];
        }
        bool is_visited(std::uint32_t i) const { return (words[i / 64] >> (i % 64) & 1) != 0; }
        void leave_out(std::uint32_t i) { words[i / 64] &= ~(std::uint64_t(1) << (i % 64)); }
        template <class Visit>
        void for_each_visited(Visit&& visit) const {
            for (std::uint32_t word = 0; word * 64 < size(); ++word) for_each_bit(words[word], word * 64, visit);
        }
    };

    template <class Visit>
    void for_each_block(const QueryPart& part, Visit&& visit) const {
        Block block;
        block.driver = driver_of(part), block.owners = part.table->entities().data();
        block.of_database = part.of_database;
        for (DatabaseTable*& table : block.tables) table = nullptr;  // without one, or where it is not looked up
        for (std::uint32_t begin = part.rows.begin; begin < part.rows.end; begin += kBlockRows) {
            block.rows = {begin, part.rows.end - begin < kBlockRows ? part.rows.end : begin + kBlockRows};
            find(block);
            visit(std::as_const(block));
        }
    }
    void find(Block& block) const {
        choose_of_driver(block);
        for (std::size_t i = 0; i < places_.num_stores; ++i) {
            if (i == block.driver) continue;
            if (i == places_.database)
                find_in_database(block, i);
            else
                find_in(i, block);
        }
        for (std::size_t i = 0; i < places_.num_any;) i = leave_out_without_any(block, i);
        [[maybe_unused]] std::size_t field = 0, optional = 0;
        (note_rows<Fields>(block, field++, optional), ...);
        if (since_ != 0) leave_out_unchanged(block);
    }
    void choose_of_driver(Block& block) const {
        const JoinedStore& store = places_.stores[block.driver];
        for (std::uint32_t i = 0; i < block.size(); ++i) block.found[block.driver][i] = block.rows.begin + i;
        for (std::uint32_t word = 0; word < kBlockRows / 64; ++word) {
            const std::uint32_t num_left = block.size() > word * 64 ? block.size() - word * 64 : 0;
            const std::uint64_t all = store.is_excluded ? 0 : ~std::uint64_t(0);
            block.words[word] = num_left >= 64 ? all : all & ((std::uint64_t(1) << num_left) - 1);
        }
        if constexpr (kHasDatabase && Side::Bits::kChooses) {
            if (block.driver != places_.database) return leave_out_holes(block, store);
            const typename Side::Bits bits = side().bits(*block.of_database);
            for (std::uint32_t word = 0; word * 64 < block.size(); ++word)
                block.words[word] &= bits.word(block.rows.begin / 64 + word);
        } else {
            leave_out_holes(block, store);
        }
    }
    /// Whether an entity may have several rows in a store, and a query over more than these visits it once.
    static bool visits_each_once(const JoinedStore& store) {
        return sizeof...(Terms) > 1 && store.rows->schema().many();
    }
    static void leave_out_holes(Block& block, const JoinedStore& store) {
        if (store.rows == nullptr) return;
        const bool visits_once = visits_each_once(store);
        if (!visits_once && !store.needs_parent && store.rows->table().num_holes() == 0) return;
        for (std::uint32_t i = 0; i < block.size(); ++i) {
            const Entity owner = block.entities()[i];
            const std::uint32_t row = block.rows.begin + i;
            if (!owner || !store.has(row) || (visits_once && store.rows->find(owner) != row)) block.leave_out(i);
        }
    }
    /// Looks the entities of a block up in a store, fetches the fields of the rows that it finds, and leaves out those
    /// that must have a row and have none, or must have none.
    void find_in(std::size_t number, Block& block) const {
        const JoinedStore& store = places_.stores[number];
        std::uint32_t* const found = block.found[number];
        std::uint64_t had[kBlockRows / 64] = {};
        const bool fetches = store.rows->num_rows() > kRowsPerStampBlock;
        const Fetch fetch = fetches ? fetch_of(number) : Fetch();
        store.rows->index().find_each(
            block.entities(), fetches ? kFetchDistance : 0,
            [&](std::size_t i, std::uint32_t row) __attribute__((always_inline)) {
                found[i] = row;
                had[i / 64] |= std::uint64_t(row != kNilRow) << (i % 64);
                for (std::size_t f = 0; f < fetch.num_columns; ++f)
                    __builtin_prefetch(fetch.columns[f] + std::size_t(row) * fetch.bytes[f]);
            },
            [](std::uint32_t) {});
        for (std::uint32_t word = 0; word < kBlockRows / 64; ++word) {
            if (SHOAL_UNLIKELY(store.needs_parent))
                for_each_bit(had[word], word * 64, [&](std::size_t i) {
                    if (!store.has(found[i])) had[word] &= ~(std::uint64_t(1) << (i % 64));
                });
            if (store.is_required) block.words[word] &= had[word];
            if (store.is_excluded) block.words[word] &= ~had[word];
        }
    }
    /// The columns of the fields in a store.
    struct Fetch {
        std::size_t num_columns = 0;
        const std::byte* columns[Loop::kNumLanes + 1] = {};
        std::size_t bytes[Loop::kNumLanes + 1] = {};
    };
    Fetch fetch_of([[maybe_unused]] std::size_t number) const {
        Fetch fetch;
        [[maybe_unused]] std::size_t field = 0;
        (add_fetched<Fields>(fetch, number, field++), ...);
        return fetch;
    }
    template <class Field>
    void add_fetched(Fetch& fetch, std::size_t number, std::size_t field) const {
        if (Field::kIsOfParent || places_.store_of[kTerms[field]] != number) return;
        typename Loop::Lanes lanes;
        collect_field<Field>(nullptr, field, lanes.data);
        for (std::uint32_t c = 0; c < FieldPlace<Field::kMember>::kNumColumns; ++c) {
            fetch.columns[fetch.num_columns] = lanes.data[c];
            fetch.bytes[fetch.num_columns++] = FieldPlace<Field::kMember>::column_bytes(c);
        }
    }
    void find_in_database([[maybe_unused]] Block& block, [[maybe_unused]] std::size_t number) const {
        if constexpr (kHasDatabase) {
            const Database& database = side().database();
            const std::span<const Entity> owners = block.entities();
            for (std::uint32_t i = 0; i < block.size(); ++i) {
                if (i + kFetchDistance < block.size()) database.directory().prefetch(owners[i + kFetchDistance]);
                const auto at = database.find(owners[i]);
                block.tables[i] = at.table, block.found[number][i] = at.row;
                const bool is_ruled_out = at ? !side().contains(*at.table) || !side().bits(*at.table).is_on(at.row)
                                             : places_.stores[number].is_required;
                if (is_ruled_out)
                    block.leave_out(i);
                else if (at)
                    at.table->table().prefetch(at.row);
            }
        }
    }

    /// Leaves out entities that have none of the component types of an AnyOf term, and returns where the next term begins.
    std::size_t leave_out_without_any(Block& block, std::size_t first) const {
        std::size_t end = first;
        while (end < places_.num_any && places_.any[end].term == places_.any[first].term) ++end;
        block.for_each_visited([&](std::size_t bit) {
            const auto i = static_cast<std::uint32_t>(bit);
            bool has = false;
            for (std::size_t k = first; k < end && !has; ++k) has = has_component(block, places_.any[k], i);
            if (!has) block.leave_out(i);
        });
        return end;
    }
    bool has_component(const Block& block, const AnyPlace& place, std::uint32_t i) const {
        const std::uint32_t row = block.found[place.store][i];
        if constexpr (kHasDatabase)
            if (place.store == places_.database)
                return row != kNilRow && block.table_of(i)->has({place.component}, row);
        return places_.stores[place.store].has(row);
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
            const Entity parent = parent_of(block.entities()[i]);
            if (!parent) return kNilRow;
            const std::uint32_t row = places_.stores[store].rows->find(parent);
            return places_.stores[store].has(row) ? row : kNilRow;
        } else {
            const std::uint32_t row = block.found[store][i];
            if constexpr (List::template kIsOfDatabase<Field>)
                if (store == places_.database)
                    return row != kNilRow && side().has_field(*block.table_of(i), field, row) ? row : kNilRow;
            return places_.stores[store].has(row) ? row : kNilRow;
        }
    }
    Entity parent_of(Entity entity) const {
        const std::uint32_t row = places_.parents->find(entity);
        if (row == kNilRow) return kNullEntity;
        const Table& table = places_.parents->table();
        const std::uint32_t parent = table.links(LinkColumn::kTreeParent)[row];
        return parent == kNilRow ? kNullEntity : table.entities()[parent];
    }

    template <class Field>
    std::uint32_t first_column([[maybe_unused]] const DatabaseTable* table, std::size_t field) const {
        if constexpr (List::template kIsOfDatabase<Field>)
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
    void leave_out_unchanged(Block& block) const {
        block.for_each_visited([&](std::size_t bit) {
            const auto i = static_cast<std::uint32_t>(bit);
            std::size_t field = 0;
            if (!(is_changed<Fields>(block, field++, i) || ...)) block.leave_out(i);
        });
    }
    template <class Field>
    bool is_changed([[maybe_unused]] const Block& block, [[maybe_unused]] std::size_t field,
                    [[maybe_unused]] std::uint32_t i) const {
        if constexpr (List::template kIsWatched<Field>) {
            using Place = FieldPlace<Field::kMember>;
            const std::uint32_t row = block.rows_of[field][i];
            const std::uint32_t first = row == kNilRow ? kLacksColumns : first_column<Field>(block.table_of(i), field);
            if (first == kLacksColumns) return false;
            const std::uint32_t begin = first + Place::kFirstColumn;
            for (std::uint32_t c = begin; c < begin + Place::kNumColumns; ++c)
                if (table_of(block.table_of(i), field).written_stamp(c, row / kRowsPerStampBlock) >= since_)
                    return true;
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
        DatabaseTable* table;

        RowsOfBlock(const JoinedRows& rows, const Block& of_block, const std::uint64_t* visited, DatabaseTable* in)
            : owners(of_block.owners), joined(rows), block(of_block), words(visited), table(in) {}
        SHOAL_INLINE std::uint64_t word(std::uint32_t index) const { return words[index - block.rows.begin / 64]; }
        template <std::size_t kField>
        SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
            return block.rows_of[kField][owner_row - block.rows.begin];
        }
        template <std::size_t kField>
        std::size_t size() const {
            if (joined.store_of(kField).rows == nullptr && table == nullptr) return 0;
            return joined.table_of(table, kField).num_rows();
        }
    };

    /// Calls visit(table, words) for each table of the database that the visited rows of a block are in, or once.
    template <class Visit>
    void for_each_table_of(const Block& block, Visit&& visit) const {
        std::uint64_t left[kBlockRows / 64], here[kBlockRows / 64];
        if (!kHasDatabase || places_.database == kNone || block.of_database != nullptr)
            return visit(block.of_database, static_cast<const std::uint64_t*>(block.words));
        copy_bytes(left, block.words, sizeof left);
        for (std::uint32_t word = 0; word < kBlockRows / 64;) {
            if (left[word] == 0) {
                ++word;
                continue;
            }
            DatabaseTable* const table = block.tables[word * 64 + lowest_bit(left[word])];
            for (std::uint32_t w = 0; w < kBlockRows / 64; ++w) {
                here[w] = 0;
                for_each_bit(left[w], w * 64,
                             [&](std::size_t i) { here[w] |= std::uint64_t(block.tables[i] == table) << (i % 64); });
                left[w] &= ~here[w];
            }
            visit(table, static_cast<const std::uint64_t*>(here));
        }
    }
    /// Whether all rows of a block are visited and follow each other in the store of every field.
    static bool are_side_by_side(const Block& block, const std::uint64_t* words) {
        std::uint64_t all = 0;
        for (std::uint32_t word = 0; word * 64 < block.size(); ++word) {
            const std::uint32_t num_left = block.size() - word * 64;
            all |= ~words[word] & (num_left >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << num_left) - 1);
        }
        if (all != 0) return false;
        for (std::size_t field = 0; field < kNumFields; ++field) {
            const std::uint32_t* const rows = block.rows_of[field];
            std::uint32_t differs = rows[0] == kNilRow ? 1 : 0;
            for (std::uint32_t i = 0; i < block.size(); ++i) differs |= rows[i] - rows[0] - i;
            if (differs != 0) return false;
        }
        return true;
    }
    /// Rows that follow each other in every store, perhaps over several blocks.
    struct Run {
        RowRange rows;  // of the table that a batch shows
        DatabaseTable* table = nullptr;
        std::uint32_t first[kNumFields + 1] = {};  // by field
        typename Loop::Lanes lanes;
    };

    void begin_run(Run& run, const Block& block, DatabaseTable* table, std::uint32_t i) const {
        const std::uint32_t row = row_in_batch(block, i);
        run.rows = {row, row + 1}, run.table = table, run.lanes = {};
        collect(table, run.lanes);
        begin_at(block, i, run.lanes);
        for (std::size_t field = 0; field < kNumFields; ++field) run.first[field] = block.rows_of[field][i];
    }
    bool continues(const Run& run, const Block& block, const DatabaseTable* table, std::uint32_t i) const {
        const std::uint32_t size = run.rows.size();
        if (size == 0 || run.table != table || row_in_batch(block, i) != run.rows.end) return false;
        for (std::size_t field = 0; field < kNumFields; ++field) {
            const std::uint32_t expected = run.first[field] == kNilRow ? kNilRow : run.first[field] + size;
            if (!kLooksUp[field] && block.rows_of[field][i] != expected) return false;
        }
        return true;
    }
    /// The row of a place in the table that a batch shows: the database's if it has one, or else the driver's.
    std::uint32_t row_in_batch(const Block& block, std::uint32_t i) const {
        const bool shows_database =
            kHasDatabase && places_.database != kNone && block.found[places_.database][i] != kNilRow;
        return block.found[shows_database ? places_.database : block.driver][i];
    }
    template <class Function>
    static void call_with_batch(Function& function, const QueryPart& part, RowRange rows,
                                [[maybe_unused]] DatabaseTable* table, const typename Loop::Lanes& lanes) {
        if constexpr (std::is_same_v<Stores, From<World>>)
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
        collect(nullptr, lanes);
        Loop::run(SameRows{part.table->entities().data(), part.table->num_rows()}, function, part.rows, lanes);
    }
    typename Loop::Lanes lanes_alone(const QueryPart& part) const {
        typename Loop::Lanes lanes;
        collect(nullptr, lanes);
        [[maybe_unused]] std::size_t field = 0;
        ((Loop::template advance<Fields>(lanes.data + Loop::first_lane(field++), part.rows.begin)), ...);
        return lanes;
    }
    void collect([[maybe_unused]] DatabaseTable* table, typename Loop::Lanes& lanes) const {
        [[maybe_unused]] std::size_t field = 0;
        ((collect_field<Fields>(table, field, lanes.data + Loop::first_lane(field)), ++field), ...);
    }
    template <class Field>
    void collect_field(DatabaseTable* table, std::size_t field, std::byte** lanes) const {
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
            std::fill_n(first, FieldPlace<Field::kMember>::kNumColumns, nullptr);
        else
            Loop::template advance<Field>(first, rows[i]);
    }

    // --- marks ---------------------------------------------------------------------------------------------------

    template <class Field>
    void mark_part(const QueryPart& part, std::size_t driver, std::size_t field) const {
        if (!Field::kWrites || places_.store_of[kTerms[field]] != driver) return;
        const std::uint32_t first =
            first_column<Field>(part.of_database, field) + FieldPlace<Field::kMember>::kFirstColumn;
        for (std::uint32_t c = 0; c < FieldPlace<Field::kMember>::kNumColumns; ++c)
            mark_column(*part.table, first + c, part.rows);
    }
    /// Marks what was written in other stores than the driver.
    void mark_others(const Block& block) const {
        [[maybe_unused]] std::size_t field = 0;
        (mark_other<Fields>(block, field++), ...);
    }
    template <class Field>
    void mark_other([[maybe_unused]] const Block& block, [[maybe_unused]] std::size_t field) const {
        if constexpr (Field::kWrites) {
            if (places_.store_of[kTerms[field]] == block.driver) return;
            block.for_each_visited([&](std::size_t bit) {
                const auto i = static_cast<std::uint32_t>(bit);
                DatabaseTable* const table = block.table_of(i);
                const std::uint32_t row = block.rows_of[field][i];
                const std::uint32_t first =
                    first_column<Field>(table, field) + FieldPlace<Field::kMember>::kFirstColumn;
                for (std::uint32_t c = 0; c < FieldPlace<Field::kMember>::kNumColumns; ++c)
                    mark_column(table_of(table, field), first + c, {row, row + 1});
            });
        }
    }

    Places places_;
    struct NoSide {};
    Array<std::conditional_t<kHasDatabase, Side, NoSide>> side_{Owner("query")};  // one, if there is a database
    Array<OwnedRows*> owned_{Owner("query")};                                     // locked while a loop runs
    std::uint64_t since_ = 0;
};

}  // namespace shoal::detail

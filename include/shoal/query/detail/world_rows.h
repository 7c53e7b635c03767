#pragma once
// The rows of a query over all stores of a directory, which finds the stores of its terms itself.
//
//     all components in the database      the loop of a query over a database
//     all in one other store              one loop over its table
//     else                                a join
//
// A query that visits each value of a `many` type is driven by the rows of its manager. In the database, where the first
// value of an entity is in its row, a join follows that is driven by the further values.
// Thread: as for the query.

#include "shoal/query/detail/database_rows.h"
#include "shoal/query/detail/joined_rows.h"
#include "shoal/store/component_directory.h"

namespace shoal::detail {

/// Where a component type is kept.
struct OwningStore {
    Store* store = nullptr;
    Database* database = nullptr;  ///< if the store is one
    std::uint32_t component = 0;   ///< its number there
    OwnedColumns columns;          ///< where its columns are, if the store is not a database
};

/// How a query uses a component type.
struct ComponentUse {
    bool has_field = false;
    bool writes = false;
};

/// Returns where the values of a `many` type of a database are that are not the first of their entities: in a store that
/// drives.
SHOAL_API JoinedStore further_store(Database& database, std::uint32_t component);
/// Returns the only store of a query over these.
SHOAL_API TermStores places_of_further(Database& database, std::uint32_t component);

/// Returns the store that lists who has which tag, and the one whose rows are linked to those of parents. Each is made if
/// need be. Requires: the store of tags is one that does.
SHOAL_API Store& require_tag_store(ComponentDirectory& directory);
SHOAL_API Store& require_parents_store(ComponentDirectory& directory);

/// Finds a component type; without a store if none shows it to queries.
SHOAL_API OwningStore look_up_owning_store(const ComponentDirectory& directory, const Schema& component);
/// Finds a component type. Requires: a store keeps it, and its fields can be used in this way.
SHOAL_API OwningStore find_owning_store(const ComponentDirectory& directory, const Schema& component,
                                        const ComponentUse& use);

template <class Stores, class Terms, class Fields>
class WorldRows;

template <class... Terms, class... Fields>
class WorldRows<From<ComponentDirectory>, TermList<Terms...>, TermList<Fields...>> {
    using Joined = JoinedRows<From<ComponentDirectory>, TermList<Terms...>, TermList<Fields...>>;
    using Database = typename Later<Joined, shoal::Database>::Type;
    using InDatabase = DatabaseRows<From<shoal::Database>, TermList<Terms...>, TermList<Fields...>>;
    static constexpr bool kMayBeInDatabase =
        ((!Terms::kGathers && StoreList<From<ComponentDirectory>>::template kIsOfDatabase<Terms>) && ...);

public:
    using Loop = typename Joined::Loop;
    using Batch = typename Joined::Batch;
    struct Lock : Joined::Lock {
        explicit Lock(const WorldRows& rows) : Joined::Lock(rows.joined_) {}
    };

    explicit WorldRows(ComponentDirectory& directory) : WorldRows(places_of(directory), find_database(directory)) {
        directory_ = &directory;
    }
    /// `any` is a database of the world, for zones, if no term is about one.
    WorldRows(const TermStores& places, Database* any)
        : joined_(places, places.has_database() ? static_cast<Database*>(places.stores[places.database].store) : any) {
        if constexpr (kMayBeInDatabase)
            if (joined_.is_in_database()) in_database_.emplace_back(joined_.database());
        if constexpr (kVisitsEachValue<Terms...>)
            if (const TermStores further = places_of_further_values(places); further.store_of.size() != 0) {
                further_.emplace_back(further, &joined_.database());
                further_table_ = &further.stores[further.driver(0)].rows->table();
            }
    }
    /// Of a database alone.
    explicit WorldRows(shoal::Database& database) : WorldRows(places_of(database), &database) {}

    void set_zones(const ZoneSet& zones) {
        joined_.set_zones(zones);
        if constexpr (kMayBeInDatabase)
            if (!in_database_.empty()) in_database_[0].set_zones(zones);
        for (Joined& further : further_) further.set_zones(zones);
    }
    void set_since(std::uint64_t stamp) {
        joined_.set_since(stamp);
        if constexpr (kMayBeInDatabase)
            if (!in_database_.empty()) in_database_[0].set_since(stamp);
        for (Joined& further : further_) further.set_since(stamp);
    }
    void see_inactive() {
        joined_.see_inactive();
        if constexpr (kMayBeInDatabase)
            if (!in_database_.empty()) in_database_[0].see_inactive();
        for (Joined& further : further_) further.see_inactive();
    }
    /// Visits only those that have a tag, or lack it. Requires: a world.
    void add_tag(StringId tag, bool excludes) {
        joined_.add_tag(require_tag_store(*directory_), tag, excludes);
        if constexpr (kMayBeInDatabase) in_database_.clear();
        further_.clear();
    }
    Database& database() const { return joined_.database(); }
    const Store& driver() const { return joined_.driver(); }
    std::uint64_t num_rows() const { return joined_.num_rows() + (further_.empty() ? 0 : further_[0].num_rows()); }
    auto accesses() const { return joined_.accesses(); }

    void refresh() const {
        joined_.refresh();
        if constexpr (kMayBeInDatabase)
            if (!in_database_.empty()) in_database_[0].refresh();
        for (const Joined& further : further_) further.refresh();
    }
    bool share() const { return joined_.share() && (further_.empty() || further_[0].share()); }
    bool is_small(std::uint32_t grain) const { return joined_.is_small(grain); }

    template <class Visit>
    void for_each_part(Visit&& visit) const {
        for_each_first_part(visit);
        for (const Joined& further : further_) further.for_each_part(visit);
    }
    template <class Function>
    void run(Function& function, const QueryPart& part) const {
        if (is_further(part)) return further_[0].run(function, part);
        if constexpr (kMayBeInDatabase)
            if (!in_database_.empty()) return in_database_[0].run(function, part);
        joined_.run(function, part);
    }
    template <class Function>
    void run_batch(Function& function, const QueryPart& part) const {
        if (is_further(part)) return further_[0].run_batch(function, part);
        joined_.run_batch(function, part);
    }
    void mark_written(const QueryPart& part) const {
        if (is_further(part)) return further_[0].mark_written(part);
        joined_.mark_written(part);
    }
    void finish_writes(Executor* executor) const {
        joined_.finish_writes(executor);
        for (const Joined& further : further_) further.finish_writes(executor);
    }

private:
    template <class Visit>
    void for_each_first_part(Visit&& visit) const {
        if constexpr (kMayBeInDatabase)
            if (!in_database_.empty()) return in_database_[0].for_each_part(visit);
        joined_.for_each_part(visit);
    }
    /// Whether a part holds values that are not the first of their entities.
    bool is_further(const QueryPart& part) const {
        return kVisitsEachValue<Terms...> && further_table_ != nullptr && part.table == further_table_;
    }
    /// The places of the same query over values that are not the first of their entities; of no terms if there are none.
    static TermStores places_of_further_values(const TermStores& places) {
        TermStores further = places;
        std::size_t term = 0, of_values = 0;
        ((kIsOfValues<Terms, Terms...> ? void(of_values = term++) : void(++term)), ...);
        if (!places.has_database() || places.store_of[of_values] != places.database) return TermStores(0);
        Database& database = static_cast<Database&>(*places.stores[places.database].store);
        const std::uint32_t component =
            find_owning_store(*database.component_directory(), *schemas()[of_values], {}).component;
        if constexpr (sizeof...(Terms) == 1) return places_of_further(database, component);
        const std::uint8_t number = further.add(further_store(database, component));
        term = 0;
        ((kIsOfValues<Terms, Terms...> ? void(further.store_of[term++] = number) : void(++term)), ...);
        return further;
    }
    static std::array<const Schema*, sizeof...(Terms)> schemas() { return {schema_of_term<Terms>()...}; }
    template <class Term>
    static const Schema* schema_of_term() {
        if constexpr (kIsOfValues<Term, Terms...>)
            return &schema_of<typename Term::Component>();
        else
            return nullptr;
    }
    /// Finds the store of a term's component, and notes what the term says of it.
    template <class Term>
    static void place(ComponentDirectory& directory, TermStores& places, std::size_t term) {
        if constexpr (Term::kIsAny) {
            Term::for_each_component([&]<class T>() {
                directory.require_or_end(schema_of<T>());
                const OwningStore keeper = find_owning_store(directory, schema_of<T>(), {});
                const std::uint8_t number = add(places, keeper);
                places.any.push_back({static_cast<std::uint8_t>(term), number, keeper.component});
            });
        } else {
            const Schema& component = schema_of<typename Term::Component>();
            directory.require_or_end(component);
            const OwningStore keeper = find_owning_store(directory, component, {Term::kIsField, Term::kWrites});
            const std::uint8_t number = add(places, keeper);
            places.stores[number].is_told |= Term::kWrites && keeper.columns.is_source;
            places.stores[number].is_required |= requires_component<Term>();
            places.stores[number].is_excluded |= keeper.database == nullptr && excludes_component<Term>();
            places.store_of[term] = number;
            places.first_column[term] = keeper.columns.first_column;
            // Each of its rows is a value; in the database, only the first of an entity is in a row.
            if constexpr (sizeof...(Terms) > 1 && reads_many<Term>())
                places.stores[number].is_driver |= kVisitsEachValue<Terms...> && keeper.database == nullptr;
        }
    }
    static std::uint8_t add(TermStores& places, const OwningStore& keeper) {
        const std::uint8_t number = places.add({keeper.store, keeper.columns.rows, keeper.columns.needs_parent});
        places.stores[number].is_derived |= keeper.columns.is_read_only || keeper.columns.is_source;
        if (keeper.database == nullptr) return number;
        SHOAL_ASSERT(!places.has_database() || places.database == number,
                     "a query over a world names components of two databases, and joins one with other stores; make a "
                     "query for each, or keep a component type in a manager, World::manager<T>()");
        places.database = number;
        return number;
    }
    static TermStores places_of(shoal::Database& database) {
        TermStores places(sizeof...(Terms));
        Database& complete = database;
        (static_cast<void>(complete.template component<typename Terms::Component>()), ...);
        std::size_t term = 0;
        (place<Terms>(*complete.component_directory(), places, term++), ...);
        return places;
    }
    static TermStores places_of(ComponentDirectory& directory) {
        TermStores places(sizeof...(Terms));
        std::size_t term = 0;
        (place<Terms>(directory, places, term++), ...);
        if constexpr ((Terms::kIsOfParent || ...)) {
            places.parents_store = &require_parents_store(directory);
            places.parents = places.parents_store->find_columns(*places.parents_store->schemas()[0]).rows;
        }
        return places;
    }

    struct Nothing {};
    ComponentDirectory* directory_ = nullptr;  // of the stores, unless they are a database alone
    Joined joined_;
    Array<std::conditional_t<kMayBeInDatabase, InDatabase, Nothing>> in_database_{
        Owner("query")};                     // one, if all is there
    Array<Joined> further_{Owner("query")};  // one, if it visits each value of a `many` type there
    const Table* further_table_ = nullptr;   // that drives it
};

}  // namespace shoal::detail

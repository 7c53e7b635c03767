#pragma once
// The stores of a query's terms when several stores are joined: which stores there are, what the query requires of
// each, and which store each term uses. Type-erased: typed queries and text queries both make a TermStores, with which
// join_block.h finds the rows.
//
//     query<Write<&Boat::position>, Read<&Sail::area>, Without<Crew>>(database, sails, crews)
//
//     store     0 the database    1 sails      2 crews
//     is        required          required     excluded
//     term      0                 1            2          store_of
//
// Thread: as for the query.

#include "shoal/base/detail/few_array.h"
#include "shoal/query/detail/started_loop.h"
#include "shoal/store/detail/owners_by_value.h"

namespace shoal::detail {

/// A store of a join. The query may require or forbid that an entity has a row in the store, or allow both.
struct JoinedStore {
    Store* store = nullptr;
    OwnedRows* rows = nullptr;  ///< nullptr: a database
    bool needs_parent = false;  ///< see OwnedColumns
    bool is_derived = false;    ///< a write also changes other fields, so each access covers the whole store
    bool is_required = false, is_excluded = false;
    bool is_told = false;            ///< the store is notified of written rows: see Store::finish_writes()
    bool is_looked_up = false;       ///< visited entities are looked up here, not only related ones
    bool is_driver = false;          ///< each row of the store is visited, even if other stores have fewer rows
    OwnersByValue* lists = nullptr;  ///< used instead of `rows`: the list of a tag's entities

    bool has(std::uint32_t row) const {
        return row != kNilRow && (!needs_parent || rows->table().links(LinkColumn::kTreeParent)[row] != kNilRow);
    }
};

/// One of the component types in an AnyOf term.
struct AnyOfOption {
    std::uint8_t term = 0, store = 0;
    std::uint32_t component = 0;  ///< the number of the component type in the database
};

class TermStores {
public:
    static constexpr std::uint8_t kNone = 0xFF;

    explicit TermStores(std::size_t num_terms);

    bool has_database() const { return database != kNone; }
    /// Returns the number of a store; adds the store if it is new.
    std::uint8_t add(const JoinedStore& store);
    /// Adds a tag that entities must have or, with `excludes`, lack. Requires: the store lists the tag's entities.
    void add_tag(Store& store, StringId tag, bool excludes);
    /// Returns the number of the store whose rows a loop visits: the required store with the fewest rows. Requires:
    /// there is a required store.
    std::uint8_t driver(std::uint64_t num_database_rows) const;
    /// Returns the store that drives the loop over a part.
    std::uint8_t driver_of(const QueryPart& part) const;
    /// Whether entities may have several rows in a store, but the query visits each entity once because it does not
    /// read these rows.
    bool visits_each_once(const JoinedStore& store) const {
        return num_terms_ > 1 && !store.is_driver && store.rows->schema().many();
    }
    /// Whether a store decides which rows are visited, or entities must be looked up in it for each block.
    bool decides(std::uint8_t store) const {
        const JoinedStore& one = stores[store];
        return store == database || one.is_required || one.is_excluded || one.needs_parent || one.lists != nullptr ||
               !one.is_looked_up;
    }
    /// Whether all rows of a store are visited if no other store decides which rows are visited. Requires: the store is
    /// not a database.
    bool visits_all(const JoinedStore& store) const {
        return !store.needs_parent && !visits_each_once(store) && !store.is_excluded;
    }
    /// Whether there is only one store, it is not a database, and all of its rows are visited.
    bool is_one_table() const;
    /// The entities that loops skip; nullptr: none.
    const InactiveEntities* left_out() const {
        return entities == nullptr ? nullptr : left_out_of(*entities, sees_inactive);
    }
    /// The rows that must stay in place while a loop runs.
    FewArray<OwnedRows*, 4> locked() const;

    FewArray<JoinedStore, 4> stores{Owner("query")};
    std::uint8_t database = kNone;  ///< the number of the database; kNone: the join has no database
    FewArray<std::uint8_t, 8> store_of{Owner("query")};       ///< indexed by term
    FewArray<std::uint32_t, 8> first_column{Owner("query")};  ///< indexed by term; unused for terms of the database
    Array<AnyOfOption> any{Owner("query")};
    bool sees_inactive = false;               ///< a loop also visits inactive entities
    const EntityManager* entities = nullptr;  ///< the stores' entity manager; nullptr: none yet

private:
    std::size_t num_terms_;
};

inline constexpr std::string_view kTagName = "tag";  // the name of the component type Tag

/// Returns the store's lists of entities by tag; nullptr if the store keeps no tags or has no lists.
OwnersByValue* find_tag_lists(Store& store);

}  // namespace shoal::detail

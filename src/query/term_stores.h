#pragma once
// Where the terms of a query lie when several stores are joined, without C++ types: which stores there are, what the
// query asks of each, and which of them a term is about. Queries that are templates and those that come from text both
// make one, and the blocks of a join (join_block.h) are found by it.
//
//     query<Write<&Boat::position>, Read<&Sail::area>, Without<Crew>>(database, sails, crews)
//
//     store     0 the database    1 sails      2 crews
//     is        required          required     excluded
//     term      0                 1            2          store_of
//
// Thread: as for the query.

#include "shoal/query/detail/started_loop.h"
#include "shoal/store/detail/owners_by_value.h"

namespace shoal::detail {

/// A store of a join. A row of it may be required of an entity, ruled out, or neither.
struct JoinedStore {
    Store* store = nullptr;
    OwnedRows* rows = nullptr;  ///< nullptr: a database
    bool needs_parent = false;  ///< see OwnedColumns
    bool is_derived = false;    ///< fields change when others of the store are written: an access is to all of it
    bool is_required = false, is_excluded = false;
    bool is_told = false;       ///< fields are written, and the store is told in which rows: see Store::finish_writes()
    bool is_looked_up = false;  ///< its rows of the entities are needed, not only those of related ones
    bool is_driver = false;     ///< each of its rows is visited, whoever has fewer, and however many an entity has
    OwnersByValue* lists = nullptr;  ///< which make `rows` of those of the store: the entities of a tag

    bool has(std::uint32_t row) const {
        return row != kNilRow && (!needs_parent || rows->table().links(LinkColumn::kTreeParent)[row] != kNilRow);
    }
};

/// One of the component types of an AnyOf term.
struct AnyOfOption {
    std::uint8_t term = 0, store = 0;
    std::uint32_t component = 0;  ///< of the database
};

class TermStores {
public:
    static constexpr std::uint8_t kNone = 0xFF;

    explicit TermStores(std::size_t num_terms);

    bool has_database() const { return database != kNone; }
    /// Returns the number of a store, which is added if need be.
    std::uint8_t add(const JoinedStore& store);
    /// Adds the entities that have a tag, or that lack it with `excludes`. Requires: the store lists them.
    void add_tag(Store& store, StringId tag, bool excludes);
    /// Returns the number of the store whose rows a loop visits: a required one with the fewest. Requires: there is
    /// one.
    std::uint8_t driver(std::uint64_t num_database_rows) const;
    /// Returns which store drives the loop over a part.
    std::uint8_t driver_of(const QueryPart& part) const;
    /// Whether an entity may have several rows in a store, and a query that does not read these visits it once.
    bool visits_each_once(const JoinedStore& store) const {
        return num_terms_ > 1 && !store.is_driver && store.rows->schema().many();
    }
    /// Whether a store has a part in which rows are visited, or has to be looked up for a block.
    bool decides(std::uint8_t store) const {
        const JoinedStore& one = stores[store];
        return store == database || one.is_required || one.is_excluded || one.needs_parent || one.lists != nullptr ||
               !one.is_looked_up;
    }
    /// Whether every row of a store that is not a database is visited, if no other decides.
    bool visits_all(const JoinedStore& store) const {
        return !store.needs_parent && !visits_each_once(store) && !store.is_excluded;
    }
    /// Whether there is one store, not a database, of which every row is visited.
    bool is_one_table() const;
    /// The entities that loops pass over; nullptr: none.
    const InactiveEntities* left_out() const {
        return entities == nullptr ? nullptr : left_out_of(*entities, sees_inactive);
    }
    /// The rows that stay where they are while a loop runs.
    Array<OwnedRows*> locked() const;

    Array<JoinedStore> stores{Owner("query")};
    std::uint8_t database = kNone;                      ///< its number; kNone: it has no part in the join
    Array<std::uint8_t> store_of{Owner("query")};       ///< by term
    Array<std::uint32_t> first_column{Owner("query")};  ///< by term; of the database: any
    Array<AnyOfOption> any{Owner("query")};
    bool sees_inactive = false;               ///< a loop visits inactive entities too
    const EntityManager* entities = nullptr;  ///< that of the stores; nullptr: there is none yet

private:
    std::size_t num_terms_;
};

inline constexpr std::string_view kTagName = "tag";  // of the component type Tag

/// Returns the lists of the entities of each tag; nullptr if a store keeps no tags, or does not list who has them.
OwnersByValue* find_tag_lists(Store& store);

}  // namespace shoal::detail

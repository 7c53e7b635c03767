#pragma once
// The data of a plan, shared by the files that make plans and run their loops.

#include "query/noted_rows.h"
#include "query/sorted_rows.h"
#include "query/told_rows.h"
#include "shoal/database/detail/lock.h"
#include "shoal/database/detail/match.h"
#include "shoal/query/detail/query_plan.h"
#include "shoal/store/detail/owned_rows.h"

#include <memory>

namespace shoal::detail {

inline constexpr std::string_view kInactiveName = "inactive";  // the name of the component type Inactive
inline constexpr std::string_view kParentName = "child_of";    // the name of ChildOf

/// Where a component type is kept.
struct OwningStore {
    Store* store = nullptr;
    Database* database = nullptr;  ///< the same store if it is a database
    std::uint32_t component = 0;   ///< the number of the component type in the database
    OwnedColumns columns;          ///< where its columns are, if the store is not a database
};

/// Finds the store of a component type; the result has no store if no store lets queries use the type.
OwningStore look_up_owning_store(const ComponentDirectory& directory, const Schema& component);

/// A column that a loop writes.
struct WrittenColumn {
    std::uint16_t field, column;  // the column's index in the component
};

struct PlanState {
    explicit PlanState(std::span<const PlanTerm> asked) : places(asked.size()) {
        for (const PlanTerm& term : asked) {
            if (term.is_field) fields.push_back(static_cast<std::uint32_t>(terms.size()));
            terms.push_back(term);
        }
        types.append(asked.size(), {});
    }

    static const PlanState& of(const QueryPlan& plan) { return *plan.state_; }
    /// Makes a plan of terms whose stores are known.
    static QueryPlan make(std::span<const PlanTerm> terms, std::span<const OwningStore> keepers);
    /// Visits only entities that have a tag or, with `excludes`, lack it; `tags` lists the entities with the tag.
    /// Lifetime: `tags` outlives the plan.
    static void add_tag(QueryPlan& plan, Store& tags, StringId tag, bool excludes);

    const PlanTerm& field(std::size_t index) const { return terms[fields[index]]; }
    std::uint8_t store_of(std::size_t index) const { return places.store_of[fields[index]]; }
    bool is_of_database(std::size_t index) const { return store_of(index) == places.database; }
    Database& database() const { return static_cast<Database&>(*places.stores[places.database].store); }

    /// Applies the changes since the last loop. Must be called before the functions below.
    SHOAL_INLINE void refresh() const {
        if (SHOAL_UNLIKELY(has_lists)) refresh_lists();
        if (!match.empty()) {
            if (SHOAL_UNLIKELY(match[0].refresh() || num_archetypes == 0)) note_archetypes();
            if (SHOAL_UNLIKELY(in_zones)) database().note_visit(zones_now());
        }
        if (SHOAL_UNLIKELY(!further.empty())) refresh_further();
    }
    /// The visited entities, if they are a list instead of the rows of a store: sorted entities, or the entities of
    /// Added, Changed or Removed.
    std::span<const Entity> listed(bool sorts) const {
        return sorts && !sorted.empty() ? sorted[0].owners() : noted[0].owners();
    }
    const ZoneSet& zones_now() const { return live_zones != nullptr ? live_zones->now() : zones; }
    std::uint8_t driver() const { return places.driver(places.has_database() ? num_database_rows() : 0); }
    std::uint64_t num_database_rows() const { return in_zones ? match[0].num_rows(zones_now()) : match[0].num_rows(); }
    std::uint64_t num_rows_of(std::uint8_t store) const {
        return store == places.database ? num_database_rows() : places.stores[store].rows->num_rows();
    }
    /// Whether the only deciding store has rows without an owner.
    bool has_holes() const { return alone != places.database && places.stores[alone].rows->table().num_holes() != 0; }
    /// Computes facts about the terms and stores that every loop uses.
    void note_shape();
    /// Returns the first column of each field in a table of the only deciding store. The written columns are stored
    /// before these. Requires: is_alone.
    const std::uint16_t* columns_of(const DatabaseTable* table) const {
        return table == nullptr ? own_columns.data() + written.size() : columns_of(table->type_number());
    }
    /// Returns the first column of each field in the tables of an archetype.
    const std::uint16_t* columns_of(std::uint32_t archetype) const {
        return noted_columns.data() + archetype * num_noted() + written.size();
    }
    /// The number of columns that are recorded for an archetype.
    std::size_t num_noted() const { return fields.size() + written.size(); }
    /// If the entities are a list, the store whose table is shown in batches: the store that would be the driver
    /// without the list or, if there is none, any named store.
    std::uint8_t shown_store() const {
        for (const JoinedStore& store : places.stores)
            if (store.is_required) return driver();
        return 0;
    }
    /// Whether the plan looks up, or visits, rows of the database.
    bool looks_up_database() const { return places.has_database() && places.stores[places.database].is_looked_up; }
    /// The number of the link that leads to a field. Requires: the field is related.
    std::size_t link_of(std::size_t field) const {
        std::size_t link = 0;
        while (links[link] != terms[fields[field]].link) ++link;
        return link;
    }
    /// The first column of a field's component in a database table, or kNoColumn.
    std::uint32_t first_column(const DatabaseTable& table, std::size_t field) const {
        return columns_of(table.type_number())[field];
    }
    /// Finds what has changed since the last loop, for related entities.
    void begin_links() const;
    /// Makes room for what is remembered of the rows of a driver's table; `of_database` is the same table, if it is in
    /// the database.
    void reserve_links(const DatabaseTable* of_database, std::uint32_t num_rows) const;
    void note_archetypes() const;
    void refresh_lists() const;
    void refresh_further() const;
    /// The columns of a store that the query writes, as bits.
    std::uint64_t written_columns(std::uint8_t store) const;

    FewArray<PlanTerm, 8> terms{Owner("query")};
    FewArray<std::uint32_t, 8> fields{Owner("query")};  // the terms that are fields
    Array<std::uint32_t> links{Owner("query")};         // the terms that name related entities, each once
    TermStores places;
    FewArray<ComponentType, 8> types{Owner("query")};    // indexed by term; null unless the database has the type
    Array<ComponentType> required{Owner("query")};       // the database's enableable types whose bits must be set
    Array<ComponentType> excluded{Owner("query")};       // enableable types whose bits must not be set
    mutable Array<DatabaseMatch> match{Owner("query")};  // one element if the query uses a database
    // [archetype][written columns, then the first column of each field]; unused if the store is not a database
    mutable Array<std::uint16_t> noted_columns{Owner("query")};
    mutable std::size_t num_archetypes = 0;  // number of archetypes in noted_columns
    ComponentDirectory* directory = nullptr;
    Database* any_database = nullptr;  // has the zones if no term uses a database
    ZoneSet zones;
    const LiveZones* live_zones = nullptr;  // replaces `zones`
    bool in_zones = false;
    std::uint64_t since = 0;
    // `is_alone`: one store decides which rows are visited, so whole tables are visited unless rows are sorted.
    // `has_all_fields`: no field can be missing.
    bool is_alone = false, has_all_fields = false, has_lists = false;
    std::uint8_t alone = 0;  // the number of the only deciding store
    bool looks_up = false;   // for each row, the function looks up the fields that may be missing in other managers
    bool is_plain = false;   // run_plain() can run the loops of simple functions
    FewArray<WrittenColumn, 8> written{Owner("query")};
    FewArray<std::uint16_t, 16> own_columns{Owner("query")};  // like noted_columns, for the only store if it is not a
                                                              // database
    FewArray<OwnedRows*, 4> locked{Owner("query")};           // locked while a loop runs
    Array<OwnedRows*> also_held{Owner("query")};              // added by hold(), and also locked
    // One element for each store that is notified of written rows. Used by the running loop; a query runs one loop at a
    // time.
    mutable Array<ToldRows> told{Owner("query")};
    mutable Array<RecentRows> recent{Owner("query")};  // one element per link, for rows in the database; then one per
                                                       // field, for rows in other stores
    mutable Array<RecentLinks> recent_links{Owner("query")};  // one element per link
    mutable Array<NotedRows> noted{Owner("query")};           // one element for Added, Removed or Changed
    mutable Array<SortedRows> sorted{Owner("query")};         // one element if rows are sorted
    Array<PlanState> further{
        Owner("query")};  // one element if a `many` type of the database is visited: the plan for values after the
                          // first
};

/// Runs a loop on this thread without sorting, locking or marking. Requires: the plan is held.
void visit_unsorted(const PlanState& plan, const LoopFunction& function);

/// Keeps the rows of a plan in place, and applies the changes since its last loop.
struct HeldPlan {
    explicit HeldPlan(const PlanState& plan)
        : database(plan.places.has_database() ? &plan.database() : nullptr),
          rows(plan.locked.data(), plan.locked.size()),
          others(plan.also_held.data(), plan.also_held.size()) {
        plan.refresh();
        for (NotedRows& noted : plan.noted) noted.refresh();
        for (SortedRows& sorted : plan.sorted) sorted.refresh(plan);
    }
    const DatabaseLock database;
    const RowLock rows, others;
};

/// Storage for elements; it allocates memory only if there are many. Elements are uninitialized.
template <class T, std::size_t kFew>
class Room {
public:
    explicit Room(std::size_t count) {
        if (count <= kFew) return;
        more_ = std::make_unique_for_overwrite<std::byte[]>(count * sizeof(T));
        data_ = reinterpret_cast<T*>(more_.get());
    }
    T* data() { return data_; }
    T& operator[](std::size_t index) { return data_[index]; }

private:
    alignas(T) std::byte few_[kFew * sizeof(T)];
    std::unique_ptr<std::byte[]> more_;
    T* data_ = reinterpret_cast<T*>(few_);
};

}  // namespace shoal::detail

#pragma once
// What a plan consists of, for the files that make one and run its loops.

#include "query/noted_rows.h"
#include "query/sorted_rows.h"
#include "query/told_rows.h"
#include "shoal/database/detail/lock.h"
#include "shoal/database/detail/match.h"
#include "shoal/query/detail/query_plan.h"
#include "shoal/store/detail/owned_rows.h"

#include <memory>

namespace shoal::detail {

inline constexpr std::string_view kInactiveName = "inactive";  // of the component type Inactive
inline constexpr std::string_view kParentName = "child_of";    // of ChildOf

/// Where a component type is kept.
struct OwningStore {
    Store* store = nullptr;
    Database* database = nullptr;  ///< if the store is one
    std::uint32_t component = 0;   ///< its number there
    OwnedColumns columns;          ///< where its columns are, if the store is not a database
};

/// Finds a component type; without a store if none shows it to queries.
OwningStore look_up_owning_store(const ComponentDirectory& directory, const Schema& component);

/// A column that a loop writes.
struct WrittenColumn {
    std::uint16_t field, column;  // of the component
};

struct PlanState {
    explicit PlanState(std::span<const PlanTerm> asked)
        : terms(asked.begin(), asked.end(), "query"), places(asked.size()) {
        types.resize(asked.size());
        for (std::uint32_t term = 0; term < terms.size(); ++term)
            if (terms[term].is_field) fields.push_back(term);
    }

    static const PlanState& of(const QueryPlan& plan) { return *plan.state_; }
    /// Makes a plan of terms whose stores were found.
    static QueryPlan make(std::span<const PlanTerm> terms, std::span<const OwningStore> keepers);
    /// Visits only those that have a tag, or lack it, by a store that lists them. Lifetime: the plan.
    static void add_tag(QueryPlan& plan, Store& tags, StringId tag, bool excludes);

    const PlanTerm& field(std::size_t index) const { return terms[fields[index]]; }
    std::uint8_t store_of(std::size_t index) const { return places.store_of[fields[index]]; }
    bool is_of_database(std::size_t index) const { return store_of(index) == places.database; }
    Database& database() const { return static_cast<Database&>(*places.stores[places.database].store); }

    /// Takes in what has changed since the last loop. What follows requires it.
    SHOAL_INLINE void refresh() const {
        if (SHOAL_UNLIKELY(has_lists)) refresh_lists();
        if (!match.empty()) {
            if (SHOAL_UNLIKELY(match[0].refresh() || num_archetypes == 0)) note_archetypes();
            if (SHOAL_UNLIKELY(in_zones)) database().note_visit(zones_now());
        }
        if (SHOAL_UNLIKELY(!further.empty())) refresh_further();
    }
    /// The entities that are visited where these are not the rows of a store: sorted, or noted.
    std::span<const Entity> listed(bool sorts) const {
        return sorts && !sorted.empty() ? sorted[0].owners() : noted[0].owners();
    }
    const ZoneSet& zones_now() const { return live_zones != nullptr ? live_zones->now() : zones; }
    std::uint8_t driver() const { return places.driver(places.has_database() ? num_database_rows() : 0); }
    std::uint64_t num_database_rows() const { return in_zones ? match[0].num_rows(zones_now()) : match[0].num_rows(); }
    std::uint64_t num_rows_of(std::uint8_t store) const {
        return store == places.database ? num_database_rows() : places.stores[store].rows->num_rows();
    }
    /// Whether the only store that decides has rows without an owner.
    bool has_holes() const { return alone != places.database && places.stores[alone].rows->table().num_holes() != 0; }
    /// Notes what follows from the terms and stores, and is asked by each loop.
    void note_shape();
    /// By field: its first column, in a table of the only store. Before it lie the columns that are written. Requires:
    /// is_alone.
    const std::uint16_t* columns_of(const DatabaseTable* table) const {
        return table == nullptr ? own_columns.data() + written.size() : columns_of(table->type_number());
    }
    /// The same in tables of an archetype.
    const std::uint16_t* columns_of(std::uint32_t archetype) const {
        return noted_columns.data() + archetype * num_noted() + written.size();
    }
    /// How many columns are noted of an archetype.
    std::size_t num_noted() const { return fields.size() + written.size(); }
    /// Whose table batches show where entities are listed: the store that would drive, or one of those that are named.
    std::uint8_t shown_store() const {
        for (const JoinedStore& store : places.stores)
            if (store.is_required) return driver();
        return 0;
    }
    /// Whether rows of the database are looked up, or visited.
    bool looks_up_database() const { return places.has_database() && places.stores[places.database].is_looked_up; }
    /// Which of the links a field is behind. Requires: it is related.
    std::size_t link_of(std::size_t field) const {
        std::size_t link = 0;
        while (links[link] != terms[fields[field]].link) ++link;
        return link;
    }
    /// The first column of a field's component in a table of the database; kNoColumn.
    std::uint32_t first_column(const DatabaseTable& table, std::size_t field) const {
        return columns_of(table.type_number())[field];
    }
    void note_archetypes() const;
    void refresh_lists() const;
    void refresh_further() const;
    /// A bit for each column of a store that the query writes.
    std::uint64_t written_columns(std::uint8_t store) const;

    Array<PlanTerm> terms;
    Array<std::uint32_t> fields{Owner("query")};  // their terms
    Array<std::uint32_t> links{Owner("query")};   // terms that say which entities others are about, each once
    TermStores places;
    Array<ComponentType> types{Owner("query")};          // by term; none unless the database has it
    Array<ComponentType> required{Owner("query")};       // enableable ones of the database: these bits are set
    Array<ComponentType> excluded{Owner("query")};       // these are not
    mutable Array<DatabaseMatch> match{Owner("query")};  // one, if a database has a part in the query
    // [archetype][written column, first column of each field]; of other stores: any
    mutable Array<std::uint16_t> noted_columns{Owner("query")};
    mutable std::size_t num_archetypes = 0;  // noted
    ComponentDirectory* directory = nullptr;
    Database* any_database = nullptr;  // for zones, if no term is about one
    ZoneSet zones;
    const LiveZones* live_zones = nullptr;  // in place of `zones`
    bool in_zones = false;
    std::uint64_t since = 0;
    // Whether all that decides which rows are visited lies in one store, so that whole tables are visited, if they are
    // not sorted; and whether no field may be missing.
    bool is_alone = false, has_all_fields = false, has_lists = false;
    std::uint8_t alone = 0;  // that store
    bool looks_up = false;   // fields that may be missing lie in other managers: the function looks them up, row by row
    bool is_plain = false;   // loops are what run_plain() does, if nothing is asked of the rows besides
    Array<WrittenColumn> written{Owner("query")};
    Array<std::uint16_t> own_columns{Owner("query")};  // the same of the only store, if it is no database
    Array<OwnedRows*> locked{Owner("query")};          // while a loop runs
    Array<OwnedRows*> also_held{Owner("query")};       // the same, asked for by hold()
    // By store that is told what was written; used by the loop that runs. A query has one loop at a time.
    mutable Array<ToldRows> told{Owner("query")};
    mutable Array<NotedRows> noted{Owner("query")};    // one, if only what came, went or changed is visited
    mutable Array<SortedRows> sorted{Owner("query")};  // one, if rows are visited in an order of their own
    Array<PlanState> further{
        Owner("query")};  // one, of the values of a `many` type of the database that are not the first
};

/// Runs a loop on this thread that does not sort, lock or mark. Requires: the plan is held.
void visit_unsorted(const PlanState& plan, const LoopFunction& function);

/// Keeps the rows of a plan where they are, and takes in what has changed since its last loop.
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

/// Room for some elements, without an allocation if they are few. What is in it is arbitrary.
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

// Makes plans: finds the stores of the terms, and what the query requires of each store.

#include "query/plan_state.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/owners_by_value.h"

namespace shoal::detail {
namespace {

/// Asserts that a term may use the columns that a store keeps for a component type.
void require_use(const OwningStore& keeper, const PlanTerm& term) {
    if (keeper.database != nullptr) return;
    const OwnedColumns& columns = keeper.columns;
    const Schema& component = *term.component;
    const std::string name = concat("a query over a world names \"", component.name(), "\", ");
    if (term.is_field && !columns.has_fields)
        fail_assertion("keeper.columns.has_fields",
                       concat(name, "whose store keeps its fields in another form; say With, or ask the store"));
    if (term.writes && columns.is_read_only)
        fail_assertion("!keeper.columns.is_read_only",
                       concat(name, "which its store computes; say Read, and ", columns.instead));
    if (term.writes && columns.is_source && columns.first_column + component.columns().size() > 64)
        fail_assertion(
            "first_column + num_columns <= 64",
            concat(name,
                   "whose store is told what is written in columns 0 to 63 of its table, and keeps it behind "
                   "them; say Read, or call the store"));
}

/// Finds the store of a term. Requires: a store keeps the component type, and supports this use of it.
OwningStore find_owning_store(ComponentDirectory& directory, const PlanTerm& term) {
    const Schema& component = *term.component;
    directory.require_or_end(component);
    if (const OwningStore keeper = look_up_owning_store(directory, component); keeper.store != nullptr) {
        require_use(keeper, term);
        return keeper;
    }
    if (directory.find(component.id()) != nullptr)
        fail_assertion("keeper.columns", concat("a query over a world names \"", component.name(),
                                                "\", whose store shows queries no rows; see Store::find_columns()"));
    fail_assertion(
        "keeper.store != nullptr",
        concat("a query over a world names \"", component.name(),
               "\", which none of its stores keeps; call world.manager<T>() or world.database().component<T>() "
               "before the query is made"));
}

/// Returns the store that lists the entities of each tag; makes the store if there is none. Requires: the store of tags
/// has these lists.
Store& require_tag_store(ComponentDirectory& directory) {
    const ComponentId tag("tag");
    const Status made = directory.require_built_in(tag);
    SHOAL_ASSERT(made.ok(), made.ok() ? "" : made.message().data());
    Store* const store = directory.find(tag);
    const bool lists = store != nullptr && find_tag_lists(*store) != nullptr;
    SHOAL_ASSERT(lists,
                 "a query asks who has a tag, but this world keeps its tags in a store that does not list that; call "
                 "World::manager<Tag>() before tags are used");
    return *store;
}

/// Returns the component type of the parent link. If no store keeps the type, makes the transforms, which keep it.
const Schema& require_parents(ComponentDirectory& directory) {
    if (const KeptComponent kept = directory.find_kept(ComponentId(kParentName))) return *kept.schema;
    const Status made = directory.require_built_in(ComponentId("transform"));
    SHOAL_ASSERT(made.ok(), made.ok() ? "" : made.message().data());
    const KeptComponent kept = directory.find_kept(ComponentId(kParentName));
    SHOAL_ASSERT(kept, "a query reads components of parents, and no store says who they are");
    return *kept.schema;
}

/// Fills in a plan.
class PlanMaker {
public:
    explicit PlanMaker(PlanState& plan) : plan_(plan), places_(plan.places) {}

    /// Records the store of a term.
    void place(std::uint32_t number, const OwningStore& keeper) {
        const PlanTerm& term = plan_.terms[number];
        const std::uint8_t store = add(keeper);
        JoinedStore& joined = places_.stores[store];
        places_.store_of[number] = store;
        places_.first_column[number] = keeper.columns.first_column;
        if (keeper.database != nullptr) plan_.types[number] = {keeper.component};
        const bool is_only_link = term.is_link && keeper.database == nullptr;  // looked up if a link may have changed
        joined.is_looked_up |= !term.is_related() && !is_only_link && term.noted != Noted::kRemoved;
        if (term.any_of != PlanTerm::kNoAny)
            return places_.any.push_back({static_cast<std::uint8_t>(term.any_of), store, keeper.component});
        if (term.noted != Noted::kNothing) note(keeper, term);
        joined.is_told |= term.writes && keeper.columns.is_source;
        if (term.is_related() || term.is_link) return;
        joined.is_required |= !term.is_optional && !term.excludes;
        joined.is_excluded |= keeper.database == nullptr && term.excludes;
        // In a manager, each row is a value. In the database, a row has only an entity's first value.
        joined.is_driver |= term.is_each_value && plan_.terms.size() > 1 && keeper.database == nullptr;
    }
    std::uint8_t add(const OwningStore& keeper) {
        const std::uint8_t number = places_.add({keeper.store, keeper.columns.rows, keeper.columns.needs_parent});
        places_.stores[number].is_derived |= keeper.columns.is_read_only || keeper.columns.is_source;
        if (keeper.database == nullptr) return number;
        SHOAL_ASSERT(!places_.has_database() || places_.database == number,
                     "a query over a world names components of two databases, and joins one with other stores; make a "
                     "query for each, or keep a component type in a manager, World::manager<T>()");
        places_.database = number;
        return number;
    }
    /// For a `many` type in the database, plans the loop over all values except each entity's first. These values are
    /// in a separate table, which is the driver.
    void plan_further() {
        std::uint32_t of_values = 0;
        while (of_values < plan_.terms.size() && !plan_.terms[of_values].is_each_value) ++of_values;
        if (of_values == plan_.terms.size() || !plan_.types[of_values]) return;
        const ComponentType type = plan_.types[of_values];
        PlanState further(plan_.terms);
        if (plan_.terms.size() > 1) further = plan_;
        // This loop is driven by the table of the further values, not by the database.
        if (further.places.has_database()) further.places.stores[further.places.database].is_driver = false;
        const std::uint8_t number = further.places.add({.store = &plan_.database(),
                                                        .rows = plan_.database().further_values(type),
                                                        .is_required = true,
                                                        .is_looked_up = true,
                                                        .is_driver = true});
        for (std::uint32_t term = of_values; term < further.terms.size(); ++term) {
            if (!further.terms[term].is_each_value) continue;
            further.places.store_of[term] = number;
            further.types[term] = {};
        }
        PlanMaker(further).complete();
        plan_.further.push_back(static_cast<PlanState&&>(further));
        plan_.note_shape();
    }
    /// Records each link once.
    void find_links() {
        for (std::uint32_t number = 0; number < plan_.terms.size(); ++number) {
            if (!plan_.terms[number].is_link) continue;
            std::uint32_t same = 0;
            while (same < plan_.links.size() && !is_same_link(plan_.links[same], number)) ++same;
            if (same == plan_.links.size()) plan_.links.push_back(number);
            for (PlanTerm& term : plan_.terms)
                if (term.link == number) term.link = static_cast<std::uint16_t>(plan_.links[same]);
        }
    }
    /// Computes facts that depend on the stores of the terms.
    void complete() {
        for (const PlanTerm& term : plan_.terms)
            places_.sees_inactive |= term.component->name() == kInactiveName && !term.is_related();
        make_match();
        plan_.locked = places_.locked();
        plan_.recent.clear(), plan_.recent_links.clear();
        plan_.recent.resize(plan_.links.size() + plan_.fields.size());
        plan_.recent_links.resize(plan_.links.size());
        for (std::size_t i = 0; i < plan_.fields.size(); ++i)
            if (plan_.field(i).is_related())
                plan_.recent[plan_.is_of_database(i) ? plan_.link_of(i) : plan_.links.size() + i].keep();
        plan_.told.clear();
        for (std::uint8_t store = 0; store < places_.stores.size(); ++store)
            if (places_.stores[store].is_told) plan_.told.push_back(ToldRows(store));
        plan_.note_shape();
    }

private:
    void note(const OwningStore& keeper, const PlanTerm& term) {
        SHOAL_ASSERT(plan_.noted.empty(), "a query asks once for what came, went or changed; make a query for each");
        plan_.noted.push_back(NotedRows(*keeper.store, *term.component, term.noted));
    }
    bool is_same_link(std::uint32_t a, std::uint32_t b) const {
        const PlanTerm &one = plan_.terms[a], &other = plan_.terms[b];
        return one.component->id() == other.component->id() && one.first_column == other.first_column &&
               one.offset == other.offset;
    }
    void make_match() {
        plan_.match.clear(), plan_.required.clear(), plan_.excluded.clear();
        if (!places_.has_database()) return;
        FewArray<ComponentType, 8> with{Owner("query")}, without{Owner("query")};
        for (std::uint32_t number = 0; number < plan_.terms.size(); ++number) {
            const PlanTerm& term = plan_.terms[number];
            const ComponentType type = plan_.types[number];
            if (!type || term.is_optional || term.is_related() || term.any_of != PlanTerm::kNoAny) continue;
            (term.excludes ? without : with).push_back(type);
            if (plan_.database().schema(type).enableable())
                (term.excludes ? plan_.excluded : plan_.required).push_back(type);
        }
        plan_.match.emplace_back(plan_.database(), std::span<const ComponentType>(with),
                                 std::span<const ComponentType>(without));
    }

    PlanState& plan_;
    TermStores& places_;
};

}  // namespace

OwningStore look_up_owning_store(const ComponentDirectory& directory, const Schema& component) {
    OwningStore keeper;
    keeper.store = directory.find_shown(component);
    if (keeper.store == nullptr) return keeper;
    keeper.columns = keeper.store->find_columns(component);
    if (keeper.columns) return keeper;
    keeper.database = dynamic_cast<Database*>(keeper.store);  // tables of a database are matched, not looked up
    const ComponentType type =
        keeper.database == nullptr ? ComponentType() : keeper.database->find_component(component.id());
    if (!type) return {};
    keeper.component = type.number;
    return keeper;
}

void PlanState::note_shape() {
    std::size_t num_deciding = 0;
    for (std::uint8_t store = 0; store < places.stores.size(); ++store)
        if (places.decides(store)) alone = store, ++num_deciding;
    looks_up = num_deciding < places.stores.size();
    is_alone = links.empty() && noted.empty() && places.any.empty() && num_deciding == 1 &&
               (alone == places.database || places.visits_all(places.stores[alone]));
    // The function can look up rows only in paged indices.
    for (std::uint8_t store = 0; store < places.stores.size(); ++store)
        if (!places.decides(store)) is_alone &= places.stores[store].rows->index().kind() == RowIndexKind::kPaged;
    has_all_fields = true, has_lists = false;
    written.clear(), own_columns.clear();
    noted_columns.clear(), num_archetypes = 0;
    for (const JoinedStore& store : places.stores) has_lists |= store.lists != nullptr;
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
        const PlanTerm& term = field(i);
        has_all_fields &= !term.is_optional;
        for (std::uint32_t c = 0; term.writes && c < term.num_columns; ++c)
            if (term.writes_column(c))
                written.push_back({static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(term.first_column + c)});
    }
    for (const WrittenColumn one : written)
        own_columns.push_back(static_cast<std::uint16_t>(places.first_column[fields[one.field]] + one.column));
    for (const std::uint32_t term : fields)
        own_columns.push_back(static_cast<std::uint16_t>(places.first_column[term]));
    is_plain = is_alone && has_all_fields && required.empty() && excluded.empty() && told.empty() && sorted.empty() &&
               also_held.empty() && further.empty();
}

void PlanState::refresh_lists() const {
    for (const JoinedStore& store : places.stores)
        if (store.lists != nullptr) store.lists->refresh();
}

void PlanState::refresh_further() const {
    for (const PlanState& one : further) one.refresh();
}

void PlanState::note_archetypes() const {
    const auto archetypes = database().archetypes();
    for (; num_archetypes < archetypes.size(); ++num_archetypes) {
        const auto first_column_of = [&](std::uint32_t term) {
            return archetypes[num_archetypes]->first_column(types[term]);
        };
        for (const WrittenColumn one : written)
            noted_columns.push_back(static_cast<std::uint16_t>(first_column_of(fields[one.field]) + one.column));
        for (const std::uint32_t term : fields)
            noted_columns.push_back(static_cast<std::uint16_t>(first_column_of(term)));
    }
}

void PlanState::begin_links() const {
    for (std::size_t link = 0; link < links.size(); ++link) {
        const std::uint32_t term = links[link];
        const JoinedStore& store = places.stores[places.store_of[term]];
        const bool keeps = store.rows != nullptr && !store.is_looked_up && !store.rows->schema().many();
        recent_links[link].begin(keeps ? &store.rows->table() : nullptr,
                                 places.first_column[term] + terms[term].first_column);
    }
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (field(i).is_related() && !is_of_database(i))
            recent[links.size() + i].moved.find(places.stores[store_of(i)].rows->table());
}

void PlanState::reserve_links(const DatabaseTable* of_database, std::uint32_t num_rows) const {
    const std::uint32_t number = of_database == nullptr ? 0 : of_database->number();
    for (RecentRows& rows : recent) rows.reserve(number, num_rows);
    for (std::size_t link = 0; link < links.size(); ++link)
        recent_links[link].reserve(
            number, num_rows, recent[link].is_kept() ? database().all_tables() : std::span<DatabaseTable* const>());
}

std::uint64_t PlanState::written_columns(std::uint8_t store) const {
    std::uint64_t columns = 0;
    for (const WrittenColumn one : written)
        if (store_of(one.field) == store)
            columns |= std::uint64_t(1) << (places.first_column[fields[one.field]] + one.column);
    return columns;
}

QueryPlan PlanState::make(std::span<const PlanTerm> terms, std::span<const OwningStore> keepers) {
    auto* const plan = new PlanState(terms);
    QueryPlan made(plan);
    PlanMaker maker(*plan);
    for (std::uint32_t term = 0; term < terms.size(); ++term) maker.place(term, keepers[term]);
    maker.find_links();
    maker.complete();
    maker.plan_further();
    return made;
}

QueryPlan::QueryPlan(ComponentDirectory& directory, std::span<const PlanTerm> asked) : state_(nullptr) {
    FewArray<PlanTerm, 8> terms{Owner("query")};
    FewArray<OwningStore, 8> keepers{Owner("query")};
    for (PlanTerm term : asked) {
        if (term.component == nullptr) term.component = &require_parents(directory);
        terms.push_back(term);
        keepers.push_back(find_owning_store(directory, term));
    }
    *this = PlanState::make(terms, keepers);
    state_->directory = &directory;
    state_->any_database = find_database(directory);
}

QueryPlan::QueryPlan(std::span<const PlanStore> stores, std::span<const PlanTerm> terms)
    : state_(new PlanState(terms)) {
    PlanMaker maker(*state_);
    OwningStore keepers[2];  // one for the database, and one for a manager
    Database*& database = keepers[0].database;
    for (const PlanStore& store : stores) {
        if (store.rows != nullptr) continue;
        keepers[0].store = store.store;
        database = static_cast<Database*>(store.store);
        JoinedStore& joined = state_->places.stores[maker.add(keepers[0])];
        joined.is_required = joined.is_looked_up = true;
    }
    for (std::uint32_t term = 0; term < terms.size(); ++term) {
        OwningStore* keeper = &keepers[0];
        for (const PlanStore& store : stores) {
            if (store.rows == nullptr || store.rows->schema().id() != terms[term].component->id()) continue;
            keeper = &keepers[1];
            *keeper = {.store = store.store, .columns = {.rows = store.rows}};
        }
        if (keeper->database != nullptr) {
            const Result<ComponentType> type = database->add_component(*terms[term].component);
            SHOAL_ASSERT(type.ok(), type.ok() ? "" : type.status().message().data());
            keeper->component = type->number;
        }
        maker.place(term, *keeper);
    }
    state_->directory = stores[0].store->component_directory();
    state_->any_database = database;
    if (stores.size() == 1) state_->places.stores[0].is_driver = true;  // each of its rows is visited
    maker.complete();
    maker.plan_further();
}

QueryPlan::QueryPlan(const QueryPlan& other) : state_(new PlanState(*other.state_)) {}
QueryPlan& QueryPlan::operator=(const QueryPlan& other) { return *this = QueryPlan(other); }
QueryPlan& QueryPlan::operator=(QueryPlan&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}
QueryPlan::~QueryPlan() { delete state_; }

void QueryPlan::set_zones(const ZoneSet& zones) {
    PlanState& plan = *state_;
    SHOAL_ASSERT(
        plan.any_database != nullptr,
        "zones are a database's, and the world had none when the query was made; call World::database() before");
    for (PlanState* one : {&plan, plan.further.data()}) {
        if (one == nullptr) continue;
        if (!one->places.has_database()) {
            one->places.database = one->places.add({plan.any_database});
            PlanMaker(*one).complete();
        }
        JoinedStore& joined = one->places.stores[one->places.database];
        joined.is_required = joined.is_looked_up = true;
        one->zones = zones;
        one->live_zones = nullptr;
        one->in_zones = true;
    }
}

void QueryPlan::set_live_zones(const LiveZones& zones) {
    state_->live_zones = &zones;
    for (PlanState& further : state_->further) further.live_zones = &zones;
}

void QueryPlan::set_since(std::uint64_t stamp) {
    state_->since = stamp;
    for (PlanState& further : state_->further) further.since = stamp;
}

void QueryPlan::see_inactive() {
    state_->places.sees_inactive = true;
    for (PlanState& further : state_->further) further.places.sees_inactive = true;
}

void PlanState::add_tag(QueryPlan& plan, Store& tags, StringId tag, bool excludes) {
    PlanState& state = *plan.state_;
    state.places.add_tag(tags, tag, excludes);
    state.locked = state.places.locked();
    state.further.clear();
    state.note_shape();
}

void QueryPlan::add_tag(StringId tag, bool excludes) {
    PlanState::add_tag(*this, require_tag_store(*state_->directory), tag, excludes);
}

void QueryPlan::sort_by(std::size_t field, const SortKey& key) {
    SHOAL_ASSERT(state_->further.empty(), "rows of which each value is visited are not sorted");
    state_->sorted.clear();
    state_->sorted.push_back(SortedRows(field, key));
    state_->note_shape();
}

void QueryPlan::write_columns(std::size_t field, std::uint64_t columns) {
    state_->terms[state_->fields[field]].written_columns = columns;
    state_->note_shape();
    for (PlanState& further : state_->further) {
        further.terms[further.fields[field]].written_columns = columns;
        further.note_shape();
    }
}

void QueryPlan::hold(OwnedRows& rows) {
    state_->also_held.push_back(&rows);
    state_->note_shape();
}

Database& QueryPlan::database() const {
    Database* const joined = state_->places.has_database() ? &state_->database() : state_->any_database;
    SHOAL_ASSERT(joined != nullptr, "the world had no database when the query was made");
    return *joined;
}

const Store& QueryPlan::driver() const {
    state_->refresh();
    if (!state_->noted.empty()) return state_->noted[0].store();
    return *state_->places.stores[state_->driver()].store;
}

std::uint64_t QueryPlan::num_rows() const {
    state_->refresh();
    if (!state_->noted.empty()) return state_->noted[0].owners().size();
    std::uint64_t count = state_->num_rows_of(state_->driver());
    for (const PlanState& further : state_->further) count += further.num_rows_of(further.driver());
    return count;
}

Array<Access> QueryPlan::accesses() const {
    const PlanState& plan = *state_;
    Array<Access> accesses("query");
    for (std::size_t i = 0; i < plan.fields.size(); ++i) {
        const PlanTerm& field = plan.field(i);
        const JoinedStore& store = plan.places.stores[plan.store_of(i)];
        Access access{store.store, nullptr, field.component->id(), field.field, field.writes};
        if (store.is_derived) access.component = {}, access.field = kAllFields;
        const bool is_in_zones = plan.in_zones && !field.is_related();  // related entities may be in other zones
        accesses.push_back(is_in_zones ? access.of_query_in(plan.zones, plan.live_zones) : access);
    }
    for (std::uint32_t term = 0; term < plan.terms.size(); ++term) {
        if (plan.terms[term].noted == Noted::kNothing) continue;
        const JoinedStore& store = plan.places.stores[plan.places.store_of[term]];
        const ComponentId component = store.is_derived ? ComponentId() : plan.terms[term].component->id();
        accesses.push_back({store.store, nullptr, component, kAllFields, false});
    }
    for (const std::uint32_t link : plan.links) {
        const JoinedStore& store = plan.places.stores[plan.places.store_of[link]];
        const PlanTerm& term = plan.terms[link];
        Access access{store.store, nullptr, term.component->id(), term.field, false};
        if (store.is_derived) access.component = {}, access.field = kAllFields;
        accesses.push_back(plan.in_zones ? access.of_query_in(plan.zones, plan.live_zones) : access);
    }
    return accesses;
}

ComponentDirectory* QueryPlan::directory() const { return state_->directory; }

Table* QueryPlan::only_table() const {
    return state_->places.is_one_table() ? &state_->places.stores[0].rows->table() : nullptr;
}

}  // namespace shoal::detail

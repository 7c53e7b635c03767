// The calls of a database that create, change and destroy entities, and its implementation of Store.

#include "shoal/database/database.h"

#include "database/arguments.h"
#include "database/memory_shares.h"
#include "database/rows.h"
#include "database/selection.h"
#include "database/spawn_zones.h"
#include "shoal/base/detail/running_pass.h"
#include "shoal/base/text.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/waiting_commands.h"

#include <algorithm>
#include <utility>

namespace shoal {

std::uint32_t detail::take_typed_slot(std::uint32_t* slot) {
    static std::uint32_t last = 0;
    std::uint32_t expected = 0;
    const std::uint32_t mine = __atomic_add_fetch(&last, 1u, __ATOMIC_RELAXED);
    const bool is_first = __atomic_compare_exchange_n(slot, &expected, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return is_first ? mine : expected;
}

void detail::refuse_row(DatabaseRow row, const Schema& component) {
    std::string message;
    if (row.table == nullptr) {
        message =
            concat("\"", component.name(),
                   "\" was asked of no row: the entity is dead, or has no row in the database; look at what find() "
                   "returned first");
    } else if (row.row >= row.table->num_rows()) {
        message =
            concat("\"", component.name(), "\" was asked of row ", row.row, " of a table with ", row.table->num_rows(),
                   ": it was removed or has moved; look rows up again after entities came, "
                   "went or moved");
    } else {
        const Entity entity = row.table->entities()[row.row];
        message = concat("entity ", entity.index(), " (generation ", static_cast<std::uint32_t>(entity.generation()),
                         ") has no \"", component.name(), "\"; ask has() first, or add() it");
    }
    fail_assertion("the row has the component", message);
}

#if SHOAL_CHECKED
void Database::require_current(DatabaseRow row, const Schema& component) const {
    if (row.table == nullptr || !row.known.is_given()) return;
    const std::span<DatabaseTable* const> tables = all_tables();
    const bool is_of_other = row.table->number() >= tables.size() || tables[row.table->number()] != row.table;
    if (!is_of_other && row.known.is_right_for(row.table->row_versions())) return;
    const std::string message =
        is_of_other
            ? concat("\"", component.name(), "\" was asked of a row of another database; call find() of this one")
            : concat("\"", component.name(),
                     "\" was asked of a row that is older than the last removal or move of rows of its table, so it "
                     "may be of another entity; look rows up again after entities came, went or moved");
    fail_assertion("the row is up to date", message);
}
#endif

Database::Database(EntityManager& entities, PagePool& pool, const DatabaseOptions& options)
    : entities_(entities), pool_(pool), options_(options), tables_(pool, directory_, options.capacity_rows) {
    selection_ = make_owned<Selection>("database", directory_, tables_, entities);
    require_options();
    cursor_ = entities.open_death_cursor("the database");
    deaths_seen_ = entities.deaths_end();
    alone_ = make_owned<ComponentDirectory>("database", entities);
    begin_alone(*alone_);
}

Database::~Database() {
    leave_directory();
    // Destructors of components, and of values in commands, may destroy entities; other changes that they request are
    // lost.
    tables_.for_each([this](DatabaseTable& table) {
        while (table.type().schema().has_opaque() && table.num_rows() != 0) remove_row(table, table.num_rows() - 1);
    });
    alone_->end_commands();
    entities_.close_death_cursor(cursor_);
    for (const TypedList* list : lists_) destroy_owned("database", list);
    for (const OwnedRows* further : further_) destroy_owned("database", further);
    destroy_owned("database", spawn_place_);
    destroy_owned("database", selection_);
    destroy_owned("database", alone_);
    watch_zones(false);
}

void Database::require_options() const {
    require_zone(options_.first_zone);
    SHOAL_ASSERT(options_.capacity_rows < kDefaultCapacityRows,
                 "a table of a database holds fewer than kDefaultCapacityRows rows");
}

void Database::refuse_change(const char* call, ComponentType about) const {
    const bool is_known = about.number < schemas().size();
    refuse_structural_call(call, kind(), is_known ? schema(about).name() : std::string_view(),
                           running_pass() != nullptr);
}

// --- component types ---------------------------------------------------------------------------------------------

Result<ComponentType> Database::add_component(const Schema& schema) {
    SHOAL_ASSERT(!directory_.is_held() || find_component(schema.id()),
                 "a component type was named for the first time while passes or loops ran; register it before, and ask "
                 "for changes through Commands");
    const bool is_known = bool(find_component(schema.id()));
    if (!is_known)
        if (Status status = component_directory()->check(*this, schema); !status) return status;
    Result<ComponentType> component = graph_.add_component(schema);
    if (!component || is_known) return component;
    alone_->note(*this, schema.id());
    component_directory()->note(*this, schema.id());
    if (!schema.many()) return component;
    // Further values are removed with the rows of their entities, so their stores need not check for dead entities.
    further_.resize(component->number + 1, nullptr);
    further_[component->number] = make_owned<OwnedRows>("database", graph_.schema(*component), entities_, pool_,
                                                        OwnedRowsOptions{.follows_deaths = false});
    Table& table = further_[component->number]->table();
    table.set_stamp(std::max(stamp_, table.stamp()));
    tables_.list_also(table);
    return component;
}

const Archetype& Database::archetype(std::span<const ComponentType> components) {
    const std::size_t num_before = archetypes().size();
    const Archetype& type = graph_.archetype(components);
    require_known(archetypes().size() == num_before);
    return type;
}

const Archetype& Database::with(const Archetype& type, ComponentType component) {
    require_known(graph_.knows_neighbour(type, component, true));
    return graph_.with(type, component);
}

const Archetype& Database::without(const Archetype& type, ComponentType component) {
    require_known(graph_.knows_neighbour(type, component, false));
    return graph_.without(type, component);
}

ComponentType Database::remember_component(std::uint32_t slot, const Schema& schema) {
    const Result<ComponentType> component = add_component(schema);
    SHOAL_ASSERT(component.ok(), component.ok() ? "" : component.message().data());
    component_slots_.set(slot, component->number);
    return *component;
}

/// Returns the component type of a C++ type; the result is false if there is none.
ComponentType Database::find_described(const Schema& schema) const {
    const Result<ComponentType> component = graph_.find_same(schema);
    SHOAL_ASSERT(component.ok(), component.ok() ? "" : component.message().data());
    return *component;
}

Database::TypedList& Database::remember_list(std::uint32_t slot, std::span<const ComponentType> components) {
    require_known(false);
    if (lists_.size() <= slot) lists_.resize(slot + 1, nullptr);
    auto* list = make_owned<TypedList>("database");
    list->type = &archetype(components);
    return *(lists_[slot] = list);
}

/// Looks up the addresses to which the next row for a list of types is written.
void Database::note_table(TypedList& list, Zone zone, std::span<const ComponentType> components) {
    DatabaseTable* const table = find_table(*list.type, zone);
    if (table == nullptr) return;
    list.table = table;
    list.placement = table->table_.placement();
    list.columns.clear();
    list_columns(*table, components, list.columns);
    list.bits.clear();
    for (const ComponentType component : components)
        if (const int index = list.type->enableable_index(component); index >= 0)
            list.bits.push_back(&table->presence_[static_cast<std::size_t>(index)]);
}

// --- tables that rows move to ------------------------------------------------------------------------------------

Result<DatabaseTable*> Database::table_for(const Archetype& type, Zone zone) {
    SHOAL_ASSERT(graph_.owns(type), "the archetype is of another database");
    return tables_.find_or_make(type, zone);
}

/// Returns the table that an entity moves to when it gains or loses the components of `key`, and remembers it unless
/// `key` is nullptr. find_type(type) returns the archetype of that table.
template <class FindType>
Result<DatabaseTable*> Database::step(DatabaseTable& from, DatabaseTable::Step& last, TypedKey key,
                                      FindType&& find_type) {
    if (key != nullptr && last.key == key) return last.target;
    const Archetype& type = find_type(from.type());
    Result<DatabaseTable*> target = table_for(type, from.zone());
    if (!target || key == nullptr) return target;
    last.key = key;
    last.target = *target;
    last.path.follow(graph_.plan(from.type(), type));
    return target;
}

/// Looks up the addresses that the next row needs for the step that a row has just taken. `change` is what the call
/// does to the bits of the component types it names; names(component) returns whether it names that type.
/// Returns whether the addresses were looked up.
template <class Names>
bool Database::prepare(DatabaseTable& from, DatabaseTable::Step& step, TypedKey key, StepChange change, Names&& names) {
    if (step.key != key) return false;
    step.look_up_reach();
    if (step.path.is_known(from.table_, step.target->table_)) return false;
    DatabaseTable& to = *step.target;
    if (from.has_many() || to.has_many() || !step.path.look_up(from.table_, to.table_)) return false;
    step.bits.clear();
    for (std::size_t i = 0; i < to.presence_.size(); ++i) {
        const ComponentType component = to.type().enableable()[i];
        const int there = from.type().enableable_index(component);
        step.bits.push_back({there < 0 ? nullptr : &from.presence_[static_cast<std::size_t>(there)], &to.presence_[i],
                             names(component) ? change : StepChange::kKeep});
    }
    step.look_up_reach();
    return true;
}

/// Appends the addresses of all columns of some component types.
void Database::list_columns(DatabaseTable& table, std::span<const ComponentType> components,
                            Array<std::byte*>& columns) {
    for (const ComponentType component : components)
        for (std::uint32_t c = 0; c < schema(component).num_columns(); ++c)
            columns.push_back(table.table_.unmarked_column(table.first_column(component) + c));
}

/// Returns the table for entities that gain components.
Result<DatabaseTable*> Database::target_with(DatabaseTable& from, std::span<const ComponentValues> values,
                                             TypedKey key) {
    return step(from, from.last_added_, key, [&](const Archetype& before) -> const Archetype& {
        const Archetype* type = &before;
        for (const ComponentValues& given : values) type = &graph_.with(*type, given.component);
        return *type;
    });
}

/// Returns the table for entities that lose components; enableable components stay in their archetype.
Result<DatabaseTable*> Database::target_without(DatabaseTable& from, std::span<const ComponentType> components,
                                                TypedKey key) {
    return step(from, from.last_removed_, key, [&](const Archetype& before) -> const Archetype& {
        const Archetype* type = &before;
        for (const ComponentType component : components) {
            if (!schema(component).enableable()) type = &graph_.without(*type, component);
        }
        return *type;
    });
}

/// Returns the table for entities that had no row.
Result<DatabaseTable*> Database::first_table(std::span<const ComponentValues> values) {
    BitSet signature{Owner("database")};
    for (const ComponentValues& given : values) {
        graph_.require(given.component);
        signature.set(given.component.number);
    }
    return table_for(graph_.archetype(signature), options_.first_zone);
}

/// Returns the plan for moving rows from one table to another.
const TakePlan& Database::plan_to(const DatabaseTable& from, const DatabaseTable& to) {
    for (const DatabaseTable::Step* step : {&from.last_added_, &from.last_removed_})
        if (step->target == &to) return *step->path.plan();
    return graph_.plan(from.type(), to.type());
}

/// Forgets the targets that steps and lists remember, because tables have been removed.
void Database::forget_steps() {
    for (TypedList* list : lists_)
        if (list != nullptr) list->table = nullptr;
    tables_.for_each([](DatabaseTable& table) { table.last_added_ = {}, table.last_removed_ = {}; });
}

/// If the entities own consecutive rows of a table, moves these rows together and gives them the values of the call.
/// find_target(table) returns the table to which the rows of a table move. Returns how many rows were moved, or 0 if
/// the rows must be moved by group. Errors: out of memory. On error, nothing has changed.
template <class FindTarget>
Result<std::uint32_t> Database::transfer_as_run(Arguments& arguments, FindTarget&& find_target) {
    const DatabaseRow run = find_run(arguments.entities());
    if (!run) return 0u;
    DatabaseTable& from = *run.table;
    Result<DatabaseTable*> target = find_target(from);
    if (!target) return target.status();
    if (!moves_whole(from, **target)) return 0u;
    const auto count = static_cast<std::uint32_t>(arguments.entities().size());
    arguments.keep_values_apart_from(from);
    arguments.keep_values_apart_from(**target);
    if (Status status = reserve_rows(**target, count); !status) return status;
    const std::uint32_t first = transfer_rows(from, **target, RowRange{run.row, run.row + count});
    write_rows(**target, {first, first + count}, &from.type(), arguments.values(), RowRange{0, count});
    return count;
}

/// Finds the target of each selected group and makes room in it, and in `first` for the entities without a row.
/// Errors: out of memory. On error, nothing has changed, and the selection is empty.
template <class FindTarget>
Status Database::prepare_selected(Arguments& arguments, FindTarget&& find_target, DatabaseTable* first) {
    Status status;
    for (Selection::Group& group : selection_->groups()) {
        Result<DatabaseTable*> target = find_target(*group.table);
        if (!target) status = target.status();
        if (target) group.target = *target;
    }
    if (status) {
        for (const Selection::Group& group : selection_->groups()) {
            arguments.keep_apart_from(*group.table);
            if (group.moves()) arguments.keep_apart_from(*group.target);
        }
        if (first != nullptr) arguments.keep_apart_from(*first);
        status = reserve_targets(first);
    }
    if (status && first != nullptr) status = reserve_entries(arguments.entities());
    if (!status) selection_->unselect(arguments.entities());
    return status;
}

// --- creating ----------------------------------------------------------------------------------------------------

Status Database::create(std::span<Entity> out, const Archetype& type, Zone zone,
                        std::span<const ComponentValues> values) {
    require_unlocked("create()");
    if (Status status = entities_.create(out); !status) return status;
    Result<AddCounts> counts = insert(out, type, zone, values);
    if (counts) return {};
    entities_.destroy(std::span<const Entity>(out));
    std::fill(out.begin(), out.end(), kNullEntity);
    return counts.status();
}

Result<AddCounts> Database::insert(std::span<const Entity> entities, const Archetype& type, Zone zone,
                                   std::span<const ComponentValues> values) {
    require_unlocked("insert()");
    if (entities.empty()) return AddCounts();
    for (const ComponentValues& given : values)
        SHOAL_ASSERT(type.has(given.component), "values were given for a component type that the archetype lacks");
    Result<DatabaseTable*> table = table_for(type, zone);
    if (!table) return table.status();
    Arguments arguments(*this, entities, values);
    return insert_into(**table, arguments, false);
}

// --- adding and removing components ------------------------------------------------------------------------------

Result<AddCounts> Database::add(std::span<const Entity> entities, std::span<const ComponentValues> values) {
    if (SHOAL_UNLIKELY(directory_.is_held()))
        refuse_change("add()", values.empty() ? ComponentType() : values[0].component);
    if (entities.empty() || values.empty()) return AddCounts();
    Arguments arguments(*this, entities, values);
    if (AddCounts counts; enable_in_place(arguments, counts)) return counts;
    Result<DatabaseTable*> first = first_table(values);
    if (!first) return first.status();
    if (SHOAL_UNLIKELY(gives_many(values))) return add_further(arguments, **first);
    return add_values(arguments, **first);
}

/// The case of add() in which some of the values are of `many` types: every living entity gains a value.
Result<AddCounts> Database::add_further(Arguments& arguments, DatabaseTable& first) {
    if (Status status = reserve_further(arguments); !status) return status;
    Result<AddCounts> counts = add_values(arguments, first);
    if (counts) counts->num_added += std::exchange(counts->num_set, 0);
    return counts;
}

/// Adds the values to the entities; entities without a row get one in `first`.
Result<AddCounts> Database::add_values(Arguments& arguments, DatabaseTable& first) {
    const std::span<const Entity> entities = arguments.entities();
    const auto find_target = [&](DatabaseTable& from) { return target_with(from, arguments.values(), nullptr); };
    if (!awaits_deaths()) {
        Result<std::uint32_t> num_moved = transfer_as_run(arguments, find_target);
        if (!num_moved) return num_moved.status();
        if (*num_moved != 0) return AddCounts{.num_added = *num_moved};
    }
    selection_->select(entities, Selection::Chosen::kLiving);
    if (selection_->empty() && !selection_->missing().empty()) return insert_into(first, arguments, true);
    if (Status status = prepare_selected(arguments, find_target, &first); !status) return status;
    return add_selected(arguments, &first);
}

AddCounts Database::add_selected(Arguments& arguments, DatabaseTable* first) {
    const std::span<const ComponentValues> values = arguments.values();
    transfer(arguments.entities(), values);
    const Selection& s = *selection_;
    AddCounts counts{.num_skipped = s.num_skipped()};
    for (const Selection::Group& group : s.groups()) {
        const std::uint32_t size = group.size();
        std::uint32_t num_added = group.moves() ? size : 0;
        if (!group.target->presence_.empty())
            for (const std::uint32_t source : s.sources_of(group)) {
                const bool lacked = enable_as_given(find(arguments.entities()[source]), values);
                num_added += lacked && !group.moves();
            }
        counts.num_added += num_added;
        counts.num_set += size - num_added;
    }
    for (const std::uint32_t source : s.missing()) {
        const AddCounts one = insert_reserved(*first, arguments, true, source, source + 1);
        counts.num_added += one.num_added;
        counts.num_set += one.num_set;
    }
    for (const std::uint32_t source : s.repeated()) {
        const DatabaseRow at = find(arguments.entities()[source]);
        write_rows(*at.table, {at.row, at.row + 1}, &at.table->type(), values, RowRange{source, source + 1});
        ++counts.num_set;
    }
    return counts;
}

/// Whether a call has values for any column.
bool Database::have_columns(std::span<const ComponentValues> values) const {
    return std::ranges::any_of(values, [this](const ComponentValues& given) {
        return given.has_values() && schema(given.component).num_columns() != 0;
    });
}

/// Whether the rows of all living entities of a call have all component types of the call. If so, copies arguments that
/// are in tables that the call writes.
bool Database::have_all(Arguments& arguments) {
    const std::span<const ComponentValues> values = arguments.values();
    const bool writes = have_columns(values);
    std::span<const Entity> entities = arguments.entities();
    const LocationOf location_of(directory_, entities);
    std::uint32_t last = LocationOf::kNoTable;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        location_of.fetch_ahead(entities, i);
        const DatabaseDirectory::Location at = location_of(entities[i]);
        if (SHOAL_LIKELY(at && at.table == last)) continue;
        const auto lacks = [&](const ComponentValues& given) { return !tables_[at.table].type().has(given.component); };
        if (!at || std::ranges::any_of(values, lacks)) {
            if (entities_.alive(entities[i])) return false;
            continue;
        }
        last = at.table;
        if (writes) arguments.keep_apart_from(tables_[at.table]), entities = arguments.entities();
    }
    return true;
}

/// Enables or disables the component types of a call for many entities, if they are all enableable and the rows of the
/// living entities have them. Otherwise returns false, and nothing has changed.
bool Database::enable_in_place(Arguments& arguments, AddCounts& counts) {
    const std::span<const ComponentValues> values = arguments.values();
    for (const ComponentValues& given : values) {
        graph_.require(given.component, arguments.entities()[0]);
        if (!schema(given.component).enableable() || find_values(values, given.component) != &given) return false;
    }
    selection_->require_empty();
    if (values.size() == 1 && !awaits_deaths() && !have_columns(values)) {
        RowBits rows(*this, arguments.entities(), values[0].component);
        if (!rows.are_all_there()) return false;
        const bool is_enabled = !values[0].is_disabled;
        const RowBits::Counts bits = rows.set_all(is_enabled);
        counts.num_added = is_enabled ? bits.num_flipped : 0;
        counts.num_set = bits.num_rows - counts.num_added;
    } else {
        if (!have_all(arguments)) return false;
        const std::span<const Entity> entities = arguments.entities();
        for (std::uint32_t i = 0; i < entities.size(); ++i) {
            const DatabaseRow at = find(entities[i]);
            if (!at || is_dead(entities[i])) continue;
            for (const ComponentValues& given : values) write_given(at, given, i);
            ++(enable_as_given(at, values) ? counts.num_added : counts.num_set);
        }
    }
    counts.num_skipped = static_cast<std::uint32_t>(arguments.entities().size()) - counts.num_added - counts.num_set;
    return true;
}

/// Whether a call that removes component types only needs to disable them.
bool Database::only_disables(std::span<const ComponentType> components) const {
    const auto is_enableable = [this](ComponentType component) { return schema(component).enableable(); };
    return std::ranges::all_of(components, is_enableable);
}

/// Disables the components of these types and returns how many entities had any of them. Requires: only_disables().
std::uint32_t Database::disable_in_place(std::span<const Entity> entities, std::span<const ComponentType> components) {
    selection_->require_empty();
    if (components.size() == 1) return RowBits(*this, entities, components[0]).set_all(false).num_flipped;
    std::uint32_t num_changed = 0;
    for (const Entity entity : entities)
        if (const DatabaseRow at = find(entity)) num_changed += disable(at, components);
    return num_changed;
}

Result<AddCounts> Database::add_one(Entity entity, std::span<const ComponentValues> values, TypedKey key) {
    if (SHOAL_UNLIKELY(directory_.is_held()))
        refuse_change("add()", values.empty() ? ComponentType() : values[0].component);
    if (SHOAL_UNLIKELY(!entities_.alive(entity))) return AddCounts{.num_skipped = 1};
    if (SHOAL_UNLIKELY(gives_many(values))) return add({&entity, 1}, values);
    DatabaseRow at = find(entity);
    if (SHOAL_UNLIKELY(!at)) {
        Result<DatabaseTable*> first = first_table(values);
        if (!first) return first.status();
        Arguments arguments(*this, {&entity, 1}, values);
        return insert_into(**first, arguments, true);
    }
    Result<DatabaseTable*> target = target_with(*at.table, values, key);
    if (SHOAL_UNLIKELY(!target)) return target.status();
    const Archetype& before = at.table->type();
    const bool moves = *target != at.table;
    if (SHOAL_LIKELY(moves)) {
        if (SHOAL_UNLIKELY(!(*target)->has_reserved_plain_row()))
            if (Status status = reserve_rows(**target, 1); !status) return status;
        DatabaseTable& from = *at.table;
        at = transfer_row(at, **target, plan_to(from, **target));
        const auto names = [&](ComponentType component) { return find_values(values, component) != nullptr; };
        if (prepare(from, from.last_added_, key, StepChange::kEnable, names)) {
            from.last_added_.gained.clear();
            for (const ComponentValues& given : values)
                list_columns(**target, {&given.component, 1}, from.last_added_.gained);
        }
    }
    write_rows(*at.table, {at.row, at.row + 1}, &before, values, RowRange{0, 1});
    const bool lacked = SHOAL_UNLIKELY(!at.table->presence_.empty()) && enable_as_given(at, values);
    if (values.size() == 1) at.table->note_enableable(values.front().component, key);
    return moves || lacked ? AddCounts{.num_added = 1} : AddCounts{.num_set = 1};
}

Result<std::uint32_t> Database::remove(std::span<const Entity> entities, std::span<const ComponentType> components) {
    if (SHOAL_UNLIKELY(directory_.is_held()))
        refuse_change("remove()", components.empty() ? ComponentType() : components[0]);
    for (const ComponentType component : components)
        graph_.require(component, entities.empty() ? kNullEntity : entities[0]);
    if (only_disables(components)) return disable_in_place(entities, components);
    Arguments arguments(*this, entities, {});
    const auto find_target = [&](DatabaseTable& from) { return target_without(from, components, nullptr); };
    Result<std::uint32_t> num_moved = transfer_as_run(arguments, find_target);
    if (!num_moved || *num_moved != 0) return num_moved;
    selection_->select(entities, Selection::Chosen::kAny);
    if (Status status = prepare_selected(arguments, find_target); !status) return status;
    std::uint32_t num_changed = 0;
    for (const Selection::Group& group : selection_->groups()) {
        num_changed += group.moves() ? group.size() : 0;
        if (group.table->presence_.empty()) continue;
        for (const std::uint32_t row : selection_->rows_of(group))
            num_changed += disable({group.table, row}, components) && !group.moves();
    }
    transfer(arguments.entities(), {});
    return num_changed;
}

Result<bool> Database::remove_one(Entity entity, std::span<const ComponentType> components, TypedKey key) {
    if (SHOAL_UNLIKELY(directory_.is_held()))
        refuse_change("remove()", components.empty() ? ComponentType() : components[0]);
    const DatabaseRow at = find(entity);
    if (SHOAL_UNLIKELY(!at)) return false;
    Result<DatabaseTable*> target = target_without(*at.table, components, key);
    if (SHOAL_UNLIKELY(!target)) return target.status();
    const bool moves = *target != at.table;
    if (SHOAL_LIKELY(moves) && SHOAL_UNLIKELY(!(*target)->has_reserved_plain_row()))
        if (Status status = reserve_rows(**target, 1); !status) return status;
    const bool had = SHOAL_UNLIKELY(!at.table->presence_.empty()) && disable(at, components);
    if (components.size() == 1) at.table->note_enableable(components.front(), key);
    if (SHOAL_LIKELY(moves)) {
        transfer_row(at, **target, plan_to(*at.table, **target));
        const auto names = [&](ComponentType component) { return std::ranges::count(components, component) != 0; };
        prepare(*at.table, at.table->last_removed_, key, StepChange::kDisable, names);
    }
    return moves || had;
}

// --- moving and destroying ---------------------------------------------------------------------------------------

Result<std::uint32_t> Database::move(std::span<const Entity> entities, Zone zone) {
    require_unlocked("move()");
    Arguments arguments(*this, entities, {});
    const auto find_target = [&](DatabaseTable& from) { return table_for(from.type(), zone); };
    Result<std::uint32_t> num_moved = transfer_as_run(arguments, find_target);
    if (!num_moved || *num_moved != 0) return num_moved;
    selection_->select(entities, Selection::Chosen::kAny);
    if (Status status = prepare_selected(arguments, find_target); !status) return status;
    std::uint32_t num_moving = 0;
    for (const Selection::Group& group : selection_->groups()) num_moving += group.moves() ? group.size() : 0;
    transfer(arguments.entities(), {});
    return num_moving;
}

Result<bool> Database::move(Entity entity, Zone zone) {
    require_unlocked("move()");
    const DatabaseRow at = find(entity);
    if (!at) return false;
    Result<DatabaseTable*> target = table_for(at.table->type(), zone);
    if (!target) return target.status();
    if (*target == at.table) return false;
    if (Status status = reserve_rows(**target, 1); !status) return status;
    transfer_row(at, **target, plan_to(*at.table, **target));
    return true;
}

std::uint32_t Database::destroy(std::span<const Entity> entities) {
    require_unlocked("destroy()");
    // The span may point into a table that callbacks reorder.
    Array<Entity> copied("database");
    if (entities_.has_destruction_callbacks()) {
        copied.assign(entities.begin(), entities.end());
        entities = copied;
    }
    const std::uint64_t deaths_before = entities_.deaths_end();
    const std::uint32_t num_destroyed = entities_.destroy(entities);
    drop_destroyed(entities, deaths_before, num_destroyed);
    return num_destroyed;
}

void Database::drop_destroyed(std::span<const Entity> entities, std::uint64_t deaths_before,
                              std::uint32_t num_destroyed) {
    drop(entities);
    // The destroyed entities no longer have rows, but callbacks may have destroyed others.
    const DeathRange dead = entities_.deaths(cursor_);
    const bool was_up_to_date = deaths_seen_ == deaths_before;
    if (was_up_to_date && !dead.fell_behind && dead.entities.size() == num_destroyed) pass_deaths(dead.end);
}

bool Database::destroy(Entity entity) {
    require_unlocked("destroy()");
    const bool has_died = entities_.destroy(entity);
    if (const DatabaseRow at = find(entity)) remove_row(*at.table, at.row);
    return has_died;
}

void Database::drop(std::span<const Entity> entities) {
    require_unlocked("drop()");
    if (entities.size() == 1) {
        if (const DatabaseRow at = find(entities.front())) remove_row(*at.table, at.row);
        return;
    }
    const DatabaseRow run = find_run(entities);
    if (!run || !run.table->is_plain()) {
        selection_->select(entities, Selection::Chosen::kAny);
        drop_selected(entities);
        return;
    }
    const std::span<EntityBits> entries = directory_.rows().entries();
    for (const Entity entity : entities) entries[entity.index()] = 0;
    run.table->table_.remove_rows(RowRange{run.row, run.row + static_cast<std::uint32_t>(entities.size())});
    tables_.count_changes(entities.size());
    tables_.note_rows(*run.table);
}

std::uint32_t Database::clear_zone(Zone zone) {
    require_unlocked("clear_zone()");
    // Destruction callbacks may create entities and settle the database; a table number may then be free or reused.
    Array<std::uint32_t> numbers("database");
    // Callbacks and destructors may destroy further entities before their table is reached.
    bool counts_before = entities_.has_destruction_callbacks();
    for_each_table_of_zone(zone, [&](DatabaseTable& table) {
        numbers.push_back(table.number());
        counts_before |= !table.table_.is_plain() || table.has_many();
    });
    const auto table_at = [&](std::uint32_t number) {
        DatabaseTable* const table = all_tables()[number];
        return table != nullptr && table->zone() == zone && table->num_rows() != 0 ? table : nullptr;
    };
    std::size_t num_living = 0;
    for (const std::uint32_t number : numbers) {
        if (!counts_before) break;
        for (const Entity entity : all_tables()[number]->entities()) num_living += is_dead(entity) ? 0 : 1;
    }
    for (const std::uint32_t number : numbers) {
        if (table_at(number) == nullptr) continue;
        const std::uint64_t changes = tables_.num_changes();
        const std::size_t num_destroyed = entities_.destroy(table_at(number)->entities());
        if (!counts_before) num_living += num_destroyed;
        DatabaseTable* const table = table_at(number);
        if (table == nullptr) continue;
        if (tables_.num_changes() != changes || !table->is_plain()) {
            sweep(*table);
            continue;
        }
        const std::span<EntityBits> entries = directory_.rows().entries();
        for (const Entity entity : table->entities()) entries[entity.index()] = 0;
        tables_.count_changes(table->num_rows());
        table->table_.remove_rows(RowRange{0, table->num_rows()});
        tables_.note_rows(*table);
    }
    return static_cast<std::uint32_t>(num_living);
}

// --- settling ----------------------------------------------------------------------------------------------------

void Database::settle(const SettleContext& context) {
    require_unlocked("settle()");
    WaitingCommands* const commands = component_directory()->commands();
    const bool is_of_world = context.random != nullptr;  // a world may settle stores that callbacks have attached
    SHOAL_ASSERT(is_of_world || commands == nullptr || !commands->is_applying(),
                 "a destruction callback settled the database that settles; settle it later");
    if (commands != nullptr && is_alone()) commands->apply(context.counts);
    std::uint64_t num_removed = 0;
    const DeathRange dead = entities_.deaths(cursor_);
    const bool sweeps = dead.calls_for_sweep(num_rows());
    if (sweeps) {
        pass_deaths(dead.end);  // deaths during the sweep belong to the next settle
        tables_.for_each([&](DatabaseTable& table) { num_removed += table.num_rows() == 0 ? 0 : sweep(table); });
    } else if (!dead.entities.empty()) {
        selection_->select(dead.entities, Selection::Chosen::kDead);
        num_removed += drop_selected(dead.entities);
    }
    if (context.counts != nullptr) context.counts->num_removed += num_removed;
    if (!sweeps) pass_deaths(dead.end);
    stamp_ = std::max(stamp_, context.stamp);
    tables_.for_each([&](DatabaseTable& table) {
        if (table.num_rows() != 0) table.table_.set_stamp(std::max(stamp_, table.table_.stamp()));
    });
    for (OwnedRows* further : further_)
        if (further != nullptr) further->settle_table(context);
    if (tables_.settle_memory()) forget_steps();
    selection_->trim();
}

// --- reports -----------------------------------------------------------------------------------------------------

std::uint64_t Database::num_rows() const {
    std::uint64_t count = 0;
    tables_.for_each([&](const DatabaseTable& table) { count += table.num_rows(); });
    return count;
}

std::uint64_t Database::num_rows(Zone zone) const {
    std::uint64_t count = 0;
    for_each_table_of_zone(zone, [&](const DatabaseTable& table) { count += table.num_rows(); });
    return count;
}

std::size_t Database::statistics(std::span<StoreStatistics> out) const {
    for (std::size_t i = 0; i < out.size() && i < schemas().size(); ++i) {
        out[i] = {};
        out[i].component = schemas()[i]->name();
    }
    std::uint64_t num_components = 0;
    tables_.for_each([&](const DatabaseTable& table) {
        for_each_share(
            *this, table,
            [&](ComponentType component, std::uint32_t num_rows, std::uint64_t num_dead, const MemoryUse& use) {
                num_components += num_rows;
                if (component.number >= out.size()) return;
                out[component.number].num_rows += num_rows;
                out[component.number].num_dead_rows += num_dead;
                out[component.number].rows += use;
            });
    });
    for (std::size_t i = 0; i < out.size() && i < schemas().size() && num_components != 0; ++i)
        out[i].index = memory_share(directory_.memory_use(), out[i].num_rows, num_components);
    for (std::uint32_t i = 0; i < out.size() && i < further_.size(); ++i) {
        if (further_[i] == nullptr) continue;
        StoreStatistics more;
        further_[i]->statistics({&more, 1});
        out[i].num_rows += more.num_rows;
        out[i].num_dead_rows += more.num_dead_rows;
        out[i].rows += more.rows;
        out[i].index += more.index;
    }
    return schemas().size();
}

// --- finding what entities have ----------------------------------------------------------------------------------

void Database::list_tables(const Schema& component, Array<ComponentTable>& tables) {
    const ComponentType type = find_component(component.id());
    if (!type) return;
    tables_.for_each([&](DatabaseTable& table) {
        if (!table.type().has(type)) return;
        tables.push_back({&std::as_const(table).table(), table.first_column(type), true, table.presence(type)});
    });
    if (const OwnedRows* const further = further_values(type)) tables.push_back({&further->table()});
}

ComponentRow Database::find_row(ComponentId component, Entity entity, std::uint32_t index) const {
    return find_value(find_component(component), entity, index);
}

ComponentRow Database::find_value(ComponentType type, Entity entity, std::uint32_t index) const {
    if (!type) return {};
    ComponentRow found{&schema(type)};
    const DatabaseRow at = find(entity);
    if (!at || !at.table->type().has(type)) return found;
    if (index != 0) return find_further(found, type, entity, index);
    found.table = &std::as_const(*at.table).table();
    found.row = at.row;
    found.first_column = at.table->first_column(type);
    found.is_enabled = at.table->has(type, at.row);
    return found;
}

/// Finds value number `index` of an entity that has value 0. Requires: index > 0.
ComponentRow Database::find_further(ComponentRow found, ComponentType component, Entity entity,
                                    std::uint32_t index) const {
    const OwnedRows* const further = further_values(component);
    std::uint32_t row = further == nullptr ? kNilRow : further->find(entity);
    for (; row != kNilRow && index > 1; --index) row = further->table().links(LinkColumn::kChainNext)[row];
    if (row == kNilRow) return found;
    found.table = &further->table();
    found.row = row;
    return found;
}

// --- checks ------------------------------------------------------------------------------------------------------

Status Database::validate() const {
    if (Status status = tables_.validate(); !status) return status;
    std::uint64_t num_entries = 0;
    for (const EntityBits entry : directory_.rows().entries().first(
             std::min<std::size_t>(directory_.rows().entries().size(), entities_.num_indices_used() + 1)))
        num_entries += entry != 0;
    if (num_entries != num_rows())
        return Status::error(concat("database: ", num_rows(), " rows, but ", num_entries, " entries in the directory"));
    for (std::uint32_t number = 0; number < further_.size(); ++number)
        if (further_[number] != nullptr)
            if (Status status = validate_further({number}); !status) return status;
    return {};
}

void Database::require_known(bool is_known) const {
    SHOAL_ASSERT(is_known || !directory_.is_held(),
                 "an archetype was asked for the first time while passes or loops ran; ask for it before");
}

Array<Database*> list_databases(const ComponentDirectory& directory) {
    Array<Database*> databases{Owner("database")};
    for (Store* store : directory.stores())
        if (auto* const database = dynamic_cast<Database*>(store); database != nullptr) databases.push_back(database);
    return databases;
}

Database* find_database(const ComponentDirectory& directory) {
    for (Store* store : directory.stores())
        if (auto* const database = dynamic_cast<Database*>(store); database != nullptr) return database;
    return nullptr;
}

}  // namespace shoal

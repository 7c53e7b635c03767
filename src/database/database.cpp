// The calls of a database: what they make, change and end, and what it is as a store.

#include "shoal/database/database.h"

#include "database/arguments.h"
#include "database/database_internals.h"
#include "database/journal_keeper.h"
#include "database/memory_shares.h"
#include "database/owned_objects.h"
#include "database/selection.h"
#include "database/spawn_zones.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

/// Whether rows go from one table to another column by column.
bool moves_whole(const DatabaseTable& from, const DatabaseTable& to) {
    return &from != &to && from.is_plain() && to.is_plain();
}

}  // namespace

std::uint32_t detail::take_typed_slot(std::uint32_t* slot) {
    static std::uint32_t last = 0;
    std::uint32_t expected = 0;
    const std::uint32_t mine = __atomic_add_fetch(&last, 1u, __ATOMIC_RELAXED);
    const bool is_first = __atomic_compare_exchange_n(slot, &expected, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return is_first ? mine : expected;
}

Database::Database(EntityManager& entities, PagePool& pool, const DatabaseOptions& options)
    : entities_(entities), options_(options), tables_(pool, directory_, options.capacity_rows) {
    selection_ = make_owned<Selection>(directory_, tables_, entities);
    SHOAL_ASSERT(options.first_zone < kMaxZones, "zones are 0 to kMaxZones - 1");
    SHOAL_ASSERT(options.capacity_rows < kDefaultCapacityRows, "a table of a database holds fewer than 2^22 rows");
    cursor_ = entities.open_death_cursor();
    deaths_seen_ = entities.deaths_end();
}

Database::~Database() {
    if (deferred_changes_ != nullptr) deferred_changes_->release();
    keep_journal(0);
    entities_.close_death_cursor(cursor_);
    for (const TypedList* list : lists_) destroy_owned(list);
    destroy_owned(spawn_place_);
    destroy_owned(selection_);
}

DeferredChanges& Database::set_deferred_changes(DeferredChanges& made) {
    DeferredChanges* known = nullptr;
    const bool is_first =
        __atomic_compare_exchange_n(&deferred_changes_, &known, &made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return is_first ? made : *known;
}

// --- component types ---------------------------------------------------------------------------------------------

Result<ComponentType> Database::add_component(const Schema& schema) {
    if (!find_component(schema.id())) require_unlocked();
    return graph_.add_component(schema);
}

ComponentType Database::remember_component(std::uint32_t slot, const Schema& schema) {
    const Result<ComponentType> component = add_component(schema);
    SHOAL_ASSERT(component.ok(), component.ok() ? "" : component.message().data());
    component_slots_.set(slot, component->number);
    return *component;
}

Database::TypedList& Database::remember_list(std::uint32_t slot, std::span<const ComponentType> components) {
    if (lists_.size() <= slot) lists_.resize(slot + 1, nullptr);
    auto* list = make_owned<TypedList>();
    list->type = &archetype(components);
    return *(lists_[slot] = list);
}

/// Looks up where the next row of a list goes, unless it has bits.
void Database::note_table(TypedList& list, Zone zone, std::span<const ComponentType> components) {
    DatabaseTable* const table = find_table(*list.type, zone);
    if (table == nullptr || !list.type->toggled().empty()) return;
    list.table = table;
    list.placement = table->table_.placement();
    list.columns.clear();
    list_columns(*table, components, list.columns);
}

// --- where rows go -----------------------------------------------------------------------------------------------

Result<DatabaseTable*> Database::table_for(const Archetype& type, Zone zone) {
    SHOAL_ASSERT(graph_.owns(type), "the archetype is of another database");
    return tables_.find_or_make(type, zone);
}

/// Returns the table to which an entity goes that gains or loses the components that `key` stands for, and remembers
/// it unless that is nullptr. `find_type(type)` tells which archetype that is.
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

/// Looks up the addresses of the step that a row has just taken, so that the next one need not look them up.
void Database::prepare(DatabaseTable& from, DatabaseTable::Step& step, TypedKey key,
                       std::span<const ComponentValues> gained) {
    if (step.key != key || step.path.is_known(from.table_, step.target->table_)) return;
    if (!moves_whole(from, *step.target) || !step.path.look_up(from.table_, step.target->table_)) return;
    step.gained.clear();
    for (const ComponentValues& given : gained) list_columns(*step.target, {&given.component, 1}, step.gained);
}

/// Appends the addresses of all columns of some component types.
void Database::list_columns(DatabaseTable& table, std::span<const ComponentType> components,
                            Array<std::byte*>& columns) {
    for (const ComponentType component : components)
        for (std::uint32_t c = 0; c < schema(component).columns().size(); ++c)
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

/// Returns the table for entities that lose components; toggled ones stay in their archetype.
Result<DatabaseTable*> Database::target_without(DatabaseTable& from, std::span<const ComponentType> components,
                                                TypedKey key) {
    return step(from, from.last_removed_, key, [&](const Archetype& before) -> const Archetype& {
        const Archetype* type = &before;
        for (const ComponentType component : components) {
            if (!schema(component).toggled()) type = &graph_.without(*type, component);
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

/// Returns how rows go from one table to another.
const TakePlan& Database::plan_to(const DatabaseTable& from, const DatabaseTable& to) {
    for (const DatabaseTable::Step* step : {&from.last_added_, &from.last_removed_})
        if (step->target == &to) return *step->path.plan();
    return graph_.plan(from.type(), to.type());
}

/// Forgets where steps and lists led, for tables have gone.
void Database::forget_steps() {
    for (TypedList* list : lists_)
        if (list != nullptr) list->table = nullptr;
    tables_.for_each([](DatabaseTable& table) { table.last_added_ = table.last_removed_ = {}; });
}

/// Makes room for `count` more rows. Errors: no memory; nothing has changed.
Status Database::reserve_rows(DatabaseTable& table, std::size_t count) {
    if (count == 0) return {};
    const std::uint32_t room = options_.capacity_rows - table.num_rows();
    if (count > room)
        return Status::error(concat("zone ", table.zone(), " holds ", table.num_rows(), " entities of \"",
                                    table.type().schema().name(), "\" and at most ", options_.capacity_rows, "; ",
                                    count, " more do not fit"));
    table.table_.set_stamp(std::max(stamp_, table.table_.stamp()));
    for (PresenceBits& bits : table.presence_)
        if (Status status = bits.reserve(table.num_rows() + static_cast<std::uint32_t>(count)); !status) return status;
    return table.table_.reserve(static_cast<std::uint32_t>(count));
}

// --- making ------------------------------------------------------------------------------------------------------

Status Database::create(std::span<Entity> out, const Archetype& type, Zone zone,
                        std::span<const ComponentValues> values) {
    require_unlocked();
    if (Status status = entities_.create(out); !status) return status;
    Result<AddCounts> counts = insert(out, type, zone, values);
    if (counts) return {};
    entities_.destroy(std::span<const Entity>(out));
    std::fill(out.begin(), out.end(), kNullEntity);
    return counts.status();
}

Result<AddCounts> Database::insert(std::span<const Entity> entities, const Archetype& type, Zone zone,
                                   std::span<const ComponentValues> values) {
    require_unlocked();
    if (entities.empty()) return AddCounts();
    for (const ComponentValues& given : values)
        SHOAL_ASSERT(type.has(given.component), "values were given for a component type that the archetype lacks");
    Result<DatabaseTable*> table = table_for(type, zone);
    if (!table) return table.status();
    Arguments arguments(*this, entities, values);
    return insert_into(**table, arguments, false);
}

/// Gives those living entities at the front that have no row one, and returns how many they are. Requires: reserved.
std::uint32_t Database::place_leading(DatabaseTable& table, std::span<const Entity> entities) {
    const std::span<EntityBits> entries = directory_.rows().entries();
    const std::uint32_t first = table.num_rows();
    auto count = static_cast<std::uint32_t>(entities.size());
    if (!entities_.is_living_run(entities) || !directory_.set_run(entities, table.number(), first)) {
        count = 0;
        for (const Entity entity : entities) {
            if (SHOAL_UNLIKELY(!entities_.alive(entity) || entries[entity.index()] != 0)) break;
            entries[entity.index()] = RowIndex::entry_of(entity, first + count++);
            directory_.set_table(entity.index(), table.number());
        }
    }
    table.table_.append(entities.first(count));
    for (PresenceBits& bits : table.presence_) bits.set({first, first + count}, true);
    tables_.count_changes(count);
    return count;
}

/// Gives living entities without a row one. Those with a row are skipped, or given the values with `sets`.
Result<AddCounts> Database::insert_into(DatabaseTable& table, Arguments& arguments, bool sets) {
    // The living have indices that were given out; whatever else is in the span needs no room.
    const auto num_used = static_cast<std::uint32_t>(entities_.num_indices_used());
    const std::span<const Entity> entities = arguments.entities();
    if (Status status = directory_.reserve(std::min(detail::highest_index(entities), num_used)); !status) return status;
    arguments.keep_apart_from(table);
    if (Status status = reserve_rows(table, entities.size()); !status) return status;
    return insert_reserved(table, arguments, sets, 0, entities.size());
}

/// The same for entities `begin` to `end` - 1 of a call. Requires: reserved.
AddCounts Database::insert_reserved(DatabaseTable& table, Arguments& arguments, bool sets, std::size_t begin,
                                    std::size_t end) {
    AddCounts counts;
    for (std::size_t i = begin; i < end;) {
        const std::uint32_t first = table.num_rows();
        if (const std::uint32_t count = place_leading(table, arguments.entities().subspan(i, end - i)); count != 0) {
            write_rows(table, {first, first + count}, nullptr, arguments.values(), nullptr, i);
            counts.num_added += count;
            i += count;
            continue;
        }
        const Entity entity = arguments.entities()[i];
        const DatabaseRow there = find(entity);
        if (!entities_.alive(entity)) {
            ++counts.num_skipped;
        } else if (there) {
            if (sets)
                write_rows(*there.table, {there.row, there.row + 1}, &there.table->type(), arguments.values(), nullptr,
                           i);
            ++(sets ? counts.num_set : counts.num_skipped);
        } else {  // an older entity on its index has left a row
            DatabaseTable& left = tables_[directory_.table_of(entity.index())];
            arguments.keep_apart_from(left);
            remove_row(left, directory_.rows().find_any_generation(entity));
            continue;
        }
        ++i;
    }
    tables_.note_rows(table);
    return counts;
}

// --- adding and removing components ------------------------------------------------------------------------------

Result<AddCounts> Database::add(std::span<const Entity> entities, std::span<const ComponentValues> values) {
    require_unlocked();
    if (entities.empty() || values.empty()) return AddCounts();
    Arguments arguments(*this, entities, values);
    Result<DatabaseTable*> first = first_table(values);
    if (!first) return first.status();
    if (const DatabaseRow run = find_run(entities); run && !awaits_deaths()) {
        Result<DatabaseTable*> target = target_with(*run.table, values, nullptr);
        if (!target) return target.status();
        const auto count = static_cast<std::uint32_t>(entities.size());
        if (moves_whole(*run.table, **target)) {
            arguments.keep_values_apart_from(*run.table);
            arguments.keep_values_apart_from(**target);
            if (Status status = transfer_run(run, **target, arguments.values(), count); !status) return status;
            return AddCounts{.num_added = count};
        }
    }
    selection_->select(entities, Selection::Chosen::kLiving);
    Selection& s = *selection_;
    if (s.empty() && !s.missing().empty()) return insert_into(**first, arguments, true);
    Status status;
    for (Selection::Group& group : s.groups()) {
        Result<DatabaseTable*> target = target_with(*group.table, values, nullptr);
        if (!target) status = target.status();
        if (target) group.target = *target;
    }
    if (status) {
        keep_apart_from_selected(arguments);
        arguments.keep_apart_from(**first);
        status = reserve_targets(*first, static_cast<std::uint32_t>(s.missing().size()));
    }
    if (status)
        status = directory_.reserve(
            std::min(detail::highest_index(entities), static_cast<std::uint32_t>(entities_.num_indices_used())));
    if (!status) {
        selection_->unselect(arguments.entities());
        return status;
    }
    return add_selected(arguments, *first);
}

AddCounts Database::add_selected(Arguments& arguments, DatabaseTable* first) {
    const std::span<const ComponentValues> values = arguments.values();
    transfer(arguments.entities(), values);
    const Selection& s = *selection_;
    AddCounts counts{.num_skipped = s.num_skipped()};
    for (const Selection::Group& group : s.groups()) {
        const std::uint32_t size = group.size();
        std::uint32_t num_added = group.target != group.table ? size : 0;
        if (!group.target->presence_.empty())
            for (const std::uint32_t source : s.sources_of(group)) {
                const bool lacked = switch_on(find(arguments.entities()[source]), values);
                num_added += group.target == group.table && lacked;
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
        write_rows(*at.table, {at.row, at.row + 1}, &at.table->type(), values, nullptr, source);
        ++counts.num_set;
    }
    return counts;
}

Result<AddCounts> Database::add_one(Entity entity, std::span<const ComponentValues> values, TypedKey key) {
    require_unlocked();
    if (SHOAL_UNLIKELY(!entities_.alive(entity))) return AddCounts{.num_skipped = 1};
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
        at = {*target, transfer_row(at, **target, plan_to(from, **target))};
        prepare(from, from.last_added_, key, values);
    }
    write_rows(*at.table, {at.row, at.row + 1}, &before, values, nullptr, 0);
    const bool lacked = SHOAL_UNLIKELY(!at.table->presence_.empty()) && switch_on(at, values);
    if (values.size() == 1) at.table->note_switch(values.front().component, key);
    return moves || lacked ? AddCounts{.num_added = 1} : AddCounts{.num_set = 1};
}

Result<std::uint32_t> Database::remove(std::span<const Entity> entities, std::span<const ComponentType> components) {
    require_unlocked();
    for (const ComponentType component : components) graph_.require(component);
    Arguments arguments(*this, entities, {});
    if (const DatabaseRow run = find_run(entities)) {
        Result<DatabaseTable*> target = target_without(*run.table, components, nullptr);
        if (!target) return target.status();
        if (moves_whole(*run.table, **target)) {
            const auto count = static_cast<std::uint32_t>(entities.size());
            if (Status status = transfer_run(run, **target, {}, count); !status) return status;
            return count;
        }
    }
    selection_->select(entities, Selection::Chosen::kAny);
    Selection& s = *selection_;
    Status status;
    for (Selection::Group& group : s.groups()) {
        Result<DatabaseTable*> target = target_without(*group.table, components, nullptr);
        if (!target) status = target.status();
        if (target) group.target = *target;
    }
    keep_apart_from_selected(arguments);
    if (status) status = reserve_targets();
    if (!status) {
        selection_->unselect(arguments.entities());
        return status;
    }
    std::uint32_t num_changed = 0;
    for (const Selection::Group& group : s.groups()) {
        const bool moves = group.target != group.table;
        num_changed += moves ? group.size() : 0;
        if (group.table->presence_.empty()) continue;
        for (const std::uint32_t row : s.rows_of(group))
            num_changed += switch_off({group.table, row}, components) && !moves;
    }
    transfer(arguments.entities(), {});
    return num_changed;
}

Result<bool> Database::remove_one(Entity entity, std::span<const ComponentType> components, TypedKey key) {
    require_unlocked();
    const DatabaseRow at = find(entity);
    if (SHOAL_UNLIKELY(!at)) return false;
    Result<DatabaseTable*> target = target_without(*at.table, components, key);
    if (SHOAL_UNLIKELY(!target)) return target.status();
    const bool moves = *target != at.table;
    if (SHOAL_LIKELY(moves) && SHOAL_UNLIKELY(!(*target)->has_reserved_plain_row()))
        if (Status status = reserve_rows(**target, 1); !status) return status;
    const bool had = SHOAL_UNLIKELY(!at.table->presence_.empty()) && switch_off(at, components);
    if (components.size() == 1) at.table->note_switch(components.front(), key);
    if (SHOAL_LIKELY(moves)) {
        transfer_row(at, **target, plan_to(*at.table, **target));
        prepare(*at.table, at.table->last_removed_, key, {});
    }
    return moves || had;
}

// --- moving and ending -------------------------------------------------------------------------------------------

Result<std::uint32_t> Database::move(std::span<const Entity> entities, Zone zone) {
    require_unlocked();
    Arguments arguments(*this, entities, {});
    if (const DatabaseRow run = find_run(entities)) {
        Result<DatabaseTable*> target = table_for(run.table->type(), zone);
        if (!target) return target.status();
        if (moves_whole(*run.table, **target)) {
            const auto count = static_cast<std::uint32_t>(entities.size());
            if (Status status = transfer_run(run, **target, {}, count); !status) return status;
            return count;
        }
    }
    selection_->select(entities, Selection::Chosen::kAny);
    Status status;
    std::uint32_t num_moved = 0;
    for (Selection::Group& group : selection_->groups()) {
        Result<DatabaseTable*> target = table_for(group.table->type(), zone);
        if (!target) status = target.status();
        if (target) group.target = *target;
        num_moved += group.target != group.table ? group.size() : 0;
    }
    keep_apart_from_selected(arguments);
    if (status) status = reserve_targets();
    if (!status) {
        selection_->unselect(arguments.entities());
        return status;
    }
    transfer(arguments.entities(), {});
    return num_moved;
}

std::uint32_t Database::destroy(std::span<const Entity> entities) {
    require_unlocked();
    // Callbacks may reorder whatever table the span shows.
    Array<Entity> copied("database");
    if (entities_.has_destruction_callbacks()) {
        copied.assign(entities.begin(), entities.end());
        entities = copied;
    }
    const bool was_up_to_date = !awaits_deaths();
    const std::uint32_t num_destroyed = entities_.destroy(entities);
    drop(entities);
    // Those that died have no row any more; but callbacks may have let others die.
    const DeathRange dead = entities_.deaths(cursor_);
    if (was_up_to_date && !dead.fell_behind && dead.entities.size() == num_destroyed) pass_deaths(dead.end);
    return num_destroyed;
}

bool Database::destroy(Entity entity) {
    require_unlocked();
    const bool has_died = entities_.destroy(entity);
    if (const DatabaseRow at = find(entity)) remove_row(*at.table, at.row);
    return has_died;
}

void Database::drop(std::span<const Entity> entities) {
    require_unlocked();
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

/// Takes the rows of selected entities of a call away and returns how many went.
std::uint32_t Database::drop_selected(std::span<const Entity> entities) {
    Arguments arguments(*this, entities, {});
    keep_apart_from_selected(arguments);
    entities = arguments.entities();
    Selection& s = *selection_;
    const std::span<EntityBits> entries = directory_.rows().entries();
    Array<Entity> opaque{Owner("database")};  // those whose values have destructors
    for (const Selection::Group& group : s.groups()) {
        DatabaseTable& table = *group.table;
        const std::span<const std::uint32_t> rows = s.rows_of(group), sources = s.sources_of(group);
        if (rows.size() > detail::kFewRows && table.is_plain()) {
            for (const std::uint32_t source : sources) entries[entities[source].index()] = 0;
            table.table_.remove_rows(rows);
            tables_.count_changes(rows.size());
            tables_.note_rows(table);
            continue;
        }
        s.unselect(group, entities);
        for (const std::uint32_t source : sources) {
            if (table.type().schema().has_opaque())
                opaque.push_back(entities[source]);
            else
                remove_row(table, directory_.rows().find(entities[source]));
        }
    }
    const std::uint32_t num_dropped = s.finish();
    // Destructors may destroy other entities, whose rows move: from here on nothing that was selected is looked at.
    for (const Entity entity : opaque)
        if (const DatabaseRow at = find(entity)) remove_row(*at.table, at.row);
    return num_dropped;
}

/// Removes the rows of the dead from a table and returns how many went.
std::uint32_t Database::sweep(DatabaseTable& table) {
    const std::uint32_t before = table.num_rows();
    if (table.is_plain()) {
        tables_.count_changes(table.table_.remove_dead(entities_));
    } else {
        for (std::uint32_t row = before; row-- > 0;)
            if (row < table.num_rows() && !entities_.alive(table.entities()[row])) remove_row(table, row);
    }
    tables_.note_rows(table);
    return before - table.num_rows();
}

std::uint32_t Database::clear_zone(Zone zone) {
    require_unlocked();
    Array<DatabaseTable*> cleared("database");
    for_each_table_of_zone(zone, [&](DatabaseTable& table) { cleared.push_back(&table); });
    std::uint32_t num_destroyed = 0;
    for (DatabaseTable* table : cleared) {
        if (table->num_rows() == 0) continue;
        const std::uint64_t changes = tables_.num_changes();
        num_destroyed += entities_.destroy(table->entities());
        // Destruction callbacks may have brought newcomers.
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
    return num_destroyed;
}

// --- settling ----------------------------------------------------------------------------------------------------

void Database::apply_commands(const SettleContext& context) {
    require_unlocked();
    if (deferred_changes_ != nullptr) deferred_changes_->apply(context.counts);
}

std::uint64_t Database::count_pending_pins(ResourceId resource) const {
    return deferred_changes_ == nullptr ? 0 : deferred_changes_->count_pins(resource);
}

void Database::settle(const SettleContext& context) {
    apply_commands(context);
    std::uint64_t num_removed = 0;
    const DeathRange dead = entities_.deaths(cursor_);
    if (dead.fell_behind || dead.entities.size() > num_rows() / 2) {
        tables_.for_each([&](DatabaseTable& table) { num_removed += table.num_rows() == 0 ? 0 : sweep(table); });
    } else if (!dead.entities.empty()) {
        selection_->select(dead.entities, Selection::Chosen::kDead);
        num_removed += drop_selected(dead.entities);
    }
    if (context.counts != nullptr) context.counts->num_removed += num_removed;
    pass_deaths(dead.end);
    if (journal_ != nullptr) {
        tables_.for_each([&](DatabaseTable& table) { journal_->collect(table, stamp_); });
        journal_->trim();
    }
    stamp_ = std::max(stamp_, context.stamp);
    tables_.for_each([&](DatabaseTable& table) {
        if (table.num_rows() != 0) table.table_.set_stamp(std::max(stamp_, table.table_.stamp()));
    });
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
    return schemas().size();
}

std::uint64_t Database::hash_beside_tables(std::uint64_t hash) const {
    tables_.for_each([&](const DatabaseTable& table) {
        if (table.num_rows() == 0) return;
        const std::uint64_t zone = table.zone();
        hash = hash_bytes(&zone, sizeof zone, hash);
        for (const PresenceBits& bits : table.presence_) {
            const std::uint32_t num_whole = table.num_rows() / 64;
            hash = hash_bytes(bits.words(), num_whole * sizeof(std::uint64_t), hash);
            if (table.num_rows() % 64 == 0) continue;
            const std::uint64_t last = bits.words()[num_whole] << (64 - table.num_rows() % 64);
            hash = hash_bytes(&last, sizeof last, hash);
        }
    });
    return hash;
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
    return {};
}

}  // namespace shoal

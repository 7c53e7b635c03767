// The calls that make, change and end rows.

#include "database/database_internals.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"

#include <algorithm>

namespace shoal {

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
    Call call{*this};
    if (entities.empty()) return AddCounts();
    for (const ComponentValues& given : values)
        SHOAL_ASSERT(type.has(given.component), "values were given for a component type that the archetype lacks");
    Result<DatabaseTable*> table = call.table_for(type, zone);
    if (!table) return table.status();
    return call.insert_into(**table, detail::StableEntities(*this, entities).get(), values, false);
}

/// Gives those living entities at the front that have no row one, and returns how many they are. Requires: reserved.
std::uint32_t Database::Call::place_leading(DatabaseTable& table, std::span<const Entity> entities) {
    const std::span<EntityBits> entries = d.directory_.rows().entries();
    const std::uint32_t first = table.num_rows();
    auto count = static_cast<std::uint32_t>(entities.size());
    if (!d.entities_.is_living_run(entities) || !d.directory_.set_run(entities, table.number(), first)) {
        count = 0;
        for (const Entity entity : entities) {
            if (SHOAL_UNLIKELY(!d.entities_.alive(entity) || entries[entity.index()] != 0)) break;
            entries[entity.index()] = RowIndex::entry_of(entity, first + count++);
            d.directory_.set_table(entity.index(), table.number());
        }
    }
    table.table_.append(entities.first(count));
    for (PresenceBits& bits : table.presence_) bits.set({first, first + count}, true);
    d.num_structural_changes_ += count;
    return count;
}

/// Gives living entities without a row one. Those with a row are skipped, or given the values with `sets`.
Result<AddCounts> Database::Call::insert_into(DatabaseTable& table, std::span<const Entity> entities,
                                              std::span<const ComponentValues> values, bool sets,
                                              std::size_t first_source) {
    // The living have indices that were given out; whatever else is in the span needs no room.
    const auto num_used = static_cast<std::uint32_t>(d.entities_.num_indices_used());
    if (Status status = d.directory_.reserve(std::min(detail::highest_index(entities), num_used)); !status)
        return status;
    if (Status status = reserve_rows(table, entities.size()); !status) return status;
    AddCounts counts;
    for (std::size_t i = 0; i < entities.size();) {
        const std::uint32_t first = table.num_rows();
        if (const std::uint32_t count = place_leading(table, entities.subspan(i)); count != 0) {
            write_rows(table, {first, first + count}, nullptr, values, nullptr, first_source + i);
            counts.num_added += count;
            i += count;
            continue;
        }
        const Entity entity = entities[i];
        const DatabaseRow there = d.find(entity);
        if (!d.entities_.alive(entity)) {
            ++counts.num_skipped;
        } else if (there) {
            if (sets)
                write_rows(*there.table, {there.row, there.row + 1}, &there.table->type(), values, nullptr,
                           first_source + i);
            ++(sets ? counts.num_set : counts.num_skipped);
        } else {  // an older entity on its index has left a row
            remove_row(*d.tables_[d.directory_.table_of(entity.index())],
                       d.directory_.rows().find_any_generation(entity));
            continue;
        }
        ++i;
    }
    d.note_rows(table);
    return counts;
}

// --- adding and removing components ------------------------------------------------------------------------------

/// Returns the table for entities that had no row.
Result<DatabaseTable*> Database::Call::first_table(std::span<const ComponentValues> values) {
    Signature signature;
    for (const ComponentValues& given : values) signature.add(given.component.number);
    return table_for(make_type(signature), d.options_.first_zone);
}

Result<AddCounts> Database::add(std::span<const Entity> added, std::span<const ComponentValues> values) {
    require_unlocked();
    Call call{*this};
    if (added.empty() || values.empty()) return AddCounts();
    const detail::StableEntities stable(*this, added);
    const std::span<const Entity> entities = stable.get();
    Result<DatabaseTable*> first = call.first_table(values);
    if (!first) return first.status();
    if (const DatabaseRow run = call.find_run(entities); run && !awaits_deaths()) {
        Result<DatabaseTable*> target = call.target_with(*run.table, values, nullptr);
        if (!target) return target.status();
        const auto count = static_cast<std::uint32_t>(entities.size());
        if (call.moves_as_run(run, **target)) {
            if (Status status = call.transfer_run(run, **target, entities, values); !status) return status;
            return AddCounts{.num_added = count};
        }
    }
    call.select(entities, Call::Chosen::kLiving);
    Selection& s = *selection_;
    if (s.num_selected == 0 && !s.missing.empty()) return call.insert_into(**first, entities, values, true);
    Status status;
    for (Selection::Group& group : s.groups) {
        Result<DatabaseTable*> target = call.target_with(*group.table, values, nullptr);
        if (!target) status = target.status();
        if (target) group.target = *target;
    }
    if (status) status = call.reserve_targets(*first, static_cast<std::uint32_t>(s.missing.size()));
    if (status)
        status = directory_.reserve(
            std::min(detail::highest_index(entities), static_cast<std::uint32_t>(entities_.num_indices_used())));
    if (!status) {
        call.unselect(entities);
        return status;
    }
    return call.add_selected(entities, values, *first);
}

AddCounts Database::Call::add_selected(std::span<const Entity> entities, std::span<const ComponentValues> values,
                                       DatabaseTable* first) {
    transfer(entities, values);
    const Selection& s = *d.selection_;
    AddCounts counts{.num_skipped = s.num_skipped};
    for (const Selection::Group& group : s.groups) {
        const std::uint32_t size = group.end - group.begin;
        std::uint32_t num_added = group.target != group.table ? size : 0;
        if (!group.target->presence_.empty())
            for (const std::uint32_t source : s.sources_of(group)) {
                const bool lacked = switch_on(d.find(entities[source]), values);
                num_added += group.target == group.table && lacked;
            }
        counts.num_added += num_added;
        counts.num_set += size - num_added;
    }
    for (const std::uint32_t source : s.missing) {
        const AddCounts one = *insert_into(*first, entities.subspan(source, 1), values, true, source);
        counts.num_added += one.num_added;
        counts.num_set += one.num_set;
    }
    for (const std::uint32_t source : s.repeated) {
        const DatabaseRow at = d.find(entities[source]);
        write_rows(*at.table, {at.row, at.row + 1}, &at.table->type(), values, nullptr, source);
        ++counts.num_set;
    }
    return counts;
}

Result<AddCounts> Database::add_one(Entity entity, std::span<const ComponentValues> values, TypedKey key) {
    require_unlocked();
    Call call{*this};
    if (SHOAL_UNLIKELY(!entities_.alive(entity))) return AddCounts{.num_skipped = 1};
    DatabaseRow at = find(entity);
    if (SHOAL_UNLIKELY(!at)) {
        Result<DatabaseTable*> first = call.first_table(values);
        if (!first) return first.status();
        return call.insert_into(**first, {&entity, 1}, values, true);
    }
    Result<DatabaseTable*> target = call.target_with(*at.table, values, key);
    if (SHOAL_UNLIKELY(!target)) return target.status();
    const Archetype& before = at.table->type();
    const bool moves = *target != at.table;
    if (SHOAL_LIKELY(moves)) {
        if (SHOAL_UNLIKELY(!(*target)->has_reserved_plain_row()))
            if (Status status = call.reserve_rows(**target, 1); !status) return status;
        DatabaseTable& from = *at.table;
        at = {*target, call.transfer_row(at, **target, call.plan_to(from, **target))};
        call.prepare(from, from.last_added_, key, values);
    }
    call.write_rows(*at.table, {at.row, at.row + 1}, &before, values, nullptr, 0);
    const bool lacked = SHOAL_UNLIKELY(!at.table->presence_.empty()) && call.switch_on(at, values);
    if (values.size() == 1) call.note_switch(*at.table, values.front().component, key);
    return moves || lacked ? AddCounts{.num_added = 1} : AddCounts{.num_set = 1};
}

Result<std::uint32_t> Database::remove(std::span<const Entity> removed, std::span<const ComponentType> components) {
    require_unlocked();
    Call call{*this};
    const detail::StableEntities stable(*this, removed);
    const std::span<const Entity> entities = stable.get();
    if (const DatabaseRow run = call.find_run(entities)) {
        Result<DatabaseTable*> target = call.target_without(*run.table, components, nullptr);
        if (!target) return target.status();
        if (call.moves_as_run(run, **target)) {
            if (Status status = call.transfer_run(run, **target, entities, {}); !status) return status;
            return static_cast<std::uint32_t>(entities.size());
        }
    }
    call.select(entities, Call::Chosen::kAny);
    Selection& s = *selection_;
    Status status;
    for (Selection::Group& group : s.groups) {
        Result<DatabaseTable*> target = call.target_without(*group.table, components, nullptr);
        if (!target) status = target.status();
        if (target) group.target = *target;
    }
    if (status) status = call.reserve_targets();
    if (!status) {
        call.unselect(entities);
        return status;
    }
    std::uint32_t num_changed = 0;
    for (const Selection::Group& group : s.groups) {
        const bool moves = group.target != group.table;
        num_changed += moves ? group.end - group.begin : 0;
        if (group.table->presence_.empty()) continue;
        for (const std::uint32_t row : s.rows_of(group))
            num_changed += call.switch_off({group.table, row}, components) && !moves;
    }
    call.transfer(entities, {});
    return num_changed;
}

Result<bool> Database::remove_one(Entity entity, std::span<const ComponentType> components, TypedKey key) {
    require_unlocked();
    Call call{*this};
    const DatabaseRow at = find(entity);
    if (SHOAL_UNLIKELY(!at)) return false;
    Result<DatabaseTable*> target = call.target_without(*at.table, components, key);
    if (SHOAL_UNLIKELY(!target)) return target.status();
    const bool moves = *target != at.table;
    if (SHOAL_LIKELY(moves) && SHOAL_UNLIKELY(!(*target)->has_reserved_plain_row()))
        if (Status status = call.reserve_rows(**target, 1); !status) return status;
    const bool had = SHOAL_UNLIKELY(!at.table->presence_.empty()) && call.switch_off(at, components);
    if (components.size() == 1) call.note_switch(*at.table, components.front(), key);
    if (SHOAL_LIKELY(moves)) {
        call.transfer_row(at, **target, call.plan_to(*at.table, **target));
        call.prepare(*at.table, at.table->last_removed_, key, {});
    }
    return moves || had;
}

// --- moving and ending -------------------------------------------------------------------------------------------

Result<std::uint32_t> Database::move(std::span<const Entity> moved, Zone zone) {
    require_unlocked();
    Call call{*this};
    const detail::StableEntities stable(*this, moved);
    const std::span<const Entity> entities = stable.get();
    if (const DatabaseRow run = call.find_run(entities)) {
        Result<DatabaseTable*> target = call.table_for(run.table->type(), zone);
        if (!target) return target.status();
        if (call.moves_as_run(run, **target)) {
            if (Status status = call.transfer_run(run, **target, entities, {}); !status) return status;
            return static_cast<std::uint32_t>(entities.size());
        }
    }
    call.select(entities, Call::Chosen::kAny);
    Status status;
    std::uint32_t num_moved = 0;
    for (Selection::Group& group : selection_->groups) {
        Result<DatabaseTable*> target = call.table_for(group.table->type(), zone);
        if (!target) status = target.status();
        if (target) group.target = *target;
        num_moved += group.target != group.table ? group.end - group.begin : 0;
    }
    if (status) status = call.reserve_targets();
    if (!status) {
        call.unselect(entities);
        return status;
    }
    call.transfer(entities, {});
    return num_moved;
}

std::uint32_t Database::destroy(std::span<const Entity> destroyed) {
    require_unlocked();
    const detail::StableEntities stable(*this, destroyed);
    const std::span<const Entity> entities = stable.get();
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
    if (const DatabaseRow at = find(entity)) Call{*this}.remove_row(*at.table, at.row);
    return has_died;
}

void Database::drop(std::span<const Entity> dropped) {
    require_unlocked();
    Call call{*this};
    if (dropped.size() == 1) {
        if (const DatabaseRow at = find(dropped.front())) call.remove_row(*at.table, at.row);
        return;
    }
    const detail::StableEntities stable(*this, dropped);
    const std::span<const Entity> entities = stable.get();
    const DatabaseRow run = call.find_run(entities);
    if (!run || !call.is_plain(*run.table)) return static_cast<void>(call.drop_rows(entities, Call::Chosen::kAny));
    const std::span<EntityBits> entries = directory_.rows().entries();
    for (const Entity entity : entities) entries[entity.index()] = 0;
    run.table->table_.remove_range({run.row, run.row + static_cast<std::uint32_t>(entities.size())});
    num_structural_changes_ += entities.size();
    note_rows(*run.table);
}

/// Takes the rows of entities away and returns how many went.
std::uint32_t Database::Call::drop_rows(std::span<const Entity> entities, Chosen chosen) {
    select(entities, chosen);
    Selection& s = *d.selection_;
    const std::span<EntityBits> entries = d.directory_.rows().entries();
    for (const Selection::Group& group : s.groups) {
        DatabaseTable& table = *group.table;
        const std::span<const std::uint32_t> rows = s.rows_of(group), sources = s.sources_of(group);
        if (rows.size() > detail::kFewRows && is_plain(table)) {
            for (const std::uint32_t source : sources) entries[entities[source].index()] = 0;
            table.table_.remove_rows(rows);
            d.num_structural_changes_ += rows.size();
            d.note_rows(table);
            continue;
        }
        for (std::size_t i = 0; i < rows.size(); ++i) d.directory_.rows().set(entities[sources[i]], rows[i]);
        for (const std::uint32_t source : sources) remove_row(table, d.directory_.rows().find(entities[source]));
    }
    return std::exchange(s.num_selected, 0);
}

/// Removes the rows of the dead from a table and returns how many went.
std::uint32_t Database::Call::sweep(DatabaseTable& table) {
    const std::uint32_t before = table.num_rows();
    if (is_plain(table)) {
        d.num_structural_changes_ += table.table_.remove_dead(d.entities_);
    } else {
        for (std::uint32_t row = before; row-- > 0;)
            if (!d.entities_.alive(table.entities()[row])) remove_row(table, row);
    }
    d.note_rows(table);
    return before - table.num_rows();
}

std::uint32_t Database::clear_zone(Zone zone) {
    require_unlocked();
    Call call{*this};
    Array<DatabaseTable*> cleared("database");
    for_each_table_of_zone(zone, [&](DatabaseTable& table) { cleared.push_back(&table); });
    std::uint32_t num_destroyed = 0;
    for (DatabaseTable* table : cleared) {
        if (table->num_rows() == 0) continue;
        const std::uint64_t changes = num_structural_changes_;
        num_destroyed += entities_.destroy(table->entities());
        // Destruction callbacks may have brought newcomers.
        if (num_structural_changes_ != changes || !call.is_plain(*table)) {
            call.sweep(*table);
            continue;
        }
        const std::span<EntityBits> entries = directory_.rows().entries();
        for (const Entity entity : table->entities()) entries[entity.index()] = 0;
        num_structural_changes_ += table->num_rows();
        table->table_.attach_index(nullptr);
        table->table_.clear();
        table->table_.attach_index(&directory_.rows());
        note_rows(*table);
    }
    return num_destroyed;
}

}  // namespace shoal

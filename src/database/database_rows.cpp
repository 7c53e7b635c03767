// The calls that make, change and end rows.

#include "database/database_internals.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"

#include <algorithm>

namespace shoal {

// --- arguments ---------------------------------------------------------------------------------------------------

namespace {

bool lies_in(const DatabaseTable& table, const void* address) {
    const auto is_within = [&](const void* begin, std::size_t num_bytes) {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin) < num_bytes;
    };
    if (is_within(table.entities().data(), table.entities().size_bytes())) return true;
    const std::span<const ColumnDefinition> columns = table.type().schema().columns();
    for (std::uint32_t c = 0; c < columns.size(); ++c)
        if (is_within(table.table().column(c), std::size_t(table.num_rows()) * columns[c].element_bytes)) return true;
    return false;
}

}  // namespace

void CallArguments::keep_apart_from(const DatabaseTable& table) {
    if (table.num_rows() == 0) return;
    if (lies_in(table, entities_.data())) {
        copied_entities_.assign(entities_.begin(), entities_.end());
        entities_ = copied_entities_;
    }
    keep_values_apart_from(table);
}

void CallArguments::keep_values_apart_from(const DatabaseTable& table) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const ComponentValues& given = values_[i];
        bool is_inside = given.images != nullptr && lies_in(table, given.images);
        for (const std::byte* column : given.columns) is_inside = is_inside || lies_in(table, column);
        if (!is_inside) continue;
        if (copied_values_.empty()) copied_values_.assign(values_.begin(), values_.end());
        copy_values(copied_values_[i], table);
        values_ = copied_values_;
    }
}

void CallArguments::copy_values(ComponentValues& given, const DatabaseTable& table) {
    const Schema& schema = database_.schema(given.component);
    if (given.images != nullptr) {
        const std::size_t num_before_last = entities_.empty() ? 0 : entities_.size() - 1;
        given.images = copy_bytes(given.images, given.stride * num_before_last + schema.struct_bytes());
    }
    if (given.columns.empty()) return;
    Array<const std::byte*> columns(given.columns.begin(), given.columns.end(), Owner("database"));
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (lies_in(table, columns[c]))
            columns[c] = copy_bytes(columns[c], entities_.size() * schema.columns()[c].element_bytes);
    copied_columns_.push_back(std::move(columns));
    given.columns = copied_columns_.back();
}

const std::byte* CallArguments::copy_bytes(const std::byte* from, std::size_t num_bytes) {
    copied_bytes_.emplace_back(from, from + num_bytes, Owner("database"));
    return copied_bytes_.back().data();
}

/// Before the groups of selected rows go to their targets.
void Database::Call::keep_apart_from_selected(CallArguments& arguments) {
    for (const Selection::Group& group : d.selection_->groups) {
        arguments.keep_apart_from(*group.table);
        if (group.target != group.table) arguments.keep_apart_from(*group.target);
    }
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
    Call call{*this};
    if (entities.empty()) return AddCounts();
    for (const ComponentValues& given : values)
        SHOAL_ASSERT(type.has(given.component), "values were given for a component type that the archetype lacks");
    Result<DatabaseTable*> table = call.table_for(type, zone);
    if (!table) return table.status();
    CallArguments arguments(*this, entities, values);
    return call.insert_into(**table, arguments, false);
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
Result<AddCounts> Database::Call::insert_into(DatabaseTable& table, CallArguments& arguments, bool sets) {
    // The living have indices that were given out; whatever else is in the span needs no room.
    const auto num_used = static_cast<std::uint32_t>(d.entities_.num_indices_used());
    const std::span<const Entity> entities = arguments.entities();
    if (Status status = d.directory_.reserve(std::min(detail::highest_index(entities), num_used)); !status)
        return status;
    arguments.keep_apart_from(table);
    if (Status status = reserve_rows(table, entities.size()); !status) return status;
    return insert_reserved(table, arguments, sets, 0, entities.size());
}

/// The same for entities `begin` to `end` - 1 of a call. Requires: reserved.
AddCounts Database::Call::insert_reserved(DatabaseTable& table, CallArguments& arguments, bool sets, std::size_t begin,
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
        const DatabaseRow there = d.find(entity);
        if (!d.entities_.alive(entity)) {
            ++counts.num_skipped;
        } else if (there) {
            if (sets)
                write_rows(*there.table, {there.row, there.row + 1}, &there.table->type(), arguments.values(), nullptr,
                           i);
            ++(sets ? counts.num_set : counts.num_skipped);
        } else {  // an older entity on its index has left a row
            DatabaseTable& left = *d.tables_[d.directory_.table_of(entity.index())];
            arguments.keep_apart_from(left);
            remove_row(left, d.directory_.rows().find_any_generation(entity));
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
    for (const ComponentValues& given : values) {
        require_registered(given.component);
        signature.add(given.component.number);
    }
    return table_for(make_type(signature), d.options_.first_zone);
}

Result<AddCounts> Database::add(std::span<const Entity> entities, std::span<const ComponentValues> values) {
    require_unlocked();
    Call call{*this};
    if (entities.empty() || values.empty()) return AddCounts();
    CallArguments arguments(*this, entities, values);
    Result<DatabaseTable*> first = call.first_table(values);
    if (!first) return first.status();
    if (const DatabaseRow run = call.find_run(entities); run && !awaits_deaths()) {
        Result<DatabaseTable*> target = call.target_with(*run.table, values, nullptr);
        if (!target) return target.status();
        const auto count = static_cast<std::uint32_t>(entities.size());
        if (call.moves_as_run(run, **target)) {
            arguments.keep_values_apart_from(*run.table);
            arguments.keep_values_apart_from(**target);
            if (Status status = call.transfer_run(run, **target, arguments.values(), count); !status) return status;
            return AddCounts{.num_added = count};
        }
    }
    call.select(entities, Call::Chosen::kLiving);
    Selection& s = *selection_;
    if (s.num_selected == 0 && !s.missing.empty()) return call.insert_into(**first, arguments, true);
    Status status;
    for (Selection::Group& group : s.groups) {
        Result<DatabaseTable*> target = call.target_with(*group.table, values, nullptr);
        if (!target) status = target.status();
        if (target) group.target = *target;
    }
    if (status) {
        call.keep_apart_from_selected(arguments);
        arguments.keep_apart_from(**first);
        status = call.reserve_targets(*first, static_cast<std::uint32_t>(s.missing.size()));
    }
    if (status)
        status = directory_.reserve(
            std::min(detail::highest_index(entities), static_cast<std::uint32_t>(entities_.num_indices_used())));
    if (!status) {
        call.unselect(arguments.entities());
        return status;
    }
    return call.add_selected(arguments, *first);
}

AddCounts Database::Call::add_selected(CallArguments& arguments, DatabaseTable* first) {
    const std::span<const ComponentValues> values = arguments.values();
    transfer(arguments.entities(), values);
    const Selection& s = *d.selection_;
    AddCounts counts{.num_skipped = s.num_skipped};
    for (const Selection::Group& group : s.groups) {
        const std::uint32_t size = group.end - group.begin;
        std::uint32_t num_added = group.target != group.table ? size : 0;
        if (!group.target->presence_.empty())
            for (const std::uint32_t source : s.sources_of(group)) {
                const bool lacked = switch_on(d.find(arguments.entities()[source]), values);
                num_added += group.target == group.table && lacked;
            }
        counts.num_added += num_added;
        counts.num_set += size - num_added;
    }
    for (const std::uint32_t source : s.missing) {
        const AddCounts one = insert_reserved(*first, arguments, true, source, source + 1);
        counts.num_added += one.num_added;
        counts.num_set += one.num_set;
    }
    for (const std::uint32_t source : s.repeated) {
        const DatabaseRow at = d.find(arguments.entities()[source]);
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
        CallArguments arguments(*this, {&entity, 1}, values);
        return call.insert_into(**first, arguments, true);
    }
    Result<DatabaseTable*> target = call.target_with(*at.table, values, key);
    if (SHOAL_UNLIKELY(!target)) return target.status();
    const Archetype& before = at.table->type();
    const bool moves = *target != at.table;
    if (SHOAL_LIKELY(moves)) {
        if (SHOAL_UNLIKELY(!(*target)->has_reserved_plain_row()))
            if (Status status = call.reserve_rows(**target, 1); !status) return status;
        DatabaseTable& from = *at.table;
        at = call.transfer_row(at, **target, call.plan_to(from, **target));
        call.prepare(from, from.last_added_, key, values);
    }
    call.write_rows(*at.table, {at.row, at.row + 1}, &before, values, nullptr, 0);
    const bool lacked = SHOAL_UNLIKELY(!at.table->presence_.empty()) && call.switch_on(at, values);
    if (values.size() == 1) call.note_switch(*at.table, values.front().component, key);
    return moves || lacked ? AddCounts{.num_added = 1} : AddCounts{.num_set = 1};
}

Result<std::uint32_t> Database::remove(std::span<const Entity> entities, std::span<const ComponentType> components) {
    require_unlocked();
    Call call{*this};
    for (const ComponentType component : components) call.require_registered(component);
    CallArguments arguments(*this, entities, {});
    if (const DatabaseRow run = call.find_run(entities)) {
        Result<DatabaseTable*> target = call.target_without(*run.table, components, nullptr);
        if (!target) return target.status();
        if (call.moves_as_run(run, **target)) {
            const auto count = static_cast<std::uint32_t>(entities.size());
            if (Status status = call.transfer_run(run, **target, {}, count); !status) return status;
            return count;
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
    call.keep_apart_from_selected(arguments);
    if (status) status = call.reserve_targets();
    if (!status) {
        call.unselect(arguments.entities());
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
    call.transfer(arguments.entities(), {});
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

Result<std::uint32_t> Database::move(std::span<const Entity> entities, Zone zone) {
    require_unlocked();
    Call call{*this};
    CallArguments arguments(*this, entities, {});
    if (const DatabaseRow run = call.find_run(entities)) {
        Result<DatabaseTable*> target = call.table_for(run.table->type(), zone);
        if (!target) return target.status();
        if (call.moves_as_run(run, **target)) {
            const auto count = static_cast<std::uint32_t>(entities.size());
            if (Status status = call.transfer_run(run, **target, {}, count); !status) return status;
            return count;
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
    call.keep_apart_from_selected(arguments);
    if (status) status = call.reserve_targets();
    if (!status) {
        call.unselect(arguments.entities());
        return status;
    }
    call.transfer(arguments.entities(), {});
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
    if (const DatabaseRow at = find(entity)) Call{*this}.remove_row(*at.table, at.row);
    return has_died;
}

void Database::drop(std::span<const Entity> entities) {
    require_unlocked();
    Call call{*this};
    if (entities.size() == 1) {
        if (const DatabaseRow at = find(entities.front())) call.remove_row(*at.table, at.row);
        return;
    }
    const DatabaseRow run = call.find_run(entities);
    if (!run || !run.table->is_plain()) return static_cast<void>(call.drop_rows(entities, Call::Chosen::kAny));
    const std::span<EntityBits> entries = directory_.rows().entries();
    for (const Entity entity : entities) entries[entity.index()] = 0;
    run.table->table_.remove_rows(RowRange{run.row, run.row + static_cast<std::uint32_t>(entities.size())});
    num_structural_changes_ += entities.size();
    note_rows(*run.table);
}

/// Takes the rows of entities away and returns how many went.
std::uint32_t Database::Call::drop_rows(std::span<const Entity> entities, Chosen chosen) {
    select(entities, chosen);
    CallArguments arguments(d, entities, {});
    keep_apart_from_selected(arguments);
    entities = arguments.entities();
    Selection& s = *d.selection_;
    const std::span<EntityBits> entries = d.directory_.rows().entries();
    Array<Entity> opaque{Owner("database")};  // those whose values have destructors
    for (const Selection::Group& group : s.groups) {
        DatabaseTable& table = *group.table;
        const std::span<const std::uint32_t> rows = s.rows_of(group), sources = s.sources_of(group);
        if (rows.size() > detail::kFewRows && table.is_plain()) {
            for (const std::uint32_t source : sources) entries[entities[source].index()] = 0;
            table.table_.remove_rows(rows);
            d.num_structural_changes_ += rows.size();
            d.note_rows(table);
            continue;
        }
        for (std::size_t i = 0; i < rows.size(); ++i) d.directory_.rows().set(entities[sources[i]], rows[i]);
        for (const std::uint32_t source : sources)
            if (table.type().schema().has_opaque())
                opaque.push_back(entities[source]);
            else
                remove_row(table, d.directory_.rows().find(entities[source]));
    }
    const std::uint32_t num_dropped = std::exchange(s.num_selected, 0);
    // Destructors may destroy others, whose rows move; what was selected is not looked at any more.
    for (const Entity entity : opaque)
        if (const DatabaseRow at = d.find(entity)) remove_row(*at.table, at.row);
    return num_dropped;
}

/// Removes the rows of the dead from a table and returns how many went.
std::uint32_t Database::Call::sweep(DatabaseTable& table) {
    const std::uint32_t before = table.num_rows();
    if (table.is_plain()) {
        d.num_structural_changes_ += table.table_.remove_dead(d.entities_);
    } else {
        for (std::uint32_t row = before; row-- > 0;)
            if (row < table.num_rows() && !d.entities_.alive(table.entities()[row])) remove_row(table, row);
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
        if (num_structural_changes_ != changes || !table->is_plain()) {
            call.sweep(*table);
            continue;
        }
        const std::span<EntityBits> entries = directory_.rows().entries();
        for (const Entity entity : table->entities()) entries[entity.index()] = 0;
        num_structural_changes_ += table->num_rows();
        table->table_.remove_rows(RowRange{0, table->num_rows()});
        note_rows(*table);
    }
    return num_destroyed;
}

}  // namespace shoal

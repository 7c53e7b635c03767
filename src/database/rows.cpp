// Adds, moves and removes rows in a database's tables, and writes their values.

#include "database/rows.h"
#include "database/arguments.h"
#include "database/selection.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/copy_elements.h"

#include <algorithm>
#include <cstring>

namespace shoal {

// --- room --------------------------------------------------------------------------------------------------------

/// Makes room for `count` more rows. Errors: out of memory. On error, nothing has changed.
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

Status Database::reserve(const Archetype& type, Zone zone, std::size_t count) {
    require_unlocked("reserve()");
    const std::uint64_t highest = std::min(entities_.num_indices_used() + count, entities_.max_entities());
    if (Status status = directory_.reserve(static_cast<std::uint32_t>(highest)); !status) return status;
    Result<DatabaseTable*> table = table_for(type, zone);
    return table ? reserve_rows(**table, count) : table.status();
}

/// Makes room in the directory for the entities that were created; other ids in the span need no room.
Status Database::reserve_entries(std::span<const Entity> entities) {
    std::uint32_t highest = 0;
    for (const Entity entity : entities) highest = std::max(highest, entity.index());
    return directory_.reserve(std::min(highest, static_cast<std::uint32_t>(entities_.num_indices_used())));
}

/// Makes room in the targets of all groups, and in `first` for the entities without a row. Errors: out of memory. On
/// error, no row has changed.
Status Database::reserve_targets(DatabaseTable* first) {
    return reserve_in_all([&](auto&& visit) {
        if (first != nullptr) visit(*first, static_cast<std::uint32_t>(selection_->missing().size()));
        for (const Selection::Group& group : selection_->groups())
            if (group.moves()) visit(*group.target, group.size());
    });
}

// --- adding ------------------------------------------------------------------------------------------------------

/// Gives rows to the leading entities that are alive and have no row, and returns how many entities got a row.
/// Requires: room is reserved.
std::uint32_t Database::place_leading(DatabaseTable& table, std::span<const Entity> entities) {
    const std::uint32_t first = table.num_rows();
    const std::uint32_t count = directory_.set_leading(entities, entities_, table.number(), first);
    table.table_.append(entities.first(count));
    for (PresenceBits& bits : table.presence_) bits.set({first, first + count}, true);
    tables_.count_changes(count);
    return count;
}

/// Gives rows to living entities that have none. An entity that has a row is skipped or, if `sets`, is given the
/// values.
Result<AddCounts> Database::insert_into(DatabaseTable& table, Arguments& arguments, bool sets) {
    if (Status status = reserve_entries(arguments.entities()); !status) return status;
    arguments.keep_apart_from(table);
    if (Status status = reserve_rows(table, arguments.entities().size()); !status) return status;
    return insert_reserved(table, arguments, sets, 0, arguments.entities().size());
}

/// Like insert_into(), but for a call's entities in [begin, end). Requires: room is reserved.
AddCounts Database::insert_reserved(DatabaseTable& table, Arguments& arguments, bool sets, std::size_t begin,
                                    std::size_t end) {
    AddCounts counts;
    for (std::size_t i = begin; i < end;) {
        const auto source = static_cast<std::uint32_t>(i);
        const std::uint32_t first = table.num_rows();
        if (const std::uint32_t count = place_leading(table, arguments.entities().subspan(i, end - i)); count != 0) {
            write_rows(table, {first, first + count}, nullptr, arguments.values(), RowRange{source, source + count});
            disable_as_given(table, {first, first + count}, arguments.values());
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
                write_rows(*there.table, {there.row, there.row + 1}, &there.table->type(), arguments.values(),
                           RowRange{source, source + 1});
            ++(sets ? counts.num_set : counts.num_skipped);
        } else {  // an older entity with this index has left a row behind
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

// --- runs --------------------------------------------------------------------------------------------------------

/// Returns the first row if the entities own consecutive rows, in order; otherwise the nil row.
DatabaseRow Database::find_run(std::span<const Entity> entities) const {
    selection_->require_empty();  // checked here because every path of a call gets here
    const DatabaseRow first = entities.size() <= detail::kFewRows ? DatabaseRow() : find(entities.front());
    if (!first || entities.size() > first.table->num_rows() - first.row) return {};
    const Entity* const owners = first.table->entities().data() + first.row;
    return std::memcmp(owners, entities.data(), entities.size_bytes()) == 0 ? first : DatabaseRow();
}

// --- moving ------------------------------------------------------------------------------------------------------

/// Moves every group to its target and gives it the values of the call. If a group stays in its table, only its values
/// are written.
void Database::transfer(std::span<const Entity> entities, std::span<const ComponentValues> values) {
    Selection& s = *selection_;
    const auto goes_singly = [](const Selection::Group& group) {
        return !moves_whole(*group.table, *group.target) || group.size() <= detail::kFewRows;
    };
    for (const Selection::Group& group : s.groups()) {
        if (goes_singly(group)) {
            s.unselect(group, entities);
            continue;
        }
        const std::uint32_t first = transfer_rows(*group.table, *group.target, s.rows_of(group));
        write_rows(*group.target, {first, group.target->num_rows()}, &group.table->type(), values, s.sources_of(group));
    }
    for (const Selection::Group& group : s.groups()) {
        if (!goes_singly(group)) continue;
        DatabaseTable& from = *group.table;
        DatabaseTable& to = *group.target;
        const TakePlan& plan = plan_to(from, to);
        const std::span<const std::uint32_t> rows = s.rows_of(group), sources = s.sources_of(group);
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (i + detail::kRowsAhead < rows.size()) from.table_.prefetch(rows[i + detail::kRowsAhead]);
            const std::uint32_t source = sources[i];
            DatabaseRow at = find(entities[source]);
            if (!at) continue;  // the destructor of a dropped value has destroyed the entity
            SHOAL_ASSERT(at.table == &from, Selection::kRuleForDestructors);
            if (&from != &to) at = transfer_row(at, to, plan);
            if (at.table == &to)
                write_rows(to, {at.row, at.row + 1}, &from.type(), values, RowRange{source, source + 1});
        }
    }
    s.finish();
}

/// Moves rows that are only bytes, and returns the first of their new rows. Requires: room is reserved.
std::uint32_t Database::transfer_rows(DatabaseTable& from, DatabaseTable& to, RowList rows) {
    const std::uint32_t first = to.table_.take(from.table_, rows, plan_to(from, to));
    directory_.set_table(to.entities().subspan(first), to.number());
    tables_.count_changes(rows.size());
    tables_.note_rows(from);
    tables_.note_rows(to);
    return first;
}

/// Moves one row and returns its position afterwards: the destructors of dropped values may move the row again. New
/// columns are not written. Requires: room is reserved.
DatabaseRow Database::transfer_row(DatabaseRow at, DatabaseTable& target, const TakePlan& plan) {
    DatabaseTable& from = *at.table;
    for (std::size_t i = 0; i < target.presence_.size(); ++i) {
        const ComponentType component = target.type().enableable()[i];
        target.presence_[i].set(target.num_rows(), !from.type().has(component) || from.has(component, at.row));
    }
    for (PresenceBits& bits : from.presence_) bits.set(at.row, bits.get(from.num_rows() - 1));
    const Entity entity = from.entities()[at.row];
    directory_.set_table(entity.index(), target.number());
    const std::uint32_t row = target.table_.take(from.table_, at.row, plan);
    tables_.count_changes();
    if (row == 0) tables_.note_rows(target);
    if (from.num_rows() == 0) tables_.note_rows(from);
    if (SHOAL_UNLIKELY(from.has_many())) drop_further(entity, from.type(), &target.type());
    return from.type().schema().has_opaque() ? find(entity) : DatabaseRow{&target, row};
}

template <bool kAdds>
MovedRow RowMove::find_and_make(Database& database, Entity entity, TypedKey key) {
    const RowMove move = find_step<kAdds>(database, entity, key);
    if (SHOAL_UNLIKELY(!move)) return {};
    if (SHOAL_UNLIKELY(!move.step_->bits.empty())) return move.make_with_bits<kAdds>(database, entity);
    return move.make_but_bits(database, entity,
                              [entity](const RowPath& path, Table& from, Table& to, std::uint32_t row)
                                  SHOAL_INLINED { return path.take<!kAdds>(from, to, row, entity); });
}

/// Not inline, so that rows without bits do not pay for the registers that this uses.
template <bool kAdds>
MovedRow RowMove::make_with_bits(Database& database, Entity entity) const {
    if (SHOAL_UNLIKELY(!step_->has_reserved_bits())) return {};
    return make(database, entity,
                [entity](const RowPath& path, Table& from, Table& to, std::uint32_t row)
                    SHOAL_INLINED { return path.take<!kAdds>(from, to, row, entity); });
}
template MovedRow RowMove::find_and_make<true>(Database&, Entity, TypedKey);
template MovedRow RowMove::find_and_make<false>(Database&, Entity, TypedKey);

void Database::arrange(const DatabaseTable& which, std::span<const Entity> owners, RowList rows) {
    require_unlocked("arrange()");
    DatabaseTable& table = tables_[which.number()];
    SHOAL_ASSERT(owners.size() == table.num_rows(), "rows are arranged by all of their owners, each once");
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t row = rows[i];
        if (table.entities()[row] == owners[row]) continue;
        const DatabaseRow other = find(owners[row]);
        SHOAL_ASSERT(other.table == &table && other.row > row, "rows are arranged by all of their owners, each once");
        for (PresenceBits& bits : table.presence_) {
            const bool was_on = bits.get(row);
            bits.set(row, bits.get(other.row));
            bits.set(other.row, was_on);
        }
        table.table_.swap(row, other.row);
        tables_.count_changes();
    }
}

void Database::set_enabled(const DatabaseTable& which, ComponentType component, std::span<const std::uint64_t> bits) {
    require_unlocked("set_enabled()");
    DatabaseTable& table = tables_[which.number()];
    const int index = table.type().enableable_index(component);
    SHOAL_ASSERT(index >= 0 && bits.size() >= (table.num_rows() + 63) / 64,
                 "a bit for each row is needed, of a component type that is enableable");
    for (std::uint32_t row = 0; row < table.num_rows(); ++row)
        table.presence_[static_cast<std::size_t>(index)].set(row, test_bit(bits.data(), row));
    table.table_.stamp_rows({0, table.num_rows()});
    tables_.count_changes();
}

// --- removing ----------------------------------------------------------------------------------------------------

/// Removes the rows of a call's selected entities and returns how many were removed.
std::uint32_t Database::drop_selected(std::span<const Entity> entities) {
    Arguments arguments(*this, entities, {});
    for (const Selection::Group& group : selection_->groups()) arguments.keep_apart_from(*group.table);
    entities = arguments.entities();
    Selection& s = *selection_;
    const std::span<EntityBits> entries = directory_.rows().entries();
    Array<Entity> opaque{Owner("database")};  // entities whose values have destructors
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
        for (const std::uint32_t source : sources)
            if (table.type().schema().has_opaque())
                opaque.push_back(entities[source]);
            else
                remove_row(table, directory_.rows().find(entities[source]));
    }
    const std::uint32_t num_dropped = s.finish();
    // Destructors may destroy other entities, which moves rows, so the selection is no longer used.
    for (const Entity entity : opaque)
        if (const DatabaseRow at = find(entity)) remove_row(*at.table, at.row);
    return num_dropped;
}

/// Removes the rows of dead entities from a table and returns how many were removed.
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

// --- writing values ----------------------------------------------------------------------------------------------

/// Writes a call's values to rows: row rows.begin + i gets the values for the call's entity number sources[i].
/// Component types without values get their defaults, except types that `kept` has. If `kept` has a `many` type, the
/// new value is added before the others.
void Database::write_rows(DatabaseTable& table, RowRange rows, const Archetype* kept,
                          std::span<const ComponentValues> values, RowList sources) {
    for (const ComponentType component : table.type().components()) {
        const ComponentValues* given = find_values(values, component);
        const bool has_value = kept != nullptr && kept->has(component);
        if (given == nullptr && has_value) continue;
        const bool pushes = has_value && further_values(component);
        for (std::uint32_t row = rows.begin; pushes && row < rows.end; ++row) push_first(table, row, component);
        if (given != nullptr && !given->has_values()) given = nullptr;
        if (given == nullptr && !pushes && has_value) continue;
        write_component(table, rows, component, given, sources);
        if (kept != &table.type()) continue;  // rows that this call has added are already marked
        const std::uint32_t first = table.first_column(component);
        for (std::uint32_t c = 0; c < schema(component).num_columns(); ++c) table.table_.mark_written(first + c, rows);
    }
}

/// Writes the values of one component type to rows; if `given` is nullptr, writes the type's defaults.
void Database::write_component(DatabaseTable& table, RowRange rows, ComponentType component,
                               const ComponentValues* given, RowList sources) {
    const Schema& schema = this->schema(component);
    const std::uint32_t first = table.first_column(component);
    if (given != nullptr && given->write != nullptr) {
        const std::uint64_t changes = tables_.num_changes();
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            given->write(given->context, table.table_, first, rows.begin + i, sources[i]);
        SHOAL_ASSERT(tables_.num_changes() == changes,
                     "setting a component has ended a value whose destructor changes the database; remove the "
                     "component first");
        return;
    }
    const bool has_columns = given != nullptr && !given->columns.empty();
    const bool has_images = given != nullptr && given->images != nullptr;
    const ElementSource image = {has_images ? given->images : schema.default_image().data(),
                                 has_images ? given->stride : 0};
    for (std::uint32_t c = 0; c < schema.num_columns(); ++c) {
        const ColumnDefinition& column = schema.column(c);
        if (column.opaque != nullptr) continue;
        const std::size_t bytes = column.element_bytes;
        const ElementSource from = has_columns ? ElementSource{given->columns[c], bytes}
                                               : ElementSource{image.data + column.struct_offset, image.stride};
        copy_elements(table.table_.unmarked_column(first + c), rows, from, sources, bytes);
    }
}

/// Writes the value for a call's entity number `source` to the row `at`. Requires: the row has the component type.
void Database::write_given(DatabaseRow at, const ComponentValues& given, std::uint32_t source) {
    const std::uint32_t num_columns = schema(given.component).num_columns();
    if (num_columns == 0 || !given.has_values()) return;
    const RowRange rows{at.row, at.row + 1};
    write_component(*at.table, rows, given.component, &given, RowRange{source, source + 1});
    const std::uint32_t first = at.table->first_column(given.component);
    for (std::uint32_t c = 0; c < num_columns; ++c) at.table->table_.mark_written(first + c, rows);
}

/// Enables or disables the enableable component types that a row was given. Returns whether any type is newly enabled.
bool Database::enable_as_given(DatabaseRow at, std::span<const ComponentValues> values) {
    bool lacked = false, any_changed = false;
    for (std::size_t i = 0; i < at.table->presence_.size(); ++i) {
        const ComponentValues* const given = find_values(values, at.table->type().enableable()[i]);
        if (given == nullptr) continue;
        const bool was_on = at.table->presence_[i].get(at.row);
        lacked |= !was_on && !given->is_disabled;
        any_changed |= was_on == given->is_disabled;
        at.table->presence_[i].set(at.row, !given->is_disabled);
    }
    if (any_changed) at.table->table_.stamp_row(at.row);
    tables_.count_changes(any_changed);
    return lacked;
}

/// Disables the enableable component types that new rows were given as disabled.
void Database::disable_as_given(DatabaseTable& table, RowRange rows, std::span<const ComponentValues> values) {
    for (const ComponentValues& given : values)
        if (const int index = given.is_disabled ? table.type().enableable_index(given.component) : -1; index >= 0)
            table.presence_[static_cast<std::size_t>(index)].set(rows, false);
}

/// Disables enableable component types in a row. Returns whether any type was enabled.
bool Database::disable(DatabaseRow at, std::span<const ComponentType> components) {
    bool had = false;
    for (std::size_t i = 0; i < at.table->presence_.size(); ++i) {
        if (std::find(components.begin(), components.end(), at.table->type().enableable()[i]) == components.end())
            continue;
        had |= at.table->presence_[i].get(at.row);
        at.table->presence_[i].set(at.row, false);
    }
    if (had) at.table->table_.stamp_row(at.row);
    tables_.count_changes(had);
    return had;
}

}  // namespace shoal

// Rows on their way from table to table, and what is written to them.

#include "database/arguments.h"
#include "database/database_internals.h"
#include "database/selection.h"
#include "shoal/table/copy_elements.h"

#include <algorithm>
#include <cstring>

namespace shoal {

// --- room --------------------------------------------------------------------------------------------------------

/// Before the groups of selected rows go to their targets.
void Database::keep_apart_from_selected(Arguments& arguments) {
    for (const Selection::Group& group : selection_->groups()) {
        arguments.keep_apart_from(*group.table);
        if (group.target != group.table) arguments.keep_apart_from(*group.target);
    }
}

/// Makes room in the targets of all groups, and for more rows of another table. Errors: no memory; no row has changed.
Status Database::reserve_targets(DatabaseTable* also, std::uint32_t num_more) {
    Status result;
    if (also != nullptr) also->num_wanted_ += num_more;
    for (const Selection::Group& group : selection_->groups())
        if (group.target != group.table) group.target->num_wanted_ += group.size();
    for (const Selection::Group& group : selection_->groups()) {
        const std::uint32_t count = std::exchange(group.target->num_wanted_, 0);
        if (result) result = reserve_rows(*group.target, count);
    }
    const std::uint32_t count = also == nullptr ? 0 : std::exchange(also->num_wanted_, 0);
    return result && count != 0 ? reserve_rows(*also, count) : result;
}

// --- runs --------------------------------------------------------------------------------------------------------

/// Returns the first row when the entities are the owners of consecutive rows, in order; else the nil row.
DatabaseRow Database::find_run(std::span<const Entity> entities) const {
    selection_->require_empty();  // whichever way the call would take
    const DatabaseRow first = entities.size() <= detail::kFewRows ? DatabaseRow() : find(entities.front());
    if (!first || entities.size() > first.table->num_rows() - first.row) return {};
    const Entity* const owners = first.table->entities().data() + first.row;
    return std::memcmp(owners, entities.data(), entities.size_bytes()) == 0 ? first : DatabaseRow();
}

/// Moves consecutive rows. Requires: the values lie in neither table. Errors: no memory; nothing has changed.
Status Database::transfer_run(DatabaseRow run, DatabaseTable& to, std::span<const ComponentValues> values,
                              std::uint32_t count) {
    DatabaseTable& from = *run.table;
    if (Status status = reserve_rows(to, count); !status) return status;
    const std::uint32_t first = transfer_rows(from, to, RowRange{run.row, run.row + count});
    write_rows(to, {first, first + count}, &from.type(), values, nullptr, 0);
    return {};
}

// --- moving ------------------------------------------------------------------------------------------------------

/// Moves every group to its target and gives it the values of the call. Rows of groups that stay get values only.
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
        write_rows(*group.target, {first, group.target->num_rows()}, &group.table->type(), values,
                   s.sources_of(group).data(), 0);
    }
    for (const Selection::Group& group : s.groups()) {
        if (!goes_singly(group)) continue;
        DatabaseTable& from = *group.table;
        DatabaseTable& to = *group.target;
        const TakePlan& plan = plan_to(from, to);
        for (const std::uint32_t source : s.sources_of(group)) {
            DatabaseRow at = find(entities[source]);
            if (!at) continue;  // the destructor of a dropped value has destroyed it
            SHOAL_ASSERT(at.table == &from,
                         "a destructor that runs in a call for many entities has added or removed components of one of "
                         "them; it may only destroy entities, one by one");
            if (&from != &to) at = transfer_row(at, to, plan);
            if (at.table == &to) write_rows(to, {at.row, at.row + 1}, &from.type(), values, nullptr, source);
        }
    }
    s.finish();
}

/// Moves rows that are bytes and nothing more, and returns the first of their new places. Requires: reserved.
std::uint32_t Database::transfer_rows(DatabaseTable& from, DatabaseTable& to, RowList rows) {
    const std::uint32_t first = to.table_.take(from.table_, rows, plan_to(from, to));
    for (const Entity entity : to.entities().subspan(first)) directory_.set_table(entity.index(), to.number());
    tables_.count_changes(rows.size());
    tables_.note_rows(from);
    tables_.note_rows(to);
    return first;
}

/// Moves one row and returns its new place, or where the destructors of dropped values have left it. New columns are
/// not written. Requires: reserved.
DatabaseRow Database::transfer_row(DatabaseRow at, DatabaseTable& target, const TakePlan& plan) {
    DatabaseTable& from = *at.table;
    for (std::size_t i = 0; i < target.presence_.size(); ++i) {
        const ComponentType component = target.type().toggled()[i];
        target.presence_[i].set(target.num_rows(), !from.type().has(component) || from.has(component, at.row));
    }
    for (PresenceBits& bits : from.presence_) bits.set(at.row, bits.get(from.num_rows() - 1));
    const Entity entity = from.entities()[at.row];
    directory_.set_table(entity.index(), target.number());
    const std::uint32_t row = target.table_.take(from.table_, RowRange{at.row, at.row + 1}, plan);
    tables_.count_changes();
    if (row == 0) tables_.note_rows(target);
    if (from.num_rows() == 0) tables_.note_rows(from);
    return from.type().schema().has_opaque() ? find(entity) : DatabaseRow{&target, row};
}

template <bool kAdds>
MovedRow RowMove::find_and_make(Database& database, Entity entity, TypedKey key) {
    const RowMove move = find<kAdds>(database, entity, key);
    if (SHOAL_UNLIKELY(!move)) return {};
    return move.make(database, entity, [entity](const RowPath& path, Table& from, Table& to, std::uint32_t row) {
        return path.take<!kAdds>(from, to, row, entity);
    });
}
template MovedRow RowMove::find_and_make<true>(Database&, Entity, TypedKey);
template MovedRow RowMove::find_and_make<false>(Database&, Entity, TypedKey);

/// Writes the values of a call to rows, row rows.begin + i those of entity sources[i], or first_source + i. Component
/// types without values get their defaults unless `kept` has them.
void Database::write_rows(DatabaseTable& table, RowRange rows, const Archetype* kept,
                          std::span<const ComponentValues> values, const std::uint32_t* sources,
                          std::size_t first_source) {
    const Archetype& type = table.type();
    const auto first_value = static_cast<std::uint32_t>(first_source);
    const RowList from_rows = sources != nullptr ? RowList(std::span(sources, rows.size()))
                                                 : RowList(RowRange{first_value, first_value + rows.size()});
    for (const ComponentType component : type.components()) {
        const ComponentValues* given = detail::find_values(values, component);
        if (given != nullptr && !given->has_values()) given = nullptr;
        if (given == nullptr && kept != nullptr && kept->has(component)) continue;
        const std::span<const ColumnDefinition> columns = schema(component).columns();
        const std::uint32_t first = type.first_column(component);
        const bool is_set = kept == &type;
        for (std::uint32_t c = 0; c < columns.size(); ++c) {
            if (is_set) table.table_.mark_written(first + c, rows);
            if (columns[c].opaque != nullptr) continue;
            const std::size_t bytes = columns[c].element_bytes;
            const bool has_columns = given != nullptr && !given->columns.empty();
            const std::byte* from = has_columns ? given->columns[c]
                                                : (given != nullptr && given->images != nullptr
                                                       ? given->images
                                                       : schema(component).default_image().data()) +
                                                      columns[c].struct_offset;
            const std::size_t stride = has_columns                                    ? bytes
                                       : given != nullptr && given->images != nullptr ? given->stride
                                                                                      : 0;
            if (given != nullptr && given->write != nullptr) continue;
            copy_elements(table.table_.unmarked_column(first + c), rows, {from, stride}, from_rows, bytes);
        }
        if (given == nullptr || given->write == nullptr) continue;
        const std::uint64_t changes = tables_.num_changes();
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            given->write(given->context, table.table_, first, rows.begin + i,
                         sources == nullptr ? first_source + i : sources[i]);
        SHOAL_ASSERT(tables_.num_changes() == changes,
                     "setting a component has ended a value whose destructor changes the database; remove the "
                     "component first");
    }
}

/// Lets a row have the toggled component types that it was given. Returns whether it lacked any.
bool Database::switch_on(DatabaseRow at, std::span<const ComponentValues> values) {
    bool lacked = false;
    for (std::size_t i = 0; i < at.table->presence_.size(); ++i) {
        if (detail::find_values(values, at.table->type().toggled()[i]) == nullptr) continue;
        lacked |= !at.table->presence_[i].get(at.row);
        at.table->presence_[i].set(at.row, true);
    }
    if (lacked) at.table->table_.stamp_row(at.row);
    tables_.count_changes(lacked);
    return lacked;
}

/// Takes toggled component types from a row. Returns whether it had any.
bool Database::switch_off(DatabaseRow at, std::span<const ComponentType> components) {
    bool had = false;
    for (std::size_t i = 0; i < at.table->presence_.size(); ++i) {
        if (std::find(components.begin(), components.end(), at.table->type().toggled()[i]) == components.end())
            continue;
        had |= at.table->presence_[i].get(at.row);
        at.table->presence_[i].set(at.row, false);
    }
    if (had) at.table->table_.stamp_row(at.row);
    tables_.count_changes(had);
    return had;
}

}  // namespace shoal

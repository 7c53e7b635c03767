// Rows on their way: which entities of a call have a row, and how rows go from table to table.

#include "database/arguments.h"
#include "database/database_internals.h"
#include "database/selection.h"
#include "shoal/database/database.h"
#include "shoal/table/copy_elements.h"

#include <algorithm>
#include <tuple>

namespace shoal {
namespace {

std::byte* element(Table& table, std::uint32_t column, std::uint32_t row, std::size_t bytes) {
    return table.unmarked_column(column) + row * bytes;
}

/// Writes `count` elements; element i comes from the value for entity sources[i], or first_source + i.
void write_column(std::byte* to, const std::byte* values, std::size_t stride, std::size_t count, std::size_t bytes,
                  const std::uint32_t* sources, std::size_t first_source) {
    const auto source = [&](std::size_t i) {
        return values + (sources == nullptr ? first_source + i : sources[i]) * stride;
    };
    if (stride == bytes && sources == nullptr) {
        if (count != 0 && bytes != 0) std::memcpy(to, source(0), count * bytes);
        return;
    }
    for_size(
        bytes,
        [&]<std::size_t kBytes>() {
            for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * kBytes, source(i), kBytes);
        },
        [&] {
            for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * bytes, source(i), bytes);
        });
}

}  // namespace

void DatabaseCopyPlan::Columns::sort() {
    const auto order = [](const Column& column) {
        const auto place = std::size_t(std::find(std::begin(kSizes), std::end(kSizes), column.bytes) - kSizes);
        return std::tuple(place, column.bytes, column.from);
    };
    std::sort(all_.begin(), all_.end(), [&](const Column& a, const Column& b) { return order(a) < order(b); });
    for (std::size_t i = 0; i < std::size(kSizes); ++i)
        ends_[i] = static_cast<std::uint32_t>(std::count_if(
            all_.begin(), all_.end(), [&](const Column& column) { return std::get<0>(order(column)) <= i; }));
}

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
    const DatabaseRow first = entities.size() <= detail::kFewRows ? DatabaseRow() : find(entities.front());
    if (!first || entities.size() > first.table->num_rows() - first.row) return {};
    const Entity* const owners = first.table->entities().data() + first.row;
    return std::memcmp(owners, entities.data(), entities.size_bytes()) == 0 ? first : DatabaseRow();
}

/// Moves consecutive rows. Errors: no memory; nothing has changed.
Status Database::transfer_run(DatabaseRow run, DatabaseTable& to, std::span<const ComponentValues> values,
                              std::uint32_t count) {
    DatabaseTable& from = *run.table;
    const std::span<const Entity> entities = from.entities().subspan(run.row, count);
    if (Status status = reserve_rows(to, count); !status) return status;
    const std::uint32_t first = to.table_.append(entities);
    directory_.set(entities, to.number(), first);
    for (const DatabaseCopyPlan::Column& column : plan_to(from, to).columns)
        std::memcpy(element(to.table_, column.to, first, column.bytes),
                    element(from.table_, column.from, run.row, column.bytes), std::size_t(count) * column.bytes);
    write_rows(to, {first, first + count}, &from.type(), values, nullptr, 0);
    from.table_.remove_range({run.row, run.row + count});
    tables_.count_changes(count);
    tables_.note_rows(from);
    tables_.note_rows(to);
    return {};
}

// --- moving ------------------------------------------------------------------------------------------------------

/// Moves every group to its target and gives it the values of the call. Rows of groups that stay get values only.
void Database::transfer(std::span<const Entity> entities, std::span<const ComponentValues> values) {
    Selection& s = *selection_;
    for (const Selection::Group& group : s.groups()) {
        DatabaseTable& from = *group.table;
        DatabaseTable& to = *group.target;
        const std::span<const std::uint32_t> rows = s.rows_of(group), sources = s.sources_of(group);
        if (&from != &to && from.is_plain() && to.is_plain() && rows.size() > detail::kFewRows) {
            transfer_rows(from, to, rows, sources, entities, values);
            continue;
        }
        s.unselect(group, entities);
        const DatabaseCopyPlan& copied = plan_to(from, to);
        for (const std::uint32_t source : sources) {
            DatabaseRow at = find(entities[source]);
            if (&from != &to) at = {&to, transfer_row(at, to, copied)};
            write_rows(to, {at.row, at.row + 1}, &from.type(), values, nullptr, source);
        }
    }
    s.finish();
}

/// Moves rows that are bytes and nothing more, column by column.
void Database::transfer_rows(DatabaseTable& from, DatabaseTable& to, std::span<const std::uint32_t> rows,
                             std::span<const std::uint32_t> sources, std::span<const Entity> entities,
                             std::span<const ComponentValues> values) {
    const auto count = static_cast<std::uint32_t>(rows.size());
    const std::uint32_t first = to.num_rows();
    const std::span<Entity> owners = to.table_.append_unowned(count);
    const std::span<EntityBits> entries = directory_.rows().entries();
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i + detail::kPrefetchAhead < count) directory_.prefetch(entities[sources[i + detail::kPrefetchAhead]]);
        const Entity entity = owners[i] = entities[sources[i]];
        entries[entity.index()] = RowIndex::entry_of(entity, first + i);
        directory_.set_table(entity.index(), to.number());
    }
    for (const DatabaseCopyPlan::Column& column : plan_to(from, to).columns)
        copy_between(element(to.table_, column.to, first, column.bytes), nullptr, from.table_.column(column.from),
                     rows.data(), count, column.bytes);
    write_rows(to, {first, first + count}, &from.type(), values, sources.data(), 0);
    from.table_.remove_rows(rows);
    tables_.count_changes(count);
    tables_.note_rows(from);
    tables_.note_rows(to);
}

/// Moves one row and returns its new place. Columns that are new are not written. Requires: reserved.
std::uint32_t Database::transfer_row(DatabaseRow at, DatabaseTable& target, const DatabaseCopyPlan& plan) {
    DatabaseTable& from = *at.table;
    const Entity entity = from.entities()[at.row];
    const std::uint32_t row = target.table_.append_one(entity);
    for (const DatabaseCopyPlan::Column& column : plan.columns)
        copy_element(element(target.table_, column.to, row, column.bytes),
                     element(from.table_, column.from, at.row, column.bytes), column.bytes);
    for (const DatabaseCopyPlan::Column& column : plan.opaque) {
        const OpaqueOperations& operations = *from.type().schema().columns()[column.from].opaque;
        std::byte* const to = element(target.table_, column.to, row, column.bytes);
        operations.destroy(to);
        operations.move_construct(to, element(from.table_, column.from, at.row, column.bytes));
    }
    for (std::size_t i = 0; i < target.presence_.size(); ++i)
        target.presence_[i].set(
            row, !from.type().has(target.type().toggled()[i]) || from.has(target.type().toggled()[i], at.row));
    remove_row(from, at.row);
    directory_.rows().set(entity, row);
    directory_.set_table(entity.index(), target.number());
    if (row == 0) tables_.note_rows(target);
    return row;
}

/// Looks up where the columns of two tables (or twice the same) lie. Returns false, and nothing can be known, unless
/// rows are bytes and nothing more.
bool look_up_path(RowPath& path, Table& from, Table& to) {
    path.placements = 0;
    if (!path.plan->is_plain || !from.is_plain() || !to.is_plain()) return false;
    path.columns.clear();
    for (const DatabaseCopyPlan::Column& column : path.plan->columns)
        path.columns.push_back({from.unmarked_column(column.from), to.unmarked_column(column.to)});
    for (const DatabaseCopyPlan::Column& column : path.plan->dropped)
        path.columns.push_back({from.unmarked_column(column.from), nullptr});
    path.placements = from.placement() + to.placement();
    return true;
}

template <bool kAdds>
MovedRow RowMove::find_and_make(Database& d, Entity entity, TypedKey key) {
    const RowMove move = find<kAdds>(d, entity, key);
    if (SHOAL_UNLIKELY(!move)) return {};
    return move.make(d, entity, [](const RowPath& path, std::size_t row, std::size_t last, std::size_t to_row) {
        path.plan->move_row<!kAdds>(path.columns.data(), row, last, to_row);
    });
}
template MovedRow RowMove::find_and_make<true>(Database&, Entity, TypedKey);
template MovedRow RowMove::find_and_make<false>(Database&, Entity, TypedKey);

void Database::remove_other_row(DatabaseTable& table, std::uint32_t row) {
    tables_.count_changes();
    for (PresenceBits& bits : table.presence_) bits.set(row, bits.get(table.num_rows() - 1));
    table.table_.remove(row);
    if (SHOAL_UNLIKELY(table.num_rows() == 0)) tables_.note_rows(table);
}

/// Writes the values of a call to rows, row rows.begin + i those of entity sources[i], or first_source + i. Component
/// types without values get their defaults unless `kept` has them.
void Database::write_rows(DatabaseTable& table, RowRange rows, const Archetype* kept,
                          std::span<const ComponentValues> values, const std::uint32_t* sources,
                          std::size_t first_source) {
    const Archetype& type = table.type();
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
            write_column(element(table.table_, first + c, rows.begin, bytes), from, stride, rows.size(), bytes, sources,
                         first_source);
        }
        if (given == nullptr || given->write == nullptr) continue;
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            given->write(given->context, table.table_, first, rows.begin + i,
                         sources == nullptr ? first_source + i : sources[i]);
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

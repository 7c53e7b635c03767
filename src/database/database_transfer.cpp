// Rows on their way: which entities of a call have a row, and how rows go from table to table.

#include "database/database_internals.h"
#include "shoal/database/database.h"
#include "shoal/table/copy_elements.h"

#include <algorithm>

namespace shoal {

// --- selecting ---------------------------------------------------------------------------------------------------

void Database::Call::select(std::span<const Entity> entities, Chosen chosen) {
    Selection& s = *d.selection_;
    SHOAL_ASSERT(s.num_selected == 0,
                 "a destructor that runs in a call for many entities makes a call for one at a time");
    if (s.rows.size() < entities.size()) {
        s.rows.resize(entities.size());
        s.sources.resize(entities.size());
        s.tables.resize(entities.size());
    }
    s.num_selected = s.num_skipped = 0;
    s.missing.clear();
    s.repeated.clear();
    const std::span<EntityBits> entries = d.directory_.rows().entries();
    const bool fetches = entities.size() >= detail::kPrefetchFrom;
    for (std::uint32_t i = 0; i < entities.size(); ++i) {
        if (fetches && i + detail::kPrefetchAhead < entities.size())
            d.directory_.prefetch(entities[i + detail::kPrefetchAhead]);
        const Entity entity = entities[i];
        const EntityBits entry = entity.index() < entries.size() ? entries[entity.index()] : 0;
        const bool has_row = entry >> kIndexBits == entity.id >> kIndexBits && entry != 0;
        if (!has_row || chosen != Chosen::kAny) {
            const bool alive = d.entities_.alive(entity);
            if (!has_row && alive) s.missing.push_back(i);
            s.num_skipped += !alive;
            if (!has_row || alive == (chosen == Chosen::kDead)) continue;
        }
        if ((entry & kIndexMask) == kIndexMask) {
            s.repeated.push_back(i);
            continue;
        }
        entries[entity.index()] = entry | kIndexMask;
        s.rows[s.num_selected] = static_cast<std::uint32_t>(entry & kIndexMask);
        s.tables[s.num_selected] = d.directory_.table_of(entity.index());
        s.sources[s.num_selected++] = i;
    }
    group_selected();
}

/// Brings what was selected into the order of tables; inside a table, the order of the call stays.
void Database::Call::group_selected() {
    Selection& s = *d.selection_;
    s.groups.clear();
    if (s.num_selected == 0) return;
    for (std::uint32_t i = 0; i < s.num_selected; ++i) {
        DatabaseTable& table = *d.tables_[s.tables[i]];
        if (table.num_wanted_++ == 0) s.groups.push_back({&table, &table, 0, 0});
    }
    std::uint32_t begin = 0;
    for (Selection::Group& group : s.groups) {
        group.begin = begin;
        group.end = begin + group.table->num_wanted_;
        group.table->num_wanted_ = begin;
        begin = group.end;
    }
    if (s.groups.size() > 1) {
        Array<std::uint32_t> rows(s.num_selected, 0, OwnedAllocator<std::uint32_t>("database"));
        Array<std::uint32_t> sources(s.num_selected, 0, OwnedAllocator<std::uint32_t>("database"));
        for (std::uint32_t i = 0; i < s.num_selected; ++i) {
            const std::uint32_t place = d.tables_[s.tables[i]]->num_wanted_++;
            rows[place] = s.rows[i];
            sources[place] = s.sources[i];
        }
        std::copy(rows.begin(), rows.end(), s.rows.begin());
        std::copy(sources.begin(), sources.end(), s.sources.begin());
    }
    for (const Selection::Group& group : s.groups) group.table->num_wanted_ = 0;
}

/// Makes the directory name the rows again.
void Database::Call::unselect(std::span<const Entity> entities) {
    for (std::uint32_t i = 0; i < d.selection_->num_selected; ++i) {
        const Entity entity = entities[d.selection_->sources[i]];
        d.directory_.rows().set(entity, d.selection_->rows[i]);
    }
    d.selection_->num_selected = 0;
}

/// Makes room in the targets of all groups, and for more rows of another table. Errors: no memory; no row has changed.
Status Database::Call::reserve_targets(DatabaseTable* also, std::uint32_t num_more) {
    Status result;
    if (also != nullptr) also->num_wanted_ += num_more;
    for (const Selection::Group& group : d.selection_->groups)
        if (group.target != group.table) group.target->num_wanted_ += group.end - group.begin;
    for (const Selection::Group& group : d.selection_->groups) {
        const std::uint32_t count = std::exchange(group.target->num_wanted_, 0);
        if (result) result = reserve_rows(*group.target, count);
    }
    const std::uint32_t count = also == nullptr ? 0 : std::exchange(also->num_wanted_, 0);
    return result && count != 0 ? reserve_rows(*also, count) : result;
}

// --- runs --------------------------------------------------------------------------------------------------------

/// Returns the first row when the entities are the owners of consecutive rows, in order; else the nil row.
DatabaseRow Database::Call::find_run(std::span<const Entity> entities) {
    const DatabaseRow first = entities.size() <= detail::kFewRows ? DatabaseRow() : d.find(entities.front());
    if (!first || entities.size() > first.table->num_rows() - first.row) return {};
    const Entity* const owners = first.table->entities().data() + first.row;
    return std::memcmp(owners, entities.data(), entities.size_bytes()) == 0 ? first : DatabaseRow();
}

/// Moves consecutive rows. Requires: the values lie in neither table. Errors: no memory; nothing has changed.
Status Database::Call::transfer_run(DatabaseRow run, DatabaseTable& to, std::span<const ComponentValues> values,
                                    std::uint32_t count) {
    DatabaseTable& from = *run.table;
    if (Status status = reserve_rows(to, count); !status) return status;
    const std::uint32_t first = transfer_rows(from, to, RowRange{run.row, run.row + count});
    write_rows(to, {first, first + count}, &from.type(), values, nullptr, 0);
    return {};
}

// --- moving ------------------------------------------------------------------------------------------------------

/// Moves every group to its target and gives it the values of the call. Rows of groups that stay get values only.
void Database::Call::transfer(std::span<const Entity> entities, std::span<const ComponentValues> values) {
    Selection& s = *d.selection_;
    const auto goes_singly = [&](const Selection::Group& group) {
        return !moves_as_run({group.table, 0}, *group.target) || group.end - group.begin <= detail::kFewRows;
    };
    for (const Selection::Group& group : s.groups) {
        const std::span<const std::uint32_t> rows = s.rows_of(group), sources = s.sources_of(group);
        if (goes_singly(group)) {
            for (std::size_t i = 0; i < rows.size(); ++i) d.directory_.rows().set(entities[sources[i]], rows[i]);
            continue;
        }
        const std::uint32_t first = transfer_rows(*group.table, *group.target, rows);
        write_rows(*group.target, {first, group.target->num_rows()}, &group.table->type(), values, sources.data(), 0);
    }
    for (const Selection::Group& group : s.groups) {
        if (!goes_singly(group)) continue;
        DatabaseTable& from = *group.table;
        DatabaseTable& to = *group.target;
        const TakePlan& plan = plan_to(from, to);
        for (const std::uint32_t source : s.sources_of(group)) {
            DatabaseRow at = d.find(entities[source]);
            if (at.table != &from) continue;  // the destructor of a dropped value has destroyed it
            if (&from != &to) at = transfer_row(at, to, plan);
            if (at.table == &to) write_rows(to, {at.row, at.row + 1}, &from.type(), values, nullptr, source);
        }
    }
    s.num_selected = 0;
}

/// Moves rows that are bytes and nothing more, and returns the first of their new places. Requires: reserved.
std::uint32_t Database::Call::transfer_rows(DatabaseTable& from, DatabaseTable& to, RowList rows) {
    const std::uint32_t first = to.table_.take(from.table_, rows, plan_to(from, to));
    for (const Entity entity : to.entities().subspan(first)) d.directory_.set_table(entity.index(), to.number());
    d.num_structural_changes_ += rows.size();
    d.note_rows(from);
    d.note_rows(to);
    return first;
}

/// Moves one row and returns its new place, or where the destructors of dropped values have left it. New columns are
/// not written. Requires: reserved.
DatabaseRow Database::Call::transfer_row(DatabaseRow at, DatabaseTable& target, const TakePlan& plan) {
    DatabaseTable& from = *at.table;
    for (std::size_t i = 0; i < target.presence_.size(); ++i) {
        const ComponentType component = target.type().toggled()[i];
        target.presence_[i].set(target.num_rows(), !from.type().has(component) || from.has(component, at.row));
    }
    for (PresenceBits& bits : from.presence_) bits.set(at.row, bits.get(from.num_rows() - 1));
    const Entity entity = from.entities()[at.row];
    d.directory_.set_table(entity.index(), target.number());
    const std::uint32_t row = target.table_.take(from.table_, RowRange{at.row, at.row + 1}, plan);
    ++d.num_structural_changes_;
    if (row == 0) d.note_rows(target);
    if (from.num_rows() == 0) d.note_rows(from);
    return from.type().schema().has_opaque() ? d.find(entity) : DatabaseRow{&target, row};
}

template <bool kAdds>
MovedRow RowMove::find_and_make(DatabaseState& d, Entity entity, TypedKey key) {
    const RowMove move = find<kAdds>(d, entity, key);
    if (SHOAL_UNLIKELY(!move)) return {};
    return move.make<kAdds>(d, entity);
}
template MovedRow RowMove::find_and_make<true>(DatabaseState&, Entity, TypedKey);
template MovedRow RowMove::find_and_make<false>(DatabaseState&, Entity, TypedKey);

/// Writes the values of a call to rows, row rows.begin + i those of entity sources[i], or first_source + i. Component
/// types without values get their defaults unless `kept` has them.
void Database::Call::write_rows(DatabaseTable& table, RowRange rows, const Archetype* kept,
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
        const std::span<const ColumnDefinition> columns = d.schema(component).columns();
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
                                                       : d.schema(component).default_image().data()) +
                                                      columns[c].struct_offset;
            const std::size_t stride = has_columns                                    ? bytes
                                       : given != nullptr && given->images != nullptr ? given->stride
                                                                                      : 0;
            if (given != nullptr && given->write != nullptr) continue;
            copy_elements(table.table_.unmarked_column(first + c), rows, {from, stride}, from_rows, bytes);
        }
        if (given == nullptr || given->write == nullptr) continue;
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            given->write(given->context, table.table_, first, rows.begin + i,
                         sources == nullptr ? first_source + i : sources[i]);
    }
}

/// Remembers which bits a call with one C++ type switches.
void Database::Call::note_switch(DatabaseTable& table, ComponentType component, TypedKey key) {
    if (const int index = table.type().toggle_index(component); index >= 0 && key != nullptr)
        table.last_switched_ = {key, &table.presence_[static_cast<std::size_t>(index)]};
}

/// Lets a row have the toggled component types that it was given. Returns whether it lacked any.
bool Database::Call::switch_on(DatabaseRow at, std::span<const ComponentValues> values) {
    bool lacked = false;
    for (std::size_t i = 0; i < at.table->presence_.size(); ++i) {
        if (detail::find_values(values, at.table->type().toggled()[i]) == nullptr) continue;
        lacked |= !at.table->presence_[i].get(at.row);
        at.table->presence_[i].set(at.row, true);
    }
    if (lacked) at.table->table_.stamp_row(at.row);
    d.num_structural_changes_ += lacked;
    return lacked;
}

/// Takes toggled component types from a row. Returns whether it had any.
bool Database::Call::switch_off(DatabaseRow at, std::span<const ComponentType> components) {
    bool had = false;
    for (std::size_t i = 0; i < at.table->presence_.size(); ++i) {
        if (std::find(components.begin(), components.end(), at.table->type().toggled()[i]) == components.end())
            continue;
        had |= at.table->presence_[i].get(at.row);
        at.table->presence_[i].set(at.row, false);
    }
    if (had) at.table->table_.stamp_row(at.row);
    d.num_structural_changes_ += had;
    return had;
}

}  // namespace shoal

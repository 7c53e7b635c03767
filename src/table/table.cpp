#include "shoal/table/detail/table.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/table/detail/access_guard.h"
#include "shoal/table/detail/take_plan.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kCachedRows = 1u << 16;  // smaller tables stay in the cache and are not prefetched
constexpr std::size_t kEntitiesAhead = 32;

}  // namespace

Table::Table(const Schema& schema, PagePool& pool, const TableOptions& options)
    : storage_(schema, pool, options.capacity_rows, RowLinks(options.chain, options.tree).num_columns()),
      stamps_(schema.num_columns()),
      links_(options.chain, options.tree) {
    note_kind();
}

/// Determines which fast paths apply. Also invalidates the addresses that other code keeps.
void Table::note_kind() {
    is_plain_ = !schema().has_opaque() && !links_.has_any();
    is_packed_ = is_plain_ && index_ != nullptr && index_->kind() == RowIndexKind::kPaged;
    storage_.renew_placement();
}

/// Tells the other parts of the table where the rows are now, and how many there may be.
void Table::note_places() {
    stamps_.reserve(storage_.ready_rows());
    std::uint32_t* links[6];
    for (std::uint32_t i = 0; i < links_.num_columns(); ++i) links[i] = storage_.links(i);
    links_.place({links, links_.num_columns()});
}

void Table::attach_index(RowIndex* index) {
    index_ = index;
    note_kind();
}

void Table::require_rows(RowRange rows) const {
    SHOAL_ASSERT(rows.begin <= rows.end && rows.end <= num_rows(), "the rows do not exist");
}

// --- memory ------------------------------------------------------------------------------------------------------

Status Table::reserve(std::uint32_t count) {
    if (SHOAL_LIKELY(storage_.has_room_for(count))) return {};
    Status status = storage_.reserve(count);
    note_places();
    return status;
}

void Table::shrink() {
    storage_.shrink();
    note_places();
}

// --- adding ------------------------------------------------------------------------------------------------------

std::uint32_t Table::append(std::span<const Entity> owners) {
    const std::uint32_t first = num_rows();
    const std::span<Entity> appended = append_unowned(static_cast<std::uint32_t>(owners.size()));
    if (!owners.empty()) std::memcpy(static_cast<void*>(appended.data()), owners.data(), owners.size_bytes());
    return first;
}

std::span<Entity> Table::append_unowned(std::uint32_t count) {
    SHOAL_ASSERT(storage_.has_room_for(count), "rows were appended that were not reserved");
    if (count == 0) return {};
    const std::uint32_t first = storage_.extend(count);
    if (!is_plain_) finish_append({first, first + count});
    stamps_.mark_rows({first, first + count});
    return {storage_.owners() + first, count};
}

void Table::show(std::span<Entity> owners, std::span<std::byte* const> columns, std::span<std::uint32_t* const> links) {
    storage_.show(static_cast<std::uint32_t>(owners.size()), owners.data(), columns, links);
    note_places();
}

void Table::finish_append(RowRange rows) {
    storage_.construct_opaque(rows);
    links_.clear(rows);
}

std::uint32_t Table::take(Table& from, RowList rows, const TakePlan& plan) {
    const bool plain = is_plain_ && from.is_plain_;
    SHOAL_ASSERT(plain || rows.size() == 1, "rows with opaque fields are taken one by one");
    SHOAL_ASSERT(index_ == from.index_ && !links_.has_any() && !from.links_.has_any(),
                 "rows are taken between tables that share an index, or have none, and have no links");
    const std::span<Entity> owners = append_unowned(rows.size());
    const RowRange taken{num_rows() - rows.size(), num_rows()};
    copy_elements(reinterpret_cast<std::byte*>(owners.data()), RowRange{0, rows.size()},
                  {reinterpret_cast<const std::byte*>(from.entities().data()), sizeof(Entity)}, rows, sizeof(Entity));
    for (const TakePlan::Column& column : plan.kept())
        copy_elements(storage_.column(column.to), taken, {from.storage_.column(column.from), column.bytes}, rows,
                      column.bytes);
    for (const TakePlan::Column& column : plan.kept_opaque()) {
        const OpaqueOperations& operations = *schema().column(column.to).opaque;
        operations.destroy(storage_.element(column.to, taken.begin));
        operations.move_construct(storage_.element(column.to, taken.begin),
                                  from.storage_.element(column.from, rows[0]));
    }
    write_entries(taken);
    if (plain)
        from.remove_rows(rows);
    else
        from.close(rows[0]);
    return taken.begin;
}

/// Takes one row, element by element.
std::uint32_t Table::take_packed(Table& from, std::uint32_t row, const TakePlan& plan) {
    SHOAL_ASSERT(index_ == from.index_, "rows are taken between tables that share an index");
    const Entity owner = from.storage_.owners()[row];
    const std::uint32_t taken = append_one(owner);
    for (const TakePlan::Column& column : plan.kept())
        copy_element(storage_.element(column.to, taken), from.storage_.element(column.from, row), column.bytes);
    from.remove(row);
    index_->entries()[owner.index()] = RowIndex::entry_of(owner, taken);
    return taken;
}

void Table::occupy(Entity owner) {
    SHOAL_ASSERT(index_ != nullptr && index_->kind() == RowIndexKind::kIdentity,
                 "only a table with an identity index has holes");
    const std::uint32_t row = owner.index();
    if (row >= num_rows()) {
        const RowRange holes{num_rows(), row};
        const std::span<Entity> owners = append_unowned(holes.size() + 1);
        std::fill(owners.begin(), owners.end(), kNullEntity);
        if (!schema().has_opaque()) fill(holes, schema().default_image().data());
        num_holes_ += holes.size() + 1;
    }
    SHOAL_ASSERT(!storage_.owners()[row], "only a hole can be given an owner");
    storage_.owners()[row] = owner;
    --num_holes_;
    index_->set(owner, row);
    stamps_.mark_row(row);
}

// --- removing ----------------------------------------------------------------------------------------------------

/// Removes a row from the links and the index. If the chain has a next row, the owner's entry refers to it from now on.
void Table::forget(std::uint32_t row) {
    const Entity owner = storage_.owners()[row];
    const std::uint32_t next = links_.has_any() ? links_.leave(row) : kNilRow;
    if (index_ == nullptr) return;
    if (next == kNilRow)
        index_->erase(owner, row);
    else if (index_->find(owner) == row)
        index_->set(owner, next);
}

void Table::remove_unpacked(std::uint32_t row) {
    SHOAL_ASSERT(row < num_rows(), "the row does not exist");
    forget(row);
    if (index_ != nullptr && index_->kind() == RowIndexKind::kIdentity) return leave_hole(row);
    close(row);
}

/// Removes a row that nothing refers to. Its opaque values are destroyed last, when the table is consistent again.
void Table::close(std::uint32_t row) {
    const auto fill_place = [&] {
        const std::uint32_t last = num_rows() - 1;
        if (row != last) {
            const Entity moved = storage_.owners()[last];
            // A dead owner may have lost its entry to a newer entity with the same index, which keeps the entry.
            if (index_ != nullptr && index_->find(moved) == last) index_->set(moved, row);
            if (links_.has_any()) links_.move(last, row);
            storage_.move_row(last, row);
            stamps_.mark_row(row);
        }
        storage_.cut(last);
    };
    if (!schema().has_opaque()) return fill_place();
    const ColumnStorage::OpaqueRow ended(storage_, row);
    fill_place();
}

void Table::leave_hole(std::uint32_t row) {
    const auto empty_place = [&] {
        storage_.owners()[row] = kNullEntity;
        storage_.rows_changed();
        ++num_holes_;
        storage_.construct_opaque({row, row + 1});
        if (row + 1 == num_rows()) {
            std::uint32_t end = row;
            while (end > 0 && !storage_.owners()[end - 1]) --end;
            num_holes_ -= num_rows() - end;
            storage_.destroy_opaque({end, num_rows()});
            storage_.cut(end);
        }
        if (row < num_rows()) stamps_.mark_row(row);
    };
    if (!schema().has_opaque()) return empty_place();
    const ColumnStorage::OpaqueRow ended(storage_, row);
    empty_place();
}

std::uint32_t Table::remove_owned(std::span<const Entity> owners, const EntityManager* spared) {
    SHOAL_ASSERT(index_ != nullptr, "rows are found by their owners only with an index");
    const bool fetches = num_rows() >= kCachedRows;
    const auto fetch = [&](std::size_t i) {
        if (!fetches || i + 2 * kEntitiesAhead >= owners.size()) return;
        index_->prefetch(owners[i + 2 * kEntitiesAhead]);
        prefetch(index_->find(owners[i + kEntitiesAhead]));
    };
    if (!is_packed_) {
        std::uint32_t num_removed = 0;
        Array<Entity> copied{Owner("table")};  // `owners` may refer to a list to which destructors append
        if (schema().has_opaque()) copied.assign(owners.begin(), owners.end()), owners = copied;
        for (std::size_t i = 0; i < owners.size(); ++i) {
            fetch(i);
            if (spared != nullptr && spared->alive(owners[i])) continue;
            std::uint32_t row = index_->find(owners[i]);
            for (; row != kNilRow; row = links_.has_any() ? index_->find(owners[i]) : kNilRow, ++num_removed)
                remove_unpacked(row);
        }
        return num_removed;
    }
    PackedRows rows = packed_rows();
    const auto remove_unless = [&](auto&& is_spared) {
        for (std::size_t i = 0; i < owners.size(); ++i) {
            fetch(i);
            if (fetches && rows.num_rows > kEntitiesAhead)
                index_->prefetch(rows.owners[rows.num_rows - kEntitiesAhead]);
            if (is_spared(owners[i])) continue;
            rows.remove(owners[i],
                        [this](std::uint32_t to, std::uint32_t from) { storage_.copy_elements_of_row(from, to); });
        }
    };
    if (spared == nullptr)
        remove_unless([](Entity) { return false; });
    else
        remove_unless([spared](Entity entity) { return spared->alive(entity); });
    const std::uint32_t num_removed = num_rows() - rows.num_rows;
    storage_.cut(rows.num_rows);
    return num_removed;
}

std::uint32_t Table::remove_dead(const EntityManager& entities) {
    SHOAL_ASSERT(index_ != nullptr, "rows are found by their owners only with an index");
    const std::uint32_t before = num_rows() - num_holes_;
    if (!is_packed_) {
        for (std::uint32_t row = num_rows(); row-- > 0;) {
            if (row >= num_rows()) continue;  // the row was a trailing hole, or was removed together with another row
            const Entity owner = storage_.owners()[row];
            if (owner && !entities.alive(owner)) remove_unpacked(row);
        }
        return before - (num_rows() - num_holes_);
    }
    const std::span<EntityBits> entries = index_->entries();
    const Entity* const owners = storage_.owners();
    std::uint32_t num_kept = 0;
    for (std::uint32_t row = 0; row < num_rows();) {
        for (; row < num_rows() && !entities.alive(owners[row]); ++row) {
            EntityBits& entry = entries[owners[row].index()];
            if (entry == RowIndex::entry_of(owners[row], row)) entry = 0;
        }
        const std::uint32_t begin = row;
        while (row < num_rows() && entities.alive(owners[row])) ++row;
        if (begin != num_kept && begin != row)
            move_rows(RowRange{begin, row}, RowRange{num_kept, num_kept + row - begin});
        num_kept += row - begin;
    }
    storage_.cut(num_kept);
    return before - num_kept;
}

namespace {

/// Returns a bit for each row in [first, end). The bit is set if the row is in `removed`.
BitSet removed_from_tail(std::span<const std::uint32_t> removed, std::uint32_t first, std::uint32_t end) {
    BitSet tail{Owner("table")};
    tail.clear(end - first);
    std::uint64_t* const words = tail.data();
    for (const std::uint32_t row : removed) {
        if (row < first) continue;
        const bool is_new = row < end && !test_and_set_bit(words, row - first);
        SHOAL_ASSERT(is_new, "a row to be removed does not exist, or is named twice");
    }
    return tail;
}

[[maybe_unused]] bool all_differ(Array<std::uint32_t> rows) {
    std::sort(rows.begin(), rows.end());
    return std::adjacent_find(rows.begin(), rows.end()) == rows.end();
}

}  // namespace

void Table::remove_rows(RowList rows) {
    SHOAL_ASSERT(is_plain_ && (is_packed_ || index_ == nullptr),
                 "rows with links or opaque fields, or without a paged index, go one by one");
    SHOAL_ASSERT(rows.size() <= num_rows(), "more rows were to be removed than there are");
    const std::uint32_t num_left = num_rows() - rows.size();
    if (rows.is_range()) {
        const RowRange range = rows.range();
        require_rows(range);
        const std::uint32_t count = std::min(range.size(), num_rows() - range.end);
        move_rows(RowRange{num_rows() - count, num_rows()}, RowRange{range.begin, range.begin + count});
        return storage_.cut(num_left);
    }
    // First find the new positions: the gaps are filled with the last rows that are not removed. Then move every column
    // in one loop.
    //
    //     rows to remove  {1, 4, 6} of 7      0 . 2 3 . 5 .        4 rows stay, so row 5 moves to 1
    //                                         0 5 2 3
    const std::span<const std::uint32_t> listed(rows.listed(), rows.size());
    const BitSet tail = removed_from_tail(listed, num_left, num_rows());
    Array<std::uint32_t> holes{Owner("table")}, fillers{Owner("table")};
    for (const std::uint32_t row : listed)
        if (row < num_left) holes.push_back(row);
    fillers.reserve(holes.size());
    for (std::uint32_t row = num_left; row < num_rows(); ++row)
        if (!tail[row - num_left]) fillers.push_back(row);
    SHOAL_CHECK(all_differ(holes), "a row to be removed is named twice");
    move_rows(std::span<const std::uint32_t>(fillers), std::span<const std::uint32_t>(holes));
    storage_.cut(num_left);
}

/// Moves rows to free rows. Requires: is_plain(); the index, if any, is paged and has the rows.
void Table::move_rows(RowList from, RowList to) {
    if (from.size() == 0) return;
    storage_.copy_rows(from, to);
    write_entries(to);
    if (to.is_range()) return stamps_.mark_rows(to.range());
    for (std::uint32_t i = 0; i < to.size(); ++i) stamps_.mark_row(to[i]);
}

/// Writes the index entries of rows.
void Table::write_entries(RowList rows) {
    if (index_ == nullptr) return;
    const Entity* const owners = storage_.owners();
    const std::span<EntityBits> entries = index_->entries();
    const RowRange range = rows.is_range() ? rows.range() : RowRange();
#pragma GCC unroll 4
    for (std::uint32_t row = range.begin; row < range.end; ++row)
        entries[owners[row].index()] = RowIndex::entry_of(owners[row], row);
    for (std::uint32_t i = 0; !rows.is_range() && i < rows.size(); ++i) {
        if (i + kEntitiesAhead < rows.size()) __builtin_prefetch(&entries[owners[rows[i + kEntitiesAhead]].index()]);
        entries[owners[rows[i]].index()] = RowIndex::entry_of(owners[rows[i]], rows[i]);
    }
}

void Table::clear() {
    for (std::uint32_t row = num_rows(); schema().has_opaque() && row-- > 0;)
        if (row < num_rows()) remove_unpacked(row);  // otherwise the row was removed together with another row
    storage_.cut(0);
    num_holes_ = 0;
    if (index_ != nullptr) index_->clear();
}

// --- reordering --------------------------------------------------------------------------------------------------

void Table::swap(std::uint32_t a, std::uint32_t b) {
    SHOAL_ASSERT(a < num_rows() && b < num_rows(), "the row does not exist");
    if (a == b) return;
    const Entity owner_a = storage_.owners()[a], owner_b = storage_.owners()[b];
    const bool names_a = index_ != nullptr && index_->find(owner_a) == a;
    const bool names_b = index_ != nullptr && index_->find(owner_b) == b;
    if (links_.has_any()) links_.begin_swap(a, b);
    storage_.swap_rows(a, b);
    if (links_.has_any()) links_.end_swap(a, b);
    if (names_a) index_->set(owner_a, b);
    if (names_b) index_->set(owner_b, a);
    stamps_.mark_row(a);
    stamps_.mark_row(b);
}

namespace {

/// Follows each cycle once. Each swap puts one row in its place, and the next cycle begins at the next row that is not
/// in its place yet.
void permute_by_swaps(Table& table, RowRange rows, std::span<const std::uint32_t> from) {
    Array<bool> is_done = Array<bool>(from.size(), false, Owner("table"));
    for (std::uint32_t first = rows.begin; first < rows.end; ++first) {
        for (std::uint32_t row = first; !is_done[row - rows.begin]; row = from[row - rows.begin]) {
            is_done[row - rows.begin] = true;
            if (from[row - rows.begin] != first) table.swap(row, from[row - rows.begin]);
        }
    }
}

}  // namespace

void Table::permute(RowRange rows, std::span<const std::uint32_t> from) {
    SHOAL_ASSERT(rows.end <= num_rows() && from.size() == rows.size(), "one row for each of the range is needed");
    SHOAL_ASSERT(!links_.has_chain() && !schema().has_opaque(), "only rows of bytes without chains are permuted");
    if (from.empty()) return;
    for (const std::uint32_t row : from) SHOAL_ASSERT(row - rows.begin < rows.size(), "a row comes from outside");
    // If there is no memory for a copy of a column, swaps are used.
    Result<PageRange> memory = reserve_pages(from.size() * (storage_.most_element_bytes() + sizeof(std::uint32_t)));
    if (!memory) return permute_by_swaps(*this, rows, from);
    auto* const new_row = reinterpret_cast<std::uint32_t*>(memory->data);  // indexed by old row - rows.begin
    for (std::uint32_t i = 0; i < from.size(); ++i) new_row[from[i] - rows.begin] = rows.begin + i;
    storage_.permute(rows, from, memory->data + from.size() * sizeof(std::uint32_t));
    links_.permute(rows, new_row);
    const Entity* const owners = storage_.owners();
    for (std::uint32_t row = rows.begin; index_ != nullptr && row < rows.end; ++row)
        if (index_->find(owners[row]) == from[row - rows.begin]) new_row[row - rows.begin] = kNilRow;
    for (std::uint32_t row = rows.begin; index_ != nullptr && row < rows.end; ++row)
        if (new_row[row - rows.begin] == kNilRow) index_->set(owners[row], row);
    stamps_.mark_rows(rows);
    release_pages(*memory);
}

// --- filling -----------------------------------------------------------------------------------------------------

void Table::scatter(RowRange rows, const std::byte* images, std::size_t stride) {
    require_rows(rows);
    if (rows.begin == rows.end) return;  // there may be no values to read
    SHOAL_ASSERT(!schema().has_opaque(), "opaque fields cannot be filled from bytes");
    std::uint32_t c = 0;
    for (const ColumnDefinition& column : schema().columns())
        copy_elements(storage_.column(c++), rows, {images + column.struct_offset, stride}, RowRange{0, rows.size()},
                      column.element_bytes);
    stamps_.mark_rows(rows);
}

void Table::copy_columns(RowRange rows, std::span<const std::byte* const> columns) {
    require_rows(rows);
    if (rows.begin == rows.end) return;  // there may be no values to read
    SHOAL_ASSERT(columns.size() <= schema().num_columns(), "there are more sources than schema columns");
    SHOAL_ASSERT(!schema().has_opaque(), "opaque fields cannot be filled from bytes");
    for (std::uint32_t c = 0; c < columns.size(); ++c) {
        const std::size_t bytes = schema().column(c).element_bytes;
        copy_elements(storage_.column(c), rows, {columns[c], bytes}, RowRange{0, rows.size()}, bytes);
    }
    stamps_.mark_rows(rows);
}

// --- links -------------------------------------------------------------------------------------------------------

void Table::push_chain(std::uint32_t row) {
    SHOAL_ASSERT(links_.has_chain() && index_ != nullptr && row < num_rows(),
                 "the table was made without a chain, or has no index, or the row does not exist");
    const Entity owner = storage_.owners()[row];
    links_.push_chain(row, index_->find(owner));
    index_->set(owner, row);
}

void Table::link_tree(std::uint32_t child, std::uint32_t parent) {
    SHOAL_ASSERT(
        links_.has_tree() && child < num_rows() && (parent < num_rows() || parent == kNilRow) && child != parent,
        "the table was made without a tree, or a row does not exist, or it would be its own parent");
    links_.link_tree(child, parent);
}

void Table::link_trees(std::uint32_t first, std::span<const std::uint32_t> parents) {
    SHOAL_ASSERT(links_.has_tree() && first <= num_rows() && parents.size() <= num_rows() - first,
                 "the table was made without a tree, or a row does not exist");
    links_.link_trees(first, parents);
}

// --- stamps ------------------------------------------------------------------------------------------------------

void Table::mark_written(std::uint32_t column, RowRange rows) {
    require_rows(rows);
    SHOAL_ASSERT(column < schema().num_columns(), "the column does not exist");
    if constexpr (SHOAL_CHECKED != 0) ask_write_guard(*this, column);
    stamps_.mark(column, rows);
}

void Table::mark_shared(std::uint32_t column, const std::uint32_t* rows, std::span<const std::uint64_t> chosen) {
    if constexpr (SHOAL_CHECKED != 0) ask_write_guard(*this, column);
    stamps_.mark_shared(column, rows, chosen);
}

void Table::stamp_rows(RowRange rows) {
    require_rows(rows);
    stamps_.mark_rows(rows);
}

}  // namespace shoal

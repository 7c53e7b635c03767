// Removing many rows of a table whose rows are bytes and nothing more, found by a paged index.

#include "shoal/entity/entity_manager.h"
#include "shoal/table/table.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kCachedRows = 1u << 16;  // below it, all is in the cache and fetching ahead costs time
constexpr std::size_t kDistance = 32;            // entities

/// Copies an element whose size is mostly one of a few, for which the compiler knows what to do.
SHOAL_INLINE void copy_element(std::byte* to, const std::byte* from, std::size_t bytes) {
    switch (bytes) {
        case 4:
            std::memcpy(to, from, 4);
            break;
        case 8:
            std::memcpy(to, from, 8);
            break;
        case 12:
            std::memcpy(to, from, 12);
            break;
        case 16:
            std::memcpy(to, from, 16);
            break;
        default:
            std::memcpy(to, from, bytes);
    }
}

}  // namespace

std::uint32_t Table::remove_owned(std::span<const Entity> owners, const EntityManager* spared) {
    SHOAL_ASSERT(plain_ && index_ != nullptr && index_->kind() == RowIndexKind::kPaged,
                 "rows with links, opaque fields or watchers, or without a paged index, go one by one");
    PackedRows rows = packed_rows(index_->entries());
    const std::span<const PhysicalColumn> columns(columns_.data(), schema_->columns().size());
    const auto copy_row = [columns](std::uint32_t to, std::uint32_t from) {
        for (const PhysicalColumn& column : columns)
            copy_element(column.data + std::size_t(to) * column.element_bytes,
                         column.data + std::size_t(from) * column.element_bytes, column.element_bytes);
    };
    const bool fetches = num_rows_ >= kCachedRows;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        if (fetches && i + 2 * kDistance < owners.size()) {
            index_->prefetch(owners[i + 2 * kDistance]);
            prefetch(index_->find(owners[i + kDistance]));
            if (rows.num_rows > kDistance) index_->prefetch(rows.owners[rows.num_rows - kDistance]);
        }
        if (spared == nullptr || !spared->alive(owners[i])) rows.remove(owners[i], copy_row);
    }
    return std::exchange(num_rows_, rows.num_rows) - rows.num_rows;
}

std::uint32_t Table::remove_dead(const EntityManager& entities) {
    SHOAL_ASSERT(plain_ && index_ != nullptr && index_->kind() == RowIndexKind::kPaged,
                 "rows with links, opaque fields or watchers, or without a paged index, go one by one");
    const std::span<EntityBits> entries = index_->entries();
    touched_rows_ = std::max(touched_rows_, num_rows_);
    std::uint32_t num_kept = 0;
    for (std::uint32_t row = 0; row < num_rows_;) {
        for (; row < num_rows_ && !entities.alive(entities_[row]); ++row) {
            EntityBits& entry = entries[entities_[row].index()];
            if (entry == RowIndex::entry_of(entities_[row], row)) entry = 0;
        }
        const std::uint32_t begin = row;
        while (row < num_rows_ && entities.alive(entities_[row])) ++row;
        if (begin != num_kept && begin != row) move_rows_down({begin, row}, num_kept);
        num_kept += row - begin;
    }
    return std::exchange(num_rows_, num_kept) - num_kept;
}

/// Moves the rows of the living to a place further down, whose rows are gone.
void Table::move_rows_down(RowRange rows, std::uint32_t to) {
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = column.element_bytes;
        std::memmove(column.data + to * bytes, column.data + rows.begin * bytes, rows.size() * bytes);
    }
    const std::span<EntityBits> entries = index_->entries();
    for (std::uint32_t row = to; row < to + rows.size(); ++row)
        entries[entities_[row].index()] = RowIndex::entry_of(entities_[row], row);
    stamp_rows({to, to + rows.size()});
}

}  // namespace shoal

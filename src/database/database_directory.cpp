#include "shoal/database/database_directory.h"
#include <algorithm>

namespace shoal {

Status DatabaseDirectory::reserve(std::uint32_t max_index) {
    if (Status status = rows_.reserve(1, max_index); !status) return status;
    max_index_ = std::max(max_index_, max_index);
    if (tables_.capacity() < rows_.entries().size())
        if (Status status = tables_.reserve(rows_.entries().size(), rows_.entries().size()); !status) return status;
    note_width();
    return {};
}

void DatabaseDirectory::note_width() {
    SHOAL_ASSERT(!is_held(), "rows are held");
    gate_ = upper_tables_.capacity() == 0 ? std::int64_t(rows_.max_index()) + 1 : 0;
}

Status DatabaseDirectory::reserve_tables(std::uint32_t num_tables) {
    constexpr std::uint32_t kNarrow = 1u << 16;
    if (num_tables <= kNarrow || upper_tables_.capacity() != 0) return {};
    if (Status status = reserve(1); !status) return status;
    if (Status status = upper_tables_.reserve(tables_.capacity(), tables_.capacity()); !status) return status;
    note_width();
    return {};
}

void DatabaseDirectory::set(std::span<const Entity> entities, std::uint32_t table, std::uint32_t first_row) {
    EntityBits* const __restrict entries = rows_.entries().data();
    std::uint16_t* const __restrict tables = tables_.data();
    for (std::uint32_t i = 0; i < entities.size(); ++i) {
        entries[entities[i].index()] = RowIndex::entry_of(entities[i], first_row + i);
        tables[entities[i].index()] = static_cast<std::uint16_t>(table);
    }
    if (upper_tables_.capacity() == 0) return;
    for (const Entity entity : entities) upper_tables_[entity.index()] = static_cast<std::uint16_t>(table >> 16);
}

bool DatabaseDirectory::set_run(std::span<const Entity> entities, std::uint32_t table, std::uint32_t first_row) {
    if (entities.empty()) return true;
    const std::uint32_t first = entities.front().index();
    const std::span<EntityBits> entries = rows_.entries().subspan(first, entities.size());
    EntityBits any = 0;
    for (const EntityBits entry : entries) any |= entry;
    if (any != 0) return false;
    const EntityBits entry = RowIndex::entry_of(entities.front(), first_row);
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = entry + static_cast<EntityBits>(i);
    std::fill_n(tables_.data() + first, entities.size(), static_cast<std::uint16_t>(table));
    if (upper_tables_.capacity() != 0)
        std::fill_n(upper_tables_.data() + first, entities.size(), static_cast<std::uint16_t>(table >> 16));
    return true;
}

MemoryUse DatabaseDirectory::memory_use() const {
    MemoryUse use = rows_.memory_use();
    const std::size_t num_arrays = upper_tables_.capacity() == 0 ? 1 : 2;
    const std::size_t bytes = max_index_ == 0 ? 0 : (std::size_t(max_index_) + 1) * sizeof(std::uint16_t);
    use += {num_arrays * bytes, num_arrays * round_up(bytes, kPageBytes),
            tables_.reserved_bytes() + upper_tables_.reserved_bytes()};
    return use;
}

}  // namespace shoal

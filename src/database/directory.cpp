#include "shoal/database/detail/directory.h"

#include "shoal/entity/entity_manager.h"

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
    const bool is_narrow = upper_tables_.capacity() == 0;
    gate_ = is_narrow ? std::int64_t(rows_.max_index()) + 1 : 0;
    num_narrow_ = is_narrow ? rows_.entries().size() : 0;
}

DatabaseDirectory::Location DatabaseDirectory::find_wide(Entity entity) const {
    const std::uint32_t row = rows_.find(entity);
    return row == kNilRow ? Location() : Location{table_of(entity.index()), row};
}

Status DatabaseDirectory::reserve_tables(std::uint32_t num_tables) {
    constexpr std::uint32_t kNarrow = 1u << 16;
    if (num_tables <= kNarrow || upper_tables_.capacity() != 0) return {};
    if (Status status = reserve(1); !status) return status;
    if (Status status = upper_tables_.reserve(tables_.capacity(), tables_.capacity()); !status) return status;
    note_width();
    return {};
}

void DatabaseDirectory::set_table(std::span<const Entity> entities, std::uint32_t table) {
    std::uint16_t* const __restrict tables = tables_.data();
#pragma GCC unroll 4
    for (const Entity entity : entities) tables[entity.index()] = static_cast<std::uint16_t>(table);
    if (upper_tables_.capacity() == 0) return;
    for (const Entity entity : entities) upper_tables_[entity.index()] = static_cast<std::uint16_t>(table >> 16);
}

template <class Living>
std::uint32_t DatabaseDirectory::set_rows(std::span<const Entity> entities, const Living& living, std::uint32_t table,
                                          std::uint32_t first_row) {
    return rows_.set_leading(entities, living, first_row, [&](std::span<const Entity> placed, bool are_run) {
        if (!are_run) return set_table(placed, table);
        const std::uint32_t first = placed.front().index();
        std::fill_n(tables_.data() + first, placed.size(), static_cast<std::uint16_t>(table));
        if (upper_tables_.capacity() != 0)
            std::fill_n(upper_tables_.data() + first, placed.size(), static_cast<std::uint16_t>(table >> 16));
    });
}

std::uint32_t DatabaseDirectory::set_leading(std::span<const Entity> entities, const EntityManager& living,
                                             std::uint32_t table, std::uint32_t first_row) {
    return set_rows(entities, living, table, first_row);
}

namespace {

/// Used in place of an EntityManager: accepts all ids, living or dead, that may own rows in a state.
struct PossibleOwners {
    std::uint32_t max_index;

    bool alive(Entity entity) const { return is_possible(entity) && entity.index() <= max_index; }
    /// Whether all of `entities` are possible owners with consecutive ids.
    bool is_living_run(std::span<const Entity> entities) const {
        const Entity first = entities.front(), last = entities.back();
        if (!alive(first) || !alive(last) || last.index() - first.index() != entities.size() - 1) return false;
        EntityBits differ = 0;
        for (std::size_t i = 0; i < entities.size(); ++i)
            differ |= entities[i].id ^ (first.id + static_cast<EntityBits>(i));
        return differ == 0;
    }
};

}  // namespace

std::uint32_t DatabaseDirectory::set_owners(std::span<const Entity> owners, std::uint32_t max_index,
                                            std::uint32_t table) {
    SHOAL_ASSERT(max_index <= rows_.max_index(), "the directory has no room for the owners");
    return set_rows(owners, PossibleOwners{max_index}, table, 0);
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

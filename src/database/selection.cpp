#include "database/selection.h"

#include "database/rows.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::size_t kMostKept = 1u << 16;  // entities; memory for more is freed after a call

}  // namespace

void Database::Selection::select(std::span<const Entity> entities, Chosen chosen) {
    require_empty();
    if (rows_.size() < entities.size()) {
        rows_.resize(entities.size());
        sources_.resize(entities.size());
        of_table_.resize(entities.size());
    }
    num_selected_ = num_skipped_ = 0;
    missing_.clear();
    repeated_.clear();
    const std::span<EntityBits> entries = directory_.rows().entries();
    const bool fetches = entities.size() >= detail::kPrefetchFrom;
    for (std::uint32_t i = 0; i < entities.size(); ++i) {
        if (fetches && i + detail::kPrefetchAhead < entities.size())
            directory_.prefetch(entities[i + detail::kPrefetchAhead]);
        const Entity entity = entities[i];
        const EntityBits entry = entity.index() < entries.size() ? entries[entity.index()] : 0;
        const bool has_row = entry >> kIndexBits == entity.id >> kIndexBits && entry != 0;
        if (!has_row || chosen != Chosen::kAny) {
            const bool alive = entities_.alive(entity);
            if (!has_row && alive) missing_.push_back(i);
            num_skipped_ += !alive;
            if (!has_row || alive == (chosen == Chosen::kDead)) continue;
        }
        if ((entry & kIndexMask) == kIndexMask) {
            repeated_.push_back(i);
            continue;
        }
        entries[entity.index()] = entry | kIndexMask;
        rows_[num_selected_] = static_cast<std::uint32_t>(entry & kIndexMask);
        of_table_[num_selected_] = directory_.table_of(entity.index());
        sources_[num_selected_++] = i;
    }
    group_by_table();
}

/// Sorts the selection by table, and keeps the order of the call within each table.
void Database::Selection::group_by_table() {
    groups_.clear();
    if (num_selected_ == 0) return;
    for (std::uint32_t i = 0; i < num_selected_; ++i) {
        DatabaseTable& table = tables_[of_table_[i]];
        if (table.num_wanted_++ == 0) groups_.push_back({&table, &table, 0, 0});
    }
    std::uint32_t begin = 0;
    for (Group& group : groups_) {
        group.begin = begin;
        group.end = begin + group.table->num_wanted_;
        group.table->num_wanted_ = begin;
        begin = group.end;
    }
    if (groups_.size() > 1) {
        Array<std::uint32_t> rows(num_selected_, 0, Owner("database"));
        Array<std::uint32_t> sources(num_selected_, 0, Owner("database"));
        for (std::uint32_t i = 0; i < num_selected_; ++i) {
            const std::uint32_t place = tables_[of_table_[i]].num_wanted_++;
            rows[place] = rows_[i];
            sources[place] = sources_[i];
        }
        std::copy(rows.begin(), rows.end(), rows_.begin());
        std::copy(sources.begin(), sources.end(), sources_.begin());
    }
    for (const Group& group : groups_) group.table->num_wanted_ = 0;
}

void Database::Selection::unselect(const Group& group, std::span<const Entity> entities) {
    for (std::uint32_t i = group.begin; i < group.end; ++i) directory_.rows().set(entities[sources_[i]], rows_[i]);
}

void Database::Selection::unselect(std::span<const Entity> entities) {
    for (const Group& group : groups_) unselect(group, entities);
    num_selected_ = 0;
}

void Database::Selection::trim() {
    if (rows_.size() <= kMostKept) return;
    for (Array<std::uint32_t>* places : {&rows_, &sources_, &of_table_, &missing_, &repeated_})
        *places = Array<std::uint32_t>(Owner("database"));
}

}  // namespace shoal

#include "query/recent_rows.h"

#include "shoal/database/detail/table.h"
#include "shoal/state/snapshot.h"

#include <algorithm>

namespace shoal::detail {

void ChangedRows::find(const Table& table, std::uint32_t column) {
    const bool is_known = table.placement() == placement_;
    any_ = !is_known || table.num_rows() < num_rows_;
    for (std::uint32_t block = 0; !any_ && block * kRowsPerStampBlock < table.num_rows(); ++block)
        any_ = (column == kOnlyOwners ? table.placed_stamp(block) : table.written_stamp(column, block)) >= since_;
    are_many_ = !is_known;
    groups_.assign(1, any_);
    if (any_ && is_known && column != kOnlyOwners) list_groups(table, column);
    num_rows_ = table.num_rows(), since_ = table.stamp(), placement_ = table.placement();
}

void ChangedRows::list_groups(const Table& table, std::uint32_t column) {
    constexpr std::size_t kGroupsPerBlock = SnapshotMarks::kCount;
    const std::size_t num_groups = (table.num_rows() + kRowsPerChangeMark - 1) / kRowsPerChangeMark;
    groups_.assign(num_groups + 1, false);
    std::size_t num_changed = 0;
    for (std::size_t first = 0; first < num_groups; first += kGroupsPerBlock) {
        const SnapshotMarks marks =
            table.written_since(column, static_cast<std::uint32_t>(first / kGroupsPerBlock), since_);
        for (std::size_t word = 0; word < std::size(marks.words); ++word)
            for_each_bit(marks.words[word], first + word * 64, [&](std::size_t group) {
                if (group < num_groups) groups_[group] = true, ++num_changed;
            });
    }
    // Rows may be gone, among them rows of the last group that has rows now.
    if (table.num_rows() < num_rows_ && num_groups != 0) groups_[num_groups - 1] = true;
    groups_.back() = true;
    are_many_ = num_changed > num_groups / 4;
}

void RecentLinks::reserve(std::uint32_t table, std::uint32_t num_rows, std::span<DatabaseTable* const> related) {
    if (table >= tables_.size()) tables_.resize(table + 1);
    OfTable& one = tables_[table];
    // Rows that are gone are forgotten.
    one.entities.resize(num_rows, kNullEntity);
    one.groups.resize((num_rows + 63) / 64);
    if (keeps_links_) one.owners.resize(num_rows, kNullEntity), one.link_rows.resize(num_rows, kNilRow);
    one.unmoved = nullptr;
    const std::uint32_t number = one.groups.empty() ? kNoTable : one.groups[0].table;
    if (number >= related.size() || related[number] == nullptr) return;
    if (number >= related_.size()) related_.resize(number + 1);
    OfDatabaseTable& rows = related_[number];
    if (rows.loop != loop_) {
        if (rows.loop + 1 != loop_) rows.moved = ChangedRows();
        rows.moved.find(related[number]->table());
        rows.loop = loop_;
    }
    if (!rows.moved.any()) one.unmoved = related[number];
}

bool RecentLinks::are_unmoved(const OfTable& table, RowRange rows) {
    if (table.unmoved == nullptr) return false;
    for (std::uint32_t group = rows.begin / 64; group * 64 < rows.end; ++group)
        if (table.groups[group].table != table.unmoved->number()) return false;
    return true;
}

}  // namespace shoal::detail

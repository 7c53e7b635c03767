#include "query/sorted_rows.h"

#include "query/plan_state.h"

#include <algorithm>

namespace shoal::detail {

void SortedRows::refresh(const PlanState& plan) {
    std::swap(found_, found_before_);
    found_.clear(), keys_.clear();
    visit_unsorted(plan, {.call = collect, .context = this, .skips_disabled = false, .marks = false});
    const bool are_the_same = std::equal(found_.begin(), found_.end(), found_before_.begin(), found_before_.end());
    if (!are_the_same) {
        order_.resize(found_.size());
        for (std::uint32_t i = 0; i < found_.size(); ++i) order_[i].index = i;
    }
    for (Ranked& row : order_) row.key = keys_[row.index];
    if (are_the_same && std::is_sorted(order_.begin(), order_.end())) return;
    sort();
    owners_.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) owners_[i] = found_[order_[i].index];
}

void SortedRows::collect(void* self, FoundRows& found) {
    SortedRows& sorted = *static_cast<SortedRows*>(self);
    const FieldColumns columns = found.columns == nullptr
                                     ? found.fields[sorted.field_]
                                     : FieldColumns{.table = found.table, .first_column = found.columns[sorted.field_]};
    const std::byte* const first =
        columns.table->unmarked_column(columns.first_column + sorted.key_.column) + sorted.key_.offset;
    const auto add = [&](std::uint32_t owner_row, std::uint32_t row) {
        sorted.found_.push_back(found.owners[owner_row]);
        sorted.keys_.push_back(sorted.key_.of(first + row * sorted.key_.stride));
    };
    if (found.words == nullptr) {
        for (std::uint32_t row = found.rows.begin; row < found.rows.end; ++row) add(row, columns.first_row + row);
        return;
    }
    const std::uint32_t begin = found.rows.begin;
    for (std::uint32_t word = 0; word * 64 < found.rows.size(); ++word)
        for_each_bit(found.words[word], word * 64,
                     [&](std::size_t i) { add(begin + static_cast<std::uint32_t>(i), columns.rows[i]); });
}

/// Merges pairs of sorted ranges until only one range is left.
void SortedRows::sort() {
    Array<std::size_t> ends("query");
    for (std::size_t i = 1; i <= order_.size(); ++i)
        if (i == order_.size() || order_[i] < order_[i - 1]) ends.push_back(i);
    merged_.resize(order_.size());
    while (ends.size() > 1) {
        std::size_t begin = 0, num_left = 0;
        for (std::size_t i = 0; i < ends.size(); i += 2) {
            const std::size_t middle = ends[i], end = i + 1 < ends.size() ? ends[i + 1] : middle;
            std::merge(order_.begin() + begin, order_.begin() + middle, order_.begin() + middle, order_.begin() + end,
                       merged_.begin() + begin);
            ends[num_left++] = begin = end;
        }
        ends.resize(num_left);
        std::swap(order_, merged_);
    }
}

}  // namespace shoal::detail

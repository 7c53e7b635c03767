// Checks of everything that a table promises, for tests and for checked builds.

#include "shoal/base/text.h"
#include "shoal/table/table.h"

#include <vector>

namespace shoal::inline SHOAL_ABI {
namespace {

Status broken(const Schema& schema, std::string_view what, std::uint32_t row) {
    return Status::error(concat("table of \"", schema.name(), "\", row ", row, ": ", what));
}

}  // namespace

Status Table::validate() const {
    if (Status status = validate_places(); !status) return status;
    if (Status status = validate_index(); !status) return status;
    if (Status status = validate_chains(); !status) return status;
    return validate_trees();
}

Status Table::validate_places() const {
    if (num_rows_ > ready_rows_ || ready_rows_ > capacity_ || capacity_ > options_.capacity_rows)
        return broken(*schema_,
                      concat("rows ", num_rows_, ", ready ", ready_rows_, ", room ", capacity_, " are not in order"),
                      num_rows_);
    if (num_rows_ > 0 && (num_rows_ - 1) / kRowsPerStampBlock >= num_stamp_blocks_)
        return broken(*schema_, "it has no stamp", num_rows_ - 1);
    const std::byte* begin = slab_bytes_ != 0 ? block_ : range_.data;
    const std::byte* end = begin + (slab_bytes_ != 0 ? slab_bytes_ : range_.num_bytes);
    const std::byte* previous_end = begin;
    for (std::uint32_t c = 0; capacity_ > 0 && c < columns_.size(); ++c) {
        const PhysicalColumn& column = columns_[c];
        if (reinterpret_cast<std::uintptr_t>(column.data) % kCacheLineBytes != 0)
            return broken(*schema_, concat("column ", c, " is not 64-byte aligned"), 0);
        if (column.data < previous_end) return broken(*schema_, concat("column ", c, " overlaps the one before"), 0);
        previous_end = column.data + round_up(std::size_t(capacity_) * column.element_bytes, kCacheLineBytes);
        if (previous_end > end) return broken(*schema_, concat("column ", c, " runs past the storage"), capacity_);
    }
    for (std::uint32_t b = 0; b < num_stamp_blocks_; ++b)
        for (std::uint32_t c = 0; c < schema_->columns().size(); ++c)
            if (written_stamp(c, b) > stamp_)
                return broken(*schema_, "its stamp lies in the future", b * kRowsPerStampBlock);
    return {};
}

/// Whether a newer entity on the index of `owner` has taken its entry: `owner` is dead and waits to be collected.
bool Table::is_displaced(Entity owner) const {
    const std::uint32_t row = index_->find_any_generation(owner);
    return row < num_rows_ && entities_[row] != owner && entities_[row].index() == owner.index();
}

Status Table::validate_index() const {
    if (index_ == nullptr) return {};
    for (std::uint32_t row = 0; row < num_rows_; ++row) {
        if (!entities_[row]) {
            if (index_->kind() == RowIndexKind::kIdentity) continue;
            return broken(*schema_, "nobody owns it", row);
        }
        const std::uint32_t found = index_->find(entities_[row]);
        if (found == kNilRow && is_displaced(entities_[row])) continue;
        if (found >= num_rows_ || (!options_.chain && found != row))
            return broken(*schema_, concat("the index says row ", found, " for its entity"), row);
    }
    return {};
}

Status Table::validate_chains() const {
    if (!options_.chain || index_ == nullptr) return {};
    std::vector<std::uint8_t> reached(num_rows_);
    const std::uint32_t* next = links_[static_cast<int>(LinkColumn::kChainNext)];
    for (std::uint32_t row = 0; row < num_rows_; ++row) {
        if (index_->find(entities_[row]) != row) continue;
        for (std::uint32_t member = row; member != kNilRow; member = next[member]) {
            if (member >= num_rows_) return broken(*schema_, concat("its chain leads to row ", member), row);
            if (reached[member]) return broken(*schema_, "two chains reach it, or a chain closes on itself", member);
            if (entities_[member] != entities_[row])
                return broken(*schema_, "it lies in the chain of another entity", member);
            reached[member] = 1;
        }
    }
    for (std::uint32_t row = 0; row < num_rows_; ++row)
        if (!reached[row] && !is_displaced(entities_[row])) return broken(*schema_, "no chain reaches it", row);
    return {};
}

Status Table::validate_trees() const {
    if (!options_.tree) return {};
    const auto links_of = [this](LinkColumn column) { return links_[static_cast<int>(column)]; };
    const std::uint32_t* parent = links_of(LinkColumn::kTreeParent);
    const std::uint32_t* first_child = links_of(LinkColumn::kTreeFirstChild);
    const std::uint32_t* next = links_of(LinkColumn::kTreeNext);
    const std::uint32_t* previous = links_of(LinkColumn::kTreePrevious);
    const auto exists = [this](std::uint32_t row) { return row == kNilRow || row < num_rows_; };
    std::uint64_t num_linked = 0, num_enumerated = 0;
    for (std::uint32_t row = 0; row < num_rows_; ++row) {
        if (!exists(parent[row]) || !exists(first_child[row]) || !exists(next[row]) || !exists(previous[row]))
            return broken(*schema_, "it links to a row that does not exist", row);
        if (parent[row] == kNilRow && (next[row] != kNilRow || previous[row] != kNilRow))
            return broken(*schema_, "a root has siblings", row);
        num_linked += parent[row] != kNilRow;
        std::uint32_t before = kNilRow;
        for (std::uint32_t child = first_child[row]; child != kNilRow; before = child, child = next[child]) {
            if (parent[child] != row)
                return broken(*schema_, concat("its child, row ", child, ", names another parent"), row);
            if (previous[child] != before) return broken(*schema_, "its link to the sibling before is wrong", child);
            if (++num_enumerated > num_rows_) return broken(*schema_, "its children form a cycle", row);
        }
    }
    if (num_linked != num_enumerated) return broken(*schema_, "a child is missing from its parent's list", 0);
    return {};
}

}  // namespace shoal::inline SHOAL_ABI

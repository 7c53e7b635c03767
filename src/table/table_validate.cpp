// Checks of everything that a table promises, for tests and for checked builds.

#include "shoal/base/text.h"
#include "shoal/table/table.h"

#include <vector>

namespace shoal {
namespace {

Status broken(const Schema& schema, std::string_view what, std::uint32_t row) {
    return Status::error(concat("table of \"", schema.name(), "\", row ", row, ": ", what));
}

}  // namespace

/// The parts of validate(), each with its own message.
struct Table::Check {
    Status places() const;
    Status index() const;
    Status chains() const;
    Status trees() const;
    bool is_displaced(Entity owner) const;

    const Table& table;
};

Status Table::validate() const {
    const Check check{*this};
    if (Status status = check.places(); !status) return status;
    if (Status status = check.index(); !status) return status;
    if (Status status = check.chains(); !status) return status;
    return check.trees();
}

Status Table::Check::places() const {
    if (table.num_rows_ > table.ready_rows_ || table.ready_rows_ > table.capacity_ ||
        table.capacity_ > table.options_.capacity_rows)
        return broken(*table.schema_,
                      concat("rows ", table.num_rows_, ", ready ", table.ready_rows_, ", room ", table.capacity_,
                             " are not in order"),
                      table.num_rows_);
    if (table.num_rows_ > 0 && (table.num_rows_ - 1) / kRowsPerStampBlock >= table.num_stamp_blocks_)
        return broken(*table.schema_, "it has no stamp", table.num_rows_ - 1);
    const std::byte* begin = table.slab_bytes_ != 0 ? table.block_ : table.range_.data;
    const std::byte* end = begin + (table.slab_bytes_ != 0 ? table.slab_bytes_ : table.range_.num_bytes);
    const std::byte* previous_end = begin;
    for (std::uint32_t c = 0; table.capacity_ > 0 && c < table.columns_.size(); ++c) {
        const PhysicalColumn& column = table.columns_[c];
        if (reinterpret_cast<std::uintptr_t>(column.data) % kCacheLineBytes != 0)
            return broken(*table.schema_, concat("column ", c, " is not 64-byte aligned"), 0);
        if (column.data < previous_end)
            return broken(*table.schema_, concat("column ", c, " overlaps the one before"), 0);
        previous_end = column.data + round_up(std::size_t(table.capacity_) * column.element_bytes, kCacheLineBytes);
        if (previous_end > end)
            return broken(*table.schema_, concat("column ", c, " runs past the storage"), table.capacity_);
    }
    for (std::uint32_t b = 0; b < table.num_stamp_blocks_; ++b)
        for (std::uint32_t c = 0; c < table.schema_->columns().size(); ++c)
            if (table.written_stamp(c, b) > table.stamp_)
                return broken(*table.schema_, "its stamp lies in the future", b * kRowsPerStampBlock);
    return {};
}

/// Whether a newer entity on the index of `owner` has taken its entry: `owner` is dead and waits to be collected.
bool Table::Check::is_displaced(Entity owner) const {
    const std::uint32_t row = table.index_->find_any_generation(owner);
    return row < table.num_rows_ && table.entities_[row] != owner && table.entities_[row].index() == owner.index();
}

Status Table::Check::index() const {
    if (table.index_ == nullptr) return {};
    for (std::uint32_t row = 0; row < table.num_rows_; ++row) {
        if (!table.entities_[row]) {
            if (table.index_->kind() == RowIndexKind::kIdentity) continue;
            return broken(*table.schema_, "nobody owns it", row);
        }
        const std::uint32_t found = table.index_->find(table.entities_[row]);
        if (found == kNilRow && is_displaced(table.entities_[row])) continue;
        if (found >= table.num_rows_ || (!table.options_.chain && found != row))
            return broken(*table.schema_, concat("the index says row ", found, " for its entity"), row);
    }
    return {};
}

Status Table::Check::chains() const {
    if (!table.options_.chain || table.index_ == nullptr) return {};
    std::vector<std::uint8_t> reached(table.num_rows_);
    const std::uint32_t* next = table.links_[static_cast<int>(LinkColumn::kChainNext)];
    for (std::uint32_t row = 0; row < table.num_rows_; ++row) {
        if (table.index_->find(table.entities_[row]) != row) continue;
        for (std::uint32_t member = row; member != kNilRow; member = next[member]) {
            if (member >= table.num_rows_)
                return broken(*table.schema_, concat("its chain leads to row ", member), row);
            if (reached[member])
                return broken(*table.schema_, "two chains reach it, or a chain closes on itself", member);
            if (table.entities_[member] != table.entities_[row])
                return broken(*table.schema_, "it lies in the chain of another entity", member);
            reached[member] = 1;
        }
    }
    for (std::uint32_t row = 0; row < table.num_rows_; ++row)
        if (!reached[row] && !is_displaced(table.entities_[row]))
            return broken(*table.schema_, "no chain reaches it", row);
    return {};
}

Status Table::Check::trees() const {
    if (!table.options_.tree) return {};
    const auto links_of = [this](LinkColumn column) { return table.links_[static_cast<int>(column)]; };
    const std::uint32_t* parent = links_of(LinkColumn::kTreeParent);
    const std::uint32_t* first_child = links_of(LinkColumn::kTreeFirstChild);
    const std::uint32_t* next = links_of(LinkColumn::kTreeNext);
    const std::uint32_t* previous = links_of(LinkColumn::kTreePrevious);
    const auto exists = [this](std::uint32_t row) { return row == kNilRow || row < table.num_rows_; };
    std::uint64_t num_linked = 0, num_enumerated = 0;
    for (std::uint32_t row = 0; row < table.num_rows_; ++row) {
        if (!exists(parent[row]) || !exists(first_child[row]) || !exists(next[row]) || !exists(previous[row]))
            return broken(*table.schema_, "it links to a row that does not exist", row);
        if (parent[row] == kNilRow && (next[row] != kNilRow || previous[row] != kNilRow))
            return broken(*table.schema_, "a root has siblings", row);
        num_linked += parent[row] != kNilRow;
        std::uint32_t before = kNilRow;
        for (std::uint32_t child = first_child[row]; child != kNilRow; before = child, child = next[child]) {
            if (parent[child] != row)
                return broken(*table.schema_, concat("its child, row ", child, ", names another parent"), row);
            if (previous[child] != before)
                return broken(*table.schema_, "its link to the sibling before is wrong", child);
            if (++num_enumerated > table.num_rows_) return broken(*table.schema_, "its children form a cycle", row);
        }
    }
    if (num_linked != num_enumerated) return broken(*table.schema_, "a child is missing from its parent's list", 0);
    return {};
}

}  // namespace shoal

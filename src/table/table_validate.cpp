// Checks all invariants of a table, for tests and checked builds.

#include "shoal/base/text.h"
#include "shoal/table/detail/table.h"

#include <utility>
#include <vector>

namespace shoal {
namespace {

Status broken(const Table& table, std::string_view what, std::uint32_t row) {
    return Status::error(concat("table of \"", table.schema().name(), "\", row ", row, ": ", what));
}

}  // namespace

Status Table::validate() const {
    if (Status status = storage_.validate(); !status) return status;
    if (num_rows() > stamps_.num_blocks() * kRowsPerStampBlock) return broken(*this, "it has no stamp", num_rows() - 1);
    for (std::uint32_t block = 0; block < stamps_.num_blocks(); ++block)
        for (std::uint32_t c = 0; c < schema().columns().size(); ++c)
            if (written_stamp(c, block) > stamp())
                return broken(*this, "its stamp lies in the future", block * kRowsPerStampBlock);
    if (Status status = validate_index(); !status) return status;
    if (Status status = links_.validate(num_rows(), schema().name()); !status) return status;
    return validate_chains();
}

/// Whether a newer entity with the same index has taken the entry of `owner`, which is dead but not yet removed.
bool Table::is_displaced(Entity owner) const {
    const std::uint32_t row = index_->find_any_generation(owner);
    return row < num_rows() && entities()[row] != owner && entities()[row].index() == owner.index();
}

/// Whether every row has an owner that the index maps to that row. If an owner is displaced, this is false, although
/// the index is valid. The loop has no branch per row.
bool Table::has_exact_index() const {
    if (!is_packed_ || !index_->covers(entities())) return false;
    const std::span<const EntityBits> entries = std::as_const(*index_).entries();
    EntityBits differ = 0;
    std::uint32_t num_null = 0;
    for (std::uint32_t row = 0; row < num_rows(); ++row) {
        const Entity owner = entities()[row];
        num_null += owner ? 0 : 1;
        differ |= entries[owner.index()] ^ RowIndex::entry_of(owner, row);
    }
    return differ == 0 && num_null == 0;
}

Status Table::validate_index() const {
    if (index_ == nullptr || has_exact_index()) return {};
    std::uint32_t num_holes = 0;
    for (std::uint32_t row = 0; row < num_rows(); ++row) {
        if (!entities()[row]) {
            if (index_->kind() != RowIndexKind::kIdentity) return broken(*this, "nobody owns it", row);
            ++num_holes;
            continue;
        }
        const std::uint32_t found = index_->find(entities()[row]);
        if (found == kNilRow && is_displaced(entities()[row])) continue;
        if (found >= num_rows() || (!links_.has_chain() && found != row))
            return broken(*this, concat("the index says row ", found, " for its entity"), row);
    }
    if (num_holes == num_holes_) return {};
    return Status::error(concat("table of \"", schema().name(), "\": ", num_holes, " holes, not ", num_holes_));
}

Status Table::validate_chains() const {
    if (!links_.has_chain() || index_ == nullptr) return {};
    std::vector<std::uint8_t> reached(num_rows());
    const std::span<const std::uint32_t> next = links(LinkColumn::kChainNext);
    for (std::uint32_t row = 0; row < num_rows(); ++row) {
        if (index_->find(entities()[row]) != row) continue;
        for (std::uint32_t member = row; member != kNilRow; member = next[member]) {
            if (reached[member]) return broken(*this, "two chains reach it, or a chain closes on itself", member);
            if (entities()[member] != entities()[row])
                return broken(*this, "it lies in the chain of another entity", member);
            reached[member] = 1;
        }
    }
    for (std::uint32_t row = 0; row < num_rows(); ++row)
        if (!reached[row] && !is_displaced(entities()[row])) return broken(*this, "no chain reaches it", row);
    return {};
}

}  // namespace shoal

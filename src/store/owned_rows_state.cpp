// Saves and loads the rows that entities own.

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/owned_rows.h"

#include <algorithm>

namespace shoal {

void OwnedRows::save(SnapshotWriter& to) const {
    const SnapshotPath::Scope scope = to.in("rows");
    table_.save(to);
    if (cursor_.number != 0) to.value("deaths_seen", entities_.death_position(cursor_));
    if (cursor_.number != 0 && options_.death == DeathPolicy::kRandomProbe) to.value("removed_all_at", removed_all_at_);
}

Status OwnedRows::load(SnapshotReader& from) {
    require_unlocked("load()");
    SHOAL_ASSERT(shown_ == nullptr, "rows that a plugin keeps are loaded by the plugin");
    const SnapshotPath::Scope scope = from.in("rows");
    ++num_structural_changes_;
    deaths_seen_ = kUnknown;
    index_.clear();
    const auto load_deaths = [&]() -> Status {
        removed_all_at_ = 0;
        if (from.has("removed_all_at"))
            if (Status status = from.value("removed_all_at", removed_all_at_); !status) return status;
        if (cursor_.number == 0 || !from.has("deaths_seen")) return {};
        std::uint64_t position = 0;
        if (Status status = from.value("deaths_seen", position); !status) return status;
        return entities_.set_death_position(cursor_, position);
    };
    Status status = table_.load(from);
    if (status) status = index_loaded(from);
    if (status) status = load_deaths();
    if (!status) {
        index_.clear();
        table_.clear();
    }
    return status;
}

/// Rebuilds the index. If two rows have the same entity index, the entry refers to the row of the living entity, or
/// else to the later row.
Status OwnedRows::index_loaded(SnapshotReader& from) {
    const std::span<const Entity> owners = table_.entities();
    if (owners.empty()) return {};  // needs no memory, so that loading an empty state works without any
    std::uint32_t highest = 0;
    for (const Entity owner : owners) highest = std::max(highest, owner.index());
    if (highest > entities_.num_indices_used())
        return from.error(
            "owner", concat("entity index ", highest, " owns a row, and there are ", entities_.num_indices_used()));
    const bool is_identity = options_.index == RowIndexKind::kIdentity;
    if (Status status = index_.reserve(table_.num_rows(), highest); !status) return status;
    const std::span<const std::uint32_t> previous =
        table_.has_chain() ? table_.links(LinkColumn::kChainPrevious) : std::span<const std::uint32_t>();
    for (std::uint32_t row = 0; row < owners.size(); ++row) {
        const Entity owner = owners[row];
        if (!owner && is_identity) continue;
        if (!is_possible(owner) || (is_identity && owner.index() != row))
            return from.error("owner",
                              concat("row ", row, " belongs to ", entity_text(owner), ", which cannot own it"));
        if (!previous.empty() && previous[row] != kNilRow) continue;  // the row is not the first in its chain
        const std::uint32_t other = index_.find_any_generation(owner);
        if (other == kNilRow || !entities_.alive(owners[other])) index_.set(owner, row);
    }
    if (!from.is_trusted())
        if (Status status = table_.validate(); !status) return status;
    return {};
}

}  // namespace shoal

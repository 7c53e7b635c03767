#include "shoal/database/journal.h"

#include "database/journal_keeper.h"

#include <algorithm>

namespace shoal {

void JournalKeeper::collect(DatabaseTable& table, std::uint64_t stamp) {
    for (const StructuralChange& change : table.table().changes()) entries_.push_back({stamp, table.number(), change});
    table.table().clear_changes();
}

void JournalKeeper::trim() {
    while (entries_.size() - begin_ > max_changes_) {
        const std::uint64_t oldest = entries_[begin_].stamp;
        complete_from_ = oldest + 1;
        while (begin_ < entries_.size() && entries_[begin_].stamp == oldest) ++begin_;
    }
    if (begin_ <= entries_.size() / 2) return;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    if (entries_.capacity() > 4 * max_changes_) entries_.shrink_to_fit();
}

Journal JournalKeeper::since(std::uint64_t stamp) const {
    if (stamp < complete_from_) return {};
    const auto first =
        std::lower_bound(entries_.begin() + static_cast<std::ptrdiff_t>(begin_), entries_.end(), stamp,
                         [](const JournalEntry& entry, std::uint64_t since) { return entry.stamp < since; });
    return {true, {first, entries_.end()}};
}

Journal Database::journal(std::uint64_t since) const {
    return journal_ == nullptr ? Journal() : journal_->since(since);
}

void Database::keep_journal(std::size_t max_changes) {
    require_unlocked();
    const bool was_kept = journal_ != nullptr;
    if (was_kept) {
        journal_->~JournalKeeper();
        release_memory(journal_, sizeof(JournalKeeper), "journal");
        journal_ = nullptr;
    }
    if (max_changes != 0)
        journal_ =
            ::new (allocate_memory(sizeof(JournalKeeper), "journal")) JournalKeeper(max_changes, stamp_ + was_kept);
    tables_.watch_changes(max_changes != 0);
}

}  // namespace shoal

#include "shoal/world/journal.h"

#include <algorithm>

namespace shoal {

void ChangeJournal::keep(std::size_t max_entities, std::uint64_t stamp) {
    max_entities_ = max_entities;
    complete_from_ = stamp;
    num_entities_ = begin_ = 0;
    entries_.clear();
    entities_.clear();
}

Journal ChangeJournal::since(std::uint64_t stamp) const {
    if (!is_kept() || stamp < complete_from_) return {};
    const auto first =
        std::lower_bound(entries_.begin() + static_cast<std::ptrdiff_t>(begin_), entries_.end(), stamp,
                         [](const JournalEntry& entry, std::uint64_t since) { return entry.stamp < since; });
    return {true, {first, entries_.end()}};
}

void ChangeJournal::add(std::uint64_t stamp, ComponentId component, JournalEntry::Kind kind,
                        std::span<const Entity> entities) {
    if (entities.empty()) return;
    entities_.emplace_back(entities.begin(), entities.end(), OwnedAllocator<Entity>("journal"));
    entries_.push_back({stamp, component, kind, entities_.back()});
    num_entities_ += entities.size();
}

void ChangeJournal::trim() {
    while (num_entities_ > max_entities_) {
        const std::uint64_t oldest = entries_[begin_].stamp;
        complete_from_ = oldest + 1;
        for (; begin_ < entries_.size() && entries_[begin_].stamp == oldest; ++begin_)
            num_entities_ -= entries_[begin_].entities.size();
    }
    if (begin_ <= entries_.size() / 2) return;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(begin_));
    entities_.erase(entities_.begin(), entities_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
}

}  // namespace shoal

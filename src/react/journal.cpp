#include "shoal/react/detail/journal.h"

#include "shoal/entity/detail/saved_entities.h"
#include "shoal/state/snapshot.h"

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
    entities_.emplace_back(entities.begin(), entities.end(), Owner("journal"));
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

// --- saving ------------------------------------------------------------------------------------------------------

namespace {

struct SavedEntry {
    std::uint64_t stamp;
    ComponentId component;
    std::uint32_t kind, num_entities;
};

}  // namespace

void ChangeJournal::save(SnapshotWriter& to) const {
    if (!is_kept()) return;
    Array<SavedEntry> saved{Owner("journal")};
    Array<Entity> entities{Owner("journal")};
    for (std::size_t i = begin_; i < entries_.size(); ++i) {
        const JournalEntry& entry = entries_[i];
        saved.push_back({entry.stamp, entry.component, static_cast<std::uint32_t>(entry.kind),
                         static_cast<std::uint32_t>(entry.entities.size())});
        entities.insert(entities.end(), entry.entities.begin(), entry.entities.end());
    }
    to.value("complete_from", complete_from_);
    to.array("entries", std::span<const SavedEntry>(saved));
    to.array("entities", std::span<const Entity>(entities));
}

Status ChangeJournal::load(SnapshotReader& from, std::uint64_t stamp) {
    if (!is_kept()) return {};
    keep(max_entities_, stamp);
    if (!from.has("entries")) return {};
    std::uint64_t complete_from = 0;
    Array<SavedEntry> saved{Owner("journal")};
    Array<Entity> entities{Owner("journal")};
    if (Status status = from.value("complete_from", complete_from); !status) return status;
    if (Status status = from.array("entries", saved); !status) return status;
    if (Status status = read_entities(from, "entities", entities); !status) return status;
    std::span<const Entity> rest(entities);
    std::uint64_t last = 0;
    for (const SavedEntry& entry : saved) {
        if (entry.stamp < last || entry.kind > 1 || entry.num_entities > rest.size()) {
            keep(max_entities_, stamp);
            return from.error("entries", "they do not fit each other");
        }
        last = entry.stamp;
        add(entry.stamp, entry.component, static_cast<JournalEntry::Kind>(entry.kind), rest.first(entry.num_entities));
        rest = rest.subspan(entry.num_entities);
    }
    complete_from_ = complete_from;
    trim();
    return {};
}

}  // namespace shoal

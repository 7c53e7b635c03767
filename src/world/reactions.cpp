#include "shoal/world/reactions.h"

#include "shoal/base/assert.h"
#include "shoal/store/component_mirror.h"

#include <algorithm>
#include <new>

namespace shoal {
namespace {

void destroy_mirror(ComponentMirror* mirror) {
    mirror->~ComponentMirror();
    release_memory(mirror, sizeof(ComponentMirror), "reactions");
}

}  // namespace

Reactions::~Reactions() { clear(); }

void Reactions::clear() {
    for (const Entry& entry : entries_) entry.destroy(*entry.reaction);
    for (ComponentMirror* mirror : mirrors_) destroy_mirror(mirror);
    entries_.clear();
    mirrors_.clear();
    journal_.keep(0, 0);
}

// --- adding and removing -----------------------------------------------------------------------------------------

/// Returns what remembers the components of a type; makes it when there is none, as if the store had none of them, or of
/// those of now.
ComponentMirror& Reactions::mirror_of(Store& store, const Schema& component, bool has_no_rows) {
    for (ComponentMirror* known : mirrors_)
        if (&known->store() == &store && known->component().id() == component.id()) return *known;
    const auto start = has_no_rows ? ComponentMirror::Start::kNoRows : ComponentMirror::Start::kRowsOfNow;
    mirrors_.push_back(::new (allocate_memory(sizeof(ComponentMirror), "reactions"))
                           ComponentMirror(store, component, start));
    return *mirrors_.back();
}

void Reactions::mirror_all(std::span<Store* const> stores, bool have_no_rows) {
    for (Store* store : stores)
        for (const Schema* component : store->schemas()) mirror_of(*store, *component, have_no_rows);
}

ReactionId Reactions::add(Store& store, const Schema& component, const ReactionTo& to, Reaction& reaction,
                          void (*destroy)(Reaction&)) {
    ComponentMirror& mirror = mirror_of(store, component, false);
    if (to.wants_values) mirror.keep_values();
    for (std::uint32_t field = 0; to.kind == ReactionKind::kChange && field < component.fields().size(); ++field)
        if (to.field == ReactionTo::kAnyField || to.field == field) mirror.watch_field(field);
    entries_.push_back({{++num_made_}, to, &mirror, &reaction, destroy});
    return entries_.back().id;
}

void Reactions::remove(ReactionId id) {
    for (Entry& entry : entries_) entry.is_removed |= entry.id.number == id.number;
    if (!is_telling_) drop_removed();
}

void Reactions::forget(const Store& store) {
    for (Entry& entry : entries_) entry.is_removed |= &entry.mirror->store() == &store;
    drop_removed();
    const auto end = std::partition(mirrors_.begin(), mirrors_.end(),
                                    [&](const ComponentMirror* mirror) { return &mirror->store() != &store; });
    std::for_each(end, mirrors_.end(), destroy_mirror);
    mirrors_.erase(end, mirrors_.end());
}

/// Destroys removed reactions, and forgets what nobody listens to any more.
void Reactions::drop_removed() {
    for (const Entry& entry : entries_)
        if (entry.is_removed) entry.destroy(*entry.reaction);
    entries_.erase(
        std::remove_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.is_removed; }),
        entries_.end());
    if (!journal_.is_kept()) drop_unused();
}

void Reactions::drop_unused() {
    const auto is_used = [this](const ComponentMirror* mirror) {
        return std::any_of(entries_.begin(), entries_.end(),
                           [mirror](const Entry& entry) { return entry.mirror == mirror; });
    };
    const auto end = std::partition(mirrors_.begin(), mirrors_.end(), is_used);
    std::for_each(end, mirrors_.end(), destroy_mirror);
    mirrors_.erase(end, mirrors_.end());
}

void Reactions::keep_journal(std::size_t max_entities, std::uint64_t stamp, std::span<Store* const> stores) {
    SHOAL_ASSERT(!is_telling_, "a reaction began or ended the journal; do it before or after World::settle()");
    journal_.keep(max_entities, stamp);
    if (journal_.is_kept())
        mirror_all(stores, false);
    else
        drop_unused();
}

// --- telling -----------------------------------------------------------------------------------------------------

void Reactions::run(std::uint64_t stamp, std::span<Store* const> stores) {
    // Component types that have got a home since the last time had no rows then.
    if (journal_.is_kept()) mirror_all(stores, true);
    for (ComponentMirror* mirror : mirrors_) mirror->compare();
    for (std::size_t i = 0; journal_.is_kept() && i < mirrors_.size(); ++i) {
        const ComponentId component = mirrors_[i]->component().id();
        journal_.add(stamp, component, JournalEntry::Kind::kRemoved, mirrors_[i]->removed());
        journal_.add(stamp, component, JournalEntry::Kind::kAdded, mirrors_[i]->added());
    }
    journal_.trim();
    is_telling_ = true;
    const std::size_t num_entries = entries_.size();  // those that are added by reactions have nothing to tell yet
    for (std::size_t i = 0; i < num_entries; ++i) tell(Entry(entries_[i]));
    is_telling_ = false;
    drop_removed();
}

/// Calls a reaction, unless it was removed or nothing has happened.
void Reactions::tell(const Entry& entry) {
    if (entry.is_removed) return;
    const ComponentMirror& mirror = *entry.mirror;
    ReactionBatch batch{{}, nullptr, mirror.component()};
    Array<Entity> entities{Owner("reactions")};
    Array<std::byte> values{Owner("reactions")};
    if (entry.to.kind == ReactionKind::kAdd) {
        batch.entities = mirror.added();
    } else if (entry.to.kind == ReactionKind::kRemove) {
        batch.entities = mirror.removed();
        batch.values_before = mirror.removed_values();
    } else {
        const std::size_t bytes = mirror.component().struct_bytes();
        const std::uint64_t fields =
            entry.to.field == ReactionTo::kAnyField ? ~std::uint64_t(0) : std::uint64_t(1) << entry.to.field;
        for (std::size_t i = 0; i < mirror.changed().size(); ++i) {
            if ((mirror.changed_fields()[i] & fields) == 0) continue;
            entities.push_back(mirror.changed()[i]);
            values.insert(values.end(), mirror.changed_values() + i * bytes, mirror.changed_values() + (i + 1) * bytes);
        }
        batch.entities = entities;
        batch.values_before = values.data();
    }
    if (!batch.entities.empty()) entry.reaction->run(batch);
}

}  // namespace shoal

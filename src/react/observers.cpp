#include "shoal/react/observers.h"

#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/component_mirror.h"
#include "shoal/table/detail/type_name.h"

#include <algorithm>
#include <new>

namespace shoal {
namespace {

ComponentMirror& make_mirror(Store& store, const Schema& component, ComponentMirror::Start start) {
    return *::new (allocate_memory(sizeof(ComponentMirror), "observers")) ComponentMirror(store, component, start);
}

void destroy_mirror(ComponentMirror* mirror) {
    mirror->~ComponentMirror();
    release_memory(mirror, sizeof(ComponentMirror), "observers");
}

}  // namespace

Observers::~Observers() { world_ends(); }

void Observers::world_ends() {
    for (Entry& entry : entries_) entry.is_removed = true;
    drop_removed();
    drop_mirrors(nullptr);
    journal_.keep(0, 0);
}

// --- what can be told ---------------------------------------------------------------------------------------------

namespace {

/// Errors: the store cannot provide the values that the observer wants.
Status check_values(Store& store, const Schema& component, const ObservedChange& to) {
    const bool needs_values = to.wants_values || to.kind == ObserverKind::kChange;
    const OwnedColumns columns = store.find_columns(component);
    if (needs_values && columns && !columns.has_fields)
        return Status::error(concat("\"", component.name(), "\" is kept by ", store.kind(),
                                    " in a form whose values cannot be compared; use on_add() and on_remove()"));
    if (needs_values && component.many())
        return Status::error(concat("an entity may have several \"", component.name(),
                                    "\", so their values cannot be compared; use on_add() and on_remove()"));
    const bool is_one_field = to.kind == ObserverKind::kChange && to.field < component.fields().size();
    if (needs_values && component.has_opaque() && (!is_one_field || component.fields()[to.field].opaque != nullptr))
        return Status::error(concat("\"", component.name(),
                                    "\" has opaque fields, whose values cannot be kept; observe without values"));
    if (to.kind == ObserverKind::kChange && to.field != ObservedChange::kAnyField &&
        to.field >= component.fields().size())
        return Status::error(concat("\"", component.name(), "\" has ", component.fields().size(),
                                    " fields, and none with number ", to.field));
    return {};
}

}  // namespace

Result<ObserverId> Observers::observe(ComponentId component, const ObservedChange& to, Observer& observer,
                                      void (*destroy)(Observer&)) {
    Store* const store = directory_.find(component);
    if (store == nullptr)
        return Status::error(
            "no store of the world keeps the component type; make its manager, or name it to the "
            "database, before anything observes it");
    const Schema& schema = *directory_.find_schema(component);
    if (Status status = check_values(*store, schema, to); !status) return status;
    return require(schema, to, observer, destroy);
}

ObserverId Observers::require(const Schema& component, const ObservedChange& to, Observer& observer,
                              void (*destroy)(Observer&)) {
    SHOAL_ASSERT(!directory_.is_held(), "a pass added an observer; add it before World::step()");
    Store* const store = directory_.require_or_end(component);
    if (store == nullptr) {
        const std::string type = type_name_of(component.name());
        const std::string message =
            concat("no store of the world keeps the component type of an observer, \"", component.name(),
                   "\"; call World::manager<", type, ">() or World::database().component<", type, ">() before");
        fail_assertion("store != nullptr", message);
    }
    const Schema* const kept = directory_.find_schema(component.id());
    SHOAL_ASSERT(kept == nullptr || kept->layout_hash() == component.layout_hash(),
                 "the store of this component type was made from another schema than that of the C++ type");
    const Status status = check_values(*store, component, to);
    SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
    return add(*store, component, to, observer, destroy);
}

// --- adding and removing -----------------------------------------------------------------------------------------

ObserverId Observers::add(Store& store, const Schema& component, const ObservedChange& to, Observer& observer,
                          void (*destroy)(Observer&)) {
    ComponentMirror& mirror = make_mirror(store, component, ComponentMirror::Start::kRowsOfNow);
    if (to.wants_values) to.kind == ObserverKind::kAdd ? mirror.take_added_values() : mirror.keep_values();
    for (std::uint32_t field = 0; to.kind == ObserverKind::kChange && field < component.fields().size(); ++field)
        if (to.field == ObservedChange::kAnyField || to.field == field) mirror.watch_field(field);
    entries_.push_back({{++num_made_}, to, &mirror, &observer, destroy});
    return entries_.back().id;
}

void Observers::remove(ObserverId id) {
    SHOAL_ASSERT(!directory_.is_held(), "a pass removed an observer; remove it after World::step()");
    for (Entry& entry : entries_) entry.is_removed |= entry.id.number == id.number;
    if (!is_telling_) drop_removed();
}

void Observers::forget(const Store& store) {
    for (Entry& entry : entries_) entry.is_removed |= &entry.mirror->store() == &store;
    drop_removed();
    drop_mirrors(&store);
}

/// Destroys removed observers. Their destructors may remove other observers.
void Observers::drop_removed() {
    for (std::size_t i = 0; i < entries_.size();) {
        if (!entries_[i].is_removed) {
            ++i;
            continue;
        }
        const Entry entry = entries_[i];
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
        destroy_mirror(entry.mirror);
        entry.destroy(*entry.observer);
        i = 0;
    }
}

/// Destroys the journal's mirrors of a store, or of all stores if `store` is nullptr.
void Observers::drop_mirrors(const Store* store) {
    const auto end = std::partition(mirrors_.begin(), mirrors_.end(), [&](const ComponentMirror* mirror) {
        return store != nullptr && &mirror->store() != store;
    });
    std::for_each(end, mirrors_.end(), destroy_mirror);
    mirrors_.erase(end, mirrors_.end());
}

void Observers::keep_journal(std::size_t max_entities) {
    SHOAL_ASSERT(!directory_.is_held(), "a pass began or ended the journal; do it before World::step()");
    SHOAL_ASSERT(!is_telling_, "an observer began or ended the journal; do it before or after World::settle()");
    const bool was_kept = journal_.is_kept();
    journal_.keep(max_entities, directory_.stamp());
    if (!journal_.is_kept()) return drop_mirrors(nullptr);
    // If the journal was already kept, its mirrors stay, so that the next settle reports all changes since the last
    // settle.
    if (!was_kept) mirror_all(false);
}

/// Creates a mirror for each component type that has none. The new mirrors start with no rows or with the current rows.
void Observers::mirror_all(bool have_no_rows) {
    const auto start = have_no_rows ? ComponentMirror::Start::kNoRows : ComponentMirror::Start::kRowsOfNow;
    for (Store* store : directory_.stores())
        for (const Schema* component : store->schemas()) {
            const auto is_of = [&](const ComponentMirror* mirror) {
                return &mirror->store() == store && mirror->component().id() == component->id();
            };
            if (std::none_of(mirrors_.begin(), mirrors_.end(), is_of))
                mirrors_.push_back(&make_mirror(*store, *component, start));
        }
}

// --- telling -----------------------------------------------------------------------------------------------------

void Observers::after_settle(const SettleContext& context) {
    if (entries_.empty() && !journal_.is_kept()) return;
    const std::uint64_t stamp = context.stamp - 1;
    // Component types in new stores had no rows at the last settle.
    if (journal_.is_kept()) mirror_all(true);
    for (ComponentMirror* mirror : mirrors_) {
        mirror->compare();
        journal_.add(stamp, mirror->component().id(), JournalEntry::Kind::kRemoved, mirror->removed());
        journal_.add(stamp, mirror->component().id(), JournalEntry::Kind::kAdded, mirror->added());
    }
    journal_.trim();
    for (const Entry& entry : entries_) entry.mirror->compare();
    is_telling_ = true;
    const std::size_t num_entries = entries_.size();  // observers added by observers have no changes to report yet
    for (std::size_t i = 0; i < num_entries; ++i) tell(Entry(entries_[i]));
    is_telling_ = false;
    drop_removed();
}

/// Calls an observer, unless it was removed or nothing has changed.
void Observers::tell(const Entry& entry) {
    if (entry.is_removed) return;
    const ComponentMirror& mirror = *entry.mirror;
    ObservedBatch batch{{}, nullptr, nullptr, mirror.component()};
    if (entry.to.kind == ObserverKind::kAdd) {
        batch.entities = mirror.added();
        if (entry.to.wants_values) batch.values_now = mirror.added_values();
    } else if (entry.to.kind == ObserverKind::kRemove) {
        batch.entities = mirror.removed();
        batch.values_before = mirror.removed_values();
    } else {
        batch.entities = mirror.changed();
        batch.values_before = mirror.changed_values();
    }
    if (!batch.entities.empty()) entry.observer->run(batch);
}

void Observers::mark_texts(TextMarks& marks) const {
    const auto mark = [](void* to, const Field& field, const std::byte* value) {
        static_cast<TextMarks*>(to)->mark_values(field, value);
    };
    for (const Entry& entry : entries_) entry.mirror->visit_texts(mark, &marks);
    for (const ComponentMirror* mirror : mirrors_) mirror->visit_texts(mark, &marks);
}

std::string Observers::describe() const {
    std::string text = entries_.empty() ? std::string() : concat(entries_.size(), " are there");
    if (journal_.is_kept()) text += text.empty() ? "the journal is kept" : ", and the journal is kept";
    return text;
}

// --- saving ------------------------------------------------------------------------------------------------------

namespace {

/// The name of an observer's part of the state. It is the same in every run that adds the observers in the same order.
std::string observer_name(std::size_t number, const ComponentMirror& mirror) {
    return concat("observer/", number, '/', mirror.component().name());
}
std::string journal_name(const ComponentMirror& mirror) { return concat("journal/", mirror.component().name()); }

}  // namespace

void Observers::save_part(SnapshotWriter& to) const {
    SHOAL_ASSERT(!is_telling_, "an observer saved its world; save it when it has settled");
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const SnapshotPath::Scope scope = to.in(observer_name(i, *entries_[i].mirror));
        entries_[i].mirror->save(to);
    }
    for (const ComponentMirror* mirror : mirrors_) {
        const SnapshotPath::Scope scope = to.in(journal_name(*mirror));
        mirror->save(to);
    }
    const SnapshotPath::Scope scope = to.in("journal");
    journal_.save(to);
}

Status Observers::load_part(SnapshotReader& from, std::uint32_t) {
    SHOAL_ASSERT(!is_telling_, "an observer loaded its world; load it when it has settled");
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const SnapshotPath::Scope scope = from.in(observer_name(i, *entries_[i].mirror));
        if (const Result<bool> known = entries_[i].mirror->load(from); !known) return known.status();
    }
    if (journal_.is_kept()) mirror_all(false);
    for (ComponentMirror* mirror : mirrors_) {
        const SnapshotPath::Scope scope = from.in(journal_name(*mirror));
        if (const Result<bool> known = mirror->load(from); !known) return known.status();
    }
    const SnapshotPath::Scope scope = from.in("journal");
    return journal_.load(from, directory_.stamp());
}

}  // namespace shoal

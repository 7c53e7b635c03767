#include "shoal/react/relations.h"

#include "shoal/base/text.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/relation_index.h"

#include <algorithm>
#include <new>

namespace shoal {
namespace {

void destroy(RelationIndex* index) {
    index->~RelationIndex();
    release_memory(index, sizeof(RelationIndex), "relation");
}

}  // namespace

Relations::Relations(ComponentDirectory& directory)
    : WorldService("relations", ServiceStage::kRelations), directory_(directory), entities_(directory.entities()) {}

Relations::~Relations() {
    for (RelationIndex* index : indices_) destroy(index);
    if (cursor_.number != 0) entities_.close_death_cursor(cursor_);
}

const RelationIndex* Relations::find(ComponentId component, std::uint32_t field) const {
    for (const RelationIndex* index : indices_)
        if (index->component().id() == component && index->field() == field) return index;
    return nullptr;
}

Referrers Relations::referrers(ComponentId component, std::uint32_t field, Entity target) const {
    const RelationIndex* const index = find(component, field);
    return index == nullptr ? Referrers() : index->referrers(target);
}

void Relations::forget(const Store& store) {
    forget_if([&](const RelationIndex& index) { return &index.store() == &store; });
}

template <class Chooses>
void Relations::forget_if(Chooses&& chooses) {
    const auto end =
        std::partition(indices_.begin(), indices_.end(), [&](const RelationIndex* index) { return !chooses(*index); });
    std::for_each(end, indices_.end(), destroy);
    indices_.erase(end, indices_.end());
    num_known_ = 0;
    if (!indices_.empty() || cursor_.number == 0) return;
    entities_.close_death_cursor(cursor_);
    cursor_ = {};
}

/// Creates an index for each relation that has none.
void Relations::find_new() {
    if (directory_.num_types() == num_known_) return;
    num_known_ = directory_.num_types();
    for (Store* store : directory_.stores())
        for (const Schema* component : store->schemas())
            for (std::uint32_t field = 0; field < component->fields().size(); ++field)
                if (component->fields()[field].relation != Relation::kNone && find(component->id(), field) == nullptr)
                    indices_.push_back(::new (allocate_memory(sizeof(RelationIndex), "relation"))
                                           RelationIndex(*store, *component, field, entities_));
    if (!indices_.empty() && cursor_.number == 0) cursor_ = entities_.open_death_cursor("a world's relations");
}

void Relations::after_commands(const SettleContext&) {
    find_new();
    if (!indices_.empty()) follow_deaths();
}

void Relations::follow_deaths() {
    Array<Entity> dead{Owner("relation")}, doomed{Owner("relation")};
    for (RelationIndex* index : indices_) index->refresh(dead);
    for (;;) {
        const DeathRange range = entities_.deaths(cursor_);
        dead.insert(dead.end(), range.entities.begin(), range.entities.end());
        if (range.fell_behind)
            for (RelationIndex* index : indices_) index->find_dead(dead);
        entities_.advance(cursor_, range.end);
        if (dead.empty()) return;
        doomed.clear();
        deal_with(dead, doomed);
        dead.clear();
        for (RelationIndex* index : indices_)  // the indices must reflect cleared references
            if (index->has_cleared()) index->refresh(dead);
        entities_.destroy(doomed);
    }
}

/// Applies the rules of the relations to dead entities. Adds to `doomed` the entities that must therefore die.
void Relations::deal_with(std::span<const Entity> dead, Array<Entity>& doomed) {
    for (RelationIndex* index : indices_)
        for (const Entity entity : dead) {
            index->forget(entity);
            if (index->relation() == Relation::kCleared) index->clear_references(entity);
            if (index->relation() == Relation::kDiesToo)
                for (const Entity referrer : index->referrers(entity)) doomed.push_back(referrer);
        }
}

// --- saving ------------------------------------------------------------------------------------------------------

namespace {

std::string name_of(const RelationIndex& index) {
    return concat(index.component().name(), '.', index.component().fields()[index.field()].name);
}

}  // namespace

std::string Relations::describe() const {
    std::string text;
    for (const RelationIndex* index : indices_) text += concat(text.empty() ? "" : ", ", name_of(*index));
    return text;
}

void Relations::save_part(SnapshotWriter& to) const {
    if (cursor_.number != 0) to.value("deaths_seen", entities_.death_position(cursor_));
    for (const RelationIndex* index : indices_) {
        const SnapshotPath::Scope scope = to.in(name_of(*index));
        index->save(to);
    }
}

Status Relations::load_part(SnapshotReader& from, std::uint32_t) {
    if (!from.has("deaths_seen")) {  // the state was saved without relations; the next settle creates the indices
        forget_if([](const RelationIndex&) { return true; });
        return {};
    }
    find_new();
    for (RelationIndex* index : indices_) {
        const SnapshotPath::Scope scope = from.in(name_of(*index));
        if (Status status = index->load(from); !status) return status;
    }
    if (cursor_.number == 0) return {};
    std::uint64_t position = 0;
    if (Status status = from.value("deaths_seen", position); !status) return status;
    return entities_.set_death_position(cursor_, position);
}

}  // namespace shoal

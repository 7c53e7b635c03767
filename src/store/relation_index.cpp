#include "shoal/store/detail/relation_index.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"

#include <iterator>

namespace shoal {

RelationIndex::RelationIndex(Store& store, const Schema& component, std::uint32_t field, const EntityManager& entities)
    : entities_(entities), field_(field), mirror_(store, component, ComponentMirror::Start::kNoRows) {
    SHOAL_ASSERT(field < component.fields().size() && relation() != Relation::kNone,
                 "the field is not declared a relation");
    part_ = field_part(mirror_.component(), mirror_.component().fields()[field]);
    mirror_.watch_field(field);
}

void RelationIndex::refresh(Array<Entity>& dead_targets) {
    has_cleared_ = false;
    mirror_.compare();
    for (const Entity entity : mirror_.removed()) forget(entity);
    for (const std::span<const Entity> referrers : {mirror_.added(), mirror_.changed()})
        for (const Entity referrer : referrers)
            if (const Entity target = refer(referrer); target && !entities_.alive(target))
                dead_targets.push_back(target);
}

/// Updates an entity's reference from its row, and returns the target.
Entity RelationIndex::refer(Entity referrer) {
    const ComponentRow at = store().find_row(component().id(), referrer, 0);
    Entity target;
    if (at) read_part(*at.table, at.first_column, at.row, part_, reinterpret_cast<std::byte*>(&target));
    if (target.index() > entities_.num_indices_used()) target = kNullEntity;
    const std::uint32_t index = referrer.index();
    if (index < links_.size() && links_[index].referrer == referrer && links_[index].target == target) return target;
    if (index < links_.size()) forget(links_[index].referrer);
    if (!target) return target;
    if (index >= links_.size()) links_.resize(index + 1);
    if (target.index() >= first_.size()) first_.resize(target.index() + 1);
    std::uint32_t& first = first_[target.index()];
    links_[index] = {referrer, target, first, 0};
    if (first != 0) links_[first].previous = index;
    first = index;
    return target;
}

void RelationIndex::forget(Entity referrer) {
    if (!referrer || referrer.index() >= links_.size() || links_[referrer.index()].referrer != referrer) return;
    detail::ReferenceLink& link = links_[referrer.index()];
    if (link.next != 0) links_[link.next].previous = link.previous;
    (link.previous != 0 ? links_[link.previous].next : first_[link.target.index()]) = link.next;
    link = {};
}

void RelationIndex::clear_references(Entity target) {
    Array<Entity> all{Owner("relation")};
    for (const Entity referrer : referrers(target)) all.push_back(referrer);
    for (const Entity referrer : all) {
        forget(referrer);
        const ComponentRow at = store().find_row(component().id(), referrer, 0);
        const Entity none;
        if (!at) continue;
        if (const Status status = store().write_field(at, part_, reinterpret_cast<const std::byte*>(&none)); status)
            has_cleared_ = true;
        else
            log(LogLevel::kError, concat("entity ", entity_text(referrer), " keeps its reference to a dead one in \"",
                                         component().name(), '.', component().fields()[field_].name,
                                         "\", because the store refuses null: ", status.message()));
    }
}

void RelationIndex::find_dead(Array<Entity>& dead_targets) {
    for (const detail::ReferenceLink& link : links_)
        if (link.referrer && !entities_.alive(link.referrer)) forget(link.referrer);
    for (const detail::ReferenceLink& link : links_)
        if (link.target && !entities_.alive(link.target)) dead_targets.push_back(link.target);
}

Status RelationIndex::validate() const {
    const auto broken = [this](std::uint32_t index) {
        return Status::error(concat("relation \"", component().name(), '.', component().fields()[field_].name,
                                    "\": the reference of entity index ", index, " is not in the list of its target"));
    };
    for (std::uint32_t index = 0; index < links_.size(); ++index) {
        const detail::ReferenceLink& link = links_[index];
        if (!link.referrer) continue;
        const std::uint32_t before = link.previous != 0 ? links_[link.previous].next : first_[link.target.index()];
        const bool is_followed = link.next == 0 || links_[link.next].previous == index;
        if (link.referrer.index() != index || before != index || !is_followed) return broken(index);
    }
    return {};
}

void RelationIndex::save(SnapshotWriter& to) const {
    to.array("links", links_);
    to.array("first", first_);
    mirror_.save(to);
}

Status RelationIndex::load(SnapshotReader& from) {
    Status status;
    links_.clear(), first_.clear();
    if (from.has("links")) status = load_lists(from);
    const Result<bool> is_known = mirror_.load(from, ComponentMirror::Start::kNoRows);
    if (!status || !is_known || !*is_known) links_.clear(), first_.clear();
    if (!status) return status;
    return is_known.status();
}

/// Whether each reference is in its target's list exactly once, and no list is circular.
bool RelationIndex::are_lists() const {
    std::size_t num_references = 0, num_listed = 0;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const detail::ReferenceLink& link = links_[i];
        if (!link.referrer && (link.target || link.next != 0 || link.previous != 0)) return false;
        if (!link.referrer) continue;
        if (link.referrer.index() != i || !link.target || link.target.index() >= first_.size()) return false;
        ++num_references;
    }
    for (std::size_t target = 0; target < first_.size(); ++target)
        for (std::uint32_t before = 0, at = first_[target]; at != 0; before = at, at = links_[at].next) {
            if (at >= links_.size() || ++num_listed > num_references) return false;
            const detail::ReferenceLink& link = links_[at];
            if (!link.referrer || link.previous != before || link.target.index() != target) return false;
        }
    return num_listed == num_references;
}

Status RelationIndex::load_lists(SnapshotReader& from) {
    if (Status status = from.array("links", links_); !status) return status;
    if (Status status = from.array("first", first_); !status) return status;
    return from.is_trusted() || are_lists() ? Status() : from.error("links", "they are no lists of references");
}

Referrers RelationIndex::referrers(Entity target) const {
    const std::uint32_t first = target.index() < first_.size() ? first_[target.index()] : 0;
    return {links_.data(), first, target};
}

std::size_t Referrers::size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }

}  // namespace shoal

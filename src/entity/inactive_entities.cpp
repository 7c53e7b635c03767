#include "shoal/entity/detail/inactive_entities.h"

#include "shoal/base/assert.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr const char* kInactiveEntities = "the inactive entities";

template <class Speakers>
auto& find_speaker(Speakers& speakers, const void* store) {
    const auto found =
        std::find_if(speakers.begin(), speakers.end(), [&](const auto& one) { return one.store == store; });
    SHOAL_ASSERT(found != speakers.end(), "the store was not added as a speaker");
    return *found;
}

}  // namespace

void InactiveEntities::add_speaker(void* speaker, FollowFunction follow) {
    hold_.require_free("add_speaker()", kInactiveEntities);
    speakers_.push_back({speaker, follow, BitSet(Owner("inactive entities"))});
}

void InactiveEntities::remove_speaker(void* store) {
    hold_.require_free("remove_speaker()", kInactiveEntities);
    Speaker& leaving = speaker(store);
    const BitSet said = std::move(leaving.said);
    speakers_.erase(speakers_.begin() + (&leaving - speakers_.data()));
    said.for_each([&](std::size_t index) { note(index); });
}

void InactiveEntities::set_by_itself(const void* store, std::span<const Entity> entities, bool is_inactive) {
    hold_.require_free("set_by_itself()", kInactiveEntities);
    Speaker& says = speaker(store);
    Array<Entity> changed{Owner("inactive entities")};
    for (const Entity entity : entities) {
        const bool was_inactive = is_by_itself(entity.index());
        says.said.set(entity.index(), is_inactive);
        note(entity.index());
        if (was_inactive != is_by_itself(entity.index())) changed.push_back(entity);
    }
    if (!changed.empty()) tell(changed);
}

bool InactiveEntities::set_from_above(const void* store, Entity entity, bool is_inactive) {
    hold_.require_free("set_from_above()", kInactiveEntities);
    Speaker& says = speaker(store);
    if (says.said.test(entity.index()) == is_inactive) return false;
    says.said.set(entity.index(), is_inactive);
    note(entity.index());
    return !is_by_itself(entity.index());
}

bool InactiveEntities::is_inactive_for(const void* store, Entity entity) const {
    return is_by_itself(entity.index()) || find_speaker(speakers_, store).said.test(entity.index());
}

void InactiveEntities::forget(Entity entity) {
    hold_.require_free("forget()", kInactiveEntities);
    if (!inactive_.test(entity.index())) return;
    for (Speaker& one : speakers_) one.said.reset(entity.index());
    note(entity.index());
    tell({&entity, 1});
}

void InactiveEntities::forget_all() {
    hold_.require_free("forget_all()", kInactiveEntities);
    for (Speaker& one : speakers_) one.said.clear();
    inactive_.clear();
    num_inactive_ = 0;
}

InactiveEntities::Speaker& InactiveEntities::speaker(const void* store) { return find_speaker(speakers_, store); }

bool InactiveEntities::is_by_itself(std::size_t index) const {
    return std::any_of(speakers_.begin(), speakers_.end(),
                       [&](const Speaker& one) { return one.follow == nullptr && one.said.test(index); });
}

/// Updates the speakers' combined result for one index.
void InactiveEntities::note(std::size_t index) {
    const bool is_inactive =
        std::any_of(speakers_.begin(), speakers_.end(), [&](const Speaker& one) { return one.said.test(index); });
    if (inactive_.test(index) == is_inactive) return;
    inactive_.set(index, is_inactive);
    num_inactive_ += is_inactive ? 1 : -std::uint64_t(1);
}

void InactiveEntities::tell(std::span<const Entity> changed) {
    for (const Speaker& one : speakers_)
        if (one.follow != nullptr) one.follow(one.store, changed);
}

}  // namespace shoal

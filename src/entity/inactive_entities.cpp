#include "shoal/entity/inactive_entities.h"

namespace shoal {

void InactiveEntities::set_by_itself(std::span<const Entity> entities, bool is_inactive) {
    Array<Entity> changed{Owner("inactive entities")};
    for (const Entity entity : entities) {
        by_itself_.set(entity.index(), is_inactive);
        if (note(entity)) changed.push_back(entity);
    }
    if (changed.empty()) return;
    for (const Follower& follower : followers_) follower.function(follower.context, changed);
}

void InactiveEntities::follow(FollowFunction function, void* context) { followers_.push_back({function, context}); }

void InactiveEntities::unfollow(void* context) {
    std::erase_if(followers_, [&](const Follower& follower) { return follower.context == context; });
}

bool InactiveEntities::set_from_above(Entity entity, bool is_inactive) {
    from_above_.set(entity.index(), is_inactive);
    return note(entity);
}

void InactiveEntities::forget(Entity entity) {
    by_itself_.reset(entity.index());
    from_above_.reset(entity.index());
    note(entity);
}

/// Brings what the two reasons come to up to date. Returns whether it changed.
bool InactiveEntities::note(Entity entity) {
    const std::size_t index = entity.index();
    const bool is_inactive = by_itself_.test(index) || from_above_.test(index);
    if (inactive_.test(index) == is_inactive) return false;
    inactive_.set(index, is_inactive);
    num_inactive_ += is_inactive ? 1 : -std::uint64_t(1);
    return true;
}

}  // namespace shoal

#pragma once
// The living entities that are inactive. Queries skip their rows in all stores.
//
//     index                          1  2  3  4  5
//     by itself, from a store        1  0  0  0  0     the entity has the component Inactive (components/activity.h)
//     from above, from transforms    0  1  1  0  0     an ancestor of the entity is inactive
//     inactive                       1  1  1  0  0     at least one of them
//
// An entity manager has one InactiveEntities, and removes dead entities from it. Several worlds may share the entities,
// so each store that reports inactive entities is a separate speaker. Transforms are also followers: they are notified
// of entities that have themselves become active or inactive, and report the descendants of these entities.
// Thread: only the structural thread may make changes. Changes while passes run end the program. Any thread may read
// between changes.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/row_range.h"
#include "shoal/base/detail/running_pass.h"
#include "shoal/entity/entity.h"

namespace shoal {

class InactiveEntities {
public:
    /// Called with living entities that have become active or inactive by themselves, and with inactive entities that
    /// have died.
    using FollowFunction = void (*)(void* speaker, std::span<const Entity> changed);

    explicit InactiveEntities(const PassHold& hold) : hold_(hold) {}
    bool empty() const { return num_inactive_ == 0; }
    std::uint64_t size() const { return num_inactive_; }
    /// Requires: the entity is alive or null.
    bool has(Entity entity) const { return inactive_.test(entity.index()); }

    /// Adds a store that reports entities as inactive by themselves or, if `follow` is not null, a store that is a
    /// follower.
    SHOAL_API void add_speaker(void* speaker, FollowFunction follow = nullptr);
    /// Removes a store and everything that it has reported. Requires: the store has been added.
    SHOAL_API void remove_speaker(void* speaker);

    /// Records that living entities are, or are not, inactive by themselves, and notifies the followers. Requires: the
    /// speaker has been added.
    SHOAL_API void set_by_itself(const void* speaker, std::span<const Entity> entities, bool is_inactive);
    /// Records that a living entity is, or is not, inactive because of an ancestor. Returns whether is_inactive_for()
    /// has changed. Requires: the speaker has been added as a follower.
    SHOAL_API bool set_from_above(const void* speaker, Entity entity, bool is_inactive);
    /// Whether an entity is itself inactive, or is inactive because of an ancestor in this store. Requires: the speaker
    /// has been added as a follower.
    SHOAL_API bool is_inactive_for(const void* speaker, Entity entity) const;
    /// Removes an entity that has died, and notifies the followers if it was inactive.
    SHOAL_API void forget(Entity entity);
    /// Removes all entities, without notification.
    SHOAL_API void forget_all();

    /// Calls visit(RowRange) for each run of rows without inactive owners. Shape: `owners` is indexed by row.
    template <class Visit>
    void for_each_active(std::span<const Entity> owners, RowRange rows, Visit&& visit) const {
        for (std::uint32_t row = rows.begin; row < rows.end;) {
            while (row < rows.end && has(owners[row])) ++row;
            const std::uint32_t begin = row;
            while (row < rows.end && !has(owners[row])) ++row;
            if (begin < row) visit(RowRange{begin, row});
        }
    }

private:
    struct Speaker {
        void* store;
        FollowFunction follow;
        BitSet said;  // by index
    };

    Speaker& speaker(const void* store);
    bool is_by_itself(std::size_t index) const;
    void note(std::size_t index);
    void tell(std::span<const Entity> changed);

    const PassHold& hold_;
    Array<Speaker> speakers_{Owner("inactive entities")};
    BitSet inactive_{Owner("inactive entities")};  // by index: the combined result of all speakers
    std::uint64_t num_inactive_ = 0;
};

}  // namespace shoal

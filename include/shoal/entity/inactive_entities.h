#pragma once
// Which living entities are inactive: queries pass over their rows, in every store.
//
//     index        1  2  3  4  5
//     by itself    1  0  0  0  0       the entity has the component Inactive (components/activity.h)
//     above it     0  1  1  0  0       an entity above it in the tree of transforms is inactive
//     inactive     1  1  1  0  0
//
// An entity manager has one, and takes the dead out. The store of Inactive says here who is inactive by itself. Transforms
// follow: they are told of it, and say who is below.
// Thread: the structural thread changes it; any thread reads it between these calls.

#include "shoal/base/bit_set.h"
#include "shoal/base/row_range.h"
#include "shoal/entity/entity.h"

namespace shoal {

class InactiveEntities {
public:
    /// Called with living entities that became active or inactive by themselves.
    using FollowFunction = void (*)(void* context, std::span<const Entity> changed);

    bool empty() const { return num_inactive_ == 0; }
    std::uint64_t size() const { return num_inactive_; }
    /// Requires: the entity lives, or is null.
    bool has(Entity entity) const { return inactive_.test(entity.index()); }

    /// Notes whether living entities are inactive by themselves, and tells those that follow.
    SHOAL_API void set_by_itself(std::span<const Entity> entities, bool is_inactive);
    /// Notes whether a living entity is inactive because one above it is. Returns whether has() changed.
    SHOAL_API bool set_from_above(Entity entity, bool is_inactive);
    /// Tells `function` from now on, or no longer. Requires: one function for a context.
    SHOAL_API void follow(FollowFunction function, void* context);
    SHOAL_API void unfollow(void* context);
    /// Forgets an entity.
    SHOAL_API void forget(Entity entity);

    /// Calls visit(RowRange) for each run of rows whose owners are not inactive. Shape: owners: by row.
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
    struct Follower {
        FollowFunction function;
        void* context;
    };

    bool note(Entity entity);

    // By index.
    BitSet by_itself_{Owner("inactive entities")};
    BitSet from_above_{Owner("inactive entities")};
    BitSet inactive_{Owner("inactive entities")};
    std::uint64_t num_inactive_ = 0;
    Array<Follower> followers_{Owner("inactive entities")};
};

}  // namespace shoal

#pragma once
// The entities that have gained, lost or changed a component since a plan's last loop.
//
//     loop          e3 e4 have it     e3 e4 e7                e3 e7
//     Added         e3 e4             e7
//     Removed                                                 e4, and what its component was
//
// A mirror of the component type finds them when a loop begins: see component_mirror.h. In the first loop of a plan,
// all existing components count as added. A copy of a plan starts over.
// Thread: the thread that begins a loop.

#include "shoal/query/detail/query_plan.h"
#include "shoal/store/detail/component_mirror.h"

#include <memory>

namespace shoal::detail {

class NotedRows {
public:
    /// Lifetime: the store outlives this object. Requires: an entity has at most one component of the type.
    NotedRows(Store& store, const Schema& component, Noted what);
    NotedRows(const NotedRows& other) : NotedRows(other.mirror_->store(), other.mirror_->component(), other.what_) {}
    NotedRows(NotedRows&&) noexcept = default;
    NotedRows& operator=(NotedRows&&) noexcept = default;

    Store& store() const { return mirror_->store(); }
    void refresh() { mirror_->compare(); }
    /// Shape: the number of entities that were found.
    std::span<const Entity> owners() const;
    /// The values that the removed components had. Shape: a struct image for each entity.
    const std::byte* removed_values() const { return mirror_->removed_values(); }

private:
    Noted what_;
    std::unique_ptr<ComponentMirror> mirror_;
};

}  // namespace shoal::detail

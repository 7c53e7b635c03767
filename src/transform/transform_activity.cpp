// The children of an inactive entity are also inactive.

#include "transform/transform_work.h"

namespace shoal {

void TransformManager::Work::follow_activity() {
    entities_.inactive().add_speaker(this, [](void* self, std::span<const Entity> changed) {
        Work& work = *static_cast<Work*>(self);
        for (const Entity entity : changed)
            if (const std::uint32_t row = work.row_of(entity); row != kNilRow) work.pass_activity_on(row);
    });
}

/// Updates whether an entity is inactive because of its parent. If this changes, also updates the entity's descendants.
void TransformManager::Work::follow_parent(std::uint32_t row) {
    const Entity entity = owner(row);
    if (!entities_.alive(entity)) return;
    const std::uint32_t parent = parents()[row];
    const bool is_inactive = parent != kNilRow && entities_.alive(owner(parent)) &&
                             entities_.inactive().is_inactive_for(this, owner(parent));
    if (entities_.inactive().set_from_above(this, entity, is_inactive)) pass_activity_on(row);
}

/// Descends from `root` only where the state changes. Stops at dead entities, because they do not make other
/// entities inactive.
void TransformManager::Work::pass_activity_on(std::uint32_t root) {
    InactiveEntities& inactive = entities_.inactive();
    std::uint32_t row = first_children()[root];
    while (row != kNilRow) {
        const bool is_inactive = inactive.is_inactive_for(this, owner(parents()[row]));
        const bool changed = entities_.alive(owner(row)) && inactive.set_from_above(this, owner(row), is_inactive);
        if (changed && first_children()[row] != kNilRow) {
            row = first_children()[row];
            continue;
        }
        while (row != root && next_siblings()[row] == kNilRow) row = parents()[row];
        row = row == root ? kNilRow : next_siblings()[row];
    }
}

}  // namespace shoal

#include "shoal/components/point_mass.h"
#include "shoal/transform/transform.h"

namespace shoal {

std::size_t place_at_transforms(Manager<PointMass>& masses, const TransformManager& transforms,
                                std::span<const Entity> entities) {
    std::size_t num_set = 0;
    for (const Entity entity : entities) {
        const Instance mass = masses.instance(entity), transform = transforms.instance(entity);
        if (!mass || !transform) continue;
        masses.set<&PointMass::position>(mass, transforms.local(transform).position);
        ++num_set;
    }
    return num_set;
}

std::size_t move_transforms(const Manager<PointMass>& masses, TransformManager& transforms, Executor* executor) {
    return transforms.set_positions(masses.entities(), masses.column<&PointMass::position>().span(), executor);
}

}  // namespace shoal

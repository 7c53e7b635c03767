// Moves point masses, and the transforms of their entities.

#include "shoal/components/point_mass.h"

#include "shoal/job/row_ranges.h"
#include "shoal/transform/transform.h"

namespace shoal {
namespace {

/// Treats arrays of vectors as arrays of floats. The arrays are parameters, because compilers only use __restrict on
/// parameters.
void integrate(float* __restrict position, float* __restrict velocity, const float* __restrict acceleration,
               std::size_t num_floats, float dt) {
    for (std::size_t i = 0; i < num_floats; ++i) {
        const float v = velocity[i] + acceleration[i] * dt;
        velocity[i] = v;
        position[i] += v * dt;
    }
}

}  // namespace

void simulate(Manager<PointMass>& masses, float dt, Executor& executor) {
    static_assert(sizeof(Vec3) == 3 * sizeof(float));
    using Position = FieldLayout<&PointMass::position>;
    using Velocity = FieldLayout<&PointMass::velocity>;
    using Acceleration = FieldLayout<&PointMass::acceleration>;
    static_assert(Position::kLayout == ColumnLayout::kApart && Velocity::kLayout == ColumnLayout::kApart &&
                  Acceleration::kLayout == ColumnLayout::kApart);
    Table& table = masses.core().table();
    const auto floats = [&](std::uint32_t column) { return reinterpret_cast<float*>(table.unmarked_column(column)); };
    float* const position = floats(Position::kFirstColumn);
    float* const velocity = floats(Velocity::kFirstColumn);
    const float* const acceleration = floats(Acceleration::kFirstColumn);

    for_rows(executor, table.num_rows(), kByteGranularity, [&](RowRange rows, std::uint32_t) {
        const std::size_t first = std::size_t(rows.begin) * 3;
        integrate(position + first, velocity + first, acceleration + first, std::size_t(rows.size()) * 3, dt);
    });

    const RowRange all{0, table.num_rows()};
    table.mark_written(Position::kFirstColumn, all);
    table.mark_written(Velocity::kFirstColumn, all);
}

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

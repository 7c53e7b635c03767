#include "passes.h"

#include "shoal/components/point_mass.h"
#include "shoal/job/row_ranges.h"
#include "shoal/transform/transform.h"

#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

/// The bounds that one worker has found. Aligned to avoid false sharing.
struct alignas(kCacheLineBytes) WorkerBounds {
    Bounds bounds;
};

/// Adds the position place(row) of each row for which is_placed(row) is true.
template <class Filter, class PositionOf>
void find_bounds(std::uint32_t num_rows, PassContext& context, Bounds& bounds, Filter&& is_placed, PositionOf&& place) {
    std::vector<WorkerBounds> workers(context.executor.num_workers());
    for_rows(context.executor, num_rows, kByteGranularity, [&](RowRange rows, std::uint32_t worker) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row)
            if (is_placed(row)) workers[worker].bounds.add(place(row));
    });
    for (const WorkerBounds& worker : workers) bounds.unite(worker.bounds);
    context.num_rows += num_rows;
    context.num_bytes += std::uint64_t(num_rows) * sizeof(Vec3);
}

/// Returns the bounds of all transforms. For entities without a transform, uses fields named `position`.
Bounds bounds_of(const World& world, PassContext& context) {
    Bounds bounds;
    const TransformManager* transforms = find_transforms(world.directory());
    if (transforms != nullptr)
        find_bounds(
            transforms->num_rows(), context, bounds, [](std::uint32_t) { return true; },
            [&](std::uint32_t row) { return transforms->world_position({row}); });
    for (const Store* store : world.directory().stores()) {
        if (store == transforms) continue;
        for (const Table* table : store->tables())
            if (const std::optional<Vec3Rows> positions = find_vec3(*table, "position"))
                find_bounds(
                    positions->num_rows, context, bounds,
                    [&](std::uint32_t row) {
                        return transforms == nullptr || !transforms->has(table->entities()[row]);
                    },
                    [&](std::uint32_t row) { return (*positions)[row]; });
    }
    return bounds;
}

void add_simulate(World& world) {
    Manager<PointMass>& masses = world.manager<PointMass>();
    world.schedule().add("simulate", [&masses](PassContext& context) {
        simulate(masses, context.dt, context.executor);
        context.num_rows = masses.num_rows();
        context.num_bytes = context.num_rows * 5 * sizeof(Vec3);  // reads three vectors, writes two
    });
    if (find_transforms(world.directory()) == nullptr) return;
    world.schedule().add("move", [&masses, &transforms = world.transforms()](PassContext& context) {
        context.num_rows = move_transforms(masses, transforms, &context.executor);
    });
}

}  // namespace

void add_passes(World& world, Bounds& bounds) {
    if (world.directory().find(schema_of<PointMass>().id()) != nullptr) add_simulate(world);
    if (find_transforms(world.directory()) != nullptr)
        world.schedule().add("transforms", [&transforms = world.transforms()](PassContext& context) {
            const std::uint64_t before = transforms.counts().num_worlds_computed;
            transforms.compute_moved(&context.executor);
            context.num_rows = transforms.counts().num_worlds_computed - before;
        });
    world.schedule().add("bounds", [&world, &bounds](PassContext& context) { bounds = bounds_of(world, context); });
}

}  // namespace shoal_tool

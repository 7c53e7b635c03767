#include "passes.h"

#include "shoal/components/point_mass.h"
#include "shoal/job/row_ranges.h"

namespace shoal_tool {

using namespace shoal;

namespace {

/// Each worker has a box of its own, on cache lines of its own.
struct alignas(kCacheLineBytes) WorkerBounds {
    Bounds bounds;
};

void find_bounds(const Table& table, PassContext& context, Bounds& bounds) {
    const std::optional<Vec3Rows> positions = find_vec3(table, "position");
    if (!positions) return;
    std::vector<WorkerBounds> workers(context.executor.num_workers());
    for_rows(context.executor, positions->num_rows, kByteGranularity, [&](RowRange rows, std::uint32_t worker) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) workers[worker].bounds.add((*positions)[row]);
    });
    for (const WorkerBounds& worker : workers) bounds.unite(worker.bounds);
    context.num_rows += positions->num_rows;
    context.num_bytes += std::uint64_t(positions->num_rows) * sizeof(Vec3);
}

}  // namespace

void add_passes(World& world, Bounds& bounds) {
    if (world.find_store(schema_of<PointMass>().id()) != nullptr) {
        Manager<PointMass>& masses = world.manager<PointMass>();
        world.schedule().add("simulate", [&masses](PassContext& context) {
            simulate(masses, context.dt, context.executor);
            context.num_rows = masses.num_rows();
            context.num_bytes = context.num_rows * 5 * sizeof(Vec3);  // reads three vectors, writes two
        });
    }
    world.schedule().add("bounds", [&world, &bounds](PassContext& context) {
        bounds = {};
        for (const Store* store : world.stores())
            for (const Table* table : store->tables()) find_bounds(*table, context, bounds);
    });
}

}  // namespace shoal_tool

// Compares events, which one pass writes on two workers and the next pass reads, with a plain array.
//
//     events/write_read      every row writes an event with an EventWriter; the reference knows that, and writes row i to
//                            element i
//     events/write_read_one  the same with Events::write()
//     events/write_read_spans   the same; shoal's pass gets batches of rows, and writes spans of 256 events
//     events/write_read_few  one row in eight does; the reference has an array per chunk and joins them
//
// Both sides read the same rows and run their loops on the same executor. Times are wall-clock times.

#include "reference.h"
#include "shoal/world/world.h"
#include "workloads.h"

#include <bit>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct Depth {
    float value = 0;
};
SHOAL_COMPONENT(Depth, value)

namespace {

struct Dive {
    Entity diver;
    float depth;
};

SHOAL_BENCH_LOOP std::uint64_t sum_of(std::span<const Dive> dives) {
    std::uint64_t result = 0;
    for (const Dive& dive : dives) result = result * 3 + (dive.diver.id ^ std::bit_cast<std::uint32_t>(dive.depth));
    return result;
}

float depth_of(std::size_t i) { return float(mix(i) % 4096) / 4096; }

enum class Way { kWriter, kOne, kSpans };

/// A world with passes that write and read events.
struct Divers {
    Divers(std::size_t n, Executor& executor, float least, Way way) : world(entities, {.executor = &executor}) {
        std::vector<Entity> ids(n);
        std::vector<Depth> depths(n);
        for (std::size_t i = 0; i < n; ++i) depths[i].value = depth_of(i);
        auto& divers = world.manager<Depth>();
        need_ok(entities.create(ids));
        need(divers.add(ids, std::span<const Depth>(depths)));
        const auto rows = query<Read<&Depth::value>>(divers);
        if (way == Way::kSpans)
            world.schedule().add("dive", {reads(divers), writes(dives)}, [this, rows](PassContext& context) {
                rows.for_each_batch(context.executor, [this](auto&& batch) { write_spans(batch); });
            });
        else if (way == Way::kOne)
            world.schedule().add("dive", rows, {writes(dives)}, [this, least](Entity diver, float depth) {
                if (depth >= least) dives.write({diver, depth});
            });
        else
            world.schedule().add("dive", rows.writing(dives),
                                 [least](EventWriter<Dive>& to, Entity diver, float depth) {
                                     if (depth >= least) to.write({diver, depth});
                                 });
        world.schedule().add("count", {reads(dives)}, [this](PassContext&) { sum = sum_of(dives.read()); });
    }

    template <class Batch>
    void write_spans(const Batch& batch) {
        const auto ids = batch.entities();
        const auto depths = batch.template column<&Depth::value>();
        Dive some[256];
        for (std::size_t begin = 0; begin < ids.size(); begin += std::size(some)) {
            const std::size_t count = std::min(std::size(some), ids.size() - begin);
            for (std::size_t i = 0; i < count; ++i) some[i] = {ids[begin + i], depths[begin + i]};
            dives.write({some, count});
        }
    }

    EntityManager entities;
    World world;
    Events<Dive>& dives = world.events<Dive>();
    std::uint64_t sum = 0;
};

/// The same, written by hand.
struct PlainDivers {
    PlainDivers(std::size_t n, Executor& threads) : ids(n, 0), depths(n, 1), dives(n, 2), executor(threads), size(n) {
        EntityManager entities;
        need_ok(entities.create(std::span(ids.data(), n)));
        for (std::size_t i = 0; i < n; ++i) depths[i] = depth_of(i);
    }
    SHOAL_BENCH_LOOP void write(RowRange rows) {
        for (std::size_t i = rows.begin; i < rows.end; ++i) dives[i] = {ids[i], depths[i]};
    }
    SHOAL_BENCH_LOOP static void write(const Entity* ids, const float* depths, float least, RowRange rows,
                                       std::vector<Dive>& out) {
        for (std::size_t i = rows.begin; i < rows.end; ++i)
            if (depths[i] >= least) out.push_back({ids[i], depths[i]});
    }
    void run() {
        for_rows(executor, std::uint32_t(size), kByteGranularity, [&](RowRange rows, std::uint32_t) { write(rows); });
        sum = sum_of({dives.data(), size});
    }
    void run_few(float least) {
        const RowCuts cuts = cut_rows(std::uint32_t(size));
        chunks.resize(cuts.num_chunks);
        for_rows(executor, cuts, [&](RowRange rows, std::uint32_t) {
            std::vector<Dive>& out = chunks[rows.begin / cuts.rows_per_chunk];
            out.clear();
            write(ids.data(), depths.data(), least, rows, out);
        });
        Dive* end = dives.data();
        for (const std::vector<Dive>& chunk : chunks) end = std::copy(chunk.begin(), chunk.end(), end);
        sum = sum_of({dives.data(), end});
    }

    PlainColumn<Entity> ids;
    PlainColumn<float> depths;
    PlainColumn<Dive> dives;
    std::vector<std::vector<Dive>> chunks;
    Executor& executor;
    std::size_t size;
    std::uint64_t sum = 0;
};

void measure(Bench& bench, const Workload& workload, float least, Way way, void (*run_plain)(PlainDivers&, float)) {
    if (!bench.wants(workload.name)) return;
    ThreadedExecutor two(2);
    Divers divers(workload.n, two, least, way);
    PlainDivers plain(workload.n, two);
    bench.compare(workload, {{}, [&] { divers.world.step(0); }, [&] { return divers.sum; }},
                  {{}, [&] { run_plain(plain, least); }, [&] { return plain.sum; }});
}

}  // namespace

void measure_events(Bench& bench) {
    const auto all = [](PlainDivers& plain, float) { plain.run(); };
    const auto few = [](PlainDivers& plain, float least) { plain.run_few(least); };
    for (const std::size_t n : bench.sizes({100'000, 1'000'000})) {
        const double target = n == 1'000'000 ? 1.5 : 0;
        measure(bench, {.name = "events/write_read", .n = n, .target = target, .wall_time = true}, 0, Way::kWriter,
                all);
        measure(bench, {.name = "events/write_read_one", .n = n, .wall_time = true}, 0, Way::kOne, all);
        measure(bench, {.name = "events/write_read_spans", .n = n, .wall_time = true}, 0, Way::kSpans, all);
        measure(bench, {.name = "events/write_read_few", .n = n, .wall_time = true}, 0.875f, Way::kWriter, few);
    }
}

}  // namespace shoal_bench

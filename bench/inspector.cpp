// Measures the cost per frame of an open inspector page. A page sends requests four times a second, so 15 frames with
// one round of requests are compared with 15 frames without. Answers that the server would cache are created again
// here.

#include "body_components.h"
#include "shoal/query/query.h"
#include "shoal/world/world.h"
#include "workloads.h"

#include <vector>

#if SHOAL_BENCH_HAS_INSPECTOR
#include "inspector/answers.h"
#endif

namespace shoal_bench {

#if SHOAL_BENCH_HAS_INSPECTOR

namespace {

using namespace shoal;

constexpr int kNumFrames = 15;
constexpr double kTargetNs = 200'000;  // per frame

/// Falling bodies, with two passes.
struct FallingBodies {
    explicit FallingBodies(std::size_t n) : ids(n) {
        const std::vector<Position> positions(n);
        const std::vector<Velocity> velocities(n, Velocity{{1, 2, 3}});
        need_ok(world.database().create<Position, Velocity>(ids, 0, positions, velocities));
        world.schedule().add("fall", world.query<Write<&Velocity::value>>(), [](auto&& v) { v.z -= kDt; });
        world.schedule().add("move", world.query<Write<&Position::value>, Read<&Velocity::value>>(),
                             [](auto&& p, Vec3 v) { p += v * kDt; });
    }
    void run() {
        for (int i = 0; i < kNumFrames; ++i) world.step(kDt);
    }
    std::uint64_t checksum() const { return world.frame(); }

    EntityManager entities;
    World world{entities};
    std::vector<Entity> ids;
};

void look_on(Bench& bench, std::string_view name, std::size_t n, std::vector<inspect::Request> asked) {
    const Workload workload{.name = std::string(name), .n = n};
    if (!bench.wants(workload.name)) return;
    FallingBodies watched(n), alone(n);
    inspect::Session session(watched.world, {});
    const auto look = [&] {
        for (const inspect::Request& request : asked) {
            session.kept_answers.clear();
            if (inspect::answer_of_world(session, request).status != 200) fail("the inspector refused " + request.path);
        }
    };
    bench.compare(workload, {{}, [&] { watched.run(), look(); }, [&] { return watched.checksum(); }},
                  {{}, [&] { alone.run(); }, [&] { return alone.checksum(); }}, [&](Measurement& result) {
                      result.change_ns = (result.shoal_ns - result.reference_ns) * double(n) / kNumFrames;
                      result.target_change_ns = kTargetNs;
                  });
}

}  // namespace

void measure_inspector(Bench& bench) {
    const auto get = [](const char* path) { return inspect::Request{false, path, {}, {}}; };
    for (const std::size_t n : bench.sizes({10'000, 100'000})) {
        look_on(bench, "inspector/overview", n, {get("/api/world"), get("/api/passes")});
        look_on(bench, "inspector/memory", n, {get("/api/world"), get("/api/memory"), get("/api/zones")});
        look_on(bench, "inspector/points", n, {get("/api/world"), get("/api/points")});
    }
}

#else

void measure_inspector(Bench&) {}

#endif

}  // namespace shoal_bench

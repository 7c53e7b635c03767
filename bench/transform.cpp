// Compares moving entities and all their descendants to passes over plain arrays of the same poses. The references
// first write all local poses and then compute, which is faster than doing both at once.

#include "transform_scene.h"
#include "workloads.h"

#include <bit>
#include <cstring>
#include <optional>
#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

constexpr std::size_t kNodesOfTree = 5;  // nodes per tree in small_trees()

std::vector<std::uint32_t> rows_from(std::size_t begin, std::size_t end, std::size_t step) {
    std::vector<std::uint32_t> rows;
    for (std::size_t row = begin; row < end; row += step) rows.push_back(static_cast<std::uint32_t>(row));
    return rows;
}

/// Cycles through the frames, with a separate counter for each side.
class Frames {
public:
    explicit Frames(std::vector<Moves> frames) : frames_(std::move(frames)) {}

    const Moves& next_of_shoal() { return frames_[shoal_++ % frames_.size()]; }
    const Moves& next_of_reference() { return frames_[reference_++ % frames_.size()]; }
    std::size_t size() const { return frames_.size(); }

private:
    std::vector<Moves> frames_;
    std::size_t shoal_ = 0, reference_ = 0;
};

/// Returns two frames that move the same rows to different positions.
Frames two_frames(const std::vector<std::uint32_t>& rows, const SceneTransforms& placed) {
    return Frames({{rows, placed.ids, 1}, {rows, placed.ids, 2}});
}

Side batch(SceneTransforms& placed, Frames& frames, Executor* executor = nullptr) {
    return {{},
            [&placed, &frames, executor] {
                const Moves& moves = frames.next_of_shoal();
                placed.transforms.set_positions(moves.entities, moves.positions, executor);
            },
            [&placed] { return placed.sum(); }};
}

Side deferred(SceneTransforms& placed, Frames& frames) {
    return {{},
            [&placed, &frames] {
                const Moves& moves = frames.next_of_shoal();
                placed.transforms.set_positions(moves.entities, moves.positions);
                placed.transforms.compute_moved();
            },
            [&placed] { return placed.sum(); }};
}

template <class Compute>
Side by_hand(PlainPoses& plain, Frames& frames, Compute&& compute) {
    return {{},
            [&plain, &frames, compute] {
                const Moves& moves = frames.next_of_reference();
                moves.apply(plain);
                compute(moves);
            },
            [&plain] { return sum_of(plain); }};
}

// --- frames ----------------------------------------------------------------------------------------------------------

/// All roots move with their descendants.
void all_roots(Bench& bench) {
    const Scene scene = small_trees(20'000);
    PlainPoses plain(scene.locals, scene.parents);
    const auto compute_all = [&](const Moves&) { plain.compute(plain.all()); };
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        const bool in_batch = mode == TransformMode::kImmediate;
        const std::string name = in_batch ? "transform/all_roots" : "transform/all_roots_deferred";
        if (!bench.wants(name)) continue;
        SceneTransforms placed(scene, mode);
        Frames frames = two_frames(rows_from(0, scene.size(), kNodesOfTree), placed);
        bench.compare({name, scene.size(), 1.15}, in_batch ? batch(placed, frames) : deferred(placed, frames),
                      by_hand(plain, frames, compute_all));
    }
}

/// One root in a hundred moves: the same roots in every frame, or different ones.
void one_percent(Bench& bench, bool same) {
    const std::string name = same ? "transform/one_percent" : "transform/one_percent_random";
    if (!bench.wants(name)) return;
    const Scene scene = small_trees(20'000);
    SceneTransforms placed(scene, TransformMode::kDeferred);
    PlainPoses plain(scene.locals, scene.parents);
    std::vector<Moves> sets;
    const std::vector<std::uint32_t> order = shuffled_numbers(scene.size() / kNodesOfTree, 3);
    const std::size_t per_frame = order.size() / 100;
    for (std::size_t first = 0; first < order.size(); first += per_frame) {
        std::vector<std::uint32_t> rows;
        for (std::size_t i = 0; i < per_frame; ++i) rows.push_back(order[first + i] * std::uint32_t(kNodesOfTree));
        if (same) std::sort(rows.begin(), rows.end());
        sets.push_back({std::move(rows), placed.ids, first});
        if (same && sets.size() == 1) sets.push_back({sets[0].rows, placed.ids, 1});
        if (same) break;
    }
    Frames frames(std::move(sets));
    const auto compute_subtrees = [&](const Moves& moves) {
        for (const std::uint32_t row : moves.rows) plain.compute({row, row + std::uint32_t(kNodesOfTree)});
    };
    bench.compare({name, per_frame * kNodesOfTree, same ? 1.3 : 2.0}, deferred(placed, frames),
                  by_hand(plain, frames, compute_subtrees));
}

void long_chain(Bench& bench) {
    if (!bench.wants("transform/chain")) return;
    const Scene scene = chain(1'000);
    SceneTransforms placed(scene);
    PlainPoses plain(scene.locals, scene.parents);
    Frames frames = two_frames(rows_from(0, scene.size(), 1), placed);
    bench.compare({"transform/chain", scene.size(), 1.2}, batch(placed, frames),
                  by_hand(plain, frames, [&](const Moves&) { plain.compute_chain(plain.all()); }));
}

/// One node in twenty moves, at any depth. Almost half of all nodes are descendants of these, so the fastest reference
/// is a pass over all nodes.
void deep_and_wide(Bench& bench, std::size_t n) {
    if (!bench.wants("transform/deep_and_wide")) return;
    const Scene scene = random_trees(n);
    SceneTransforms placed(scene);
    PlainPoses plain(scene.locals, scene.parents);
    std::vector<Moves> sets;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        std::vector<std::uint32_t> rows = shuffled_numbers(n, seed);
        rows.resize(n / 20);
        sets.push_back({std::move(rows), placed.ids, seed});
    }
    Frames frames(std::move(sets));
    bench.compare({"transform/deep_and_wide", n, n >= 1'000'000 ? 1.35 : 0}, batch(placed, frames),
                  by_hand(plain, frames, [&](const Moves&) { plain.compute(plain.all()); }));
}

// --- single calls and look-ups ---------------------------------------------------------------------------------------

/// In immediate mode, the world pose is up to date when the call returns.
void set_local_leaf(Bench& bench) {
    if (!bench.wants("transform/set_local_leaf")) return;
    const Scene scene = small_trees(20'000);
    SceneTransforms placed(scene);
    PlainPoses plain(scene.locals, scene.parents);
    const std::vector<std::uint32_t> leaves = rows_from(kNodesOfTree - 1, scene.size(), kNodesOfTree);
    std::vector<Instance> instances;
    for (const std::uint32_t row : leaves) instances.push_back(placed.transforms.instance(placed.ids[row]));
    std::vector<Transform> locals[2];
    Random random(7);
    for (auto& frame : locals)
        for (std::size_t i = 0; i < leaves.size(); ++i) frame.push_back(any_transform(random));
    std::size_t frame = 0, frame_by_hand = 0;
    const auto run = [&] {
        const auto& to = locals[frame++ % 2];
        for (std::size_t i = 0; i < leaves.size(); ++i) placed.transforms.set_local(instances[i], to[i]);
    };
    const auto run_by_hand = [&] {
        const auto& to = locals[frame_by_hand++ % 2];
        for (std::size_t i = 0; i < leaves.size(); ++i) plain.set_local(leaves[i], to[i]);
    };
    bench.compare({"transform/set_local_leaf", leaves.size(), 2}, {{}, run, [&] { return placed.sum(); }},
                  {{}, run_by_hand, [&] { return sum_of(plain); }});
}

PageArray<Record> records_of(std::span<const Entity> ids) {
    PageArray<Record> records = plain_pages<Record>(ids.size() + 1);
    for (std::uint32_t row = 0; row < ids.size(); ++row) records[ids[row].index()] = {ids[row].generation(), row};
    return records;
}

/// Prefetches the record of the entity 2 * kAhead look-ups ahead, and the pose of the entity kAhead look-ups ahead.
SHOAL_BENCH_LOOP void gather_by_hand(const PageArray<Record>& records, const PlainPoses& poses,
                                     std::span<const Entity> entities, Vec3* __restrict out) {
    const auto gather_one = [&](std::size_t i) {
        const Record& record = records[entities[i].index()];
        const Matrix3x4& world = poses.world(record.row);
        out[i] = record.generation == entities[i].generation() ? Vec3{world.row[0].w, world.row[1].w, world.row[2].w}
                                                               : Vec3{};
    };
    std::size_t i = 0;
    for (; i + 2 * kAhead < entities.size(); ++i) {
        __builtin_prefetch(&records[entities[i + 2 * kAhead].index()]);
        const Matrix3x4& ahead = poses.world(records[entities[i + kAhead].index()].row);
        __builtin_prefetch(&ahead.row[0].w);
        __builtin_prefetch(&ahead.row[2].w);
        gather_one(i);
    }
    for (; i < entities.size(); ++i) gather_one(i);
}

void world_positions(Bench& bench, std::size_t n) {
    if (!bench.wants("transform/world_positions")) return;
    const Scene scene = small_trees(n / kNodesOfTree);
    SceneTransforms placed(scene);
    PlainPoses plain(scene.locals, scene.parents);
    const PageArray<Record> records = records_of(placed.ids);
    std::vector<Entity> asked = placed.ids;
    shuffle(std::span(asked), 8);
    std::vector<Vec3> mine(n), other(n);
    const auto sum = [](std::span<const Vec3> values) {
        std::uint64_t result = 0;
        for (const Vec3& v : values)
            for (const float value : {v.x, v.y, v.z}) result = mix(result + std::bit_cast<std::uint32_t>(value));
        return result;
    };
    bench.compare({"transform/world_positions", n, n == 100'000 ? 1.15 : 0},
                  {{}, [&] { placed.transforms.world_positions(asked, mine); }, [&] { return sum(mine); }},
                  {{}, [&] { gather_by_hand(records, plain, asked, other.data()); }, [&] { return sum(other); }});
}

// --- building --------------------------------------------------------------------------------------------------------

/// A scene as columns, with owners and a record per entity, but without world poses.
struct PlainColumns {
    explicit PlainColumns(std::size_t n)
        : records(plain_pages<Record>(n + 1)), position(n, 0), rotation(n, 1), scale(n, 2), parent(n, 3), owner(n, 4) {}

    SHOAL_BENCH_LOOP void copy(std::span<const Entity> ids, const Scene& scene) {
        for (std::uint32_t row = 0; row < ids.size(); ++row) {
            records[ids[row].index()] = {ids[row].generation(), row};
            position[row] = scene.locals[row].position;
            rotation[row] = scene.locals[row].rotation;
            scale[row] = scene.locals[row].scale;
        }
        std::memcpy(parent.data(), scene.parents.data(), ids.size() * sizeof(std::uint32_t));
        std::memcpy(static_cast<void*>(owner.data()), ids.data(), ids.size() * sizeof(Entity));
    }

    PageArray<Record> records;  // by entity index
    PlainColumn<Vec3> position;
    PlainColumn<Quaternion> rotation;
    PlainColumn<Vec3> scale;
    PlainColumn<std::uint32_t> parent;
    PlainColumn<Entity> owner;
};

std::uint64_t bits_of_row(const Transform& local, Entity owner, Entity parent) {
    const auto& [p, q, s] = local;
    const Matrix3x4 all = {{{p.x, p.y, p.z, q.x}, {q.y, q.z, q.w, s.x}, {s.y, s.z, 0, 0}}};
    return mix(shoal_bench::bits_of(all) + owner.id + 3 * std::uint64_t(parent.id));
}

std::uint64_t sum_of(const PlainColumns& columns, std::size_t n) {
    std::uint64_t result = 0;
    for (std::size_t row = 0; row < n; ++row) {
        const std::uint32_t parent = columns.parent[row];
        result += bits_of_row({columns.position[row], columns.rotation[row], columns.scale[row]}, columns.owner[row],
                              parent == kNilRow ? kNullEntity : columns.owner[parent]);
    }
    return result;
}

std::uint64_t sum_of_locals(const TransformManager& transforms) {
    std::uint64_t result = 0;
    for (std::uint32_t row = 0; row < transforms.num_rows(); ++row) {
        const Instance instance = {row}, parent = transforms.parent(instance);
        result += bits_of_row(transforms.local(instance), transforms.entity(instance),
                              parent ? transforms.entity(parent) : kNullEntity);
    }
    return result;
}

/// Adds all transforms with links and world poses in one call, to a manager that was filled and emptied before.
void build(Bench& bench, std::size_t n) {
    if (!bench.wants("transform/build")) return;
    const Scene scene = small_trees(n / kNodesOfTree);
    SceneTransforms placed(scene);
    PlainColumns columns(n);
    bench.compare({"transform/build", n, n >= 1'000'000 ? 3.0 : 0},
                  {[&] { placed.transforms.remove(placed.ids); },
                   [&] { need(placed.transforms.add(placed.ids, scene.locals, scene.parents)); },
                   [&] { return sum_of_locals(placed.transforms); }},
                  {{}, [&] { columns.copy(placed.ids, scene); }, [&] { return sum_of(columns, n); }});
}

// --- several workers -------------------------------------------------------------------------------------------------

struct CopyLoop {
    static constexpr std::uint32_t kChunks = 64;

    static void run(void* context, std::uint32_t chunk, std::uint32_t) {
        const CopyLoop& copy = *static_cast<const CopyLoop*>(context);
        const std::size_t begin = copy.n * chunk / kChunks, end = copy.n * (chunk + 1) / kChunks;
        std::memcpy(&copy.to[begin], &copy.from[begin], (end - begin) * sizeof(Matrix3x4));
    }

    PlainColumn<Matrix3x4>&from, &to;
    std::size_t n;
};

/// Compares two workers with one worker. A plain copy of the same number of bytes shows the limit of the memory
/// bandwidth.
void two_workers(Bench& bench, std::size_t n) {
    const std::size_t bytes_per_node = sizeof(Transform) + sizeof(std::uint32_t) + sizeof(Matrix3x4);
    const double target = n >= 1'000'000 ? 1 / 1.5 : 0;
    ThreadedExecutor one(1), two(2);
    if (bench.wants("transform/two_workers")) {
        const Scene scene = small_trees(n / kNodesOfTree);
        SceneTransforms placed(scene), alone(scene);
        const std::vector<std::uint32_t> roots = rows_from(0, n, kNodesOfTree);
        Frames frames = two_frames(roots, placed), frames_alone = two_frames(roots, alone);
        bench.compare({"transform/two_workers", n, target, n * bytes_per_node, true}, batch(placed, frames, &two),
                      batch(alone, frames_alone, &one));
    }
    if (!bench.wants("transform/two_workers_copy")) return;
    PlainColumn<Matrix3x4> from(n, 0), to(n, 1);
    for (std::size_t i = 0; i < n; ++i) from[i].row[0].x = float(i);
    CopyLoop copy{from, to, n};
    const auto copying = [&](Executor& executor) {
        return Side{{},
                    [&] {
                        Fence fence;
                        executor.start(CopyLoop::kChunks, &CopyLoop::run, &copy, fence);
                        executor.wait(fence);
                    },
                    [&] { return shoal_bench::bits_of(to[n - 1]); }};
    };
    bench.compare({"transform/two_workers_copy", n, 0, n * 2 * sizeof(Matrix3x4), true}, copying(two), copying(one));
}

// --- memory ----------------------------------------------------------------------------------------------------------

struct PlainTransforms {
    explicit PlainTransforms(const Scene& scene, std::span<const Entity> ids)
        : poses(scene.locals, scene.parents), records(records_of(ids)) {}

    PlainPoses poses;
    PageArray<Record> records;
};

void memory(Bench& bench, std::size_t n) {
    if (!bench.wants("memory/transform")) return;
    const Scene scene = small_trees(n / kNodesOfTree);
    std::vector<Entity> ids(n);
    for (std::uint32_t i = 0; i < n; ++i) ids[i] = make_entity(i + 1, 1);
    std::optional<SceneTransforms> mine;
    std::optional<PlainTransforms> other;
    const double at_first = resident_bytes();
    mine.emplace(scene);
    const double mine_bytes = resident_bytes() - at_first - double(n * sizeof(Entity));  // the caller owns the ids
    const double before = resident_bytes();
    other.emplace(scene, ids);
    const double other_bytes = resident_bytes() - before;
    bench.compare({"memory/transform", n},
                  {[&] { mine.reset(); }, [&] { mine.emplace(scene); }, [&] { return mine->sum(); }},
                  {[&] { other.reset(); }, [&] { other.emplace(scene, ids); }, [&] { return sum_of(other->poses); }},
                  [&](Measurement& result) {
                      result.bytes_per_entity = mine_bytes / double(n);
                      result.reference_bytes_per_entity = other_bytes / double(n);
                      result.target_bytes = n >= 1'000'000 ? 160 : 0;
                  });
}

}  // namespace

void measure_transforms(Bench& bench) {
    all_roots(bench);
    one_percent(bench, true);
    one_percent(bench, false);
    long_chain(bench);
    set_local_leaf(bench);
    for (const std::size_t n : bench.sizes({100'000, 1'000'000})) {
        deep_and_wide(bench, n);
        build(bench, n);
        world_positions(bench, n);
        two_workers(bench, n);
        memory(bench, n);
    }
}

}  // namespace shoal_bench

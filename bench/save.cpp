// Measures saving a world in memory, keeping a frame with few changes, and restoring both, against copying the same
// bytes. Also measures hashing and recording a world.

#include "shoal/save/save.h"
#include "shoal/base/random.h"
#include "shoal/base/string_id.h"
#include "shoal/query/query.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/recording.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"

#include "body_components.h"
#include "plain_sea.h"
#include "workloads.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

/// 100 bytes in 7 columns.
struct Hull {
    Matrix3x4 pose{};
    Quaternion rotation{};
    Vec3 velocity{}, force{};
    float mass = 1, drag = 2, fuel = 3;
};
SHOAL_COMPONENT(Hull, pose, rotation, velocity, force, mass, drag, fuel)
constexpr double kFrameNs = 1e9 / 60, kJournalPart = 0.05;
constexpr std::uint32_t kColumnBytes[] = {48, 16, 12, 12, 4, 4, 4};

/// The same fields, stored together.
struct Hulk {
    Matrix3x4 pose{};
    Quaternion rotation{};
    Vec3 velocity{}, force{};
    float mass = 1, drag = 2, fuel = 3;
};
SHOAL_COMPONENT((Hulk, whole), pose, rotation, velocity, force, mass, drag, fuel)

/// Returns typical values of a game: unique positions and directions, one of a few masses, and unset fields.
Hull hull_of(Random& random) {
    const auto between = [&](float low, float high) { return low + (high - low) * random.unit(); };
    const float angle = between(-3.14159265f, 3.14159265f), sine = std::sin(angle), cosine = std::cos(angle);
    Hull hull;
    hull.pose.row[0] = {cosine, 0, sine, between(-4000, 4000)};
    hull.pose.row[1] = {0, 1, 0, between(0, 100)};
    hull.pose.row[2] = {-sine, 0, cosine, between(-4000, 4000)};
    hull.rotation = {0, std::sin(angle / 2), 0, std::cos(angle / 2)};
    hull.velocity = {between(-20, 20), between(-1, 1), between(-20, 20)};
    hull.force = {between(-5, 5), -9.81f, between(-5, 5)};
    hull.mass = 100 * float(1 + random.below(8));
    hull.fuel = between(0, 3);
    return hull;
}

/// A world with n hulls, and the same columns as plain arrays.
struct Fleet {
    explicit Fleet(std::size_t n) : entities({.max_entities = n}), world(entities, {.executor = &workers}), ids(n) {
        need_ok(entities.create(ids));
        Random random(7);
        std::vector<Hull> values(n);
        for (Hull& value : values) value = hull_of(random);
        need_ok(hulls.add(ids, std::span<const Hull>(values)));
        world.settle();
        for (const std::uint32_t bytes : kColumnBytes) {
            columns.emplace_back(n * bytes, std::byte(1));
            copies.emplace_back(n * bytes, std::byte(2));
        }
        owners.assign(ids.begin(), ids.end());
        owner_copies = owners;
    }
    void copy_all() {
        for (std::size_t c = 0; c < columns.size(); ++c)
            std::memcpy(copies[c].data(), columns[c].data(), columns[c].size());
        std::memcpy(static_cast<void*>(owner_copies.data()), owners.data(), owners.size() * sizeof(Entity));
    }
    void copy_all_back() {
        for (std::size_t c = 0; c < columns.size(); ++c)
            std::memcpy(columns[c].data(), copies[c].data(), columns[c].size());
        std::memcpy(static_cast<void*>(owners.data()), owner_copies.data(), owners.size() * sizeof(Entity));
    }
    /// Changes all columns of one in `step` rows of the first `num_rows` rows. Each call changes different rows.
    void touch(std::size_t num_rows, std::size_t step) {
        Table& table = hulls.core().table();
        const std::size_t first = num_touches++ * 37 % step;
        for (std::uint32_t c = 0; c < std::size(kColumnBytes); ++c)
            for (std::size_t row = first; row < num_rows; row += step)
                *table.write_element(c, static_cast<std::uint32_t>(row)) ^= std::byte(1 + num_touches % 255);
    }

    ThreadedExecutor workers{2};
    EntityManager entities;
    World world;
    Manager<Hull>& hulls = world.manager<Hull>();
    std::vector<Entity> ids, owners, owner_copies;
    std::vector<std::vector<std::byte>> columns, copies;
    Snapshot state;
    std::size_t num_touches = 0;
};

/// Runs until states reuse freed memory. A block has up to 16 layers, so this takes more than 16 frames.
void warm_up(const Side& side) {
    for (int frame = 0; frame < 40; ++frame) side.prepare(), side.run();
}

void save_whole(Bench& bench, std::size_t n) {
    if (!bench.wants("save/whole")) return;
    Fleet fleet(n);
    need_ok(save(fleet.world, fleet.state));
    bench.compare({"save/whole", n, from_100k(n, 1.3), n * 104},
                  {{}, [&] { need_ok(save(fleet.world, fleet.state)); }, [&] { return n; }},
                  {{}, [&] { fleet.copy_all(); }, [&] { return n; }});
}

/// Restores a state after the first `num_rows` rows have changed.
void load_whole(Bench& bench, std::size_t n, const char* name, std::size_t num_rows) {
    if (!bench.wants(name)) return;
    Fleet fleet(n);
    need_ok(save(fleet.world, fleet.state));
    bench.compare(
        {name, n, from_100k(n, 1.5), n * 104},
        {[&] { fleet.touch(num_rows, 1); }, [&] { need_ok(load(fleet.world, fleet.state)); }, [&] { return n; }},
        {{}, [&] { fleet.copy_all_back(); }, [&] { return n; }});
}

/// Restores a database with three component types, after all its entities were destroyed and created again.
void load_database(Bench& bench, std::size_t n) {
    if (!bench.wants("save/load_database")) return;
    EntityManager entities({.minimum_free_ids = 1, .max_entities = n, .max_death_list = 1});
    World world(entities);
    std::vector<Entity> ids(n);
    Snapshot state;
    const auto create = [&] {
        need_ok((world.database().create<Position, Velocity, Mass>(ids, 0, Position{{1, 2, 3}}, Velocity{}, Mass{2})));
        world.settle();
    };
    create();
    need_ok(save(world, state));
    const std::vector<Entity> saved = ids;
    PlainSea plain(n + 1, n);
    const BodyValues values(n);
    std::vector<Generation> generations(n + 1), saved_generations(n + 1, 1);
    bench.compare({"save/load_database", n, n == 100'000 ? 1.8 : 0},
                  {[&] {
                       ids.assign(n, kNullEntity);
                       world.database().clear_zone(0);
                       create();
                   },
                   [&] { need_ok(load(world, state)); },
                   [&] { return world.database().num_rows() + entities.alive(saved[n / 2]); }},
                  {[&] { plain.clear(); },
                   [&] {
                       generations = saved_generations;
                       plain.add_all(PlainSea::kHeavy, saved, values.position.data(), values.velocity.data(),
                                     values.mass.data());
                   },
                   [&] { return plain.table(PlainSea::kHeavy).num_rows + generations[n / 2]; }});
}

/// Saves a state in which one in `step` of the first `num_rows` rows has changed since the previous state.
void keep_frame(Bench& bench, std::size_t n, const char* name, double target, std::size_t num_rows, std::size_t step) {
    if (!bench.wants(name)) return;
    Fleet fleet(n);
    Snapshot states[2];
    need_ok(save(fleet.world, states[0]));
    std::size_t last = 0;
    const Side shoal{[&] { fleet.touch(num_rows, step), fleet.world.settle(); },
                     [&] {
                         need_ok(save(fleet.world, states[1 - last], &states[last]));
                         last = 1 - last;
                     },
                     [&] { return n; }};
    warm_up(shoal);
    bench.compare({name, n, from_100k(n, target)}, shoal, {{}, [&] { fleet.copy_all(); }, [&] { return n; }});
}

/// Measures a rewind of eight frames, which may take a millisecond with 20,000 entities.
void rewind(Bench& bench, std::size_t n, const char* name, std::size_t num_rows, std::size_t step) {
    if (!bench.wants(name)) return;
    Fleet fleet(n);
    Frames frames(fleet.world, 9);
    const Side shoal{[&] {
                         for (int i = 0; i < 8; ++i) fleet.touch(num_rows, step), fleet.world.step(0.01f);
                     },
                     [&] { need_ok(frames.rewind(fleet.world.frame() - 8)); }, [&] { return n; }};
    warm_up(shoal);
    bench.compare({name, n, 0}, shoal, {{}, [&] { fleet.copy_all_back(); }, [&] { return n; }},
                  [n](Measurement& result) {
                      result.change_ns = result.shoal_ns * double(n);
                      result.target_change_ns = n == 20'000 ? 1e6 : 0;
                  });
}

void save_file(Bench& bench, std::size_t n) {
    const std::string path = (std::filesystem::temp_directory_path() / "shoal_bench.save").string();
    Fleet fleet(n);
    if (bench.wants("save/to_file"))
        bench.compare({"save/to_file", n, 0, n * 104, true},
                      {{}, [&] { need_ok(save(fleet.world, path)); }, [&] { return n; }},
                      {{}, [&] { fleet.copy_all(); }, [&] { return n; }},
                      [](Measurement& result) { result.target_mb_per_s = 500; });
    need_ok(save(fleet.world, path));
    if (bench.wants("save/from_file"))
        bench.compare({"save/from_file", n, 0, n * 104, true},
                      {{}, [&] { need_ok(load(fleet.world, path)); }, [&] { return n; }},
                      {{}, [&] { fleet.copy_all_back(); }, [&] { return n; }},
                      [](Measurement& result) { result.target_mb_per_s = 1000; });
    std::filesystem::remove(path);
}

/// Adds a pass that reads all rows, like a search for the rows to change.
void add_search(Fleet& fleet) {
    fleet.world.schedule().add(
        "search",
        query<Read<&Hull::pose>, Read<&Hull::rotation>, Read<&Hull::velocity>, Read<&Hull::force>, Read<&Hull::mass>>(
            fleet.hulls),
        [](const Matrix3x4& pose, const Quaternion& rotation, Vec3 velocity, Vec3 force, float mass) {
            float found = force.x / mass + rotation.w;
            for (const Vec4& row : pose.row) found += row.x * velocity.x + row.y * velocity.y + row.z * velocity.z;
            asm volatile("" : : "g"(found));  // keeps the compiler from removing the pass
        });
}

/// Compares a step of a persisted world, in which one in `step` of the first `num_rows` rows has changed, with the same
/// step of a world that is not persisted.
void persist_frame(Bench& bench, std::size_t n, const char* name, std::size_t num_rows, std::size_t step) {
    if (!bench.wants(name)) return;
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "shoal_bench_persist";
    std::filesystem::remove_all(folder);
    Fleet persisted(n), plain(n);
    add_search(persisted), add_search(plain);
    Persistence persistence(persisted.world);
    need_ok(persistence.start(folder.string()));
    const Side shoal{[&] { need_ok(persistence.flush()), persisted.touch(num_rows, step); },
                     [&] { persisted.world.step(0.01f); }, [&] { return n; }};
    warm_up(shoal);
    bench.compare({name, n, 0}, shoal,
                  {[&] { plain.touch(num_rows, step); }, [&] { plain.world.step(0.01f); }, [&] { return n; }},
                  [n](Measurement& result) {
                      result.change_ns = (result.shoal_ns - result.reference_ns) * double(n);
                      result.target_change_ns = kJournalPart * kFrameNs;
                  });
    need_ok(persistence.stop());
    std::filesystem::remove_all(folder);
}

/// Compares the state hash of a world, on one core, with a plain hash of the same columns.
void hash_state(Bench& bench, std::size_t n) {
    if (!bench.wants("hash/state")) return;
    Fleet fleet(n);
    std::uint64_t hash = 0;
    bench.compare({"hash/state", n, from_100k(n, 1.3), n * 104},
                  {{}, [&] { hash += state_hash(fleet.world); }, [&] { return n; }},
                  {{},
                   [&] {
                       for (const std::vector<std::byte>& column : fleet.columns)
                           hash += hash_bytes(column.data(), column.size());
                       hash += hash_bytes(fleet.owners.data(), fleet.owners.size() * sizeof(Entity));
                   },
                   [&] { return n; }},
                  [](Measurement& result) { result.target_mb_per_s = 5000; });
    asm volatile("" : : "g"(hash));
}

/// Compares the state hash of `whole` components, whose fields are hashed one by one, with a plain hash of the structs.
void hash_whole(Bench& bench, std::size_t n) {
    if (!bench.wants("hash/whole")) return;
    EntityManager entities({.max_entities = n});
    World world(entities);
    std::vector<Entity> ids(n);
    need_ok(entities.create(ids));
    need_ok(world.manager<Hulk>().add(ids, Hulk{}));
    const std::vector<Hulk> plain(n);
    std::uint64_t hash = 0;
    bench.compare({"hash/whole", n, 0, n * 104}, {{}, [&] { hash += state_hash(world); }, [&] { return n; }},
                  {{},
                   [&] {
                       hash += hash_bytes(plain.data(), n * sizeof(Hulk));
                       hash += hash_bytes(ids.data(), n * sizeof(Entity));
                   },
                   [&] { return n; }});
    asm volatile("" : : "g"(hash));
}

/// Compares a step of a recorded world, in which a few rows have changed, with the same step of a world that is not
/// recorded.
void record_frame(Bench& bench, std::size_t n, const char* name, std::size_t num_rows, std::size_t step) {
    if (!bench.wants(name)) return;
    const std::string path = (std::filesystem::temp_directory_path() / "shoal_bench.rec").string();
    Fleet recorded(n), plain(n);
    add_search(recorded), add_search(plain);
    Recorder recorder(recorded.world);
    need_ok(recorder.start(path));
    bench.compare({name, n, 0},
                  {[&] { recorded.touch(num_rows, step); }, [&] { recorder.step(0.01f); }, [&] { return n; }},
                  {[&] { plain.touch(num_rows, step); }, [&] { plain.world.step(0.01f); }, [&] { return n; }});
    need_ok(recorder.stop());
    std::filesystem::remove(path);
}

}  // namespace

void measure_saving(Bench& bench) {
    for (const std::size_t n : bench.sizes({20'000, 100'000, 1'000'000})) {
        save_whole(bench, n);
        load_whole(bench, n, "save/load", n);
        load_database(bench, n);
        load_whole(bench, n, "save/load_little", n / 100);
        keep_frame(bench, n, "save/frame_blocks", 0.1, n / 100, 1);
        keep_frame(bench, n, "save/frame_scattered", 0.4, n, 100);
        rewind(bench, n, "save/rewind", n / 100, 1);
        rewind(bench, n, "save/rewind_scattered", n, 100);
        persist_frame(bench, n, "persist/frame_blocks", n / 100, 1);
        persist_frame(bench, n, "persist/frame_scattered", n, 100);
        hash_state(bench, n);
        hash_whole(bench, n);
        record_frame(bench, n, "record/frame_blocks", n / 100, 1);
        record_frame(bench, n, "record/frame_scattered", n, 100);
        if (bench.wants("save/to_file") || bench.wants("save/from_file")) save_file(bench, n);
    }
}

}  // namespace shoal_bench

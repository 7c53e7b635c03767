// Compares queries over a world to loops over plain arrays: joins of stores by entity, and fields of other kinds of
// stores.

#include "reference.h"
#include "shoal/components/activity.h"
#include "shoal/query/text_query.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "workloads.h"

#include <vector>

namespace shoal_bench {

using namespace shoal;

struct JoinPosition {
    Vec3 value;
};
SHOAL_COMPONENT(JoinPosition, value)
struct JoinVelocity {
    Vec3 value;
};
SHOAL_COMPONENT(JoinVelocity, value)
struct ParentPlace {
    Vec3 value;
};
SHOAL_COMPONENT(ParentPlace, value)
struct ChildOffset {
    Vec3 value;
};
SHOAL_COMPONENT(ChildOffset, value)
struct ChildPlace {
    Vec3 value;
};
SHOAL_COMPONENT(ChildPlace, value)

namespace {

/// A column with values of some entities, and an array that maps an entity index to its packed generation and row, as
/// in a careful hand-written program.
struct PlainColumn {
    std::vector<Entity> owners;
    std::vector<Vec3> values;
    std::vector<EntityBits> entries;  // by entity index; 0: none

    PlainColumn(std::span<const Entity> entities, std::size_t num_indices)
        : owners(entities.begin(), entities.end()), values(entities.size(), Vec3{1, 2, 3}), entries(num_indices) {
        for (std::uint32_t row = 0; row < owners.size(); ++row)
            entries[owners[row].index()] = (owners[row].id & ~EntityBits(kIndexMask)) | row;
    }
    bool has(Entity entity, EntityBits entry) const {
        return entry != 0 && ((entry ^ entity.id) & ~EntityBits(kIndexMask)) == 0;
    }
};

void add_velocities(PlainColumn& positions, const PlainColumn& velocities) {
    constexpr std::size_t kAhead = 32;
    const std::size_t n = positions.owners.size();
    const Entity* const owners = positions.owners.data();
    const EntityBits* const entries = velocities.entries.data();
    for (std::size_t i = 0; i < n; ++i) {
        if (i + 2 * kAhead < n) {
            __builtin_prefetch(entries + owners[i + 2 * kAhead].index());
            __builtin_prefetch(velocities.values.data() + (entries[owners[i + kAhead].index()] & kIndexMask));
        }
        const EntityBits entry = entries[owners[i].index()];
        if (velocities.has(owners[i], entry)) positions.values[i] += velocities.values[entry & kIndexMask] * kDt;
    }
}

/// `n` positions and `n` velocities; `num_common` entities have both.
void join(Bench& bench, const char* name, std::size_t n, std::size_t num_common, bool shuffled, double target) {
    if (!bench.wants(name)) return;
    EntityManager entities({.max_entities = 2 * n});
    World world(entities);
    std::vector<Entity> ids(2 * n - num_common);
    need_ok(entities.create(ids));
    std::vector<Entity> moving(n), placed(n);
    const std::vector<std::uint32_t> order = shuffled_numbers(n, 5);
    for (std::size_t i = 0; i < n; ++i) {
        placed[i] = ids[i];
        moving[shuffled ? order[i] : i] = ids[ids.size() - n + i];
    }
    need_ok(world.manager<JoinPosition>().add(placed, JoinPosition{{1, 2, 3}}));
    need_ok(world.manager<JoinVelocity>().add(moving, JoinVelocity{{1, 2, 3}}));
    PlainColumn positions(placed, 2 * n + 2), velocities(moving, 2 * n + 2);
    const auto both = world.query<Write<&JoinPosition::value>, Read<&JoinVelocity::value>>();
    const auto sum = [](const Vec3* values, std::size_t count) {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += bits_of(values[i].x);
        return result;
    };
    bench.compare(
        {name, n, target},
        {{},
         [&] { both.for_each([](auto&& p, Vec3 v) { p += v * kDt; }); },
         [&] { return sum(&world.manager<JoinPosition>().column<&JoinPosition::value>()[0], n); }},
        {{}, [&] { add_velocities(positions, velocities); }, [&] { return sum(positions.values.data(), n); }});
}

/// Adds the velocities of `rows` to the positions of their owners, which may be in any order.
void push_positions(PlainColumn& positions, const PlainColumn& velocities, RowRange rows) {
    constexpr std::uint32_t kAhead = 32;
    const Entity* const owners = velocities.owners.data();
    const EntityBits* const entries = positions.entries.data();
    for (std::uint32_t i = rows.begin; i < rows.end; ++i) {
        if (i + 2 * kAhead < rows.end) {
            __builtin_prefetch(entries + owners[i + 2 * kAhead].index());
            __builtin_prefetch(positions.values.data() + (entries[owners[i + kAhead].index()] & kIndexMask), 1);
        }
        const EntityBits entry = entries[owners[i].index()];
        if (positions.has(owners[i], entry)) positions.values[entry & kIndexMask] += velocities.values[i] * kDt;
    }
}

/// Two workers add `n` velocities to positions of the same entities in random order. The reference also has two
/// workers.
void join_on_two_workers(Bench& bench, std::size_t n) {
    if (!bench.wants("join/two_workers")) return;
    EntityManager entities({.max_entities = n});
    World world(entities);
    std::vector<Entity> moving(n), placed(n);
    need_ok(entities.create(moving));
    const std::vector<std::uint32_t> order = shuffled_numbers(n, 5);
    for (std::size_t i = 0; i < n; ++i) placed[order[i]] = moving[i];
    need_ok(world.manager<JoinPosition>().add(placed, JoinPosition{{1, 2, 3}}));
    need_ok(world.manager<JoinVelocity>().add(moving, JoinVelocity{{1, 2, 3}}));
    PlainColumn positions(placed, n + 2), velocities(moving, n + 2);
    const auto both = world.query<Read<&JoinVelocity::value>, Write<&JoinPosition::value>>();
    ThreadedExecutor two(2);
    const auto sum = [](const Vec3* values, std::size_t count) {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += bits_of(values[i].x);
        return result;
    };
    bench.compare({.name = "join/two_workers", .n = n, .target = 0, .wall_time = true},
                  {{},
                   [&] { both.for_each(two, [](Vec3 v, auto&& p) { p += v * kDt; }); },
                   [&] { return sum(&world.manager<JoinPosition>().column<&JoinPosition::value>()[0], n); }},
                  {{},
                   [&] {
                       for_rows(two, static_cast<std::uint32_t>(n), kByteGranularity,
                                [&](RowRange rows, std::uint32_t) { push_positions(positions, velocities, rows); });
                   },
                   [&] { return sum(positions.values.data(), n); }});
}

SHOAL_BENCH_LOOP void move(Vec3* __restrict positions, const Vec3* __restrict velocities, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) positions[i] += velocities[i] * kDt;
}

/// Compares a text query with a compiled query. The positions and velocities are in two managers, in the same order or,
/// with `joins`, in different orders.
void from_text(Bench& bench, const char* name, std::size_t n, bool joins, double target) {
    if (!bench.wants(name)) return;
    EntityManager entities({.max_entities = 2 * n});
    World world(entities);
    std::vector<Entity> ids(n), shuffled(n);
    need_ok(entities.create(ids));
    const std::vector<std::uint32_t> order = shuffled_numbers(n, 5);
    for (std::size_t i = 0; i < n; ++i) shuffled[joins ? order[i] : i] = ids[i];
    need_ok(world.manager<JoinPosition>().add(ids, JoinPosition{{1, 2, 3}}));
    need_ok(world.manager<JoinVelocity>().add(shuffled, JoinVelocity{{1, 2, 3}}));
    const auto compiled = world.query<Write<&JoinPosition::value>, Read<&JoinVelocity::value>>();
    Result<TextQuery> text = TextQuery::make(world.directory(), "&join_position, join_velocity");
    need_ok(text.status());
    const auto sum = [&] {
        std::uint64_t result = 0;
        const auto values = world.manager<JoinPosition>().column<&JoinPosition::value>();
        for (std::size_t i = 0; i < n; ++i) result += bits_of(values[i].x);
        return result;
    };
    const auto reset = [&] {
        const auto values = world.manager<JoinPosition>().write_column<&JoinPosition::value>();
        for (std::size_t i = 0; i < n; ++i) values[i] = {1, 2, 3};
    };
    const auto run_text = [&] {
        text->for_each_batch([](const TextBatch& batch) {
            const TextColumn positions = batch.column(0, 0), velocities = batch.column(1, 0);
            const std::span<Vec3> p = positions.written_values<Vec3>();
            const std::span<const Vec3> v = velocities.values<Vec3>();
            if (!p.empty() && !v.empty()) return move(p.data(), v.data(), p.size());
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i)
                *positions.write<Vec3>(i) += *velocities.read<Vec3>(i) * kDt;
        });
    };
    bench.compare({name, n, target}, {reset, run_text, sum},
                  {reset, [&] { compiled.for_each([](auto&& p, Vec3 v) { p += v * kDt; }); }, sum});
}

SHOAL_BENCH_LOOP void follow(Vec3* __restrict places, const Vec3* __restrict offsets, const Vec3* __restrict of_parents,
                             const std::uint32_t* __restrict parents, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) places[i] = of_parents[parents[i]] + offsets[i];
}

/// `n` children move to an offset from their parent. Ten children share a parent, and are adjacent or in random order.
/// Their components are in the database or in managers, and transforms provide the parents. The world settles before each
/// run, as it does between two runs of a pass, after `num_replaced` children have died and others were born. The
/// reference has an array with the row of each parent.
void read_parents(Bench& bench, const char* name, std::size_t n, bool in_database, bool shuffled,
                  std::size_t num_replaced = 0) {
    if (!bench.wants(name)) return;
    EntityManager entities;
    World world(entities);
    std::vector<Entity> parents(n / 10), children(n), all;
    need_ok(entities.create(parents));
    need_ok(entities.create(children));
    const std::vector<std::uint32_t> order = shuffled_numbers(n, 5);
    std::vector<std::uint32_t> of_all(n / 10, kNilRow), of_children(n);
    for (std::size_t i = 0; i < n; ++i) of_children[i] = static_cast<std::uint32_t>((shuffled ? order[i] : i) / 10);
    all.insert(all.end(), parents.begin(), parents.end());
    all.insert(all.end(), children.begin(), children.end());
    of_all.insert(of_all.end(), of_children.begin(), of_children.end());
    need_ok(world.transforms().add(all, std::vector<Transform>(all.size()), of_all));
    std::vector<ParentPlace> places(n / 10);
    for (std::size_t i = 0; i < places.size(); ++i) places[i].value = {float(i), 1, 2};
    const auto add_children = [&](std::span<const Entity> added) {
        const std::vector<ChildOffset> offsets(added.size(), ChildOffset{{1, 2, 3}});
        if (in_database)
            return need_ok(world.database().insert<ChildPlace, ChildOffset>(
                added, 0, std::vector<ChildPlace>(added.size()), offsets));
        need_ok(world.manager<ChildPlace>().add(added, ChildPlace{}));
        need_ok(world.manager<ChildOffset>().add(added, std::span<const ChildOffset>(offsets)));
    };
    if (in_database)
        need_ok(world.database().insert<ParentPlace>(parents, 0, places));
    else
        need_ok(world.manager<ParentPlace>().add(parents, places));
    add_children(children);
    Random random(5);
    const auto settle = [&] {
        for (std::size_t i = 0; i < num_replaced; ++i) {
            const std::size_t child = random.below(static_cast<std::uint32_t>(n));
            entities.destroy(children[child]);
            children[child] = need(entities.create());
            TransformManager& transforms = world.transforms();
            need_ok(transforms.add({&children[child], 1}, Transform()));
            need_ok(transforms.link(transforms.instance(children[child]),
                                    transforms.instance(parents[of_children[child]])));
            add_children({&children[child], 1});
        }
        world.settle();
    };
    std::vector<Vec3> plain_parents(n / 10), plain(n), offsets(n, Vec3{1, 2, 3});
    for (std::size_t i = 0; i < places.size(); ++i) plain_parents[i] = places[i].value;
    const auto followers =
        world.query<Write<&ChildPlace::value>, Read<&ChildOffset::value>, Parent<Read<&ParentPlace::value>>>();
    const auto sum = [&] {
        std::uint64_t result = 0;
        world.query<Read<&ChildPlace::value>>().for_each([&](Vec3 place) { result += bits_of(place.x); });
        return result;
    };
    const auto plain_sum = [&] {
        std::uint64_t result = 0;
        for (const Vec3 place : plain) result += bits_of(place.x);
        return result;
    };
    bench.compare(
        {name, n, 2},
        {settle,
         [&] {
             followers.for_each([](auto&& place, Vec3 offset, const Vec3* of_parent) {
                 if (of_parent) place = *of_parent + offset;
             });
         },
         sum},
        {[&] { world.settle(); },
         [&] { follow(plain.data(), offsets.data(), plain_parents.data(), of_children.data(), n); }, plain_sum});
}

/// Adds up the local positions of transforms.
void transform_term(Bench& bench, std::size_t n) {
    if (!bench.wants("query/transform_term")) return;
    EntityManager entities({.max_entities = n});
    World world(entities);
    std::vector<Entity> ids(n);
    need_ok(entities.create(ids));
    need_ok(world.transforms().add(ids, Transform{.position = {1, 2, 3}}));
    const std::vector<Vec3> plain(n, Vec3{1, 2, 3});
    const auto places = world.query<Read<&Transform::position>>();
    Vec3 total, plain_total;
    bench.compare({"query/transform_term", n, 1.05},
                  {{},
                   [&] {
                       Vec3 sum{};  // a local variable, which stays in registers on both sides
                       places.for_each([&sum](Vec3 p) { sum += p; });
                       total = sum;
                   },
                   [&] { return bits_of(total.x); }},
                  {{},
                   [&] {
                       Vec3 sum{};
                       for (const Vec3 p : plain) sum += p;
                       plain_total = sum;
                   },
                   [&] { return bits_of(plain_total.x); }});
}

/// Moves entities of which a tenth are inactive, in runs of `run` entities. The reference tests a bit per entity.
void pass_over_inactive(Bench& bench, const char* name, std::size_t n, std::size_t run) {
    if (!bench.wants(name)) return;
    EntityManager entities({.max_entities = n});
    World world(entities);
    std::vector<Entity> ids(n);
    need_ok(entities.create(ids));
    need_ok(world.manager<JoinPosition>().add(ids, JoinPosition{{1, 2, 3}}));
    std::vector<Vec3> plain(n, Vec3{1, 2, 3});
    std::vector<std::uint64_t> is_off(n / 64 + 1);
    for (std::size_t i = 0; i < n; ++i) {
        if (i / run % 10 != 3) continue;
        is_off[i / 64] |= std::uint64_t(1) << (i % 64);
        need_ok(world.activity().set_active(ids[i], false));
    }
    const auto places = world.query<Write<&JoinPosition::value>>();
    const auto sum_of = [](std::span<const Vec3> values) {
        Vec3 sum{};
        for (const Vec3 value : values) sum += value;
        return bits_of(sum.x);
    };
    bench.compare({name, n},
                  {{},
                   [&] { places.for_each([](auto&& p) { p += Vec3{kDt, 0, 0}; }); },
                   [&] { return sum_of(world.manager<JoinPosition>().column<&JoinPosition::value>()); }},
                  {{},
                   [&] {
                       for (std::size_t i = 0; i < n; ++i)
                           if ((is_off[i / 64] >> (i % 64) & 1) == 0) plain[i] += Vec3{kDt, 0, 0};
                   },
                   [&] { return sum_of(plain); }});
}

}  // namespace

void measure_world_queries(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) {
        join(bench, "join/two_managers", n, n / 2, true, n == 100'000 ? 1.3 : 0);
        join(bench, "join/side_by_side", n, n, false, 0);
        join_on_two_workers(bench, n);
        from_text(bench, "query/from_text", n, true, n == 100'000 ? 1.3 : 0);
        from_text(bench, "query/from_text_in_order", n, false, 0);
    }
    for (const std::size_t n : bench.sizes({10'000, 100'000})) {
        read_parents(bench, "query/parent_database", n, true, false);
        read_parents(bench, "query/parent_database_shuffled", n, true, true);
        read_parents(bench, "query/parent_managers", n, false, false);
        read_parents(bench, "query/parent_managers_shuffled", n, false, true);
        read_parents(bench, "query/parent_database_births", n, true, true, n / 1000);
        read_parents(bench, "query/parent_managers_births", n, false, true, n / 1000);
    }
    for (const std::size_t n : bench.sizes({1'000'000})) transform_term(bench, n);
    for (const std::size_t n : bench.sizes({100'000, 1'000'000})) {
        pass_over_inactive(bench, "query/inactive_single", n, 1);
        pass_over_inactive(bench, "query/inactive_runs", n, 16);
    }
}

}  // namespace shoal_bench

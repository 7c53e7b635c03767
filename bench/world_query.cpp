// Queries over a world: joins of stores by entity, and fields of stores of other kinds, against loops over plain arrays.

#include "reference.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "workloads.h"

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

namespace {

constexpr float kDt = 1.0f / 64;

/// Positions of some entities and velocities of others, in columns of their own with an index each, as a careful program
/// keeps them by hand.
struct PlainColumns {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    std::vector<Entity> owners;
    std::vector<Vec3> values;
    std::vector<Entity> owner_at;       // by entity index
    std::vector<std::uint32_t> row_at;  // by entity index

    PlainColumns(std::span<const Entity> entities, std::size_t num_indices)
        : owners(entities.begin(), entities.end()),
          values(entities.size(), Vec3{1, 2, 3}),
          owner_at(num_indices),
          row_at(num_indices, kNone) {
        for (std::uint32_t row = 0; row < owners.size(); ++row)
            owner_at[owners[row].index()] = owners[row], row_at[owners[row].index()] = row;
    }
    std::uint32_t find(Entity entity) const {
        return owner_at[entity.index()] == entity ? row_at[entity.index()] : kNone;
    }
};

void add_velocities(PlainColumns& positions, const PlainColumns& velocities) {
    constexpr std::size_t kAhead = 32;
    const std::size_t n = positions.owners.size();
    for (std::size_t i = 0; i < n; ++i) {
        if (i + 2 * kAhead < n) {
            __builtin_prefetch(&velocities.owner_at[positions.owners[i + 2 * kAhead].index()]);
            __builtin_prefetch(&velocities.row_at[positions.owners[i + 2 * kAhead].index()]);
        }
        if (i + kAhead < n) {
            const std::uint32_t row = velocities.row_at[positions.owners[i + kAhead].index()];
            if (row != PlainColumns::kNone) __builtin_prefetch(&velocities.values[row]);
        }
        const std::uint32_t row = velocities.find(positions.owners[i]);
        if (row != PlainColumns::kNone) positions.values[i] += velocities.values[row] * kDt;
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
    PlainColumns positions(placed, 2 * n + 2), velocities(moving, 2 * n + 2);
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
    bench.compare(
        {"query/transform_term", n, 1.05},
        {[&] { total = {}; }, [&] { places.for_each([&](Vec3 p) { total += p; }); }, [&] { return bits_of(total.x); }},
        {[&] { plain_total = {}; },
         [&] {
             for (const Vec3 p : plain) plain_total += p;
         },
         [&] { return bits_of(plain_total.x); }});
}

}  // namespace

void measure_world_queries(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) {
        join(bench, "join/two_managers", n, n / 2, true, n == 100'000 ? 1.3 : 0);
        join(bench, "join/side_by_side", n, n, false, 0);
    }
    for (const std::size_t n : bench.sizes({1'000'000})) transform_term(bench, n);
}

}  // namespace shoal_bench

// Compares queries that call a lambda per row, over one or many tables of a database, to loops over plain arrays.

#include "marks.h"
#include "reference.h"
#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "workloads.h"

#include <bit>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct QueryPosition {
    Vec3 value;
};
SHOAL_COMPONENT(QueryPosition, value)
struct QueryVelocity {
    Vec3 value;
};
SHOAL_COMPONENT(QueryVelocity, value)

struct QueryWide {
    float f0 = 0, f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7, f8 = 8, f9 = 9, f10 = 10, f11 = 11, f12 = 12,
          f13 = 13, f14 = 14, f15 = 15;
};
SHOAL_COMPONENT(QueryWide, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15)

struct QueryCount {
    float value = 0;
};
SHOAL_COMPONENT(QueryCount, value)

struct QuerySpeed {
    float value = 0;
};
SHOAL_COMPONENT(QuerySpeed, value)

struct QueryAwake {};
SHOAL_COMPONENT((QueryAwake, enableable))

namespace {

constexpr std::initializer_list<std::size_t> kDatabaseSizes = {10'000, 100'000, 1'000'000, kMaxEntities - 1};

Vec3 position_of(std::size_t i) { return {float(i % 1024), float((i >> 3) % 1024), float((i >> 5) % 1024)}; }

/// A checksum that does not depend on the order of rows.
template <class T>
std::uint64_t sum_of(const T* values, std::size_t n) {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < n; ++i) result += bits_of(values[i]);
    return result;
}
template <auto kMember>
std::uint64_t sum_of(Database& database) {
    std::uint64_t result = 0;
    query<Read<kMember>>(database).for_each([&](const auto& value) { result += bits_of(value); });
    return result;
}

SHOAL_BENCH_LOOP void integrate_all(float* __restrict p, const float* __restrict v, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) p[i] += v[i] * kDt;
}
SHOAL_BENCH_LOOP void add_one(float* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) x[i] += 1;
}

struct QueriedSea {
    EntityManager entities;
    PagePool pool;
    Database database = Database(entities, pool);
};

// --- one table ---------------------------------------------------------------------------------------------------

void iterate(Bench& bench, std::size_t n) {
    if (!bench.wants("database/iterate")) return;
    QueriedSea sea;
    std::vector<Entity> ids(n);
    std::vector<QueryPosition> positions(n);
    std::vector<QueryVelocity> velocities(n);
    PlainColumn<Vec3> position(n, 0), velocity(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
        positions[i].value = position[i] = position_of(i);
        velocities[i].value = velocity[i] = velocity_of(i);
    }
    need_ok(sea.database.create<QueryPosition, QueryVelocity>(ids, 0, positions, velocities));
    const auto moving = query<Write<&QueryPosition::value>, Read<&QueryVelocity::value>>(sea.database);
    bench.compare({"database/iterate", n, 1.05},
                  {{},
                   [&] { moving.for_each([](auto&& p, Vec3 v) { p += v * kDt; }); },
                   [&] { return sum_of<&QueryPosition::value>(sea.database); }},
                  {{},
                   [&] { integrate_all(&position[0].x, &velocity[0].x, 3 * n); },
                   [&] { return sum_of(position.data(), n); }});
}

void two_of_sixteen(Bench& bench, std::size_t n) {
    if (!bench.wants("database/two_of_sixteen")) return;
    QueriedSea sea;
    std::vector<Entity> ids(n);
    std::vector<QueryWide> values(n);
    PlainColumn<float> f0(n, 0), f5(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
        values[i].f0 = f0[i] = float(i % 100);
        values[i].f5 = f5[i] = float((i + 5) % 100);
    }
    need_ok(sea.database.create<QueryWide>(ids, 0, values));
    const auto two = query<Write<&QueryWide::f0>, Read<&QueryWide::f5>>(sea.database);
    bench.compare({"database/two_of_sixteen", n, 1.1},
                  {{},
                   [&] { two.for_each([](float& a, float b) { a += b * kDt; }); },
                   [&] { return sum_of<&QueryWide::f0>(sea.database); }},
                  {{}, [&] { integrate_all(f0.data(), f5.data(), n); }, [&] { return sum_of(f0.data(), n); }});
}

/// p += v dt where a bit is set: computes all rows, but keeps the values of disabled rows.
SHOAL_BENCH_LOOP void integrate_on(float* __restrict p, const float* __restrict v, const std::uint64_t* on,
                                   std::size_t n) {
    const auto blend = [&](std::size_t row, std::uint32_t bit) __attribute__((always_inline)) {
        const std::uint32_t mask = 0u - bit, kept = std::bit_cast<std::uint32_t>(p[row]);
        const auto made = std::bit_cast<std::uint32_t>(p[row] + v[row] * kDt);
        p[row] = std::bit_cast<float>((made & mask) | (kept & ~mask));
    };
    std::size_t row = 0;
    for (; row + 32 <= n; row += 32) {
        const auto bits = static_cast<std::uint32_t>(on[row / 64] >> (row % 64));
        for (std::uint32_t i = 0; i < 32; ++i) blend(row + i, bits >> i & 1);
    }
    for (; row < n; ++row) blend(row, std::uint32_t(on[row / 64] >> (row % 64) & 1));
}

void iterate_enableable(Bench& bench, std::size_t n) {
    if (!bench.wants("database/iterate_enableable")) return;
    QueriedSea sea;
    std::vector<Entity> ids(n), disabled;
    std::vector<QueryCount> counts(n);
    std::vector<QuerySpeed> speeds(n);
    PlainColumn<float> count(n, 0), speed(n, 1);
    std::vector<std::uint64_t> on((n + 63) / 64);
    for (std::size_t i = 0; i < n; ++i) {
        counts[i].value = count[i] = float(i % 100);
        speeds[i].value = speed[i] = float((i + 5) % 100);
    }
    const std::vector<QueryAwake> awake(n);
    need_ok(sea.database.create<QueryCount, QuerySpeed, QueryAwake>(ids, 0, counts, speeds, awake));
    Random random(3);
    for (std::size_t i = 0; i < n; ++i) {
        if (random.below(2) == 0)
            on[i / 64] |= std::uint64_t(1) << (i % 64);
        else
            disabled.push_back(ids[i]);
    }
    need(sea.database.remove<QueryAwake>(disabled));
    const auto moving = query<Write<&QueryCount::value>, Read<&QuerySpeed::value>, With<QueryAwake>>(sea.database);
    const auto sum = [&] { return sum_of<&QueryCount::value>(sea.database); };
    const Side reference{
        {}, [&] { integrate_on(count.data(), speed.data(), on.data(), n); }, [&] { return sum_of(count.data(), n); }};
    bench.compare({"database/iterate_enableable", n, 1.3},
                  {{}, [&] { moving.for_each(blend([](float& p, float v) { p += v * kDt; })); }, sum}, reference);
    // A function that may have side effects is called only for enabled rows.
    bench.compare({"database/iterate_enableable_called", n},
                  {{}, [&] { moving.for_each([](float& p, float v) { p += v * kDt; }); }, sum}, reference);
}

// --- many tables -------------------------------------------------------------------------------------------------

template <int kNumber>
void create_marked(Database& database, std::size_t n) {
    std::vector<Entity> ids(n);
    need_ok(database.create<QueryCount, Mark<kNumber>>(ids, 0, {float(kNumber)}, {}));
}

/// x += 1 in one column that 26 archetypes share.
void iterate_26_types(Bench& bench, std::size_t n) {
    if (!bench.wants("database/iterate_26_types")) return;
    QueriedSea sea;
    const std::size_t each = n / kNumMarks, room = (each + 15) / 16 * 16;
    [&]<int... kNumbers>(std::integer_sequence<int, kNumbers...>) {
        (create_marked<kNumbers>(sea.database, each), ...);
    }(std::make_integer_sequence<int, kNumMarks>());
    struct Plain {
        float* values;
        std::size_t size;
    };
    PlainColumn<float> values(room * kNumMarks, 0);
    std::vector<Plain> plain;
    for (int i = 0; i < kNumMarks; ++i) {
        plain.push_back({values.data() + std::size_t(i) * room, each});
        std::fill_n(plain.back().values, each, float(i));
    }
    const auto counted = query<Write<&QueryCount::value>>(sea.database);
    const auto sum = [&] {
        std::uint64_t result = 0;
        for (const Plain& column : plain) result += sum_of(column.values, column.size);
        return result;
    };
    bench.compare({"database/iterate_26_types", each * kNumMarks, n < 10'000 ? 1.5 : 1.15},
                  {{},
                   [&] { counted.for_each([](float& x) { x += 1; }); },
                   [&] { return sum_of<&QueryCount::value>(sea.database); }},
                  {{},
                   [&] {
                       for (const Plain& column : plain) add_one(column.values, column.size);
                   },
                   sum});
}

/// A query that matches one of four archetypes of equal size.
void quarter_match(Bench& bench, std::size_t n) {
    if (!bench.wants("database/quarter_match")) return;
    QueriedSea sea;
    create_marked<0>(sea.database, n / 4), create_marked<1>(sea.database, n / 4);
    create_marked<2>(sea.database, n / 4), create_marked<3>(sea.database, n / 4);
    PlainColumn<float> count(n / 4, 0);
    std::fill_n(count.data(), n / 4, 2.0f);
    const auto quarter = query<Write<&QueryCount::value>, With<Mark<2>>>(sea.database);
    const auto sum = [&] {
        std::uint64_t result = 0;
        query<Read<&QueryCount::value>, With<Mark<2>>>(sea.database).for_each([&](float x) { result += bits_of(x); });
        return result;
    };
    bench.compare({"database/quarter_match", n, 1.1}, {{}, [&] { quarter.for_each([](float& x) { x += 1; }); }, sum},
                  {{}, [&] { add_one(count.data(), n / 4); }, [&] { return sum_of(count.data(), n / 4); }});
}

/// A query that matches 1,000 empty tables, against reading 1,000 sizes.
void thousand_empty_tables(Bench& bench) {
    if (!bench.wants("database/1000_empty_tables")) return;
    constexpr Zone kNumZones = 1000;
    QueriedSea sea;
    for (Zone zone = 0; zone < kNumZones; ++zone) {
        Entity id[1];
        need_ok(sea.database.create<QueryCount>(id, zone));
        sea.database.destroy(id);
    }
    struct Plain {
        float* values = nullptr;
        std::size_t size = 0;
    };
    const std::vector<Plain> plain(kNumZones);
    const auto counted = query<Write<&QueryCount::value>>(sea.database);
    bench.compare({"database/1000_empty_tables", 1},
                  {{}, [&] { counted.for_each([](float& x) { x += 1; }); }, [&] { return counted.num_rows(); }},
                  {{},
                   [&] {
                       for (const Plain& column : plain)
                           if (column.size != 0) add_one(column.values, column.size);
                   },
                   [] { return std::uint64_t(0); }});
}

}  // namespace

void measure_database_queries(Bench& bench) {
    for (const std::size_t n : bench.sizes(kDatabaseSizes)) iterate(bench, n);
    iterate_26_types(bench, 520);
    for (const std::size_t n : bench.sizes(kSizes)) {
        iterate_26_types(bench, n);
        quarter_match(bench, n);
        two_of_sixteen(bench, n);
        iterate_enableable(bench, n);
    }
    thousand_empty_tables(bench);
}

}  // namespace shoal_bench

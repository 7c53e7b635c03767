// Compares passes that call a lambda per row to loops over plain arrays.

#include "reference.h"
#include "shoal/query/query.h"
#include "workloads.h"

#include <bit>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct Mover {
    Vec3 position, velocity;
};
SHOAL_COMPONENT(Mover, position, velocity)

struct SplitMover {
    Vec3 position, velocity;
};
SHOAL_COMPONENT(SplitMover, (position, split), (velocity, split))

struct SplitBody {
    Vec3 position, velocity, force;
    float mass = 1, charge = 0;
};
SHOAL_COMPONENT(SplitBody, (position, split), (velocity, split), force, mass, charge)

struct Wide {
    float f0 = 0, f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7, f8 = 8, f9 = 9, f10 = 10, f11 = 11, f12 = 12,
          f13 = 13, f14 = 14, f15 = 15;
};
SHOAL_COMPONENT(Wide, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15)

namespace {

constexpr std::initializer_list<std::size_t> kTableSizes = {10'000, 100'000, 1'000'000, kMaxEntities};

Vec3 position_of(std::size_t i) { return {float(i % 1024), float((i >> 3) % 1024), float((i >> 5) % 1024)}; }

/// p += v dt over 3 n consecutive floats: the fastest loop over packed vectors.
SHOAL_BENCH_LOOP void integrate_packed(float* __restrict p, const float* __restrict v, std::size_t n) {
    for (std::size_t i = 0; i < 3 * n; ++i) p[i] += v[i] * kDt;
}

/// p += v dt over separate arrays of x, y and z, with a loop for each.
SHOAL_BENCH_LOOP void integrate_lane(float* __restrict p, const float* __restrict v, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) p[i] += v[i] * kDt;
}

/// Entities that each have a T with values from position_of() and velocity_of().
template <class T>
struct Movers {
    explicit Movers(std::size_t n) : manager(entities, pool) {
        std::vector<Entity> ids(n);
        std::vector<T> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i].position = position_of(i), values[i].velocity = velocity_of(i);
        need_ok(entities.create(ids));
        need(manager.add(ids, std::span<const T>(values)));
    }
    void integrate() {
        moving.for_each([](auto&& p, Vec3 v) { p += v * kDt; });
    }
    void integrate_whole() {
        whole.for_each([](T& body) { body.position += body.velocity * kDt; });
    }
    std::uint64_t sum() const {
        std::uint64_t result = 0;
        const auto positions = manager.template column<&T::position>();
        for (std::size_t i = 0; i < positions.size(); ++i) result += bits_of(positions[i]);
        return result;
    }

    EntityManager entities;
    PagePool pool;
    Manager<T> manager;
    // Made once, as a pass does.
    decltype(query<Write<&T::position>, Read<&T::velocity>>(manager)) moving =
        query<Write<&T::position>, Read<&T::velocity>>(manager);
    decltype(query<Write<all_fields<T>>>(manager)) whole = query<Write<all_fields<T>>>(manager);
};

void iterate(Bench& bench, std::size_t n) {
    if (!bench.wants("table/iterate")) return;
    Movers<Mover> movers(n);
    PlainColumn<Vec3> position(n, 0), velocity(n, 1);
    for (std::size_t i = 0; i < n; ++i) position[i] = position_of(i), velocity[i] = velocity_of(i);
    const auto sum = [&] {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result += bits_of(position[i]);
        return result;
    };
    bench.compare({"table/iterate", n, 1.05}, {{}, [&] { movers.integrate(); }, [&] { return movers.sum(); }},
                  {{}, [&] { integrate_packed(&position[0].x, &velocity[0].x, n); }, sum});
}

void iterate_split(Bench& bench, std::size_t n) {
    if (!bench.wants("table/iterate_split")) return;
    Movers<SplitMover> movers(n);
    PlainColumn<float> px(n, 0), py(n, 1), pz(n, 2), vx(n, 3), vy(n, 4), vz(n, 5);
    for (std::size_t i = 0; i < n; ++i) {
        const Vec3 p = position_of(i), v = velocity_of(i);
        px[i] = p.x, py[i] = p.y, pz[i] = p.z, vx[i] = v.x, vy[i] = v.y, vz[i] = v.z;
    }
    const auto run = [&] {
        integrate_lane(px.data(), vx.data(), n);
        integrate_lane(py.data(), vy.data(), n);
        integrate_lane(pz.data(), vz.data(), n);
    };
    const auto sum = [&] {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result += bits_of({px[i], py[i], pz[i]});
        return result;
    };
    bench.compare({"table/iterate_split", n, 1.2}, {{}, [&] { movers.integrate(); }, [&] { return movers.sum(); }},
                  {{}, run, sum});
}

/// The same, through a reference to the component. Four of its seven fields are not accessed.
void whole_component(Bench& bench, std::size_t n) {
    if (!bench.wants("query/whole_component")) return;
    Movers<SplitBody> movers(n);
    PlainColumn<float> px(n, 0), py(n, 1), pz(n, 2), vx(n, 3), vy(n, 4), vz(n, 5);
    for (std::size_t i = 0; i < n; ++i) {
        const Vec3 p = position_of(i), v = velocity_of(i);
        px[i] = p.x, py[i] = p.y, pz[i] = p.z, vx[i] = v.x, vy[i] = v.y, vz[i] = v.z;
    }
    const auto run = [&] {
        integrate_lane(px.data(), vx.data(), n);
        integrate_lane(py.data(), vy.data(), n);
        integrate_lane(pz.data(), vz.data(), n);
    };
    const auto sum = [&] {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result += bits_of({px[i], py[i], pz[i]});
        return result;
    };
    bench.compare({"query/whole_component", n, 1.2},
                  {{}, [&] { movers.integrate_whole(); }, [&] { return movers.sum(); }}, {{}, run, sum});
}

/// f0 += f5 dt, with two of sixteen fields. The reference has arrays for only these two fields.
void two_of_sixteen(Bench& bench, std::size_t n) {
    if (!bench.wants("table/two_of_sixteen")) return;
    EntityManager entities;
    PagePool pool;
    Manager<Wide> manager(entities, pool);
    std::vector<Entity> ids(n);
    std::vector<Wide> values(n);
    PlainColumn<float> f0(n, 0), f5(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
        values[i].f0 = f0[i] = float(i % 100);
        values[i].f5 = f5[i] = float((i + 5) % 100);
    }
    need_ok(entities.create(ids));
    need(manager.add(ids, std::span<const Wide>(values)));
    const auto two = query<Write<&Wide::f0>, Read<&Wide::f5>>(manager);
    const auto run = [&] { two.for_each([](float& a, float b) { a += b * kDt; }); };
    const auto sum = [&](const float* column) {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result += mix(std::bit_cast<std::uint32_t>(column[i]));
        return result;
    };
    bench.compare({"table/two_of_sixteen", n, 1.1}, {{}, run, [&] { return sum(manager.column<&Wide::f0>().data()); }},
                  {{}, [&] { integrate_lane(f0.data(), f5.data(), n); }, [&] { return sum(f0.data()); }});
}

}  // namespace

void measure_tables(Bench& bench) {
    for (const std::size_t n : bench.sizes(kTableSizes)) {
        iterate(bench, n);
        iterate_split(bench, n);
        two_of_sixteen(bench, n);
        whole_component(bench, n);
    }
}

}  // namespace shoal_bench

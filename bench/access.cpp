// Measures the effect of properties of a memory layout: the same accesses with and without each property.
//
//     access/prefetched         look-ups of shuffled entities, prefetched              and one by one
//     access/cache_lines        columns that start on a cache line                     and 20 bytes after one
//     access/cold_components    30 components of 5,000 entities in columns, uncached   and each an object on the heap
//     access/single             all 16 fields of random entities, SoA                  and in one object
//     access/single_whole       the same, AoS: declared `whole`                        and in one object
//     access/two_threads        two threads write a field each, SoA                    and both in one object
//
// The reference lacks the property. A ratio above 1 means that the reference is faster for this access.

#include "plain_bodies.h"
#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "workloads.h"

#include <memory>
#include <thread>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct SixteenApart {
    float f0 = 0, f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7, f8 = 8, f9 = 9, f10 = 10, f11 = 11, f12 = 12,
          f13 = 13, f14 = 14, f15 = 15;
};
SHOAL_COMPONENT(SixteenApart, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15)
struct SixteenWhole {
    float f0 = 0, f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7, f8 = 8, f9 = 9, f10 = 10, f11 = 11, f12 = 12,
          f13 = 13, f14 = 14, f15 = 15;
};
SHOAL_COMPONENT((SixteenWhole, whole), f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15)

/// One of the component types of a game object.
template <std::size_t kNumber>
struct Piece {
    float value = 0;
};
template <std::size_t kNumber>
constexpr auto shoal_describe(ComponentTag<Piece<kNumber>>) {
    constexpr const char* kNames[] = {"piece_00", "piece_01", "piece_02", "piece_03", "piece_04", "piece_05",
                                      "piece_06", "piece_07", "piece_08", "piece_09", "piece_10", "piece_11",
                                      "piece_12", "piece_13", "piece_14", "piece_15", "piece_16", "piece_17",
                                      "piece_18", "piece_19", "piece_20", "piece_21", "piece_22", "piece_23",
                                      "piece_24", "piece_25", "piece_26", "piece_27", "piece_28", "piece_29"};
    return describe<Piece<kNumber>>(describe_head(kNames[kNumber]), describe_field<&Piece<kNumber>::value>("value"));
}

namespace {

template <class T>
std::uint64_t sum_in_order(const T* values, std::size_t n) {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < n; ++i) result += bits_of(values[i]) * (i + 1);
    return result;
}

/// Entities that each have a component T, and the same entities in random order.
template <class T>
struct Managed {
    explicit Managed(std::size_t n) : ids(n) {
        need_ok(entities.create(ids));
        need(manager.add(ids));
        shuffled = ids;
        shuffle(std::span(shuffled), 2);
    }
    EntityManager entities;
    PagePool pool;
    Manager<T> manager = Manager<T>(entities, pool);
    std::vector<Entity> ids, shuffled;
};

void compare_prefetched(Bench& bench, std::size_t n) {
    Managed<Body> bodies(n);
    auto& manager = bodies.manager;
    for (std::size_t i = 0; i < n; ++i) manager.set<&Body::mass>(manager.instance(bodies.ids[i]), float(i));
    std::vector<float> mine(n), other(n);
    const auto one_by_one = [&] {
        for (std::size_t i = 0; i < n; ++i) {
            const Instance instance = manager.instance(bodies.shuffled[i]);
            other[i] = instance ? manager.get<&Body::mass>(instance) : 0.0f;
        }
    };
    bench.compare(
        {"access/prefetched", n},
        {{}, [&] { manager.gather<&Body::mass>(bodies.shuffled, mine); }, [&] { return sum_in_order(&mine[0], n); }},
        {{}, one_by_one, [&] { return sum_in_order(&other[0], n); }});
}

SHOAL_BENCH_LOOP void integrate(float* __restrict p, const float* __restrict v, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) p[i] += v[i] * kDt;
}

void compare_cache_lines(Bench& bench, std::size_t n) {
    constexpr std::size_t kOff = 20 / sizeof(float);
    PlainColumn<float> p(n, 0), v(n, 1), shifted_p(n + kOff, 2), shifted_v(n + kOff, 3);
    for (std::size_t i = 0; i < n; ++i) v[i] = shifted_v[i + kOff] = float(i % 100);
    const auto place_in_line = [](const float& first) {
        return reinterpret_cast<std::uintptr_t>(&first) % kCacheLineBytes;
    };
    if (place_in_line(p[0]) != 0 || place_in_line(v[0]) != 0 || place_in_line(shifted_p[kOff]) != 20 ||
        place_in_line(shifted_v[kOff]) != 20)
        fail("access/cache_lines: the columns do not begin where they should");
    bench.compare({"access/cache_lines", n},
                  {{}, [&] { integrate(p.data(), v.data(), n); }, [&] { return sum_in_order(p.data(), n); }},
                  {{},
                   [&] { integrate(shifted_p.data() + kOff, shifted_v.data() + kOff, n); },
                   [&] { return sum_in_order(shifted_p.data() + kOff, n); }});
}

/// Writes enough memory to evict everything else from the caches.
void evict_caches() {
    static std::vector<std::uint64_t> buffer(std::size_t(256) << 17);
    for (std::size_t i = 0; i < buffer.size(); i += 8) ++buffer[i];
}

void compare_cold_components(Bench& bench) {
    constexpr std::size_t kEntities = 5'000, kPieces = 30, n = kEntities * kPieces;
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> ids(kEntities);
    struct alignas(kCacheLineBytes) Object {
        float value = 0;
    };
    std::vector<std::unique_ptr<Object>> objects(n);
    for (const std::uint32_t i : shuffled_numbers(n, 3)) objects[i] = std::make_unique<Object>();
    [&]<std::size_t... kNumbers>(std::index_sequence<kNumbers...>) {
        need_ok(database.create<Piece<kNumbers>...>(ids, 0));
        const auto step = [&] {
            (query<Write<&Piece<kNumbers>::value>>(database).for_each([](float& value) { value += kDt; }), ...);
        };
        const auto checksum = [&] {
            std::uint64_t result = 0;
            (query<Read<&Piece<kNumbers>::value>>(database).for_each([&](float value) { result += bits_of(value); }),
             ...);
            return result;
        };
        bench.compare({"access/cold_components", n}, {evict_caches, step, checksum},
                      {evict_caches,
                       [&] {
                           for (const auto& object : objects) object->value += kDt;
                       },
                       [&] {
                           std::uint64_t result = 0;
                           for (const auto& object : objects) result += bits_of(object->value);
                           return result;
                       }});
    }(std::make_index_sequence<kPieces>());
}

template <class T>
SHOAL_INLINE float sum_fields(const T& t) {
    return t.f0 + t.f1 + t.f2 + t.f3 + t.f4 + t.f5 + t.f6 + t.f7 + t.f8 + t.f9 + t.f10 + t.f11 + t.f12 + t.f13 + t.f14 +
           t.f15;
}

template <class T, auto... kMembers>
void compare_fields(Bench& bench, const std::string& name, std::size_t n) {
    if (!bench.wants(name)) return;
    Managed<T> things(n);
    PlainColumn<T> objects(n, 0);
    std::vector<Record> records(n);
    for (std::size_t i = 0; i < n; ++i) {
        objects[i] = T();
        objects[i].f3 = float(i % 100);
        things.manager.template set<&T::f3>(things.manager.instance(things.ids[i]), float(i % 100));
        if (things.ids[i].index() >= records.size()) records.resize(things.ids[i].index() + 1);
        records[things.ids[i].index()] = {things.ids[i].generation(), std::uint32_t(i)};
    }
    float mine = 0, other = 0;
    const auto with_manager = [&] {
        float sum = 0;
        for (const Entity entity : things.shuffled)
            if (const Instance at = things.manager.instance(entity))
                sum += (things.manager.template get<kMembers>(at) + ...);
        mine = sum;
    };
    const auto with_objects = [&] {
        float sum = 0;
        for (const Entity entity : things.shuffled)
            if (const Record& at = records[entity.index()]; at.generation == entity.generation())
                sum += sum_fields(objects[at.row]);
        other = sum;
    };
    bench.compare({name, n}, {{}, with_manager, [&] { return bits_of(mine); }},
                  {{}, with_objects, [&] { return bits_of(other); }});
}

template <class T>
void compare_single(Bench& bench, const std::string& name, std::size_t n) {
    compare_fields<T, &T::f0, &T::f1, &T::f2, &T::f3, &T::f4, &T::f5, &T::f6, &T::f7, &T::f8, &T::f9, &T::f10, &T::f11,
                   &T::f12, &T::f13, &T::f14, &T::f15>(bench, name, n);
}

/// Runs both functions in parallel.
template <class First, class Second>
void run_both(const First& first, const Second& second) {
    std::thread other(second);
    first();
    other.join();
}

SHOAL_BENCH_LOOP void add_one(float* values, std::size_t stride, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values[i * stride] += 1;
}

void compare_two_threads(Bench& bench, std::size_t n) {
    PlainColumn<float> f0(n, 0), f5(n, 1);
    PlainColumn<SixteenApart> objects(n, 2);
    const std::size_t stride = sizeof(SixteenApart) / sizeof(float);
    const auto apart = [&] { run_both([&] { add_one(f0.data(), 1, n); }, [&] { add_one(f5.data(), 1, n); }); };
    const auto in_objects = [&] {
        run_both([&] { add_one(&objects[0].f0, stride, n); }, [&] { add_one(&objects[0].f5, stride, n); });
    };
    const auto sum_objects = [&] {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result += bits_of(objects[i].f0) + 3 * bits_of(objects[i].f5);
        return result;
    };
    const auto sum_apart = [&] {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result += bits_of(f0[i]) + 3 * bits_of(f5[i]);
        return result;
    };
    bench.compare({.name = "access/two_threads", .n = n, .wall_time = true}, {{}, apart, sum_apart},
                  {{}, in_objects, sum_objects});
}

}  // namespace

void measure_access(Bench& bench) {
    for (const std::size_t n : bench.sizes(kSizes)) {
        if (bench.wants("access/prefetched")) compare_prefetched(bench, n);
        if (bench.wants("access/cache_lines")) compare_cache_lines(bench, n);
        compare_single<SixteenApart>(bench, "access/single", n);
        compare_single<SixteenWhole>(bench, "access/single_whole", n);
        if (bench.wants("access/two_threads")) compare_two_threads(bench, n);
    }
    if (bench.wants("access/cold_components")) compare_cold_components(bench);
}

}  // namespace shoal_bench

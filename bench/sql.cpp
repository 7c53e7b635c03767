// Compares SQL queries with loops that find the same results.
//
//     sql/scan    one column of all rows, added up
//     sql/join    two tables joined by entity, a column of each added up: a look-up per row
//     sql/rows    all rows of a table, given to a sink

#include "reference.h"
#include "workloads.h"

#if defined(SHOAL_BENCH_HAS_SQL)

#include "shoal/query/query.h"
#include "shoal/sql/sql.h"
#include "shoal/world/world.h"

#include <string>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct Crate {
    float mass = 0, value = 0;
};
SHOAL_COMPONENT((Crate, name("crate")), mass, value)
struct Cargo {
    std::int32_t count = 0;
};
SHOAL_COMPONENT((Cargo, name("cargo")), count)

namespace {

/// Crates with integral masses, whose sums are exact, and their cargo in a different order.
struct Hold {
    explicit Hold(std::size_t n) : world(entities), connection(world) {
        std::vector<Entity> ids(n), mixed(n);
        std::vector<Crate> crates(n);
        std::vector<Cargo> cargo(n);
        need_ok(entities.create(ids));
        for (std::size_t i = 0; i < n; ++i) {
            crates[i] = {float(mix(i) % 1024), float(i % 7)};
            cargo[i] = {std::int32_t(mix(i + n) % 1024)};
            mixed[i] = ids[(i * 7919) % n];
        }
        need(world.manager<Crate>().add(ids, std::span<const Crate>(crates)));
        need(world.manager<Cargo>().add(mixed, std::span<const Cargo>(cargo)));
    }

    EntityManager entities;
    World world;
    sql::Connection connection;
};

const sql::Options kUnlimited{.max_rows = ~std::uint64_t(0), .max_bytes = std::uint64_t(1) << 40, .max_seconds = 1e6};

/// Compares a query that returns a single number to a loop that computes the number.
template <class Loop>
void compare_sums(Bench& bench, const std::string& name, Hold& hold, std::size_t n, std::string_view text,
                  Loop&& loop) {
    if (!bench.wants(name)) return;
    double asked = 0, looped = 0;
    bench.compare({.name = name, .n = n, .target = name == "sql/join" ? from_100k(n, 40) : 0},
                  {.run = [&] { asked = need(hold.connection.ask(text, kUnlimited)).at(0, 0).number(); },
                   .checksum = [&] { return static_cast<std::uint64_t>(asked); }},
                  {.run = [&] { looped = loop(); }, .checksum = [&] { return static_cast<std::uint64_t>(looped); }});
}

struct SumSink final : sql::RowSink {
    void begin(const std::vector<sql::Column>&) override {}
    bool take(const sql::Row& row) override { return sum += row[1].real + row[2].real, true; }
    double sum = 0;
};

void compare_rows(Bench& bench, Hold& hold, std::size_t n) {
    if (!bench.wants("sql/rows")) return;
    double asked = 0, looped = 0;
    auto crates = hold.world.query<Read<&Crate::mass>, Read<&Crate::value>>();
    bench.compare({.name = "sql/rows", .n = n},
                  {.run =
                       [&] {
                           SumSink sink;
                           need(hold.connection.ask("SELECT entity, mass, value FROM crate", sink, kUnlimited));
                           asked = sink.sum;
                       },
                   .checksum = [&] { return static_cast<std::uint64_t>(asked); }},
                  {.run =
                       [&] {
                           looped = 0;
                           crates.for_each([&](float mass, float value) { looped += double(mass) + double(value); });
                       },
                   .checksum = [&] { return static_cast<std::uint64_t>(looped); }});
}

}  // namespace

void measure_sql(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 1'000'000})) {
        if (!bench.wants("sql/scan") && !bench.wants("sql/join") && !bench.wants("sql/rows")) return;
        Hold hold(n);
        auto masses = hold.world.query<Read<&Crate::mass>>();
        auto both = hold.world.query<Read<&Crate::mass>, Read<&Cargo::count>>();
        compare_sums(bench, "sql/scan", hold, n, "SELECT sum(mass) FROM crate", [&] {
            double sum = 0;
            masses.for_each([&](float mass) { sum += double(mass); });
            return sum;
        });
        compare_sums(bench, "sql/join", hold, n, "SELECT sum(mass + count) FROM crate JOIN cargo USING (entity)", [&] {
            double sum = 0;
            both.for_each([&](float mass, std::int32_t count) { sum += double(mass) + count; });
            return sum;
        });
        compare_rows(bench, hold, n);
    }
}

}  // namespace shoal_bench

#else

namespace shoal_bench {
void measure_sql(Bench&) {}
}  // namespace shoal_bench

#endif

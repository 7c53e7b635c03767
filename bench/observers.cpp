// Measures the cost of observers that find entities with an added or changed component.

#include "shoal/react/observers.h"
#include "shoal/query/query.h"
#include "shoal/world/world.h"

#include "body_components.h"
#include "plain_sea.h"
#include "workloads.h"

#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

/// A world with a manager. Each run adds n entities, which are removed before the next run.
struct Gate {
    explicit Gate(std::size_t n) : entities({.max_entities = n}), world(entities), ids(n), values(n, Mass{2}) {
        need_ok(entities.create(ids));
    }
    void leave() {
        masses.clear();
        world.settle();
    }
    void join() {
        need_ok(masses.add(ids, std::span<const Mass>(values)));
        world.settle();
    }

    EntityManager entities;
    World world;
    Manager<Mass>& masses = world.manager<Mass>();
    std::vector<Entity> ids;
    std::vector<Mass> values;
};

/// Compares adding with an observer to adding without.
void on_add(Bench& bench, std::size_t n) {
    if (!bench.wants("observers/on_add")) return;
    Gate heard(n), unheard(n);
    std::size_t num_told = 0;
    heard.world.observers().on_add<Mass>([&](std::span<const Entity> added) { num_told += added.size(); });
    bench.compare({"observers/on_add", n, n == 100'000 ? 1.3 : 0},
                  {[&] { heard.leave(), num_told = 0; }, [&] { heard.join(); }, [&] { return num_told; }},
                  {[&] { unheard.leave(); }, [&] { unheard.join(); }, [&] { return unheard.masses.num_rows(); }});
}

/// Creates entities in one call, with a function that reads the new values, against plain arrays.
void on_create(Bench& bench, std::size_t n) {
    if (!bench.wants("observers/on_create")) return;
    EntityManager entities({.minimum_free_ids = 1, .max_entities = n, .max_death_list = 1});
    World world(entities);
    Database& database = world.database();
    database.component<Position>();
    database.component<Mass>();
    PlainIds plain_ids(n);
    PlainSea plain(n + 1, n);
    const BodyValues values(n);
    std::vector<Position> positions(n);
    std::vector<Mass> masses(n);
    for (std::size_t i = 0; i < n; ++i) positions[i] = {values.position[i]}, masses[i] = {values.mass[i]};
    std::vector<Entity> ids(n), plain_ids_now(n);
    float told = 0, plain_told = 0;
    world.observers().on_add<Mass>([&](std::span<const Entity>, std::span<const Mass> added) {
        for (const Mass& mass : added) told += mass.value;
    });
    bench.compare({"observers/on_create", n, n == 100'000 ? 1.5 : 0},
                  {[&] {
                       database.destroy(ids);
                       world.settle();
                       told = 0;
                   },
                   [&] {
                       need_ok((database.create<Position, Mass>(ids, 0, positions, masses)));
                       world.settle();
                   },
                   [&] { return std::uint64_t(told); }},
                  {[&] {
                       for (const Entity entity : plain_ids_now)
                           if (entity) plain_ids.destroy(entity) && plain.remove(entity);
                       plain_told = 0;
                   },
                   [&] {
                       plain_ids.create_all(plain_ids_now);
                       plain.add_all(PlainSea::kHeavy, plain_ids_now, values.position.data(), nullptr,
                                     values.mass.data());
                       const PlainSea::Columns& table = plain.table(PlainSea::kHeavy);
                       for (std::size_t row = 0; row < table.num_rows; ++row) plain_told += table.mass[row];
                   },
                   [&] { return std::uint64_t(plain_told); }});
}

/// One value in a hundred of a column changes and is found. The reference compares the column with a copy.
void on_change(Bench& bench, std::size_t n) {
    if (!bench.wants("observers/on_change")) return;
    Gate heard(n);
    heard.join();
    std::size_t num_told = 0;
    std::uint64_t sum = 0;
    heard.world.observers().on_change<&Mass::value>([&](std::span<const Entity> changed) {
        num_told = changed.size();
        for (const Entity entity : changed) sum += entity.index();
    });
    std::vector<float> now(n, 2), before(n, 2);
    std::uint64_t plain_sum = 0;
    float heard_value = 2, plain_value = 2;
    std::vector<std::uint32_t> changed;
    const auto all = query<Write<&Mass::value>>(heard.masses);
    bench.compare({"observers/on_change", n, 0},
                  {[&] {
                       std::size_t row = 0;
                       heard_value += 1;
                       all.for_each([&](auto&& mass) { mass = row++ % 100 == 0 ? heard_value : mass; });
                   },
                   [&] { heard.world.settle(); }, [&] { return num_told; }},
                  {[&] {
                       plain_value += 1;
                       for (std::size_t row = 0; row < n; row += 100) now[row] = plain_value;
                   },
                   [&] {
                       changed.clear();
                       for (std::size_t row = 0; row < n; ++row)
                           if (now[row] != before[row]) changed.push_back(static_cast<std::uint32_t>(row));
                       before = now;
                       for (const std::uint32_t row : changed) plain_sum += row;
                   },
                   [&] { return changed.size(); }});
}

}  // namespace

void measure_observers(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) {
        on_add(bench, n);
        on_create(bench, n);
        on_change(bench, n);
    }
}

}  // namespace shoal_bench

// Measures the resident memory of an entity with 28 bytes of data, including its id, owner and index entry. The
// reported time is for building everything from scratch.

#include "body_components.h"
#include "plain_bodies.h"
#include "shoal/database/database.h"
#include "workloads.h"

#include <optional>
#include <vector>

namespace shoal_bench {

using namespace shoal;

namespace {

constexpr std::initializer_list<std::size_t> kMemorySizes = {100'000, 1'000'000};

/// Adds one column to a manager of a component with one field.
template <class T>
void add_column(Manager<T>& manager, std::span<const Entity> entities, const void* values) {
    need(manager.core().add(
        entities,
        [](void* context, Table& table, RowRange rows, std::size_t first) {
            const std::byte* columns[] = {static_cast<const std::byte*>(context) + first * sizeof(T)};
            table.copy_columns(rows, columns);
        },
        const_cast<void*>(values)));
}

struct OneManager {
    OneManager(std::span<Entity> ids, const BodyValues& values) : bodies(entities, pool) {
        need_ok(entities.create(ids));
        need(bodies.core().add(
            ids,
            [](void* context, Table& table, RowRange rows, std::size_t first) {
                const auto& from = *static_cast<const BodyValues*>(context);
                const std::byte* columns[] = {reinterpret_cast<const std::byte*>(from.position.data() + first),
                                              reinterpret_cast<const std::byte*>(from.velocity.data() + first),
                                              reinterpret_cast<const std::byte*>(from.mass.data() + first)};
                table.copy_columns(rows, columns);
            },
            const_cast<BodyValues*>(&values)));
    }
    std::uint64_t num_rows() const { return bodies.num_rows(); }

    EntityManager entities;
    PagePool pool;
    Manager<Body> bodies;
};

struct ThreeManagers {
    ThreeManagers(std::span<Entity> ids, const BodyValues& values)
        : position(entities, pool), velocity(entities, pool), mass(entities, pool) {
        need_ok(entities.create(ids));
        add_column(position, ids, values.position.data());
        add_column(velocity, ids, values.velocity.data());
        add_column(mass, ids, values.mass.data());
    }
    std::uint64_t num_rows() const { return mass.num_rows(); }

    EntityManager entities;
    PagePool pool;
    Manager<Position> position;
    Manager<Velocity> velocity;
    Manager<Mass> mass;
};

/// The same data as three component types in a database.
struct InDatabase {
    InDatabase(std::span<Entity> ids, const BodyValues& values) : database(entities, pool) {
        const void* columns[] = {values.position.data(), values.velocity.data(), values.mass.data()};
        const std::byte* const bytes[] = {static_cast<const std::byte*>(columns[0]),
                                          static_cast<const std::byte*>(columns[1]),
                                          static_cast<const std::byte*>(columns[2])};
        const ComponentValues given[] = {{.component = database.component<Position>(), .columns = {&bytes[0], 1}},
                                         {.component = database.component<Velocity>(), .columns = {&bytes[1], 1}},
                                         {.component = database.component<Mass>(), .columns = {&bytes[2], 1}}};
        need_ok(database.create(ids, database.archetype<Position, Velocity, Mass>(), 0, given));
    }
    std::uint64_t num_rows() const { return database.num_rows(); }

    EntityManager entities;
    PagePool pool;
    Database database;
};

/// A plain table, and a record per entity.
struct PlainBodyTable {
    PlainBodyTable(std::span<Entity> ids, const BodyValues& values) : bodies(ids.size() + 1, ids.size()) {
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = make_entity(static_cast<std::uint32_t>(i + 1), 1);
        bodies.add_all(ids, values.position.data(), values.velocity.data(), values.mass.data());
    }
    std::uint64_t num_rows() const { return bodies.num_rows(); }

    PlainBodies bodies;
};

template <class T>
double bytes_of(std::span<Entity> ids, const BodyValues& values) {
    const double before = resident_bytes();
    const T made(ids, values);
    return (resident_bytes() - before) / double(ids.size());
}

template <class T>
Side making(std::optional<T>& made, std::span<Entity> ids, const BodyValues& values) {
    return {[&] { made.reset(); }, [&made, ids, &values] { made.emplace(ids, values); },
            [&] { return made->num_rows(); }};
}

template <class T>
void measure(Bench& bench, const std::string& name, std::size_t n, double target_bytes) {
    if (!bench.wants(name)) return;
    const BodyValues values(n);
    std::vector<Entity> ids(n, make_entity(1, 1));
    const double mine_bytes = bytes_of<T>(ids, values), other_bytes = bytes_of<PlainBodyTable>(ids, values);
    std::optional<T> mine;
    std::optional<PlainBodyTable> other;
    bench.compare({name, n}, making(mine, ids, values), making(other, ids, values), [&](Measurement& result) {
        result.bytes_per_entity = mine_bytes;
        result.reference_bytes_per_entity = other_bytes;
        result.target_bytes = n >= 1'000'000 ? target_bytes : 0;
    });
}

}  // namespace

void measure_memory(Bench& bench) {
    for (const std::size_t n : bench.sizes(kMemorySizes)) {
        measure<OneManager>(bench, "memory/one_manager_three_fields", n, 40);
        measure<ThreeManagers>(bench, "memory/three_managers", n, 56);
        measure<InDatabase>(bench, "memory/database_three_components", n, 42);
    }
}

}  // namespace shoal_bench

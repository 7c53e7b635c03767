// Compares commands from passes with immediate calls that make the same changes.

#include "shoal/command/commands.h"
#include "shoal/query/query.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/world/world.h"

#include "body_components.h"
#include "plain_bodies.h"
#include "reference.h"
#include "workloads.h"

#include <string>
#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

/// n entities that are all destroyed and created again in every frame.
struct Tide {
    explicit Tide(std::size_t count) : ids(count), positions(count), velocities(count), masses(count) {
        for (std::size_t i = 0; i < count; ++i) {
            const Body body = body_of(i);
            positions[i] = {body.position};
            velocities[i] = {body.velocity};
            masses[i] = {body.mass};
        }
        create();
    }
    void create() {
        need_ok(database.create<Position, Velocity, Mass>(ids, 0, std::span<const Position>(positions),
                                                          std::span<const Velocity>(velocities),
                                                          std::span<const Mass>(masses)));
    }

    void run_at_once() {
        if (database.destroy(ids) != ids.size()) fail("an entity was dead");
        create();
        database.settle({});
    }
    void run_with_commands() {
        everyone.for_each(
            [](Commands& commands, Entity entity, const Vec3& position, const Vec3& velocity, float mass) {
                commands.destroy(entity);
                commands.create(0, Position{position}, Velocity{velocity}, Mass{mass});
            });
        SettleCounts counts;
        database.settle({.counts = &counts});
        if (counts.num_created != ids.size() || counts.num_destroyed != ids.size()) fail("a command was dropped");
    }
    std::uint64_t sum() const {
        std::uint64_t result = 0;
        everyone.for_each([&](const Vec3& position, const Vec3& velocity, float mass) {
            result += bits_of(kNullEntity, position, velocity, mass);
        });
        return result + database.num_rows();
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    std::vector<Entity> ids;
    std::vector<Position> positions;
    std::vector<Velocity> velocities;
    std::vector<Mass> masses;
    decltype(query<Read<&Position::value>, Read<&Velocity::value>, Read<&Mass::value>>(database)) everyone =
        query<Read<&Position::value>, Read<&Velocity::value>, Read<&Mass::value>>(database);
};

/// Adds a component of a manager to `n` entities: by commands from a pass, against one call with spans.
void any_store(Bench& bench, std::size_t n) {
    if (!bench.wants("commands/any_store")) return;
    EntityManager entities({.max_entities = n});
    World world(entities), plain_world(entities);
    std::vector<Entity> ids(n);
    need_ok(entities.create(ids));
    const std::vector<Mass> masses(n, Mass{2});
    auto& asked = world.manager<Mass>();
    auto& direct = plain_world.manager<Mass>();
    need_ok(world.manager<Position>().add(ids, Position{}));
    world.database();
    const auto all = world.query<Read<&Position::value>>();
    bench.compare(
        {"commands/any_store", n, n == 100'000 ? 2.0 : 0},
        {[&] { asked.clear(); },
         [&] {
             all.for_each([](Commands& commands, Entity entity, const Vec3&) { commands.add(entity, Mass{2}); });
             world.settle();
         },
         [&] { return std::uint64_t(asked.num_rows()); }},
        {[&] { direct.clear(); },
         [&] {
             need_ok(direct.add(ids, std::span<const Mass>(masses)));
             plain_world.settle();
         },
         [&] { return std::uint64_t(direct.num_rows()); }});
}

/// A prefab of 8 entities, and a world with `n` ships that each spawn a copy of it.
struct Shipyard {
    explicit Shipyard(std::size_t n) : ships(n) {
        need_ok(entities.create(ships));
        need_ok(world.manager<Velocity>().add(ships, Velocity{}));
        world.manager<Mass>();
        world.manager<Position>();
        world.database();
    }
    static std::vector<std::byte> make_prefab() {
        BlobWriter writer;
        const std::uint32_t mass = *writer.add_component_type(schema_of<Mass>());
        const std::uint32_t position = *writer.add_component_type(schema_of<Position>());
        for (std::uint32_t i = 0; i < 8; ++i) {
            const std::uint32_t entity = writer.add_entity({});
            writer.add_component(mass, entity, blob_default_image(schema_of<Mass>()));
            writer.add_component(position, entity, blob_default_image(schema_of<Position>()));
        }
        return *writer.write();
    }
    void clear() {
        const std::vector<Entity> made(masses.entities().begin(), masses.entities().end());
        entities.destroy(made);
        world.settle();
    }
    std::uint64_t sum() const { return masses.num_rows() + entities.num_alive(); }

    EntityManager entities;
    World world{entities};
    Manager<Mass>& masses = world.manager<Mass>();
    std::vector<Entity> ships;
    std::vector<std::byte> bytes = make_prefab();
    Blob prefab = std::move(Blob::view(bytes)).value();
};

/// Compares a pass that spawns a prefab for each of `n` ships with one call that spawns all copies.
void spawn_from_pass(Bench& bench, std::size_t n) {
    if (!bench.wants("commands/spawn_from_pass")) return;
    Shipyard asked(n), direct(n);
    const auto all = asked.world.query<Read<&Velocity::value>>();
    bench.compare({"commands/spawn_from_pass", n, n == 10'000 ? 1.5 : 0},
                  {[&] { asked.clear(); },
                   [&] {
                       all.for_each([&](Commands& commands, Entity, const Vec3&) { commands.spawn(asked.prefab); });
                       asked.world.settle();
                   },
                   [&] { return asked.sum(); }},
                  {[&] { direct.clear(); },
                   [&] {
                       need_ok(direct.world.spawn(direct.prefab, {.copies = std::uint32_t(n), .keep_names = false}));
                       direct.world.settle();
                   },
                   [&] { return direct.sum(); }});
}

}  // namespace

void measure_commands(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) any_store(bench, n);
    for (const std::size_t n : bench.sizes({1'000, 10'000})) spawn_from_pass(bench, n);
    if (!bench.wants("command_log/destroy_and_create")) return;
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) {
        Tide asked(n), direct(n);
        bench.compare({"command_log/destroy_and_create", n, n == 100'000 ? 2.0 : 0},
                      {nullptr, [&] { asked.run_with_commands(); }, [&] { return asked.sum(); }},
                      {nullptr, [&] { direct.run_at_once(); }, [&] { return direct.sum(); }});
    }
}

}  // namespace shoal_bench

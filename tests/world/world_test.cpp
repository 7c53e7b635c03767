// Worlds: stores, steps, the hash of the state, pins, and adopted schemas.

#include "shoal/world/world.h"

#include "shoal/command/commands.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/migration.h"
#include "shoal/save/state_hash.h"
#include "support/rendezvous.h"
#include "support/testing.h"

#include <cstring>
#include <map>
#include <vector>

namespace {

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, mass, position, velocity)

struct Path {
    BlobArray<float> distances;
    Entity owner;
};
SHOAL_COMPONENT(Path, distances, owner)

struct Plain {
    char letter = 'a';
    double number = 2;
};
SHOAL_COMPONENT((Plain, whole), letter, number)

TEST(World, a_manager_is_made_once_and_found_by_its_component) {
    const shoal_test::LeakCheck leaks;
    EntityManager entities;
    World world(entities);
    auto& bodies = world.manager<Body>();
    EXPECT_EQ(&bodies, &world.manager<Body>());
    EXPECT_EQ(world.directory().find(schema_of<Body>().id()), &bodies.core());
    EXPECT_EQ(world.directory().find(schema_of<Path>().id()), nullptr);
    EXPECT_EQ(world.directory().stores().size(), 1u);
}

TEST(World, a_component_type_without_a_struct_gets_a_manager_from_its_schema) {
    EntityManager entities;
    World world(entities);
    ComponentDefinition definition;
    definition.name = "coral";
    definition.fields.push_back({.name = "height"});
    const Schema schema = Schema::make(definition).value();
    const Result<ComponentManager*> made = world.manager(schema);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(*made, world.manager(schema).value());
    definition.fields.push_back({.name = "colour", .type = FieldType::kVec3});
    const Result<ComponentManager*> other = world.manager(Schema::make(definition).value());
    EXPECT_EQ(
        other.message(),
        "the world has another store for \"coral\": coral v1 {height float}, not coral v1 {height float, colour vec3}");
}

struct Scent {
    float strength = 1;
    Entity of;
};
SHOAL_COMPONENT((Scent, whole), strength, of)

/// A store of a program's own, without tables, rows and an index of the library: a map from entities to scents.
class ScentMap final : public Store {
public:
    ScentMap(EntityManager& entities, PagePool&) : entities_(entities) {}

    std::span<const Schema* const> schemas() const override { return {&schema_, 1}; }
    Status spawn(const SpawnBatch& batch) override {
        require_batch(batch, *schema_);
        for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
            for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
                Scent scent;
                std::memcpy(static_cast<void*>(&scent), batch.columns[0] + i * sizeof scent, sizeof scent);
                scent.of = batch.translate(copy, scent.of);
                scents[batch.owner(copy, i)] = scent;
            }
        return {};
    }
    void drop(std::span<const Entity> dropped) override {
        for (const Entity entity : dropped) scents.erase(entity);
    }
    void settle(const SettleContext& context) override {
        const std::size_t num_dead =
            std::erase_if(scents, [&](const auto& entry) { return !entities_.alive(entry.first); });
        if (context.counts != nullptr) context.counts->num_removed += num_dead;
    }
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics> out) const override {
        if (!out.empty()) out[0] = {.component = schema_->name(), .num_rows = scents.size()};
        return 1;
    }

    std::map<Entity, Scent> scents;

private:
    EntityManager& entities_;
    const Schema* schema_ = &schema_of<Scent>();
};

/// Three bodies; 1 and 2 smell, of 0 and of nobody.
Blob make_smelling() {
    BlobWriter writer;
    const std::uint32_t scent = *writer.add_component_type(schema_of<Scent>(), 0);
    const std::uint32_t body = *writer.add_component_type(schema_of<Body>(), 1);
    const std::uint32_t plain = *writer.add_component_type(schema_of<Plain>(), 2);
    for (std::uint32_t i = 0; i < 3; ++i) {
        writer.add_entity({});
        const Body value{.mass = float(i + 1)};
        writer.add_component(body, i, std::as_bytes(std::span(&value, 1)));
    }
    for (std::uint32_t i = 1; i < 3; ++i) {
        const Scent value{float(10 * i), Entity{i == 1 ? EntityBits(0) : static_cast<EntityBits>(~EntityBits(0))}};
        writer.add_component(scent, i, std::as_bytes(std::span(&value, 1)));
    }
    std::byte image[sizeof(Plain)] = {};
    writer.add_component(plain, 0, image);
    return *Blob::load(*writer.write());
}

// req: A1
TEST(World, a_store_of_the_programs_own_takes_part_beside_managers) {
    EntityManager entities;
    World world(entities);
    auto& bodies = world.manager<Body>();
    ScentMap& scents = world.make_store<ScentMap>();
    EXPECT_EQ(world.directory().find(schema_of<Scent>().id()), &scents);
    const Blob blob = make_smelling();
    bool fails = true;
    const auto spawn_plain = [](void* context, const SpawnBatch&) {
        return *static_cast<const bool*>(context) ? Status::error("no plain ones today") : Status();
    };
    ASSERT_TRUE(world.registry().set_spawn_function("plain", spawn_plain, &fails));
    EXPECT_FALSE(world.spawn(blob, {.copies = 3}));
    EXPECT_TRUE(scents.scents.empty()) << "what fails is undone in it as in managers";
    EXPECT_EQ(bodies.num_rows(), 0u);
    fails = false;
    Result<Spawned> spawned = world.spawn(blob, {.copies = 3});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(spawned->unknown().empty());
    EXPECT_EQ(bodies.num_rows(), 9u);
    ASSERT_EQ(scents.scents.size(), 6u);
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        const auto id = [&](std::uint32_t i) { return spawned->entity(i, copy); };
        EXPECT_EQ(scents.scents.count(id(0)), 0u);
        EXPECT_EQ(scents.scents[id(1)].strength, 10);
        EXPECT_EQ(scents.scents[id(1)].of, id(0));
        EXPECT_EQ(scents.scents[id(2)].strength, 20);
        EXPECT_EQ(scents.scents[id(2)].of, kNullEntity);
        for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(bodies.get<&Body::mass>(bodies.instance(id(i))), float(i + 1));
    }
    const Entity gone[] = {spawned->entity(1, 0), spawned->entity(2, 1)};
    EXPECT_EQ(entities.destroy(gone), 2u);
    world.step(0.1f);
    EXPECT_EQ(scents.scents.size(), 4u);
    EXPECT_EQ(scents.scents.count(gone[0]) + scents.scents.count(gone[1]), 0u);
    EXPECT_EQ(bodies.num_rows(), 7u);
    EXPECT_EQ(world.settle_statistics().last.num_removed, 4u) << "both stores have settled";
}

// req: A1
TEST(World, an_attached_store_is_settled_and_reported_but_stays_its_owners) {
    EntityManager entities;
    PagePool pool;
    Manager<Body> bodies(entities, pool);
    World world(entities);
    ASSERT_TRUE(world.attach(bodies.core()).ok());
    EXPECT_EQ(world.attach(bodies.core()).message(), "the store is attached to this world already");
    Entity entity = entities.create().value();
    ASSERT_TRUE(bodies.add(entity).ok());
    entities.destroy(entity);
    world.settle();
    EXPECT_EQ(bodies.num_rows(), 0u);
    world.detach(bodies.core());
    EXPECT_TRUE(world.directory().stores().empty());
}

// req: A9
TEST(World, step_runs_the_passes_and_then_settles) {
    EntityManager entities;
    World world(entities);
    auto& bodies = world.manager<Body>();
    std::vector<Entity> owners(100);
    ASSERT_TRUE(entities.create(owners).ok());
    ASSERT_TRUE(bodies.add(owners, {.velocity = {2, 0, 0}}).ok());
    const std::uint64_t stamp = world.stamp();
    world.schedule().add("move", query<Write<&Body::position>, Read<&Body::velocity>>(bodies),
                         [](auto&& p, Vec3 v) { p += v * 0.5f; });
    world.commands();  // made before passes run
    world.schedule().add("cull", [&](PassContext&) { world.commands().destroy(std::span(owners).first(40)); });
    world.step(0.5f);
    EXPECT_EQ(bodies.num_rows(), 60u) << "what a pass asks for is done at the end of the step";
    EXPECT_EQ(world.frame(), 1u);
    EXPECT_GT(world.stamp(), stamp);
    for (const Vec3& p : bodies.column<&Body::position>()) EXPECT_EQ(p.x, 1);
}

// req: A9
TEST(World, state_hash_tells_states_apart_and_not_workers) {
    const auto run = [](std::uint32_t num_workers, float speed) {
        EntityManager entities;
        const auto executor = std::make_unique<shoal::ThreadedExecutor>(num_workers);
        World world(entities, {.executor = executor.get(), .seed = 7});
        auto& bodies = world.manager<Body>({.death = DeathPolicy::kRandomProbe});
        std::vector<Entity> owners(20'000);
        EXPECT_TRUE(entities.create(owners).ok());
        EXPECT_TRUE(bodies.add(owners, {.velocity = {speed, 1, 2}}).ok());
        shoal_test::Rendezvous threads(num_workers);
        world.schedule().add("move", query<Write<&Body::position>, Read<&Body::velocity>>(bodies),
                             [&](auto&& p, Vec3 v) { threads.enter(), p += v * 0.1f; });
        entities.destroy(std::span(owners).subspan(100, 3000));
        for (int frame = 0; frame < 5; ++frame) world.step(0.1f);
        EXPECT_EQ(threads.num_threads(), num_workers) << "each has run a part of a pass";
        return state_hash(world);
    };
    const std::uint64_t hash = run(1, 3);
    EXPECT_EQ(run(2, 3), hash);
    EXPECT_EQ(run(3, 3), hash);
    EXPECT_NE(run(1, 4), hash);
}

TEST(World, state_hash_leaves_the_padding_of_whole_components_out) {
    std::uint64_t hashes[2];
    for (int dirt = 0; dirt < 2; ++dirt) {
        EntityManager entities;
        World world(entities);
        auto& plain = world.manager<Plain>();
        const Entity entity = entities.create().value();
        ASSERT_TRUE(plain.add(entity, {'x', 5}).ok());
        std::byte* image = plain.core().table().write_column(0);
        image[1] = std::byte(dirt * 255);  // between the letter and the number
        hashes[dirt] = state_hash(world);
    }
    EXPECT_EQ(hashes[0], hashes[1]);
}

/// A blob of two entities with one path each; the second refers to the first.
std::vector<std::byte> path_blob() {
    BlobWriter writer;
    writer.set_name("paths/two");
    writer.add_entity({});
    writer.add_entity({});
    const std::uint32_t type = writer.add_component_type(schema_of<Path>(), 0).value();
    const float distances[] = {1, 2, 3};
    for (std::uint32_t entity = 0; entity < 2; ++entity) {
        Path path;
        static_cast<BlobArrayBase&>(path.distances) =
            writer.add_array(FieldType::kFloat, std::as_bytes(std::span(distances)).subspan(0, 4 * (2 + entity)));
        std::byte image[sizeof(Path)];
        std::memcpy(image, &path, sizeof image);
        const EntityBits owner = 0;
        std::memcpy(image + offsetof(Path, owner), &owner, sizeof owner);
        writer.add_component(type, entity, image);
    }
    Result<std::vector<std::byte>> bytes = writer.write();
    EXPECT_TRUE(bytes.ok()) << bytes.message();
    return std::move(bytes).value();
}

// req: D8-D9
TEST(World, rows_pin_the_blob_that_their_arrays_lie_in) {
    EntityManager entities;
    ResourceLibrary library;
    World world(entities, {.library = &library});
    World other(entities, {.library = &library});
    auto& paths = world.manager<Path>();
    const Result<const Blob*> blob = library.load(path_blob());
    ASSERT_TRUE(blob.ok()) << blob.message();
    Result<Spawned> spawned = world.spawn(**blob, {.copies = 3});
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    EXPECT_EQ(paths.num_rows(), 6u);

    const Instance second = paths.instance(spawned->entity(1, 2));
    EXPECT_EQ(library.view(paths.get<&Path::distances>(second)).size(), 3u);
    EXPECT_EQ(paths.get<&Path::owner>(second), spawned->entity(0, 2));

    const Status refused = library.unload("paths/two");
    EXPECT_NE(refused.message().find("6"), std::string_view::npos) << refused.message();
    EXPECT_EQ(spawned->destroy(entities), 6u);
    world.settle();
    EXPECT_TRUE(library.unload("paths/two").ok());
}

// req: D8-D9
TEST(World, values_that_wait_in_commands_pin_the_blob_that_their_arrays_lie_in) {
    EntityManager entities;
    ResourceLibrary library;
    World world(entities, {.library = &library});
    Database& database = world.database();
    const Result<const Blob*> blob = library.load(path_blob());
    ASSERT_TRUE(blob.ok()) << blob.message();
    Path path;
    std::memcpy(static_cast<void*>(&path), (*blob)->component_types()[0].columns[0], sizeof path.distances);
    ASSERT_EQ(library.view(path.distances).size(), 2u);

    const Entity fish = entities.create().value();
    database.commands().add(fish, path);
    database.commands().create(3, path);
    database.commands().create(3, Path{}, Body{});
    const ComponentValues given[] = {
        {.component = database.component<Path>(), .images = reinterpret_cast<const std::byte*>(&path)}};
    database.commands().add(fish, database, given);
    EXPECT_EQ(library.unload("paths/two").message(),
              "the resource \"paths/two\" cannot be unloaded: 3 values in rows and commands refer to it; remove them "
              "first");
    world.settle();
    EXPECT_NE(library.unload("paths/two").message().find(": 2 values"), std::string_view::npos) << "two rows";
    EXPECT_EQ(database.num_rows(), 3u);
    database.commands().remove<Path>(fish);
    world.settle();
    database.clear_zone(3);
    world.settle();
    EXPECT_TRUE(library.unload("paths/two").ok());
}

TEST(World, component_types_of_a_blob_without_a_store_can_be_adopted) {
    const std::vector<std::byte> bytes = path_blob();
    const Result<Blob> blob = Blob::view(bytes);
    ASSERT_TRUE(blob.ok()) << blob.message();
    EntityManager entities;
    World world(entities);
    Result<Spawned> skipped = world.spawn(*blob);
    ASSERT_TRUE(skipped.ok());
    ASSERT_EQ(skipped->unknown().size(), 1u);
    EXPECT_EQ(skipped->unknown()[0].name, "path");
    EXPECT_EQ(skipped->unknown()[0].count, 2u);
    EXPECT_FALSE(world.spawn(*blob, {.fail_on_unknown = true}).ok());
    EXPECT_EQ(entities.num_alive(), 2u);

    ASSERT_TRUE(world.adopt_schemas(*blob).ok());
    Result<Spawned> spawned = world.spawn(*blob);
    ASSERT_TRUE(spawned.ok());
    EXPECT_TRUE(spawned->unknown().empty());
    EXPECT_EQ(world.directory().find(schema_of<Path>().id())->tables()[0]->num_rows(), 2u);
}

// req: C3 C4
TEST(World, the_same_entity_can_be_in_two_worlds_and_leaves_both_when_it_dies) {
    EntityManager entities;
    World game(entities), inventory(entities);
    const Entity pickaxe = entities.create().value();
    ASSERT_TRUE(game.manager<Body>().add(pickaxe, {.position = {1, 0, 0}}).ok());
    ASSERT_TRUE(inventory.manager<Body>().add(pickaxe, {.position = {0, 2, 0}}).ok());
    entities.destroy(pickaxe);
    game.settle();
    EXPECT_EQ(game.manager<Body>().num_rows(), 0u);
    EXPECT_EQ(inventory.manager<Body>().num_rows(), 1u);
    inventory.settle();
    EXPECT_EQ(inventory.manager<Body>().num_rows(), 0u);
}

TEST(World, rows_of_a_store_made_late_count_as_changed_since_then) {
    EntityManager entities;
    World world(entities);
    for (int i = 0; i < 3; ++i) world.settle();
    Database& sea = world.database();
    Entity fish[1];
    ASSERT_TRUE(sea.create<Body>(fish, 0));
    int num_changed = 0;
    const auto all = query<Read<&Body::position>>(sea);
    all.changed_since(world.stamp()).for_each([&](Vec3) { ++num_changed; });
    EXPECT_EQ(num_changed, 1);
    world.settle();
    all.changed_since(world.stamp()).for_each([&](Vec3) { ++num_changed; });
    EXPECT_EQ(num_changed, 1);
}

// --- blobs of older versions ---------------------------------------------------------------------------------------

struct Hull {
    float armor = 20;
    std::int32_t crew = 3;
};
SHOAL_COMPONENT((Hull, version(2)), armor, crew)

/// A blob with two hulls of version 1, which called the armor otherwise and had no crew.
Blob old_fleet() {
    ComponentDefinition definition;
    definition.name = "hull";
    definition.fields = {{.name = "armour"}};
    BlobWriter writer;
    writer.set_name("fleet");
    const std::uint32_t type = *writer.add_component_type(Schema::make(definition).value());
    for (const float armor : {5.0f, 6.0f})
        writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&armor, 1)));
    return Blob::load(*writer.write()).value();
}

/// Where hulls are kept: 0 a manager, 1 the database, 2 where the blob's schema goes.
struct OldVersions : ::testing::TestWithParam<int> {
    OldVersions() {
        world.registry().migrations<Hull>().from(1).rename("armour", "armor");
        if (GetParam() == 0) world.manager<Hull>();
        if (GetParam() == 1) {
            EXPECT_TRUE(world.directory().claim<Hull>(world.database()));
        }
    }
    void expect_hull(Entity entity, float armor) {
        EXPECT_EQ(*world.get(entity, "hull.armor")->as<float>(), armor);
        EXPECT_EQ(*world.get(entity, "hull.crew")->as<std::int32_t>(), 3);
    }

    EntityManager entities;
    World world{entities};
    const Blob fleet = old_fleet();
};

TEST_P(OldVersions, are_migrated_when_they_are_adopted_or_spawned_by_calls_and_commands) {
    const Status adopted = world.adopt_schemas(fleet);
    ASSERT_TRUE(adopted) << adopted.message();
    const Result<Spawned> spawned = world.spawn(fleet, {.copies = 2});
    ASSERT_TRUE(spawned) << spawned.message();
    ASSERT_EQ(spawned->entities().size(), 4u);
    expect_hull(spawned->entity(0, 1), 5);
    expect_hull(spawned->entity(1, 1), 6);
    world.database().commands().spawn(fleet);
    world.settle();
    EXPECT_EQ(entities.num_alive(), 6u);
    int num_six = 0;
    world.query<Read<&Hull::armor>>().for_each([&](float armor) { num_six += armor == 6 ? 1 : 0; });
    EXPECT_EQ(num_six, 3);
    EXPECT_EQ(fleet.component_types()[0].schema->version(), 1u) << "the blob stays as it was";
}

TEST_P(OldVersions, that_cannot_be_migrated_spawn_nothing) {
    world.registry().migrations<Hull>().from(1).rename("plating", "plates");
    const Result<Spawned> spawned = world.spawn(fleet);
    EXPECT_EQ(
        spawned.message(),
        "cannot migrate \"hull\" of \"fleet\" from version 1: the migration from version 1 does not fit: there is no "
        "field \"plating\" then; it has armor");
    EXPECT_EQ(entities.num_alive(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, OldVersions, ::testing::Values(0, 1, 2));

}  // namespace

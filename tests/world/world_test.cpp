// Worlds: stores, steps, the hash of the state, pins, and adopted schemas.

#include "shoal/world/world.h"

#include "shoal/command/commands.h"
#include "shoal/resource/blob_writer.h"
#include "support/testing.h"

#include <cstring>
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
    EXPECT_EQ(world.find_store(schema_of<Body>().id()), &bodies.core());
    EXPECT_EQ(world.find_store(schema_of<Path>().id()), nullptr);
    EXPECT_EQ(world.stores().size(), 1u);
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
    EXPECT_TRUE(world.stores().empty());
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
    entities.destroy(std::span(owners).subspan(0, 40));
    world.step(0.5f);
    EXPECT_EQ(bodies.num_rows(), 60u);
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
        world.schedule().add("move", query<Write<&Body::position>, Read<&Body::velocity>>(bodies),
                             [](auto&& p, Vec3 v) { p += v * 0.1f; });
        entities.destroy(std::span(owners).subspan(100, 3000));
        for (int frame = 0; frame < 5; ++frame) world.step(0.1f);
        return world.state_hash();
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
        hashes[dirt] = world.state_hash();
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
    database.commands().add(fish, given);
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
    EXPECT_EQ(world.find_store(schema_of<Path>().id())->tables()[0]->num_rows(), 2u);
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

}  // namespace

// In a world a component type has one home, and what is spawned later finds what was spawned before, wherever it is.

#include "shoal/components/debug_name.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <cstring>
#include <vector>

namespace {

using namespace shoal;

struct Sail {
    float area = 0;
};
SHOAL_COMPONENT(Sail, area)
struct Oar {
    int length = 0;
};
SHOAL_COMPONENT(Oar, length)
struct Mesh {
    int number = 0;
};
SHOAL_COMPONENT(Mesh, number)

template <class T>
std::vector<std::byte> image_of(const T& value) {
    std::vector<std::byte> image(sizeof value);
    std::memcpy(image.data(), &value, sizeof value);
    return image;
}

/// Three ships, of which the second has no sail.
Blob make_ships() {
    BlobWriter writer;
    const std::uint32_t transform = *writer.add_component_type(schema_of<Transform>(), 0);
    const std::uint32_t sail = *writer.add_component_type(schema_of<Sail>(), 1);
    const std::uint32_t mesh = *writer.add_component_type(schema_of<Mesh>(), 2);
    const std::uint32_t oar = *writer.add_component_type(schema_of<Oar>(), 3);
    for (int i = 0; i < 3; ++i) {
        const std::uint32_t ship = writer.add_entity({});
        writer.add_component(transform, ship, image_of(Transform{.position = {float(i), 0, 0}}));
        if (i != 1) writer.add_component(sail, ship, image_of(Sail{float(i)}));
        writer.add_component(mesh, ship, image_of(Mesh{i}));
        writer.add_component(oar, ship, image_of(Oar{i}));
    }
    return *Blob::load(*writer.write());
}

class ComponentHome : public ::testing::Test {
protected:
    EntityManager entities;
    World world{entities};
};

TEST_F(ComponentHome, whoever_names_a_type_first_keeps_it) {
    ASSERT_TRUE(world.database().component<Sail>());
    world.manager<Oar>();
    EXPECT_EQ(world.find_store(schema_of<Sail>().id()), &world.database());
    EXPECT_EQ(world.find_store(schema_of<Oar>().id()), &world.manager<Oar>().core());
    EXPECT_TRUE(world.home<Sail>(world.database())) << "again is fine";
}

TEST_F(ComponentHome, the_database_refuses_a_type_that_a_manager_keeps) {
    world.manager<Oar>();
    const Status refused = world.home<Oar>(world.database());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.message(),
              "\"oar\" has its home in a manager of this world, so it cannot have another in the database; use the "
              "first, or choose with World::home() before either is used");
    EXPECT_EQ(world.database().add_component(schema_of<Oar>()).message(), refused.message());
}

TEST_F(ComponentHome, what_transforms_say_is_kept_by_no_other_store) {
    EXPECT_EQ(world.home<ChildOf>(world.database()).message(),
              "\"child_of\" is what the transforms of a world say, so it cannot have its home in the database; call "
              "World::transforms() before it is used");
    EXPECT_FALSE(world.home<WorldPose>(world.database()));
    world.transforms();
    EXPECT_FALSE(world.home<ChildOf>(world.database())) << "now it has a home";
    EXPECT_EQ(&world.query<With<ChildOf>>().driver(), &world.transforms());
}

TEST_F(ComponentHome, only_the_database_takes_further_types) {
    EXPECT_EQ(
        world.home<Oar>(world.transforms()).message(),
        "\"oar\" cannot have its home in the transforms, made for other component types; give it to the database, or "
        "make a manager for it");
}

TEST_F(ComponentHome, a_database_that_has_left_the_world_asks_nobody) {
    PagePool pool;
    Database other(entities, pool);
    ASSERT_TRUE(world.attach(other));
    world.manager<Oar>();
    EXPECT_FALSE(other.add_component(schema_of<Oar>()));
    world.detach(other);
    EXPECT_TRUE(other.add_component(schema_of<Oar>()));
    EXPECT_EQ(world.attach(other).message(),
              "\"oar\" has its home in a manager of this world, so it cannot have another in the database; use the "
              "first, or choose with World::home() before either is used");
}

TEST_F(ComponentHome, a_type_that_a_store_shows_has_its_home_there) {
    world.transforms();
    EXPECT_FALSE(world.home<WorldPose>(world.database()));
}

TEST_F(ComponentHome, a_database_that_ends_leaves_its_world) {
    {
        PagePool pool;
        Database other(entities, pool);
        ASSERT_TRUE(world.attach(other));
        ASSERT_TRUE(other.component<Oar>());
    }
    EXPECT_TRUE(world.stores().empty());
    world.manager<Oar>();
    world.settle();
}

TEST_F(ComponentHome, a_database_outlives_its_world) {
    PagePool pool;
    Database other(entities, pool);
    {
        World short_lived(entities);
        ASSERT_TRUE(short_lived.attach(other));
        short_lived.manager<Oar>();
    }
    EXPECT_TRUE(other.add_component(schema_of<Oar>()));
}

TEST_F(ComponentHome, schemas_that_come_in_blobs_go_where_the_world_says) {
    const Blob ships = make_ships();
    World of_database(entities, {.default_home = DefaultHome::kDatabase});
    ASSERT_TRUE(of_database.adopt_schemas(ships));
    EXPECT_EQ(of_database.find_store(schema_of<Sail>().id()), &of_database.database());
    EXPECT_EQ(of_database.find_store(schema_of<Transform>().id()), of_database.find_transforms());
    ASSERT_TRUE(of_database.spawn(ships));
    EXPECT_EQ(of_database.database().num_rows(), 3u);
    ASSERT_TRUE(world.adopt_schemas(ships));
    EXPECT_EQ(world.find_store(schema_of<Sail>().id())->kind(), "a manager");
}

TEST_F(ComponentHome, schemas_of_which_an_entity_may_have_several_go_to_managers_all_the_same) {
    ComponentDefinition definition;
    definition.name = "shell";
    definition.many = true;
    definition.fields.push_back({.name = "number", .type = FieldType::kInt32});
    BlobWriter writer;
    const std::uint32_t shell = *writer.add_component_type(*Schema::make(definition));
    writer.add_component(shell, writer.add_entity({}), image_of(7));
    World of_database(entities, {.default_home = DefaultHome::kDatabase});
    ASSERT_TRUE(of_database.adopt_schemas(*Blob::load(*writer.write())));
    EXPECT_EQ(of_database.find_store(Schema::make(definition)->id())->kind(), "a manager");
}

// --- the order of spawning ---------------------------------------------------------------------------------------

/// What the spawn function of "mesh" finds.
struct Found {
    explicit Found(World& in, bool is_to_fail = false) : world(&in), fails(is_to_fail) {}

    World* world;
    std::vector<float> positions, areas;
    std::vector<int> lengths;
    bool fails;

    static Status spawn(void* context, const SpawnBatch& batch) {
        Found& self = *static_cast<Found*>(context);
        World& world = *self.world;
        for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
            for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
                const Entity owner = batch.owner(copy, i);
                const Instance place = world.transforms().instance(owner);
                self.positions.push_back(place ? world.transforms().local(place).position.x : -1);
                Database& database = world.database();
                self.areas.push_back(database.has<Sail>(owner) ? database.get<&Sail::area>(database.find(owner)) : -1);
                self.lengths.push_back(database.has<Oar>(owner) ? database.get<&Oar::length>(database.find(owner))
                                                                : -1);
            }
        return self.fails ? Status::error("the mesh is torn") : Status();
    }
};

// req: D26-D30
TEST_F(ComponentHome, a_spawn_function_finds_the_transforms_and_the_rows_of_the_database) {
    Found found(world);
    world.transforms();
    world.database().component<Sail>();
    world.database().component<Oar>();
    ASSERT_TRUE(world.registry().set_spawn_function("mesh", Found::spawn, &found));
    ASSERT_TRUE(world.spawn(make_ships(), {.copies = 2}));
    EXPECT_EQ(found.positions, (std::vector<float>{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(found.areas, (std::vector<float>{0, -1, 2, 0, -1, 2}));
    EXPECT_EQ(found.lengths, (std::vector<int>{0, 1, 2, 0, 1, 2})) << "the database places an entity as a whole";
}

TEST_F(ComponentHome, a_spawn_function_that_fails_leaves_nothing_in_any_store) {
    Found found(world, true);
    world.transforms();
    world.database().component<Sail>();
    world.manager<Oar>();
    ASSERT_TRUE(world.registry().set_spawn_function("mesh", Found::spawn, &found));
    EXPECT_EQ(world.spawn(make_ships()).message(), "cannot spawn the components \"mesh\" of \"\": the mesh is torn");
    EXPECT_EQ(world.transforms().num_rows(), 0u);
    EXPECT_EQ(world.database().num_rows(), 0u);
    EXPECT_EQ(world.manager<Oar>().num_rows(), 0u);
    EXPECT_EQ(entities.num_alive(), 0u);
    found.fails = false;
    EXPECT_TRUE(world.spawn(make_ships())) << "the database waits for no further batch";
}

}  // namespace

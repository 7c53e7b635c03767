// In a world a component type has one owning store, and what is spawned later finds what was spawned before, wherever
// it is.

#include "shoal/components/activity.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
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

struct Box {
    Vec3 place{};
};
SHOAL_COMPONENT(Box, place)

template <class T>
std::vector<std::byte> image_of(const T& value) {
    std::vector<std::byte> image(sizeof value);
    std::memcpy(image.data(), &value, sizeof value);
    return image;
}

/// Three ships, of which the second has no sail.
Blob make_ships() {
    BlobWriter writer;
    // Neither in the order in which they are spawned nor in that of their names.
    const std::uint32_t oar = *writer.add_component_type(schema_of<Oar>(), 3);
    const std::uint32_t sail = *writer.add_component_type(schema_of<Sail>(), 1);
    const std::uint32_t mesh = *writer.add_component_type(schema_of<Mesh>(), 2);
    const std::uint32_t transform = *writer.add_component_type(schema_of<Transform>(), 0);
    for (int i = 0; i < 3; ++i) {
        const std::uint32_t ship = writer.add_entity({});
        writer.add_component(transform, ship, image_of(Transform{.position = {float(i), 0, 0}}));
        if (i != 1) writer.add_component(sail, ship, image_of(Sail{float(i)}));
        writer.add_component(mesh, ship, image_of(Mesh{i}));
        writer.add_component(oar, ship, image_of(Oar{i}));
    }
    return *Blob::load(*writer.write());
}

class OwningStores : public ::testing::Test {
protected:
    EntityManager entities;
    World world{entities};
};

TEST_F(OwningStores, whoever_names_a_type_first_keeps_it) {
    ASSERT_TRUE(world.database().component<Sail>());
    world.manager<Oar>();
    EXPECT_EQ(world.directory().find(schema_of<Sail>().id()), &world.database());
    EXPECT_EQ(world.directory().find(schema_of<Oar>().id()), &world.manager<Oar>().core());
    EXPECT_TRUE(world.directory().claim<Sail>(world.database())) << "again is fine";
}

TEST_F(OwningStores, the_database_refuses_a_type_that_a_manager_keeps) {
    world.manager<Oar>();
    const Status refused = world.directory().claim<Oar>(world.database());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.message(),
              "\"oar\" is kept in a manager of this world, so it cannot also be kept in the database; use the "
              "first, or choose with ComponentDirectory::claim() before either is used");
    EXPECT_EQ(world.database().add_component(schema_of<Oar>()).message(), refused.message());
}

TEST_F(OwningStores, what_transforms_say_is_kept_by_no_other_store) {
    EXPECT_EQ(world.directory().claim<ChildOf>(world.database()).message(),
              "\"child_of\" is what the transforms of a world say, so it cannot be kept in the database; call "
              "World::transforms() before it is used");
    EXPECT_FALSE(world.directory().claim<WorldPose>(world.database()));
    world.transforms();
    EXPECT_FALSE(world.directory().claim<ChildOf>(world.database())) << "now it has a store";
    EXPECT_EQ(&world.query<With<ChildOf>>().driver(), &world.transforms());
}

// --- built-in component types --------------------------------------------------------------------------------------

TEST_F(OwningStores, commands_that_name_built_in_types_make_their_stores) {
    world.database().component<Sail>();
    Entity made[3];
    ASSERT_TRUE(entities.create(made));
    Commands& commands = world.commands();
    commands.add(made[1], Owned{made[0]});
    commands.add(made[1], Tag{StringId("small")});
    commands.add(made[1], Tag{StringId("red")});
    commands.add(made[2], DebugName{StringId("gull")}, Sail{2});
    commands.add(made[0], Transform{});
    world.settle();
    EXPECT_EQ(world.ownership().owner(made[1]), made[0]);
    EXPECT_EQ(world.manager<Tag>().num_rows(), 2u);
    EXPECT_EQ(world.manager<DebugName>().num_rows(), 1u);
    EXPECT_TRUE(world.transforms().has(made[0]));
    EXPECT_EQ(world.database().num_rows(), 1u) << "the sail";
    world.commands().add(made[2], ChildOf{made[0]});
    world.commands().destroy(made[0]);
    world.settle();
    EXPECT_FALSE(entities.alive(made[1])) << "it was owned";
}

TEST_F(OwningStores, queries_and_observers_that_name_built_in_types_make_their_stores) {
    auto owned = world.query<Read<&Owned::owner>>();
    auto placed = world.query<Read<&WorldPose::matrix>, AnyOf<Tag, DebugName>>();
    std::vector<Entity> gained;
    {
        World other(entities);
        other.observers().on_add<Owned>(
            [&](std::span<const Entity> added) { gained.assign(added.begin(), added.end()); });
        Entity made[2];
        ASSERT_TRUE(entities.create(made));
        ASSERT_TRUE(other.ownership().own(made[0], made[1]));
        other.settle();
        EXPECT_EQ(gained, std::vector<Entity>{made[1]});
    }
    EXPECT_EQ(&owned.driver(), &world.ownership());
    EXPECT_EQ(&placed.driver(), &world.transforms());
    EXPECT_EQ(world.directory().stores().size(), 4u);
    EXPECT_EQ(*world.directory().require(schema_of<Tag>()), &world.manager<Tag>().core());
    EXPECT_EQ(*world.directory().require(schema_of<Sail>()), nullptr) << "not built in";
}

/// A ship that owns its gun, which is tagged, and a model if asked for.
Blob make_armed_ship(bool has_model) {
    BlobWriter writer;
    writer.set_name("ship");
    const std::uint32_t owned = *writer.add_component_type(schema_of<Owned>());
    const std::uint32_t tag = *writer.add_component_type(schema_of<Tag>());
    const std::uint32_t ship = writer.add_entity({}), gun = writer.add_entity({.parent = ship});
    const EntityBits owner = ship;
    writer.add_component(owned, gun, std::as_bytes(std::span(&owner, 1)));
    writer.add_component(tag, gun, image_of(Tag{StringId("gun")}));
    if (has_model) {
        const std::uint32_t model = *writer.add_component_type(schema_of<ModelPose>());
        const StringId name("keel");
        const NodePose node;
        const std::uint32_t parent = kNilRow;
        ModelPose pose;
        const auto keep = [&]<class T>(BlobArray<T>& array, const T& value) {
            static_cast<BlobArrayBase&>(array) =
                writer.add_array(FieldTraits<T>::type, std::as_bytes(std::span(&value, 1)));
        };
        keep(pose.names, name), keep(pose.parents, parent), keep(pose.positions, node.position);
        keep(pose.rotations, node.rotation), keep(pose.scales, node.scale);
        writer.add_component(model, ship, image_of(pose));
    }
    return *Blob::load(*writer.write());
}

TEST_F(OwningStores, a_blob_with_built_in_types_makes_their_stores) {
    const Result<Spawned> spawned = world.spawn(make_armed_ship(false), {.copies = 2});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(spawned->unknown().empty());
    EXPECT_EQ(world.ownership().owner(spawned->entity(1, 1)), spawned->entity(0, 1));
    EXPECT_EQ(world.manager<Tag>().num_rows(), 2u);
    entities.destroy(spawned->entity(0, 1));
    EXPECT_FALSE(entities.alive(spawned->entity(1, 1)));
    World of_database(entities, {.default_store = DefaultStore::kDatabase});
    ASSERT_TRUE(of_database.adopt_schemas(make_armed_ship(false)));
    EXPECT_EQ(of_database.directory().find(schema_of<Owned>().id()), &of_database.ownership());
}

TEST_F(OwningStores, model_poses_need_the_library_of_the_world) {
    const std::uint32_t num_before = entities.num_alive();
    const Result<Spawned> refused = world.spawn(make_armed_ship(true));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.message().find("give the world one, WorldOptions::library"), std::string_view::npos)
        << refused.message();
    EXPECT_EQ(entities.num_alive(), num_before);
    ResourceLibrary library;
    const Result<const Blob*> ship = library.add(make_armed_ship(true));
    ASSERT_TRUE(ship);
    World modelled(entities, {.library = &library});
    const Result<Spawned> spawned = modelled.spawn(**ship);
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(modelled.model_poses().has(spawned->entity(0)));
    EXPECT_EQ(&modelled.query<With<ModelPose>>().driver(), &modelled.model_poses());
}

TEST_F(OwningStores, owners_and_model_poses_are_kept_by_no_store_that_only_keeps) {
    EXPECT_EQ(world.directory().claim<Owned>(world.database()).message(),
              "\"owned\" is what the owners of a world say, so it cannot be kept in the database; call "
              "World::ownership() before it is used");
    EXPECT_FALSE(world.directory().claim<ModelPose>(world.database()));
    EXPECT_DEATH(world.manager<Owned>(), "World::ownership\\(\\)");
    EXPECT_TRUE(world.directory().claim<DebugName>(world.database())) << "names may lie anywhere";
    auto& owners = world.make_store<OwnershipManager>();
    EXPECT_EQ(&world.ownership(), &owners) << "the store is known however it was made";
}

/// The schema of a component type with a field that none of the built-in types has.
Schema make_other_schema(const char* name) {
    ComponentDefinition definition;
    definition.name = name;
    definition.fields.push_back({.name = "other", .type = FieldType::kUint8});
    return *Schema::make(definition);
}

TEST_F(OwningStores, a_blob_that_gives_a_built_in_name_other_fields_is_refused) {
    for (const char* name :
         {"owned", "inactive", "model_pose", "tag", "debug_name", "child_of", "attached_to_node", "point_mass"}) {
        BlobWriter writer;
        writer.set_name("strange");
        const Schema schema = make_other_schema(name);
        writer.add_component(*writer.add_component_type(schema), writer.add_entity({}), blob_default_image(schema));
        const Blob blob = *Blob::load(*writer.write());
        const Status refused = world.adopt_schemas(blob);
        EXPECT_EQ(refused.message().find("the blob \"strange\" was compiled for " + std::string(name) +
                                         " v1 {other uint8}, but the world has " + name + " v1 {"),
                  0u)
            << refused.message();
        EXPECT_EQ(world.spawn(blob).message(), refused.message());
    }
    EXPECT_TRUE(world.directory().stores().empty());
    const Entity entity = *entities.create();
    EXPECT_TRUE(world.activity().set_active(entity, false));
    EXPECT_FALSE(world.entities().is_active(entity));
}

TEST_F(OwningStores, a_spawn_makes_the_managers_of_built_in_types) {
    BlobWriter writer;
    writer.set_name("lamp");
    const std::uint32_t lamp = writer.add_entity({});
    for (const Schema* schema : {&schema_of<PointMass>(), &schema_of<AttachedToNode>(), &schema_of<Tag>()})
        writer.add_component(*writer.add_component_type(*schema), lamp, blob_default_image(*schema));
    const Blob blob = *Blob::load(*writer.write());
    const Result<Spawned> spawned = world.spawn(blob, {.fail_on_unknown = true});
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    EXPECT_TRUE(world.manager<PointMass>().has(spawned->entity(0)));
    EXPECT_TRUE(world.manager<AttachedToNode>().has(spawned->entity(0)));
}

TEST_F(OwningStores, nothing_is_attached_by_a_component_with_other_fields) {
    world.make_store<ModelPoseManager>();
    ComponentManager& others = **world.manager(make_other_schema("attached_to_node"));
    Entity made[2];
    ASSERT_TRUE(entities.create(made));
    const Transform locals[2];
    const std::uint32_t parents[] = {kNilRow, 0};
    ASSERT_TRUE(world.transforms().add(made, locals, parents));
    ASSERT_TRUE(others.add_images(std::span(made).last(1), others.schema().default_image().data(), 0));
    world.settle();
    EXPECT_EQ(others.num_rows(), 1u);
}

TEST_F(OwningStores, attached_stores_of_built_in_types_are_those_that_the_world_uses) {
    PagePool pool;
    ActivityManager activity(entities, pool);
    OwnershipManager ownership(entities, pool);
    TransformManager transforms(entities, pool);
    ModelPoseManager models(entities, pool);
    for (Store* store : std::initializer_list<Store*>{&activity, &ownership, &transforms, &models})
        ASSERT_TRUE(world.attach(*store));
    const Entity entity = *entities.create();
    EXPECT_TRUE(world.activity().set_active(entity, false));
    EXPECT_EQ(activity.table().num_rows(), 1u);
    EXPECT_EQ(&world.activity(), &activity);
    EXPECT_EQ(&world.ownership(), &ownership);
    EXPECT_EQ(&world.transforms(), &transforms);
    EXPECT_EQ(&world.model_poses(), &models);
    for (Store* store : std::initializer_list<Store*>{&activity, &ownership, &transforms, &models})
        world.detach(*store);
    EXPECT_EQ(find_transforms(world.directory()), nullptr);
    EXPECT_NE(&world.transforms(), &transforms);
}

TEST_F(OwningStores, a_store_that_was_detached_is_used_no_more_though_the_world_made_it) {
    TransformManager& transforms = world.transforms();
    auto& boxes = world.manager<Box>();
    world.position_links().follow<&Box::place>(Follower::kField);
    const Entity entity = *entities.create();
    ASSERT_TRUE(transforms.add({&entity, 1}));
    ASSERT_TRUE(boxes.add(entity, {}));
    world.settle();
    world.detach(transforms);
    transforms.set_position(transforms.instance(entity), {7, 0, 0});
    world.settle();
    EXPECT_EQ(boxes.get<&Box::place>(boxes.instance(entity)), Vec3{});
    EXPECT_NE(&world.transforms(), &transforms);
    Database& database = world.database();
    world.detach(database);
    EXPECT_NE(&world.database(), &database);
    ActivityManager& activity = world.activity();
    world.detach(activity);
    EXPECT_NE(&world.activity(), &activity);
    EXPECT_EQ(&world.query<With<Inactive>>().driver(), &world.activity());
}

TEST_F(OwningStores, only_the_database_takes_further_types) {
    EXPECT_EQ(world.directory().claim<Oar>(world.transforms()).message(),
              "\"oar\" cannot be kept in the transforms, made for other component types; give it to the database, or "
              "make a manager for it");
}

TEST_F(OwningStores, a_database_that_has_left_the_world_asks_nobody) {
    PagePool pool;
    Database other(entities, pool);
    ASSERT_TRUE(world.attach(other));
    world.manager<Oar>();
    EXPECT_FALSE(other.add_component(schema_of<Oar>()));
    world.detach(other);
    EXPECT_TRUE(other.add_component(schema_of<Oar>()));
    EXPECT_EQ(world.attach(other).message(),
              "\"oar\" is kept in a manager of this world, so it cannot also be kept in the database; use the "
              "first, or choose with ComponentDirectory::claim() before either is used");
}

TEST_F(OwningStores, a_type_that_a_store_shows_is_kept_there) {
    world.transforms();
    EXPECT_FALSE(world.directory().claim<WorldPose>(world.database()));
}

TEST_F(OwningStores, a_database_that_ends_leaves_its_world) {
    {
        PagePool pool;
        Database other(entities, pool);
        ASSERT_TRUE(world.attach(other));
        ASSERT_TRUE(other.component<Oar>());
    }
    EXPECT_TRUE(world.directory().stores().empty());
    world.manager<Oar>();
    world.settle();
}

TEST_F(OwningStores, a_database_outlives_its_world) {
    PagePool pool;
    Database other(entities, pool);
    {
        World short_lived(entities);
        ASSERT_TRUE(short_lived.attach(other));
        short_lived.manager<Oar>();
    }
    EXPECT_TRUE(other.add_component(schema_of<Oar>()));
}

TEST_F(OwningStores, schemas_that_come_in_blobs_go_where_the_world_says) {
    const Blob ships = make_ships();
    World of_database(entities, {.default_store = DefaultStore::kDatabase});
    ASSERT_TRUE(of_database.adopt_schemas(ships));
    EXPECT_EQ(of_database.directory().find(schema_of<Sail>().id()), &of_database.database());
    EXPECT_EQ(of_database.directory().find(schema_of<Transform>().id()), find_transforms(of_database.directory()));
    ASSERT_TRUE(of_database.spawn(ships));
    EXPECT_EQ(of_database.database().num_rows(), 3u);
    ASSERT_TRUE(world.adopt_schemas(ships));
    EXPECT_EQ(world.directory().find(schema_of<Sail>().id())->kind(), "a manager");
}

TEST_F(OwningStores, schemas_of_which_an_entity_may_have_several_go_there_too_unless_they_can_be_disabled) {
    BlobWriter writer;
    const std::uint32_t owner = writer.add_entity({});
    for (const bool enableable : {false, true}) {
        ComponentDefinition definition{.name = enableable ? "lamp" : "shell", .enableable = enableable, .many = true};
        definition.fields.push_back({.name = "number", .type = FieldType::kInt32});
        const std::uint32_t type = *writer.add_component_type(*Schema::make(definition));
        for (const int number : {7, 8, 9}) writer.add_component(type, owner, image_of(number));
    }
    const Blob blob = *Blob::load(*writer.write());
    World of_database(entities, {.default_store = DefaultStore::kDatabase});
    ASSERT_TRUE(of_database.adopt_schemas(blob));
    EXPECT_EQ(of_database.directory().find(ComponentId("shell")), &of_database.database());
    EXPECT_EQ(of_database.directory().find(ComponentId("lamp"))->kind(), "a manager");
    const Entity made = of_database.spawn(blob)->entity(0);
    for (std::uint32_t i = 0; i < 3; ++i)
        for (const char* name : {"shell", "lamp"})
            EXPECT_EQ(*of_database.get<std::int32_t>(made, name + ("[" + std::to_string(i) + "].number")), int(i) + 7);
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
TEST_F(OwningStores, a_spawn_function_finds_the_transforms_and_the_rows_of_the_database) {
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

/// What the spawn function of "mesh" finds in managers: the values of sails, and how many oars there are.
struct FoundInManagers {
    Manager<Sail>* sails;
    Manager<Oar>* oars;
    std::vector<float> areas;
    std::uint32_t num_oars = 0;
    int num_calls = 0;

    static Status spawn(void* context, const SpawnBatch& batch) {
        FoundInManagers& self = *static_cast<FoundInManagers*>(context);
        ++self.num_calls;
        self.num_oars += self.oars->num_rows();
        for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
            for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
                const Instance sail = self.sails->instance(batch.owner(copy, i));
                self.areas.push_back(sail ? self.sails->get<&Sail::area>(sail) : -1);
            }
        return {};
    }
};

// req: D26-D30
TEST_F(OwningStores, a_spawn_function_finds_earlier_component_types_of_managers_and_no_later_ones) {
    FoundInManagers found{&world.manager<Sail>(), &world.manager<Oar>(), {}};
    ASSERT_TRUE(world.registry().set_spawn_function("mesh", FoundInManagers::spawn, &found));
    ASSERT_TRUE(world.spawn(make_ships(), {.copies = 2}));
    EXPECT_EQ(found.num_calls, 1) << "for all copies";
    EXPECT_EQ(found.areas, (std::vector<float>{0, -1, 2, 0, -1, 2}));
    EXPECT_EQ(found.num_oars, 0u) << "oars come after meshes";
    EXPECT_EQ(found.oars->num_rows(), 6u);
}

TEST_F(OwningStores, a_spawn_function_that_fails_leaves_nothing_in_any_store) {
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

// Node trees that stay in the blob of a resource.

#include "shoal/pose/model_pose.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"
#include "shoal/state/snapshot.h"
#include "support/stores.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal {
namespace {

struct Arrays {
    std::vector<StringId> names = {StringId("body"), StringId("head")};
    std::vector<std::uint32_t> parents = {kNilRow, 0};
    std::vector<Vec3> positions = {{0, 0, 1}, {0, 0, 2}};
    std::vector<Quaternion> rotations = {{}, {}};
    std::vector<Vec3> scales = {{1, 1, 1}, {1, 1, 1}};
};

template <class T>
void keep(BlobWriter& writer, BlobArray<T>& array, const std::vector<T>& values) {
    static_cast<BlobArrayBase&>(array) =
        writer.add_array(FieldTraits<T>::type, std::as_bytes(std::span<const T>(values)));
}

/// A blob called `name` with an entity per tree.
std::vector<std::byte> blob_of(std::string_view name, const std::vector<Arrays>& trees) {
    BlobWriter writer;
    writer.set_name(name);
    const std::uint32_t type = writer.add_component_type(schema_of<ModelPose>()).value();
    for (std::uint32_t i = 0; i < trees.size(); ++i) {
        ModelPose pose;
        keep(writer, pose.names, trees[i].names);
        keep(writer, pose.parents, trees[i].parents);
        keep(writer, pose.positions, trees[i].positions);
        keep(writer, pose.rotations, trees[i].rotations);
        keep(writer, pose.scales, trees[i].scales);
        writer.add_entity({});
        writer.add_component(type, i, std::as_bytes(std::span(&pose, 1)));
    }
    return writer.write().value();
}

struct ModelPoseSpawn : ::testing::Test {
    shoal_test::LeakCheck leaks;
    ResourceLibrary library;
    EntityManager entities;
    PagePool pool;
    ModelPoseManager models{entities, pool, {.library = &library}};

    const Blob& load(std::string_view name, const std::vector<Arrays>& trees) {
        const Result<const Blob*> blob = library.load(blob_of(name, trees));
        EXPECT_TRUE(blob.ok()) << blob.message();
        return **blob;
    }
    Result<Spawned> spawned(const Blob& blob, std::uint32_t copies = 1) {
        Store* stores[] = {&models};
        return spawn({shoal_test::Stores(entities, stores)}, blob, {.copies = copies});
    }
};

// req: C5-C8
TEST_F(ModelPoseSpawn, all_instances_of_a_tree_use_the_one_in_the_blob) {
    Arrays other;
    other.positions[1] = {5, 0, 0};
    const Blob& fish = load("fish", std::vector<Arrays>(100));
    const Blob& pair = load("pair", {Arrays(), other, Arrays()});
    EXPECT_LT(fish.bytes().size(), 100 * (sizeof(ModelPose) + 4) + 4096) << "equal trees lie in the blob once";
    const Result<Spawned> school = spawned(fish, 30);
    ASSERT_TRUE(school.ok()) << school.message();
    const Result<Spawned> couple = spawned(pair);
    ASSERT_TRUE(couple.ok()) << couple.message();
    EXPECT_EQ(models.num_instances(), 3003u);
    EXPECT_EQ(models.num_trees(), 3u);
    EXPECT_EQ(models.model(models.instance(school->entity(99, 29)), 1).row[2].w, 3);
    const Instance odd = models.instance(couple->entity(1));
    EXPECT_EQ(models.model(odd, 1).row[0].w, 5);
    EXPECT_EQ(models.model(models.instance(couple->entity(2)), 1).row[0].w, 0) << "as the first of them";
    EXPECT_EQ(models.find_node(models.tree(odd), StringId("head")), 1u);
    const auto* names = reinterpret_cast<const std::byte*>(models.nodes(models.tree(odd)).names.data());
    EXPECT_TRUE(names >= pair.bytes().data() && names < pair.bytes().data() + pair.bytes().size()) << "used in place";
    EXPECT_TRUE(models.validate().ok());
}

// req: D4-D5 D8-D9
TEST_F(ModelPoseSpawn, instances_pin_the_blob_of_their_tree) {
    Result<Spawned> school = spawned(load("fish", {Arrays()}), 7);
    ASSERT_TRUE(school.ok()) << school.message();
    const Result<Spawned> others = spawned(load("ship", {Arrays()}), 3);
    ASSERT_TRUE(others.ok()) << others.message();
    const NodeTreeId tree = models.tree(models.instance(school->entity(0)));
    EXPECT_FALSE(models.remove_node_tree(tree).ok());
    const Status refused = library.unload("fish");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.message().find("7 values"), std::string_view::npos) << refused.message();
    school->destroy(entities);
    EXPECT_FALSE(library.unload("fish").ok()) << "the dead are there until they settle";
    models.settle({});
    EXPECT_EQ(models.num_trees(), 1u);
    EXPECT_TRUE(library.unload("fish").ok());
    EXPECT_FALSE(library.unload("ship").ok());
    Arrays own;
    const NodeTreeId in_memory =
        models.add_node_tree({own.names, own.parents, own.positions, own.rotations, own.scales}).value();
    EXPECT_EQ(models.remove({&others->entities()[0], 1}), 1u);
    EXPECT_EQ(models.num_trees(), 2u) << "two entities have the tree of the blob";
    ASSERT_TRUE(models.add({&others->entities()[1], 1}, in_memory).ok());
    EXPECT_EQ(models.num_trees(), 2u);
    ASSERT_TRUE(models.add({&others->entities()[2], 1}, in_memory).ok());
    EXPECT_EQ(models.num_trees(), 1u) << "it goes with its last instance, which has another tree now";
    EXPECT_TRUE(library.unload("ship").ok());
    EXPECT_EQ(models.remove(others->entities()), 2u);
    ASSERT_TRUE(models.remove_node_tree(in_memory).ok());
    Arrays other;
    other.names[0] = StringId("shell");
    ASSERT_TRUE(spawned(load("fish", {other})).ok()) << "another resource of that name, with another tree";
    EXPECT_TRUE(models.validate().ok());
}

// Until they are computed, nothing below the nodes of the new tree has moved.
TEST_F(ModelPoseSpawn, an_instance_that_is_spawned_again_forgets_its_moved_nodes) {
    Arrays other;
    other.positions[1] = {5, 0, 0};
    const Blob& fish = load("fish", {Arrays()});
    const Blob& ship = load("ship", {other});
    const Result<Spawned> made = spawned(fish);
    ASSERT_TRUE(made.ok()) << made.message();
    const Entity entity = made->entity(0);
    models.compute();
    models.set_node_world(models.instance(entity), 0, {});
    const std::uint32_t first = 0;
    ASSERT_TRUE(models
                    .respawn({.component = schema_of<ModelPose>().id(),
                              .entities = {&entity, 1},
                              .num_blob_entities = 1,
                              .entity_index = {&first, 1},
                              .columns = ship.find_components(schema_of<ModelPose>().id())->columns,
                              .parents = {}})
                    .ok());
    EXPECT_EQ(models.num_trees(), 1u) << "that of the other blob is gone";
    EXPECT_EQ(models.apply_constraints(), 0u);
    EXPECT_EQ(models.compute(), 0u);
    EXPECT_EQ(models.model(models.instance(entity), 1).row[0].w, 5);
    EXPECT_EQ(models.model(models.instance(entity), 1).row[2].w, 1);
}

TEST_F(ModelPoseSpawn, trees_follow_to_another_version_of_their_blob_or_are_copied_and_both_are_saved_so) {
    Arrays first, second, larger;
    second.scales[1] = {2, 2, 2};  // all else is as in the first
    larger.scales[1] = {3, 3, 3};
    const Blob& other = load("ship", {first});
    const Blob& before = load("fish", {first, second});
    const Result<Spawned> ship = spawned(other), fish = spawned(before);
    ASSERT_TRUE(ship.ok() && fish.ok());
    {
        const Result<Blob> older = library.replace(Blob::load(blob_of("fish", {larger, second})).value());
        ASSERT_TRUE(older.ok()) << older.message();
        models.move_trees(*older, *library.find(ResourceId("fish")));
    }  // the bytes of the older version are gone
    const auto lies_in = [&](const ModelPoseManager& manager, Entity entity, std::string_view name) {
        const auto* const names =
            reinterpret_cast<const std::byte*>(manager.nodes(manager.tree(manager.instance(entity))).names.data());
        const std::span<const std::byte> bytes = library.find(ResourceId(name))->bytes();
        return names >= bytes.data() && names < bytes.data() + bytes.size();
    };
    Snapshot saved;
    SnapshotWriter to(saved);
    models.save(to);
    ModelPoseManager loaded(entities, pool, {.library = &library});
    SnapshotReader from(saved, false);
    ASSERT_TRUE(loaded.load(from).ok());
    for (ModelPoseManager* const manager : {&models, &loaded}) {
        EXPECT_TRUE(lies_in(*manager, ship->entity(0), "ship")) << "it is of another resource";
        EXPECT_FALSE(lies_in(*manager, fish->entity(0), "fish")) << "the newer version has no such tree";
        EXPECT_TRUE(lies_in(*manager, fish->entity(1), "fish"));
        EXPECT_EQ(manager->nodes(manager->tree(manager->instance(fish->entity(0)))).scales[1], first.scales[1]);
        EXPECT_EQ(manager->nodes(manager->tree(manager->instance(fish->entity(1)))).scales[1], second.scales[1]);
        EXPECT_TRUE(manager->validate().ok());
        EXPECT_EQ(manager->num_trees(), 3u);
        EXPECT_FALSE(manager->remove_node_tree(manager->tree(manager->instance(fish->entity(0)))).ok());
        EXPECT_EQ(manager->remove(std::span(fish->entities()).first(1)), 1u);
        EXPECT_EQ(manager->num_trees(), 2u) << "a copy goes with its last instance, too";
    }
}

TEST_F(ModelPoseSpawn, arrays_that_are_not_a_tree_are_an_error_and_nothing_changes) {
    int number = 0;
    const auto message_of = [&](auto&& spoil) {
        Arrays arrays;
        spoil(arrays);
        const Result<Spawned> result = spawned(load("bad " + std::to_string(++number), {Arrays(), arrays}), 2);
        EXPECT_FALSE(result.ok());
        EXPECT_EQ(models.num_trees(), 0u);
        EXPECT_EQ(models.num_instances(), 0u);
        EXPECT_EQ(entities.num_alive(), 0u);
        return result.ok() ? std::string() : std::string(result.message());
    };
    EXPECT_NE(message_of([](Arrays& a) {
                  a.parents[1] = 7;
              }).find("resource \"bad 1\", \"model_pose\": node 1 of a node tree: its parent"),
              std::string::npos);
    EXPECT_NE(message_of([](Arrays& a) { a.parents.pop_back(); }).find("per node"), std::string::npos);
    EXPECT_NE(message_of([](Arrays& a) { a.names[1] = a.names[0]; }).find("same name"), std::string::npos);
    EXPECT_NE(message_of([](Arrays& a) { a.rotations[0] = {1, 1, 1, 1}; }).find("rotation"), std::string::npos);
    EXPECT_NE(message_of([](Arrays& a) { a = {{}, {}, {}, {}, {}}; }).find("has no nodes"), std::string::npos);
}

TEST_F(ModelPoseSpawn, a_resource_that_is_not_in_the_library_is_an_error) {
    const std::vector<std::byte> bytes = blob_of("elsewhere", {Arrays()});
    const Result<Blob> blob = Blob::load(bytes);
    const Result<Spawned> result = spawned(*blob);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.message().find("not loaded"), std::string_view::npos) << result.message();
    ModelPoseManager without(entities, pool);
    Store* stores[] = {&without};
    EXPECT_FALSE(spawn({shoal_test::Stores(entities, stores)}, *blob).ok());
}

TEST_F(ModelPoseSpawn, too_many_instances_are_refused_and_nothing_changes) {
    ModelPoseManager small(entities, pool, {.library = &library, .capacity_rows = 9});
    Store* stores[] = {&small};
    Arrays other;
    other.scales[0] = {2, 2, 2};
    const Blob& blob = load("fish", {Arrays(), other});
    const Result<Spawned> result = spawn({shoal_test::Stores(entities, stores)}, blob, {.copies = 5});
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.message().find("5 more instances do not fit"), std::string_view::npos) << result.message();
    EXPECT_EQ(small.num_trees(), 0u);
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_TRUE(spawn({shoal_test::Stores(entities, stores)}, blob, {.copies = 4}).ok());
    EXPECT_TRUE(small.validate().ok());
}

}  // namespace
}  // namespace shoal

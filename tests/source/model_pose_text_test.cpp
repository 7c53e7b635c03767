#include "shoal/pose/model_pose_text.h"
#include "shoal/components/ownership.h"
#include "shoal/resource/spawner.h"
#include "support/source_fixture.h"
#include "support/stores.h"

#include <vector>

namespace shoal_test {
namespace {

class ModelPoseText : public SourceTest {
protected:
    ModelPoseText() { EXPECT_TRUE(add_model_pose(registry).ok()); }

    /// Compiles x.sjson and spawns it; `spawned_` has its entities.
    void spawn_source(const std::string& text) {
        file("x.sjson", text);
        const Result<CompiledSource> source = compiled("x.sjson");
        ASSERT_TRUE(source.ok()) << source.message() << diagnostics.format();
        const Result<const Blob*> blob = library.load(source->blob);
        ASSERT_TRUE(blob.ok()) << blob.message();
        Store* stores[] = {&models, &ownership};
        Result<Spawned> result = spawn({shoal_test::Stores(entities, stores)}, **blob);
        ASSERT_TRUE(result.ok()) << result.message();
        spawned = std::move(*result);
    }
    std::string errors_of(const std::string& nodes) {
        file("y.sjson", "components = { model_pose = { nodes = " + nodes + " } }");
        Diagnostics found;
        EXPECT_FALSE(compile_source("y.sjson", registry, options, found).ok());
        return found.format();
    }
    const NodeTree& tree_of(std::uint32_t entity) {
        return models.nodes(models.tree(models.instance(spawned.entity(entity))));
    }

    ResourceLibrary library;
    EntityManager entities;
    PagePool pool;
    ModelPoseManager models{entities, pool, {.library = &library}};
    OwnershipManager ownership{entities, pool};
    Spawned spawned;
};

// req: C5-C8
TEST_F(ModelPoseText, nodes_are_read_with_parents_first) {
    spawn_source(R"(components = { model_pose = { nodes = [
        { name = "toe"   parent = "foot"  position = [1 2 3] }
        { name = "hip" }
        { name = "foot"  parent = "hip"  euler_degrees = [0 0 180]  scale = 2 }
        { name = "tail"  parent = "hip"  rotation = [0 0 0.7071 0.7071]  scale = [1 2 3]  position = null }
    ] } })");
    ASSERT_FALSE(HasFailure());
    const NodeTree& tree = tree_of(0);
    const std::vector<std::string> names = {"hip", "foot", "toe", "tail"};
    const std::vector<std::uint32_t> parents = {kNilRow, 0, 1, 0};
    ASSERT_EQ(tree.num_nodes(), 4u);
    for (std::uint32_t node = 0; node < 4; ++node) {
        EXPECT_EQ(tree.names[node], StringId(names[node])) << node;
        EXPECT_EQ(tree.parents[node], parents[node]) << node;
        EXPECT_EQ(library.find(ResourceId("x"))->text(tree.names[node]), names[node]) << "for people";
    }
    EXPECT_EQ(tree.positions[2], (Vec3{1, 2, 3}));
    EXPECT_EQ(tree.scales[1], (Vec3{2, 2, 2}));
    EXPECT_EQ(tree.scales[3], (Vec3{1, 2, 3}));
    EXPECT_NEAR(tree.rotations[1].z, 1, 1e-6f);
    EXPECT_NEAR(tree.rotations[3].w, 0.70710678f, 1e-7f) << "brought to length 1";
}

TEST_F(ModelPoseText, all_users_of_a_prefab_share_its_tree) {
    file("fish.sjson", "components = { model_pose = { nodes = [ { name = \"spine\" } { name = \"fin\" } ] } }");
    std::string text = "entities = {";
    for (int i = 0; i < 50; ++i) text += concat(" fish_", i, " = { prefab = \"fish\" }");
    text += R"( odd = { prefab = "fish" modified_components = { model_pose = { nodes = [ { name = "shell" } ] } } } }
)";
    spawn_source(text);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(models.num_instances(), 51u);
    EXPECT_EQ(models.num_trees(), 2u);
    EXPECT_EQ(tree_of(50).num_nodes(), 1u);
}

TEST_F(ModelPoseText, every_mistake_has_its_place) {
    const auto expect_error = [&](const std::string& nodes, std::string_view message) {
        const std::string text = errors_of(nodes);
        EXPECT_NE(text.find(message), std::string::npos) << message << '\n' << text;
    };
    expect_error("[ { name = \"hip\" } { name = \"foot\" parent = \"hop\" } ]",
                 "y.sjson:1:83: error: component \"model_pose\": there is no node \"hop\" to be the parent of "
                 "\"foot\"; did you mean \"hip\"?");
    expect_error("[ { name = \"a\" } { name = \"a\" } ]",
                 "y.sjson:1:65: error: component \"model_pose\": two nodes "
                 "are called \"a\"");
    expect_error("[ { name = \"a\" parent = \"b\" } { name = \"b\" parent = \"a\" } ]", "is its own ancestor");
    expect_error("[ { name = \"a\" parent = \"a\" } ]", "the node \"a\" is its own ancestor");
    expect_error("[ { } ]", "y.sjson:1:41: error: component \"model_pose\": a node has no name");
    expect_error("[ { name = 3 } ]", "a node has no name");
    expect_error("[ { name = \"a\" postion = [0 0 0] } ]", "a node has no \"postion\"; did you mean \"position\"?");
    expect_error("[ { name = \"a\" position = [0 0 1e99] } ]", "y.sjson:1:70: error");
    expect_error("[ { name = \"a\" rotation = [0 0 0 0] } ]",
                 "a rotation is a quaternion of length 0; write [0 0 0 1] for no rotation");
    expect_error("[ { name = \"a\" rotation = [0 0 0 2] } ]",
                 "a rotation is a quaternion of length 2; write [0 0 0 1], which is of length 1");
    expect_error("[ { name = \"a\" rotation = [0 0 0 1.005] } { } ]",
                 "warning: component \"model_pose\": a rotation is a quaternion of length 1.005; write [0 0 0 1]");
    expect_error("[ { name = \"a\" rotation = [0 0 0 1] euler_degrees = [0 0 0] } ]", "both");
    expect_error("[ { name = \"a\" scale = 0 } ]", "a scale of 0 cannot be undone");
    expect_error("[ { name = \"a\" scale = [1 0 1] } ]", "a scale of 0 cannot be undone");
    expect_error("[ 3 ]", "a node is not a mapping");
    expect_error("{ }", "`nodes` is not a list");
    expect_error("[ ]", "there are no nodes; add `nodes`");
    expect_error("[ { name = \"a\" } ] names = [ \"b\" ]", "the field \"names\" is computed from `nodes`; remove it");
    expect_error("[ { name = \"a\" } ] node = [ ]", "has no field \"node\"; did you mean \"nodes\"?");
}

// req: G5
TEST_F(ModelPoseText, a_source_says_who_owns_whom) {
    ASSERT_TRUE(registry.add<Owned>().ok());
    spawn_source(R"(entities = {
        ship = { name = "ship" children = {
            gun  = { components = { owned = "parent" } }
            sail = { components = { owned = { owner = "ship" } } }
            rat  = { } } } })");
    ASSERT_FALSE(HasFailure());
    const Entity ship = spawned.find("ship"), gun = spawned.find("ship/gun"), rat = spawned.find("ship/rat");
    EXPECT_EQ(ownership.owner(gun), ship);
    EXPECT_EQ(ownership.owner(spawned.find("ship/sail")), ship);
    entities.destroy(ship);
    EXPECT_FALSE(entities.alive(gun));
    EXPECT_TRUE(entities.alive(rat));
}

}  // namespace
}  // namespace shoal_test

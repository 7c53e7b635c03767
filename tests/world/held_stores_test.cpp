// While the passes of a world run, a structural call on any of its stores ends the program, in every build; values and
// links may change.

#include "shoal/components/activity.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/pose/model_pose.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <functional>

namespace {

using namespace shoal;

struct Crab {
    float mass = 1;
};
SHOAL_COMPONENT(Crab, mass)
struct Shell {
    float thickness = 1;
};
SHOAL_COMPONENT(Shell, thickness)
struct Pincer {};
SHOAL_COMPONENT(Pincer)
struct Pearl {};
SHOAL_COMPONENT(Pearl)

/// Five of ten crabs have every component of the library, so that a pass can try to add and to remove rows.
struct HeldStores : ::testing::Test {
    HeldStores() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        EXPECT_TRUE(entities.create(beach).ok());
        const std::span<const Entity> some = std::span(beach).first(5);
        EXPECT_TRUE(crabs.add(some).ok());
        EXPECT_TRUE(places.add(some).ok());
        EXPECT_TRUE(ownership.own(beach[0], some.subspan(1)).ok());
        EXPECT_TRUE(tags.add_tag(beach[0], "old").ok());
        tree = *models.add_node_tree(
            {.names = names, .parents = parents, .positions = positions, .rotations = rotations, .scales = scales});
        EXPECT_TRUE(models.add(some, tree).ok());
    }
    void in_a_pass(const std::function<void()>& function) {
        world.schedule().add("meddle", [&](PassContext&) { function(); });
        world.step(0.1f);
        EXPECT_TRUE(world.schedule().remove("meddle").ok());
    }

    EntityManager entities;
    World world{entities};
    Manager<Crab>& crabs = world.manager<Crab>();
    TransformManager& places = world.transforms();
    OwnershipManager& ownership = world.ownership();
    ModelPoseManager& models = world.make_store<ModelPoseManager>();
    TagManager tags{world.manager<Tag>(), world.strings()};
    Entity beach[10];
    NodeTreeId tree;
    const StringId names[1] = {StringId("root")};
    const std::uint32_t parents[1] = {kNilRow};
    const Vec3 positions[1] = {};
    const Quaternion rotations[1] = {};
    const Vec3 scales[1] = {{1, 1, 1}};
};

TEST_F(HeldStores, a_structural_call_inside_a_pass_ends_the_program) {
    const std::function<void()> changes[] = {
        [&] { static_cast<void>(crabs.add(beach[7])); },
        [&] { crabs.remove(beach[1]); },
        [&] { static_cast<void>(places.add({&beach[7], 1})); },
        [&] { places.remove({&beach[1], 1}); },
        [&] { static_cast<void>(ownership.own(beach[7], beach[8])); },
        [&] { ownership.release(beach[1]); },
        [&] { ownership.drop({&beach[1], 1}); },
        [&] { static_cast<void>(models.add({&beach[7], 1}, tree)); },
        [&] { models.remove({&beach[1], 1}); },
        [&] { static_cast<void>(tags.add_tag(beach[1], "new")); },
        [&] { tags.remove_tag(beach[0], "old"); },
        [&] { entities.destroy(beach[1]); },  // the callback of the ownership manager removes a row
    };
    for (const std::function<void()>& change : changes)
        EXPECT_DEATH(in_a_pass(change), " while the passes of a world ran") << &change - changes;
}

TEST_F(HeldStores, a_pass_names_only_archetypes_that_were_asked_for_before) {
    Database& sea = world.database();
    const Archetype& both = sea.archetype<Pincer, Shell>();
    const ComponentType shell = sea.component<Shell>();
    in_a_pass([&] {
        EXPECT_EQ((&sea.archetype<Pincer, Shell>()), &both);
        EXPECT_EQ(&sea.with(both, shell), &both);
    });
    EXPECT_DEATH(in_a_pass([&] { static_cast<void>(sea.archetype<Shell>()); }),
                 "an archetype was asked for the first time while passes");
    EXPECT_DEATH(in_a_pass([&] { sea.without(both, shell); }), "an archetype was asked for the first time");
    EXPECT_DEATH(in_a_pass([&] { sea.component<Pearl>(); }),
                 "a component type was named for the first time while passes");
}

TEST_F(HeldStores, a_pass_may_change_values_and_links) {
    in_a_pass([&] {
        crabs.set<&Crab::mass>(crabs.instance(beach[1]), 3);
        places.set_position(places.instance(beach[1]), {1, 2, 3});
        ASSERT_TRUE(places.link(places.instance(beach[2]), places.instance(beach[1])).ok());
        models.set_local(models.instance(beach[1]), 0, {.position = {4, 5, 6}});
        EXPECT_EQ(models.compute(), 1u);
    });
    EXPECT_EQ(places.world_position(places.instance(beach[2])), (Vec3{1, 2, 3}));
    EXPECT_EQ(models.model(models.instance(beach[1]), 0).row[1].w, 5);
    EXPECT_TRUE(crabs.add(beach[7]).ok());
    EXPECT_EQ(places.remove(beach), 5u);
    EXPECT_TRUE(entities.destroy(beach[0]));
    EXPECT_FALSE(entities.alive(beach[1]));
}

TEST_F(HeldStores, a_refusal_names_the_call_the_store_the_component_and_the_pass_and_points_to_commands) {
    Database& sea = world.database();
    ASSERT_TRUE(sea.add(beach[0], Pearl{}).ok());
    const struct {
        std::function<void()> change;
        const char* message;
    } cases[] = {
        {[&] { crabs.remove(beach[1]); }, "remove\\(\\) of a manager for \"crab\" was called in the pass \"meddle\""},
        {[&] { static_cast<void>(ownership.own(beach[7], beach[8])); }, "of the owners for \"owned\" was called"},
        {[&] { places.remove({&beach[1], 1}); }, "of the transforms for \"transform\" was called"},
        {[&] { models.remove({&beach[1], 1}); }, "of the model poses for \"model_pose\" was called"},
        {[&] { static_cast<void>(sea.add(beach[1], Pearl{})); },
         "add\\(\\) of the database for \"pearl\" was called in"},
        {[&] { static_cast<void>(sea.create(Pearl{})); }, "create\\(\\) of the database for \"pearl\" was called in"},
        {[&] { static_cast<void>(sea.remove<Pearl>(beach[0])); }, "remove\\(\\) of the database for \"pearl\" was"},
        {[&] { static_cast<void>(sea.move(beach[0], 3)); }, "move\\(\\) of the database was called in the pass"},
        {[&] { sea.destroy(beach[0]); }, "destroy\\(\\) of the database was called in the pass .* take a Commands&"},
        {[&] { static_cast<void>(world.activity().set_active(beach[0], false)); },
         "made or attached .*: the inactive entities for \"inactive\"; .*commands.add\\(entity, Inactive"},
    };
    for (const auto& one : cases) EXPECT_DEATH(in_a_pass(one.change), one.message) << &one - cases;
    static_cast<void>(world.activity());
    EXPECT_DEATH(in_a_pass([&] { static_cast<void>(world.activity().set_active(beach[0], false)); }),
                 "of the inactive entities for \"inactive\" was called in the pass \"meddle\".*take a Commands&");
}

}  // namespace

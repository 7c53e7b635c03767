// Names of entities.

#include "shoal/components/debug_name.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace shoal {
namespace {

struct DebugNames : ::testing::Test {
    EntityManager entities{{.minimum_free_ids = 1}};
    PagePool pool;
    Manager<DebugName> manager{entities, pool};
    StringTable texts;
    DebugNameManager names{manager, texts};
};

// req: A5
TEST_F(DebugNames, an_entity_has_one_name_or_none) {
    const Entity coral = *entities.create(), crab = *entities.create();
    EXPECT_EQ(names.name(coral), "");
    ASSERT_TRUE(names.set_name(coral, "coral").ok());
    ASSERT_TRUE(names.set_name(crab, "coral").ok()) << "two entities may have the same name";
    EXPECT_EQ(names.name(coral), "coral");
    ASSERT_TRUE(names.set_name(coral, "old coral").ok());
    EXPECT_EQ(names.name(coral), "old coral");
    EXPECT_EQ(names.name(crab), "coral");
    EXPECT_EQ(manager.num_components(), 2u);
    ASSERT_TRUE(names.set_name(coral, "").ok());
    EXPECT_EQ(names.name(coral), "");
    EXPECT_FALSE(manager.has(coral));
}

TEST_F(DebugNames, dead_entities_have_no_name_and_get_none) {
    const Entity crab = *entities.create();
    ASSERT_TRUE(names.set_name(crab, "crab").ok());
    entities.destroy(crab);
    EXPECT_EQ(names.name(crab), "") << "even before its row is removed";
    const Status status = names.set_name(crab, "ghost");
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find("\"ghost\""), std::string_view::npos) << status.message();
    EXPECT_FALSE(names.set_name(kNullEntity, "nobody").ok());
    EXPECT_EQ(names.name(kNullEntity), "");
    const Entity newer = *entities.create();
    ASSERT_EQ(newer.index(), crab.index());
    EXPECT_EQ(names.name(newer), "");
    ASSERT_TRUE(names.set_name(newer, "shrimp").ok());
    EXPECT_EQ(names.name(crab), "");
    EXPECT_EQ(names.name(newer), "shrimp");
}

TEST_F(DebugNames, names_that_the_manager_was_given_are_read_through_the_table) {
    const Entity known = *entities.create(), unknown = *entities.create();
    ASSERT_TRUE(texts.intern("from a blob").ok());
    ASSERT_TRUE(manager.add(known, {StringId("from a blob")}).ok());
    ASSERT_TRUE(manager.add(unknown, {StringId("a text that nobody kept")}).ok());
    EXPECT_EQ(names.name(known), "from a blob");
    EXPECT_EQ(names.name(unknown), "");
}

TEST_F(DebugNames, random_namings_agree_with_a_map) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    std::vector<Entity> known(300);
    ASSERT_TRUE(entities.create(known).ok());
    std::unordered_map<EntityBits, std::string> map;
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(300'000); ++i) {
        Entity& entity = known[random.below(300)];
        const std::string name = random.below(5) == 0 ? "" : "name " + std::to_string(random.below(1000));
        EXPECT_EQ(names.set_name(entity, name).ok(), entities.alive(entity));
        if (entities.alive(entity)) map[entity.id] = name;
        if (random.below(20) == 0) {
            entities.destroy(entity);
            map.erase(entity.id);
            if (random.below(2) == 0) entity = *entities.create();
        }
        if (random.below(50) == 0) manager.core().settle({&random, static_cast<std::uint64_t>(i) + 2});
        const Entity asked = known[random.below(300)];
        const auto found = map.find(asked.id);
        ASSERT_EQ(names.name(asked), found == map.end() ? "" : found->second);
    }
    EXPECT_TRUE(manager.core().validate().ok());
}

}  // namespace
}  // namespace shoal

// Tags: those of an entity, and the entities of a tag.

#include "shoal/components/tag.h"

#include "shoal/components/detail/entity_texts.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace shoal {
namespace {

struct Tags : ::testing::Test {
    EntityManager entities{{.minimum_free_ids = 1}};
    PagePool pool;
    Manager<Tag> manager{entities, pool};
    StringTable texts;
    TagManager tags{manager, texts};

    std::vector<Entity> create(std::size_t count) {
        std::vector<Entity> out(count);
        EXPECT_TRUE(entities.create(out).ok());
        return out;
    }
    std::vector<Entity> with(std::string_view tag) {
        const std::span<const Entity> found = tags.entities_with(tag);
        std::vector<Entity> sorted(found.begin(), found.end());
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    std::vector<std::string> of(Entity entity) {
        std::vector<std::string> result;
        tags.for_each_tag(entity, [&](StringId tag) { result.emplace_back(tags.text(tag)); });
        return result;
    }
};

using Texts = std::vector<std::string>;
using Entities = std::vector<Entity>;

// req: G9
TEST_F(Tags, an_entity_carries_any_number_of_tags) {
    const Entities made = create(3);
    for (const char* tag : {"enemy", "large", "swims"}) ASSERT_TRUE(tags.add_tag(made[0], tag).ok());
    ASSERT_TRUE(tags.add_tag(made[1], "large").ok());
    ASSERT_TRUE(tags.add_tag(made[0], "large").ok());
    EXPECT_EQ(of(made[0]), (Texts{"swims", "large", "enemy"})) << "an entity has a tag once";
    EXPECT_TRUE(tags.has_tag(made[0], "enemy"));
    EXPECT_FALSE(tags.has_tag(made[1], "enemy"));
    EXPECT_TRUE(of(made[2]).empty());
    EXPECT_TRUE(tags.remove_tag(made[0], "large"));
    EXPECT_FALSE(tags.remove_tag(made[0], "large"));
    EXPECT_EQ(of(made[0]), (Texts{"swims", "enemy"}));
    EXPECT_EQ(of(made[1]), Texts{"large"});
}

// req: G9
TEST_F(Tags, entities_are_found_by_tag) {
    const Entities made = create(4);
    EXPECT_TRUE(tags.entities_with("swims").empty());
    for (const std::size_t i : {0u, 2u, 3u}) ASSERT_TRUE(tags.add_tag(made[i], "swims").ok());
    ASSERT_TRUE(tags.add_tag(made[2], "glows").ok());
    EXPECT_EQ(with("swims"), (Entities{made[0], made[2], made[3]}));
    EXPECT_EQ(with("glows"), Entities{made[2]});
    EXPECT_TRUE(with("walks").empty());
    EXPECT_TRUE(with("").empty());
    EXPECT_TRUE(tags.remove_tag(made[2], "swims"));
    EXPECT_EQ(with("swims"), (Entities{made[0], made[3]}));
    EXPECT_EQ(with("glows"), Entities{made[2]});
}

TEST_F(Tags, a_look_up_sees_every_change_whoever_makes_it) {
    const Entities made = create(4);
    ASSERT_TRUE(tags.add_tag(made[0], "a").ok());
    EXPECT_EQ(with("a"), Entities{made[0]});
    ASSERT_TRUE(manager.add(std::span(made), {StringId("a")}).ok());  // made[0] has it twice now
    EXPECT_EQ(with("a"), made) << "an entity is found once";
    manager.remove(made[1]);
    EXPECT_EQ(with("a"), (Entities{made[0], made[2], made[3]}));
    entities.destroy(made[3]);
    EXPECT_EQ(with("a"), (Entities{made[0], made[2]})) << "dead entities are left out before their rows are removed";
    EXPECT_FALSE(tags.has_tag(made[3], "a"));
    EXPECT_TRUE(of(made[3]).empty());
    Random random;
    manager.core().settle({&random, 2});
    EXPECT_EQ(with("a"), (Entities{made[0], made[2]}));
    EXPECT_TRUE(tags.remove_tag(made[0], "a"));
    EXPECT_FALSE(tags.has_tag(made[0], "a")) << "both rows are removed";
    EXPECT_EQ(with("a"), Entities{made[2]});
    manager.clear();
    EXPECT_TRUE(with("a").empty());

    const Tag spawned[] = {{StringId("b")}, {StringId("a")}};
    const std::byte* column = reinterpret_cast<const std::byte*>(spawned);
    const std::uint32_t owners[] = {1, 0};
    Entities copies = create(6);
    std::sort(copies.begin(), copies.end());
    ASSERT_TRUE(manager.core().spawn({manager.core().schema().id(), copies, 2, 3, owners, {&column, 1}, {}}).ok());
    EXPECT_EQ(with("a"), (Entities{copies[0], copies[2], copies[4]}));
    EXPECT_EQ(with("b"), (Entities{copies[1], copies[3], copies[5]}));
}

TEST_F(Tags, changes_through_the_store_are_those_of_the_manager) {
    const Entity entity = *entities.create(), other = *entities.create();
    const auto change = [&](TextChange what, Entity whose, std::string_view text) {
        return change_text_in(manager.core(), schema_of<Tag>(), texts, what, whose, text);
    };
    for (const char* tag : {"a", "b", "a"}) ASSERT_TRUE(change(TextChange::kTag, entity, tag));
    EXPECT_EQ(of(entity), (Texts{"b", "a"})) << "an entity has a tag once";
    EXPECT_FALSE(change(TextChange::kTag, entity, ""));
    EXPECT_FALSE(change(TextChange::kUntag, entity, ""));
    ASSERT_TRUE(manager.add(entity, {StringId("a")}));  // as a resource may say it twice
    ASSERT_TRUE(manager.add(other, {StringId("a")}));
    EXPECT_EQ(of(entity), (Texts{"a", "b", "a"}));
    ASSERT_TRUE(change(TextChange::kUntag, entity, "none"));
    ASSERT_TRUE(change(TextChange::kUntag, entity, "a"));
    EXPECT_EQ(of(entity), Texts{"b"}) << "both rows are removed";
    EXPECT_EQ(of(other), Texts{"a"});
}

TEST_F(Tags, a_look_up_without_a_change_rebuilds_nothing) {
    const Entities made = create(100);
    for (const Entity entity : made) ASSERT_TRUE(tags.add_tag(entity, "many").ok());
    const std::span<const Entity> first = tags.entities_with("many");
    ASSERT_TRUE(tags.add_tag(made[0], "many").ok()) << "it has it already";
    entities.destroy(*entities.create());
    EXPECT_EQ(tags.entities_with("many").data(), first.data());
    EXPECT_EQ(tags.entities_with("many").size(), 100u);
}

TEST_F(Tags, an_empty_tag_and_a_dead_entity_are_refused) {
    const Entity entity = *entities.create();
    EXPECT_FALSE(tags.add_tag(entity, "").ok());
    EXPECT_FALSE(tags.add_tag(kNullEntity, "a").ok());
    entities.destroy(entity);
    EXPECT_FALSE(tags.add_tag(entity, "a").ok());
    EXPECT_FALSE(tags.remove_tag(entity, "a"));
    EXPECT_EQ(manager.num_rows(), 0u);
}

TEST_F(Tags, a_new_entity_with_the_index_of_a_dead_one_inherits_no_tags) {
    const Entity old = *entities.create();
    ASSERT_TRUE(tags.add_tag(old, "a").ok());
    EXPECT_EQ(with("a"), Entities{old});
    entities.destroy(old);
    const Entity newer = *entities.create();
    ASSERT_EQ(newer.index(), old.index());
    EXPECT_TRUE(with("a").empty());
    EXPECT_FALSE(tags.has_tag(newer, "a"));
    ASSERT_TRUE(tags.add_tag(newer, "b").ok());
    EXPECT_TRUE(with("a").empty());
    EXPECT_EQ(with("b"), Entities{newer});
}

TEST(TagManagers, a_destroyed_tag_manager_leaves_nothing_behind) {
    const shoal_test::LeakCheck leaks;
    EntityManager entities;
    PagePool pool;
    Manager<Tag> manager(entities, pool);
    StringTable texts;
    const Entity entity = *entities.create();
    {
        TagManager tags(manager, texts);
        ASSERT_TRUE(tags.add_tag(entity, "a").ok());
        EXPECT_EQ(tags.entities_with("a").size(), 1u);
    }
    EXPECT_TRUE(entities.destroy(entity));  // calls nobody
    EXPECT_EQ(manager.num_rows(), 1u);
}

TEST_F(Tags, random_tagging_agrees_with_a_map_of_sets) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Entities known = create(200);
    std::map<std::string, std::set<EntityBits>> map;
    const auto any_tag = [&] { return "tag " + std::to_string(random.below(random.below(40) + 1)); };
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(300'000); ++i) {
        Entity& entity = known[random.below(200)];
        const std::string tag = any_tag();
        switch (random.below(8)) {
            case 0:
            case 1:
            case 2:
                ASSERT_EQ(tags.add_tag(entity, tag).ok(), entities.alive(entity));
                if (entities.alive(entity)) map[tag].insert(entity.id);
                break;
            case 3:
                ASSERT_EQ(tags.remove_tag(entity, tag), map[tag].erase(entity.id) == 1);
                break;
            case 4:
                if (random.below(4) != 0) break;
                entities.destroy(entity);
                for (auto& [name, having] : map) having.erase(entity.id);
                if (random.below(3) != 0) entity = *entities.create();
                break;
            case 5:
                if (random.below(10) == 0) manager.core().settle({&random, static_cast<std::uint64_t>(i) + 2});
                break;
            case 6:
                ASSERT_EQ(tags.has_tag(entity, tag), map[tag].count(entity.id) == 1);
                break;
            default: {
                const Entities found = with(tag);
                const std::set<EntityBits>& having = map[tag];
                ASSERT_TRUE(std::equal(found.begin(), found.end(), having.begin(), having.end(),
                                       [](Entity a, EntityBits b) { return a.id == b; }));
            }
        }
    }
    EXPECT_TRUE(manager.core().validate().ok());
}

}  // namespace
}  // namespace shoal

// Zones that are saved with all that their entities have in the stores of a world, and spawned again.

#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/resource/blob.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/world/entity_blob.h"

#include "support/testing.h"
#include "support/whole_world.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace save_zones_test {

using namespace shoal;
using namespace shoal_test;

/// What is known of an entity: numbers stand for entities that are saved.
struct Known {
    std::string components;
    int parent = -1, owner = -1;
    float armor = 0;  // 0: none
    bool operator==(const Known&) const = default;
};

struct SaveZones : testing::Test {
    SaveZones() {
        world.manager<Fin>(), world.manager<Scar>(), world.manager<Hunts>();
        sea.component<Spot>(), sea.component<Hungry>(), sea.component<Egg>();
        world.transforms(), world.ownership(), world.properties(), world.manager<Tag>();
    }

    Entity parent(Entity entity) {
        TransformManager& transforms = world.transforms();
        if (!transforms.has(entity)) return {};
        const std::uint32_t above = transforms.table().links(LinkColumn::kTreeParent)[transforms.instance(entity).row];
        return above == kNilRow ? Entity() : transforms.table().entities()[above];
    }
    Known known(Entity entity, const std::map<Entity, int>& numbers) {
        const auto number = [&](Entity who) {
            const auto found = numbers.find(who);
            return found == numbers.end() ? -1 : found->second;
        };
        const Result<float> armor = world.properties().get<float>(entity, PropertyPath("armor.front"));
        Known result{text_of(world, entity, &numbers), number(parent(entity)), number(world.ownership().owner(entity)),
                     armor ? *armor : 0};
        // A row of owners may be there for those who were owned by others or own others.
        for (std::size_t at = 0; (at = result.components.find("owned {")) != std::string::npos;)
            result.components.erase(at, result.components.find("}\n", at) + 2 - at);
        return result;
    }
    std::map<Entity, int> numbers_of(std::span<const Entity> all) {
        std::map<Entity, int> numbers;
        for (std::size_t i = 0; i < all.size(); ++i) numbers[all[i]] = static_cast<int>(i);
        return numbers;
    }

    EntityManager entities;
    World world{entities};
    ZoneStreaming zones{world};
    Database& sea = world.database();
};

TEST_F(SaveZones, random_zones_come_back_with_all_that_their_entities_had_in_every_store) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const auto need = [](bool is_done) { EXPECT_TRUE(is_done); };
    for (int round = 0; round < 8; ++round) {
        std::vector<Entity> all(80);
        ASSERT_TRUE(entities.create(all));
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Entity one = all[i];
            if (random.below(5) != 0) {  // others lie in no zone
                ASSERT_TRUE(sea.insert(one, random.below(4), Spot{{random.unit(), 0, 0}}).ok());
                if (random.below(2) == 0) need(sea.add(one, Disabled{Hungry{random.unit()}}).ok());
                for (std::uint32_t n = random.below(3); n > 0; --n)
                    ASSERT_TRUE(sea.add(one, Egg{std::uint16_t(random.below(99))}).ok());
            }
            if (random.below(2) == 0) need(world.manager<Fin>().add(one, Fin{{random.unit(), 0, 0}, 1}).ok());
            for (std::uint32_t n = random.below(3); n > 0; --n)
                ASSERT_TRUE(world.manager<Scar>().add(one, Scar{random.below(99)}));
            if (random.below(2) == 0) need(world.manager<Hunts>().add(one, Hunts{all[random.below(80)]}).ok());
            if (random.below(3) == 0)
                need(world.properties().set(one, PropertyPath("armor.front"), 1 + random.unit()).ok());
            if (random.below(3) == 0) need(bool(TagManager(world.manager<Tag>(), world.strings()).add_tag(one, "shy")));
            ASSERT_TRUE(world.transforms().add({&one, 1}, {{random.unit(), 0, 0}}));
        }
        TransformManager& transforms = world.transforms();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (random.below(2) == 0)
                static_cast<void>(
                    transforms.link(transforms.instance(all[i]), transforms.instance(all[random.below(80)])));
            if (random.below(3) == 0) static_cast<void>(world.ownership().own(all[random.below(80)], all[i]));
        }
        world.step(0.01f);

        const ZoneSet zones = {1, 3};
        const std::vector<Entity> inside = entities_in(world, zones);
        const std::map<Entity, int> numbers = numbers_of(inside);
        for (const Entity one : all) {
            const DatabaseRow at = sea.find(one);
            const bool is_inside = at ? zones.contains(at.table->zone())
                                      : numbers.contains(parent(one)) || numbers.contains(world.ownership().owner(one));
            ASSERT_EQ(numbers.contains(one), is_inside);
        }
        std::vector<Known> before;
        std::vector<Zone> lay;
        std::vector<Matrix3x4> poses;
        for (const Entity one : inside) {
            before.push_back(known(one, numbers));
            lay.push_back(sea.has_row(one) ? sea.find(one).table->zone() : kNoZone);
            poses.push_back(transforms.world(transforms.instance(one)));
        }
        const Result<EntityBlob> saved = save_zones(world, zones);
        ASSERT_TRUE(saved.ok()) << saved.message();
        entities.destroy(inside);
        world.step(0.01f);
        for (const Zone zone : {1u, 3u}) ASSERT_EQ(sea.num_rows(zone), 0u);
        const Result<Blob> blob = Blob::load(saved->bytes);
        ASSERT_TRUE(blob.ok()) << blob.message();
        const Result<Spawned> back = world.spawn(*blob);
        ASSERT_TRUE(back.ok()) << back.message();
        world.step(0.01f);
        ASSERT_EQ(back->entities().size(), inside.size());
        const std::map<Entity, int> now = numbers_of(back->entities());
        for (std::size_t i = 0; i < inside.size(); ++i) {
            const Entity one = back->entities()[i];
            Known after = known(one, now);
            EXPECT_EQ(after.parent, before[i].parent) << i;
            EXPECT_EQ(after.owner, before[i].owner) << i;
            EXPECT_EQ(after.armor, before[i].armor) << i;
            const auto without_pose = [](std::string text) {
                const std::size_t at = text.find("transform {");
                return text.erase(at, text.find("}\n", at) + 2 - at);
            };
            EXPECT_EQ(without_pose(after.components), without_pose(before[i].components)) << i;
            EXPECT_EQ(sea.has_row(one) ? sea.find(one).table->zone() : kNoZone, lay[i]) << i;
            const Matrix3x4 pose = transforms.world(transforms.instance(one));
            for (int row = 0; row < 3; ++row) EXPECT_NEAR(pose.row[row].w, poses[i].row[row].w, 1e-5f) << i;
        }
        const Status whole = sea.validate();
        ASSERT_TRUE(whole.ok()) << whole.message();
        entities.destroy(all), entities.destroy(back->entities());
        world.step(0.01f);
    }
}

TEST_F(SaveZones, references_out_of_the_zones_are_null_and_counted) {
    std::vector<Entity> all(3);
    ASSERT_TRUE(entities.create(all));
    ASSERT_TRUE(sea.insert(all[0], 1, Spot{}).ok() && sea.insert(all[1], 1, Spot{}).ok());
    ASSERT_TRUE(sea.insert(all[2], 2, Spot{}).ok());
    ASSERT_TRUE(world.manager<Hunts>().add(all[0], Hunts{all[2]}) && world.manager<Hunts>().add(all[1], Hunts{all[0]}));
    const Result<EntityBlob> saved = save_zones(world, {1});
    ASSERT_TRUE(saved.ok()) << saved.message();
    EXPECT_EQ(saved->num_lost_references, 1u);
    const Result<Spawned> back = world.spawn(*Blob::load(saved->bytes));
    ASSERT_TRUE(back.ok()) << back.message();
    const auto prey = [&](std::size_t i) {
        return world.manager<Hunts>().get<&Hunts::prey>(world.manager<Hunts>().instance(back->entities()[i]));
    };
    EXPECT_EQ(prey(0), kNullEntity);
    EXPECT_EQ(prey(1), back->entities()[0]);
}

TEST_F(SaveZones, a_zone_that_is_unloaded_is_not_saved_as_if_it_were_empty) {
    const std::string folder = testing::TempDir() + "shoal_save_zones_" + std::to_string(getpid());
    const Entity one = *entities.create();
    ASSERT_TRUE(sea.insert(one, 12, Spot{}).ok());
    ASSERT_TRUE(zones.start(folder).ok() && zones.unload(12).ok());
    EXPECT_EQ(save_zones(world, {11, 12}).message(),
              "zone 12 cannot be saved while it is unloaded; call ZoneStreaming::load() before");
    EXPECT_TRUE(save_zones(world, {11}).ok());
    ASSERT_TRUE(zones.load(12).ok());
    const Result<EntityBlob> saved = save_zones(world, {12});
    ASSERT_TRUE(saved.ok());
    EXPECT_EQ(Blob::load(saved->bytes)->num_entities(), 1u);
    ASSERT_TRUE(zones.stop().ok());
    std::filesystem::remove_all(folder);
}

}  // namespace save_zones_test

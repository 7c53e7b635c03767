// Ownership: who owns whom, and who dies with whom.

#include "shoal/components/ownership.h"

#include "shoal/base/random.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"
#include "support/stores.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace shoal {
namespace {

using Entities = std::vector<Entity>;

struct Ownership : ::testing::Test {
    shoal_test::LeakCheck leaks;
    EntityManager entities{{.minimum_free_ids = 1}};
    PagePool pool;
    OwnershipManager ownership{entities, pool};

    Entities create(std::size_t count) {
        Entities out(count);
        EXPECT_TRUE(entities.create(out).ok());
        return out;
    }
    Entities owned_by(Entity owner) {
        Entities result;
        ownership.for_each_owned(owner, [&](Entity owned) { result.push_back(owned); });
        std::sort(result.begin(), result.end());
        return result;
    }
};

TEST_F(Ownership, a_row_half_way_down_is_removed_while_the_last_row_owns_many) {
    const Entities all = create(103);
    const std::span<const Entity> owned = std::span(all).subspan(2, 100);
    const Entity before = all[0], last = all[1];
    ASSERT_TRUE(ownership.own(before, owned).ok());
    ASSERT_TRUE(ownership.own(before, all[102]).ok());  // keeps its row
    ASSERT_TRUE(ownership.own(last, owned).ok());
    const std::span<const Entity> rows = ownership.table().entities();
    ASSERT_EQ(rows.back(), last);
    const Entity released = rows[(rows.size() - 1) / 2];
    ASSERT_EQ(ownership.owner(released), last);
    EXPECT_EQ(ownership.release(released), 1u);
    const Status status = ownership.validate();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_FALSE(ownership.owner(released));
    EXPECT_EQ(owned_by(last).size(), 99u);
    EXPECT_EQ(owned_by(before), Entities{all[102]});
}

// req: G5
TEST_F(Ownership, what_an_entity_owns_dies_with_it_at_once) {
    const Entities e = create(6);  // 0 owns 1 and 2, 2 owns 3 and 4
    const Entities first = {e[1], e[2]}, second = {e[3], e[4]};
    ASSERT_TRUE(ownership.own(e[0], first).ok());
    ASSERT_TRUE(ownership.own(e[2], second).ok());
    EXPECT_EQ(owned_by(e[0]), first);
    EXPECT_EQ(owned_by(e[2]), second);
    EXPECT_EQ(ownership.owner(e[3]), e[2]);
    EXPECT_EQ(ownership.owner(e[0]), kNullEntity);
    EXPECT_EQ(ownership.num_rows(), 5u);
    EXPECT_EQ(entities.destroy(std::span(&e[0], 1)), 1u);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_FALSE(entities.alive(e[i])) << i;
    EXPECT_TRUE(entities.alive(e[5]));
    EXPECT_EQ(ownership.num_rows(), 0u);
    EXPECT_EQ(entities.num_ignored_destroys(), 0u);
}

TEST_F(Ownership, an_owned_entity_that_dies_leaves_its_owner_alive) {
    const Entities e = create(3);
    ASSERT_TRUE(ownership.own(e[0], std::span(e).subspan(1)).ok());
    entities.destroy(e[1]);
    EXPECT_TRUE(entities.alive(e[0]));
    EXPECT_EQ(owned_by(e[0]), Entities{e[2]});
    entities.destroy(e[2]);
    EXPECT_EQ(ownership.num_rows(), 0u) << "an entity that no longer owns anything needs no row";
    EXPECT_TRUE(entities.alive(e[0]));
    EXPECT_TRUE(ownership.validate().ok());
}

TEST_F(Ownership, released_entities_outlive_their_owner_with_all_that_they_own) {
    const Entities e = create(4);  // 0 > 1 > 2 > 3
    for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(ownership.own(e[i], e[i + 1]).ok());
    EXPECT_TRUE(ownership.release(e[2]));
    EXPECT_FALSE(ownership.release(e[2]));
    entities.destroy(e[0]);
    EXPECT_FALSE(entities.alive(e[1]));
    EXPECT_TRUE(entities.alive(e[2]));
    EXPECT_EQ(ownership.owner(e[3]), e[2]);
    ASSERT_TRUE(ownership.validate().ok());
    entities.destroy(e[2]);
    EXPECT_FALSE(entities.alive(e[3]));
}

TEST_F(Ownership, an_owned_entity_can_change_its_owner) {
    const Entities e = create(3);
    ASSERT_TRUE(ownership.own(e[0], e[2]).ok());
    ASSERT_TRUE(ownership.own(e[1], e[2]).ok());
    EXPECT_EQ(ownership.owner(e[2]), e[1]);
    EXPECT_TRUE(owned_by(e[0]).empty());
    EXPECT_EQ(ownership.num_rows(), 2u);
    const Entities more = create(2);
    ASSERT_TRUE(ownership.own(e[1], more).ok());
    const auto in_order = [&] {
        Entities result;
        ownership.for_each_owned(e[1], [&](Entity owned) { result.push_back(owned); });
        return result;
    };
    const Entities before = in_order();
    for (const Entity owned : before) ASSERT_TRUE(ownership.own(e[1], owned).ok());
    EXPECT_EQ(in_order(), before) << "who owns it already keeps its order";
    entities.destroy(e[0]);
    EXPECT_TRUE(entities.alive(e[2]));
    entities.destroy(e[1]);
    EXPECT_FALSE(entities.alive(e[2]));
}

TEST_F(Ownership, a_cycle_is_refused_and_nothing_changes) {
    const Entities e = create(4);
    for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(ownership.own(e[i], e[i + 1]).ok());
    EXPECT_FALSE(ownership.own(e[2], e[0]).ok());
    EXPECT_FALSE(ownership.own(e[3], e[3]).ok());
    const Entities mixed = {e[3], e[1]};
    EXPECT_FALSE(ownership.own(e[2], mixed).ok());
    EXPECT_EQ(ownership.owner(e[3]), kNullEntity);
    EXPECT_EQ(ownership.owner(e[1]), e[0]);
    EXPECT_TRUE(ownership.validate().ok());
}

TEST_F(Ownership, values_for_several_entities_count_those_that_were_given) {
    const Entities e = create(4);  // 0 owns 1
    ASSERT_TRUE(ownership.own(e[0], e[1]).ok());
    const Entity given[] = {e[0], e[1], e[2], e[3]}, owners[] = {e[1], kNullEntity, e[3], e[3]};
    const Result<std::uint32_t> added = ownership.add_values(
        schema_of<Owned>(), given, {.images = reinterpret_cast<const std::byte*>(owners), .stride = sizeof(Entity)});
    ASSERT_TRUE(added) << added.message();
    EXPECT_EQ(*added, 2u) << "neither a circle of two nor one of itself";
    EXPECT_EQ(ownership.owner(e[0]), kNullEntity);
    EXPECT_EQ(ownership.owner(e[1]), kNullEntity) << "released";
    EXPECT_EQ(ownership.owner(e[2]), e[3]);
    EXPECT_EQ(ownership.num_rows(), 2u);
    EXPECT_TRUE(ownership.validate().ok());
}

TEST_F(Ownership, dead_entities_neither_own_nor_are_owned) {
    const Entities e = create(3);
    entities.destroy(e[0]);
    EXPECT_FALSE(ownership.own(e[0], e[1]).ok());
    EXPECT_FALSE(ownership.own(kNullEntity, e[1]).ok());
    const Entities some = {e[0], kNullEntity, e[2], e[2]};
    ASSERT_TRUE(ownership.own(e[1], some).ok());
    EXPECT_EQ(owned_by(e[1]), Entities{e[2]});
    EXPECT_EQ(ownership.num_rows(), 2u);
}

TEST_F(Ownership, a_chain_of_a_million_and_a_million_owned_by_one_die) {
    constexpr std::size_t kCount = shoal_test::kMillion;
    const Entities chain = create(kCount);
    for (std::size_t i = kCount - 1; i > 0; --i) ASSERT_TRUE(ownership.own(chain[i - 1], chain[i]).ok());
    entities.destroy(chain[0]);
    EXPECT_EQ(entities.num_alive(), 0u);
    const Entities wide = create(kCount);
    ASSERT_TRUE(ownership.own(wide[0], std::span(wide).subspan(1)).ok());
    entities.destroy(wide[0]);
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(ownership.num_rows(), 0u);
}

TEST_F(Ownership, the_owner_of_a_million_does_not_move_whenever_one_is_released) {
    constexpr std::size_t kCount = shoal_test::kMillion;
    const Entities owned = create(kCount), owners = create(2), other = create(1);
    ASSERT_TRUE(ownership.own(owners[0], owned).ok());
    ASSERT_TRUE(ownership.own(owners[0], other).ok());
    ASSERT_TRUE(ownership.own(owners[1], owned).ok());  // now the new owner has the last row
    for (std::size_t i = kCount; i-- > 2;) ASSERT_TRUE(ownership.release(owned[i]));
    EXPECT_EQ(owned_by(owners[1]), (Entities{owned[0], owned[1]}));
    EXPECT_EQ(owned_by(owners[0]), other);
    const Status status = ownership.validate();
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Ownership, an_index_given_out_again_before_the_manager_was_told_inherits_nothing) {
    EntityManager own_entities({.minimum_free_ids = 1});
    struct Reuser {
        EntityManager& entities;
        OwnershipManager* ownership = nullptr;
        Entity heir{}, reborn{};
    } reuser{own_entities};
    own_entities.add_destruction_callback(
        [](void* context, std::span<const Entity>) {
            auto& self = *static_cast<Reuser*>(context);
            if (self.reborn) return;
            self.reborn = *self.entities.create();
            EXPECT_TRUE(self.ownership->own(self.reborn, self.heir).ok());
        },
        &reuser);
    OwnershipManager told_later(own_entities, pool);
    reuser.ownership = &told_later;
    Entities e(3);
    ASSERT_TRUE(own_entities.create(e).ok());
    reuser.heir = e[2];
    ASSERT_TRUE(told_later.own(e[0], e[1]).ok());
    own_entities.destroy(e[0]);
    ASSERT_EQ(reuser.reborn.index(), e[0].index());
    EXPECT_FALSE(own_entities.alive(e[1])) << "its owner died too";
    EXPECT_EQ(told_later.owner(e[2]), reuser.reborn);
    EXPECT_EQ(told_later.num_rows(), 2u);
    EXPECT_TRUE(told_later.validate().ok());
}

TEST_F(Ownership, dropping_an_entity_frees_it_and_what_it_owns) {
    const Entities e = create(3);
    for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(ownership.own(e[i], e[i + 1]).ok());
    ownership.drop(std::span(&e[1], 1));
    EXPECT_EQ(ownership.num_rows(), 0u);
    entities.destroy(e[0]);
    EXPECT_TRUE(entities.alive(e[1]));
    EXPECT_TRUE(entities.alive(e[2]));
}

/// Returns a blob of `owners.size()` entities. owners[i] owns entity i; kNoBlobEntity: nobody owns it.
Result<Blob> blob_of(const std::vector<std::uint32_t>& owners) {
    BlobWriter writer;
    const std::uint32_t type = writer.add_component_type(schema_of<Owned>()).value();
    for (std::uint32_t i = 0; i < owners.size(); ++i) {
        writer.add_entity({});
        const EntityBits bits = owners[i] == kNoBlobEntity ? ~EntityBits(0) : owners[i];
        writer.add_component(type, i, std::as_bytes(std::span(&bits, 1)));
    }
    return Blob::load(*writer.write());
}

// req: G5
TEST_F(Ownership, a_resource_says_who_owns_whom) {
    const Result<Blob> blob = blob_of({kNoBlobEntity, 0, 3, 0});
    ASSERT_TRUE(blob.ok()) << blob.message();
    Store* stores[] = {&ownership};
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob, {.copies = 3});
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        EXPECT_EQ(ownership.owner(spawned->entity(2, copy)), spawned->entity(3, copy));
        EXPECT_EQ(ownership.owner(spawned->entity(3, copy)), spawned->entity(0, copy));
    }
    EXPECT_TRUE(ownership.validate().ok());
    entities.destroy(spawned->entity(0, 1));
    EXPECT_EQ(entities.num_alive(), 8u);
    StoreStatistics statistics;
    ASSERT_EQ(ownership.statistics({&statistics, 1}), 1u);
    EXPECT_EQ(statistics.num_rows, 8u);
    EXPECT_EQ(statistics.component, "owned");
}

TEST_F(Ownership, a_resource_for_entities_that_own_already_is_an_error_and_nothing_changes) {
    const Result<Blob> blob = blob_of({kNoBlobEntity, 0});
    ASSERT_TRUE(blob.ok()) << blob.message();
    const BlobComponents& owned = blob->component_types()[0];
    const Entities e = create(4);
    ASSERT_TRUE(ownership.own(e[3], e[2]).ok());
    const SpawnBatch batch{owned.id, e, 2, 2, owned.entity_index, owned.columns, {}};
    EXPECT_FALSE(ownership.spawn(batch).ok());
    EXPECT_EQ(ownership.num_rows(), 2u);
    EXPECT_EQ(ownership.owner(e[1]), kNullEntity) << "the first copy neither";
    ASSERT_TRUE(ownership.release(e[2]));
    EXPECT_TRUE(ownership.spawn(batch).ok());
    EXPECT_EQ(ownership.owner(e[1]), e[0]);
    EXPECT_EQ(ownership.owner(e[3]), e[2]);
}

TEST_F(Ownership, a_cycle_in_a_resource_is_an_error_and_nothing_changes) {
    Store* stores[] = {&ownership};
    const std::vector<std::uint32_t> circles[] = {{0}, {1, 0}, {kNoBlobEntity, 3, 1, 2}, {1, 2, 3, 1}};
    for (const auto& owners : circles) {
        const Result<Blob> blob = blob_of(owners);
        ASSERT_TRUE(blob.ok()) << blob.message();
        const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob, {.copies = 2});
        ASSERT_FALSE(spawned.ok());
        EXPECT_NE(spawned.message().find("owns itself"), std::string_view::npos) << spawned.message();
        EXPECT_EQ(ownership.num_rows(), 0u);
        EXPECT_EQ(entities.num_alive(), 0u);
    }
}

/// Who owns whom, written as plainly as possible.
struct Model {
    std::map<EntityBits, EntityBits> owner_of;

    bool owns(EntityBits above, EntityBits below) const {
        for (auto found = owner_of.find(below); found != owner_of.end(); found = owner_of.find(found->second))
            if (found->second == above) return true;
        return false;
    }
    void kill(EntityBits entity, std::set<EntityBits>& dead) {
        dead.insert(entity);
        owner_of.erase(entity);
        for (const auto& [owned, owner] : std::map(owner_of))
            if (owner == entity && owner_of.count(owned) != 0) kill(owned, dead);
    }
};

TEST_F(Ownership, random_owning_agrees_with_a_map) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Model model;
    Entities known = create(60);
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(200'000); ++i) {
        Entity& a = known[random.below(60)];
        const Entity b = known[random.below(60)];
        switch (random.below(8)) {
            case 0: {
                std::set<EntityBits> dead;
                if (random.below(4) != 0 || !entities.alive(a)) break;
                model.kill(a.id, dead);
                entities.destroy(a);
                for (const EntityBits bits : dead) ASSERT_FALSE(entities.alive({bits}));
                break;
            }
            case 1:
                if (!entities.alive(a)) a = *entities.create();
                break;
            case 2:
                ASSERT_EQ(ownership.release(a), model.owner_of.erase(a.id) != 0);
                break;
            case 3:
                ASSERT_EQ(ownership.owner(a).id, model.owner_of.count(a.id) != 0 ? model.owner_of[a.id] : 0u);
                break;
            case 4:
                if (random.below(50) != 0) break;
                ASSERT_TRUE(ownership.validate().ok()) << ownership.validate().message();
                break;
            default: {
                const bool circle = a == b || model.owns(b.id, a.id);
                const bool allowed = entities.alive(a) && (!entities.alive(b) || !circle);
                ASSERT_EQ(ownership.own(a, b).ok(), allowed);
                if (allowed && entities.alive(b)) model.owner_of[b.id] = a.id;
            }
        }
        if (i % 100 != 0) continue;
        for (const Entity entity : known) ASSERT_LE(model.owner_of.count(entity.id), entities.alive(entity) ? 1u : 0u);
    }
    ASSERT_TRUE(ownership.validate().ok()) << ownership.validate().message();
}

}  // namespace
}  // namespace shoal

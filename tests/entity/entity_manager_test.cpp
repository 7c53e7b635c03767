#include "shoal/entity/entity_manager.h"

#include "entity/life.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"
#include "support/changed_state.h"
#include "support/logged.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace shoal {
namespace {

std::vector<Entity> create(EntityManager& entities, std::size_t count) {
    std::vector<Entity> result(count);
    const Status status = entities.create(result);
    EXPECT_TRUE(status) << status.message();
    return result;
}

// req: A2, A14, A15
TEST(Entity, is_a_number_with_spare_bits_for_a_tag) {
    EXPECT_TRUE(std::is_trivially_copyable_v<Entity>);
    if constexpr (SHOAL_WIDE_IDS == 0) {
        EXPECT_EQ(sizeof(Entity), 4u);
        EXPECT_EQ(make_entity(kIndexMask, static_cast<Generation>(kGenerationMask)).id >> 30, 0u);
    } else {
        EXPECT_EQ(sizeof(Entity), 8u);  // req: A16
    }
    const Entity entity = make_entity(0xABCD, 200);
    EXPECT_EQ(entity.index(), 0xABCDu);
    EXPECT_EQ(entity.generation(), 200u);
}

// req: A3, A10
TEST(EntityManager, a_created_entity_lives_and_a_destroyed_id_is_not_alive) {
    EntityManager entities;
    const Entity a = *entities.create();
    const Entity b = *entities.create();
    EXPECT_NE(a, b);
    EXPECT_TRUE(entities.alive(a));
    EXPECT_TRUE(entities.destroy(a));
    EXPECT_FALSE(entities.alive(a));
    EXPECT_TRUE(entities.alive(b));
    EXPECT_EQ(entities.num_alive(), 1u);
    EXPECT_EQ(entities.num_free_ids(), 1u);
    EXPECT_EQ(entities.num_indices_used(), 2u);
}

// req: A23
TEST(EntityManager, alive_is_false_for_whatever_was_never_given_out) {
    EntityManager entities;
    const Entity entity = create(entities, 100)[50];
    EXPECT_FALSE(entities.alive(kNullEntity));
    for (std::size_t bit = kIndexBits; bit < sizeof(EntityBits) * 8; ++bit)
        EXPECT_FALSE(entities.alive({entity.id ^ EntityBits(1) << bit})) << "generation or spare bit " << bit;
    EXPECT_FALSE(entities.alive(make_entity(101, 1))) << "an index that was never used";
    EXPECT_FALSE(entities.alive(make_entity(101, 0))) << "generation 0 of an index that was never used";
    EXPECT_FALSE(entities.alive(make_entity(0, 1))) << "index 0 belongs to null";
    EXPECT_FALSE(entities.alive(make_entity(static_cast<std::uint32_t>(kIndexMask), kLastGeneration)));
    EXPECT_FALSE(entities.alive({~EntityBits(0)}));
    ASSERT_TRUE(entities.destroy(entity));
    EXPECT_FALSE(entities.alive(make_entity(entity.index(), 0)));
    EXPECT_FALSE(entities.alive(next_life(entity))) << "the next id of a freed index lives only when it is given out";
}

// req: A23
TEST(EntityManager, destroying_what_does_not_live_is_skipped_and_counted) {
    EntityManager entities;
    const std::vector<Entity> e = create(entities, 5);
    ASSERT_TRUE(entities.destroy(e[4]));
    const Entity mixed[] = {e[0], kNullEntity, e[1], e[0], e[4], make_entity(4000, 1), e[2], e[2], e[2]};
    EXPECT_EQ(entities.destroy(mixed), 3u);
    EXPECT_EQ(entities.num_ignored_destroys(), 6u);
    EXPECT_EQ(entities.num_alive(), 1u);
    EXPECT_TRUE(entities.alive(e[3]));
    EXPECT_EQ(entities.destroy(std::span<const Entity>()), 0u);
    EXPECT_FALSE(entities.destroy(kNullEntity));
    EXPECT_EQ(entities.num_ignored_destroys(), 7u);
}

TEST(EntityManager, a_living_run_is_all_alive_and_in_the_order_of_its_ids) {
    EntityManager entities;
    std::vector<Entity> made(3000);
    ASSERT_TRUE(entities.create(made));
    EXPECT_TRUE(entities.is_living_run(made));
    EXPECT_TRUE(entities.is_living_run({}));
    EXPECT_TRUE(entities.is_living_run(std::span(made).subspan(17, 1)));
    std::swap(made[100], made[101]);
    EXPECT_FALSE(entities.is_living_run(made));
    EXPECT_TRUE(entities.is_living_run(std::span(made).first(100)));
    std::swap(made[100], made[101]);
    entities.destroy(made[2999]);
    EXPECT_FALSE(entities.is_living_run(made));
    EXPECT_TRUE(entities.is_living_run(std::span(made).first(2999)));
    std::vector<Entity> beyond = {made[2998], made[2999], make_entity(made[2999].index() + 1, 1)};
    EXPECT_FALSE(entities.is_living_run(std::span(beyond).subspan(2)));
    EXPECT_FALSE(entities.is_living_run(beyond));
    const Entity null[] = {kNullEntity};
    EXPECT_FALSE(entities.is_living_run(null));
    const Entity last[] = {make_entity(static_cast<std::uint32_t>(kIndexMask), 1)};
    EXPECT_FALSE(entities.is_living_run(last));
}

TEST(EntityManager, an_empty_span_creates_nothing) {
    EntityManager entities({.minimum_free_ids = 1, .max_entities = 1});
    EXPECT_TRUE(entities.create(std::span<Entity>()));
    create(entities, 1);
    EXPECT_TRUE(entities.create(std::span<Entity>())) << "also when no index is left";
    EXPECT_EQ(entities.num_alive(), 1u);
}

// req: A19, A20
TEST(EntityManager, freed_indices_come_back_first_in_first_out_while_enough_are_free) {
    EntityManager entities({.minimum_free_ids = 3});
    const std::vector<Entity> e = create(entities, 6);
    ASSERT_TRUE(entities.destroy(e[4]));
    ASSERT_TRUE(entities.destroy(e[1]));
    EXPECT_EQ(entities.create()->index(), 7u) << "two are free: a fresh index";
    ASSERT_TRUE(entities.destroy(e[0]));
    EXPECT_EQ(*entities.create(), next_life(e[4])) << "three are free: the oldest";
    EXPECT_EQ(entities.create()->index(), 8u) << "two are free again";
    ASSERT_TRUE(entities.destroy(e[2]));
    ASSERT_TRUE(entities.destroy(e[3]));
    const std::vector<Entity> span = create(entities, 4);
    EXPECT_EQ(span[0], next_life(e[1])) << "a span takes one by one under that rule";
    EXPECT_EQ(span[1], next_life(e[0]));
    EXPECT_EQ(span[2].index(), 9u);
    EXPECT_EQ(span[3].index(), 10u);
}

// req: A18, A20
TEST(EntityManager, an_id_comes_back_after_256_times_1024_pairs_at_the_earliest) {
    if constexpr (kGenerationBits > 14) GTEST_SKIP() << "a wide generation takes too long to come round";
    constexpr std::uint64_t kNumLives = kGenerationMask;
    EntityManager entities;
    const Entity first = *entities.create();
    ASSERT_TRUE(entities.destroy(first));
    std::uint64_t num_pairs = 0;
    std::vector<bool> generations(kNumLives + 1);
    for (;; ++num_pairs) {
        const Entity entity = *entities.create();
        if (entity == first) break;
        ASSERT_NE(entity.generation(), 0u);
        generations[entity.generation()] = true;
        ASSERT_TRUE(entities.destroy(entity));
        ASSERT_LT(num_pairs, kNumLives * 1030);
    }
    EXPECT_GE(num_pairs + 1, 256u * 1024u);
    EXPECT_EQ(num_pairs + 1, kNumLives * 1029);
    EXPECT_EQ(std::count(generations.begin(), generations.end(), true), static_cast<std::ptrdiff_t>(kNumLives))
        << "every generation but 0 was used";
    EXPECT_EQ(entities.num_indices_used(), 1029u);
}

// req: A18
TEST(EntityManager, generations_wrap_past_zero) {
    const Entity last = make_entity(77, kLastGeneration);
    EXPECT_EQ(next_life(last), make_entity(77, 1));
    EXPECT_EQ(previous_life(make_entity(77, 1)), last);
    Entity entity = make_entity(77, 1);
    for (int i = 0; i < 40'000; ++i) {
        const Entity next = next_life(entity);
        EXPECT_NE(next.generation(), 0u);
        EXPECT_EQ(previous_life(next), entity);
        entity = next;
    }
}

// req: A21
TEST(EntityManager, margins_are_tunable) {
    EntityManager entities({.minimum_free_ids = 1, .max_entities = 1});
    const Entity first = *entities.create();
    ASSERT_TRUE(entities.destroy(first));
    EXPECT_EQ(*entities.create(), next_life(first)) << "one is free, which is enough";
    EXPECT_EQ(entities.max_entities(), 1u);
    EXPECT_FALSE(entities.create());
}

// req: A17
TEST(EntityManager, exhausted_ids_are_a_status_that_changes_nothing) {
    EntityManager entities({.minimum_free_ids = 4, .max_entities = 10});
    const std::vector<Entity> e = create(entities, 8);
    ASSERT_EQ(entities.destroy(std::span(e).first(2)), 2u);
    std::vector<Entity> out(3, make_entity(99, 9));
    const Status status = entities.create(out);
    ASSERT_FALSE(status);
    const std::string message(status.message());
    EXPECT_NE(message.find("cannot create 3 entities: 6 of at most 10 live and 2 indices are free"), std::string::npos)
        << message;
    EXPECT_EQ(out, std::vector<Entity>(3, make_entity(99, 9)));
    EXPECT_EQ(entities.num_alive(), 6u);
    EXPECT_EQ(entities.num_free_ids(), 2u);
    EXPECT_EQ(entities.num_indices_used(), 8u);

    create(entities, 2);
    const Result<Entity> one = entities.create();
    EXPECT_FALSE(one) << "two are free, four would have to be";
    EXPECT_NE(one.message().find("cannot create 1 "), std::string::npos) << one.message();
    ASSERT_EQ(entities.destroy(std::span(e).subspan(2, 2)), 2u);
    EXPECT_EQ(*entities.create(), next_life(e[0]));
    EXPECT_FALSE(entities.create());
}

// req: A17
TEST(EntityManager, all_indices_but_the_null_index_can_live) {
    if constexpr (kIndexBits > 22) GTEST_SKIP() << "four billion ids take too much memory";
    EntityManager entities;
    std::vector<Entity> all = create(entities, kMaxEntities);
    EXPECT_EQ(entities.num_alive(), SHOAL_INDEX_BITS == 22 ? 4'194'303u : kMaxEntities);
    EXPECT_EQ(all.back().index(), kIndexMask);
    EXPECT_TRUE(entities.alive(all.front()) && entities.alive(all.back()));
    EXPECT_FALSE(entities.create());
    EXPECT_FALSE(entities.create(std::span(all).first(1)));
    EXPECT_EQ(entities.num_alive(), kMaxEntities);
    EXPECT_EQ(entities.destroy(all), all.size()) << "all of them can be free";
    EXPECT_EQ(entities.num_alive(), 0u);
    const std::vector<Entity> again = create(entities, all.size() - 1028);
    EXPECT_TRUE(
        std::equal(again.begin(), again.end(), all.begin(), [](Entity a, Entity b) { return a == next_life(b); }));
    EXPECT_FALSE(entities.create()) << "1,028 rest";
}

// req: A22
TEST(EntityManager, the_look_up_costs_one_generation_per_index_ever_used) {
    EntityManager entities;
    const std::size_t before = entities.memory_use().used_bytes;
    const std::vector<Entity> e = create(entities, 60'000);
    EXPECT_EQ(entities.memory_use().used_bytes - before, 60'000 * sizeof(Generation));
    ASSERT_EQ(entities.destroy(std::span(e).first(1000)), 1000u);
    EXPECT_EQ(entities.memory_use().used_bytes - before, 60'000 * sizeof(Generation) + 1000 * sizeof(Entity));
    EXPECT_LE(entities.memory_use().committed_bytes, entities.memory_use().used_bytes + 3 * kPageBytes);
    EXPECT_GE(entities.memory_use().reserved_bytes, entities.memory_use().committed_bytes);
}

using EntityManagerDeathTest = ::testing::Test;

TEST(EntityManagerDeathTest, without_address_space_the_program_ends_and_names_the_owner) {
    EXPECT_DEATH(EntityManager({.max_death_list = std::size_t(1) << 59}), "entity manager: death list: cannot reserve");
    // Twice 2^63 is 0 in 64 bits.
    EXPECT_DEATH(EntityManager({.max_death_list = std::size_t(1) << 63}), "entity manager: death list: cannot reserve");
}

TEST(EntityManagerDeathTest, without_bookkeeping_memory_the_program_ends_and_names_the_owner) {
    EntityManager entities;
    EXPECT_DEATH(
        {
            set_memory_hooks({[](void*, std::size_t, const char*) -> void* { return nullptr; },
                              [](void*, void*, std::size_t, const char*) {}, nullptr});
            entities.open_death_cursor();
        },
        "death list asked for");
}

TEST(EntityManagerDeathTest, nonsense_options_are_refused) {
    EXPECT_DEATH(EntityManager({.minimum_free_ids = 0}), "minimum_free_ids");
    EXPECT_DEATH(EntityManager({.max_entities = kMaxEntities + 1}), "max_entities");
}

TEST(EntityManager, what_was_inactive_is_forgotten_with_its_death) {
    EntityManager entities({.minimum_free_ids = 1});
    int store = 0;
    entities.inactive().add_speaker(&store);
    std::vector<Entity> made(10), again(10);
    ASSERT_TRUE(entities.create(made));
    entities.inactive().set_by_itself(&store, made, true);
    EXPECT_EQ(entities.inactive().size(), 10u);
    EXPECT_TRUE(entities.destroy(made[3]));
    EXPECT_EQ(entities.inactive().size(), 9u);
    EXPECT_EQ(entities.destroy(made), 9u);
    EXPECT_TRUE(entities.inactive().empty());
    ASSERT_TRUE(entities.create(again));
    for (const Entity entity : again) EXPECT_FALSE(entities.inactive().has(entity)) << "the next on the index";
}

TEST(EntityManager, takes_a_state_with_as_many_indices_as_it_has_and_none_with_more) {
    for (const std::size_t num_used : {10u, 11u}) {
        EntityManager larger({.max_entities = 20}), entities({.minimum_free_ids = 1, .max_entities = 10});
        std::vector<Entity> made(num_used);
        ASSERT_TRUE(larger.create(made));
        Snapshot state;
        SnapshotWriter to(state);
        larger.save(to);
        for (const bool is_trusted : {false, true}) {
            int speaker = 0;
            const Entity own = *entities.create();
            entities.inactive().add_speaker(&speaker);
            entities.inactive().set_by_itself(&speaker, {&own, 1}, true);
            SnapshotReader from(state, is_trusted);
            EXPECT_EQ(entities.load(from).ok(), num_used <= 10);
            EXPECT_EQ(entities.num_alive(), num_used <= 10 ? num_used : is_trusted ? 2 : 1);
            EXPECT_EQ(entities.inactive().size(), num_used <= 10 ? 0u : 1u) << "who is inactive is told by stores";
            entities.inactive().remove_speaker(&speaker);
            EXPECT_TRUE(entities.inactive().empty());
            if (num_used <= 10) {
                EXPECT_FALSE(entities.create().ok());
                EXPECT_TRUE(entities.destroy(made[0]));
            }
        }
    }
}

TEST(EntityManager, refuses_a_state_in_which_an_index_waits_twice_and_another_one_not_at_all) {
    EntityManager entities;
    std::vector<Entity> made(10);
    ASSERT_TRUE(entities.create(made));
    entities.destroy(std::span(made).first(3));
    Snapshot state;
    SnapshotWriter to(state);
    entities.save(to);
    for (const bool is_changed : {false, true}) {
        const Snapshot given = shoal_test::with_part(state, "entities/free_ids", [&](std::vector<std::byte>& bytes) {
            if (is_changed) std::copy_n(bytes.begin(), sizeof(Entity), bytes.begin() + sizeof(Entity));
        });
        EntityManager other;
        SnapshotReader from(given, false);
        const Status status = other.load(from);
        EXPECT_EQ(status.ok(), !is_changed);
        if (is_changed) {
            EXPECT_NE(status.message().find("entity index 1 cannot be free"), std::string_view::npos)
                << status.message();
        }
    }
}

TEST(EntityManager, warns_of_a_reader_that_reads_nothing_and_of_none_that_reads_a_part) {
    constexpr int kManySettles = 1000;
    const shoal_test::Logged log;
    EntityManager entities;
    std::vector<Entity> made(2 * kManySettles);
    ASSERT_TRUE(entities.create(made));
    const DeathCursor gone = entities.open_death_cursor("hulls");
    const DeathCursor quick = entities.open_death_cursor("oars");
    entities.close_death_cursor(gone);
    const DeathCursor slow = entities.open_death_cursor("sails");
    entities.destroy(made);
    entities.advance(quick, entities.deaths_end());
    for (int i = 0; i < 2 * kManySettles - 1; ++i) {
        entities.advance(slow, entities.death_position(slow) + 1);
        entities.note_settle();
    }
    EXPECT_TRUE(log.lines.empty()) << "a part in each settle";
    for (int i = 0; i < kManySettles; ++i) entities.note_settle();
    ASSERT_EQ(log.lines.size(), 1u);
    EXPECT_EQ(log.lines[0].find("a store (sails) has not looked at the last 1 deaths"), 0u) << log.lines[0];
    entities.close_death_cursor(quick), entities.close_death_cursor(slow);
}

TEST(Entity, is_read_from_its_text_and_from_nothing_else) {
    const Entity last = make_entity(kIndexMask, Generation(kGenerationMask));
    for (const Entity entity : {kNullEntity, make_entity(1, 1), make_entity(17, 3), last}) {
        Entity found = make_entity(2, 2);
        EXPECT_TRUE(read_entity(entity_text(entity), found));
        EXPECT_EQ(found, entity);
    }
    const std::string too_old = "1:" + std::to_string(std::uint64_t(kGenerationMask) + 1),
                      too_far = std::to_string(std::uint64_t(kIndexMask) + 1) + ":1";
    for (const std::string& text :
         {std::string(), std::string("17"), std::string("17:"), std::string(":3"), std::string("0:3"),
          std::string("17:0"), std::string("17:3 "), std::string("17:3:1"), std::string("17 :3"), std::string("1x7:3"),
          std::string("-1:3"), std::string("nul"), too_old, too_far}) {
        Entity found = make_entity(2, 2);
        EXPECT_FALSE(read_entity(text, found)) << text;
        EXPECT_EQ(found, make_entity(2, 2)) << text;
    }
}

}  // namespace
}  // namespace shoal

#include "shoal/entity/entity_manager.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace shoal {
namespace {

/// A callback that writes what it receives to a shared log, and can then act.
struct Listener {
    EntityManager& entities;
    std::string name;
    std::string& log;
    void (*action)(Listener& self) = nullptr;
    DestructionCallback callback{};
    std::vector<Entity> heard{};

    void listen() { callback = entities.add_destruction_callback(&Listener::hear, this); }
    static void hear(void* context, std::span<const Entity> destroyed) {
        auto& self = *static_cast<Listener*>(context);
        self.log += self.name + std::to_string(destroyed.size()) + ' ';
        for (const Entity entity : destroyed)
            EXPECT_FALSE(self.entities.alive(entity)) << "dead before anybody is told";
        self.heard.insert(self.heard.end(), destroyed.begin(), destroyed.end());
        if (self.action != nullptr) self.action(self);
    }
};

struct DestructionCallbackTest : ::testing::Test {
    shoal_test::LeakCheck leaks;
    EntityManager entities;
    std::string log;
    std::vector<Entity> e = std::vector<Entity>(20);

    void SetUp() override { ASSERT_TRUE(entities.create(e)); }
    std::span<const Entity> some(std::size_t first, std::size_t count) { return std::span(e).subspan(first, count); }
};

// req: B19
TEST_F(DestructionCallbackTest, each_is_called_once_per_batch_in_order_of_registration) {
    Listener a{entities, "a", log}, b{entities, "b", log}, c{entities, "c", log};
    b.listen();
    a.listen();
    c.listen();
    entities.destroy(some(0, 5));
    entities.destroy(e[7]);
    EXPECT_EQ(log, "b5 a5 c5 b1 a1 c1 ");
    EXPECT_EQ(a.heard, (std::vector<Entity>{e[0], e[1], e[2], e[3], e[4], e[7]}));
}

TEST_F(DestructionCallbackTest, only_those_who_died_are_named) {
    Listener a{entities, "a", log};
    a.listen();
    const Entity mixed[] = {e[3], e[3], kNullEntity, e[1], e[3], e[2], e[1]};
    EXPECT_EQ(entities.destroy(mixed), 3u);
    EXPECT_EQ(a.heard, (std::vector<Entity>{e[3], e[1], e[2]}));
    entities.destroy(some(1, 3));
    EXPECT_EQ(log, "a3 ") << "a batch in which nobody died is not told";
}

TEST_F(DestructionCallbackTest, a_batch_within_a_batch_is_told_to_all_before_the_outer_goes_on) {
    Listener a{entities, "a", log, [](Listener& self) {
                   if (self.heard.size() >= 3) return;
                   Entity more[2];
                   ASSERT_TRUE(self.entities.create(more));
                   ASSERT_EQ(self.entities.destroy(more), 2u);
               }};
    Listener b{entities, "b", log};
    a.listen();
    b.listen();
    const DeathCursor cursor = entities.open_death_cursor();
    entities.destroy(e[0]);
    EXPECT_EQ(log, "a1 a2 b2 b1 ");
    ASSERT_EQ(entities.deaths(cursor).entities.size(), 3u);
    EXPECT_EQ(entities.deaths(cursor).entities[0], e[0]) << "the list is in order of death";
    entities.close_death_cursor(cursor);
}

TEST_F(DestructionCallbackTest, deaths_asked_for_come_when_all_have_been_told_of_the_present_ones) {
    static const std::vector<Entity>* all;
    all = &e;
    Listener a{entities, "a", log, [](Listener& self) {
                   if (self.heard.size() >= 5) return;
                   self.entities.destroy_next(std::span(*all).subspan(self.heard.size(), 2));
                   EXPECT_TRUE(self.entities.alive((*all)[self.heard.size()])) << "it lives until its batch";
               }};
    Listener b{entities, "b", log};
    a.listen();
    b.listen();
    const DeathCursor cursor = entities.open_death_cursor();
    EXPECT_EQ(entities.destroy(some(0, 1)), 1u) << "what follows is not counted";
    EXPECT_EQ(log, "a1 b1 a2 b2 a2 b2 ");
    EXPECT_EQ(b.heard, (std::vector<Entity>{e[0], e[1], e[2], e[3], e[4]}));
    const std::span<const Entity> dead = entities.deaths(cursor).entities;
    EXPECT_EQ(std::vector<Entity>(dead.begin(), dead.end()), b.heard);
    entities.close_death_cursor(cursor);
}

TEST_F(DestructionCallbackTest, deaths_asked_for_within_a_batch_within_a_batch_wait_for_the_outermost) {
    static const std::vector<Entity>* all;
    all = &e;
    Listener a{entities, "a", log, [](Listener& self) {
                   if (self.heard.size() == 1)
                       self.entities.destroy(std::span(*all).subspan(1, 2));
                   else if (self.heard.size() == 3)
                       self.entities.destroy_next(std::span(*all).subspan(2, 4));
               }};
    Listener b{entities, "b", log};
    a.listen();
    b.listen();
    entities.destroy(e[0]);
    EXPECT_EQ(log, "a1 a2 b2 b1 a3 b3 ") << "one that died meanwhile is skipped";
    EXPECT_EQ(entities.num_ignored_destroys(), 1u);
    entities.destroy_next(some(10, 4));
    EXPECT_EQ(log, "a1 a2 b2 b1 a3 b3 a4 b4 ") << "at once where no callback runs";
}

TEST_F(DestructionCallbackTest, a_long_line_of_deaths_needs_no_deep_stack) {
    constexpr std::size_t kLength = std::min<std::uint64_t>(1'000'000, kMaxEntities / 2);
    static std::vector<Entity> line;
    line.resize(kLength);
    ASSERT_TRUE(entities.create(line));
    static std::size_t num_dead;
    num_dead = 0;
    entities.add_destruction_callback(
        [](void* manager, std::span<const Entity> destroyed) {
            num_dead += destroyed.size();
            if (num_dead < kLength) static_cast<EntityManager*>(manager)->destroy_next({&line[num_dead], 1});
        },
        &entities);
    entities.destroy(line[0]);
    EXPECT_EQ(num_dead, kLength);
    EXPECT_EQ(entities.num_alive(), e.size());
}

TEST_F(DestructionCallbackTest, may_remove_itself_and_those_after_it) {
    static Listener* victim;
    Listener a{entities, "a", log, [](Listener& self) { self.entities.remove_destruction_callback(self.callback); }};
    Listener b{entities, "b", log, [](Listener& self) { self.entities.remove_destruction_callback(victim->callback); }};
    Listener c{entities, "c", log}, d{entities, "d", log};
    victim = &c;
    a.listen();
    b.listen();
    c.listen();
    d.listen();
    entities.destroy(e[0]);
    EXPECT_EQ(log, "a1 b1 d1 ");
    b.action = nullptr;
    entities.destroy(e[1]);
    EXPECT_EQ(log, "a1 b1 d1 b1 d1 ");
    entities.remove_destruction_callback(b.callback);
    entities.remove_destruction_callback(d.callback);
    entities.destroy(e[2]);
    EXPECT_EQ(log, "a1 b1 d1 b1 d1 ");
}

TEST_F(DestructionCallbackTest, one_added_during_a_batch_is_told_of_the_next) {
    static Listener* newcomer;
    Listener b{entities, "b", log};
    newcomer = &b;
    Listener a{entities, "a", log, [](Listener& self) {
                   self.action = nullptr;
                   for (int i = 0; i < 100; ++i) newcomer->listen();  // so that the array of callbacks moves
               }};
    a.listen();
    entities.destroy(e[0]);
    EXPECT_EQ(log, "a1 ");
    entities.destroy(e[1]);
    EXPECT_EQ(b.heard.size(), 100u);
}

TEST_F(DestructionCallbackTest, removing_one_that_is_not_registered_is_a_bug) {
    Listener a{entities, "a", log};
    a.listen();
    entities.remove_destruction_callback(a.callback);
    EXPECT_DEATH(entities.remove_destruction_callback(a.callback), "not registered");
}

}  // namespace
}  // namespace shoal

#include "shoal/entity/entity_manager.h"
#include "shoal/state/snapshot.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <vector>

namespace shoal {
namespace {

/// The simplest possible entity manager: a set of living ids, and a queue of freed ones.
/// req: A12
class HashSetEntityManager {
public:
    explicit HashSetEntityManager(const EntityManagerOptions& options) : options_(options) {}

    bool create(std::size_t count, std::vector<Entity>& out) {
        const std::deque<Entity> free_ids = count < 2 ? std::deque<Entity>() : free_list_;
        const std::uint64_t num_used = num_used_;
        out.clear();
        for (std::size_t i = 0; i < count; ++i) {
            const Entity entity = next();
            if (!entity) {
                for (const Entity created : out) living_.erase(created.id);
                if (count >= 2) free_list_ = free_ids;
                num_used_ = num_used;
                return false;
            }
            living_.insert(entity.id);
            out.push_back(entity);
        }
        return true;
    }

    bool destroy(Entity entity) {
        if (living_.erase(entity.id) == 0) return false;
        const EntityBits generation = entity.id >> kIndexBits;
        free_list_.push_back(
            make_entity(entity.index(), Generation(generation == kGenerationMask ? 1 : generation + 1)));
        return true;
    }

    bool alive(Entity entity) const { return living_.count(entity.id) != 0; }
    std::size_t num_alive() const { return living_.size(); }
    std::size_t num_free_ids() const { return free_list_.size(); }
    std::uint64_t num_used() const { return num_used_; }
    /// How many indices started again at their first generation.
    std::uint64_t num_wraps() const { return num_wraps_; }

private:
    Entity next() {
        if (free_list_.size() >= options_.minimum_free_ids) {
            const Entity entity = free_list_.front();
            free_list_.pop_front();
            num_wraps_ += entity.generation() == 1;
            return entity;
        }
        if (num_used_ == options_.max_entities) return kNullEntity;
        return make_entity(static_cast<std::uint32_t>(++num_used_), 1);
    }

    EntityManagerOptions options_;
    std::unordered_set<EntityBits> living_;
    std::deque<Entity> free_list_;
    std::uint64_t num_used_ = 0;
    std::uint64_t num_wraps_ = 0;
};

/// Both managers side by side, and every id that is worth asking about.
class Comparison {
public:
    Comparison(const EntityManagerOptions& options, std::uint64_t seed)
        : entities_(options),
          oracle_(options),
          random_(seed),
          max_known_(static_cast<std::uint32_t>(std::min<std::uint64_t>(40'000, 2 * options.max_entities))) {}

    /// Makes one random call to both and compares. Returns how many ids it passed.
    std::size_t step(std::uint32_t max_span) {
        if (random_.below(200) == 0) return save_or_load();
        const std::uint32_t choice = random_.below(8);
        // Phases of growth and decay, so that the number of living entities varies.
        const bool growing = (++num_steps_ / 2000) % 2 == 0;
        if (choice < (growing ? 3u : 1u)) return create_span(random_.below(max_span));
        if (choice == 3) return create_one();
        if (choice == 4) return ask(random_.below(max_span));
        if (choice == 5) return destroy_one();
        return destroy_span(random_.below(max_span));
    }

    std::uint64_t num_refused() const { return num_refused_; }
    std::uint64_t num_wraps() const { return oracle_.num_wraps(); }

    void compare_all() {
        compare_counts();
        for (const Entity entity : known_) ASSERT_EQ(entities_.alive(entity), oracle_.alive(entity)) << entity.id;
    }

private:
    /// Remembers what is, or goes back to what was remembered. Where there are few ids, they are to wrap: there it goes
    /// back to what is.
    std::size_t save_or_load() {
        const bool has_few_ids = max_known_ < 100, saves = saved_.num_parts() == 0 || random_.below(4) != 0;
        if (saves || has_few_ids) {
            saved_.clear();
            SnapshotWriter to(saved_);
            entities_.save(to);
            EXPECT_TRUE(to.status().ok());
            saved_oracle_ = oracle_;
            num_saved_ignored_ = entities_.num_ignored_destroys();
        }
        if (!saves || has_few_ids) {
            SnapshotReader from(saved_, random_.below(2) == 0);
            const std::size_t bytes_before = other_committed_bytes();
            const Status status = entities_.load(from);
            EXPECT_GE(other_committed_bytes(), bytes_before) << "loading gives no page of the free list back";
            EXPECT_TRUE(status.ok()) << status.message();
            oracle_ = saved_oracle_;
            EXPECT_EQ(entities_.num_ignored_destroys(), num_saved_ignored_);
        }
        compare_counts();
        return 1;
    }

    /// The memory behind the free list and the list of deaths.
    std::size_t other_committed_bytes() const {
        return entities_.memory_use().committed_bytes - round_up(entities_.generations().size_bytes(), kPageBytes);
    }

    std::size_t create_span(std::size_t count) {
        std::vector<Entity> out(count, kNullEntity), expected;
        const bool created = entities_.create(out).ok();
        EXPECT_EQ(created, oracle_.create(count, expected));
        num_refused_ += !created;
        EXPECT_EQ(out, created ? expected : std::vector<Entity>(count, kNullEntity));
        for (const Entity entity : created ? out : std::vector<Entity>()) know(entity);
        compare_counts();
        return count + 1;
    }

    std::size_t create_one() {
        std::vector<Entity> expected;
        const Result<Entity> entity = entities_.create();
        EXPECT_EQ(entity.ok(), oracle_.create(1, expected));
        if (!entity || expected.empty()) return 1;
        EXPECT_EQ(*entity, expected[0]);
        know(*entity);
        return 1;
    }

    std::size_t destroy_one() {
        const Entity entity = any();
        EXPECT_EQ(entities_.destroy(entity), oracle_.destroy(entity));
        EXPECT_FALSE(entities_.alive(entity));
        return 1;
    }

    std::size_t destroy_span(std::size_t count) {
        std::vector<Entity> span(count);
        for (Entity& entity : span) entity = any();
        std::uint32_t num_destroyed = 0;
        for (const Entity entity : span) num_destroyed += oracle_.destroy(entity);
        const std::uint64_t ignored_before = entities_.num_ignored_destroys();
        EXPECT_EQ(entities_.destroy(span), num_destroyed);
        EXPECT_EQ(entities_.num_ignored_destroys() - ignored_before, count - num_destroyed);
        compare_counts();
        return count + 1;
    }

    std::size_t ask(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const Entity entity = any();
            EXPECT_EQ(entities_.alive(entity), oracle_.alive(entity)) << entity.id;
        }
        return count + 1;
    }

    void compare_counts() {
        ASSERT_EQ(entities_.num_alive(), oracle_.num_alive());
        ASSERT_EQ(entities_.num_free_ids(), oracle_.num_free_ids());
        ASSERT_EQ(entities_.num_indices_used(), oracle_.num_used());
    }

    /// Mostly ids that were created, dead or alive; sometimes null or random bits.
    Entity any() {
        const std::uint32_t choice = random_.below(64);
        if (choice == 0) return kNullEntity;
        if (choice == 1) return {static_cast<EntityBits>(random_.next())};
        if (choice == 2)
            return make_entity(random_.below(static_cast<std::uint32_t>(oracle_.num_used()) + 2),
                               Generation(random_.next()));
        return known_.empty() ? kNullEntity : known_[random_.below(static_cast<std::uint32_t>(known_.size()))];
    }

    void know(Entity entity) {
        if (known_.size() < max_known_)
            known_.push_back(entity);
        else
            known_[random_.below(max_known_)] = entity;
    }

    EntityManager entities_;
    HashSetEntityManager oracle_;
    Snapshot saved_;
    HashSetEntityManager saved_oracle_{oracle_};
    std::uint64_t num_saved_ignored_ = 0;
    Random random_;
    std::vector<Entity> known_;
    std::uint32_t max_known_;  // few enough that many of them live
    std::uint64_t num_steps_ = 0;
    std::uint64_t num_refused_ = 0;
};

enum class Expected { kNothing, kRefusals, kWraps };

void compare_at_random(const EntityManagerOptions& options, std::uint32_t max_span, std::int64_t release_operations,
                       Expected expected) {
    SCOPED_TRACE(shoal_test::seed_text());
    const shoal_test::LeakCheck leaks;
    Comparison comparison(options, shoal_test::seed());
    const std::int64_t num_operations = shoal_test::scaled_operations(release_operations);
    for (std::int64_t done = 0; done < num_operations;) {
        done += static_cast<std::int64_t>(comparison.step(max_span));
        if (::testing::Test::HasFailure()) FAIL() << "after " << done << " operations";
    }
    comparison.compare_all();
    // The events that the margins were chosen for have happened.
    EXPECT_GE(comparison.num_refused(), expected == Expected::kRefusals ? 100u : 0u);
    EXPECT_GE(comparison.num_wraps(), expected == Expected::kWraps && kGenerationBits <= 14 ? 1u : 0u);
}

// req: A12, A18, A19, A20, A21, A23
TEST(EntityOracle, agrees_with_a_hash_set_with_default_margins) {
    compare_at_random({}, 200, 6'000'000, Expected::kNothing);
}

TEST(EntityOracle, agrees_when_every_freed_index_is_used_at_once) {
    compare_at_random({.minimum_free_ids = 1, .max_entities = 10}, 12, 2'000'000, Expected::kWraps);
}

TEST(EntityOracle, agrees_when_ids_run_out_all_the_time) {
    compare_at_random({.minimum_free_ids = 7, .max_entities = 100}, 30, 2'000'000, Expected::kRefusals);
}

TEST(EntityOracle, agrees_when_most_indices_rest) {
    compare_at_random({.minimum_free_ids = 3000, .max_entities = 4000}, 300, 2'000'000, Expected::kRefusals);
}

}  // namespace
}  // namespace shoal

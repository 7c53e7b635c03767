// Random numbers of passes: what they depend on, and that those of different entities, frames and passes are unrelated.

#include "shoal/job/row_ranges.h"
#include "shoal/save/state_hash.h"
#include "shoal/world/world.h"

#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace {

using namespace shoal;

struct Fish {
    Vec3 place{};
    std::uint64_t number = 0;
};
SHOAL_COMPONENT(Fish, (place, split), number)
struct WildFish {
    Vec3 place{};
    std::uint64_t number = 0;
};
SHOAL_COMPONENT(WildFish, (place, split), number)

/// Fish in a manager, others in a database, and an array without rows, all of which get random numbers.
struct Sea {
    explicit Sea(Executor& executor, std::uint64_t seed = 1) : world(entities, {.executor = &executor, .seed = seed}) {
        std::vector<Entity> tame(20'000), free(20'000);
        EXPECT_TRUE(entities.create(tame).ok() && fish.add(tame).ok());
        EXPECT_TRUE(database.create<WildFish>(free, 0).ok());
        Schedule& schedule = world.schedule();
        schedule.add("wander", query<Write<&Fish::place>>(fish),
                     [](const PassContext& frame, Entity self, auto&& place) {
                         Random random = frame.random_for(self);
                         place += Vec3{random.unit(), random.unit(), random.unit()};
                     });
        schedule
            .add("dream", query<Write<&WildFish::number>>(database),
                 [](const PassContext& frame, Entity self, auto&& number) {
                     number += frame.random_for(self).below(1000) + std::uint64_t(frame.dt * 64);
                 })
            .every_frames(3);
        schedule
            .add("breed", query<Read<&WildFish::number>>(database),
                 [](const PassContext& frame, Commands& commands, Entity self, std::uint64_t) {
                     Random random = frame.random_for(self);
                     if (random.below(30) == 0) commands.create(0, WildFish{.number = random.next()});
                     if (random.below(30) == 0) commands.destroy(self);
                 })
            .every_seconds(0.5f);
        schedule.add("currents", {writes(currents)}, [this](PassContext& frame) {
            for_rows(frame.executor, cut_rows(std::uint32_t(currents.size()), kByteGranularity, 64),
                     [&](RowRange rows, std::uint32_t) {
                         Random random = frame.random_for(rows.begin);
                         for (std::uint32_t i = rows.begin; i < rows.end; ++i) currents[i] += random.next();
                     });
        });
    }
    std::uint64_t state() const {
        return hash_bytes(currents.data(), currents.size() * sizeof currents[0], state_hash(world));
    }

    EntityManager entities;
    World world;
    Manager<Fish>& fish = world.manager<Fish>();
    Database& database = world.database();
    std::vector<std::uint64_t> currents = std::vector<std::uint64_t>(1000);
};

TEST(ScheduleRandom, the_state_is_the_same_for_1_2_3_and_8_workers) {
    SerialExecutor serial;
    Sea reference(serial, 7);
    std::vector<std::uint64_t> states;
    for (std::size_t frame = 0; frame < 10; ++frame) {
        reference.world.step(0.25f);
        states.push_back(reference.state());
    }
    EXPECT_GT(reference.world.settle_statistics().total.num_created, 1000u);
    for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        Sea sea(executor, 7);
        for (std::size_t frame = 0; frame < states.size(); ++frame) {
            sea.world.step(0.25f);
            ASSERT_EQ(sea.state(), states[frame]) << num_workers << " workers, frame " << frame;
        }
    }
}

TEST(ScheduleRandom, another_seed_of_the_world_gives_another_state) {
    SerialExecutor serial;
    Sea one(serial, 1), two(serial, 2), same(serial, 1);
    for (Sea* sea : {&one, &two, &same}) sea->world.step(0.25f);
    EXPECT_EQ(one.state(), same.state());
    EXPECT_NE(one.state(), two.state());
}

/// Passes that record the first number that each of some keys gets. They depend on a schedule of their own.
struct Drawn {
    void add(const std::string& name, std::uint64_t num_keys) {
        schedule.add(name, [this, num_keys](PassContext& frame) {
            for (std::uint64_t key = 0; key < num_keys; ++key) numbers.push_back(frame.random_for(key).next());
        });
    }
    std::vector<std::uint64_t> run(std::uint64_t frame) {
        numbers.clear();
        schedule.run(executor, 0, frame);
        return numbers;
    }

    Schedule schedule;
    SerialExecutor executor;
    std::vector<std::uint64_t> numbers;
};

TEST(ScheduleRandom, the_numbers_of_a_pass_depend_on_seed_name_and_frame_alone) {
    Drawn one, two;
    one.add("swim", 100);
    two.schedule.set_strict(false);
    two.add("dive", 0);
    two.schedule.open_group("plug-in");
    two.add("swim", 100);
    const std::vector<std::uint64_t> numbers = one.run(5);
    EXPECT_EQ(two.run(5), numbers) << "other passes and earlier frames make no difference";
    EXPECT_EQ(one.run(5), numbers);
    EXPECT_NE(one.run(6), numbers);
    two.schedule.set_seed(2);
    EXPECT_NE(two.run(5), numbers);
    two.schedule.set_seed(1);
    EXPECT_EQ(two.run(5), numbers) << "1 is the seed at first";
}

TEST(ScheduleRandom, an_entity_gets_the_same_numbers_wherever_its_row_is) {
    std::vector<std::uint64_t> expected;
    for (const bool reversed : {false, true}) {
        EntityManager entities;
        World world(entities);
        Manager<Fish>& fish = world.manager<Fish>();
        std::vector<Entity> shoal(500);
        ASSERT_TRUE(entities.create(shoal));
        std::vector<Entity> rows = shoal;
        if (reversed) std::reverse(rows.begin(), rows.end());
        ASSERT_TRUE(fish.add(rows));
        world.schedule().add(
            "draw", query<Write<&Fish::number>>(fish),
            [](const PassContext& frame, Entity self, auto&& number) { number = frame.random_for(self).next(); });
        world.step(0);
        std::vector<std::uint64_t> numbers;
        for (const Entity entity : shoal) numbers.push_back(fish.get<&Fish::number>(fish.instance(entity)));
        if (!reversed) expected = numbers;
        EXPECT_EQ(numbers, expected);
    }
}

TEST(ScheduleRandom, passes_frames_entities_and_draws_never_share_a_number) {
    constexpr std::uint32_t kEntities = 20'000, kFrames = 3, kDraws = 4;
    Schedule schedule;
    SerialExecutor executor;
    std::vector<std::uint64_t> numbers;
    for (const char* name : {"a", "b", "c"})
        schedule.add(name, [&](PassContext& frame) {
            for (std::uint32_t index = 1; index <= kEntities; ++index) {
                Random random = frame.random_for(make_entity(index, 1));
                for (std::uint32_t draw = 0; draw < kDraws; ++draw) numbers.push_back(random.next());
            }
        });
    for (std::uint64_t frame = 0; frame < kFrames; ++frame) schedule.run(executor, 0, frame);
    ASSERT_EQ(numbers.size(), 3u * kFrames * kEntities * kDraws);
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
}

// --- quality -----------------------------------------------------------------------------------------------------

constexpr std::size_t kSamples = 1 << 16;

/// Numbers that ought to be unrelated, in an order in which their keys are neighbours. The seeds are fixed, so the
/// limits, five standard deviations, hold in each run or in none.
void expect_unrelated(const std::vector<std::uint64_t>& numbers) {
    const auto n = static_cast<double>(numbers.size());
    for (int bit = 0; bit < 64; ++bit) {
        std::uint64_t num_set = 0, num_changed = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            num_set += numbers[i] >> bit & 1;
            num_changed += (numbers[i] ^ numbers[(i + 1) % numbers.size()]) >> bit & 1;
        }
        EXPECT_NEAR(double(num_set), n / 2, 5 * std::sqrt(n) / 2) << "bit " << bit;
        EXPECT_NEAR(double(num_changed), n / 2, 5 * std::sqrt(n) / 2) << "bit " << bit << " of neighbours";
    }
    // Pairs of neighbours fill a square evenly, seen coarsely: chi-square with 255 degrees of freedom.
    std::vector<double> squares(256);
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) ++squares[numbers[i] >> 60 << 4 | numbers[i + 1] >> 60];
    double chi_square = 0;
    for (const double count : squares) chi_square += (count - n / 512) * (count - n / 512) / (n / 512);
    EXPECT_NEAR(chi_square, 255, 5 * std::sqrt(2 * 255.0));
}

/// Returns a number for each sample, from a generator of its own.
std::vector<std::uint64_t> draw(const std::function<Random(std::uint64_t sample)>& generator, int num_skipped = 0) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
        Random random = generator(sample);
        for (int i = 0; i < num_skipped; ++i) random.next();
        numbers.push_back(random.next());
    }
    return numbers;
}

TEST(ScheduleRandom, numbers_of_neighbouring_entities_are_unrelated) {
    SerialExecutor executor;
    for (const std::uint64_t seed : {0ull, 1ull, ~0ull}) {
        PassContext frame{executor};
        frame.random_seed = seed;
        for (const int num_skipped : {0, 1, 5}) {
            SCOPED_TRACE("seed " + std::to_string(seed) + ", draw " + std::to_string(num_skipped));
            expect_unrelated(draw(
                [&](std::uint64_t i) { return frame.random_for(make_entity(std::uint32_t(i) + 1, 1)); }, num_skipped));
            expect_unrelated(draw([&](std::uint64_t i) { return frame.random_for(i << 32); }, num_skipped));
        }
    }
}

TEST(ScheduleRandom, numbers_of_an_entity_in_neighbouring_frames_and_seeds_are_unrelated) {
    Drawn drawn;
    drawn.add("swim", 1);
    std::vector<std::uint64_t> by_frame, by_seed;
    for (std::uint64_t i = 0; i < kSamples; ++i) by_frame.push_back(drawn.run(i)[0]);
    for (std::uint64_t i = 0; i < kSamples; ++i) {
        drawn.schedule.set_seed(i);
        by_seed.push_back(drawn.run(0)[0]);
    }
    expect_unrelated(by_frame);
    expect_unrelated(by_seed);
}

TEST(ScheduleRandom, numbers_of_two_passes_are_unrelated) {
    Drawn drawn;
    drawn.add("a", kSamples / 2);
    drawn.add("b", kSamples / 2);
    const std::vector<std::uint64_t> numbers = drawn.run(0);
    std::vector<std::uint64_t> side_by_side;
    for (std::size_t i = 0; i < kSamples / 2; ++i) {
        side_by_side.push_back(numbers[i]);
        side_by_side.push_back(numbers[i + kSamples / 2]);
    }
    expect_unrelated(side_by_side);
}

TEST(ScheduleRandomDeathTest, a_pass_may_not_change_the_seed) {
    Schedule schedule;
    SerialExecutor executor;
    schedule.add("pass", [&](PassContext&) { schedule.set_seed(3); });
    EXPECT_DEATH(schedule.run(executor, 0, 0), "a pass changed or ran its own schedule");
}

}  // namespace

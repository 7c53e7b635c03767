// Spans of every kind: rows in order, runs, gaps, repeated entities, entities without a transform.

#include "transform_testing.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace {

using namespace shoal_test;

constexpr std::uint32_t kNodes = 6000;  // more than are looked up at once, and enough for prefetching

/// The same forest in two managers: one sets spans, the other one entity at a time.
struct TransformSpans : TransformFixture {
    TransformManager many{entities, pool}, single{entities, pool};
    std::vector<Entity> ids = create(kNodes), others = create(kNodes);
    Random random{seed()};

    void SetUp() override {
        std::vector<Transform> locals(kNodes);
        std::vector<std::uint32_t> parents(kNodes);
        for (std::uint32_t i = 0; i < kNodes; ++i) {
            locals[i] = random_pose(random);
            const bool is_root = i == 0 || random.below(8) == 0;
            parents[i] = is_root ? kNilRow : i - 1 - random.below(std::min(i, 3u));
        }
        for (TransformManager* transforms : {&many, &single}) ASSERT_TRUE(transforms->add(ids, locals, parents).ok());
    }

    /// Sets new positions or whole poses in both, and compares all poses.
    void set(std::span<const Entity> entities, std::size_t expected_count, bool whole) {
        std::vector<Transform> locals(entities.size());
        std::vector<Vec3> positions(entities.size());
        for (std::size_t i = 0; i < entities.size(); ++i) {
            locals[i] = random_pose(random);
            positions[i] = locals[i].position;
        }
        const std::size_t count = whole ? many.set_locals(entities, locals) : many.set_positions(entities, positions);
        EXPECT_EQ(count, expected_count);
        for (std::size_t i = 0; i < entities.size(); ++i) {
            const Instance instance = single.instance(entities[i]);
            if (instance && whole) single.set_local(instance, locals[i]);
            if (instance && !whole) single.set_position(instance, positions[i]);
        }
        if (many.mode() == TransformMode::kDeferred) many.compute_moved();
        EXPECT_VALID(many);
        for (const Entity entity : ids) {
            const Instance mine = many.instance(entity), other = single.instance(entity);
            ASSERT_EQ(many.local(mine), single.local(other)) << "entity " << entity.index();
            ASSERT_TRUE(same_bits(many.world(mine), single.world(other))) << "entity " << entity.index();
        }
    }

    void set_both(std::span<const Entity> entities, std::size_t expected_count) {
        set(entities, expected_count, false);
        set(entities, expected_count, true);
    }
};

TEST_F(TransformSpans, a_span_in_any_order_sets_what_single_calls_set) {
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        many.set_mode(mode);
        for (int round = 0; round < 3; ++round) {
            set_both(ids, kNodes);
            std::vector<Entity> some;
            for (const Entity entity : ids)
                if (random.below(3) != 0) some.push_back(entity);
            set_both(some, some.size());
            // Ascending, with one step back.
            std::rotate(some.begin(), some.begin() + 64, some.end());
            set_both(some, some.size());
            std::reverse(some.begin(), some.end());
            set_both(some, some.size());
            some.insert(some.end(), some.begin(), some.begin() + 100);
            set_both(some, some.size());
            for (std::size_t i = some.size(); i > 1; --i)
                std::swap(some[i - 1], some[random.below(static_cast<std::uint32_t>(i))]);
            set_both(some, some.size());
        }
    }
}

TEST_F(TransformSpans, entities_without_a_transform_are_skipped_anywhere_in_a_span) {
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        many.set_mode(mode);
        // Row 0 follows kNilRow when numbers wrap.
        set_both(std::vector<Entity>{others[0], many.entity({0})}, 1);
        set_both(std::vector<Entity>{many.entity({kNodes - 1}), others[0], many.entity({0})}, 2);
        for (const std::uint32_t step : {1u, 2u, 31u, 32u, 33u, 2048u}) {
            std::vector<Entity> mixed;
            for (std::uint32_t i = 0; i < kNodes; ++i) {
                mixed.push_back(ids[i]);
                if (i % step == step - 1) mixed.push_back(others[i]);
            }
            set_both(mixed, kNodes);
        }
        set_both(others, 0);
    }
}

TEST_F(TransformSpans, every_moved_subtree_is_computed_once_when_all_are_set_in_order) {
    const std::vector<Vec3> positions(kNodes, Vec3{1, 2, 3});
    for (int round = 0; round < 3; ++round) {
        const std::uint64_t before = many.counts().num_worlds_computed;
        ASSERT_EQ(many.set_positions(ids, positions), kNodes);
        EXPECT_EQ(many.counts().num_worlds_computed - before, kNodes);
    }
}

TEST_F(TransformSpans, a_span_inside_a_batch_is_computed_with_the_rest_of_it) {
    std::vector<Vec3> positions(kNodes, Vec3{1, 2, 3});
    {
        TransformBatch batch(many);
        many.set_position(many.instance(ids[kNodes / 2]), {4, 5, 6});
        many.set_positions(ids, positions);
        many.set_positions(std::span(ids).first(10), std::vector<Vec3>(10, Vec3{7, 8, 9}));
        std::fill_n(positions.begin(), 10, Vec3{7, 8, 9});
    }
    for (std::uint32_t i = 0; i < kNodes; ++i) single.set_position(single.instance(ids[i]), positions[i]);
    EXPECT_VALID(many);
    for (const Entity entity : ids)
        ASSERT_TRUE(same_bits(many.world(many.instance(entity)), single.world(single.instance(entity))));
}

}  // namespace

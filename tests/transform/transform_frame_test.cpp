// Deferred transforms: the list of what moved, the suffix, frames of rest, and workers.

#include "support/thread_pool_executor.h"
#include "support/unreadable_pages.h"
#include "transform_testing.h"

#include <algorithm>
#include <memory>
#include <vector>

using namespace shoal;
using namespace shoal_test;

namespace {

constexpr std::uint32_t kTree = 5;  // rows of each tree that add_trees makes

class TransformFrames : public TransformFixture {
protected:
    TransformManager transforms{entities, pool, {.mode = TransformMode::kDeferred}};
    float far = 0;

    Instance at_entity(Entity entity) const { return transforms.instance(entity); }
    void move(Entity entity) { transforms.set_position(at_entity(entity), {far += 1, 0, 0}); }
    /// Ends the frame and returns how many world poses it computed.
    std::uint64_t frame() {
        const std::uint64_t before = transforms.counts().num_worlds_computed;
        transforms.compute_moved();
        EXPECT_VALID(transforms);
        return transforms.counts().num_worlds_computed - before;
    }
    std::uint64_t num_swaps() const { return transforms.counts().num_swaps; }

    /// Adds roots with four descendants each: a chain of three, and a leaf.
    std::vector<Entity> add_trees(std::uint32_t count) {
        const std::vector<Entity> ids = create(std::size_t(count) * kTree);
        std::vector<std::uint32_t> parents;
        for (std::uint32_t i = 0; i < ids.size(); i += kTree)
            parents.insert(parents.end(), {kNilRow, i, i + 1, i + 2, i});
        EXPECT_TRUE(transforms.add(ids, std::vector<Transform>(ids.size(), at(1)), parents).ok());
        return ids;
    }
    bool is_dirty(Entity entity) const {
        return at_entity(entity).row >= transforms.num_rows() - transforms.num_dirty_rows();
    }
};

}  // namespace

TEST_F(TransformFrames, nothing_is_computed_before_the_frame_ends_and_then_everything_that_moved) {
    const std::vector<Entity> ids = add_trees(10);
    move(ids[5]);
    EXPECT_EQ(transforms.world_position(at_entity(ids[5])).x, 1);
    transforms.set_position(at_entity(ids[5]), {9, 0, 0});
    EXPECT_EQ(frame(), kTree);
    EXPECT_EQ(transforms.world_position(at_entity(ids[5])).x, 9);
    EXPECT_EQ(transforms.world_position(at_entity(ids[8])).x, 12);
    EXPECT_EQ(frame(), 0u) << "a frame of rest costs nothing";
}

TEST_F(TransformFrames, when_only_the_root_moves_n_matrices_are_computed_in_both_modes) {  // req: C12
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        TransformManager chain(entities, pool, {.mode = mode});
        const std::vector<Entity> ids = create(1000);
        std::vector<std::uint32_t> parents(1000);
        for (std::uint32_t i = 0; i < 1000; ++i) parents[i] = i == 0 ? kNilRow : i - 1;
        ASSERT_TRUE(chain.add(ids, std::vector<Transform>(1000, at(1)), parents).ok());
        for (int round = 0; round < 4; ++round) {
            const std::uint64_t before = chain.counts().num_worlds_computed;
            chain.set_position(chain.instance(ids[0]), {float(round), 0, 0});
            if (mode == TransformMode::kDeferred) chain.compute_moved();
            ASSERT_EQ(chain.counts().num_worlds_computed - before, 1000u) << "frame " << round;
        }
    }
}

TEST_F(TransformFrames, what_moves_in_every_frame_is_a_suffix_of_whole_subtrees_and_swaps_no_more) {  // req: C13-C17
    const std::vector<Entity> ids = add_trees(20);
    std::vector<float> locals(ids.size(), 1);  // x
    const auto move_to = [&](std::uint32_t i, float x) {
        transforms.set_position(at_entity(ids[i]), {locals[i] = x, 0, 0});
    };
    std::uint64_t swaps_at_first = 0;
    for (std::uint32_t i = 0; i < 20; ++i) {
        move_to(5 * kTree, float(i));
        move_to(11 * kTree, float(2 * i));
        move_to(11 * kTree + 2, float(3 * i));
        EXPECT_EQ(frame(), 2 * kTree) << "each subtree once in frame " << i;
        EXPECT_EQ(transforms.num_dirty_rows(), i == 0 ? 0 : 2 * kTree) << "a subtree enters in its second frame";
        if (i == 1) swaps_at_first = num_swaps();
        for (std::uint32_t root = 0; root < ids.size(); root += kTree) {
            const float* const x = &locals[root];
            const float expected[kTree] = {x[0], x[0] + x[1], x[0] + x[1] + x[2], x[0] + x[1] + x[2] + x[3],
                                           x[0] + x[4]};
            for (std::uint32_t k = 0; k < kTree; ++k)
                ASSERT_EQ(transforms.world_position(at_entity(ids[root + k])).x, expected[k]) << "frame " << i;
        }
    }
    EXPECT_EQ(swaps_at_first, 2 * kTree);
    EXPECT_EQ(num_swaps(), swaps_at_first);
    for (std::uint32_t k = 0; k < kTree; ++k)
        for (const std::uint32_t root : {5 * kTree, 11 * kTree}) {
            EXPECT_TRUE(is_dirty(ids[root + k]));
            const Instance parent = transforms.parent(at_entity(ids[root + k]));
            EXPECT_TRUE(k == 0 ? !parent : parent.row < at_entity(ids[root + k]).row) << "a parent comes first";
        }
}

TEST_F(TransformFrames, a_frame_looks_at_no_row_that_rests) {  // req: C13-C17 G11
    const std::vector<Entity> ids = add_trees(10'000);
    const auto move_some = [&] {
        for (std::uint32_t tree = 1; tree < 10'000; tree += 1000) move(ids[tree * kTree]);
    };
    for (int i = 0; i < 3; ++i) {
        move_some();
        frame();
    }
    ASSERT_EQ(transforms.num_dirty_rows(), 10 * kTree);
    const std::uint64_t before = transforms.counts().num_worlds_computed;
    {
        const std::uint32_t num_resting = transforms.num_rows() - transforms.num_dirty_rows();
        UnreadablePages resting;
        resting.add_columns(transforms.table(), num_resting);
        for (const LinkColumn link :
             {LinkColumn::kTreeParent, LinkColumn::kTreeFirstChild, LinkColumn::kTreeNext, LinkColumn::kTreePrevious})
            resting.add(transforms.table().links(link).data(), num_resting * sizeof(std::uint32_t));
        ASSERT_GT(resting.num_bytes(), num_resting * std::size_t(100)) << "nearly all poses and links";
        for (int i = 0; i < 3; ++i) {
            move_some();
            transforms.compute_moved();
        }
    }
    EXPECT_EQ(transforms.counts().num_worlds_computed - before, 3u * 10 * kTree);
    EXPECT_EQ(transforms.world_position(at_entity(ids[9001 * kTree + 3])).x, far + 3);
    EXPECT_VALID(transforms);
}

TEST_F(TransformFrames, movers_that_change_from_frame_to_frame_swap_nothing) {
    const std::vector<Entity> ids = add_trees(100);
    for (std::uint32_t i = 0; i < 100; ++i) {
        move(ids[(i * 7 % 100) * kTree]);
        EXPECT_EQ(frame(), kTree);
    }
    EXPECT_EQ(num_swaps(), 0u);
    EXPECT_EQ(transforms.num_dirty_rows(), 0u);
}

TEST_F(TransformFrames, a_subtree_leaves_as_a_whole_after_five_still_frames) {  // req: C18-C19
    const std::vector<Entity> ids = add_trees(20);
    for (int i = 0; i < 3; ++i) {
        for (const std::uint32_t tree : {3u, 8u, 15u}) move(ids[tree * kTree]);
        frame();
    }
    ASSERT_EQ(transforms.num_dirty_rows(), 3 * kTree);
    for (int still = 1; still <= 5; ++still) {
        for (const std::uint32_t tree : {3u, 15u}) move(ids[tree * kTree + 1]);
        EXPECT_EQ(frame(), 2 * 3u) << "only the chains below the roots";
        EXPECT_EQ(transforms.num_dirty_rows(), still < 5 ? 3 * kTree : 2 * kTree) << "after " << still;
    }
    EXPECT_FALSE(is_dirty(ids[8 * kTree]));
    EXPECT_TRUE(is_dirty(ids[3 * kTree]) && is_dirty(ids[15 * kTree + 4]));
    for (std::uint32_t i = 1; i < kTree; ++i) EXPECT_FALSE(is_dirty(ids[8 * kTree + i]));
    EXPECT_EQ(transforms.counts().num_restores, 0u);
    for (int still = 0; still < 5; ++still) frame();
    EXPECT_EQ(transforms.num_dirty_rows(), 0u);
}

TEST_F(TransformFrames, a_clean_ancestor_takes_its_dirty_descendants_with_it_once) {
    const std::vector<Entity> ids = add_trees(4);
    for (int i = 0; i < 3; ++i) {
        move(ids[kTree + 1]);
        frame();
    }
    ASSERT_EQ(transforms.num_dirty_rows(), 3u);
    move(ids[kTree]);
    move(ids[kTree + 2]);
    EXPECT_EQ(frame(), kTree);
    EXPECT_EQ(transforms.world_position(at_entity(ids[kTree + 3])).x,
              transforms.world_position(at_entity(ids[kTree])).x +
                  transforms.local(at_entity(ids[kTree + 1])).position.x +
                  transforms.local(at_entity(ids[kTree + 2])).position.x + 1);
}

TEST_F(TransformFrames, adding_removing_and_linking_rows_keep_the_suffix_whole) {
    const std::vector<Entity> ids = add_trees(20);
    for (int i = 0; i < 3; ++i) {
        for (const std::uint32_t tree : {3u, 8u, 15u}) move(ids[tree * kTree]);
        frame();
    }
    const std::vector<Entity> more = create(2);
    ASSERT_TRUE(transforms.add(more, at(1)).ok());
    EXPECT_EQ(transforms.num_dirty_rows(), 3 * kTree + 2) << "few new rows wait behind the suffix";
    ASSERT_TRUE(transforms.link(at_entity(ids[0]), at_entity(ids[8 * kTree + 3])).ok());
    EXPECT_VALID(transforms);
    EXPECT_TRUE(is_dirty(ids[0]) && is_dirty(ids[4])) << "together with its parent";
    transforms.remove(std::vector<Entity>{ids[3 * kTree + 1], ids[10 * kTree]});
    EXPECT_VALID(transforms);
    for (int i = 0; i < 8; ++i) {
        for (const std::uint32_t tree : {3u, 8u, 15u}) move(ids[tree * kTree]);
        frame();
    }
    EXPECT_FALSE(is_dirty(more[0]));
    EXPECT_TRUE(is_dirty(ids[4]));
}

TEST_F(TransformFrames, many_new_rows_end_the_suffix_and_the_movers_return_to_it) {
    const std::vector<Entity> ids = add_trees(20);
    for (int i = 0; i < 3; ++i) {
        move(ids[3 * kTree]);
        frame();
    }
    add_trees(20);
    EXPECT_EQ(transforms.num_dirty_rows(), 0u);
    move(ids[3 * kTree]);
    EXPECT_EQ(frame(), kTree);
    EXPECT_EQ(transforms.num_dirty_rows(), kTree);
}

TEST_F(TransformFrames, scattered_subtrees_are_gathered_when_following_their_links_has_cost_as_much) {
    const std::vector<Entity> ids = create(1000);
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    for (std::uint32_t i = 0; i < 500; ++i)
        ASSERT_TRUE(transforms.link(at_entity(ids[i]), at_entity(ids[999 - i])).ok());
    frame();
    // Few move at a time and none in two frames in a row, so nothing enters the suffix and no pass visits all rows.
    for (std::uint32_t i = 0; i < 40; ++i) {
        for (std::uint32_t k = 0; k < 50; ++k) move(ids[500 + (i * 50 + k) % 500]);
        frame();
    }
    EXPECT_EQ(transforms.counts().num_restores, 1u);
    for (std::uint32_t i = 0; i < 500; ++i) EXPECT_EQ(at_entity(ids[i]).row, at_entity(ids[999 - i]).row + 1);
}

TEST_F(TransformFrames, structural_calls_see_poses_that_are_still_pending) {
    const std::vector<Entity> ids = add_trees(2);
    transforms.set_position(at_entity(ids[0]), {100, 0, 0});
    transforms.unlink(at_entity(ids[2]), KeepPose::kWorld);
    EXPECT_EQ(transforms.local(at_entity(ids[2])).position.x, 102);
    transforms.set_position(at_entity(ids[0]), {200, 0, 0});
    EXPECT_EQ(transforms.remove(std::span(ids).first(1)), 1u);
    frame();
    EXPECT_EQ(transforms.world_position(at_entity(ids[1])).x, 201);
    EXPECT_EQ(transforms.world_position(at_entity(ids[3])).x, 103);
    Matrix3x4 wanted;
    wanted.row[0].w = 7;
    transforms.set_position(at_entity(ids[5]), {50, 0, 0});
    EXPECT_TRUE(transforms.set_world_pose(at_entity(ids[6]), wanted));
    frame();
    EXPECT_EQ(transforms.world_position(at_entity(ids[6])).x, 7);
}

TEST_F(TransformFrames, settling_ends_the_frame_unless_it_has_ended) {
    const std::vector<Entity> ids = add_trees(2);
    move(ids[0]);
    transforms.settle({.stamp = 2});
    EXPECT_EQ(transforms.world_position(at_entity(ids[0])).x, far);
    for (int i = 0; i < 4; ++i) {
        move(ids[0]);
        transforms.compute_moved();
        transforms.settle({.stamp = 3});
    }
    ASSERT_EQ(transforms.num_dirty_rows(), kTree);
    for (int still = 1; still <= 5; ++still) {
        EXPECT_EQ(transforms.num_dirty_rows(), kTree);
        transforms.compute_moved();
        transforms.settle({.stamp = 4});
    }
    EXPECT_EQ(transforms.num_dirty_rows(), 0u) << "each frame counts once";
}

TEST_F(TransformFrames, the_mode_can_be_changed_at_any_time) {
    const std::vector<Entity> ids = add_trees(4);
    for (int i = 0; i < 3; ++i) {
        move(ids[0]);
        frame();
    }
    move(ids[0]);
    transforms.set_mode(TransformMode::kImmediate);
    EXPECT_EQ(transforms.world_position(at_entity(ids[0])).x, far);
    EXPECT_EQ(transforms.num_dirty_rows(), 0u);
    move(ids[0]);
    EXPECT_EQ(transforms.world_position(at_entity(ids[3])).x, far + 3);
    transforms.set_mode(TransformMode::kDeferred);
    move(ids[0]);
    EXPECT_EQ(transforms.world_position(at_entity(ids[3])).x, far - 1 + 3);
    EXPECT_EQ(frame(), kTree);
}

// --- what moved --------------------------------------------------------------------------------------------------

TEST_F(TransformFrames, blocks_that_moved_since_a_stamp_are_found) {
    const std::vector<Entity> ids = add_trees(2000);
    transforms.settle({.stamp = 5});
    const auto moved_since = [&](std::uint64_t stamp) {
        std::vector<RowRange> ranges;
        transforms.for_each_moved_since(stamp, [&](RowRange rows) { ranges.push_back(rows); });
        return ranges;
    };
    EXPECT_TRUE(moved_since(5).empty());
    move(ids[3000]);
    EXPECT_TRUE(moved_since(5).empty()) << "it moves when the frame ends";
    frame();
    EXPECT_EQ(moved_since(5), (std::vector<RowRange>{{2048, 3072}}));
    move(ids[9999]);
    transforms.settle({.stamp = 6});
    EXPECT_EQ(moved_since(5), (std::vector<RowRange>{{2048, 3072}, {9216, 10'000}}));
    EXPECT_TRUE(moved_since(6).empty());
}

// --- workers -----------------------------------------------------------------------------------------------------

/// Says that it has four workers, runs loops on the calling thread, and counts the world poses that each chunk writes.
class PoseCountingExecutor final : public Executor {
public:
    explicit PoseCountingExecutor(const TransformManager& transforms) : transforms_(transforms) {}

    std::uint32_t num_workers() const override { return 4; }
    std::uint32_t current_worker() const override { return 0; }
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence&) override {
        for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) {
            const std::span<const Matrix3x4> now = transforms_.worlds();
            const std::vector<Matrix3x4> before(now.begin(), now.end());
            function(context, chunk, 0);
            std::uint32_t count = 0;
            for (std::size_t row = 0; row < now.size(); ++row) count += !same_bits(before[row], now[row]);
            poses_of_chunks.push_back(count);
        }
    }
    void wait(Fence&) override {}

    std::vector<std::uint32_t> poses_of_chunks;

private:
    const TransformManager& transforms_;
};

TEST_F(TransformFrames, the_poses_below_one_root_are_shared_among_workers) {  // req: G11
    // A root with eight children, each of which has eight, and so on, and as many rows that rest.
    std::vector<std::uint32_t> parents = {kNilRow};
    for (std::uint32_t i = 1; i < 37'449; ++i) parents.push_back((i - 1) / 8);
    const auto num_moved = static_cast<std::uint32_t>(parents.size());
    const std::vector<Entity> ids = create(num_moved), resting = create(num_moved);
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        TransformManager tree(entities, pool, {.mode = mode});
        ASSERT_TRUE(tree.add(ids, std::vector<Transform>(num_moved, at(1)), parents).ok());
        ASSERT_TRUE(tree.add(resting, at(1)).ok());
        if (mode == TransformMode::kDeferred) tree.compute_moved();
        const std::uint64_t before = tree.counts().num_worlds_computed;
        PoseCountingExecutor executor(tree);
        const Transform far_away = at(1000);
        tree.set_locals({ids.data(), 1}, {&far_away, 1}, &executor);
        if (mode == TransformMode::kDeferred) tree.compute_moved(&executor);
        EXPECT_EQ(tree.counts().num_worlds_computed - before, num_moved) << "what rests is not computed";
        std::uint32_t num_shared = 0, most = 0;
        for (const std::uint32_t count : executor.poses_of_chunks) num_shared += count, most = std::max(most, count);
        EXPECT_GE(num_shared, num_moved - 9) << "all but the root and its children";
        EXPECT_LE(most, num_moved / 4) << "each of four workers can have its share";
        EXPECT_EQ(tree.world_position(tree.instance(ids.back())).x, 1005);
    }
}

TEST_F(TransformFrames, any_number_of_workers_computes_the_same_bits) {  // req: G11
    SCOPED_TRACE(seed_text());
    Random random(seed());
    constexpr std::uint32_t kNodes = 60'000;
    const std::vector<Entity> ids = create(kNodes);
    // A tree that workers share, small trees, and a chain, which they cannot share.
    std::vector<std::uint32_t> parents(kNodes, kNilRow);
    for (std::uint32_t i = 1; i < kNodes; ++i) {
        if (i < 25'000) parents[i] = i - 1 - random.below(std::min(i, 20u));
        if (i >= 40'000 && random.below(8) != 0) parents[i] = i - 1;
        if (i > 25'000 && i < 35'000) parents[i] = i - 1;
    }
    std::vector<Transform> locals;
    for (std::uint32_t i = 0; i < kNodes; ++i) {
        locals.push_back(random_pose(random));
        locals.back().scale = {1, 1, 1};
    }
    std::vector<std::unique_ptr<Executor>> executors;
    executors.push_back(nullptr);
    if (!kThreadSanitized) executors.push_back(std::make_unique<SerialExecutor>());
    for (const std::uint32_t workers : {2u, 3u, 7u})
        if (!kThreadSanitized || workers != 3) executors.push_back(std::make_unique<ThreadPoolExecutor>(workers));
    std::vector<std::unique_ptr<TransformManager>> managers;
    for (std::size_t i = 0; i < 2 * executors.size(); ++i) {
        const TransformMode mode = i % 2 == 0 ? TransformMode::kImmediate : TransformMode::kDeferred;
        managers.push_back(std::make_unique<TransformManager>(entities, pool, TransformOptions{.mode = mode}));
        ASSERT_TRUE(managers.back()->add(ids, locals, parents).ok());
    }
    std::vector<Matrix3x4> expected;                  // world poses of the first manager
    const int num_frames = kThreadSanitized ? 2 : 6;  // all transforms, then few
    for (int frame = 0; frame < num_frames; ++frame) {
        std::vector<Entity> moved;
        std::vector<Transform> to;
        for (const Entity entity : ids) {
            if (frame != 0 && random.below(frame == 1 ? 40 : 4) != 0) continue;
            moved.push_back(entity);
            to.push_back(random_pose(random));
            to.back().scale = {1, 1, 1};
        }
        if (frame == 3) std::reverse(moved.begin(), moved.end());
        const Entity child = ids[40'000 + random.below(20'000)];
        for (std::size_t i = 0; i < managers.size(); ++i) {
            TransformManager& mine = *managers[i];
            Executor* const executor = executors[i / 2].get();
            mine.set_locals(moved, to, executor);
            if (mine.mode() == TransformMode::kDeferred) mine.compute_moved(executor);
            ASSERT_VALID(mine);
            if (i == 0) expected.clear();
            for (std::size_t k = 0; k < ids.size(); ++k) {
                const Matrix3x4& world = mine.world(mine.instance(ids[k]));
                if (i == 0) expected.push_back(world);
                ASSERT_TRUE(same_bits(world, expected[k])) << "manager " << i << ", frame " << frame;
            }
        }
        for (const auto& manager : managers) manager->unlink(manager->instance(child));
    }
    for (const auto& manager : managers) ASSERT_VALID(*manager);
}

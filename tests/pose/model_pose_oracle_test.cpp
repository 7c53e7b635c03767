// Model poses against a naive model that computes each node from its parents.

#include "model_pose_testing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace shoal {
namespace {

/// One instance, written as plainly as possible.
struct NaiveInstance {
    std::size_t tree;
    std::vector<Transform> locals;
};

Matrix3x4 naive_pose(const TreeSource& tree, const NaiveInstance& instance, std::uint32_t node) {
    const Matrix3x4 local = matrix_of(instance.locals[node]);
    return tree.parents[node] == kNilRow ? local : plain_product(naive_pose(tree, instance, tree.parents[node]), local);
}

TEST_F(ModelPoses, random_edits_agree_with_a_naive_model) {
    SCOPED_TRACE(shoal_test::seed_text());
    constexpr std::uint32_t kNumEntities = 80;
    const TreeSource sources[] = {leg(), random_tree(random, 1), random_tree(random, 17), random_tree(random, 40)};
    std::vector<NodeTreeId> trees;
    for (const TreeSource& source : sources) trees.push_back(add_tree(source));
    Entities known = create(kNumEntities);
    std::map<EntityBits, NaiveInstance> naive;
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(200'000); ++i) {
        Entity& entity = known[random.below(kNumEntities)];
        const auto found = naive.find(entity.id);
        const Instance instance = models.instance(entity);
        ASSERT_EQ(found != naive.end(), entities.alive(entity) && !instance.is_nil());
        switch (random.below(10)) {
            case 0: {
                const std::size_t tree = random.below(4);
                ASSERT_TRUE(models.add({&entity, 1}, trees[tree]).ok());
                if (!entities.alive(entity)) break;
                NaiveInstance& made = naive[entity.id] = {tree, {}};
                for (std::size_t node = 0; node < sources[tree].num_nodes(); ++node)
                    made.locals.push_back(sources[tree].local(node));
                break;
            }
            case 1:
                if (!entities.alive(entity)) break;
                ASSERT_EQ(models.remove({&entity, 1}), naive.erase(entity.id));
                break;
            case 2:
                if (random.below(3) != 0) break;
                entities.destroy(entity);
                naive.erase(entity.id);
                if (random.below(2) == 0) models.settle({});
                entity = *entities.create();
                break;
            case 3:
                if (random.below(8) == 0) models.compute();
                break;
            case 4: {
                if (random.below(40) != 0) break;
                models.compute();
                const Status status = models.validate();
                ASSERT_TRUE(status.ok()) << status.message();
                break;
            }
            case 5: {
                if (found == naive.end()) break;
                for (Transform& local : found->second.locals) local = random_pose(random);
                models.set_locals(instance, found->second.locals);
                break;
            }
            case 6: {
                if (found == naive.end()) break;
                models.compute();
                const std::uint32_t node = random.below(sources[found->second.tree].num_nodes());
                const Matrix3x4 expected = naive_pose(sources[found->second.tree], found->second, node);
                float largest = 1;
                for (const Vec4& row : expected.row) largest = std::max(largest, std::fabs(row.w));
                expect_near(models.model(models.instance(entity), node), expected, largest * 1e-3f);
                if (HasFailure()) return;
                break;
            }
            default: {
                if (found == naive.end()) break;
                const std::uint32_t node = random.below(sources[found->second.tree].num_nodes());
                found->second.locals[node] = random_pose(random);
                models.set_local(instance, node, found->second.locals[node]);
                ASSERT_EQ(models.local(instance, node), found->second.locals[node]);
            }
        }
        ASSERT_LE(naive.size(), models.num_instances());
    }
    models.compute();
    models.settle({});
    EXPECT_EQ(models.num_instances(), naive.size());
    expect_valid(models);
}

}  // namespace
}  // namespace shoal

// Model poses against a naive model that computes each node from its parents.

#include "model_pose_testing.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/field_part.h"
#include "support/mark_watch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

// --- what is written is marked, and what is loaded goes on ---------------------------------------------------------

/// An instance, and what its model poses should be now.
struct ShownInstance {
    std::uint32_t tree = 0;
    std::vector<Transform> locals;
    std::vector<Matrix3x4> shown;
    std::uint32_t first_changed = ~0u;  // from which node on compute() computes
    std::set<std::uint32_t> moved;      // nodes that those below have not followed yet
};

/// A few calls at a time, to a manager that is replaced now and then by one that has loaded its state.
struct ModelPoseRounds : ModelPoses {
    static constexpr std::uint32_t kNumEntities = 12, kNumTrees = 4, kCapacityRows = 40;

    struct PutNodes {
        ModelPoseRounds* self;
        std::vector<std::pair<Entity, std::uint32_t>> nodes;
        static void apply(void* context, ModelPoseManager& manager) {
            auto& [self, nodes] = *static_cast<PutNodes*>(context);
            for (const auto& [entity, node] : nodes) self->put_node(manager, entity, node);
            self->num_followed += self->let_follow();
        }
    };

    ModelPoseRounds() {
        for (auto& manager : managers) {
            manager =
                std::make_unique<ModelPoseManager>(entities, pool, ModelPoseOptions{.capacity_rows = kCapacityRows});
            for (PutNodes& one : constraints) manager->add_constraint(PutNodes::apply, &one);
        }
        sources = {leg(), random_tree(random, 1), random_tree(random, 7), random_tree(random, 17)};
        known = create(kNumEntities);
    }
    ModelPoseManager& now() { return *managers[0]; }
    std::uint32_t num_nodes(const ShownInstance& one) const { return sources[one.tree].num_nodes(); }
    Entity pick() { return known[random.below(kNumEntities)]; }
    Entity pick_instance() {
        auto at = naive.begin();
        std::advance(at, random.below(static_cast<std::uint32_t>(naive.size())));
        return at->first;
    }
    std::uint32_t num_in(std::uint32_t tree) const {
        return static_cast<std::uint32_t>(
            std::count_if(naive.begin(), naive.end(), [&](const auto& one) { return one.second.tree == tree; }));
    }

    /// The model poses from a node on, of which `skips` are left as they are.
    template <class Skips>
    std::uint64_t show(ShownInstance& one, std::uint32_t first, Skips&& skips) {
        std::uint64_t count = 0;
        for (std::uint32_t node = first; node < num_nodes(one); ++node) {
            if (skips(node)) continue;
            const std::uint32_t parent = sources[one.tree].parents[node];
            const Matrix3x4 local = matrix_of(one.locals[node]);
            one.shown[node] = parent == kNilRow ? local : plain_product(one.shown[parent], local);
            ++count;
        }
        return count;
    }
    void reset(ShownInstance& one, std::uint32_t tree) {
        one = {tree, {}, std::vector<Matrix3x4>(sources[tree].num_nodes()), ~0u, {}};
        for (std::uint32_t node = 0; node < num_nodes(one); ++node) one.locals.push_back(sources[tree].local(node));
        show(one, 0, [](std::uint32_t) { return false; });
    }
    void put_node(ModelPoseManager& manager, Entity entity, std::uint32_t node) {
        const Matrix3x4 pose = matrix_of(random_pose(random));
        manager.set_node_world(manager.instance(entity), node, pose);
        ShownInstance& one = naive[entity];
        one.shown[node] = pose;
        one.first_changed = std::min(one.first_changed, node);
        one.moved.insert(node);
    }
    std::uint64_t let_follow() {
        std::uint64_t count = 0;
        for (auto& [entity, one] : naive) {
            if (one.moved.empty()) continue;
            std::set<std::uint32_t> below = one.moved;
            count += show(one, *one.moved.begin(), [&, this, &one = one](std::uint32_t node) {
                const std::uint32_t parent = sources[one.tree].parents[node];
                if (one.moved.count(node) != 0 || parent == kNilRow || below.count(parent) == 0) return true;
                below.insert(node);
                return false;
            });
            one.moved.clear();
        }
        return count;
    }

    void change_trees() {
        const std::uint32_t tree = random.below(kNumTrees);
        if (!ids[tree]) {
            const auto num_before = static_cast<std::uint32_t>(
                std::count_if(std::begin(ids), std::end(ids), [](NodeTreeId id) { return bool(id); }));
            ids[tree] = *now().add_node_tree(sources[tree].view());
            EXPECT_LE(ids[tree].slot, num_before) << "the first free one";
            EXPECT_TRUE(uses.insert(ids[tree].use).second) << "no tree has had this id";
        } else {
            const bool is_used = num_in(tree) != 0;
            EXPECT_EQ(now().remove_node_tree(ids[tree]).ok(), !is_used);
            if (!is_used) ids[tree] = {};
        }
    }
    void add_some() {
        const std::uint32_t tree = random.below(kNumTrees);
        if (!ids[tree]) return;
        std::set<Entity> chosen;
        for (std::uint32_t i = 1 + random.below(4); i-- > 0;) chosen.insert(pick());
        const Entities some(chosen.begin(), chosen.end());
        std::uint32_t num_new = 0, num_there = 0;
        for (const Entity entity : some) {
            const auto found = naive.find(entity);
            num_new += found == naive.end() || found->second.tree != tree;
            num_there += found != naive.end();
        }
        const std::uint32_t num_rows = num_in(tree) * sources[tree].num_nodes();
        const bool fits = num_new <= (kCapacityRows - num_rows) / sources[tree].num_nodes();
        const Result<AddCounts> counts = now().add(some, ids[tree]);
        ASSERT_EQ(counts.ok(), fits);
        if (!fits) return;
        EXPECT_EQ(counts->num_set, num_there);
        EXPECT_EQ(counts->num_added, some.size() - num_there);
        for (const Entity entity : some) reset(naive[entity], tree);
    }
    void remove_or_destroy() {
        Entity& entity = known[random.below(kNumEntities)];
        if (random.below(2) == 0) {
            EXPECT_EQ(now().remove({&entity, 1}), naive.erase(entity));
            return;
        }
        naive.erase(entity);
        entities.destroy(entity);
        entity = *entities.create();
        now().settle({.stamp = ++stamp});
        watch.begin(now());
    }
    void change_pose() {
        if (naive.empty()) return;
        const Entity entity = pick_instance();
        ShownInstance& one = naive[entity];
        const std::uint32_t node = random.below(num_nodes(one)), what = random.below(4);
        const std::uint32_t first = what == 0 ? 0 : node;
        if (what == 0) {
            for (Transform& local : one.locals) local = random_pose(random);
            now().set_locals(at(entity), one.locals);
        } else if (what == 1) {
            one.locals[node].scale = {1, 2, 0.5f + random.unit()};
            const ComponentRow place = now().find_row(schema_of<NodePose>().id(), entity, node);
            const FieldPart part = field_part(schema_of<NodePose>(), schema_of<NodePose>().fields()[kScaleField]);
            ASSERT_TRUE(
                now().write_field(place, part, reinterpret_cast<const std::byte*>(&one.locals[node].scale)).ok());
        } else {
            one.locals[node] = random_pose(random);
            // Other lengths than 1 are mended; builds with checks end the program instead.
            constexpr float kLength = SHOAL_CHECKED != 0 ? 1 : 2;
            Transform longer = one.locals[node];
            for (float* lane : {&longer.rotation.x, &longer.rotation.y, &longer.rotation.z, &longer.rotation.w})
                *lane *= kLength;
            now().set_local(at(entity), node, what == 2 ? longer : one.locals[node]);
            one.locals[node] = now().local(at(entity), node);
        }
        one.first_changed = std::min(one.first_changed, first);
    }
    void write_columns() {
        const std::uint32_t tree = random.below(kNumTrees);
        if (!ids[tree]) return;
        const NodeLocals locals = now().write_locals(ids[tree]);
        for (auto& [entity, one] : naive) {
            if (one.tree != tree) continue;
            const std::size_t row = now().block(at(entity)) * num_nodes(one) + random.below(num_nodes(one));
            Transform& local = one.locals[row % num_nodes(one)];
            local = random_pose(random);
            locals.positions[row] = local.position, locals.rotations[row] = local.rotation;
            locals.scales[row] = local.scale;
            one.first_changed = 0;
        }
    }
    void compute() {
        std::uint64_t expected = 0;
        for (auto& [entity, one] : naive) {
            if (one.first_changed != ~0u) expected += show(one, one.first_changed, [](std::uint32_t) { return false; });
            one.first_changed = ~0u;
            one.moved.clear();
        }
        EXPECT_EQ(now().compute(), expected);
    }
    void apply_constraints() {
        for (PutNodes& one : constraints) {
            one.nodes.clear();
            for (std::uint32_t i = random.below(3); i-- > 0 && !naive.empty();) {
                const Entity entity = pick_instance();
                one.nodes.emplace_back(entity, random.below(num_nodes(naive[entity])));
            }
        }
        num_followed = let_follow();
        EXPECT_EQ(now().apply_constraints(), num_followed);
    }
    /// Lets the other manager load the state, and go on.
    void load() {
        const Snapshot saved = saved_by(now());
        SnapshotReader from(saved, random.below(2) == 0);
        const Status status = managers[1]->load(from);
        ASSERT_TRUE(status.ok()) << status.message();
        expect_equal(saved, saved_by(*managers[1]));
        EXPECT_EQ(managers[1]->num_trees(), now().num_trees());
        std::swap(managers[0], managers[1]);
        watch.begin(now());
    }
    static Snapshot saved_by(const ModelPoseManager& manager) {
        Snapshot saved;
        SnapshotWriter to(saved);
        manager.save(to);
        EXPECT_TRUE(to.status().ok()) << to.status().message();
        return saved;
    }
    static void expect_equal(const Snapshot& a, const Snapshot& b) {
        ASSERT_EQ(a.num_parts(), b.num_parts());
        for (std::size_t i = 0; i < a.num_parts(); ++i) {
            const SnapshotPart one = a.part(i), other = b.part(i);
            ASSERT_EQ(one.path, other.path);
            ASSERT_EQ(one.num_bytes(), other.num_bytes()) << one.path;
            std::vector<std::byte> bytes(one.num_bytes()), others(one.num_bytes());
            a.copy(one, 0, one.num_elements, bytes.data());
            b.copy(other, 0, other.num_elements, others.data());
            ASSERT_EQ(bytes, others) << one.path;
        }
    }
    void expect_as_shown() {
        ASSERT_EQ(now().num_instances(), naive.size());
        ASSERT_EQ(now().tables().size(), now().num_trees() + 1u);
        for (const auto& [entity, one] : naive) {
            ASSERT_EQ(now().tree(at(entity)), ids[one.tree]);
            for (std::uint32_t node = 0; node < num_nodes(one); ++node) {
                float largest = 1;
                for (const Vec4& row : one.shown[node].row) largest = std::max(largest, std::fabs(row.w));
                expect_near(now().model(at(entity), node), one.shown[node], largest * 1e-3f);
            }
        }
        expect_valid(now());
    }
    Instance at(Entity entity) { return now().instance(entity); }

    static constexpr std::size_t kScaleField = 2;
    std::unique_ptr<ModelPoseManager> managers[2];
    PutNodes constraints[2] = {{this, {}}, {this, {}}};
    std::vector<TreeSource> sources;
    NodeTreeId ids[kNumTrees];
    std::set<std::uint32_t> uses;
    Entities known;
    std::map<Entity, ShownInstance> naive;
    shoal_test::MarkWatch watch;
    std::uint64_t stamp = 1, num_followed = 0;
};

TEST_F(ModelPoseRounds, of_random_calls_mark_what_they_write_and_go_on_in_whoever_loads_the_state) {
    SCOPED_TRACE(shoal_test::seed_text());
    using Call = void (ModelPoseRounds::*)();
    constexpr Call kCalls[] = {&ModelPoseRounds::change_trees,      &ModelPoseRounds::add_some,
                               &ModelPoseRounds::add_some,          &ModelPoseRounds::add_some,
                               &ModelPoseRounds::remove_or_destroy, &ModelPoseRounds::change_pose,
                               &ModelPoseRounds::change_pose,       &ModelPoseRounds::change_pose,
                               &ModelPoseRounds::write_columns,     &ModelPoseRounds::compute,
                               &ModelPoseRounds::compute,           &ModelPoseRounds::apply_constraints,
                               &ModelPoseRounds::apply_constraints, &ModelPoseRounds::load};
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(8'000); ++i) {
        now().settle({.stamp = ++stamp});
        watch.begin(now());
        if (random.below(4) == 0 && !naive.empty()) {  // what waits for apply_constraints(), also over a load
            const Entity entity = pick_instance();
            put_node(now(), entity, random.below(num_nodes(naive[entity])));
        }
        for (std::uint32_t n = 1 + random.below(2); n-- > 0;) (this->*kCalls[random.below(std::size(kCalls))])();
        ASSERT_TRUE(watch.all_is_marked(now())) << i;
        ASSERT_NO_FATAL_FAILURE(expect_as_shown()) << i;
        ASSERT_FALSE(HasFailure()) << i;
    }
}

}  // namespace
}  // namespace shoal

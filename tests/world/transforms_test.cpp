// Transforms in worlds: spawned from blobs, in several worlds at once, moved by point masses.

#include "shoal/components/point_mass.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace shoal;

template <class T>
std::span<const std::byte> bytes_of(const T& component) {
    return std::as_bytes(std::span(&component, 1));
}

/// A blob with these parents. Entity i is i + 1 metres from its parent along x; those of `bare` have no transform.
Blob make_blob(std::span<const std::uint32_t> parents, std::span<const std::uint32_t> bare = {}) {
    BlobWriter writer;
    writer.set_name("levels/tree");
    const std::uint32_t type = writer.add_component_type(schema_of<Transform>(), -100).value();
    for (std::uint32_t i = 0; i < parents.size(); ++i) {
        writer.add_entity({.parent = parents[i]});
        if (std::find(bare.begin(), bare.end(), i) != bare.end()) continue;
        writer.add_component(type, i, bytes_of(Transform{.position = {static_cast<float>(i + 1), 0, 0}}));
    }
    return *Blob::load(writer.write().value());
}

constexpr std::uint32_t kTree[] = {kNoBlobEntity, 0, 1, 1, 2};  // A-B-{C-E, D}

float world_x(const TransformManager& transforms, Entity entity) {
    return transforms.world_position(transforms.instance(entity)).x;
}

TEST(WorldTransforms, children_of_a_blob_become_links) {  // req: D25
    EntityManager entities;
    World world(entities);
    const Blob blob = make_blob(kTree);
    ASSERT_TRUE(world.adopt_schemas(blob).ok());
    ASSERT_NE(find_transforms(world.directory()), nullptr) << "the spawn made them";
    const Result<Spawned> spawned = world.spawn(blob, {.copies = 3});
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    const TransformManager& transforms = world.transforms();
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        const auto instance = [&](std::uint32_t i) { return transforms.instance(spawned->entity(i, copy)); };
        EXPECT_TRUE(transforms.parent(instance(0)).is_nil());
        for (const std::uint32_t i : {1u, 2u, 3u, 4u}) EXPECT_EQ(transforms.parent(instance(i)), instance(kTree[i]));
        std::vector<Entity> below_b;
        for (Instance i = transforms.first_child(instance(1)); i; i = transforms.next_sibling(i))
            below_b.push_back(transforms.entity(i));
        std::sort(below_b.begin(), below_b.end(), [](Entity a, Entity b) { return a.id < b.id; });
        EXPECT_EQ(below_b, (std::vector{spawned->entity(2, copy), spawned->entity(3, copy)}));
        EXPECT_EQ(world_x(transforms, spawned->entity(4, copy)), 1 + 2 + 3 + 5);
        EXPECT_EQ(world_x(transforms, spawned->entity(3, copy)), 1 + 2 + 4);
    }
    EXPECT_TRUE(transforms.validate().ok()) << transforms.validate().message();
}

TEST(WorldTransforms, a_child_follows_the_nearest_ancestor_with_a_transform) {
    EntityManager entities;
    World world(entities);
    const std::uint32_t bare[] = {1, 2};
    const std::uint32_t parents[] = {kNoBlobEntity, 0, 1, 2, kNoBlobEntity};
    world.transforms();
    const Result<Spawned> spawned = world.spawn(make_blob(parents, bare));
    ASSERT_TRUE(spawned.ok());
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.num_rows(), 3u);
    EXPECT_EQ(transforms.parent(transforms.instance(spawned->entity(3))), transforms.instance(spawned->entity(0)));
    EXPECT_EQ(world_x(transforms, spawned->entity(3)), 1 + 4);
    EXPECT_EQ(world_x(transforms, spawned->entity(4)), 5);
}

TEST(WorldTransforms, root_poses_put_each_copy_in_its_place) {
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        EntityManager entities;
        World world(entities);
        world.transforms({.mode = mode});
        const float half = std::sqrt(0.5f);
        const RootPose poses[] = {{}, {{10, 20, 30}, {0, 0, half, half}, {2, 2, 2}}, {{0, 0, 5}, {}, {-1, 1, 3}}};
        const std::uint32_t bare[] = {0};
        const std::uint32_t parents[] = {kNoBlobEntity, 0, 1};  // the transform of 1 is a root though 1 is a child
        const Result<Spawned> spawned = world.spawn(make_blob(parents, bare), {.copies = 3, .root_poses = poses});
        ASSERT_TRUE(spawned.ok()) << spawned.message();
        world.settle();
        const TransformManager& transforms = world.transforms();
        const auto place = [&](std::uint32_t i, std::uint32_t copy) {
            return transforms.world_position(transforms.instance(spawned->entity(i, copy)));
        };
        const auto expect_near = [](Vec3 a, Vec3 b) {
            EXPECT_NEAR(a.x, b.x, 1e-5f);
            EXPECT_NEAR(a.y, b.y, 1e-5f);
            EXPECT_NEAR(a.z, b.z, 1e-5f);
        };
        expect_near(place(1, 0), {2, 0, 0});
        expect_near(place(2, 0), {5, 0, 0});
        expect_near(place(1, 1), {10, 24, 30});  // x became y, and twice as long
        expect_near(place(2, 1), {10, 30, 30});
        expect_near(place(1, 2), {-2, 0, 5});
        expect_near(place(2, 2), {-5, 0, 5});
        const Transform local = transforms.local(transforms.instance(spawned->entity(2, 1)));
        EXPECT_EQ(local.position, (Vec3{3, 0, 0})) << "children stay as they are";
    }
}

TEST(WorldTransforms, there_is_one_root_pose_per_copy) {
    EntityManager entities;
    World world(entities);
    world.transforms();
    const RootPose poses[2];
    const Blob blob = make_blob(kTree);
    const Result<Spawned> three = world.spawn(blob, {.copies = 3, .root_poses = poses});
    EXPECT_EQ(three.message(), "2 root poses for 3 copies of \"levels/tree\"; give one pose per copy, or none");
    EXPECT_EQ(world.spawn(blob, {.root_poses = poses}).message(),
              "2 root poses for 1 copy of \"levels/tree\"; give one pose per copy, or none");
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(world.transforms().num_rows(), 0u);
}

TEST(WorldTransforms, an_entity_has_a_place_in_each_of_several_worlds) {  // req: C3-C4
    EntityManager entities;
    World sea(entities), map(entities);
    TransformManager& in_sea = sea.transforms();
    TransformManager& on_map = map.transforms({.mode = TransformMode::kDeferred});
    std::vector<Entity> fish(100);
    ASSERT_TRUE(entities.create(fish).ok());
    ASSERT_TRUE(in_sea.add(fish, Transform{.position = {1, 2, 3}}).ok());
    ASSERT_TRUE(on_map.add(std::span(fish).first(60), Transform{.position = {0.5f, 0, 0}}).ok());
    ASSERT_TRUE(in_sea.link(in_sea.instance(fish[1]), in_sea.instance(fish[0])).ok());

    sea.schedule().add("swim", [&](PassContext& context) {
        in_sea.set_position(in_sea.instance(fish[0]), {static_cast<float>(context.frame), 0, 0});
    });
    map.schedule().add("draw", [&](PassContext&) { on_map.set_position(on_map.instance(fish[1]), {7, 7, 7}); });
    for (int frame = 0; frame < 5; ++frame) sea.step(0.1f);
    map.step(0.1f);
    EXPECT_EQ(in_sea.world_position(in_sea.instance(fish[1])), (Vec3{5, 2, 3})) << "carried by fish 0, at x = 4";
    EXPECT_EQ(on_map.world_position(on_map.instance(fish[1])), (Vec3{7, 7, 7}));
    EXPECT_EQ(on_map.world_position(on_map.instance(fish[0])), (Vec3{0.5f, 0, 0}));
    EXPECT_EQ(sea.frame(), 5u);
    EXPECT_EQ(map.frame(), 1u);
    EXPECT_FALSE(on_map.has(fish[80]));

    entities.destroy(std::span(fish).subspan(10, 40));
    sea.settle();
    EXPECT_EQ(in_sea.num_rows(), 60u);
    EXPECT_FALSE(in_sea.has(fish[20]));
    map.settle();
    EXPECT_EQ(on_map.num_rows(), 20u) << "the map has not settled yet";
    EXPECT_FALSE(on_map.has(fish[20]));
    EXPECT_TRUE(on_map.has(fish[55]) && in_sea.has(fish[55]));
    EXPECT_TRUE(in_sea.validate().ok() && on_map.validate().ok());
}

TEST(WorldTransforms, a_blob_can_be_spawned_into_two_worlds) {
    EntityManager entities;
    World first(entities), second(entities);
    const Blob blob = make_blob(kTree);
    ASSERT_TRUE(first.adopt_schemas(blob).ok() && second.adopt_schemas(blob).ok());
    const RootPose far_away[] = {{.position = {100, 0, 0}}};
    Result<Spawned> here = first.spawn(blob);
    Result<Spawned> there = second.spawn(blob, {.root_poses = far_away});
    ASSERT_TRUE(here.ok() && there.ok());
    EXPECT_EQ(world_x(first.transforms(), here->entity(4)), 11);
    EXPECT_EQ(world_x(second.transforms(), there->entity(4)), 111);
    EXPECT_FALSE(first.transforms().has(there->entity(4)));
    here->destroy(entities);
    first.settle();
    second.settle();
    EXPECT_EQ(first.transforms().num_rows(), 0u);
    EXPECT_EQ(second.transforms().num_rows(), 5u);
}

TEST(WorldTransforms, are_made_once_with_the_first_options_and_die_with_the_world) {
    const shoal_test::LeakCheck leaks;
    EntityManager entities;
    World world(entities);
    EXPECT_EQ(find_transforms(world.directory()), nullptr);
    TransformManager& made = world.transforms({.mode = TransformMode::kDeferred});
    EXPECT_EQ(&world.transforms(), &made);
    EXPECT_EQ(find_transforms(world.directory()), &made);
    EXPECT_EQ(made.mode(), TransformMode::kDeferred);
    EXPECT_EQ(world.directory().find(schema_of<Transform>().id()), &made);
    EXPECT_EQ(world.directory().stores().size(), 1u);
}

TEST(WorldTransforms, that_a_query_has_made_take_no_other_mode) {
    EntityManager entities;
    World world(entities);
    world.query<Write<&Transform::position>>();
    EXPECT_DEATH(world.transforms({.mode = TransformMode::kDeferred}), "before the first query or blob that names");
    EXPECT_EQ(&world.transforms({.mode = TransformMode::kImmediate}), find_transforms(world.directory()));
}

TEST(WorldTransforms, of_another_layout_are_refused_by_name) {
    ComponentDefinition definition;
    definition.name = "transform";
    definition.fields.push_back({.name = "position", .type = FieldType::kVec3});
    const Schema schema = Schema::make(definition).value();
    BlobWriter writer;
    writer.set_name("old");
    writer.add_entity({});
    writer.add_component(writer.add_component_type(schema).value(), 0, bytes_of(Vec3{}));
    EntityManager entities;
    World world(entities);
    const std::string message(world.adopt_schemas(*Blob::load(writer.write().value())).message());
    EXPECT_NE(message.find("the blob \"old\" was compiled for transform v1 {position vec3}, but the world has "),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("compile the source again"), std::string::npos) << message;
}

// --- other stores --------------------------------------------------------------------------------------------------

/// A store of no component type that counts its settles.
class Clock final : public Store {
public:
    Clock(EntityManager& entities, PagePool&, int& num_settles) : entities_(entities), num_settles_(num_settles) {}
    ~Clock() override { num_settles_ = -1; }

    std::span<const Schema* const> schemas() const override { return {}; }
    Status spawn(const SpawnBatch&) override { return {}; }
    void drop(std::span<const Entity>) override {}
    void settle(const SettleContext& context) override {
        ++num_settles_;
        executor = context.executor;
    }
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }
    const EntityManager& entities() const { return entities_; }

    Executor* executor = nullptr;

private:
    EntityManager& entities_;
    int& num_settles_;
};

TEST(WorldStores, a_world_owns_stores_of_any_class) {
    const shoal_test::LeakCheck leaks;
    EntityManager entities;
    int num_settles = 0;
    {
        World world(entities);
        Clock& clock = world.make_store<Clock>(num_settles);
        EXPECT_EQ(&clock.entities(), &entities);
        world.step(0.1f);
        world.settle();
        EXPECT_EQ(num_settles, 2);
        EXPECT_EQ(clock.executor, &world.executor()) << "a store may use the world's workers to settle";
    }
    EXPECT_EQ(num_settles, -1) << "the world destroys it";
}

// --- point masses --------------------------------------------------------------------------------------------------

TEST(WorldTransforms, point_masses_start_at_their_transforms_and_move_them) {
    EntityManager entities;
    World world(entities);
    auto& masses = world.manager<PointMass>();
    TransformManager& transforms = world.transforms({.mode = TransformMode::kDeferred});
    std::vector<Entity> stones(50);
    ASSERT_TRUE(entities.create(stones).ok());
    const auto with_both = std::span<const Entity>(stones).first(30);
    ASSERT_TRUE(masses.add(std::span<const Entity>(stones).first(40), PointMass{.velocity = {0, 2, 0}}).ok());
    ASSERT_TRUE(transforms.add(with_both, Transform{.position = {5, 0, 0}}).ok());
    ASSERT_TRUE(transforms.add(std::span<const Entity>(stones).subspan(45), Transform{.position = {9, 9, 9}}).ok());
    ASSERT_TRUE(transforms.link(transforms.instance(stones[1]), transforms.instance(stones[0])).ok());

    const std::vector<Entity> backwards(stones.rbegin(), stones.rend());  // the first of them lack one or the other
    EXPECT_EQ(place_at_transforms(masses, transforms, backwards), 30u);
    EXPECT_EQ(masses.get<&PointMass::position>(masses.instance(stones[2])), (Vec3{5, 0, 0}));
    EXPECT_EQ(masses.get<&PointMass::position>(masses.instance(stones[35])), (Vec3{}));
    world.schedule().add("fly", [&](PassContext& context) {
        simulate(masses, context.dt, context.executor);
        EXPECT_EQ(move_transforms(masses, transforms, &context.executor), 30u);
    });
    for (int i = 0; i < 8; ++i) world.step(0.25f);
    const auto place = [&](std::size_t i) { return transforms.world_position(transforms.instance(stones[i])); };
    EXPECT_EQ(place(0), (Vec3{5, 4, 0}));
    EXPECT_EQ(place(1), (Vec3{10, 8, 0})) << "it moves by itself and with its parent";
    EXPECT_EQ(place(48), (Vec3{9, 9, 9}));
    EXPECT_TRUE(transforms.validate().ok());
}

}  // namespace

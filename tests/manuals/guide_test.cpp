// The recipes of docs/guide/cookbook.md.

#include "shoal/base/clock.h"
#include "shoal/base/file_watch.h"
#include "shoal/command/commands.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/inspect/report.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
#include "shoal/react/relations.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/library.h"
#include "shoal/save/state_hash.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/source/compiler.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "shoal/world/entity_blob.h"
#include "shoal/world/fixed_step.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cookbook {

using namespace shoal;

struct Body {
    Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, position, velocity)

// [guide/timer]
struct Fuse {
    float left = 3;
};
SHOAL_COMPONENT(Fuse, (left, unit("s")))

void add_fuses(World& world) {
    world.schedule().add("burn", world.query<Write<&Fuse::left>>(),
                         [](const PassContext& frame, Commands& commands, Entity bomb, auto&& left) {
                             left -= frame.dt;
                             if (left <= 0) commands.destroy(bomb);
                         });
}
// [guide/timer]

TEST(Cookbook, a_fuse_burns_down) {
    EntityManager entities;
    World world(entities);
    const Entity bomb = world.database().create(Fuse{.left = 1}).value();
    add_fuses(world);
    world.step(0.75f);
    EXPECT_TRUE(entities.alive(bomb));
    world.step(0.75f);
    EXPECT_FALSE(entities.alive(bomb));
}

TEST(Cookbook, a_pass_runs_every_second) {
    EntityManager entities;
    World world(entities);
    int num_waves = 0;
    // [guide/interval]
    world.schedule().add("wave", {writes(num_waves)}, [&](PassContext&) { ++num_waves; }).every_seconds(1);
    // [guide/interval]
    for (int frame = 0; frame < 10; ++frame) world.step(0.25f);
    EXPECT_EQ(num_waves, 2);
}

TEST(Cookbook, real_time_becomes_steps_of_one_length) {
    EntityManager entities;
    World world(entities);
    const double elapsed_s = 0.051;
    // [guide/clock]
    FixedStep clock(1.0 / 60, 4);  // no more than 4 steps at once
    for (auto n = clock.advance(elapsed_s); n > 0; --n) world.step(clock.step_s());
    // [guide/clock]
    EXPECT_EQ(world.frame(), 3u);
}

// [guide/drift]
void add_drift(World& world) {
    world.schedule().add("drift", world.query<Write<&Transform::position>, Read<&Body::velocity>>(),
                         [](const PassContext& frame, auto&& position, const Vec3& v) { position += v * frame.dt; });
}
// [guide/drift]

TEST(Cookbook, a_pass_moves_transforms) {
    EntityManager entities;
    World world(entities);
    TransformManager& transforms = world.transforms();
    const Entity raft = entities.create().value(), mast = entities.create().value();
    const Entity both[] = {raft, mast};
    const Transform locals[] = {{}, {.position = {0, 0, 2}}};
    const std::uint32_t parents[] = {kNilRow, 0};
    ASSERT_TRUE(transforms.add(both, locals, parents).ok());
    ASSERT_TRUE(world.manager<Body>().add(raft, {.velocity = {4, 0, 0}}).ok());
    add_drift(world);
    world.step(0.5f);
    EXPECT_EQ(transforms.world_position(transforms.instance(mast)), (Vec3{2, 0, 2}));
}

// [guide/position_links]
void keep_places(World& world, const GridZones& tiles) {
    world.position_links().follow<&Body::position>(Follower::kField);  // where the transform is in the world
    world.position_links().keep_in_tiles<&Body::position>(tiles);      // and its row in the tile of that place
}
// [guide/position_links]

TEST(Cookbook, a_place_follows_its_transform_and_a_row_its_place) {
    EntityManager entities;
    World world(entities);
    world.transforms();
    world.database().component<Body>();
    const GridZones tiles({.num_x = 4, .num_y = 4});
    keep_places(world, tiles);
    const Entity crab = world.database().create(Body{}).value();
    ASSERT_TRUE(world.transforms().add({&crab, 1}, {.position = {2.5f, 3.5f, 0}}).ok());
    world.step(0.5f);
    EXPECT_EQ(world.get<Vec3>(crab, "body.position").value(), (Vec3{2.5f, 3.5f, 0}));
    EXPECT_EQ(world.database().find(crab).table->zone(), tiles.zone_of({2.5f, 3.5f, 0}));
}

TEST(Cookbook, a_lantern_hangs_on_a_node) {
    EntityManager entities;
    World world(entities);
    TransformManager& transforms = world.transforms();
    ModelPoseManager& models = world.make_store<ModelPoseManager>();
    const Entity ship = entities.create().value(), lantern = entities.create().value();
    const StringId names[] = {StringId("mast")};
    const std::uint32_t parents[] = {kNilRow};
    const Vec3 positions[] = {{0, 0, 9}}, scales[] = {{1, 1, 1}};
    const Quaternion rotations[] = {{}};
    const Result<NodeTreeId> tree = models.add_node_tree(
        {.names = names, .parents = parents, .positions = positions, .rotations = rotations, .scales = scales});
    for (const Entity entity : {ship, lantern}) ASSERT_TRUE(transforms.add({&entity, 1}).ok());
    ASSERT_TRUE(tree.ok() && models.add({&ship, 1}, *tree).ok());
    // [guide/attached]
    world.manager<AttachedToNode>();
    world.schedule().add("pose", {writes(models)}, [&](PassContext& frame) { models.compute(&frame.executor); });
    world.commands().add(lantern, ChildOf{ship});
    world.commands().add(lantern, AttachedToNode{.node = StringId("mast"), .position = {0, 1, 0}});
    // [guide/attached]
    world.step(0.5f);
    EXPECT_EQ(transforms.world_position(transforms.instance(lantern)), (Vec3{0, 1, 9}));
}

// [guide/properties]
const StringId kArmorFront("armor.front");

/// Returns what is left of the armour of a tank that was hit, and keeps it.
Result<float> hit(PropertyManager& properties, Entity tank, float damage) {
    const float left = properties.get_or(tank, kArmorFront, 0.0f) - damage;  // the tank's own, else that of its prefab
    if (Status set = properties.set(tank, "armor.front", left); !set) return set;
    return left;
}
// [guide/properties]

TEST(Cookbook, a_hit_leaves_less_armour) {
    EntityManager entities;
    World world(entities);
    const Entity tank = entities.create().value();
    ASSERT_TRUE(world.properties().set(tank, "armor.front", 20).ok());
    EXPECT_EQ(hit(world.properties(), tank, 5).value(), 15);
    EXPECT_EQ(hit(world.properties(), tank, 5).value(), 10);
    entities.destroy(tank);
    EXPECT_FALSE(hit(world.properties(), tank, 5).ok());
}

// [guide/event]
struct Splash {
    Entity who;
    Vec3 at;
};

void add_splashes(World& world, int& num_heard) {
    Events<Splash>& splashes = world.events<Splash>();
    world.schedule().add("fall", world.query<Read<&Body::position>>().writing(splashes),
                         [](EventWriter<Splash>& splashes, Entity who, const Vec3& at) {
                             if (at.z < 0) splashes.write({who, at});
                         });
    world.schedule().add("listen", {reads(splashes), writes(num_heard)},
                         [&](PassContext&) { num_heard += int(splashes.read().size()); });
}
// [guide/event]

TEST(Cookbook, splashes_are_heard_in_the_same_frame) {
    EntityManager entities;
    World world(entities);
    ASSERT_TRUE(world.database().create(Body{.position = {0, 0, -1}}));
    ASSERT_TRUE(world.database().create(Body{}));
    int num_heard = 0;
    add_splashes(world, num_heard);
    world.step(1);
    EXPECT_EQ(num_heard, 1);
}

// [guide/singleton]
struct Weather {
    Vec3 wind{};
};

void add_weather(World& world, Weather& weather) {  // the program owns it
    world.schedule().add("blow", {writes(weather)}, [&](PassContext& frame) { weather.wind.x += frame.dt; });
    world.schedule().add("drift", world.query<Write<&Body::velocity>>(), {reads(weather)},
                         [&](auto&& velocity) { velocity += weather.wind; });
}
// [guide/singleton]

TEST(Cookbook, all_drift_with_one_wind) {
    EntityManager entities;
    World world(entities);
    const Entity leaf = world.database().create(Body{}).value();
    Weather weather;
    add_weather(world, weather);
    world.step(2);
    EXPECT_EQ(world.get<Vec3>(leaf, "body.velocity").value(), (Vec3{2, 0, 0}));
}

// [guide/reference]
struct Target {
    Entity entity;
};
SHOAL_COMPONENT(Target, entity)

void add_chasing(World& world) {
    const Lookup<&Body::position> position(world.directory());
    world.schedule().add(
        "chase", world.query<Write<&Body::velocity>, Read<&Body::position>, Read<&Target::entity>>(),
        [&world, position](Commands& commands, Entity self, auto&& velocity, const Vec3& at, Entity prey) {
            if (!world.entities().alive(prey)) return commands.remove<Target>(self);
            if (const auto there = position.find(prey)) velocity = normalized(*there - at);
        });
}
// [guide/reference]

TEST(Cookbook, a_chaser_loses_a_target_that_has_died) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    const Entity prey = sea.create(Body{.position = {9, 0, 0}}).value();
    const Entity shark = sea.create(Body{}, Target{prey}).value();
    add_chasing(world);
    world.step(1);
    EXPECT_EQ(world.get<Vec3>(shark, "body.velocity").value(), (Vec3{1, 0, 0}));
    entities.destroy(prey);
    world.step(1);
    EXPECT_FALSE(sea.has<Target>(shark));
}

// [guide/singletons]
struct Current {
    Vec3 flow{};
    float strength = 1;
};
SHOAL_COMPONENT((Current, singleton), flow, strength)

void add_current(World& world) {
    world.singleton<Current>().flow = {1, 0, 0};  // made with its defaults by the first call, between passes
    world.schedule().add("turn", world.query<Singleton<Write<&Current::strength>>>(),
                         [](const PassContext& frame, float& strength) { strength += frame.dt; });
    world.schedule().add("carry", world.query<Write<&Body::velocity>, Singleton<Read<all_fields<Current>>>>(),
                         [](auto&& velocity, const Current& current) { velocity += current.flow * current.strength; });
}
// [guide/singletons]

TEST(Cookbook, a_singleton_is_named_by_passes) {
    EntityManager entities;
    World world(entities);
    const Entity fish = world.database().create(Body{}).value();
    add_current(world);
    world.step(1);
    world.step(1);
    EXPECT_EQ(world.get<Vec3>(fish, "body.velocity").value(), (Vec3{2 + 3, 0, 0}));
    EXPECT_EQ(world.get("current.strength")->as<float>().value(), 3);
}

TEST(Cookbook, what_is_owned_dies_with_its_owner) {
    EntityManager entities;
    World world(entities);
    Entity made[2];
    ASSERT_TRUE(entities.create(made));
    const Entity ship = made[0], cannon = made[1];
    // [guide/own]
    OwnershipManager& owners = world.ownership();
    if (Status owned = owners.own(ship, cannon); !owned) FAIL() << owned.message();
    entities.destroy(ship);  // and the cannon
    // [guide/own]
    EXPECT_FALSE(entities.alive(cannon));
}

TEST(Cookbook, tags_find_their_entities) {
    EntityManager entities;
    World world(entities);
    const Entity crab = entities.create().value();
    ASSERT_TRUE(world.manager<Body>().add(crab, {.velocity = {1, 2, 3}}).ok());
    // [guide/tag]
    TagManager tags(world.manager<Tag>(), world.strings());
    if (Status added = tags.add_tag(crab, "enemy"); !added) FAIL() << added.message();
    for (const Entity enemy : tags.entities_with("enemy")) EXPECT_EQ(enemy, crab);
    world.query<Write<&Body::velocity>>().tagged("enemy").for_each([](auto&& velocity) { velocity = {}; });
    // [guide/tag]
    EXPECT_EQ(world.manager<Body>().get<&Body::velocity>(world.manager<Body>().instance(crab)), Vec3{});
    EXPECT_EQ(tags.entities_with("enemy").size(), 1u);
}

// [guide/roam]
void add_roaming(World& world) {
    world.schedule().add("roam", world.query<Write<&Body::velocity>>(),
                         [](const PassContext& frame, Entity self, auto&& velocity) {
                             Random random = frame.random_for(self);
                             velocity = Vec3{random.unit() - 0.5f, random.unit() - 0.5f, 0};
                         });
}
// [guide/roam]

// [guide/hash]
std::uint64_t run_roaming(Executor& executor) {
    EntityManager entities;
    World world(entities, {.executor = &executor});
    std::vector<Entity> fish(20'000);
    if (!world.database().create<Body>(fish, 0)) return 0;
    add_roaming(world);
    for (int frame = 0; frame < 5; ++frame) world.step(0.5f);
    return state_hash(world);
}

TEST(Roaming, does_not_depend_on_the_number_of_workers) {
    SerialExecutor serial;
    ThreadedExecutor workers;
    EXPECT_EQ(run_roaming(serial), run_roaming(workers));
}
// [guide/hash]

// [guide/oracle]
void add_moving(World& world) {
    world.schedule().add(
        "move", world.query<Write<&Body::position>, Read<&Body::velocity>>(),
        [](const PassContext& frame, auto&& position, Vec3 velocity) { position += velocity * frame.dt; });
}

TEST(Moving, does_what_the_plainest_loop_does) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> fish(100);
    std::vector<Body> expected(100);
    for (Body& body : expected) body.velocity = {world.random().unit(), world.random().unit(), 1};
    ASSERT_TRUE(world.database().create<Body>(fish, 0, expected));
    add_moving(world);
    world.step(0.5f);
    for (std::size_t i = 0; i < fish.size(); ++i)
        EXPECT_EQ(world.get<Vec3>(fish[i], "body.position").value(), expected[i].velocity * 0.5f);
}
// [guide/oracle]

std::vector<std::byte> compile_bomb() {
    ComponentRegistry registry;
    EXPECT_TRUE(registry.add<Fuse>());
    Diagnostics diagnostics;
    CompileOptions options;
    options.name = "bomb";
    const auto file = diagnostics.add_file("bomb.sjson", "name = \"charge\"  components = { fuse = { left = 5 } }");
    return compile_file(file, registry, options, diagnostics).value().blob;
}

TEST(Cookbook, a_blob_is_spawned_for_every_order) {
    EntityManager entities;
    World world(entities);
    auto& fuses = world.manager<Fuse>();
    std::vector<Entity> ships(3);
    ASSERT_TRUE(world.database().create<Body>(ships, 0));
    ResourceLibrary library;
    ASSERT_TRUE(library.load(compile_bomb()));
    // [guide/prefab]
    const Blob& bomb = *library.find("bomb");
    world.schedule().add("order", world.query<Read<&Body::position>>(),
                         [&bomb](Commands& commands, Entity self, const Vec3& at) {
                             const Entity dropped = commands.spawn(bomb, {.position = at});
                             commands.add(dropped, Target{self});
                         });
    // [guide/prefab]
    world.step(1.0f / 60);
    EXPECT_EQ(fuses.num_rows(), 3u);
    EXPECT_EQ(fuses.get<&Fuse::left>({0}), 5);
    const Result<Spawned> copied = copy(world, fuses.entity({0}));
    ASSERT_TRUE(copied);
    EXPECT_EQ(world.get<Entity>(copied->entity(0), "target.entity").value(), ships[0]);
    // [guide/overrides]
    const Result<Spawned> mines = world.spawn(
        bomb,
        {.copies = 2, .overrides = {{"charge", "fuse.left", 60}, {"charge", "fuse.left", 90, 1}}});  // 90 in copy 1
    // [guide/overrides]
    ASSERT_TRUE(mines) << mines.message();
    EXPECT_EQ(world.get<float>(mines->entity(0, 0), "fuse.left").value(), 60);
    EXPECT_EQ(world.get<float>(mines->entity(0, 1), "fuse.left").value(), 90);
}

// [guide/medal]
struct Medal {
    int year = 0;
};
SHOAL_COMPONENT((Medal, many), year)
// [guide/medal]

Status decorate(World& world, Entity sailor, std::vector<int>& years, std::vector<std::pair<Entity, int>>& wall,
                std::vector<std::pair<int, Vec3>>& pinned, int& num_decorated) {
    // [guide/medals]
    Database& crew = world.database();
    for (const int year : {2019, 2021, 2024})
        if (auto added = crew.add(sailor, Medal{year}); !added) return added.status();
    crew.for_each_value<&Medal::year>(sailor, [&](int year) { years.push_back(year); });  // 2024, 2021, 2019
    if (auto removed = crew.remove_value<Medal>(sailor, 1); !removed) return removed.status();
    world.query<Read<&Medal::year>>().for_each([&](Entity who, int year) { wall.emplace_back(who, year); });
    world.query<Read<&Medal::year>, Read<&Body::position>>().for_each(
        [&](int year, const Vec3& at) { pinned.emplace_back(year, at); });  // each medal, where its owner is
    world.query<Read<&Body::position>, With<Medal>>().for_each([&](const Vec3&) { ++num_decorated; });
    // [guide/medals]
    return {};
}

TEST(Cookbook, a_sailor_has_several_medals) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> sailors(3);
    ASSERT_TRUE(world.database().create<Body>(sailors, 2));
    std::vector<int> years;
    std::vector<std::pair<Entity, int>> wall;
    std::vector<std::pair<int, Vec3>> pinned;
    int num_decorated = 0;
    ASSERT_TRUE(decorate(world, sailors[1], years, wall, pinned, num_decorated));
    EXPECT_EQ(pinned, (std::vector<std::pair<int, Vec3>>{{2024, {}}, {2019, {}}}));
    EXPECT_EQ(years, (std::vector<int>{2024, 2021, 2019}));
    EXPECT_EQ(wall, (std::vector<std::pair<Entity, int>>{{sailors[1], 2024}, {sailors[1], 2019}}));
    EXPECT_EQ(num_decorated, 1);
    EXPECT_EQ(world.get<int>(sailors[1], "medal[1].year").value(), 2019);
}

struct Mesh {
    int handle = 0;
};
SHOAL_COMPONENT(Mesh, handle)

TEST(Cookbook, a_renderer_is_told_what_it_draws) {
    EntityManager entities;
    World world(entities);
    auto& meshes = world.manager<Mesh>();
    std::size_t num_drawn = 0, num_changed = 0;
    std::vector<int> uploaded, released;
    // [guide/observer]
    world.observers().on_add<Mesh>([&](std::span<const Entity> entities, std::span<const Mesh> added) {
        for (const Mesh& mesh : added) uploaded.push_back(mesh.handle);
        num_drawn += entities.size();
    });
    world.observers().on_remove<Mesh>([&](std::span<const Entity> entities, std::span<const Mesh> before) {
        for (const Mesh& mesh : before) released.push_back(mesh.handle);
        num_drawn -= entities.size();
    });
    world.observers().on_change<&Mesh::handle>(
        [&](std::span<const Entity> entities) { num_changed += entities.size(); });
    // [guide/observer]
    std::vector<Entity> made(5);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(meshes.add(made, Mesh{3}));
    world.settle();
    entities.destroy(made[0]);
    meshes.set<&Mesh::handle>(meshes.instance(made[1]), 4);
    world.settle();
    EXPECT_EQ(num_drawn, 4u);
    EXPECT_EQ(num_changed, 1u);
    EXPECT_EQ(released, std::vector<int>{3});
    EXPECT_EQ(uploaded, std::vector<int>(5, 3));
}

// [guide/relation]
struct Leech {
    Entity host;
};
SHOAL_COMPONENT(Leech, (host, relation(dies_too)))

std::size_t count_leeches(const World& world, Entity host) {
    std::size_t count = 0;
    for (const Entity leech : world.relations().referrers<&Leech::host>(host)) count += bool(leech);
    return count;
}
// [guide/relation]

TEST(Cookbook, leeches_are_counted_and_die_with_their_host) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(4);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(world.manager<Leech>().add(std::span(made).subspan(1), Leech{made[0]}));
    world.settle();
    EXPECT_EQ(count_leeches(world, made[0]), 3u);
    entities.destroy(made[0]);
    world.settle();
    EXPECT_EQ(entities.num_alive(), 0u);
}

TEST(Cookbook, a_zone_is_saved_and_comes_back) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    std::vector<Entity> fish(10);
    ASSERT_TRUE(sea.create<Body>(fish, 12));
    // [guide/save]
    Result<EntityBlob> far = save_zones(world, {12});
    if (!far) FAIL() << far.message();
    world.entities().destroy(entities_in(world, {12}));
    world.settle();
    // Later; far->bytes may have been in a file.
    const Result<Blob> blob = Blob::load(far->bytes);
    if (!blob) FAIL() << blob.message();
    if (auto back = world.spawn(*blob); !back) FAIL() << back.message();
    // [guide/save]
    EXPECT_EQ(sea.num_rows(12), 10u);
}

TEST(Cookbook, a_zone_lies_in_a_file_until_it_is_visited) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    std::vector<Entity> fish(10);
    ASSERT_TRUE(sea.create<Body>(fish, 12));
    const std::string folder =
        (std::filesystem::temp_directory_path() / ("shoal_guide_zones_" + std::to_string(getpid()))).string();
    // [guide/stream]
    ZoneStreaming zones(world);
    const ZoneFileOptions budget{.max_rows = 1'000'000, .max_bytes = 64 << 20, .kept = {0}};
    if (Status status = zones.start(folder, budget); !status) FAIL() << status.message();
    if (Status status = zones.unload(12); !status) FAIL() << status.message();  // or the budget does it
    world.query<Write<&Body::position>>().in({12}).for_each([](auto&& at) { at.x += 1; });
    world.step(1.0f / 60);  // the zone is back for the next frame
    // [guide/stream]
    EXPECT_EQ(sea.num_rows(12), 10u);
    ASSERT_TRUE(zones.stop().ok());
    std::filesystem::remove_all(folder);
}

// [guide/live]
/// Compiles the level again when one of its files is edited, and reloads it.
class LiveLevel {
public:
    LiveLevel(World& world, const ComponentRegistry& registry, std::string path)
        : world_(world), reloader_(world), registry_(registry), path_(std::move(path)) {}

    Status spawn() {
        Result<Blob> blob = compile();
        if (!blob) return blob.status();
        level_.emplace(std::move(*blob));
        return world_.spawn(*level_).status();
    }
    /// Call it between frames.
    Status follow() {
        if (!watch_.has_changed()) return {};
        Result<Blob> newer = compile();
        if (!newer) return newer.status();  // the world stays as it is
        const Result<ReloadReport> reloaded = reloader_.reload(*level_, *newer);
        if (reloaded) level_ = std::move(*newer);
        return reloaded.status();
    }

private:
    Result<Blob> compile() {
        const std::int64_t begin_wall_ns = wall_clock_ns();
        Diagnostics diagnostics;
        std::vector<SourceDependency> found;  // what was read, and what was looked for, also when there are errors
        CompileOptions options;
        options.compose.dependencies = &found;
        const Result<CompiledSource> compiled = compile_source(path_, registry_, options, diagnostics);
        std::vector<std::string> files = compiled ? std::vector<std::string>() : files_;
        for (const SourceDependency& file : found) files.push_back(file.path);
        if (compiled) files_ = files;
        watch_.set(std::move(files), begin_wall_ns);
        if (!compiled) return Status::error(diagnostics.format());
        return Blob::load(compiled->blob);
    }

    World& world_;
    Reloader reloader_;  // remembers what was spawned from which blob
    const ComponentRegistry& registry_;
    std::string path_;
    std::vector<std::string> files_;  // of the level that runs
    std::optional<Blob> level_;
    FileWatch watch_;
};
// [guide/live]

TEST(Cookbook, a_level_follows_its_source) {
    const std::string path = testing::TempDir() + "shoal_live_level.sjson";
    const auto write = [&](std::string_view place) {
        ASSERT_TRUE(write_file(
            path, "entities = { fish = { components = { body = { position = " + std::string(place) + " } } } }"));
    };
    write("[1 2 3]");
    EntityManager entities;
    World world(entities);
    const auto& bodies = world.manager<Body>();
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add<Body>());
    LiveLevel level(world, registry, path);
    ASSERT_TRUE(level.spawn());
    const auto follow_until = [&](auto&& done) {
        Status status;
        for (int i = 0; i < 10'000 && status && !done(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            status = level.follow();
        }
        return status;
    };
    write("[1 2 4]");
    ASSERT_TRUE(follow_until([&] { return bodies.get<&Body::position>(Instance{0}).z == 4; }));
    write("[1 2");
    EXPECT_FALSE(follow_until([] { return false; }));
    write("[1 2 5]");
    ASSERT_TRUE(follow_until([&] { return bodies.get<&Body::position>(Instance{0}).z == 5; }));
    // A prefab in another folder has an error, and is mended.
    const std::string folder = testing::TempDir() + "shoal_live_prefabs", prefab = folder + "/cod.sjson";
    std::filesystem::create_directory(folder);
    const auto write_prefab = [&](std::string_view place) {
        ASSERT_TRUE(write_file(prefab, "components = { body = { position = " + std::string(place) + " } }"));
    };
    write_prefab("[1 2 6]");
    ASSERT_TRUE(write_file(path, std::string_view("entities = { fish = { prefab = \"shoal_live_prefabs/cod\" } }")));
    ASSERT_TRUE(follow_until([&] { return bodies.get<&Body::position>(Instance{0}).z == 6; }));
    write_prefab("[1 2");
    EXPECT_FALSE(follow_until([] { return false; }));
    write_prefab("[1 2 7]");
    ASSERT_TRUE(follow_until([&] { return bodies.get<&Body::position>(Instance{0}).z == 7; }));
    std::filesystem::remove_all(folder);
    EXPECT_EQ(std::remove(path.c_str()), 0);
}

}  // namespace cookbook

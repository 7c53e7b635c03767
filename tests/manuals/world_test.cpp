// What the headers of transform and world show.

#include "shoal/world/world.h"
#include "shoal/components/activity.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/inspect/trace_file.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
#include "shoal/react/relations.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/store/detail/component_mirror.h"
#include "shoal/transform/transform.h"
#include "shoal/world/entity_blob.h"
#include "shoal/world/fixed_step.h"
#include "shoal/world/trace.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace shoal;

Status report(const Status& status) { return Status::error(status.message()); }

struct Body {
    Vec3 velocity{};
};
SHOAL_COMPONENT(Body, velocity)

Status hoist_a_flag(World& world, std::span<const Entity> entities, Vec3& place) {
    // [transform/transform]
    TransformManager& transforms = world.transforms();
    const Transform locals[] = {{.position = {0, 0, 4}}, {.position = {1, 0, 0}}};  // a tower and its flag
    const std::uint32_t parents[] = {kNilRow, 0};
    if (auto added = transforms.add(entities, locals, parents); !added) return report(added.status());
    transforms.set_position(transforms.instance(entities[0]), {0, 0, 5});
    Vec3 flag = transforms.world_position(transforms.instance(entities[1]));  // {1, 0, 5}
    // [transform/transform]
    place = flag;
    return {};
}

TEST(WorldManuals, a_flag_follows_its_tower) {
    EntityManager entities;
    World world(entities);
    Entity created[2];
    ASSERT_TRUE(entities.create(created));
    Vec3 place;
    ASSERT_TRUE(hoist_a_flag(world, created, place));
    EXPECT_EQ(place, (Vec3{1, 0, 5}));
}

Status run_a_level(const Blob& level, std::uint32_t& num_masses) {
    // [world/world]
    EntityManager entities;
    World world(entities);
    auto& masses = world.manager<PointMass>();
    if (auto spawned = world.spawn(level, {.copies = 31}); !spawned) return report(spawned.status());
    world.schedule().add("fall", query<Write<&PointMass::velocity>>(masses),
                         [](const PassContext& frame, auto&& v) { v.z -= 9.81f * frame.dt; });
    world.step(1.0f / 60);  // runs the passes, then settles
    // [world/world]
    for (const Vec3& velocity : masses.column<&PointMass::velocity>()) EXPECT_LT(velocity.z, 0);
    num_masses = masses.num_rows();
    return {};
}

TEST(WorldManuals, a_level_is_spawned_and_falls) {
    BlobWriter writer;
    writer.set_name("stone");
    const PointMass mass;
    const std::uint32_t type = writer.add_component_type(schema_of<PointMass>()).value();
    writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&mass, 1)));
    const std::vector<std::byte> bytes = writer.write().value();
    std::uint32_t num_masses = 0;
    ASSERT_TRUE(run_a_level(Blob::load(bytes).value(), num_masses));
    EXPECT_EQ(num_masses, 31u);
}

TEST(WorldManuals, a_clock_asks_for_steps) {
    EntityManager entities;
    World world(entities);
    const double elapsed_s = 0.04;
    double drawn = 0;
    const auto draw = [&](double fraction) { drawn = fraction; };
    // [world/clock]
    FixedStep clock(1.0 / 60, 4);
    for (auto n = clock.advance(elapsed_s); n > 0; --n) world.step(clock.step_s());
    draw(clock.fraction());  // how much of the next step has passed in real time
    // [world/clock]
    EXPECT_EQ(world.frame(), 2u);
    EXPECT_NEAR(drawn, 0.4, 1e-6);
}

struct Stone {
    Vec3 position{};
};
SHOAL_COMPONENT((Stone, name("body")), position)

Status sum_and_set(World& world, std::span<const Entity> bodies, Vec3& total) {
    // [store/field_path]
    Result<FieldPath> position = world.find_field("body.position");  // looks the name up once
    if (!position) return position.status();                         // "body" has no field "positon"; did you ...
    for (const Entity body : bodies)                                 // fast: parses no name and allocates nothing
        if (auto place = position->find<Vec3>(body)) total += *place;
    Result<AnyValue> value = position->read(bodies[0]);  // when the type is known only at run time
    if (value) std::puts(value->to_text().c_str());      // [1.0 2.0 3.0]
    return position->write(bodies[1], Vec3{4, 5, 6});
    // [store/field_path]
}

Status weigh_and_set(World& world, std::span<const Entity> hit, float& total) {
    // [query/lookup]
    const Lookup<&PointMass::mass> mass(world.directory());  // finds the store once
    for (const Entity entity : hit)
        if (auto m = mass.find(entity)) total += *m;  // a pointer to const, or what is used like one
    return mass.set(hit[0], 3);                       // an error if it has no such component
    // [query/lookup]
}

TEST(WorldManuals, a_field_of_any_entity_is_looked_up) {
    EntityManager entities;
    World world(entities);
    Entity created[3];
    ASSERT_TRUE(entities.create(created));
    ASSERT_TRUE(world.manager<PointMass>().add(std::span(created).first(2), {.mass = 2}));
    float total = 0;
    ASSERT_TRUE(weigh_and_set(world, created, total));
    EXPECT_EQ(total, 4);
    EXPECT_EQ(*world.get<&PointMass::mass>(created[0]), 3);
    EXPECT_EQ(world.get<&PointMass::mass>(created[2]), nullptr);
}

TEST(WorldManuals, a_field_is_read_and_written_by_name) {
    EntityManager entities;
    World world(entities);
    Entity created[2];
    ASSERT_TRUE(entities.create(created));
    ASSERT_TRUE(world.manager<Stone>().add(created, {{1, 2, 3}}));
    Vec3 total;
    testing::internal::CaptureStdout();
    ASSERT_TRUE(sum_and_set(world, created, total));
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "[1.0 2.0 3.0]\n");
    EXPECT_EQ(total, (Vec3{2, 4, 6}));
    EXPECT_EQ(world.get<Vec3>(created[1], "body.position").value(), (Vec3{4, 5, 6}));
}

struct Sea {
    Vec3 pull{};
};

TEST(WorldManuals, passes_declare_what_they_touch) {
    EntityManager entities;
    World world(entities);
    Schedule& schedule = world.schedule();
    auto& bodies = world.manager<Body>();
    Entity created[3];
    ASSERT_TRUE(entities.create(created));
    ASSERT_TRUE(bodies.add(created));
    const Sea sea{{1, 0, 0}};
    std::uint32_t score = 0, num_drawn = 0;
    const auto draw = [&](const Manager<Body>& drawn) { num_drawn = drawn.num_rows(); };
    std::uint32_t num_saved = 0;
    const auto save = [&](const Manager<Body>& saved) { num_saved += saved.num_rows(); };
    // [world/schedule]
    schedule.add("fall", query<Write<&Body::velocity>>(bodies),
                 [](const PassContext& frame, auto&& v) { v.z -= 9.81f * frame.dt; });  // for each row
    schedule.add("sink", query<Write<&Body::velocity>>(bodies), {reads(sea)}, [&](auto&& v) { v += sea.pull; });
    schedule.add("count", {reads(bodies), writes(score)}, [&](PassContext&) { score = bodies.num_rows(); });
    schedule.add("draw", [&](PassContext&) { draw(bodies); }).after("fall");  // declares nothing, so it runs alone
    schedule.add("save", {reads(bodies)}, [&](PassContext&) { save(bodies); }).every_seconds(10);
    // [world/schedule]
    bool is_there = true;
    const auto load = [&](const char* file) {
        return is_there ? Status() : Status::error(std::string(file) + " is missing");
    };
    // [world/schedule_failures]
    schedule.add("load", {}, [&](PassContext&) -> Status { return load("reef.blob"); });  // may fail
    // [world/schedule_failures]
    world.step(1);
    EXPECT_TRUE(schedule.status().ok());
    is_there = false;
    world.step(0);
    EXPECT_EQ(schedule.status().message(), "the pass \"load\" failed: reef.blob is missing");
    is_there = true;
    for (const Vec3& velocity : bodies.column<&Body::velocity>()) EXPECT_EQ(velocity, (Vec3{2, 0, -9.81f}));
    EXPECT_EQ(score, 3u);
    EXPECT_EQ(num_drawn, 3u);
    for (int second = 2; second <= 25; ++second) world.step(1);
    EXPECT_EQ(num_saved, 2 * 3u) << "after 10 and 20 seconds";
}

struct Pebble {
    float height = 0;
};
SHOAL_COMPONENT(Pebble, height)

struct Collision {
    Entity body;
    float depth;
};

struct Health {
    void lose(Entity, float amount) { lost += amount; }
    float lost = 0;
};

TEST(WorldManuals, a_pass_tells_a_later_one_about_collisions) {
    using Body = Pebble;
    EntityManager entities;
    World world(entities);
    Schedule& schedule = world.schedule();
    auto& bodies = world.manager<Body>();
    Entity created[4];
    const Body values[] = {{3}, {-1}, {0}, {-2}};
    ASSERT_TRUE(entities.create(created));
    ASSERT_TRUE(bodies.add(created, std::span<const Body>(values)));
    Health health;
    // [command/events]
    Events<Collision>& hits = world.events<Collision>();
    schedule.add("collide", query<Read<&Body::height>>(bodies).writing(hits),
                 [](EventWriter<Collision>& hits, Entity body, float height) {
                     if (height < 0) hits.write({body, height});
                 });
    schedule.add("hurt", {reads(hits), writes(health)}, [&](PassContext&) {
        for (const Collision& hit : hits.read()) health.lose(hit.body, -hit.depth);
    });
    // [command/events]
    world.step(1);
    EXPECT_EQ(health.lost, 3);
    ASSERT_EQ(hits.read_last().size(), 2u);
    EXPECT_EQ(hits.read_last()[0].body, created[1]);
    // [command/events_writer]
    schedule.add("weigh", {reads(bodies), writes(hits)}, [&](PassContext&) {
        EventWriter<Collision> to(hits);
        for (const Entity body : bodies.entities()) to.write({body, -1});
    });
    // [command/events_writer]
    world.step(1);
    EXPECT_EQ(hits.read_last().size(), 6u);
}

TEST(WorldManuals, channels_are_of_a_type_or_of_a_name) {
    EntityManager entities;
    World world(entities);
    EventChannels& channels = world.events();
    // [command/event_channels]
    Events<Collision>& hits = channels.of<Collision>();               // also World::events<Collision>()
    Result<detail::EventLog*> sounds = channels.named("sounds", 16);  // 16 bytes each
    // [command/event_channels]
    EXPECT_EQ(&hits, &world.events<Collision>());
    ASSERT_TRUE(sounds.ok());
    EXPECT_EQ((*sounds)->event_bytes(), 16u);
}

struct Gale {
    float force = 3;
};
SHOAL_COMPONENT((Gale, singleton), force)

TEST(WorldManuals, a_directory_has_a_singleton_once) {
    using Wind = Gale;
    EntityManager entities;
    World world(entities);
    ComponentDirectory& directory = world.directory();
    // [store/singletons]
    ComponentManager& wind = directory.singletons().require(schema_of<Wind>());  // the first call makes the row
    // [store/singletons]
    EXPECT_EQ(wind.num_rows(), 1u);
    EXPECT_EQ(world.singleton<Wind>().force, 3);
    EXPECT_EQ(directory.singletons().entity(), wind.table().entities()[0]);
}

TEST(WorldManuals, bodies_roam) {
    EntityManager entities;
    World world(entities);
    Schedule& schedule = world.schedule();
    auto& bodies = world.manager<Body>();
    Entity created[2];
    ASSERT_TRUE(entities.create(created));
    ASSERT_TRUE(bodies.add(created));
    // [world/schedule_pass]
    schedule.add("roam", query<Write<&Body::velocity>>(bodies), [](const PassContext& frame, Entity who, auto&& v) {
        Random random = frame.random_for(who);
        v.x += (random.unit() - 0.5f) * frame.dt;
    });
    // [world/schedule_pass]
    world.step(1);
    const auto velocities = bodies.column<&Body::velocity>();
    EXPECT_NE(velocities[0].x, velocities[1].x);
}

Status record_frames(World& world, const std::string& path) {
    const float dt = 0.1f;
    // [world/trace]
    Trace trace(world.executor().num_workers());
    world.schedule().set_trace(&trace);
    for (int frame = 0; frame < 100; ++frame) world.step(dt);       // a few nanoseconds per event, and no allocation
    if (Status s = write_trace(path, trace); !s) return report(s);  // for chrome://tracing or Perfetto
    // [world/trace]
    world.schedule().set_trace(nullptr);
    return {};
}

TEST(WorldManuals, frames_are_recorded) {
    EntityManager entities;
    World world(entities);
    world.schedule().add("look", [](PassContext&) {});
    const std::string path = testing::TempDir() + "shoal_manual_frames.json";
    ASSERT_TRUE(record_frames(world, path));
    EXPECT_EQ(std::remove(path.c_str()), 0);
}

struct Mesh {
    int handle = 0;
};
SHOAL_COMPONENT(Mesh, handle)
struct Door {
    bool is_open = false;
};
SHOAL_COMPONENT(Door, is_open)

TEST(WorldManuals, a_scene_and_its_sounds_follow_observers) {
    struct {
        std::map<Entity, int> all;
        void insert(Entity entity, int handle) { all[entity] = handle; }
        void erase(Entity entity, int handle) { EXPECT_EQ(std::exchange(all[entity], 0), handle); }
    } scene;
    struct {
        std::size_t num_creaks = 0;
        void creak(std::span<const Entity> doors) { num_creaks += doors.size(); }
    } sounds;
    EntityManager entities;
    World world(entities);
    auto& meshes = world.manager<Mesh>();
    auto& all_doors = world.manager<Door>();
    // [world/observers]
    world.observers().on_add<Mesh>([&](std::span<const Entity> entities, std::span<const Mesh> added) {
        for (std::size_t i = 0; i < entities.size(); ++i) scene.insert(entities[i], added[i].handle);
    });
    world.observers().on_remove<Mesh>([&](std::span<const Entity> entities, std::span<const Mesh> before) {
        for (std::size_t i = 0; i < entities.size(); ++i) scene.erase(entities[i], before[i].handle);
    });
    world.observers().on_change<&Door::is_open>([&](std::span<const Entity> doors) { sounds.creak(doors); });
    // [world/observers]
    std::vector<Entity> made(3);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(meshes.add(made, Mesh{7}));
    ASSERT_TRUE(all_doors.add(made, Door{}));
    world.settle();
    EXPECT_EQ(scene.all.size(), 3u);
    EXPECT_EQ(scene.all[made[1]], 7);
    entities.destroy(made[1]);
    all_doors.set<&Door::is_open>(all_doors.instance(made[0]), true);
    world.settle();
    EXPECT_EQ(scene.all[made[1]], 0);
    EXPECT_EQ(sounds.num_creaks, 1u);
}

Status deactivate_a_car(World& world, Entity car, Entity wheel) {
    const auto fall = [](auto&& velocity) { velocity.z -= 1; };
    // [components/activity]
    if (Status off = world.activity().set_active(car, false); !off) return off;  // is_active(wheel) is false, too
    world.query<Write<&Body::velocity>>().for_each(fall);  // passes over the car, the wheels, the driver
    if (Status on = world.activity().set_active(car, true); !on) return on;  // the wheels are active again
    world.commands().add(car, Inactive{});                                   // from a pass: when the world settles
    // [components/activity]
    EXPECT_TRUE(world.entities().is_active(wheel));
    return {};
}

TEST(WorldManuals, wheels_are_inactive_with_their_car) {
    EntityManager entities;
    World world(entities);
    Entity made[3];  // a car, a wheel, a driver
    ASSERT_TRUE(entities.create(made));
    const Transform locals[3];
    const std::uint32_t parents[] = {kNilRow, 0, 0};
    ASSERT_TRUE(world.transforms().add(made, locals, parents));
    ASSERT_TRUE(world.activity().set_active(made[2], false));
    ASSERT_TRUE(world.manager<Body>().add(made, Body{}));
    ASSERT_TRUE(deactivate_a_car(world, made[0], made[1]));
    EXPECT_FALSE(world.entities().is_active(made[2]));
    for (const Entity entity : made) EXPECT_EQ(world.get<Vec3>(entity, "body.velocity").value(), (Vec3{}));
    world.settle();
    for (const Entity entity : made) EXPECT_FALSE(world.entities().is_active(entity));
}

Status change_armor(World& world, Entity tank, float& was) {
    PropertyManager& properties = world.properties();
    const StringId front("armor.front");
    // [components/properties]
    if (Status set = properties.set(tank, "armor.front", 35); !set) return set;  // an own value hides the template's
    const float armor = properties.get_or(tank, front, 0.0f);                    // the own value, else the template's
    properties.reset(tank, "armor.front");                                       // the template's again
    world.commands().add(tank, PropertyValue("paint", "red"));                   // from a pass: set at the settle
    world.commands().add(tank, PropertyValue::none("speed"));                    // the same for reset()
    // [components/properties]
    was = armor;
    return {};
}

TEST(WorldManuals, a_tank_has_named_values) {
    EntityManager entities;
    World world(entities);
    const Entity tank = entities.create().value();
    ASSERT_TRUE(world.properties().set(tank, "speed", 5));
    float armor = 0;
    ASSERT_TRUE(change_armor(world, tank, armor));
    EXPECT_EQ(armor, 35);
    EXPECT_FALSE(world.properties().has(tank, "armor.front"));
    world.settle();
    EXPECT_EQ(world.properties().get<StringId>(tank, "paint").value(), StringId("red"));
    EXPECT_FALSE(world.properties().has(tank, "speed"));
}

TEST(WorldManuals, a_copy_follows_the_journal) {
    EntityManager entities;
    World world(entities);
    auto& meshes = world.manager<Mesh>();
    std::set<Entity> copy;
    const auto copy_all = [&] { copy.insert(meshes.entities().begin(), meshes.entities().end()); };
    const auto apply = [&](ComponentId component, JournalEntry::Kind kind, std::span<const Entity> entities) {
        EXPECT_EQ(component, schema_of<Mesh>().id());
        for (const Entity entity : entities)
            if (kind == JournalEntry::Kind::kAdded)
                copy.insert(entity);
            else
                copy.erase(entity);
    };
    std::vector<Entity> made(3);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(meshes.add(made, Mesh{}));
    copy_all();
    meshes.remove(made[0]);
    ASSERT_TRUE(meshes.add(*entities.create(), Mesh{}));
    const float dt = 0.1f;
    // [world/journal]
    world.observers().keep_journal(100'000);
    std::uint64_t seen = world.stamp();  // and all is copied
    world.step(dt);
    const Journal journal = world.observers().journal(seen);
    if (!journal.is_complete) copy_all();  // too much has changed since
    for (const JournalEntry& entry : journal.entries) apply(entry.component, entry.kind, entry.entities);
    seen = world.stamp();
    // [world/journal]
    EXPECT_EQ(copy.size(), 3u) << "what changed before the journal was kept is not in it";
    meshes.remove(made[1]);
    world.step(dt);
    for (const JournalEntry& entry : world.observers().journal(seen).entries)
        apply(entry.component, entry.kind, entry.entities);
    EXPECT_EQ(copy.count(made[1]), 0u);
}

TEST(WorldManuals, a_mirror_finds_who_has_come) {
    EntityManager entities;
    World world(entities);
    auto& bodies = world.manager<Body>();
    std::vector<Entity> born;
    // [store/component_mirror]
    ComponentMirror mirror(bodies.core(), schema_of<Body>());  // remembers which entities have a Body now
    mirror.watch_field(0);                                     // and the velocity of each Body
    ASSERT_TRUE(bodies.add(*entities.create(), Body{}));       // whatever happens
    mirror.compare();
    for (const Entity entity : mirror.added()) born.push_back(entity);  // and removed(), changed()
    // [store/component_mirror]
    EXPECT_EQ(born.size(), 1u);
    EXPECT_GT(mirror.num_bytes(), 0u);
}

// [store/relation_index]
struct Missile {
    Entity target;
};
SHOAL_COMPONENT(Missile, (target, relation(cleared)))
// [store/relation_index]

// [world/relations declared]
struct Limpet {
    Entity whale;
};
SHOAL_COMPONENT(Limpet, (whale, relation(dies_too)))
// [world/relations declared]

TEST(WorldManuals, a_whale_knows_its_limpets) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(3), all;
    ASSERT_TRUE(entities.create(made));
    const Entity whale = made[0];
    ASSERT_TRUE(world.manager<Limpet>().add(std::span(made).subspan(1), Limpet{whale}));
    ASSERT_TRUE(world.manager<Missile>().add(made[2], Missile{made[1]}));
    world.settle();
    // [world/relations]
    for (const Entity limpet : world.relations().referrers<&Limpet::whale>(whale)) all.push_back(limpet);
    // [world/relations]
    EXPECT_EQ(all.size(), 2u);
}

/// Gives an entity a model with one node.
void add_hand(ModelPoseManager& models, Entity entity, Vec3 place) {
    const StringId names[] = {StringId("hand_r")};
    const std::uint32_t parents[] = {kNilRow};
    const Vec3 positions[] = {place}, scales[] = {{1, 1, 1}};
    const Quaternion rotations[] = {{}};
    const Result<NodeTreeId> tree = models.add_node_tree(
        {.names = names, .parents = parents, .positions = positions, .rotations = rotations, .scales = scales});
    ASSERT_TRUE(tree.ok() && models.add({&entity, 1}, *tree));
    models.compute();
}

TEST(WorldManuals, a_sword_is_attached_to_a_hand) {
    EntityManager entities;
    World world(entities);
    TransformManager& transforms = world.transforms();
    auto& models = world.make_store<ModelPoseManager>();
    world.manager<AttachedToNode>();
    const Entity knight = entities.create().value(), sword = entities.create().value();
    for (const Entity entity : {knight, sword}) ASSERT_TRUE(transforms.add({&entity, 1}, {.position = {1, 0, 0}}));
    add_hand(models, knight, {0, 0, 2});
    Commands& commands = world.commands();
    // [pose/attached_to_node]
    commands.add(sword, ChildOf{knight});
    commands.add(sword, AttachedToNode{.node = StringId("hand_r")});
    // [pose/attached_to_node]
    world.settle();
    EXPECT_EQ(transforms.world_position(transforms.instance(sword)), (Vec3{1, 0, 2}));
}

struct Buoy {
    Vec3 position{};
};
SHOAL_COMPONENT(Buoy, position)

TEST(WorldManuals, a_buoy_is_kept_where_its_transform_is) {
    EntityManager entities;
    World world(entities);
    const GridZones tiles({.num_x = 4, .num_y = 4});
    TransformManager& transforms = world.transforms();
    Database& sea = world.database();
    const Entity buoy = sea.create(Buoy{}).value();
    ASSERT_TRUE(transforms.add({&buoy, 1}, {.position = {2.5f, 1.5f, 0}}));
    // [world/position_links]
    world.position_links().follow<&Buoy::position>(Follower::kField);  // the field is where the transform is
    world.position_links().keep_in_tiles<&Buoy::position>(tiles);      // and its row lies in the tile of that place
    // [world/position_links]
    world.settle();
    EXPECT_EQ(sea.find(buoy).table->zone(), tiles.zone_of({2.5f, 1.5f, 0}));
}

TEST(WorldManuals, commands_link_own_tag_name_spawn_copy_and_call) {
    EntityManager entities;
    World world(entities);
    TransformManager& transforms = world.transforms();
    auto& owners = world.ownership();
    std::vector<Entity> made(5);
    ASSERT_TRUE(transforms.add((static_cast<void>(entities.create(made)), made)));
    const Entity sword = made[0], hand = made[1], cannon = made[2], ship = made[3], shark = made[4];
    BlobWriter writer;
    writer.add_entity({.name = "boat"});
    const auto bytes = writer.write();
    ASSERT_TRUE(bytes);
    const Result<Blob> loaded = Blob::view(*bytes);
    const Blob& blob = *loaded;
    const Vec3 place{1, 2, 3};
    struct {
        int num_hired = 0;
        void hire(Entity boat, int count) { num_hired += boat ? count : 0; }
    } crews;
    Commands& commands = world.commands();
    // [command/commands everything]
    commands.add(sword, ChildOf{hand});  // links transforms; remove<ChildOf> unlinks them
    commands.add(cannon, Owned{ship});   // gives it an owner; remove<Owned> releases it
    commands.name(shark, "Bruce");
    commands.tag(shark, "hungry");                                  // one more: an entity may have several tags
    commands.untag(shark, "sleepy");                                // remove<Tag> takes all of them
    commands.set<&Transform::position>(shark, place);               // one field; its children move with it
    const Entity boat = commands.spawn(blob, {.position = place});  // a copy of a blob: its first entity
    const Entity twin = commands.copy(ship);                        // of an entity, and of all below it
    commands.call(boat, [&](Entity self) { crews.hire(self, 12); });
    // [command/commands everything]
    EXPECT_TRUE(is_pending(twin));
    world.settle();
    EXPECT_EQ(crews.num_hired, 12);
    EXPECT_EQ(*world.get<&Transform::position>(shark), place);
    EXPECT_TRUE(transforms.parent(transforms.instance(sword)));
    EXPECT_EQ(owners.owner(cannon), ship);
    EXPECT_EQ(entities.num_alive(), 7u) << "the cannon was not yet the ship's when that was copied";
}

Status build_a_fleet(World& world, Entity boat, std::span<const RootPose> places) {
    // [world/entity_blob]
    Result<EntityBlob> saved = save_entities(world, entities_below(world, boat));
    if (!saved) return report(saved.status());
    Result<Blob> prefab = Blob::load(saved->bytes);
    Result<Spawned> fleet = world.spawn(*prefab, {.copies = 12, .root_poses = places});
    // [world/entity_blob]
    // [world/save_zones]
    Result<EntityBlob> far = save_zones(world, {12});  // all that lies there, to be spawned again later
    // [world/save_zones]
    if (!far) return report(far.status());
    return fleet.status();
}

TEST(WorldManuals, a_boat_is_the_prefab_of_a_fleet) {
    EntityManager entities;
    World world(entities);
    const Entity boat = *entities.create();
    ASSERT_TRUE(world.transforms().add(std::span(&boat, 1)));
    const std::vector<RootPose> places(12);
    EXPECT_TRUE(build_a_fleet(world, boat, places));
    EXPECT_EQ(entities.num_alive(), 13u);
}

/// A blob with one transform at this height.
Blob tower(float height) {
    BlobWriter writer;
    writer.set_name("levels/reef");
    const std::uint32_t type = *writer.add_component_type(schema_of<Transform>());
    const Transform transform{.position = {0, 0, height}};
    writer.add_component(type, writer.add_entity({.guid = 1}), std::as_bytes(std::span(&transform, 1)));
    return std::move(*Blob::load(*writer.write()));
}

Status reload_three(EntityManager& entities, const Blob& older, const Blob& newer, Vec3& place) {
    World world(entities);
    // [world/reload]
    Reloader reloader(world);  // remembers from now on which entities come from which blob
    if (auto spawned = world.spawn(older, {.copies = 3}); !spawned) return spawned.status();
    world.step(1.0f / 60);
    const Result<ReloadReport> reloaded = reloader.reload(older, newer);  // all three copies
    if (!reloaded) return reloaded.status();                              // the world is as it was
    // [world/reload]
    EXPECT_EQ(reloaded->num_fields, 3u);
    place = world.transforms().world_position(Instance{2});
    return {};
}

Status reload_in(ResourceLibrary& library, Reloader& reloader, Blob newer) {
    // [world/reload library]
    const Result<Blob> before = library.replace(std::move(newer));  // the older one lives on here
    if (!before) return before.status();
    const Blob& after = *library.find(before->id());
    if (const Result<ReloadReport> reloaded = reloader.reload(*before, after); !reloaded) return reloaded.status();
    // [world/reload library]
    return {};
}

TEST(WorldManuals, a_level_is_reloaded) {
    EntityManager entities;
    const Blob older = tower(4), newer = tower(5);
    Vec3 place;
    ASSERT_TRUE(reload_three(entities, older, newer, place));
    EXPECT_EQ(place, (Vec3{0, 0, 5}));
    ResourceLibrary library;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    ASSERT_TRUE(world.spawn(**library.add(tower(6))));
    ASSERT_TRUE(reload_in(library, reloader, tower(7)));
    EXPECT_EQ(world.transforms().world_position(Instance{0}), (Vec3{0, 0, 7}));
}

}  // namespace

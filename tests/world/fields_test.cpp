// Fields by name, in every kind of store.

#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/database/database.h"
#include "shoal/pose/model_pose.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace field_test {

using namespace shoal;

enum class Shape : std::uint8_t { kBox, kSphere, kCone };
SHOAL_ENUM(Shape, (kBox, "box"), (kSphere, "sphere"), (kCone, "cone"))

// A field of each type.
#define FIELD_TEST_FIELDS           \
    bool awake = false;             \
    std::int8_t i8 = 0;             \
    std::int16_t i16 = 0;           \
    std::int32_t i32 = 0;           \
    std::int64_t i64 = 0;           \
    std::uint8_t u8 = 0;            \
    std::uint16_t u16 = 0;          \
    std::uint32_t u32 = 0;          \
    std::uint64_t u64 = 0;          \
    float mass = 0;                 \
    double age = 0;                 \
    Vec2 uv{};                      \
    Vec3 position{};                \
    Vec4 colour{};                  \
    Quaternion rotation{};          \
    Matrix3x4 pose{};               \
    Shape shape = Shape::kBox;      \
    StringId kind{};                \
    ResourceId mesh{};              \
    Entity target{};                \
    std::array<float, 4> weights{}; \
    std::array<Vec3, 5> path{};     \
    FixedString<12> label{};        \
    BlobArray<float> distances {}

struct Apart {
    FIELD_TEST_FIELDS;
};
SHOAL_COMPONENT(Apart, awake, i8, i16, i32, i64, u8, u16, u32, u64, mass, age, uv, position, colour, rotation, pose,
                shape, kind, mesh, target, weights, path, label, distances)
struct Split {
    FIELD_TEST_FIELDS;
};
SHOAL_COMPONENT(Split, awake, i8, i16, i32, i64, u8, u16, u32, u64, mass, age, (uv, split), (position, split),
                (colour, split), (rotation, split), pose, shape, kind, mesh, target, weights, path, label, distances)
struct Whole {
    FIELD_TEST_FIELDS;
};
SHOAL_COMPONENT((Whole, whole), awake, i8, i16, i32, i64, u8, u16, u32, u64, mass, age, uv, position, colour, rotation,
                pose, shape, kind, mesh, target, weights, path, label, distances)

struct Body {
    float mass = 1;
    Vec3 position{}, velocity{};
    std::uint8_t level = 3;
    Shape shape = Shape::kBox;
    std::array<float, 4> weights{1, 2, 3, 4};
    FixedString<8> label{};
};
SHOAL_COMPONENT(Body, mass, (position, split), velocity, level, shape, weights, label)

struct Asleep {
    float since = 0;
};
SHOAL_COMPONENT((Asleep, enableable), since)

struct Gale {
    Vec3 force{};
};
SHOAL_COMPONENT((Gale, singleton), force)
struct Gun {
    std::shared_ptr<int> trigger;
    int shots = 0;
};
SHOAL_COMPONENT(Gun, trigger, shots)

struct Fields : ::testing::Test {
    Fields() : boat(entities.create().value()), bird(entities.create().value()) {}

    std::string problem(std::string_view name) { return std::string(world.get(boat, name).message()); }
    std::string refusal(std::string_view name, const AnyValue& value) {
        return std::string(world.set(boat, name, value).message());
    }

    EntityManager entities;
    World world{entities};
    Entity boat, bird;
};

std::string boat_text(Entity entity) {
    return std::to_string(entity.index()) + ":" + std::to_string(entity.generation());
}

// --- managers ------------------------------------------------------------------------------------------------------

TEST_F(Fields, of_a_manager_are_read_and_written_by_name) {
    auto& bodies = world.manager<Body>();
    ASSERT_TRUE(bodies.add(boat, {.mass = 2, .position = {1, 2, 3}}));
    EXPECT_EQ(world.get<Vec3>(boat, "body.position").value(), (Vec3{1, 2, 3}));
    EXPECT_EQ(world.get(boat, "body.mass")->as<float>().value(), 2);
    ASSERT_TRUE(world.set(boat, "body.position", Vec3{4, 5, 6}));
    ASSERT_TRUE(world.set(boat, "body.shape", Shape::kCone));
    const Instance instance = bodies.instance(boat);
    EXPECT_EQ(bodies.get<&Body::position>(instance), (Vec3{4, 5, 6}));
    EXPECT_EQ(bodies.get<&Body::shape>(instance), Shape::kCone);
}

TEST_F(Fields, have_parts_that_are_read_and_written_alone) {
    auto& bodies = world.manager<Body>();
    ASSERT_TRUE(bodies.add(boat, {.position = {1, 2, 3}, .velocity = {7, 8, 9}}));
    EXPECT_EQ(world.get<float>(boat, "body.position.y").value(), 2) << "split";
    EXPECT_EQ(world.get<float>(boat, "body.velocity.z").value(), 9);
    EXPECT_EQ(world.get<float>(boat, "body.weights[2]").value(), 3);
    ASSERT_TRUE(world.set(boat, "body.position.y", 20.0f));
    ASSERT_TRUE(world.set(boat, "body.velocity.x", 70.0f));
    ASSERT_TRUE(world.set(boat, "body.weights[3]", 40.0f));
    const Body body = bodies.value(bodies.instance(boat));
    EXPECT_EQ(body.position, (Vec3{1, 20, 3}));
    EXPECT_EQ(body.velocity, (Vec3{70, 8, 9}));
    EXPECT_EQ(body.weights, (std::array<float, 4>{1, 2, 3, 40}));
}

TEST_F(Fields, parts_of_matrices_and_of_arrays_of_vectors_are_found) {
    Apart value;
    value.pose.row[1] = {1, 2, 3, 4};
    value.path[4] = {5, 6, 7};
    ASSERT_TRUE(world.manager<Apart>().add(boat, value));
    EXPECT_EQ(world.get<Vec4>(boat, "apart.pose[1]").value(), (Vec4{1, 2, 3, 4}));
    EXPECT_EQ(world.get<float>(boat, "apart.pose[1].w").value(), 4);
    EXPECT_EQ(world.get<float>(boat, "apart.path[4].y").value(), 6);
}

TEST_F(Fields, a_number_selects_one_of_many_components) {
    auto& tags = world.manager<Tag>();
    ASSERT_TRUE(tags.add(boat, {StringId("old")}));
    ASSERT_TRUE(tags.add(boat, {StringId("new")}));
    EXPECT_EQ(world.get<StringId>(boat, "tag.tag").value(), StringId("new")) << "the first is the newest";
    EXPECT_EQ(world.get<StringId>(boat, "tag[0].tag").value(), StringId("new"));
    EXPECT_EQ(world.get<StringId>(boat, "tag[1].tag").value(), StringId("old"));
    EXPECT_EQ(problem("tag[2].tag"), "entity " + boat_text(boat) + " has no \"tag[2]\"; it has 2");
}

TEST_F(Fields, a_write_marks_the_written_columns_only) {
    auto& bodies = world.manager<Body>();
    ASSERT_TRUE(bodies.add(boat));
    world.settle();
    const Table& table = bodies.core().table();
    ASSERT_TRUE(world.set(boat, "body.position.y", 1.0f));
    EXPECT_LT(table.written_stamp(1, 0), world.stamp()) << "x";
    EXPECT_EQ(table.written_stamp(2, 0), world.stamp()) << "y";
    EXPECT_LT(table.written_stamp(3, 0), world.stamp()) << "z";
}

TEST_F(Fields, of_a_component_type_that_has_a_schema_only_are_read_and_written) {
    ComponentDefinition definition;
    definition.name = "coral";
    definition.fields.push_back({.name = "height"});
    ComponentManager* corals = world.manager(Schema::make(definition).value()).value();
    const float height = 2;
    ASSERT_TRUE(corals->add_images({&boat, 1}, std::as_bytes(std::span(&height, 1)).data(), 0));
    ASSERT_TRUE(world.set(boat, "coral.height", world.get<float>(boat, "coral.height").value() + 1));
    EXPECT_EQ(world.get<float>(boat, "coral.height").value(), 3);
}

// --- the database --------------------------------------------------------------------------------------------------

TEST_F(Fields, of_a_database_are_read_and_written_wherever_the_entity_lies) {
    Database& sea = world.database();
    ASSERT_TRUE(sea.add(boat, Body{.mass = 2, .position = {1, 2, 3}}));
    ASSERT_TRUE(sea.add(bird, Apart{.u16 = 7}, Body{.mass = 3}));
    EXPECT_EQ(world.get<Vec3>(boat, "body.position").value(), (Vec3{1, 2, 3}));
    EXPECT_EQ(world.get<std::uint16_t>(bird, "apart.u16").value(), 7);
    ASSERT_TRUE(world.set(bird, "body.mass", 4.0f));
    EXPECT_EQ(sea.get<&Body::mass>(sea.find(bird)), 4);
    EXPECT_EQ(problem("apart.u16"), "entity " + boat_text(boat) + " has no \"apart\"");
}

TEST_F(Fields, of_a_disabled_component_are_said_to_be_disabled) {
    Database& sea = world.database();
    ASSERT_TRUE(sea.add(boat, Asleep{2}));
    EXPECT_EQ(world.get<float>(boat, "asleep.since").value(), 2);
    ASSERT_TRUE(sea.remove<Asleep>(boat));
    const std::string disabled =
        "entity " + boat_text(boat) + " has \"asleep\", but it is disabled; add it to enable it";
    EXPECT_EQ(problem("asleep.since"), disabled);
    EXPECT_EQ(refusal("asleep.since", 3.0f), disabled);
    EXPECT_FALSE(world.find_field("asleep.since")->find<float>(boat));
}

// --- transforms, poses, owners, names ------------------------------------------------------------------------------

TEST_F(Fields, of_a_transform_move_its_children_when_written) {
    TransformManager& transforms = world.transforms();
    const Entity both[] = {boat, bird};
    const Transform locals[] = {{.position = {0, 0, 4}}, {.position = {1, 0, 0}}};
    const std::uint32_t parents[] = {kNilRow, 0};
    ASSERT_TRUE(transforms.add(both, locals, parents));
    ASSERT_TRUE(world.set(boat, "transform.position.z", 5.0f));
    ASSERT_TRUE(world.set(boat, "transform.scale", Vec3{2, 2, 2}));
    EXPECT_EQ(transforms.world_position(transforms.instance(bird)), (Vec3{2, 0, 5}));
    EXPECT_EQ(world.get<Vec3>(bird, "transform.position").value(), (Vec3{1, 0, 0})) << "the local pose";
    EXPECT_EQ(world.get<float>(bird, "transform.world[2].w").value(), 5) << "the world pose";
    ASSERT_TRUE(world.set(bird, "transform.world[0].w", 0.0f));
    EXPECT_EQ(world.get<Vec3>(bird, "transform.position").value(), Vec3{}) << "it follows the world pose";
    EXPECT_TRUE(transforms.validate());
}

TEST_F(Fields, of_a_transform_refuse_what_is_no_pose) {
    ASSERT_TRUE(world.transforms().add({&boat, 1}));
    EXPECT_EQ(refusal("transform.position.x", std::numeric_limits<float>::infinity()),
              "\"transform.position\" would be infinite or not a number; write finite numbers");
    EXPECT_EQ(refusal("transform.rotation", Quaternion{1, 1, 0, 0}),
              "\"transform.rotation\" would be no rotation, because its length is not 1; write all of a normalised "
              "quaternion");
    EXPECT_EQ(refusal("transform.scale.y", 0),
              "\"transform.scale\" would be zero, infinite or not a number; write numbers other than zero");
    EXPECT_EQ(refusal("transform.world", Matrix3x4{{{}, {}, {}}}),
              "\"transform.world\" would be flat, infinite or not a number; write a pose");
    EXPECT_EQ(world.transforms().local(world.transforms().instance(boat)), Transform{});
    EXPECT_EQ(problem("transform.extent"),
              "\"transform\" has no field \"extent\"; it has position, rotation, scale, world");
}

TEST_F(Fields, of_model_poses_are_those_of_each_node) {
    auto& models = world.make_store<ModelPoseManager>();
    const StringId names[] = {StringId("hip"), StringId("knee")};
    const std::uint32_t parents[] = {kNilRow, 0};
    const Vec3 positions[] = {{0, 0, 1}, {0, 0, 2}}, scales[] = {{1, 1, 1}, {1, 1, 1}};
    const Quaternion rotations[2] = {};
    const NodeTreeId tree = models.add_node_tree({names, parents, positions, rotations, scales}).value();
    ASSERT_TRUE(models.add({&bird, 1}, tree));
    ASSERT_TRUE(models.add({&boat, 1}, tree));
    EXPECT_EQ(world.get<Vec3>(boat, "node_pose[1].position").value(), (Vec3{0, 0, 2}));
    EXPECT_EQ(world.get<std::uint32_t>(boat, "model_pose.block").value(), 1u);
    ASSERT_TRUE(world.set(boat, "node_pose[0].position.z", 10.0f));
    models.compute();
    EXPECT_EQ(world.get<float>(boat, "node_pose[1].model[2].w").value(), 12);
    EXPECT_EQ(world.get<float>(bird, "node_pose[1].model[2].w").value(), 3);
    EXPECT_EQ(refusal("model_pose.block", 0),
              "\"block\" of a model pose is computed and cannot be written; write the position, the rotation or the "
              "scale of a \"node_pose\"");
    EXPECT_EQ(problem("node_pose[2].position"), "entity " + boat_text(boat) + " has no \"node_pose[2]\"; it has 2");
    EXPECT_TRUE(models.validate());
}

TEST_F(Fields, of_ownership_own_and_release_when_written) {
    auto& owners = world.ownership();
    const Entity third = entities.create().value();
    ASSERT_TRUE(owners.own(bird, boat));
    EXPECT_EQ(world.get<Entity>(boat, "owned.owner").value(), bird);
    ASSERT_TRUE(world.set(boat, "owned.owner", third));
    EXPECT_EQ(owners.owner(boat), third);
    EXPECT_EQ(refusal("owned.owner", boat),
              "an entity cannot own itself, or one that owns it; release the owner first");
    ASSERT_TRUE(world.set(boat, "owned.owner", kNullEntity));
    EXPECT_EQ(owners.owner(boat), kNullEntity);
    EXPECT_TRUE(owners.validate());
}

TEST_F(Fields, that_a_store_computes_are_read_and_say_what_to_call_instead_of_writing) {
    TransformManager& transforms = world.transforms();
    const Entity both[] = {boat, bird};
    const Transform locals[] = {{.position = {0, 0, 4}}, {.position = {1, 0, 0}}};
    const std::uint32_t parents[] = {kNilRow, 0};
    ASSERT_TRUE(transforms.add(both, locals, parents));
    EXPECT_EQ(world.get<float>(bird, "world_pose.matrix[2].w").value(), 4);
    EXPECT_EQ(world.get<Vec3>(bird, "world_pose.position").value(), Vec3(1, 0, 4));
    EXPECT_EQ(world.get<float>(bird, "world_pose.matrix.position.z").value(), 4);
    EXPECT_EQ(world.get<Vec3>(bird, "transform.world.position").value(), Vec3(1, 0, 4)) << "beside other fields";
    EXPECT_EQ(problem("world_pose.rotation"),
              "\"world_pose\" has no field \"rotation\"; it has matrix, and its position");
    EXPECT_EQ(problem("world_pose.matrix.rotation"),
              "\"world_pose.matrix\" is a matrix, which has no \"rotation\"; it has rows, [0] to [2], and a position");
    EXPECT_EQ(world.get<Entity>(bird, "child_of.parent").value(), boat);
    EXPECT_EQ(*world.find_field("child_of.parent")->find<Entity>(bird), boat);
    EXPECT_EQ(problem("child_of.parent"), "entity " + boat_text(boat) + " has no \"child_of\"") << "it is a root";
    EXPECT_EQ(world.set(bird, "child_of.parent", boat_text(boat)).message(),
              "the transforms compute \"child_of\"; link transforms with Commands::add(child, ChildOf{parent}) or "
              "TransformManager::link()");
    EXPECT_EQ(world.set(bird, "world_pose.matrix[0].w", 3).message(),
              "the transforms compute \"world_pose\"; write \"transform\", or call TransformManager::set_world_pose()");
    EXPECT_EQ(world.set(bird, "world_pose.position", Vec3{1, 2, 3}).message(),
              "the transforms compute \"world_pose\"; write \"transform\", or call TransformManager::set_world_pose()");
    ASSERT_TRUE(world.set(bird, "transform.world.position", Vec3{1, 2, 3})) << "as set_world_pose() does";
    EXPECT_EQ(transforms.local(transforms.instance(bird)).position, Vec3(1, 2, -1));
    EXPECT_EQ(problem("child_off.parent"), "no component type \"child_off\" in this world; did you mean \"child_of\"?");
    EXPECT_EQ(world.get<Entity>(bird, "child_of.parent").value(), boat);
}

TEST_F(Fields, of_built_in_types_that_nobody_has_used_are_lacked) {
    const World& seen = world;
    for (const std::string name : {"tag", "debug_name", "transform", "world_pose", "child_of", "owned", "inactive"})
        EXPECT_EQ(seen.get(boat, name + ".x").message(), "entity " + boat_text(boat) + " has no \"" + name + '"');
    EXPECT_TRUE(seen.directory().stores().empty()) << "reading makes no store";
    EXPECT_EQ(seen.get<float>(boat, "transform.scale.x").message(),
              "entity " + boat_text(boat) + " has no \"transform\"");
    EXPECT_EQ(refusal("tag.tag", "fast"), "entity " + boat_text(boat) + " has no \"tag\"");
    EXPECT_EQ(refusal("attached_to_node.node", "hand"), "entity " + boat_text(boat) + " has no \"attached_to_node\"");
    entities.destroy(bird);
    EXPECT_EQ(seen.get(bird, "owned.owner").message(), "entity " + boat_text(bird) + " is dead");
    EXPECT_TRUE(world.find_field("debug_name.name")) << "a path is for many entities, so the store is made";
    ASSERT_TRUE(world.manager<DebugName>().add(boat, {StringId("Argo")}));
    EXPECT_EQ(world.get<StringId>(boat, "debug_name.name").value(), StringId("Argo"));
    EXPECT_TRUE(World(entities).find_field("tag[0].tag")) << "also for one of several";
}

TEST_F(Fields, that_refer_to_entities_take_the_text_of_one) {
    auto& owners = world.ownership();
    ASSERT_TRUE(owners.own(bird, boat));
    const Entity third = entities.create().value();
    const std::string text = world.get(boat, "owned.owner")->to_text();
    EXPECT_EQ(text, '"' + boat_text(bird) + '"');
    ASSERT_TRUE(world.set(boat, "owned.owner", boat_text(third)));
    EXPECT_EQ(owners.owner(boat), third);
    ASSERT_TRUE(world.set(boat, "owned.owner", text.substr(1, text.size() - 2)));
    EXPECT_EQ(owners.owner(boat), bird) << "what was printed is taken";
    entities.destroy(third);
    EXPECT_EQ(refusal("owned.owner", boat_text(third)),
              "entity " + boat_text(third) + ", which \"owned.owner\" is to refer to, is not alive");
    for (const std::string wrong : {"", "1", "1:", ":1", "1:x", "0:0", "1:1 ", "5000000000:1", "1:5000000000"})
        EXPECT_EQ(refusal("owned.owner", wrong), "\"owned.owner\" is an entity, which \"" + wrong +
                                                     "\" does not name; write its index and generation, such as "
                                                     "\"12:3\", or \"null\"");
    EXPECT_EQ(owners.owner(boat), bird);
    ASSERT_TRUE(world.set(boat, "owned.owner", "null"));
    EXPECT_EQ(owners.owner(boat), kNullEntity);
}

TEST_F(Fields, of_debug_names_take_text) {
    auto& names = world.manager<DebugName>();
    ASSERT_TRUE(names.add(boat));
    ASSERT_TRUE(world.set(boat, "debug_name.name", "Argo"));
    EXPECT_EQ(DebugNameManager(names, world.strings()).name(boat), "Argo");
    EXPECT_EQ(world.get(boat, "debug_name.name")->to_text(&world.strings()), "\"Argo\"");
}

// --- stores of other classes ---------------------------------------------------------------------------------------

/// A table without an index.
class Ledger final : public Store {
public:
    Ledger(EntityManager&, PagePool& pool) : table(schema_of<Body>(), pool) {}

    std::span<const Schema* const> schemas() const override { return {&schema_, 1}; }
    Status spawn(const SpawnBatch&) override { return {}; }
    void drop(std::span<const Entity>) override {}
    void settle(const SettleContext&) override {}
    std::span<const Table* const> tables() const override { return {&shown, shows ? 1u : 0u}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }

    Table table;
    const Table* shown = &table;
    bool shows = true;

private:
    const Schema* schema_ = &schema_of<Body>();
};

TEST_F(Fields, of_a_store_that_overrides_nothing_are_found_in_its_tables) {
    auto& ledger = world.make_store<Ledger>();
    const Entity owners[] = {bird, boat, boat};
    ASSERT_TRUE(ledger.table.reserve(3));
    ledger.table.append(owners);
    for (float mass = 1; mass <= 3; ++mass)
        std::memcpy(ledger.table.write_element(0, std::uint32_t(mass) - 1), &mass, sizeof mass);
    EXPECT_EQ(world.get<float>(boat, "body.mass").value(), 2);
    EXPECT_EQ(world.get<float>(boat, "body[1].mass").value(), 3);
    ASSERT_TRUE(world.set(bird, "body.mass", 5.0f));
    EXPECT_EQ(world.get<float>(bird, "body.mass").value(), 5);
    ledger.shows = false;
    EXPECT_EQ(problem("body.mass"), "the store of \"body\" keeps its values in no table");
}

// --- what is wrong -------------------------------------------------------------------------------------------------

TEST_F(Fields, a_wrong_name_is_an_error_that_says_what_there_is) {
    ASSERT_TRUE(world.manager<Body>().add(boat));
    world.manager<Gun>();
    EXPECT_EQ(problem("bodi.mass"), "no component type \"bodi\" in this world; did you mean \"body\"?");
    EXPECT_EQ(problem("rocket.mass"), "no component type \"rocket\" in this world; it has body, gun");
    EXPECT_EQ(problem("body.positon"), "\"body\" has no field \"positon\"; did you mean \"position\"?");
    EXPECT_EQ(problem("body.colour"),
              "\"body\" has no field \"colour\"; it has mass, position, velocity, level, shape, weights, label");
    EXPECT_EQ(problem("body"),
              "\"body\" is a component type and not a field; it has mass, position, velocity, level, shape, weights, "
              "label");
    EXPECT_EQ(problem("gun.trigger"),
              "\"gun.trigger\" is opaque: only code that knows its C++ type can read or write it");
    EXPECT_EQ(problem("body.mass.x"), "\"body.mass\" is a float, which has no \"x\"");
    EXPECT_EQ(problem("body.position.w"), "\"body.position\" is a vec3, which has no \"w\"; it has x, y, z");
    EXPECT_EQ(problem("body.position[0]"), "\"body.position\" is a vec3, which has no elements");
    EXPECT_EQ(problem("body.weights[4]"), "\"body.weights\" has 4 elements, [0] to [3]");
    for (const char* name : {"body.weights[x]", "body.weights[1", "body.weights[-1]", "body.weights[4294967296]"})
        EXPECT_EQ(problem(name), "after \"body.weights\", a number in brackets is expected, such as [0]");
    EXPECT_EQ(problem("body[4294967295].mass"), "entity " + boat_text(boat) + " has no \"body[4294967295]\"; it has 1");
    for (const char* name : {"", ".", "body.", "body..mass", ".mass", "body[1", "body[].mass", "[0].mass", "body[0]x",
                             "body[-1].mass", "body[4294967296].mass", "body[99999999999999999999].mass"})
        EXPECT_EQ(problem(name), "\"" + std::string(name) +
                                     "\" is not the name of a field; write component.field, such as \"body.position\"");
}

TEST_F(Fields, an_entity_without_the_component_is_an_error) {
    world.manager<Body>();
    EXPECT_EQ(problem("body.mass"), "entity " + boat_text(boat) + " has no \"body\"");
    ASSERT_TRUE(world.manager<Body>().add(boat));
    entities.destroy(boat);
    EXPECT_EQ(problem("body.mass"), "entity " + boat_text(boat) + " is dead") << "its row is still there";
    EXPECT_EQ(refusal("body.mass", 1.0f), "entity " + boat_text(boat) + " is dead");
    EXPECT_EQ(world.get(kNullEntity, "body.mass").message(), "entity null is no entity");
}

TEST_F(Fields, a_value_of_another_type_is_an_error) {
    ASSERT_TRUE(world.manager<Body>().add(boat));
    EXPECT_EQ(world.get<float>(boat, "body.position").message(), "\"body.position\" is a vec3, not a float");
    EXPECT_EQ(world.get<std::int32_t>(boat, "body.weights").message(), "\"body.weights\" is a float[4], not an int32");
    EXPECT_EQ(refusal("body.position", 1.0f),
              "\"body.position\" is a vec3, not a float; name a part of it, such as \"body.position.x\"");
    EXPECT_EQ(refusal("body.mass", Vec3{}), "\"body.mass\" is a float, not a vec3");
    EXPECT_EQ(refusal("body.mass", "heavy"), "\"body.mass\" is a float, not text");
    EXPECT_EQ(refusal("body.level", 1.5f), "\"body.level\" is a uint8, not a float; give a whole number");
    EXPECT_EQ(refusal("body.level", 256), "\"body.level\" is a uint8, which cannot hold 256");
    EXPECT_EQ(refusal("body.shape", 1),
              "\"body.shape\" is an enum, not an int32; give one of its names: box, sphere, cone");
    EXPECT_EQ(refusal("body.shape", "shpere"), "\"body.shape\" has no value \"shpere\"; did you mean \"sphere\"?");
    EXPECT_EQ(refusal("body.label", "starboard"), "\"body.label\" has room for 7 bytes of text; \"starboard\" has 9");
    EXPECT_EQ(refusal("body.mass", AnyValue()), "\"body.mass\" is a float, not nothing");
    auto& bodies = world.manager<Body>();
    EXPECT_EQ(bodies.get<&Body::level>(bodies.instance(boat)), 3) << "nothing has changed";
}

TEST_F(Fields, numbers_and_texts_are_converted_when_they_fit) {
    auto& bodies = world.manager<Body>();
    ASSERT_TRUE(bodies.add(boat));
    ASSERT_TRUE(world.set(boat, "body.mass", 5));
    ASSERT_TRUE(world.set(boat, "body.level", std::int64_t(200)));
    ASSERT_TRUE(world.set(boat, "body.position.x", 0.1));
    ASSERT_TRUE(world.set(boat, "body.shape", "sphere"));
    ASSERT_TRUE(world.set(boat, "body.label", "port"));
    const Body body = bodies.value(bodies.instance(boat));
    EXPECT_EQ(body.mass, 5);
    EXPECT_EQ(body.level, 200);
    EXPECT_EQ(body.position.x, 0.1f);
    EXPECT_EQ(body.shape, Shape::kSphere);
    EXPECT_EQ(body.label.view(), "port");
}

// --- in hot code ---------------------------------------------------------------------------------------------------

TEST_F(Fields, a_path_is_found_once_and_stays_right_while_rows_move) {
    auto& bodies = world.manager<Body>();
    const FieldPath mass = world.find_field("body.mass").value();
    EXPECT_FALSE(mass.find<float>(boat)) << "found before there is a row";
    std::vector<Entity> many(5000);
    ASSERT_TRUE(entities.create(many));
    for (std::size_t i = 0; i < many.size(); ++i) ASSERT_TRUE(bodies.add(many[i], {.mass = float(i)}));
    bodies.remove(std::span(many).first(1000));
    for (std::size_t i = 0; i < many.size(); ++i) {
        const auto found = mass.find<float>(many[i]);
        ASSERT_EQ(bool(found), i >= 1000);
        EXPECT_TRUE(!found || *found == float(i));
    }
    entities.destroy(many[4000]);
    EXPECT_FALSE(mass.find<float>(many[4000])) << "dead";
    EXPECT_EQ(mass.name(), "body.mass");
    EXPECT_TRUE(mass.is<float>());
    EXPECT_FALSE(mass.is<double>());
}

TEST_F(Fields, a_pass_that_declares_a_field_may_write_it_by_name) {
    auto& bodies = world.manager<Body>();
    ASSERT_TRUE(bodies.add(boat));
    const FieldPath mass = world.find_field("body.mass").value();
    world.schedule().add("grow", {writes<&Body::mass>(bodies)},
                         [&](PassContext&) { EXPECT_TRUE(mass.write(boat, *mass.find<float>(boat) + 1)); });
    world.step(1);
    EXPECT_EQ(world.get<float>(boat, "body.mass").value(), 2);
}

#if SHOAL_CHECKED
TEST_F(Fields, a_write_by_name_that_a_pass_has_not_declared_ends_a_checked_program) {
    ASSERT_TRUE(world.manager<Body>().add(boat));
    world.schedule().add("sneaky", {reads(world.manager<Body>())},
                         [&](PassContext&) { static_cast<void>(world.set(boat, "body.mass", 2.0f)); });
    EXPECT_DEATH(world.step(1), "\"sneaky\" wrote field \"mass\" of \"body\" without having declared it");
}
#endif

// --- random --------------------------------------------------------------------------------------------------------

template <class T>
T random_value(Random& random) {
    T value{};
    auto* bytes = reinterpret_cast<unsigned char*>(&value);
    for (std::size_t i = 0; i < sizeof value; ++i) bytes[i] = static_cast<unsigned char>(random.next());
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Shape>) *bytes %= 2;
    return value;
}

template <class T>
bool same_bytes(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Writes random fields of random entities, by name and by type in turn, and compares both ways to read them.
template <class T, class Get, class Set>
void compare_both_ways(World& world, std::span<const Entity> owners, Random& random, Get&& get, Set&& set) {
    std::size_t field_index = 0;
    DescriptionOf<T>::for_each_field([&]<auto kMember, std::uint32_t, bool>() {
        using Value = ValueOf<kMember>;
        const std::string name = schema_of<T>().name() + "." + schema_of<T>().fields()[field_index++].name;
        const Entity entity = owners[random.below(static_cast<std::uint32_t>(owners.size()))];
        const Value value = random_value<Value>(random);
        if (random.below(2) == 0)
            set.template operator()<kMember>(entity, value);
        else
            ASSERT_TRUE(world.set(entity, name, value)) << name;
        for (const Entity owner : owners) {
            const Result<Value> read = world.get<Value>(owner, name);
            ASSERT_TRUE(read.ok()) << read.message();
            const Value typed = get.template operator()<kMember>(owner);
            ASSERT_TRUE(same_bytes<Value>(*read, typed)) << name;
            ASSERT_TRUE(*world.get(owner, name) == AnyValue(typed)) << name;
        }
        ASSERT_TRUE(same_bytes<Value>(get.template operator()<kMember>(entity), value)) << name;
    });
}

template <class T>
void compare_in_a_manager(Random& random) {
    EntityManager entities;
    World world(entities);
    auto& manager = world.manager<T>();
    std::vector<Entity> owners(5);
    ASSERT_TRUE(entities.create(owners));
    ASSERT_TRUE(manager.add(owners));
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(100); ++i)
        compare_both_ways<T>(
            world, owners, random,
            [&]<auto kMember>(Entity entity) -> ValueOf<kMember> {
                return manager.template get<kMember>(manager.instance(entity));
            },
            [&]<auto kMember>(Entity entity, const ValueOf<kMember>& value) {
                manager.template set<kMember>(manager.instance(entity), value);
            });
}

template <class T>
void compare_in_a_database(Random& random) {
    EntityManager entities;
    World world(entities);
    Database& database = world.database();
    std::vector<Entity> owners(5);
    ASSERT_TRUE(entities.create(owners));
    ASSERT_TRUE(database.add(owners, T{}));
    ASSERT_TRUE(database.add(std::span<const Entity>(owners).first(2), Body{}));
    ASSERT_TRUE(database.add(std::span<const Entity>(owners).last(2), Asleep{}));
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(100); ++i)
        compare_both_ways<T>(
            world, owners, random,
            [&]<auto kMember>(Entity entity) -> ValueOf<kMember> {
                return database.template get<kMember>(database.find(entity));
            },
            [&]<auto kMember>(Entity entity, const ValueOf<kMember>& value) {
                database.template set<kMember>(database.find(entity), value);
            });
}

TEST(FieldsRandom, reads_by_name_agree_with_typed_reads_for_all_types_and_layouts) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    compare_in_a_manager<Apart>(random);
    compare_in_a_manager<Split>(random);
    compare_in_a_manager<Whole>(random);
    compare_in_a_database<Apart>(random);
    compare_in_a_database<Split>(random);
    compare_in_a_database<Whole>(random);
}

// --- by C++ member -------------------------------------------------------------------------------------------------

TEST_F(Fields, by_member_are_those_by_name_in_whichever_store) {
    ASSERT_TRUE(world.directory().claim<Body>(world.database()));
    ASSERT_TRUE(world.database().add(boat, Body{.mass = 2, .position = {1, 2, 3}}));
    ASSERT_TRUE(world.manager<Whole>().add(boat, {.mass = 5}));
    EXPECT_EQ(*world.get<&Body::mass>(boat), 2);
    EXPECT_EQ(world.get<&Body::position>(boat)->y, 2);
    EXPECT_EQ(*world.get<&Whole::mass>(boat), 5);
    ASSERT_TRUE(world.set<&Body::position>(boat, {4, 5, 6}));
    ASSERT_TRUE(world.set<&Whole::weights>(boat, {1, 2, 3, 4}));
    EXPECT_EQ(world.get<Vec3>(boat, "body.position").value(), (Vec3{4, 5, 6}));
    EXPECT_EQ(world.get<float>(boat, "whole.weights[2]").value(), 3);
    EXPECT_EQ(world.get<&Body::mass>(bird), nullptr);
    EXPECT_EQ(world.set<&Body::mass>(bird, 1).message(), "entity " + boat_text(bird) + " has no \"body\"");
    EXPECT_EQ(world.get<&Gun::shots>(boat), nullptr) << "no store keeps it";
}

TEST_F(Fields, by_member_of_transforms_move_the_children) {
    TransformManager& transforms = world.transforms();
    const Entity both[] = {boat, bird};
    const Transform locals[] = {{}, {.position = {0, 0, 1}}};
    const std::uint32_t parents[] = {kNilRow, 0};
    ASSERT_TRUE(transforms.add(both, locals, parents));
    ASSERT_TRUE(world.set<&Transform::position>(boat, {1, 2, 3}));
    EXPECT_EQ(transforms.world_position(transforms.instance(bird)), Vec3(1, 2, 4));
    EXPECT_EQ(world.get<&WorldPose::matrix>(bird)->row[2].w, 4);
    EXPECT_EQ(*world.get<&ChildOf::parent>(bird), boat);
    EXPECT_EQ(world.get<&ChildOf::parent>(boat), nullptr) << "a root has no parent";
    EXPECT_FALSE(world.set<&Transform::scale>(boat, {0, 1, 1}).ok()) << "the store does not take it";
    EXPECT_EQ(*world.get<&Transform::scale>(boat), Vec3(1, 1, 1));
}

TEST_F(Fields, by_member_of_links_are_read_where_there_is_one) {
    auto& owners = world.ownership();
    EXPECT_EQ(world.get<&Owned::owner>(bird), nullptr);
    ASSERT_TRUE(owners.own(boat, bird));
    EXPECT_EQ(*world.get<&Owned::owner>(bird), boat);
    EXPECT_EQ(world.get<&Owned::owner>(boat), nullptr) << "it owns, and is not owned";
}

TEST_F(Fields, by_member_of_a_singleton_are_those_of_its_entity) {
    world.singleton<Gale>().force = {1, 2, 3};
    const Entity everything = world.directory().singletons().entity();
    EXPECT_EQ(*world.get<&Gale::force>(everything), Vec3(1, 2, 3));
    EXPECT_EQ(world.get<&Gale::force>(boat), nullptr);
    ASSERT_TRUE(world.set<&Gale::force>(everything, {4, 5, 6}));
    EXPECT_EQ(world.get("gale.force")->as<Vec3>().value(), Vec3(4, 5, 6));
}

TEST_F(Fields, by_member_need_no_pass_of_their_own) {
    ASSERT_TRUE(world.manager<Body>().add(boat, {.mass = 2}));
    const Lookup<&Body::mass> mass(world.directory());
    float seen = 0;
    world.schedule().add("weigh", {reads(world.manager<Body>())}, [&](const PassContext&) { seen = *mass.find(boat); });
    world.schedule().add("set", {writes(world.manager<Body>())}, [&](const PassContext&) {
        EXPECT_TRUE(mass.set(boat, 3));
        EXPECT_TRUE(world.set<&Body::mass>(boat, *world.get<&Body::mass>(boat) + 1));
    });
    world.step(0.1f);
    EXPECT_EQ(seen, 2);
    EXPECT_EQ(*mass.find(boat), 4);
}

}  // namespace field_test

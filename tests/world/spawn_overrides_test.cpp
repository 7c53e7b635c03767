// Values that a spawn gives entities of a resource in place of those that the resource has: in every kind of store.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/text.h"
#include "shoal/command/commands.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/pose/model_pose.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/library.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/store/detail/spawn_override.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/logged.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spawn_override_test {

using namespace shoal;

enum class Shape : std::uint8_t { kBox, kSphere };
SHOAL_ENUM(Shape, (kBox, "box"), (kSphere, "sphere"))

/// In a manager.
struct Light {
    float range = 5;
    Vec3 color = {1, 1, 1};
    Shape shape = Shape::kBox;
    bool is_on = true;
    std::int16_t level = 2;
    StringId kind{};
    Entity target{};
    std::array<float, 3> weights = {1, 2, 3};
    FixedString<8> label{};
    BlobArray<float> steps{};
    ResourceId sound{};
};
SHOAL_COMPONENT(Light, (range, range(0, 100)), (color, split, range(0, 1)), shape, is_on, level, kind, target,
                (weights, range(0, 9)), label, steps, sound)

/// In the database.
struct Cargo {
    double mass = 0;
    Vec3 place{};
};
SHOAL_COMPONENT((Cargo, whole), mass, place)

/// In the database.
struct Asleep {
    std::int32_t hours = 0;
};
SHOAL_COMPONENT((Asleep, enableable), hours)

struct Note {
    std::int32_t number = 0, page = 0;
};
SHOAL_COMPONENT((Note, many), number, page)

struct Wind {
    float force = 1;
    Matrix3x4 frame{};
};
SHOAL_COMPONENT((Wind, singleton), force, frame)

/// A spawn function takes it.
struct Song {
    std::int32_t notes = 0;
};
SHOAL_COMPONENT(Song, notes)

/// A level of a hull with a lamp at its mast, and a buoy.
class Level {
public:
    Level() {
        writer_.set_name("levels/harbour");
        hull_ = writer_.add_entity({.guid = hash_text("hull"), .name = "hull"});
        lamp_ = writer_.add_entity({.parent = hull_, .guid = hash_text("hull/lamp"), .name = "lamp"});
        buoy_ = writer_.add_entity({.guid = hash_text("buoy"), .name = "buoy"});
        writer_.add_entity({.guid = hash_text("twin/1"), .name = "twin"});
        writer_.add_entity({.guid = hash_text("twin/2"), .name = "twin"});
        for (const std::uint32_t entity : {hull_, lamp_, buoy_}) put(entity, Transform{{1, 2, 3}});
        for (const std::uint32_t entity : {lamp_, buoy_}) put(entity, light());
        for (const std::uint32_t entity : {hull_, buoy_}) put(entity, Cargo{3, {4, 5, 6}});
        for (int page = 1; page < 4; ++page) put(lamp_, Note{7, page});
        put(buoy_, Asleep{8});
        put(hull_, Asleep{8});
        put(buoy_, SpawnDisabled{schema_of<Asleep>().id()});
        put(buoy_, SpawnZone{3});
        put(buoy_, Tag{*writer_.add_text("green")});
        put(lamp_, Owned{Entity{hull_}});
        put(lamp_, Wind{2});
        put(buoy_, Song{12});
    }
    Blob blob() { return *Blob::load(*writer_.write()); }

private:
    static Light light() {
        Light made;
        made.target = Entity{~EntityBits(0)};
        return made;
    }
    template <class T>
    void put(std::uint32_t entity, const T& value) {
        std::uint32_t type = 0;
        for (const auto& [name, known] : types_)
            if (name == schema_of<T>().name()) type = known + 1;
        if (type == 0) {
            types_.push_back({std::string(schema_of<T>().name()), *writer_.add_component_type(schema_of<T>())});
            type = types_.back().second + 1;
        }
        std::vector<std::byte> image(schema_of<T>().struct_bytes());
        for (const Field& field : schema_of<T>().fields())
            std::memcpy(image.data() + field.struct_offset,
                        reinterpret_cast<const std::byte*>(&value) + field.struct_offset, field.size);
        writer_.add_component(type - 1, entity, image);
    }

    BlobWriter writer_;
    std::uint32_t hull_ = 0, lamp_ = 0, buoy_ = 0;
    std::vector<std::pair<std::string, std::uint32_t>> types_;
};

struct Harbour {
    Harbour() : world(entities, {.library = &library}) {
        world.manager<Light>();
        world.manager<Note>();
        EXPECT_TRUE(world.directory().claim<Cargo>(world.database()));
        EXPECT_TRUE(world.directory().claim<Asleep>(world.database()));
        EXPECT_TRUE(
            world.registry().set_spawn_function("Song", [](void*, const SpawnBatch&) { return Status(); }, nullptr));
    }
    Result<Spawned> spawn(const Blob& blob, Array<SpawnOverride> overrides, std::uint32_t copies = 1) {
        return world.spawn(blob, {.copies = copies, .overrides = std::move(overrides)});
    }

    EntityManager entities;
    ResourceLibrary library;
    World world;
};

// --- values ------------------------------------------------------------------------------------------------------

/// All kinds of fields of all kinds of stores, each with a value that depends on `i`.
Array<SpawnOverride> all_overrides(int i) {
    const auto number = static_cast<float>(i);
    return {{"lamp", "light.range", i},
            {"hull/lamp", "light.color", Vec3{0.25f, number / 16, 1}},
            {"buoy", "light.color.y", number / 32},
            {"buoy", "light.shape", i % 2 == 0 ? "box" : "sphere"},
            {"lamp", "light.is_on", i % 2 == 0},
            {"buoy", "light.level", -i},
            {"buoy", "light.kind", "lantern"},
            {"lamp", "light.weights", std::array<float, 3>{3, 2, number / 2}},
            {"lamp", "light.weights[1]", number / 4},
            {"lamp", "light.label", std::to_string(i)},
            {"hull", "cargo.mass", 10 + i},
            {"buoy", "cargo.place.z", number},
            {"hull", "asleep.hours", i},
            {"lamp", "note[1].page", 30 + i},
            {"hull", "transform.position", Vec3{number, 0, 0}},
            {"lamp", "transform.position.y", number},
            {"buoy", "transform.scale", Vec3{1, 1, 1 + number}},
            {"buoy", "tag.tag", i % 2 == 0 ? "red" : "white"},
            {"buoy", "properties.draught", number},
            {"buoy", "properties.owner.name", "Ann"}};
}

// req: D6
TEST(SpawnOverrides, are_what_setting_the_values_by_hand_after_the_spawn_would_be) {
    const Blob blob = Level().blob();
    Random random(shoal_test::seed());
    for (int round = 0; round < 40; ++round) {
        const std::uint32_t copies = 1 + random.below(3);
        Array<SpawnOverride> overrides;
        for (std::uint32_t count = random.below(12); count-- > 0;) {
            const Array<SpawnOverride> some = all_overrides(static_cast<int>(random.below(16)));
            overrides.push_back(some[random.below(static_cast<std::uint32_t>(some.size()))]);
            if (random.below(2) == 0) overrides.back().copy = static_cast<std::uint32_t>(random.below(copies));
        }
        std::vector<RootPose> poses(random.below(2) == 0 ? 0 : copies);
        for (RootPose& pose : poses) pose.position.x = random.unit() * 9;
        Harbour overridden, by_hand;
        const Result<Spawned> spawned =
            overridden.world.spawn(blob, {.copies = copies, .root_poses = poses, .overrides = overrides});
        ASSERT_TRUE(spawned) << spawned.message();
        const Result<Spawned> plain = by_hand.world.spawn(blob, {.copies = copies, .root_poses = poses});
        ASSERT_TRUE(plain) << plain.message();
        by_hand.world.properties();
        overridden.world.properties();
        for (const SpawnOverride& one : overrides)
            for (std::uint32_t copy = 0; copy < copies; ++copy) {
                if (one.copy != SpawnOverride::kAllCopies && one.copy != copy) continue;
                const Status set = by_hand.world.set(plain->find(one.entity, copy), one.field, one.value);
                ASSERT_TRUE(set) << one.field << ": " << set.message();
            }
        EXPECT_EQ(state_hash(overridden.world), state_hash(by_hand.world)) << "round " << round;
        EXPECT_EQ(overridden.world.strings().text(StringId("lantern")),
                  by_hand.world.strings().text(StringId("lantern")));
        if (HasFailure()) return;
    }
}

TEST(SpawnOverrides, are_made_in_their_order_for_all_copies_or_for_one) {
    const Blob level = Level().blob();
    Harbour harbour;
    World& world = harbour.world;
    const auto spawn = [&]() -> Result<Spawned> {
        // [spawn_override]
        SpawnOptions options{.copies = 3, .overrides = {{"lamp", "light.range", 7}, {"buoy", "light.color.x", 0.5f}}};
        options.overrides.push_back({"hull/lamp", "light.range", 9, 1});  // only in copy 1
        return world.spawn(level, options);
        // [spawn_override]
    };
    const Result<Spawned> spawned = spawn();
    ASSERT_TRUE(spawned) << spawned.message();
    const float ranges[] = {7, 9, 7};
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        EXPECT_EQ(*world.get<float>(spawned->find("lamp", copy), "light.range"), ranges[copy]);
        EXPECT_EQ(*world.get<float>(spawned->find("buoy", copy), "light.range"), 5);
        EXPECT_EQ(*world.get<Vec3>(spawned->find("buoy", copy), "light.color"), (Vec3{0.5f, 1, 1}));
    }
}

TEST(SpawnOverrides, reach_what_is_disabled_owners_references_and_singletons) {
    const Blob blob = Level().blob();
    Harbour harbour;
    const Result<Entity> sun = harbour.entities.create();
    ASSERT_TRUE(sun);
    harbour.world.singleton<Wind>().force = 4;
    const Result<Spawned> spawned = harbour.spawn(blob, {{"buoy", "asleep.hours", 3},
                                                         {"lamp", "light.target", *sun},
                                                         {"lamp", "owned.owner", *sun},
                                                         {"lamp", "wind.force", 6},
                                                         {"lamp", "wind.frame.position", Vec3{7, 8, 9}, 0}});
    ASSERT_TRUE(spawned) << spawned.message();
    const Entity lamp = spawned->find("lamp"), buoy = spawned->find("buoy");
    EXPECT_EQ(*harbour.world.get<Entity>(lamp, "light.target"), *sun);
    EXPECT_EQ(harbour.world.ownership().owner(lamp), *sun);
    EXPECT_EQ(harbour.world.singleton<Wind>().force, 6);
    EXPECT_EQ(harbour.world.singleton<Wind>().frame, (Matrix3x4{{{1, 0, 0, 7}, {0, 1, 0, 8}, {0, 0, 1, 9}}}));
    EXPECT_FALSE(harbour.world.get(buoy, "asleep.hours")) << "it stays disabled";
    const ComponentRow asleep = harbour.world.database().find_row(schema_of<Asleep>().id(), buoy, 0);
    ASSERT_TRUE(asleep);
    EXPECT_FALSE(asleep.is_enabled);
    std::int32_t hours = 0;
    const Result<FieldPath> path = harbour.world.find_field("asleep.hours");
    ASSERT_TRUE(path);
    harbour.world.database().read_field(asleep, path->part(), reinterpret_cast<std::byte*>(&hours));
    EXPECT_EQ(hours, 3);
}

TEST(SpawnOverrides, move_what_hangs_below_and_say_where_a_root_with_a_root_pose_lies) {
    const Blob blob = Level().blob();
    Harbour harbour;
    const RootPose pose{.position = {100, 0, 0}};
    const Result<Spawned> spawned = harbour.world.spawn(
        blob, {.root_poses = {&pose, 1}, .overrides = {{"hull", "transform.position", Vec3{9, 0, 0}}}});
    ASSERT_TRUE(spawned) << spawned.message();
    const TransformManager& transforms = harbour.world.transforms();
    EXPECT_EQ(transforms.world_position(transforms.instance(spawned->find("hull"))), (Vec3{9, 0, 0}));
    EXPECT_EQ(transforms.world_position(transforms.instance(spawned->find("lamp"))), (Vec3{10, 2, 3}));
    EXPECT_EQ(transforms.world_position(transforms.instance(spawned->find("buoy"))), (Vec3{101, 2, 3}));
}

// --- what is wrong -----------------------------------------------------------------------------------------------

struct Mistake {
    SpawnOverride given;
    std::string_view message;  ///< after the colon
};

std::vector<Mistake> mistakes() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    return {
        {{"lmap", "light.range", 9}, "there is no entity \"lmap\"; did you mean \"lamp\"?"},
        {{"", "light.range", 9}, "there is no entity \"\"; it has buoy, hull, lamp, twin, twin"},
        {{"twin", "light.range", 9}, "several entities are called \"twin\"; give the GUID path of one"},
        {{"lamp", "light.range", 9, 3}, "there is no copy 3; there are 2, from 0 on"},
        {{"lamp", "lihgt.range", 9}, "no component type \"lihgt\" in this world; did you mean \"light\"?"},
        {{"lamp", "light.rnge", 9}, "\"light\" has no field \"rnge\"; did you mean \"range\"?"},
        {{"lamp", "light", 9},
         "\"light\" is a component type and not a field; it has range, color, shape, is_on, level"},
        {{"lamp", "light.color.w", 9}, "\"light.color\" is a vec3, which has no \"w\"; it has x, y, z"},
        {{"lamp", "light.weights[3]", 9}, "\"light.weights\" has 3 elements, [0] to [2]"},
        {{"hull", "light.range", 9}, "it has no \"light\"; it has "},
        {{"twin/1", "transform.position", Vec3{}}, "it has no \"transform\"; it has none"},
        {{"twin/1", "asleep.hours", 9}, "it has no \"asleep\"; it has none"},
        {{"twin/1", "tag.tag", "red"}, "it has no \"tag\"; it has none"},
        {{"twin/1", "owned.owner", Entity{}}, "it has no \"owned\"; it has none"},
        {{"lamp", "note[3].page", 9}, "it has no \"note[3]\"; it has 3"},
        {{"lamp", "light.range", "far"}, "\"light.range\" is a float, not text"},
        {{"lamp", "light.range", Vec3{}}, "\"light.range\" is a float, not a vec3"},
        {{"lamp", "light.range", {}}, "\"light.range\" is a float, not nothing"},
        {{"lamp", "light.range", 101}, "\"light.range\" is from 0 to 100, not 101"},
        {{"lamp", "light.range", nan}, "\"light.range\" is from 0 to 100, not nan"},
        {{"lamp", "light.color", Vec3{0, 0, 2}}, "\"light.color\" is from 0 to 1, not 2"},
        {{"lamp", "light.weights", std::array<float, 3>{1, 10, 1}}, "\"light.weights\" is from 0 to 9, not 10"},
        {{"lamp", "light.weights", std::array<float, 2>{1, 1}}, "\"light.weights\" is a float[3], not a float[2]"},
        {{"lamp", "light.level", 40'000}, "\"light.level\" is an int16, which cannot hold 40000"},
        {{"lamp", "light.shape", "spher"}, "\"light.shape\" has no value \"spher\"; did you mean \"sphere\"?"},
        {{"lamp", "light.shape", Shape(7)}, "\"light.shape\" would be a number that its enum does not name"},
        {{"lamp", "light.label", "lighthouse"}, "\"light.label\" has room for 7 bytes of text; \"lighthouse\" has 10"},
        {{"lamp", "light.target", "9:9"}, "entity 9:9, which \"light.target\" is to refer to, is not alive"},
        {{"lamp", "light.steps", BlobArray<float>()}, "\"light.steps\" is an array that stays in the resource; "},
        {{"lamp", "light.kind", "lamp \xff"}, "the text \"lamp \\xFF\" is not valid UTF-8; "},
        {{"lamp", "light.sound", "bell \xff"}, "the text \"bell \\xFF\" is not valid UTF-8; "},
        {{"lamp", "world_pose.matrix", Matrix3x4()}, "the store computes \"world_pose\"; "},
        {{"lamp", "transform.world.position", Vec3{}},
         "\"transform.world.position\" is not a field of \"transform\" in the resource; it has position, rotation, "
         "scale"},
        {{"buoy", "song.notes", 3}, ""},
        // A store refuses these when all else is there.
        {{"lamp", "transform.rotation", Quaternion{0, 0, 0, 0}}, ""},
        {{"lamp", "transform.position.x", nan}, ""},
        {{"lamp", "properties.depth", Entity{}}, "the properties of an entity are "},
    };
}

// req: D6
TEST(SpawnOverrides, that_fit_nothing_are_errors_that_say_what_there_is_and_nothing_is_spawned) {
    const Blob blob = Level().blob();
    Harbour harbour;
    ASSERT_TRUE(harbour.spawn(blob, {}, 2));
    harbour.world.properties();
    harbour.world.settle();
    const std::uint64_t hash = state_hash(harbour.world);
    const std::uint32_t num_alive = harbour.entities.num_alive();
    for (const Mistake& mistake : mistakes()) {
        const Result<Spawned> spawned = harbour.spawn(blob, {{"buoy", "light.range", 1}, mistake.given}, 2);
        ASSERT_FALSE(spawned) << mistake.given.field;
        EXPECT_NE(spawned.message().find(mistake.message), std::string::npos) << spawned.message();
        EXPECT_NE(spawned.message().find(mistake.given.field), std::string::npos) << spawned.message();
        EXPECT_NE(spawned.message().find("\"levels/harbour\""), std::string::npos) << spawned.message();
        EXPECT_EQ(harbour.entities.num_alive(), num_alive) << mistake.given.field;
        harbour.world.settle();
        EXPECT_EQ(state_hash(harbour.world), hash) << mistake.given.field;
    }
}

// --- commands ----------------------------------------------------------------------------------------------------

// req: D6
TEST(SpawnOverrides, of_commands_are_those_of_spawns_and_one_that_is_wrong_drops_its_copy_alone) {
    const Blob blob = Level().blob();
    Harbour asked;
    const RootPose pose{.position = {5, 0, 0}};
    Commands& commands = asked.world.database().commands();
    const Entity light = commands.create();
    commands.spawn(blob, 2, {{"lamp", "light.range", 9}, {"lamp", "light.target", light}});
    commands.spawn(blob, kNoZone, {{"lamp", "light.rnge", 9}});
    commands.spawn(blob, pose, 4, {{"buoy", "cargo.mass", 7}});
    const shoal_test::Logged logged;
    asked.world.settle();
    ASSERT_EQ(logged.lines.size(), 1u);
    EXPECT_EQ(logged.lines[0],
              "commands to spawn 1 entities were dropped: cannot override \"light.rnge\" of \"lamp\" in "
              "\"levels/harbour\": \"light\" has no field \"rnge\"; did you mean \"range\"?");
    EXPECT_EQ(asked.entities.num_alive(), 2 + 2 * blob.num_entities()) << "with that of the singletons";
    EXPECT_EQ(asked.world.settle_statistics().last.num_dropped, 1u);
    const Table& lights = asked.world.manager<Light>().core().table();
    int num_far = 0, num_lit = 0;
    for (const Entity owner : lights.entities()) {
        num_far += *asked.world.get<float>(owner, "light.range") == 9;
        const Entity target = *asked.world.get<Entity>(owner, "light.target");
        EXPECT_TRUE(!target || asked.entities.alive(target));
        num_lit += bool(target);
    }
    EXPECT_EQ(num_far, 1);
    EXPECT_EQ(num_lit, 1);
    int num_heavy = 0;
    for (const Table* table : asked.world.database().tables())
        for (const Entity owner : table->entities())
            if (const Result<double> mass = asked.world.get<double>(owner, "cargo.mass")) num_heavy += *mass == 7;
    EXPECT_EQ(num_heavy, 1);
}

TEST(SpawnOverrides, of_commands_that_could_not_be_saved_while_they_wait_are_dropped_with_a_message) {
    Harbour harbour;
    ASSERT_TRUE(harbour.library.load(Level().blob().bytes()));
    const Blob& blob = *harbour.library.find(ResourceId("levels/harbour"));
    Commands& commands = harbour.world.database().commands();
    const SpawnOverride wrong[] = {{"lamp", "light.range", AnyValue()},
                                   {"lamp", "light.steps", BlobArray<float>()},
                                   {"lamp", "light.kind", "\xff"},
                                   {"lamp\xff", "light.range", 9},
                                   {"lamp", "light.range", 9, 1}};
    const char* const whys[] = {" of \"lamp\" has no value; give it one",
                                " of \"lamp\" is an array that stays in the resource; change the source",
                                " of \"lamp\" has a text that is not valid UTF-8; convert it to UTF-8 first",
                                " of \"lamp\\xFF\" has a name that is not valid UTF-8; convert it to UTF-8 first",
                                " of \"lamp\" is of copy 1; a command makes copy 0 alone"};
    shoal_test::Logged logged;
    for (const SpawnOverride& one : wrong) {
        const Entity lost = commands.spawn(blob, kNoZone, {{"buoy", "light.range", 1}, one});
        commands.add(lost, Cargo{5});
    }
    ASSERT_EQ(logged.lines.size(), std::size(wrong));
    for (std::size_t i = 0; i < std::size(wrong); ++i)
        EXPECT_EQ(logged.lines[i], concat("a command to spawn a resource was dropped: the override of \"",
                                          wrong[i].field, '"', whys[i]));
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(harbour.world, bytes));
    Harbour loaded;
    const Status status = load(loaded.world, std::span<const std::byte>(bytes));
    ASSERT_TRUE(status) << status.message();
    harbour.world.settle();
    EXPECT_EQ(harbour.entities.num_alive(), 0u);
}

TEST(SpawnOverrides, that_are_texts_of_string_ids_are_kept_until_they_are_unused) {
    const Blob blob = Level().blob();
    Harbour harbour;
    ASSERT_TRUE(harbour.spawn(blob, {{"lamp", "light.kind", "lantern"}}));
    const StringTable& strings = harbour.world.strings();
    EXPECT_EQ(strings.text(StringId("lantern")), "lantern");
    BitSet lasting{Owner("test")}, lantern{Owner("test")};
    strings.mark_lasting(lasting);
    strings.mark(StringId("lantern"), lantern);
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_FALSE(lasting.test(i) && lantern.test(i));
}

TEST(SpawnOverrides, of_commands_that_wait_are_saved_and_loaded) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Harbour saved, loaded;
    ASSERT_TRUE(saved.library.load(Level().blob().bytes()));
    ASSERT_TRUE(loaded.library.load(Level().blob().bytes()));
    const Blob& blob = *saved.library.find(ResourceId("levels/harbour"));
    Commands& commands = saved.world.database().commands();
    const Entity to_come = commands.create(Cargo{77});
    for (int i = 0; i < 12; ++i) {
        Array<SpawnOverride> overrides = all_overrides(i);
        std::ranges::rotate(overrides, overrides.begin() + random.below(static_cast<std::uint32_t>(overrides.size())));
        overrides.resize(static_cast<std::size_t>(i));
        overrides.push_back({"lamp", "light.target", to_come});
        if (i % 2 == 0)
            commands.spawn(blob, kNoZone, overrides);
        else
            commands.spawn(blob, RootPose{.position = {float(i), 0, 0}}, 5, overrides);
    }
    commands.spawn(blob);
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved.world, bytes));
    const Status status = load(loaded.world, std::span<const std::byte>(bytes));
    ASSERT_TRUE(status) << status.message();
    saved.world.settle();
    loaded.world.settle();
    EXPECT_EQ(saved.entities.num_alive(), 2 + 13 * blob.num_entities()) << "with that of the singletons";
    EXPECT_EQ(state_hash(saved.world), state_hash(loaded.world));
    EXPECT_EQ(saved.world.settle_statistics().last.num_dropped, 0u);
}

}  // namespace spawn_override_test

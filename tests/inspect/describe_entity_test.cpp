#include "shoal/inspect/describe_entity.h"

#include "shoal/base/text.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/database/database.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/react/observers.h"
#include "shoal/react/service.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/library.h"
#include "shoal/save/frames.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace describe_test {

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
    Entity target;
};
SHOAL_COMPONENT(Body, mass, (position, split), target)

struct Asleep {
    float since = 0;
};
SHOAL_COMPONENT((Asleep, enableable), since)

struct Gun {
    std::shared_ptr<int> trigger;
};
SHOAL_COMPONENT(Gun, trigger)

struct Plain {};
SHOAL_COMPONENT(Plain)

struct Wind {
    float gust = 2;
};
SHOAL_COMPONENT((Wind, singleton), gust)

struct Course {
    BlobArray<float> depths{};
};
SHOAL_COMPONENT(Course, depths)

struct Describe : ::testing::Test {
    EntityManager entities;
    World world{entities};
    Entity boat = entities.create().value(), harbour = entities.create().value(), sail = entities.create().value();
};

TEST(DescribeWorld, a_world_is_its_size_and_a_line_for_each_service_in_their_order) {
    struct Tide final : WorldService {
        Tide() : WorldService("tide") {}
        std::string describe() const override { return "it comes in"; }
        std::string table() const override { return "place\tmetres\npier\t1.5\nreef\t12\n"; }
    } tide;
    EntityManager entities;
    World world(entities);
    const Frames frames(world, 4);
    world.services().add(tide);
    world.manager<Body>();
    world.observers().keep_journal(10);
    for (int i = 0; i < 6; ++i) world.step(0);
    EXPECT_EQ(describe(world),
              "frame 6: entities 0, stores 1, passes 0; services:\n"
              "  relations\n"
              "  position_links\n"
              "  observers: the journal is kept\n"
              "  tide: it comes in\n"
              "    place  metres\n"
              "    pier      1.5\n"
              "    reef       12\n"
              "  texts: 0 are kept\n"
              "  frames: 4 of 4 are kept, from 3 to 6\n");
    world.services().remove(tide);
}

TEST_F(Describe, tells_named_values_by_path_and_which_are_its_own) {
    ASSERT_TRUE(world.properties().set(boat, "paint", "grey"));
    ASSERT_TRUE(world.properties().set(boat, "hull.mass", 2.5f));
    ASSERT_TRUE(world.properties().set_array(boat, "decks", std::vector<int>{1, 2, 3, 4, 5}));
    ASSERT_TRUE(world.properties().set(boat, StringId(0x123456789abcdef0u), true));
    EXPECT_EQ(describe(world, boat),
              "entity 1:1 is alive\n"
              "  properties: 0x123456789abcdef0 = true, decks = [1 2 3 4 5], hull.mass = 2.5, paint = \"grey\" (own: "
              "0x123456789abcdef0, decks, hull.mass, paint)\n");
    EXPECT_EQ(describe(world, sail), "entity 3:1 is alive and has no components here\n");
}

TEST_F(Describe, tells_all_components_of_all_stores_in_their_order) {
    ASSERT_TRUE(world.manager<Body>().add(boat, {.mass = 2, .position = {0, 0, 3}, .target = harbour}));
    const Entity all[] = {harbour, boat, sail};
    const Transform locals[3] = {{.position = {1, 0, 0}}};
    const std::uint32_t parents[] = {kNilRow, 0, 1};
    ASSERT_TRUE(world.transforms().add(all, locals, parents));
    ASSERT_TRUE(world.database().add(boat, Asleep{3.5f}, Gun{}));
    ASSERT_TRUE(world.database().add(boat, Plain{}));
    ASSERT_TRUE(world.database().remove<Asleep>(boat));
    TagManager tags(world.manager<Tag>(), world.strings());
    ASSERT_TRUE(tags.add_tag(boat, "wooden"));
    ASSERT_TRUE(tags.add_tag(boat, "fast"));
    ASSERT_TRUE(world.ownership().own(boat, sail));
    DebugNameManager names(world.manager<DebugName>(), world.strings());
    ASSERT_TRUE(names.set_name(boat, "Argo"));
    ASSERT_TRUE(names.set_name(harbour, "Iolcus"));
    EXPECT_EQ(describe(world, boat),
              "entity 1:1 \"Argo\" is alive\n"
              "  body: mass = 2.0, position = [0.0 0.0 3.0], target = \"2:1 Iolcus\"\n"
              "  transform: position = [0.0 0.0 0.0], rotation = [0.0 0.0 0.0 1.0], scale = [1.0 1.0 1.0], "
              "world = [1.0 0.0 0.0 1.0 0.0 1.0 0.0 0.0 0.0 0.0 1.0 0.0] (parent 2:1 \"Iolcus\", 1 child)\n"
              "  asleep (disabled): since = 3.5\n"
              "  gun: trigger = \"opaque\"\n"
              "  plain\n"
              "  tag[0]: tag = \"fast\"\n"
              "  tag[1]: tag = \"wooden\"\n"
              "  owned: owner = null (owns 1)\n"
              "  debug_name: name = \"Argo\"\n");
    EXPECT_NE(describe(world, sail).find("owned: owner = \"1:1 Argo\" (owns 0)\n"), std::string::npos);
    EXPECT_NE(describe(world, harbour).find("(no parent, 1 child)\n"), std::string::npos);
}

TEST_F(Describe, singletons_are_components_of_an_entity_of_their_own) {
    world.singleton<Wind>().gust = 7;
    EXPECT_EQ(describe(world, world.directory().singletons().entity()), "entity 4:1 is alive\n  wind: gust = 7.0\n");
}

TEST_F(Describe, a_component_type_that_is_called_as_that_of_names_but_is_another_is_no_name) {
    ComponentDefinition definition;
    definition.name = "debug_name";
    definition.fields.push_back({.name = "name", .type = FieldType::kFixedString, .value_bytes = 64});
    ComponentManager* names = world.manager(Schema::make(definition).value()).value();
    const FixedString<64> name("Argo");
    ASSERT_TRUE(names->add_images({&boat, 1}, std::as_bytes(std::span(&name, 1)).data(), 0));
    EXPECT_EQ(describe(world, boat), "entity 1:1 is alive\n  debug_name: name = \"Argo\"\n");
}

TEST_F(Describe, a_document_has_what_an_entity_has_in_all_stores) {
    ASSERT_TRUE(world.manager<Body>().add(boat, {.mass = 2, .position = {0, 0, 3}, .target = harbour}));
    const Entity both[] = {harbour, boat};
    const Transform locals[2] = {};
    const std::uint32_t parents[] = {kNilRow, 0};
    ASSERT_TRUE(world.transforms().add(both, locals, parents));
    ASSERT_TRUE(world.database().add(boat, Disabled{Asleep{3.5f}}, Gun{}));
    TagManager tags(world.manager<Tag>(), world.strings());
    ASSERT_TRUE(tags.add_tag(boat, "wooden") && tags.add_tag(boat, "fast"));
    ASSERT_TRUE(world.ownership().own(sail, boat));
    ASSERT_TRUE(world.properties().set(boat, "hull.mass", 2.5f));
    ASSERT_TRUE(DebugNameManager(world.manager<DebugName>(), world.strings()).set_name(boat, "Argo"));
    DocumentBuilder builder;
    builder.begin_mapping();
    EntityWriter(world).write(boat, builder);
    builder.end();
    EXPECT_EQ(
        write_sjson_line(builder.finish().root()),
        "entity = \"1:1\", name = \"Argo\", parent = \"2:1\", owner = \"3:1\", disabled = [\"asleep\"], "
        "components = { body = { mass = 2.0, position = [0.0 0.0 3.0], target = \"2:1\" }, transform = { position = "
        "[0.0 0.0 0.0], rotation = [0.0 0.0 0.0 1.0], scale = [1.0 1.0 1.0], world = [1.0 0.0 0.0 0.0 0.0 1.0 0.0 "
        "0.0 0.0 0.0 1.0 0.0] }, asleep = { since = 3.5 }, gun = { trigger = \"opaque\" }, tag = [{ tag = \"fast\" }, "
        "{ tag = \"wooden\" }], owned = { owner = \"3:1\" }, debug_name = { name = \"Argo\" }, properties = { values = "
        "{}, "
        "overrides = { hull.mass = 2.5 } } }");
}

TEST(DescribeZones, a_zone_is_told_unless_it_is_the_one_in_which_a_database_begins) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database({.first_zone = 5});
    ASSERT_TRUE(world.directory().claim<Asleep>(sea));
    for (const auto& [zone, expected] : {std::pair(Zone(5), ""), {Zone(0), "zone = 0, "}, {Zone(7), "zone = 7, "}}) {
        const Entity entity = entities.create().value();
        ASSERT_TRUE(sea.insert(entity, zone, Asleep{1}));
        DocumentBuilder builder;
        builder.begin_mapping();
        EntityWriter(world).write(entity, builder);
        builder.end();
        EXPECT_EQ(write_sjson_line(builder.finish().root()), concat("entity = \"", entity.index(), ":1\", ", expected,
                                                                    "components = { asleep = { since = 1.0 } }"));
    }
}

TEST(DescribeArrays, values_in_a_blob_are_told_if_the_library_has_it_and_else_where_they_are) {
    BlobWriter writer;
    writer.set_name("sea");
    const float depths[] = {2.5f, 4};
    Course course;
    static_cast<BlobArrayBase&>(course.depths) = writer.add_array(FieldType::kFloat, std::as_bytes(std::span(depths)));
    writer.add_entity({});
    writer.add_component(writer.add_component_type(schema_of<Course>()).value(), 0,
                         std::as_bytes(std::span(&course, 1)));
    const Blob blob = Blob::load(writer.write().value()).value();
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    world.manager<Course>();
    const Entity ship = world.spawn(blob)->entity(0);
    EXPECT_NE(describe(world, ship).find("course: depths = { resource = \"#0x"), std::string::npos)
        << describe(world, ship);
    EXPECT_NE(describe(world, ship).find("count = 2 }"), std::string::npos);
    ASSERT_TRUE(library.load(blob.bytes()));
    EXPECT_EQ(describe(world, ship), "entity 1:1 is alive\n  course: depths = [2.5 4.0]\n");
    const Entity empty = entities.create().value();
    ASSERT_TRUE(world.manager<Course>().add(empty, Course{}));
    EXPECT_EQ(describe(world, empty), "entity 2:1 is alive\n  course: depths = []\n");
}

TEST_F(Describe, tells_whether_an_entity_lives) {
    EXPECT_EQ(describe(world, boat), "entity 1:1 is alive and has no components here\n");
    ASSERT_TRUE(world.manager<Body>().add(boat));
    entities.destroy(boat);
    EXPECT_EQ(describe(world, boat),
              "entity 1:1 is dead; these components are removed when the world settles\n"
              "  body: mass = 1.0, position = [0.0 0.0 0.0], target = null\n");
    world.settle();
    EXPECT_EQ(describe(world, boat), "entity 1:1 is dead\n");
    EXPECT_EQ(describe(world, kNullEntity), "null is no entity\n");
    EXPECT_EQ(describe(world, make_entity(12, 3)), "entity 12:3 is dead\n") << "there never was one";
}

}  // namespace describe_test

// Components of which a world has one.

#include "shoal/base/text.h"
#include "shoal/command/commands.h"
#include "shoal/components/activity.h"
#include "shoal/database/database.h"
#include "shoal/job/executor.h"
#include "shoal/react/observers.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/world/entity_blob.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace {

using namespace shoal;

struct Wind {
    Vec3 force{0, 0, 1};
    float gust = 2;
    Entity from;
};
SHOAL_COMPONENT((Wind, singleton), force, gust, from)
struct Tide {
    std::int32_t height = 5;
};
SHOAL_COMPONENT((Tide, singleton), height)
struct Boat {
    Vec3 velocity{};
    float mass = 1;
};
SHOAL_COMPONENT(Boat, velocity, mass)

/// A blob with `count` of a component type that is whole, as all singletons are, but is a singleton only if `singleton`
/// says so.
Blob make_winds(const char* name, std::uint32_t count, bool singleton) {
    ComponentDefinition definition = make_definition<Wind>();
    definition.name = name, definition.whole = true, definition.singleton = singleton;
    const Schema schema = *Schema::make(definition);
    BlobWriter writer;
    writer.set_name("winds");
    const std::uint32_t type = *writer.add_component_type(schema);
    for (std::uint32_t i = 0; i < count; ++i)
        writer.add_component(type, writer.add_entity({}), blob_default_image(schema));
    return *Blob::load(*writer.write());
}

class Singletons : public ::testing::Test {
protected:
    std::vector<Entity> make_boats(std::uint32_t count) {
        std::vector<Entity> boats(count);
        EXPECT_TRUE(entities.create(boats));
        for (std::uint32_t i = 0; i < count; ++i)
            EXPECT_TRUE(world.manager<Boat>().add({&boats[i], 1}, Boat{.mass = float(i)}));
        return boats;
    }
    /// A blob with an entity `north`, and one that has a wind from it.
    static Blob make_weather(float gust) {
        ComponentDefinition definition;
        definition.name = "wind";
        definition.singleton = true;
        definition.fields.push_back({.name = "force", .type = FieldType::kVec3});
        definition.fields.push_back({.name = "gust", .type = FieldType::kFloat});
        definition.fields.push_back({.name = "from", .type = FieldType::kEntity});
        const Schema schema = *Schema::make(definition);
        BlobWriter writer;
        writer.set_name("weather");
        const std::uint32_t type = *writer.add_component_type(schema);
        const std::uint32_t north = writer.add_entity({.name = "north"}), air = writer.add_entity({.name = "air"});
        std::vector<std::byte> image = blob_default_image(schema);
        const EntityBits from = north;
        std::memcpy(image.data() + schema.fields()[1].struct_offset, &gust, sizeof gust);
        std::memcpy(image.data() + schema.fields()[2].struct_offset, &from, sizeof from);
        writer.add_component(type, air, image);
        return *Blob::load(*writer.write());
    }

    EntityManager entities;
    World world{entities};
};

TEST_F(Singletons, the_first_call_makes_it_with_its_defaults_and_others_return_it) {
    EXPECT_EQ(world.directory().singletons().entity(), kNullEntity);
    Wind& wind = world.singleton<Wind>();
    EXPECT_EQ(wind.force, (Vec3{0, 0, 1}));
    wind.gust = 7;
    EXPECT_EQ(world.singleton<Wind>().gust, 7);
    EXPECT_EQ(std::as_const(world).singleton<Wind>().gust, 7);
    EXPECT_EQ(world.singleton<Tide>().height, 5);
    EXPECT_EQ(entities.num_alive(), 1u) << "one entity has all singletons";
    EXPECT_EQ(&world.singleton<Wind>(), &wind);
    for (int i = 0; i < 3; ++i) world.step(1);
    EXPECT_EQ(world.singleton<Wind>().gust, 7);
}

TEST_F(Singletons, another_world_has_its_own_and_takes_it_along) {
    world.singleton<Wind>().gust = 1;
    {
        World other(entities);
        other.singleton<Wind>().gust = 9;
        EXPECT_EQ(entities.num_alive(), 2u);
    }
    EXPECT_EQ(entities.num_alive(), 1u);
    EXPECT_EQ(world.singleton<Wind>().gust, 1);
}

TEST_F(Singletons, a_singleton_whose_entity_died_is_made_again) {
    world.singleton<Wind>().gust = 9;
    entities.destroy(std::vector<Entity>{world.directory().singletons().entity()});
    EXPECT_EQ(world.singleton<Wind>().gust, 2);
    entities.destroy(std::vector<Entity>{world.directory().singletons().entity()});
    world.settle();
    EXPECT_EQ(world.singleton<Wind>().gust, 2);
    EXPECT_TRUE(entities.alive(world.directory().singletons().entity()));
}

TEST_F(Singletons, no_second_row_is_added) {
    world.singleton<Wind>().gust = 3;
    const std::vector<Entity> boats = make_boats(1);
    world.database();
    world.commands().add(boats[0], Wind{.gust = 4, .from = {}});
    world.settle();
    EXPECT_EQ(world.singleton<Wind>().gust, 3);
    world.commands().add(world.directory().singletons().entity(), Wind{.gust = 5, .from = {}});
    world.settle();
    EXPECT_EQ(world.singleton<Wind>().gust, 5) << "its own entity may be asked to";
    EXPECT_EQ(world.directory().singletons().require(schema_of<Wind>()).num_rows(), 1u);
    EXPECT_NE(world.directory()
                  .singletons()
                  .require(schema_of<Wind>())
                  .add_values(schema_of<Wind>(), boats, {})
                  .status()
                  .message()
                  .find("is a singleton: its one row belongs to another entity"),
              std::string_view::npos);
    EXPECT_NE(world.directory().claim<Tide>(world.database()).message().find("World::singleton()"),
              std::string_view::npos);
}

TEST_F(Singletons, a_loop_gets_the_value_for_each_row_in_the_order_of_the_terms) {
    make_boats(5000);
    world.singleton<Wind>().force = {1, 2, 3};
    world.singleton<Tide>().height = 4;
    ThreadedExecutor executor(2);
    auto sail = world.query<Singleton<Read<&Tide::height>>, Write<&Boat::velocity>, Singleton<Read<&Wind::force>>,
                            Read<&Boat::mass>, With<Boat>>();
    sail.for_each(executor, [](Entity, int height, auto&& velocity, Vec3 force, float mass) {
        velocity = force * mass + Vec3{0, 0, float(height)};
    });
    world.singleton<Tide>().height = 0;
    sail.for_each([](auto, auto&& velocity, const Vec3& force, auto) { velocity += force; });
    std::uint64_t num_right = 0;
    world.query<Read<all_fields<Boat>>>().for_each([&](const Boat& boat) {
        num_right += boat.velocity == Vec3{1, 2, 3} * boat.mass + Vec3{0, 0, 4} + Vec3{1, 2, 3};
    });
    EXPECT_EQ(num_right, 5000u);
    EXPECT_EQ(sail.num_rows(), 5000u);
    int num_missing = 0;
    world.query<Singleton<Read<all_fields<Wind>>>, Maybe<&Boat::mass>, With<Tide>>().for_each(
        [&](const Wind& wind, const float* mass) { num_missing += mass == nullptr && wind.gust == 2; });
    EXPECT_EQ(num_missing, 1) << "the row of the tide has no boat";
}

TEST_F(Singletons, loops_over_a_database_and_with_commands_get_them_too) {
    Database& sea = world.database();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(sea.create(Boat{.mass = float(i)}));
    world.singleton<Tide>().height = 50;
    world.query<Read<&Boat::mass>, Singleton<Read<&Tide::height>>>().for_each(
        [](Commands& commands, Entity boat, float mass, int height) {
            if (mass >= float(height)) commands.destroy(boat);
        });
    world.settle();
    EXPECT_EQ(sea.num_rows(), 50u);
}

TEST_F(Singletons, a_query_of_singletons_alone_visits_one_row_and_writes_it) {
    auto blow = world.query<Singleton<Write<&Wind::gust>>, Singleton<Read<&Tide::height>>>();
    EXPECT_EQ(blow.num_rows(), 1u);
    std::vector<std::vector<float>> told;
    world.observers().on_change<&Wind::gust>([&](std::span<const Entity>, std::span<const float> before) {
        told.emplace_back(before.begin(), before.end());
    });
    world.settle();
    Entity visited;
    blow.for_each([&](Entity entity, float& gust, int height) { gust += float(height), visited = entity; });
    EXPECT_EQ(visited, world.directory().singletons().entity());
    world.settle();
    EXPECT_EQ(told, (std::vector<std::vector<float>>{{2}})) << "what was written is marked, and observed";
    EXPECT_EQ(world.singleton<Wind>().gust, 7);
    world.query<Singleton<Read<&Wind::gust>>>().for_each([&](float gust) { EXPECT_EQ(gust, 7); });
    ThreadedExecutor executor(2);
    world.query<Singleton<Write<all_fields<Wind>>>>().for_each(executor, [](Wind& wind) { wind.gust = 8; });
    EXPECT_EQ(world.singleton<Wind>().gust, 8);
}

TEST_F(Singletons, the_schedule_orders_passes_by_the_singletons_that_they_name) {
    make_boats(100);
    ThreadedExecutor executor(2);
    World ordered(entities, {.executor = &executor});
    ordered.schedule().add("blow", ordered.query<Singleton<Write<&Tide::height>>>(),
                           [](const PassContext& frame, std::int32_t& height) { height += int(frame.dt); });
    std::vector<int> seen;
    ordered.schedule().add("look", ordered.query<Singleton<Read<&Tide::height>>>(),
                           [&](int height) { seen.push_back(height); });
    ordered.schedule().add("blow_again", ordered.query<Singleton<Write<&Tide::height>>>(),
                           [](std::int32_t& height) { height += 100; });
    for (int i = 0; i < 3; ++i) ordered.step(1);
    EXPECT_EQ(seen, (std::vector<int>{6, 107, 208}));
    const auto accesses = ordered.query<Singleton<Write<&Tide::height>>>().accesses();
    ASSERT_EQ(accesses.size(), 1u);
    EXPECT_TRUE(accesses[0].writes);
    EXPECT_TRUE(conflict(accesses[0], ordered.query<Singleton<Read<&Tide::height>>>().accesses()[0]));
}

TEST_F(Singletons, a_pass_may_not_ask_for_the_reference) {
    world.singleton<Wind>();
    world.schedule().add("ask", [&](PassContext&) { world.singleton<Wind>().gust = 1; });
    EXPECT_DEATH(world.step(1), "Singleton<Read<&T::field>>");
}

TEST_F(Singletons, fields_are_reached_by_name) {
    world.singleton<Wind>().gust = 3;
    EXPECT_EQ(world.get("wind.gust")->as<float>().value(), 3);
    EXPECT_TRUE(world.set("wind.force.z", 4.0f));
    EXPECT_EQ(world.singleton<Wind>().force.z, 4);
    EXPECT_EQ(world.get<float>(world.directory().singletons().entity(), "wind.gust").value(), 3);
    EXPECT_EQ(world.get("boat.mass").message(),
              "\"boat\" is not a singleton of this world; give the entity that has it");
    EXPECT_FALSE(world.set("wind.speed", 4.0f));
    world.entities().destroy(world.directory().singletons().entity());
    world.settle();
    for (const Status& status : {world.get("wind.gust").status(), world.set("wind.gust", 5.0f)})
        EXPECT_EQ(status.message(), "the singleton \"wind\" is not there; its entity was destroyed");
}

TEST_F(Singletons, a_blob_that_has_one_sets_it) {
    world.singleton<Wind>().gust = 3;
    const Result<Spawned> spawned = world.spawn(make_weather(6), {.copies = 2});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(spawned->num_components(), 1u) << "it is set once";
    EXPECT_EQ(world.singleton<Wind>().gust, 6);
    EXPECT_EQ(world.singleton<Wind>().from, spawned->entity(0, 1)) << "the last copy counts";
    EXPECT_EQ(world.directory().singletons().require(schema_of<Wind>()).num_rows(), 1u);
    ASSERT_TRUE(world.spawn(make_weather(8)));
    EXPECT_EQ(world.singleton<Wind>().gust, 8) << "the last spawn counts";
    World adopting(entities);
    ASSERT_TRUE(adopting.adopt_schemas(make_weather(9)));
    ASSERT_TRUE(adopting.spawn(make_weather(9)));
    EXPECT_EQ(adopting.singleton<Wind>().gust, 9) << "though its schema came in a blob";
    World fresh(entities);
    ASSERT_TRUE(fresh.spawn(make_weather(10)));
    EXPECT_EQ(fresh.singleton<Wind>().gust, 10) << "a spawn makes it";
}

TEST_F(Singletons, a_blob_that_fails_leaves_them_as_they_are) {
    world.singleton<Wind>().gust = 3;
    const Status failed = world.registry().set_spawn_function(
        "boat", [](void*, const SpawnBatch&) { return Status::error("no boats"); }, nullptr);
    ASSERT_TRUE(failed);
    BlobWriter writer;
    const std::uint32_t wind = *writer.add_component_type(schema_of<Wind>());
    const std::uint32_t boat = *writer.add_component_type(schema_of<Boat>());
    const std::uint32_t entity = writer.add_entity({});
    writer.add_component(wind, entity, blob_default_image(schema_of<Wind>()));
    writer.add_component(boat, entity, blob_default_image(schema_of<Boat>()));
    EXPECT_FALSE(world.spawn(*Blob::load(*writer.write())));
    EXPECT_EQ(world.singleton<Wind>().gust, 3);
}

TEST_F(Singletons, a_blob_has_one_at_most) {
    BlobWriter writer;
    const std::uint32_t wind = *writer.add_component_type(schema_of<Wind>());
    for (int i = 0; i < 2; ++i)
        writer.add_component(wind, writer.add_entity({}), blob_default_image(schema_of<Wind>()));
    EXPECT_NE(writer.write().message().find("of which a world has one"), std::string_view::npos);
}

TEST_F(Singletons, a_blob_that_calls_a_component_a_singleton_takes_no_rows_from_a_manager_of_many) {
    std::vector<Entity> boats = make_boats(100);
    Manager<Boat>& kept = world.manager<Boat>();
    EXPECT_NE(world.adopt_schemas(make_winds("boat", 1, true)).message().find("but the world has boat v1 {"),
              std::string_view::npos);
    EXPECT_FALSE(world.spawn(make_winds("boat", 1, true)));
    std::vector<Entity> airs(100);
    ASSERT_TRUE(entities.create(airs));
    const Blob many = make_winds("gale", 1, false), one = make_winds("gale", 1, true);
    const Schema& schema = *many.component_types()[0].schema;
    ComponentManager& gales = **world.manager(schema);
    ASSERT_TRUE(gales.add_images(airs, schema.default_image().data(), 0));
    const std::string_view problem = "\"gale\" is a singleton in it, but the world may have several";
    EXPECT_NE(world.spawn(one).message().find(problem), std::string_view::npos);
    EXPECT_NE(world.adopt_schemas(one).message().find("cannot adopt the schemas of \"winds\": " + std::string(problem)),
              std::string_view::npos);
    EXPECT_EQ(gales.num_rows(), 100u);
    EXPECT_EQ(kept.num_rows(), 100u);
    EXPECT_EQ(entities.num_alive(), 200u);
}

TEST_F(Singletons, what_an_older_blob_has_often_is_not_cut_to_one) {
    const Blob older = make_winds("wind", 5, false);
    ASSERT_TRUE(world.adopt_schemas(older));
    ASSERT_TRUE(world.spawn(older));
    EXPECT_DEATH(world.singleton<Wind>(), "by the schema of a blob without `singleton`");
    EXPECT_EQ((*world.manager(*older.component_types()[0].schema))->num_rows(), 5u);
}

TEST_F(Singletons, an_older_blob_with_several_is_refused) {
    world.singleton<Wind>().gust = 3;
    EXPECT_EQ(world.spawn(make_winds("wind", 2, false)).message(),
              "\"winds\" has 2 \"wind\", of which a world has one; leave one in the source");
    EXPECT_EQ(world.singleton<Wind>().gust, 3);
    EXPECT_EQ(entities.num_alive(), 1u);
    ASSERT_TRUE(world.spawn(make_winds("wind", 1, false)));
    EXPECT_EQ(world.singleton<Wind>().gust, 2) << "one is fine";
    entities.destroy(std::vector<Entity>{world.directory().singletons().entity()});
    ASSERT_TRUE(world.spawn(make_winds("wind", 1, false)));
    EXPECT_EQ(world.directory().singletons().require(schema_of<Wind>()).table().entities()[0],
              world.directory().singletons().entity())
        << "it was made again";
}

TEST_F(Singletons, they_are_saved_with_their_entity_and_come_back) {
    world.singleton<Wind>().gust = 3;
    const Entity saved = world.directory().singletons().entity();
    const Result<EntityBlob> blob = save_entities(world, std::span(&saved, 1));
    ASSERT_TRUE(blob) << blob.message();
    world.singleton<Wind>().gust = 30;
    ASSERT_TRUE(world.spawn(*Blob::load(blob->bytes)));
    EXPECT_EQ(world.singleton<Wind>().gust, 3);
    EXPECT_TRUE(Blob::load(blob->bytes)->component_types()[0].schema->singleton());
}

TEST(SingletonsOfSchemas, a_singleton_is_kept_whole_and_is_neither_many_nor_enableable) {
    ComponentDefinition definition;
    definition.name = "wind";
    definition.singleton = true;
    definition.fields.push_back({.name = "force", .type = FieldType::kVec3});
    definition.fields.push_back({.name = "gust", .type = FieldType::kFloat});
    const Schema schema = *Schema::make(definition);
    EXPECT_TRUE(schema.singleton() && schema.whole());
    EXPECT_EQ(schema.columns().size(), 1u);
    for (bool ComponentDefinition::* mark : {&ComponentDefinition::many, &ComponentDefinition::enableable}) {
        definition.*mark = true;
        EXPECT_EQ(Schema::make(definition).message(),
                  concat("component \"wind\": a world has one of a singleton, so it cannot be ",
                         definition.many ? "many" : "enableable", " as well; remove one of them"));
        definition.*mark = false;
    }
    definition.fields.clear();
    EXPECT_EQ(Schema::make(definition).message(),
              "component \"wind\": a singleton without fields says nothing; give it a field, or remove `singleton`");
}

TEST_F(Singletons, a_query_of_singletons_alone_does_not_ask_whether_their_entity_is_active) {
    world.singleton<Tide>().height = 8;
    ASSERT_TRUE(world.activity().set_active(world.directory().singletons().entity(), false));
    std::uint32_t num_calls = 0;
    world.query<Singleton<Write<&Tide::height>>>().for_each([&](std::int32_t& height) { ++num_calls, ++height; });
    EXPECT_EQ(num_calls, 1u);
    EXPECT_EQ(world.singleton<Tide>().height, 9);
}

}  // namespace

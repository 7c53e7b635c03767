// Named values in a world: set by commands, copied, saved and loaded, read and written by name.

#include "shoal/components/properties.h"

#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/state_hash.h"
#include "shoal/world/copy.h"
#include "shoal/world/entity_blob.h"
#include "shoal/world/world.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace properties_test {
namespace {

using namespace shoal;

struct Tank {
    int number = 0;
};
SHOAL_COMPONENT(Tank, number)

const char* const kPaths[] = {"armor", "crew", "decks", "paint", "range", "speed"};
constexpr std::uint32_t kNumPaths = 6;

/// The values of an entity by path; each is a list of numbers.
using Values = std::map<std::string, std::vector<float>>;

BlobArrayBase add_table(BlobWriter& writer, const Values& values) {
    std::map<StringId, const std::vector<float>*> sorted;
    for (const auto& [path, numbers] : values) {
        sorted[StringId(path)] = &numbers;
        EXPECT_TRUE(writer.add_text(path));
    }
    std::vector<PropertyEntry> entries;
    std::map<StringId, std::vector<std::uint32_t>> words;
    for (const auto& [path, numbers] : sorted) {
        for (const float number : *numbers) words[path].push_back(std::bit_cast<std::uint32_t>(number));
        entries.push_back({path, {PropertyType::kFloat, 1, std::uint32_t(numbers->size())}, words[path]});
    }
    const Array<std::uint32_t> table = make_property_table(entries);
    return writer.add_array(FieldType::kUint32, std::as_bytes(std::span(table)));
}

const Values kTemplate = {{"armor", {20}}, {"decks", {1, 2, 3, 4, 5, 6}}, {"speed", {5}}};
const Values kOverrides = {{"armor", {30}}};

/// A blob with one entity that has the template, and overrides values.
std::vector<std::byte> tank_blob(const Values& overrides = kOverrides) {
    BlobWriter writer;
    writer.set_name("tank");
    Properties properties;
    static_cast<BlobArrayBase&>(properties.values) = add_table(writer, kTemplate);
    static_cast<BlobArrayBase&>(properties.overrides) = add_table(writer, overrides);
    const std::uint32_t entity = writer.add_entity({});
    writer.add_component(*writer.add_component_type(schema_of<Properties>()), entity,
                         std::as_bytes(std::span(&properties, 1)));
    writer.add_component(*writer.add_component_type(schema_of<Tank>()), entity, blob_default_image(schema_of<Tank>()));
    return *writer.write();
}

Values template_values() {
    Values values = kOverrides;
    values.insert(kTemplate.begin(), kTemplate.end());
    return values;
}

/// Returns all values of an entity, those for which `filter` is true.
Values values_of(const World& world, const PropertyManager& properties, Entity entity) {
    Values values;
    properties.for_each(entity, [&](StringId path, const PropertyView& value) {
        std::vector<float> numbers(value.count());
        EXPECT_EQ(value.read(std::span(numbers)), numbers.size());
        EXPECT_TRUE(values.emplace(world.strings().text(path), numbers).second) << "a path came twice";
    });
    return values;
}

struct PropertiesOfWorld : ::testing::Test {
    ResourceLibrary library;
    EntityManager entities;
    World world{entities, {.library = &library}};
    const Blob& tanks = *library.load(tank_blob()).value();

    Entity spawn() {
        world.manager<Tank>();
        return world.spawn(tanks).value().entity(0);
    }
    Values values(Entity entity) { return values_of(world, world.properties(), entity); }
};

// req: D6
TEST_F(PropertiesOfWorld, commands_override_values_and_take_overrides_away) {
    const Entity tank = spawn();
    world.commands().add(tank, PropertyValue("armor", 35));
    world.commands().add(tank, PropertyValue("paint", "red"));
    world.settle();
    EXPECT_EQ(world.properties().get<float>(tank, "armor").value(), 35);
    world.commands().add(tank, PropertyValue("armor", 1));
    world.commands().add(tank, PropertyValue("armor", 2), Tank{7});
    world.commands().add(tank, PropertyValue::none("paint"));
    world.settle();
    EXPECT_EQ(world.properties().get<float>(tank, "armor").value(), 2) << "the last counts";
    EXPECT_FALSE(world.properties().has(tank, "paint"));
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 0u);
    const float decks[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
    for (const PropertyValue& part : PropertyValue::parts_of("decks", decks)) world.commands().add(tank, part);
    world.settle();
    EXPECT_EQ(values(tank)["decks"], std::vector<float>(std::begin(decks), std::end(decks)));
    world.commands().add(tank, PropertyValue());
    world.settle();
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u) << "a value without a path is none";
    world.commands().remove<PropertyValue>(tank);
    world.settle();
    EXPECT_EQ(values(tank), template_values());
    const Entity made = world.commands().create(Tank{3}, PropertyValue("crew", 4));
    static_cast<void>(made);
    world.settle();
    EXPECT_EQ(world.properties().get<float>(world.manager<Tank>().entities().back(), "crew").value(), 4);
}

// req: D6
TEST_F(PropertiesOfWorld, copies_and_saved_entities_keep_all_values) {
    const Entity tank = spawn();
    ASSERT_TRUE(world.properties().set(tank, "crew", 4));
    ASSERT_TRUE(world.properties().set_array(tank, "range", std::vector<float>{1, 2, 3, 4, 5}));
    Values expected = template_values();
    expected["crew"] = {4};
    expected["range"] = {1, 2, 3, 4, 5};
    const Entity copy = shoal::copy(world, tank).value().entity(0);
    EXPECT_EQ(values(copy), expected);
    ASSERT_TRUE(world.properties().reset(copy, "range"));
    EXPECT_EQ(values(tank), expected) << "a copy has values of its own";

    ASSERT_TRUE(world.properties().set(tank, "paint", "dark grey"));
    const Result<EntityBlob> saved = save_entities(world, {&tank, 1}, {.name = "saved"});
    ASSERT_TRUE(saved.ok()) << saved.message();
    EntityManager others;
    ResourceLibrary shelf;
    World loaded(others, {.library = &shelf});
    loaded.manager<Tank>();
    const Result<const Blob*> blob = shelf.load(saved->bytes);
    ASSERT_TRUE(blob.ok()) << blob.message();
    const Entity again = loaded.spawn(**blob).value().entity(0);
    EXPECT_EQ(loaded.properties().text(again, "paint"), "dark grey") << "with the texts of strings";
    ASSERT_TRUE(loaded.properties().reset(again, "paint"));
    EXPECT_EQ(values_of(loaded, loaded.properties(), again), expected) << "and of paths";
    ASSERT_TRUE(loaded.properties().set(again, "armor", 1));
    ASSERT_TRUE(loaded.properties().reset(again, "armor"));
    EXPECT_EQ(loaded.properties().get<float>(again, "armor").value(), 30);
    const std::vector<std::byte> big = swap_endianness(saved->bytes).value();
    EXPECT_EQ(swap_endianness(big).value(), saved->bytes);
}

TEST_F(PropertiesOfWorld, tables_pin_their_blob) {
    const Entity tank = spawn();
    EXPECT_FALSE(library.unload("tank"));
    entities.destroy(tank);
    world.settle();
    EXPECT_TRUE(library.unload("tank"));
}

TEST_F(PropertiesOfWorld, values_are_read_and_written_by_name) {
    const Entity tank = spawn();
    EXPECT_EQ(world.get(tank, "properties.armor").value().as<float>().value(), 30);
    ASSERT_TRUE(world.set(tank, "properties.armor.front", Vec3{1, 2, 3}));
    ASSERT_TRUE(world.set(tank, "properties.paint", "red"));
    ASSERT_TRUE(world.set(tank, "properties.crew", 4));
    EXPECT_EQ(world.get(tank, "properties.armor.front").value().to_text(), "[1.0 2.0 3.0]");
    EXPECT_EQ(world.get(tank, "properties.paint").value().to_text(&world.strings()), "\"red\"");
    EXPECT_EQ(world.get(tank, "properties.crew").value().as<std::int64_t>().value(), 4);
    EXPECT_EQ(world.get(tank, "properties.decks").value().to_text(), "[1.0 2.0 3.0 4.0 5.0 6.0]");
    EXPECT_EQ(world.get(tank, "properties.crw").message(), "entity 1:1 has no value \"crw\"; did you mean \"crew\"?");
    EXPECT_EQ(world.set(tank, "properties.turn", Quaternion()).message(),
              "the properties of an entity are bools, integers, floats, strings and vectors; \"turn\" cannot be [0.0 "
              "0.0 0.0 1.0]");
    EXPECT_EQ(world.get<float>(tank, "properties.armor").message(),
              "\"properties.armor\" is a named value and no field; read it with PropertyManager::get(), or with "
              "World::get() "
              "without a type");
    EXPECT_EQ(world.find_field("properties.armor").message(), world.get<float>(tank, "properties.armor").message());
    World empty(entities);
    EXPECT_FALSE(empty.get(tank, "properties.armor"));
    ASSERT_TRUE(empty.set(tank, "properties.armor", 2.5f)) << "makes the store";
    EXPECT_EQ(empty.properties().get<float>(tank, "armor").value(), 2.5f);
}

TEST_F(PropertiesOfWorld, queries_find_who_has_values_and_do_not_write_them) {
    const Entity tank = spawn();
    int count = 0;
    world.query<With<Properties>, Read<&Tank::number>>().for_each([&](int) { ++count; });
    EXPECT_EQ(count, 1);
    EXPECT_EQ(*world.directory().require(schema_of<PropertyValue>()), &world.properties());
    EXPECT_EQ(world.directory().find(ComponentId("properties")), &world.properties());
    EXPECT_TRUE(entities.alive(tank));
}

// --- against a naive model -----------------------------------------------------------------------------------------

/// What each entity has, beside a world that should have the same.
struct Model {
    explicit Model(Executor& executor) : world(entities, {.executor = &executor, .library = &library}) {
        blob = library.load(tank_blob()).value();
        world.manager<Tank>();
        world.schedule().add("ask", world.query<With<Tank>>().grain(4),
                             [this](const PassContext&, Commands& commands, Entity entity) {
                                 Random random(seed + entity.id);
                                 for (int i = 0; i < 3; ++i) ask(commands, random, entity);
                             });
    }

    Values merged(Entity entity) const {
        Values values = own.at(entity);
        if (has_template.at(entity)) {
            const Values below = template_values();
            values.insert(below.begin(), below.end());
        }
        return values;
    }
    void check() {
        for (const auto& [entity, values] : own)
            ASSERT_EQ(values_of(world, world.properties(), entity), merged(entity));
        ASSERT_TRUE(world.properties().validate());
    }
    void add(Entity entity, bool is_tank, Values values) {
        own[entity] = std::move(values);
        has_template[entity] = is_tank;
    }
    /// Makes a random change, in the world and here.
    void change(Random& random) {
        std::vector<Entity> living;
        for (const auto& [entity, values] : own) living.push_back(entity);
        const Entity entity = living.empty() ? kNullEntity : living[random.below(std::uint32_t(living.size()))];
        const std::string path = kPaths[random.below(kNumPaths)];
        const std::uint32_t what = living.size() < 5 ? 0 : random.below(14);
        if (what == 0) {
            const Spawned spawned = world.spawn(*blob, {.copies = 3}).value();
            for (const Entity made : spawned.entities()) add(made, true, {});
        } else if (what == 1) {
            add(entities.create().value(), false, {});
        } else if (what == 2 && living.size() < 60) {
            const Result<Spawned> copied = copy(world, entity);
            ASSERT_TRUE(copied.ok()) << copied.message();
            const Entity copy = copied->entity(0);
            add(copy, has_template[entity], own[entity]);
        } else if (what == 3) {
            entities.destroy(entity);
            own.erase(entity);
        } else if (what < 7) {
            EXPECT_EQ(world.properties().reset(entity, path), own[entity].erase(path) != 0);
        } else {
            std::vector<float> numbers(random.below(11));
            for (float& number : numbers) number = random.unit();
            const Status set = world.properties().set_array(entity, path, numbers);
            EXPECT_TRUE(set.ok()) << set.message();
            own[entity][path] = numbers;
        }
    }
    /// Asks for changes of all tanks in a pass, and makes them here.
    void change_in_pass(std::uint64_t number) {
        seed = number;
        for (auto& [entity, values] : own) {
            Random random(seed + entity.id);
            for (int i = 0; i < 3 && has_template[entity]; ++i) make(random, values);
        }
        world.step(0);
    }
    static void ask(Commands& commands, Random& random, Entity entity) {
        const char* const path = kPaths[random.below(kNumPaths)];
        const std::uint32_t count = random.below(8);
        if (count == 0) return commands.add(entity, PropertyValue::none(path));
        if (count == 7) return commands.remove<PropertyValue>(entity);
        const std::vector<float> numbers(count, random.unit());
        for (const PropertyValue& part : PropertyValue::parts_of(path, numbers)) commands.add(entity, part);
    }
    static void make(Random& random, Values& values) {
        const char* const path = kPaths[random.below(kNumPaths)];
        const std::uint32_t count = random.below(8);
        if (count == 0) values.erase(path);
        if (count == 7) values.clear();
        if (count != 0 && count != 7) values[path] = std::vector<float>(count, random.unit());
    }

    ResourceLibrary library;
    EntityManager entities;
    World world;
    const Blob* blob = nullptr;
    std::map<Entity, Values> own;
    std::map<Entity, bool> has_template;
    std::uint64_t seed = 0;  // of the pass
};

// req: D6
TEST(PropertiesModel, a_world_has_what_a_map_per_entity_has_with_1_2_3_and_8_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    std::vector<std::uint64_t> hashes;
    for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        Random random(shoal_test::seed());
        Model model(executor);
        for (int frame = 0; frame < 60; ++frame) {
            for (int i = 0; i < 20; ++i) model.change(random);
            std::erase_if(model.own, [&](const auto& one) { return !model.entities.alive(one.first); });
            model.check();
            model.change_in_pass(random.next());
            model.check();
            if (::testing::Test::HasFatalFailure()) return;
        }
        hashes.push_back(state_hash(model.world));
        ASSERT_TRUE(model.world.entities().num_alive() > 10);
    }
    for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, hashes.front());
}

TEST(PropertiesReload, what_the_program_has_set_stays_on_top_of_what_the_newer_source_says) {
    shoal_test::LeakCheck leaks;
    ResourceLibrary library;
    EntityManager entities;
    World world(entities, {.library = &library});
    Reloader reloader(world);
    world.manager<Tank>();
    const Result<Spawned> tanks = world.spawn(**library.load(tank_blob()), {.copies = 2});
    ASSERT_TRUE(tanks.ok()) << tanks.message();
    ASSERT_TRUE(world.properties().set(tanks->entity(0, 1), "armor", 99.0f).ok());
    {
        const Result<Blob> before = library.replace(*Blob::load(tank_blob({{"armor", {40}}, {"crew", {3}}})));
        ASSERT_TRUE(before.ok()) << before.message();
        const Result<ReloadReport> report = reloader.reload(*before, *library.find("tank"));
        ASSERT_TRUE(report.ok()) << report.message();
        EXPECT_EQ(report->num_changed, 2u);
    }
    const Values expected = {{"armor", {40}}, {"crew", {3}}, {"decks", {1, 2, 3, 4, 5, 6}}, {"speed", {5}}};
    EXPECT_EQ(values_of(world, world.properties(), tanks->entity(0, 0)), expected);
    EXPECT_EQ(world.properties().get<float>(tanks->entity(0, 1), "armor").value(), 99);
    EXPECT_EQ(world.properties().get<float>(tanks->entity(0, 1), "crew").value(), 3);
    ASSERT_TRUE(world.properties().reset(tanks->entity(0, 1), "armor"));
    EXPECT_EQ(values_of(world, world.properties(), tanks->entity(0, 1)), expected);
}

}  // namespace
}  // namespace properties_test

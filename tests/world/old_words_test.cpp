// Blobs and saves of a program from before reactions were called observers, data properties, and places position links.
// tests/world/old_words has them: a tank with data, and a world with two tanks that are told of, one change that was not told
// yet, and a command that waits.

#include "shoal/components/properties.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/library.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace old_words_test {

using namespace shoal;

const std::string kFolder = SHOAL_SOURCE_DIR "/tests/world/old_words/";

struct Tank {
    int number = 0;
    Vec3 place{};
};
SHOAL_COMPONENT(Tank, number, place)

struct OldWords : ::testing::Test {
    OldWords() {
        Result<Blob> blob = Blob::read(kFolder + "tank.blob");
        if (blob) EXPECT_TRUE(library.add(std::move(*blob)).ok());
    }
    void SetUp() override {
        if (sizeof(Entity) != 4) GTEST_SKIP() << "the files have 32-bit ids";
        tank = library.find(ResourceId(std::string_view("tank")));
        ASSERT_NE(tank, nullptr);
    }

    ResourceLibrary library;
    EntityManager entities;
    World world{entities, {.library = &library}};
    const Blob* tank = nullptr;
};

TEST_F(OldWords, a_blob_with_data_is_spawned_with_properties) {
    const Result<Spawned> spawned = world.spawn(*tank);
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    const Entity one = spawned->entity(0);
    ASSERT_TRUE(world.set(one, "data.crew", 4).ok());
    EXPECT_EQ(world.properties().get<float>(one, "armor.front").value(), 20);
    EXPECT_EQ(world.get(one, "properties.armor.rear").value().as<std::int64_t>().value(), 8);
    EXPECT_EQ(world.get(one, "data.armor.rear").value().as<std::int64_t>().value(), 8) << "by the path of then, too";
    EXPECT_EQ(world.properties().text(one, "paint"), "grey");
    EXPECT_EQ(world.properties().get<int>(one, "crew").value(), 4);
}

/// A component type of a program that has the name of one that shoal had.
Schema data_of_a_program() {
    ComponentDefinition definition;
    definition.name = "data";
    definition.fields = {{.name = "size", .type = FieldType::kFloat}};
    return Schema::make(std::move(definition)).value();
}

TEST(OldWordsOfPrograms, are_theirs_in_blobs_saves_and_paths) {
    const Schema schema = data_of_a_program();
    const float sizes[] = {3, 4};
    BlobWriter writer;
    const Result<std::uint32_t> type = writer.add_component_type(schema);
    ASSERT_TRUE(type.ok());
    for (const float& size : sizes)
        writer.add_component(*type, writer.add_entity({}), std::as_bytes(std::span(&size, 1)));
    const Blob blob = Blob::load(writer.write().value()).value();

    EntityManager entities, others;
    World world(entities), other(others);
    ASSERT_TRUE(world.manager(schema).ok());
    const Result<Spawned> spawned = world.spawn(blob);
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    const Entity one = spawned->entity(1);
    ASSERT_TRUE(world.set(spawned->entity(0), "data.size", 7.0f).ok());
    EXPECT_EQ(world.get<float>(spawned->entity(0), "data.size").value(), 7);
    EXPECT_EQ(find_properties(world.directory()), nullptr) << "nobody asked for them";

    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(world, bytes).ok());
    const Status loaded = load(other, bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(other.get<float>(one, "data.size").value(), 4);
    EXPECT_EQ(state_hash(other), state_hash(world));
}

TEST_F(OldWords, a_save_goes_on_where_the_older_program_ended) {
    int num_came = 0;
    std::vector<Entity> changed;
    world.manager<Tank>(), world.transforms(), world.properties();
    world.observers().on_add<Tank>([&](std::span<const Entity> entities) { num_came += int(entities.size()); });
    world.observers().on_change<&Tank::number>(
        [&](std::span<const Entity> entities) { changed.insert(changed.end(), entities.begin(), entities.end()); });
    world.observers().keep_journal(1000);
    world.position_links().follow<&Tank::place>(Follower::kField);
    const Status loaded = load(world, kFolder + "tank.save");
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    const auto tanks = world.manager<Tank>().entities();
    ASSERT_EQ(tanks.size(), 2u);
    const Entity plain = tanks[0], other = tanks[1];

    EXPECT_EQ(world.properties().get<float>(plain, "armor.front").value(), 35);
    EXPECT_EQ(world.properties().text(plain, "paint"), "red");
    world.step(0.1f);
    EXPECT_EQ(num_came, 0) << "of the tanks the older program was told";
    EXPECT_EQ(changed, std::vector<Entity>{other}) << "of the change it was not";
    EXPECT_EQ(world.properties().get<float>(other, "speed").value(), 2.5f) << "the command that waited";
    EXPECT_EQ(world.manager<Tank>().get<&Tank::place>(world.manager<Tank>().instance(other)), (Vec3{4, 5, 6}));

    // What was spawned has the values of its template, and its own.
    std::vector<Entity> spawned;
    world.query<With<Properties>>().for_each([&](Entity entity) { spawned.push_back(entity); });
    ASSERT_EQ(spawned.size(), 1u);
    EXPECT_EQ(world.properties().get<float>(spawned[0], "armor.front").value(), 20);
    EXPECT_EQ(world.properties().get<float>(spawned[0], "armor.rear").value(), 9);
    EXPECT_TRUE(world.properties().validate().ok());

    // Saved again, it has the words of today.
    Snapshot again;
    ASSERT_TRUE(save(world, again).ok());
    for (std::size_t i = 0; i < again.num_parts(); ++i) {
        const std::string_view path = again.part(i).path;
        EXPECT_FALSE(path.starts_with("reactions/") || path.starts_with("places/") || path.starts_with("stores/data/"))
            << path;
    }
}

}  // namespace old_words_test

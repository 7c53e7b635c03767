// What a source says of zones, and of what is disabled, is done when it is spawned.

#include "shoal/database/spawn_zone.h"

#include "shoal/database/database.h"
#include "shoal/resource/spawner.h"
#include "support/source_fixture.h"
#include "support/stores.h"

namespace shoal_test {
namespace {

struct Food {
    float grams = 1;
};
SHOAL_COMPONENT(Food, grams)

struct Asleep {
    std::uint32_t since = 3;
};
SHOAL_COMPONENT((Asleep, enableable), since)

class SpawnZoneSource : public SourceTest {
protected:
    SpawnZoneSource() {
        EXPECT_TRUE(registry.add<SpawnZone>().ok());
        EXPECT_TRUE(registry.add<SpawnDisabled>().ok());
        EXPECT_TRUE(registry.add<Food>().ok());
        EXPECT_TRUE(registry.add<Asleep>().ok());
        database.component<Food>();
        database.component<Asleep>();
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
};

TEST_F(SpawnZoneSource, zones_are_inherited_and_what_is_disabled_is_disabled) {
    file("x.sjson", R"(
        components = { zone = { zone = 12 }  food = {} }
        children = {
            one = { name = "near"  components = { food = { grams = 2 }  asleep = { since = 8 }
                                                  disabled = { component = "asleep" } } }
            two = { name = "far"   components = { food = { grams = 3 }  asleep = {}  zone = 7 } }
        })");
    const Result<CompiledSource> source = compiled("x.sjson");
    ASSERT_TRUE(source.ok()) << source.message() << diagnostics.format();
    const Result<Blob> blob = Blob::load(source->blob);
    ASSERT_TRUE(blob.ok()) << blob.message();
    Store* stores[] = {&database};
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob, {.fail_on_unknown = true});
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    const Entity near = spawned->find("near"), far = spawned->find("far");
    ASSERT_TRUE(near && far);
    EXPECT_EQ(database.find(spawned->entity(0)).table->zone(), 12u);
    EXPECT_EQ(database.find(near).table->zone(), 12u);
    EXPECT_EQ(database.find(far).table->zone(), 7u);
    EXPECT_FALSE(database.has<Asleep>(near));
    EXPECT_EQ(database.get<&Asleep::since>(database.find(near)), 8u);
    EXPECT_TRUE(database.has<Asleep>(far));
}

TEST_F(SpawnZoneSource, a_zone_out_of_range_is_an_error_in_its_line) {
    file("x.sjson", "components = {\n    zone = { zone = 4194304 }\n}");
    EXPECT_FALSE(compiled("x.sjson").ok());
    EXPECT_NE(diagnostics.format().find("x.sjson:2:21: error:"), std::string::npos) << diagnostics.format();
}

}  // namespace
}  // namespace shoal_test

// A blob from before `disabled` had its name is spawned as if it had it.

#include "shoal/database/spawn_zone.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"

#include "support/database_fixture.h"
#include "support/stores.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal_test {
namespace {

/// What asks that a component is disabled, with the name that it had.
const Schema& old_word() {
    static const Schema schema =
        Schema::make(
            {.name = "switched_off", .many = true, .fields = {{.name = "component", .type = FieldType::kStringId}}})
            .value();
    return schema;
}

struct OldWords : ::testing::Test, DatabaseFixture {
    /// A blob with two entities that are asleep, the second of which is not, by these instructions.
    static Blob make_blob(std::span<const Schema* const> instructions) {
        BlobWriter writer;
        const std::uint32_t first = writer.add_entity({}), second = writer.add_entity({});
        const std::uint32_t asleep = writer.add_component_type(schema_of<Asleep>()).value();
        const Asleep value{5};
        for (const std::uint32_t entity : {first, second})
            writer.add_component(asleep, entity, std::as_bytes(std::span(&value, 1)));
        for (const Schema* const instruction : instructions) {
            const SpawnDisabled says{ComponentId("asleep")};
            writer.add_component(writer.add_component_type(*instruction).value(), second,
                                 std::as_bytes(std::span(&says, 1)));
        }
        return Blob::load(writer.write().value()).value();
    }
};

TEST_F(OldWords, a_component_that_was_disabled_by_its_old_name_is_disabled) {
    const Schema* const instructions[] = {&old_word()};
    const Blob blob = make_blob(instructions);
    EXPECT_NE(blob.find_components(schema_of<SpawnDisabled>().id()), nullptr);
    EXPECT_EQ(blob.find_components(old_word().id()), nullptr);
    database.component<Asleep>();
    Store* stores[] = {&database};
    const Result<Spawned> spawned = spawn({Stores(entities, stores)}, blob, {.fail_on_unknown = true});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(database.has<Asleep>(spawned->entity(0)));
    EXPECT_FALSE(database.has<Asleep>(spawned->entity(1)));
    EXPECT_EQ(database.get<&Asleep::since>(database.find(spawned->entity(1))), 5);
}

TEST_F(OldWords, a_component_type_of_that_name_with_other_fields_or_beside_the_new_one_keeps_its_name) {
    const Schema other =
        Schema::make({.name = "switched_off", .fields = {{.name = "component", .type = FieldType::kUint64}}}).value();
    const Schema *const others[] = {&other}, *const both[] = {&old_word(), &schema_of<SpawnDisabled>()};
    EXPECT_NE(make_blob(others).find_components(other.id()), nullptr);
    EXPECT_NE(make_blob(both).find_components(old_word().id()), nullptr);
}

}  // namespace
}  // namespace shoal_test

// What the headers of table and store show.

#include "shoal/components/point_mass.h"
#include "shoal/store/stable_span.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace glm {
struct vec3 {
    float x, y, z;
};
}  // namespace glm

// [table/field]
template <>
struct shoal::FieldTraits<glm::vec3> : shoal::PlainField<shoal::FieldType::kVec3> {};
// [table/field]

namespace shoal_test {
namespace {

using namespace shoal;

// [table/describe]
struct Body {
    float mass = 1;
    Vec3 position, velocity, acceleration;
};
SHOAL_COMPONENT(Body, (mass, unit("kg"), range(0, 1e9)), (position, unit("m"), split), velocity, acceleration)
// [table/describe]

// [table/describe_enum]
enum class Shape : std::uint8_t { kBox, kSphere };
SHOAL_ENUM(Shape, (kBox, "box"), (kSphere, "sphere"))  // or plain: SHOAL_ENUM(Shape, kBox, kSphere)
// [table/describe_enum]

struct Stone {
    Shape shape = Shape::kBox;
    glm::vec3 place{};
};
SHOAL_COMPONENT(Stone, shape, place)

TEST(TableManuals, a_declaration_says_what_the_schema_has) {
    EXPECT_EQ(schema_of<Body>().fields().size(), 4u);
    EXPECT_EQ(schema_of<Body>().columns().size(), 6u) << "the position is split";
    EXPECT_EQ(schema_of<Stone>().fields()[0].type, FieldType::kEnum);
    EXPECT_EQ(schema_of<Stone>().fields()[1].type, FieldType::kVec3);
}

float total = 0;

Status weigh(World& world, std::span<const Entity> stones, Entity stone, float dt) {
    // [store/manager]
    Manager<PointMass>& masses = world.manager<PointMass>();
    if (auto added = masses.add(stones, {.mass = 2}); !added) return added.status();  // a span: the real operation
    if (auto i = masses.instance(stone)) {                                            // one look-up,
        masses.set<&PointMass::mass>(i, 3);                                           // many fields
        masses.set<&PointMass::position>(i, {0, 0, masses.get<&PointMass::position>(i).z + 1});
    }
    for (float m : masses.column<&PointMass::mass>()) total += m;  // packed
    Column v = masses.write_column<&PointMass::velocity>();        // marks the column as written
    for (std::size_t row = 0; row < v.size(); ++row) v[row].z -= 9.81f * dt;
    // [store/manager]
    return {};
}

TEST(StoreManuals, a_manager_keeps_fields_packed) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> stones(3);
    ASSERT_TRUE(entities.create(stones));
    EXPECT_TRUE(weigh(world, stones, stones[1], 1));
    EXPECT_EQ(total, 7);
    EXPECT_EQ(world.manager<PointMass>().value(world.manager<PointMass>().instance(stones[1])).position,
              (Vec3{0, 0, 1}));
}

/// Removes entities from a list and returns how many it has removed.
std::size_t remove_all(std::vector<Entity>& listed, std::span<const Entity> given) {
    std::size_t num_removed = 0;
    const auto remove = [&](Entity entity) { num_removed += std::erase(listed, entity); };
    const std::span<const Entity> own = listed;
    // [store/stable_span]
    const StableSpan stable(given, own);  // copied only if the two share memory
    for (Entity entity : stable.get()) remove(entity);
    // [store/stable_span]
    return num_removed;
}

TEST(StoreManuals, a_list_may_be_given_itself_to_remove) {
    EntityManager entities;
    std::vector<Entity> listed(5);
    ASSERT_TRUE(entities.create(listed));
    EXPECT_EQ(remove_all(listed, listed), 5u);
}

}  // namespace
}  // namespace shoal_test

// What the headers of table and store show.

#include "shoal/components/point_mass.h"
#include "shoal/document/sjson.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/stable_span.h"
#include "shoal/transform/transform.h"
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

// [table/describe_template]
template <class Of>
struct Stock {
    float amount = 0;
};
SHOAL_COMPONENT_TEMPLATE((class Of), (Stock<Of>, name(Of::kStockName)), amount)  // each has its own name
// [table/describe_template]
struct Kelp {
    static constexpr const char* kStockName = "kelp_stock";
};

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
    EXPECT_EQ(schema_of<Stock<Kelp>>().name(), "kelp_stock");
    EXPECT_EQ(schema_of<Stone>().fields()[0].type, FieldType::kEnum);
    EXPECT_EQ(schema_of<Stone>().fields()[1].type, FieldType::kVec3);
}

float total = 0;

TEST(TableManuals, a_value_of_any_type_is_held_and_written_as_text) {
    float total = 0;
    // [table/any_value]
    AnyValue speed = 2.5f;                                           // a float
    if (Result<float> number = speed.as<float>()) total += *number;  // any other type is an error
    AnyValue shape = "box";                                          // a string, enumerator or string id
    std::string line = AnyValue(Vec3{1, 2, 3}).to_text();            // [1.0 2.0 3.0]
    // [table/any_value]
    EXPECT_EQ(total, 2.5f);
    EXPECT_EQ(shape.text(), "box");
    EXPECT_EQ(line, "[1.0 2.0 3.0]");
    const Field& field = schema_of<Body>().fields()[1];
    const std::byte* bytes = schema_of<Body>().default_image().data() + field.struct_offset;
    const PlainNames names;
    {
        // [table/value_text]
        DocumentBuilder builder;
        write_value(builder, value_type_of(field), bytes, names);
        std::string text = write_sjson_line(builder.finish().root());  // [0.0 0.0 3.0]
        // [table/value_text]
        EXPECT_EQ(text, "[0.0 0.0 0.0]");
    }
}

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

TEST(TableManuals, a_loop_over_a_column_fits_every_layout) {
    EntityManager entities;
    World world(entities);
    Manager<Body>& bodies = world.manager<Body>();
    const float dt = 1, drag = 0.5f;
    std::vector<Entity> stones(3);
    ASSERT_TRUE(entities.create(stones));
    ASSERT_TRUE(bodies.add(stones, {.position = {}, .velocity = {2, 0, 9.81f}, .acceleration = {}}));
    // [table/column]
    for (auto&& velocity : bodies.write_column<&Body::velocity>()) {
        velocity.z -= 9.81f * dt;
        velocity *= 1 - drag * dt;
    }
    // [table/column]
    for (const Vec3& velocity : bodies.column<&Body::velocity>()) EXPECT_EQ(velocity, (Vec3{1, 0, 0}));
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

Status find_stores(EntityManager& entities, Store& masses, Store*& kept, Store*& missing) {
    // [store/component_directory]
    ComponentDirectory directory(entities);
    if (Status added = directory.add(masses); !added) return added;    // from now on, `masses` keeps its type
    Store* store = directory.find(schema_of<PointMass>().id());        // nullptr: no store keeps it
    Result<Store*> found = directory.require(schema_of<Transform>());  // a world may create the store
    // [store/component_directory]
    kept = store, missing = *found;
    return found.status();
}

TEST(StoreManuals, a_directory_knows_who_keeps_what) {
    EntityManager entities;
    PagePool pool;
    Manager<PointMass> masses(entities, pool);
    Store *kept = nullptr, *missing = &masses.core();
    EXPECT_TRUE(find_stores(entities, masses.core(), kept, missing).ok());
    EXPECT_EQ(kept, &masses.core());
    EXPECT_EQ(missing, nullptr) << "without an owner, nobody makes stores";
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

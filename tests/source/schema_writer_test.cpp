// Schema files written from schemas: what they say when they are read again.

#include "shoal/base/file.h"
#include "shoal/world/world.h"
#include "support/source_fixture.h"

#include <array>
#include <cstring>
#include <limits>
#include <memory>

namespace shoal_test {
namespace ship {

enum class State : std::uint8_t { kIdle, kBusy };
SHOAL_ENUM(State, (kIdle, "idle"), (kBusy, "busy"))
enum class Rank : std::int16_t { kLow = -1, kHigh = 7 };
SHOAL_ENUM(Rank, (kLow, "low rank"), (kHigh, "high"))

/// Every field type, most with a default of their own.
struct Hull {
    bool afloat = true;
    std::int8_t heel = -3;
    std::uint64_t number = ~std::uint64_t(0);
    std::int64_t debt = std::numeric_limits<std::int64_t>::min();
    float draught = 0.1f;
    double length = 1.0 / 3;
    Vec2 size{1, 2};
    Vec3 at{1, -2, 3.5f};
    Vec4 colour{};
    Quaternion turn;
    Quaternion mast{0, 0, 1, 0};
    Matrix3x4 frame;
    State state = State::kIdle;
    State next = State::kBusy;
    Rank rank = Rank::kHigh;
    std::array<Rank, 2> ranks{Rank::kLow, Rank::kHigh};
    std::array<std::int16_t, 3> slots{1, 2, 3};
    FixedString<8> label{"a \"b\""};
    StringId home;
    ResourceId mesh;
    Entity target;
    BlobArray<float> path;
};
SHOAL_COMPONENT((Hull, version(3), many, enableable), afloat, heel, number, debt, (draught, unit("m"), range(0, 0.3)),
                (length, range(-1e300, 1e300)), size, (at, split, unit("m/s")), colour, turn, mast, frame, state, next,
                rank, ranks, slots, label, home, mesh, target, path)

struct Whole {
    std::uint8_t a = 7;
    double b = 2;
};
SHOAL_COMPONENT((Whole, whole), a, b)
struct Wind {
    Vec3 force{0, 0, 1};
    float gust = 2;
};
SHOAL_COMPONENT((Wind, singleton), force, gust)
struct Mark {};
SHOAL_COMPONENT(Mark)
struct Rope {
    Entity from, to, knot;
};
SHOAL_COMPONENT(Rope, (from, relation), (to, relation(cleared)), (knot, relation(dies_too)))

}  // namespace ship

namespace {

using namespace shoal;
using SchemaWriter = SourceTest;

void expect_equal(const Schema& a, const Schema& b) {
    EXPECT_EQ(a.to_text(), b.to_text());
    EXPECT_EQ(a.layout_hash(), b.layout_hash());
    ASSERT_EQ(a.fields().size(), b.fields().size());
    for (std::size_t i = 0; i < a.fields().size(); ++i) {
        const Field &field = a.fields()[i], &other = b.fields()[i];
        EXPECT_EQ(field.unit, other.unit) << field.name;
        EXPECT_EQ(field.relation, other.relation) << field.name;
        EXPECT_TRUE(field.has_range == other.has_range && field.minimum == other.minimum &&
                    field.maximum == other.maximum)
            << field.name;
        EXPECT_EQ(field.enumerators, other.enumerators) << field.name;
        EXPECT_EQ(std::memcmp(a.default_image().data() + field.struct_offset,
                              b.default_image().data() + other.struct_offset, field.size),
                  0)
            << "the default of " << field.name;
    }
    EXPECT_TRUE(a.many() == b.many() && a.enableable() == b.enableable() && a.whole() == b.whole() &&
                a.singleton() == b.singleton());
}

TEST_F(SchemaWriter, what_it_writes_declares_the_same_types) {
    const SchemaDeclaration all[] = {{&schema_of<ship::Hull>(), 7},
                                     {&schema_of<ship::Whole>(), -2},
                                     {&schema_of<ship::Wind>()},
                                     {&schema_of<ship::Mark>()},
                                     {&schema_of<ship::Rope>()}};
    const Result<std::string> text = write_schema_text(all);
    ASSERT_TRUE(text) << text.message();
    schema(*text);
    for (const SchemaDeclaration& declaration : all) {
        const RegisteredComponent* read = registry.find(declaration.schema->name());
        ASSERT_NE(read, nullptr);
        expect_equal(*read->schema, *declaration.schema);
        EXPECT_EQ(read->spawn_order, declaration.spawn_order);
    }
}

TEST_F(SchemaWriter, says_no_more_than_it_has_to) {
    const SchemaDeclaration whole[] = {{&schema_of<ship::Whole>()}, {&schema_of<ship::Mark>()}};
    EXPECT_EQ(*write_schema_text(whole),
              "components = {\n\twhole = {\n\t\twhole = true\n\t\tfields = {\n\t\t\ta = {\n\t\t\t\ttype = \"uint8\"\n"
              "\t\t\t\tdefault = 7\n\t\t\t}\n\t\t\tb = {\n\t\t\t\ttype = \"double\"\n\t\t\t\tdefault = 2.0\n"
              "\t\t\t}\n\t\t}\n\t}\n\tmark = {\n\t\tfields = {}\n\t}\n}\n");
}

struct Opaque {
    std::unique_ptr<int> value;
};
SHOAL_COMPONENT(Opaque, value)
struct Infinite {
    float far = std::numeric_limits<float>::infinity();
};
SHOAL_COMPONENT(Infinite, far)
struct Named {
    StringId home{"reef"};
};
SHOAL_COMPONENT(Named, home)
struct Places {
    std::array<StringId, 2> homes{StringId("reef"), StringId("wreck")};
};
SHOAL_COMPONENT(Places, homes)
struct Gap {
    float a = 0;
    float hidden = 0;
    float b = 0;
};
SHOAL_COMPONENT((Gap, whole), a, (hidden, ignored), b)

TEST_F(SchemaWriter, what_text_cannot_say_is_an_error_that_names_it) {
    const auto message = [](const Schema& schema) {
        const SchemaDeclaration one[] = {{&schema}};
        return std::string(write_schema_text(one).message());
    };
    EXPECT_EQ(message(schema_of<Opaque>()),
              "component \"opaque\" cannot be declared as text: field \"value\" is of a C++ type that no source can "
              "write");
    EXPECT_NE(message(schema_of<Infinite>()).find("a component type cannot be declared as text:\n"), std::string::npos)
        << message(schema_of<Infinite>());
    EXPECT_EQ(message(schema_of<Named>()),
              "component \"named\" cannot be declared as text: field \"home\" has a default whose text is not known");
    EXPECT_EQ(message(schema_of<Gap>()),
              "component \"gap\" cannot be declared as text: members that are no fields lie between its fields");

    StringTable texts;
    ASSERT_TRUE(texts.intern("reef"));
    const SchemaDeclaration named[] = {{&schema_of<Named>()}};
    const Result<std::string> text = write_schema_text(named, PlainNames(&texts));
    EXPECT_TRUE(text) << text.message();
    const SchemaDeclaration places[] = {{&schema_of<Places>()}};
    EXPECT_EQ(write_schema_text(places, PlainNames(&texts)).message(),
              "component \"places\" cannot be declared as text: field \"homes\" has a default whose text is not known");
}

TEST_F(SchemaWriter, a_world_exports_what_its_stores_take) {
    EntityManager entities;
    World world(entities);
    world.manager<ship::Whole>();
    world.manager<ship::Mark>();
    world.manager<Opaque>();
    const std::string path = ::testing::TempDir() + "shoal_exported.schema.sjson";
    const Status status = export_schemas(world, path);
    ASSERT_TRUE(status) << status.message();
    schema(*read_file(path));
    std::remove(path.c_str());
    ASSERT_EQ(registry.components().size(), 2u);
    expect_equal(*registry.find("whole")->schema, schema_of<ship::Whole>());
    EXPECT_FALSE(export_schemas(world, "/nothing/here.sjson"));
}

}  // namespace
}  // namespace shoal_test

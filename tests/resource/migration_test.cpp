// Blobs of older versions of a component type, and what becomes of their values.

#include "shoal/resource/migration.h"
#include "resource/samples.h"
#include "shoal/resource/detail/value_change.h"
#include "shoal/resource/spawner.h"
#include "shoal/store/manager.h"
#include "support/stores.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace resource_test {
namespace {

enum class Paint : std::uint8_t { kGrey = 1, kRed = 5 };
SHOAL_ENUM(Paint, (kGrey, "grey"), (kRed, "red"))

/// The newest of three versions.
struct Hull {
    float armor = 20;
    float width = 2, length = 6;
    Paint paint = Paint::kGrey;
    Vec3 place{1, 2, 3};
    std::uint64_t number = 7;
};
SHOAL_COMPONENT((Hull, version(3)), (armor, unit("mm")), width, length, paint, (place, split), number)

FieldDefinition field(const char* name, FieldType type, bool split = false) {
    FieldDefinition result;
    result.name = name;
    result.type = type;
    result.split = split;
    return result;
}

ComponentDefinition hull_definition(std::uint32_t version, Array<FieldDefinition> fields) {
    ComponentDefinition definition;
    definition.name = "hull";
    definition.version = version;
    definition.fields = std::move(fields);
    return definition;
}

FieldDefinition paint_of_version_1() {
    FieldDefinition paint = field("paint", FieldType::kEnum);
    paint.value_bytes = 2;
    paint.enumerators = {{"red", 300}, {"grey", 2}};
    paint.default_value = {std::byte(2), std::byte(0)};
    return paint;
}

/// armour in centimetres, size in one field, the enum with other numbers, fewer bits of the number, no place.
Array<FieldDefinition> fields_of_version_1() {
    return {field("armour", FieldType::kFloat), field("size", FieldType::kVec2), paint_of_version_1(),
            field("number", FieldType::kUint16), field("crew", FieldType::kInt32)};
}

/// A blob with a component of each image.
Blob make_blob(const ComponentDefinition& definition, std::span<const std::vector<std::byte>> images) {
    BlobWriter writer;
    writer.set_name("ships/old");
    const std::uint32_t type = *writer.add_component_type(Schema::make(definition).value());
    for (const std::vector<std::byte>& image : images) writer.add_component(type, writer.add_entity({}), image);
    return Blob::load(*writer.write()).value();
}

/// Writes values into an image by the names of fields.
template <class T>
void set(const Schema& schema, std::vector<std::byte>& image, const char* name, const T& value) {
    const Field& to = schema.fields()[static_cast<std::size_t>(schema.find_field(name))];
    std::memcpy(image.data() + to.struct_offset, &value, sizeof value);
}

Blob old_hulls(std::uint32_t count, bool whole = false, bool split = false) {
    Array<FieldDefinition> fields = fields_of_version_1();
    fields[1].split = split;
    ComponentDefinition definition = hull_definition(1, fields);
    definition.whole = whole;
    const Schema schema = Schema::make(definition).value();
    std::vector<std::vector<std::byte>> images;
    for (std::uint32_t i = 0; i < count; ++i) {
        std::vector<std::byte>& image = images.emplace_back(blob_default_image(schema));
        set(schema, image, "armour", float(i));
        set(schema, image, "size", Vec2{float(i) + 0.25f, float(i) + 0.5f});
        set(schema, image, "paint", std::uint16_t(i % 2 == 0 ? 300 : 2));
        set(schema, image, "number", std::uint16_t(i * 3));
        set(schema, image, "crew", std::int32_t(i));
    }
    return make_blob(definition, images);
}

void say_what_changed(ComponentRegistry& registry) {
    Migrations& hull = registry.migrations<Hull>();
    hull.from(2).split("size", {"width", "length"}, [](Vec2 size, float& width, float& length) {
        width = size.x;
        length = size.y;
    });
    hull.from(1)
        .rename("armour", "armor")
        .convert("armor", [](float centimetres) { return 10 * centimetres; })
        .remove("crew");
}

/// Spawns a blob into a manager of the newest version.
struct Harbour {
    Result<Spawned> spawn_all(const Blob& blob) {
        Store* stores[] = {&hulls.core()};
        return spawn({shoal_test::Stores(entities, stores)}, blob);
    }
    Hull hull_of(Entity entity) const {
        const Instance i = hulls.instance(entity);
        return {.armor = hulls.get<&Hull::armor>(i),
                .width = hulls.get<&Hull::width>(i),
                .length = hulls.get<&Hull::length>(i),
                .paint = hulls.get<&Hull::paint>(i),
                .place = hulls.get<&Hull::place>(i),
                .number = hulls.get<&Hull::number>(i)};
    }

    EntityManager entities;
    PagePool pool;
    Manager<Hull> hulls{entities, pool};
};

void expect_new_hulls(const Blob& blob, std::uint32_t count) {
    Harbour harbour;
    const Result<Spawned> spawned = harbour.spawn_all(blob);
    ASSERT_TRUE(spawned) << spawned.message();
    ASSERT_EQ(harbour.hulls.num_rows(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const Hull hull = harbour.hull_of(spawned->entity(i));
        EXPECT_EQ(hull.armor, 10 * float(i));
        EXPECT_EQ(hull.width, float(i) + 0.25f);
        EXPECT_EQ(hull.length, float(i) + 0.5f);
        EXPECT_EQ(hull.paint, i % 2 == 0 ? Paint::kRed : Paint::kGrey);
        EXPECT_EQ(hull.number, i * 3);
        EXPECT_EQ(hull.place, (Vec3{1, 2, 3}));
    }
}

TEST(Migration, renames_converts_splits_and_fills_in_defaults_over_two_versions) {
    ComponentRegistry registry;
    say_what_changed(registry);
    for (const bool whole : {false, true})
        for (const bool split : {false, true}) {
            if (whole && split) continue;
            Blob blob = old_hulls(100, whole, split);
            ASSERT_TRUE(needs_migration(blob, registry));
            const Status status = migrate(blob, registry);
            ASSERT_TRUE(status) << status.message();
            EXPECT_FALSE(needs_migration(blob, registry));
            EXPECT_EQ(blob.component_types()[0].schema->layout_hash(), schema_of<Hull>().layout_hash());
            const Blob moved = std::move(blob);
            expect_new_hulls(moved, 100);
        }
}

TEST(Migration, of_no_components_is_fine) {
    ComponentRegistry registry;
    say_what_changed(registry);
    Blob blob = old_hulls(0);
    const Status status = migrate(blob, registry);
    ASSERT_TRUE(status) << status.message();
    expect_new_hulls(blob, 0);
}

TEST(Migration, columns_that_nothing_changes_stay_where_they_are) {
    ComponentRegistry registry;
    registry.migrations<Hull>();
    Array<FieldDefinition> fields = {field("place", FieldType::kVec3, true), field("armor", FieldType::kFloat)};
    const Schema schema = Schema::make(hull_definition(2, fields)).value();
    std::vector<std::byte> image = blob_default_image(schema);
    set(schema, image, "place", Vec3{4, 5, 6});
    set(schema, image, "armor", 8.0f);
    Blob blob = make_blob(hull_definition(2, fields), std::vector(3, image));
    const std::vector<const std::byte*> before(blob.component_types()[0].columns.begin(),
                                               blob.component_types()[0].columns.end());
    ASSERT_TRUE(migrate(blob, registry));
    const BlobComponents& after = blob.component_types()[0];
    const Schema& hull = *after.schema;
    const auto column_of = [&](const char* name) {
        return hull.fields()[static_cast<std::size_t>(hull.find_field(name))].first_column;
    };
    EXPECT_EQ(after.columns[column_of("armor")], before[3]);
    for (std::uint32_t lane = 0; lane < 3; ++lane) EXPECT_EQ(after.columns[column_of("place") + lane], before[lane]);
    Harbour harbour;
    const Result<Spawned> spawned = harbour.spawn_all(blob);
    ASSERT_TRUE(spawned) << spawned.message();
    const Hull kept = harbour.hull_of(spawned->entity(2));
    EXPECT_EQ(kept.place, (Vec3{4, 5, 6}));
    EXPECT_EQ(kept.armor, 8);
    EXPECT_EQ(kept.width, 2) << "the default of the newest version";
}

TEST(Migration, fields_are_computed_from_several_and_set_for_components_made_before) {
    ComponentRegistry registry;
    registry.migrations<Hull>()
        .from(1)
        .compute({"beam", "draft"}, {"armor", "width"},
                 [](float beam, std::int32_t draft, float& armor, float& width) {
                     armor = beam + float(draft);
                     width = beam * 2;
                 })
        .set("length", 99.0f)
        .set("paint", Paint::kRed);
    Array<FieldDefinition> fields = {field("draft", FieldType::kInt32), field("beam", FieldType::kFloat)};
    const Schema schema = Schema::make(hull_definition(1, fields)).value();
    std::vector<std::byte> image = blob_default_image(schema);
    set(schema, image, "beam", 3.0f);
    set(schema, image, "draft", std::int32_t(4));
    Blob blob = make_blob(hull_definition(1, fields), std::vector(2, image));
    const Status status = migrate(blob, registry);
    ASSERT_TRUE(status) << status.message();
    Harbour harbour;
    const Result<Spawned> spawned = harbour.spawn_all(blob);
    ASSERT_TRUE(spawned) << spawned.message();
    const Hull hull = harbour.hull_of(spawned->entity(1));
    EXPECT_EQ(hull.armor, 7);
    EXPECT_EQ(hull.width, 6);
    EXPECT_EQ(hull.length, 99);
    EXPECT_EQ(hull.paint, Paint::kRed);
}

TEST(Migration, steps_pass_over_fields_that_were_added_since) {
    ComponentRegistry registry;
    registry.migrations<Hull>()
        .from(2)
        .rename("added", "width")
        .compute({"a", "b"}, {"length"}, [](float a, float b, float& length) { length = a + b; });
    Blob blob = make_blob(hull_definition(1, {field("armor", FieldType::kFloat)}), std::vector(1, image_of(5.0f)));
    Status status = migrate(blob, registry);
    ASSERT_TRUE(status) << status.message();
    Harbour harbour;
    const Result<Spawned> spawned = harbour.spawn_all(blob);
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(harbour.hull_of(spawned->entity(0)).width, 2) << "the default";
    Blob later = make_blob(hull_definition(2, {field("armor", FieldType::kFloat)}), std::vector(1, image_of(5.0f)));
    EXPECT_NE(migrate(later, registry).message().find("there is no field \"added\" then"), std::string_view::npos)
        << "but not those that a component of their version has";
    Blob half = make_blob(hull_definition(1, {field("a", FieldType::kFloat)}), std::vector(1, image_of(5.0f)));
    EXPECT_TRUE(migrate(half, registry).message().ends_with("there is no field \"b\" then; did you mean \"a\"?"));
}

struct Tow {
    float length = 3;
    Entity towed;
};
SHOAL_COMPONENT((Tow, whole, version(2)), length, towed)

TEST(Migration, new_references_to_entities_are_none) {
    ComponentRegistry registry;
    registry.migrations<Tow>();
    ComponentDefinition definition = hull_definition(1, {field("length", FieldType::kFloat)});
    definition.name = "tow";
    Blob blob = make_blob(definition, std::vector(2, image_of(9.0f)));
    ASSERT_TRUE(migrate(blob, registry));
    EntityManager entities;
    PagePool pool;
    Manager<Tow> tows(entities, pool);
    Store* stores[] = {&tows.core()};
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, blob);
    ASSERT_TRUE(spawned) << spawned.message();
    for (const Entity entity : spawned->entities()) {
        EXPECT_EQ(tows.get<&Tow::length>(tows.instance(entity)), 9);
        EXPECT_EQ(tows.get<&Tow::towed>(tows.instance(entity)), kNullEntity);
    }
}

/// Migrates a blob of version 1 with one field and returns the message.
std::string message_of(FieldDefinition given, std::int64_t number, void (*say)(MigrationStep&)) {
    ComponentRegistry registry;
    say(registry.migrations<Hull>().from(1));
    const Schema schema = Schema::make(hull_definition(1, {given})).value();
    std::vector<std::byte> image = blob_default_image(schema);
    std::memcpy(image.data(), &number, std::min<std::size_t>(sizeof number, image.size()));
    Blob blob = make_blob(hull_definition(1, {given}), std::vector(2, image));
    const Status status = migrate(blob, registry);
    EXPECT_FALSE(status);
    EXPECT_EQ(blob.component_types()[0].schema->version(), 1u) << "nothing has changed";
    EXPECT_EQ(blob.component_types()[0].columns.size(), 1u);
    return std::string(status.message());
}

TEST(Migration, says_what_has_no_place_or_does_not_fit) {
    const auto nothing = [](MigrationStep&) {};
    const std::string start = "cannot migrate \"hull\" of \"ships/old\" from version 1: ";
    EXPECT_EQ(message_of(field("crew", FieldType::kInt32), 1, nothing),
              start + "there is no field \"crew\" in version 3; say what became of it, or remove() it");
    EXPECT_EQ(message_of(field("number", FieldType::kInt32), -5, nothing),
              start + "convert() is needed for component 0: \"number\" is a uint64, which cannot hold -5");
    EXPECT_EQ(
        message_of(field("armour", FieldType::kFloat), 0, [](MigrationStep& step) { step.rename("armr", "armor"); }),
        start +
            "the migration from version 1 does not fit: there is no field \"armr\" then; did you mean "
            "\"armour\"?");
    EXPECT_EQ(message_of(field("armor", FieldType::kDouble), 0,
                         [](MigrationStep& step) { step.convert("armor", [](float armor) { return armor; }); }),
              start +
                  "the migration from version 1 does not fit: \"armor\" is a double then, and the function takes a "
                  "float");
    FieldDefinition wide_paint = paint_of_version_1();
    wide_paint.value_bytes = 4;
    wide_paint.default_value.resize(4);
    EXPECT_EQ(message_of(wide_paint, 2,
                         [](MigrationStep& step) { step.convert("paint", [](float paint) { return paint; }); }),
              start +
                  "the migration from version 1 does not fit: \"paint\" is an enum then, and the function takes a "
                  "float");
    EXPECT_EQ(message_of(field("armor", FieldType::kFloat), 0, [](MigrationStep& step) { step.set("armor", 3.0f); }),
              start + "the migration from version 1 does not fit: \"armor\" cannot be added, it is there already");
    EXPECT_EQ(message_of(field("crew", FieldType::kInt32), 0,
                         [](MigrationStep& step) { step.set("armor", 3.0f).rename("crew", "armor"); }),
              start +
                  "the migration from version 1 does not fit: \"crew\" cannot become \"armor\", which is there "
                  "already");
}

TEST(Migration, refuses_an_enum_value_whose_name_is_gone) {
    FieldDefinition paint = paint_of_version_1();
    paint.enumerators.push_back({"green", 9});
    EXPECT_EQ(message_of(paint, 9, [](MigrationStep&) {}),
              "cannot migrate \"hull\" of \"ships/old\" from version 1: convert() is needed for component 0: \"paint\" "
              "has no "
              "value \"green\"; did you mean \"grey\"?");
}

TEST(Migration, refuses_what_a_newer_program_made) {
    ComponentRegistry registry;
    registry.migrations<Hull>();
    Blob blob = make_blob(hull_definition(4, {field("armor", FieldType::kFloat)}), {});
    EXPECT_EQ(
        migrate(blob, registry).message(),
        "cannot migrate \"hull\" of \"ships/old\" from version 4: this program knows versions up to 3; update the "
        "program");
}

// --- what data can say -----------------------------------------------------------------------------------------------

FieldDefinition array_field(const char* name, FieldType type, std::uint32_t length) {
    FieldDefinition result = field(name, type);
    result.array_length = length;
    return result;
}

/// Migrates one component of version 1, whose fields are these, to version 2.
struct Conversion {
    explicit Conversion(Array<FieldDefinition> old_fields, Array<FieldDefinition> new_fields)
        : old_definition(hull_definition(1, std::move(old_fields))),
          old_schema(Schema::make(old_definition).value()),
          image(blob_default_image(old_schema)),
          new_schema(Schema::make(hull_definition(2, std::move(new_fields))).value()),
          step(registry.migrations(new_schema).from(1)) {}

    template <class T>
    Conversion& given(const char* name, const T& value) {
        set(old_schema, image, name, value);
        return *this;
    }
    Status run() {
        blob.emplace(make_blob(old_definition, std::vector(3, image)));
        return migrate(*blob, registry);
    }
    /// The value of the last component.
    AnyValue value(const char* name) {
        const BlobComponents& components = blob->component_types()[0];
        FieldColumns columns(*components.schema, components.columns, components.count());
        const ValueType type = columns.find(name)->type;
        return AnyValue(type, *columns.read(name, type) + 2 * type.num_bytes());
    }

    ComponentDefinition old_definition;
    Schema old_schema;
    std::vector<std::byte> image;
    Schema new_schema;
    ComponentRegistry registry;
    MigrationStep& step;
    std::optional<Blob> blob;
};

TEST(ValueChange, numbers_are_multiplied_rounded_and_become_other_types) {
    Conversion numbers({field("a", FieldType::kFloat), field("b", FieldType::kInt32), field("c", FieldType::kDouble),
                        field("d", FieldType::kBool), field("e", FieldType::kInt64), field("f", FieldType::kFloat)},
                       {field("a", FieldType::kFloat), field("b", FieldType::kFloat), field("c", FieldType::kInt8),
                        field("d", FieldType::kUint16), field("e", FieldType::kUint64), field("f", FieldType::kBool)});
    numbers.given("a", 2.5f).given("b", std::int32_t(-3)).given("c", -1.75).given("d", true).given("f", 0.25f);
    numbers.given("e", std::int64_t(9007199254740993));  // no double
    convert_values(numbers.step, "a", {.factor = 10, .plus = 1});
    convert_values(numbers.step, "b", {.type = FieldType::kFloat, .factor = 0.5});
    convert_values(numbers.step, "c", {.type = FieldType::kInt8});
    convert_values(numbers.step, "d", {.type = FieldType::kUint16, .factor = 100});
    convert_values(numbers.step, "e", {.type = FieldType::kUint64});
    convert_values(numbers.step, "f", {.type = FieldType::kBool});
    const Status status = numbers.run();
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(numbers.value("a"), AnyValue(26.0f));
    EXPECT_EQ(numbers.value("b"), AnyValue(-1.5f));
    EXPECT_EQ(numbers.value("c"), AnyValue(std::int8_t(-2)));
    EXPECT_EQ(numbers.value("d"), AnyValue(std::uint16_t(100)));
    EXPECT_EQ(numbers.value("e"), AnyValue(std::uint64_t(9007199254740993)));
    EXPECT_EQ(numbers.value("f"), AnyValue(true));
}

TEST(ValueChange, numbers_and_vectors_become_vectors_split_and_join) {
    Conversion vectors(
        {field("scale", FieldType::kFloat), field("flat", FieldType::kVec2), field("size", FieldType::kVec3, true),
         field("x", FieldType::kFloat), field("y", FieldType::kFloat), array_field("slots", FieldType::kInt16, 2)},
        {field("scale", FieldType::kVec3), field("flat", FieldType::kVec3), field("size", FieldType::kFloat),
         field("depth", FieldType::kFloat), field("height", FieldType::kFloat), field("place", FieldType::kVec2),
         field("left", FieldType::kInt16), field("right", FieldType::kInt16)});
    vectors.given("scale", 2.0f).given("flat", Vec2{3, 4}).given("size", Vec3{5, 6, 7}).given("x", 8.0f);
    vectors.given("y", 9.0f).given("slots", std::array<std::int16_t, 2>{10, 11});
    convert_values(vectors.step, "scale", {.type = FieldType::kVec3});
    convert_values(vectors.step, "flat", {.type = FieldType::kVec3, .factor = 2, .plus = 1});
    split_values(vectors.step, "size", {"size", "depth", "height"});
    split_values(vectors.step, "slots", {"left", "right"});
    join_values(vectors.step, {"x", "y"}, "place");
    const Status status = vectors.run();
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(vectors.value("scale"), AnyValue(Vec3{2, 2, 2}));
    EXPECT_EQ(vectors.value("flat"), AnyValue(Vec3{7, 9, 0})) << "a lane that was not there is 0";
    EXPECT_EQ(vectors.value("size"), AnyValue(5.0f));
    EXPECT_EQ(vectors.value("depth"), AnyValue(6.0f));
    EXPECT_EQ(vectors.value("height"), AnyValue(7.0f));
    EXPECT_EQ(vectors.value("place"), AnyValue(Vec2{8, 9}));
    EXPECT_EQ(vectors.value("left"), AnyValue(std::int16_t(10)));
    EXPECT_EQ(vectors.value("right"), AnyValue(std::int16_t(11)));
}

TEST(ValueChange, values_of_an_enum_get_other_names) {
    FieldDefinition colour = paint_of_version_1();
    colour.enumerators = {{"crimson", 300}, {"grey", 2}, {"gray", 4}};
    FieldDefinition paint = paint_of_version_1();
    Conversion names({colour}, {paint});
    convert_values(names.step, "paint", {.values = {{"crimson", "red"}, {"gray", "grey"}, {"blue", "red"}}});
    names.given("paint", std::uint16_t(4));
    ASSERT_TRUE(names.run());
    EXPECT_EQ(names.value("paint").to_text(), "\"grey\"");
    names.given("paint", std::uint16_t(300));
    const Status status = names.run();
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(names.value("paint").to_text(), "\"red\"");
    Conversion swapped({paint_of_version_1()}, {paint_of_version_1()});
    convert_values(swapped.step, "paint", {.values = {{"red", "grey"}, {"grey", "red"}}});
    for (const bool was_red : {true, false}) {
        swapped.given("paint", std::uint16_t(was_red ? 300 : 2));
        ASSERT_TRUE(swapped.run());
        EXPECT_EQ(swapped.value("paint").to_text(), was_red ? "\"grey\"" : "\"red\"") << "each name changes once";
    }
}

TEST(ValueChange, says_what_does_not_fit) {
    const auto message = [](FieldDefinition from, FieldDefinition to, auto&& say) {
        Conversion wrong({std::move(from)}, {std::move(to)});
        wrong.given("a", std::int32_t(300));
        say(wrong.step);
        const Status status = wrong.run();
        EXPECT_FALSE(status);
        EXPECT_EQ(wrong.blob->component_types()[0].schema->version(), 1u) << "nothing has changed";
        const std::string_view text = status.message(), start = "the migration from version 1 does not fit: ";
        return std::string(text.substr(text.find(start) + start.size()));
    };
    const FieldDefinition number = field("a", FieldType::kInt32);
    EXPECT_EQ(message(number, field("a", FieldType::kInt8),
                      [](MigrationStep& step) { convert_values(step, "a", {.type = FieldType::kInt8}); }),
              "component 0: \"a\" becomes an int8, which cannot hold what 300 becomes");
    EXPECT_EQ(
        message(number, field("a", FieldType::kUint8),
                [](MigrationStep& step) { convert_values(step, "a", {.type = FieldType::kUint8, .factor = -1}); }),
        "component 0: \"a\" becomes a uint8, which cannot hold what 300 becomes");
    EXPECT_EQ(message(field("a", FieldType::kStringId), number,
                      [](MigrationStep& step) { convert_values(step, "a", {.type = FieldType::kInt32}); }),
              "\"a\" is a string_id then, whose values cannot be converted to an int32");
    EXPECT_EQ(message(number, number, [](MigrationStep& step) { convert_values(step, "b", {.factor = 2}); }),
              "there is no field \"b\" then; did you mean \"a\"?");
    EXPECT_EQ(message(number, number, [](MigrationStep& step) { split_values(step, "a", {"b", "c"}); }),
              "\"a\" is an int32 then, and cannot be split into 2 fields");
    EXPECT_EQ(message(number, number, [](MigrationStep& step) { join_values(step, {"a", "b"}, "c"); }),
              "\"a\" is an int32 then, and the function takes a float");
    EXPECT_EQ(message(number, number, [](MigrationStep& step) { convert_values(step, "a", {.values = {{"b", "c"}}}); }),
              "\"a\" is an int32 then, and has no values with names");
}

// --- other names of component types ----------------------------------------------------------------------------------

Blob old_ships(std::uint32_t version) {
    ComponentDefinition definition = hull_definition(version, {field("armor", FieldType::kFloat)});
    definition.name = "ship";
    return make_blob(definition, std::vector(2, image_of(9.0f)));
}

TEST(RenamedComponents, of_an_old_blob_are_found_under_the_old_name) {
    for (const std::uint32_t version : {2u, 3u}) {
        ComponentRegistry registry;
        registry.migrations<Hull>().renamed_from("boat").renamed_from("ship");
        Blob blob = old_ships(version);
        ASSERT_TRUE(needs_migration(blob, registry)) << "with the version of the newest, too";
        const Status status = migrate(blob, registry);
        ASSERT_TRUE(status) << status.message();
        EXPECT_FALSE(needs_migration(blob, registry));
        EXPECT_EQ(blob.find_components(ComponentId("ship")), nullptr);
        ASSERT_NE(blob.find_components(ComponentId("hull")), nullptr);
        EXPECT_EQ(blob.schemas()[0].name(), "hull");
        Harbour harbour;
        const Result<Spawned> spawned = harbour.spawn_all(blob);
        ASSERT_TRUE(spawned) << spawned.message();
        EXPECT_EQ(harbour.hull_of(spawned->entity(1)).armor, 9);
    }
}

TEST(RenamedComponents, differ_in_name_only_if_version_flags_and_columns_are_alike) {
    const auto made = [](const char* name, std::uint32_t version, Array<FieldDefinition> fields, bool many) {
        ComponentDefinition definition = hull_definition(version, std::move(fields));
        definition.name = name, definition.many = many;
        return Schema::make(definition).value();
    };
    const Schema ship = made("ship", 2, {field("armor", FieldType::kFloat)}, false);
    EXPECT_TRUE(differ_in_name_only(ship, made("boat", 2, {field("armor", FieldType::kFloat)}, false)));
    EXPECT_FALSE(differ_in_name_only(ship, ship)) << "the same name";
    EXPECT_FALSE(differ_in_name_only(ship, made("boat", 3, {field("armor", FieldType::kFloat)}, false)));
    EXPECT_FALSE(differ_in_name_only(ship, made("boat", 2, {field("armor", FieldType::kFloat)}, true)));
    EXPECT_FALSE(differ_in_name_only(ship, made("boat", 2, {field("armour", FieldType::kFloat)}, false)));
    EXPECT_FALSE(differ_in_name_only(ship, made("boat", 2, {field("armor", FieldType::kInt32)}, false)));
    EXPECT_FALSE(differ_in_name_only(ship, made("boat", 2, {}, false)));
    const auto changed = [](const char* name, void (*change)(ComponentDefinition&)) {
        ComponentDefinition definition =
            hull_definition(2, {field("armor", FieldType::kFloat), field("crew", FieldType::kFloat)});
        definition.name = name, definition.struct_bytes = 16;
        change(definition);
        return Schema::make(definition).value();
    };
    const Schema plain = changed("ship", [](ComponentDefinition&) {});
    EXPECT_TRUE(differ_in_name_only(plain, changed("boat", [](ComponentDefinition&) {})));
    for (void (*change)(ComponentDefinition&) :
         {+[](ComponentDefinition& to) { to.enableable = true; }, +[](ComponentDefinition& to) { to.singleton = true; },
          +[](ComponentDefinition& to) { to.struct_bytes = 20; },
          +[](ComponentDefinition& to) { to.fields[1].struct_offset = 8; },
          +[](ComponentDefinition& to) { to.fields[1].array_length = 1; }}) {
        EXPECT_FALSE(differ_in_name_only(plain, changed("boat", change)));
        EXPECT_FALSE(differ_in_name_only(changed("boat", change), plain));
    }
}

TEST(RenamedComponents, are_left_alone_where_a_component_type_has_the_old_name) {
    ComponentRegistry registry;
    registry.migrations<Hull>().renamed_from("tow");
    ASSERT_TRUE(registry.add<Tow>());
    EXPECT_EQ(registry.find_current(ComponentId("tow"))->name, "tow");
    EXPECT_EQ(registry.find_current(ComponentId("boat")), nullptr);
}

TEST(RenamedComponents, are_refused_beside_components_of_the_new_name) {
    ComponentRegistry registry;
    registry.migrations<Hull>().renamed_from("ship");
    BlobWriter writer;
    writer.set_name("ships/both");
    for (const char* name : {"hull", "ship"}) {
        ComponentDefinition definition = hull_definition(3, {field("armor", FieldType::kFloat)});
        definition.name = name;
        const Schema schema = name[0] == 'h' ? schema_of<Hull>() : Schema::make(definition).value();
        writer.add_component(*writer.add_component_type(schema), writer.add_entity({}), blob_default_image(schema));
    }
    Blob blob = Blob::load(*writer.write()).value();
    EXPECT_EQ(migrate(blob, registry).message(),
              "cannot migrate \"ship\" of \"ships/both\" from version 3: it is called \"hull\" now, and the blob has "
              "components of that name, too; compile it again");
}

TEST(Migration, that_fails_changes_no_component_type) {
    ComponentRegistry registry;
    registry.migrations<Hull>();
    registry.migrations<Tow>();
    BlobWriter writer;
    const Schema hull = Schema::make(hull_definition(2, {field("armor", FieldType::kFloat)})).value();
    ComponentDefinition newer = hull_definition(9, {field("length", FieldType::kFloat)});
    newer.name = schema_of<Tow>().name();
    const Schema tow = Schema::make(newer).value();
    for (const Schema* schema : {&hull, &tow})  // in the order of their names
        writer.add_component(*writer.add_component_type(*schema), writer.add_entity({}), blob_default_image(*schema));
    Blob blob = Blob::load(*writer.write()).value();
    EXPECT_FALSE(migrate(blob, registry)) << "the second is newer than the program";
    ASSERT_EQ(blob.component_types().size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        const BlobComponents& components = blob.component_types()[i];
        EXPECT_EQ(components.schema->layout_hash(), (i == 0 ? hull : tow).layout_hash());
        EXPECT_EQ(components.schema->version(), i == 0 ? 2u : 9u);
        EXPECT_EQ(components.columns.size(), components.schema->columns().size());
    }
}

// --- random --------------------------------------------------------------------------------------------------------

/// A field of a random component, with its values as text.
struct RandomField {
    FieldDefinition definition;
    std::vector<AnyValue> values;  // by component
};

AnyValue random_value(Random& random, const FieldDefinition& definition) {
    AnyValue value(value_type_of(Schema::make(hull_definition(1, {definition})).value().fields()[0]));
    for (std::byte& byte : value.bytes()) byte = std::byte(random.below(100));
    return value;
}

RandomField random_field(Random& random, const std::string& name, std::size_t count) {
    constexpr FieldType kTypes[] = {FieldType::kUint8, FieldType::kInt32,  FieldType::kUint64,    FieldType::kVec2,
                                    FieldType::kVec3,  FieldType::kDouble, FieldType::kQuaternion};
    const FieldType type = kTypes[random.below(std::size(kTypes))];
    RandomField result{field(name.c_str(), type, field_type_lanes(type) > 1 && random.below(2) == 0), {}};
    if (!result.definition.split && random.below(4) == 0) result.definition.array_length = 1 + random.below(3);
    for (std::size_t i = 0; i < count; ++i) result.values.push_back(random_value(random, result.definition));
    return result;
}

TEST(Migration, of_random_layouts_keeps_every_value_under_its_name) {
    Random random(20);
    for (int round = 0; round < 300; ++round) {
        const std::size_t count = random.below(40), num_fields = 1 + random.below(6);
        std::vector<RandomField> fields;
        for (std::size_t i = 0; i < num_fields; ++i) fields.push_back(random_field(random, concat("field", i), count));
        Array<FieldDefinition> definitions;
        for (const RandomField& f : fields) definitions.push_back(f.definition);
        ComponentDefinition old_definition = hull_definition(1, definitions);
        old_definition.whole = random.below(3) == 0;
        if (old_definition.whole)
            for (FieldDefinition& f : old_definition.fields) f.split = false;
        const Schema old_schema = Schema::make(old_definition).value();
        std::vector<std::vector<std::byte>> images(count, blob_default_image(old_schema));
        for (const RandomField& f : fields)
            for (std::size_t i = 0; i < count; ++i) {
                const int number = old_schema.find_field(f.definition.name);
                const std::span<const std::byte> bytes = f.values[i].bytes();
                std::memcpy(images[i].data() + old_schema.fields()[std::size_t(number)].struct_offset, bytes.data(),
                            bytes.size());
            }
        Blob blob = make_blob(old_definition, images);

        // The newest version: some fields go, the others have another order and other layouts, and one has a new name.
        ComponentRegistry registry;
        ComponentDefinition new_definition = hull_definition(2, {});
        new_definition.whole = random.below(3) == 0;
        std::vector<std::string> removed;
        std::string renamed;
        for (std::size_t i = num_fields; i-- > 0;) {
            FieldDefinition definition = fields[i].definition;
            if (num_fields > 1 && random.below(4) == 0) {
                removed.push_back(definition.name);
                continue;
            }
            const bool can_split = field_type_lanes(definition.type) > 1 && definition.array_length == 0;
            definition.split = can_split && !new_definition.whole && random.below(2) == 0;
            if (renamed.empty()) {
                renamed = definition.name;
                definition.name = "renamed";
            }
            new_definition.fields.push_back(definition);
        }
        const Schema new_schema = Schema::make(new_definition).value();
        MigrationStep& step = registry.migrations(new_schema).from(1);
        for (const std::string& name : removed) step.remove(name);
        if (!renamed.empty()) step.rename(renamed, "renamed");
        const Status status = migrate(blob, registry);
        ASSERT_TRUE(status) << status.message();

        const BlobComponents& components = blob.component_types()[0];
        FieldColumns columns(*components.schema, components.columns, components.count());
        ASSERT_EQ(columns.columns().size(), new_definition.fields.size());
        for (const RandomField& f : fields) {
            const std::string name = f.definition.name == renamed ? "renamed" : f.definition.name;
            if (std::find(removed.begin(), removed.end(), name) != removed.end()) continue;
            ASSERT_NE(columns.find(name), nullptr);
            const ValueType type = columns.find(name)->type;
            const std::byte* const values = *columns.read(name, type);
            for (std::size_t i = 0; i < count; ++i)
                EXPECT_EQ(AnyValue(type, values + i * type.num_bytes()), f.values[i]) << name << ' ' << i;
        }
    }
}

TEST(Migration, steps_run_from_the_version_of_the_rows_on) {
    const auto count_of = [](std::uint32_t version) {
        ComponentDefinition definition;
        definition.name = "count";
        definition.version = version;
        definition.fields.push_back(field("x", FieldType::kDouble));
        return *Schema::make(definition);
    };
    ComponentRegistry registry;
    const Schema newest = count_of(4);
    Migrations& steps = registry.migrations(newest);
    steps.from(2).convert("x", [](double x) { return 10 * x; });
    steps.from(1).convert("x", [](double x) { return x + 1; });  // they run in the order of versions
    const double expected[][2] = {{20, 60}, {10, 50}, {1, 5}, {1, 5}};
    for (std::uint32_t version = 1; version <= 4; ++version) {
        SCOPED_TRACE(version);
        const double values[] = {1, 5};
        const auto* const column = reinterpret_cast<const std::byte*>(values);
        const Result<ConvertedColumns> made = migrate_rows(count_of(version), std::span(&column, 1), 2, newest, &steps);
        ASSERT_TRUE(made.ok()) << made.message();
        double converted[2];
        std::memcpy(converted, made->columns[0], sizeof converted);
        EXPECT_EQ(converted[0], expected[version - 1][0]);
        EXPECT_EQ(converted[1], expected[version - 1][1]);
    }
}

}  // namespace
}  // namespace resource_test

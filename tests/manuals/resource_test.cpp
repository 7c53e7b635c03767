// What the headers of resource show.

#include "shoal/base/file.h"
#include "shoal/base/string_id.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/point_mass.h"
#include "shoal/document/sjson.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/resource/detail/value_change.h"
#include "shoal/resource/migration.h"
#include "shoal/resource/spawner.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace {

using namespace shoal;

Status report(const Status& status) { return Status::error(status.message()); }

struct Light {
    Vec3 color{};
    Entity target;
};

bool read_kelvin(Node, Diagnostics&, Vec3& color) {
    color = {1, 1, 1};
    return true;
}

// [resource/compile]
bool compile_light(void*, const CompileInput& in, CompileOutput& out) {
    Light light;
    if (!read_kelvin(in.node, in.diagnostics, light.color)) return false;  // it has reported why
    out.store(light);
    out.store_entity(offsetof(Light, target), out.find_entity("../tower"));
    return true;
}
// [resource/compile]

// [resource/compile_bytes]
bool compile_song(void*, const CompileInput& in, CompileOutput& out) {
    std::vector<std::byte> notes;
    for (const Node note : in.node.find("notes"))
        if (const std::int64_t* number = note.as_int64()) notes.push_back(std::byte(*number));
    out.set_bytes(notes);
    return true;
}
// [resource/compile_bytes]

struct Singers {
    std::vector<std::pair<Entity, std::size_t>> songs;
    void teach(Entity singer, std::span<const std::byte> song) { songs.push_back({singer, song.size()}); }
};

// [resource/spawn_bytes]
Status spawn_song(void* context, const SpawnBatch& batch, std::span<const std::span<const std::byte>> bytes) {
    auto& singers = *static_cast<Singers*>(context);
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < bytes.size(); ++i) singers.teach(batch.owner(copy, i), bytes[i]);
    return {};
}
// [resource/spawn_bytes]

Status register_songs(ComponentRegistry& tool, World& world, Singers& singers) {
    // [resource/register_bytes]
    if (Status s = tool.set_bytes_compile_function("song", compile_song, nullptr); !s) return report(s);
    if (Status s = world.registry().set_bytes_spawn_function("song", spawn_song, &singers); !s) return report(s);
    // [resource/register_bytes]
    return {};
}

// [resource/migrated]
struct Hull {
    float armor = 20;             // version 1 called it "armour", and counted in centimetres
    float width = 2, length = 6;  // one field "size" before version 3
};
SHOAL_COMPONENT((Hull, version(3)), (armor, unit("mm")), width, length)
// [resource/migrated]

Status load_fleet(ComponentRegistry& registry, World& world, const std::string& path) {
    // [resource/migrations]
    Migrations& hull = registry.migrations<Hull>();
    hull.from(1).rename("armour", "armor").convert("armor", [](float centimetres) { return 10 * centimetres; });
    hull.from(2).split("size", {"width", "length"}, [](Vec2 size, float& width, float& length) {
        width = size.x;
        length = size.y;
    });
    // [resource/migrations]
    // [resource/migrate]
    Result<Blob> fleet = Blob::read(path);
    if (!fleet) return fleet.status();
    if (Status status = migrate(*fleet, registry); !status) return status;
    // [resource/migrate]
    return world.spawn(*fleet).status();
}

/// A blob with a hull of version 1: 2 centimetres of armor, 3 metres wide, 9 long.
std::vector<std::byte> old_fleet() {
    ComponentDefinition definition;
    definition.name = "hull";
    definition.fields = {{.name = "armour"}, {.name = "size", .type = FieldType::kVec2}};
    const float image[] = {2, 3, 9};
    BlobWriter writer;
    writer.set_name("fleet");
    const std::uint32_t type = *writer.add_component_type(Schema::make(definition).value());
    writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(image)));
    return *writer.write();
}

Status fill_a_registry() {
    // [resource/registry]
    ComponentRegistry registry;
    if (Status s = registry.add<PointMass>(); !s) return report(s);  // text and blob know it
    if (Status s = registry.set_compile_function("light", compile_light, nullptr, 20); !s) return report(s);
    // [resource/registry]
    return registry.find("light") && registry.find("point_mass") ? Status() : Status::error("not found");
}

std::vector<std::byte> written(std::span<const std::byte> image) {
    // [resource/blob_writer]
    BlobWriter blob;
    blob.set_name("levels/reef");
    std::uint32_t root = blob.add_entity({.name = "reef"});
    std::uint32_t stone = blob.add_entity({.parent = root, .guid = hash_text("43d2ce7f")});
    Result<std::uint32_t> type = blob.add_component_type(schema_of<PointMass>());
    blob.add_component(*type, stone, image);
    Result<std::vector<std::byte>> bytes = blob.write();
    // [resource/blob_writer]
    EXPECT_TRUE(bytes) << bytes.message();
    return *bytes;
}

Status count_components(const std::string& path, std::uint32_t& count) {
    // [resource/blob]
    Result<Blob> level = Blob::read(path);
    if (!level) return report(level.status());
    for (const BlobComponents& components : level->component_types()) count += components.count();
    // [resource/blob]
    return {};
}

TEST(ResourceManuals, a_registry_is_filled) { EXPECT_TRUE(fill_a_registry()); }

TEST(ResourceManuals, songs_come_back_as_bytes) {
    ComponentRegistry tool;
    EntityManager entities;
    World world(entities);
    Singers singers;
    ASSERT_TRUE(register_songs(tool, world, singers));
    Diagnostics diagnostics;
    const Result<Document> document = read_sjson(diagnostics.add_file("bird", "notes = [1 2 3]"), diagnostics);
    BlobWriter writer;
    writer.set_name("bird");
    const Schema& schema = *tool.find("song")->schema;
    std::vector<std::byte> image = blob_default_image(schema);
    struct : CompileHost {
        std::uint32_t find_entity(std::string_view) const override { return kNoBlobEntity; }
        bool read_field(Node) override { return false; }
        bool read_value(const Field&, Node, std::byte*) override { return false; }
    } host;
    CompileOutput output(schema, image, writer, host);
    ASSERT_TRUE(tool.find("song")->compile(nullptr, {document->root(), schema, 0, "", diagnostics}, output));
    writer.add_component(*writer.add_component_type(schema), writer.add_entity({}), image);
    const Blob blob = *Blob::load(*writer.write());
    ASSERT_TRUE(world.adopt_schemas(blob));
    EXPECT_EQ(world.directory().find(ComponentId("song")), nullptr) << "a function takes them";
    ASSERT_TRUE(world.spawn(blob, {.copies = 2}));
    ASSERT_EQ(singers.songs.size(), 2u);
    EXPECT_EQ(singers.songs[1].second, 3u);
}

TEST(ResourceManuals, a_blob_is_written_read_and_spawned) {
    const PointMass mass{.mass = 2};
    const std::vector<std::byte> bytes = written(std::as_bytes(std::span(&mass, 1)));
    const std::string path = testing::TempDir() + "shoal_manual_reef.blob";
    ASSERT_TRUE(write_file(path, bytes));
    std::uint32_t count = 0;
    ASSERT_TRUE(count_components(path, count));
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(std::remove(path.c_str()), 0);

    const Blob blob = *Blob::load(bytes);
    EntityManager entities;
    World world(entities);
    ComponentManager& masses = world.manager<PointMass>().core();
    world.manager<DebugName>();
    // [resource/spawner]
    Result<Spawned> bullets = spawn({world.directory()}, blob, {.copies = 200});  // or of stores without a world
    Entity reef = bullets->find("reef", 17);
    // [resource/spawner]
    EXPECT_TRUE(entities.alive(reef));
    EXPECT_EQ(masses.num_rows(), 200u);
}

TEST(ResourceManuals, a_blob_of_version_1_is_migrated_to_version_3) {
    EntityManager entities;
    World world(entities);
    auto& hulls = world.manager<Hull>();
    const std::string path = testing::TempDir() + "shoal_manual_fleet.blob";
    ASSERT_TRUE(write_file(path, old_fleet()));
    ComponentRegistry registry;
    const Status loaded = load_fleet(registry, world, path);
    ASSERT_TRUE(loaded) << loaded.message();
    EXPECT_EQ(std::remove(path.c_str()), 0);
    ASSERT_EQ(hulls.num_rows(), 1u);
    const Instance i = hulls.instance(hulls.entities()[0]);
    EXPECT_EQ(hulls.get<&Hull::armor>(i), 20);
    EXPECT_EQ(hulls.get<&Hull::width>(i), 3);
    EXPECT_EQ(hulls.get<&Hull::length>(i), 9);
}

/// A ship of version 1, or of version 2 with other fields.
Schema ship(std::uint32_t version, Array<FieldDefinition> fields) {
    ComponentDefinition definition;
    definition.name = "ship";
    definition.version = version;
    definition.fields = std::move(fields);
    definition.fields.push_back({.name = "mode", .type = FieldType::kEnum, .value_bytes = 4});
    definition.fields.back().enumerators = {{version == 1 ? "walk" : "march", 0}};
    return Schema::make(std::move(definition)).value();
}

TEST(ResourceManuals, changes_that_data_can_say_are_made) {
    const Schema before = ship(1, {{.name = "armor"},
                                   {.name = "speed", .type = FieldType::kInt32},
                                   {.name = "size", .type = FieldType::kVec2},
                                   {.name = "x"},
                                   {.name = "y"},
                                   {.name = "z"}});
    const Schema hull = ship(2, {{.name = "armor"},
                                 {.name = "speed"},
                                 {.name = "width"},
                                 {.name = "length"},
                                 {.name = "position", .type = FieldType::kVec3}});
    struct Image {
        float armor = 2;
        std::int32_t speed = 3;
        Vec2 size{4, 5};
        float x = 6, y = 7, z = 8;
        std::int32_t mode = 0;
    } const image;
    BlobWriter writer;
    writer.add_component(*writer.add_component_type(before), writer.add_entity({}),
                         std::as_bytes(std::span(&image, 1)));
    Blob blob = Blob::load(*writer.write()).value();
    ComponentRegistry registry;
    // [resource/value_changes]
    MigrationStep& step = registry.migrations(hull).from(1);
    convert_values(step, "armor", {.factor = 10});                  // centimetres became millimetres
    convert_values(step, "speed", {.type = FieldType::kFloat});     // it was an integer
    convert_values(step, "mode", {.values = {{"walk", "march"}}});  // a value of an enum has another name
    split_values(step, "size", {"width", "length"});                // of a vec2
    join_values(step, {"x", "y", "z"}, "position");                 // a vec3
    // [resource/value_changes]
    const Status status = migrate(blob, registry);
    ASSERT_TRUE(status) << status.message();
    const BlobComponents& ships = blob.component_types()[0];
    std::vector<float> values;
    for (std::size_t column = 0; column < 5; ++column) {
        const auto* const first = reinterpret_cast<const float*>(ships.columns[column]);
        values.insert(values.end(), first, first + ships.schema->columns()[column].element_bytes / sizeof(float));
    }
    EXPECT_EQ(values, (std::vector<float>{20, 3, 4, 5, 6, 7, 8}));
}

}  // namespace

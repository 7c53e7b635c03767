// Copies of entities with all that is below them, entities saved as a prefab, and commands that spawn, copy, link and call.

#include "shoal/world/copy.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/react/position_links.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/state_hash.h"
#include "shoal/transform/transform.h"
#include "shoal/world/entity_blob.h"
#include "shoal/world/world.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

// Named, because g++ gives queries over members of types in an unnamed namespace a name that other sources may give theirs.
namespace copy_test {
namespace {

using namespace shoal;

struct Keel {
    float length = 0;
    Entity captain;  // below the boat, or elsewhere
};
SHOAL_COMPONENT(Keel, length, captain)
struct Sail {
    float area = 0;
};
SHOAL_COMPONENT((Sail, enableable), area)
struct Log {
    std::string text;
    Entity about;
};
SHOAL_COMPONENT(Log, text, about)

/// An entity may have several of these.
struct Visit {
    int day = 0;
    Entity at;
};
SHOAL_COMPONENT((Visit, many), day, at)
struct Watch {
    std::array<Entity, 2> keepers{};
};
SHOAL_COMPONENT(Watch, keepers)
struct Line {
    std::string text;
    Entity about;
};
SHOAL_COMPONENT((Line, many), text, about)
struct Chart {
    std::string title;
    std::array<Entity, 2> stops{};
};
SHOAL_COMPONENT(Chart, title, stops)

using Entities = std::vector<Entity>;

class Harbour : public ::testing::Test {
protected:
    Harbour() {
        world.manager<Log>();
        world.manager<Tag>();
        world.manager<DebugName>();
        world.database().component<Sail>();
    }
    /// A boat with a mast and a flag on it, a captain whom it owns, and a dog whom the captain owns.
    Entity launch() {
        Entities made(5);
        EXPECT_TRUE(entities.create(made));
        boat = made[0], mast = made[1], flag = made[2], captain = made[3], dog = made[4];
        EXPECT_TRUE(transforms.add(Entities{boat, mast, flag, dog}, Transform{}));
        EXPECT_TRUE(transforms.link(transforms.instance(mast), transforms.instance(boat)));
        EXPECT_TRUE(transforms.link(transforms.instance(flag), transforms.instance(mast)));
        transforms.set_position(transforms.instance(boat), {10, 0, 0});
        transforms.set_position(transforms.instance(mast), {0, 0, 5});
        transforms.set_position(transforms.instance(dog), {11, 1, 0});
        EXPECT_TRUE(owners.own(boat, captain));
        EXPECT_TRUE(owners.own(captain, dog));
        EXPECT_TRUE(hulls.add(boat, Keel{7, captain}));
        EXPECT_TRUE(hulls.add(mast, Keel{8, lighthouse}));
        EXPECT_TRUE(world.manager<Log>().add(captain, Log{"a long line that is kept on the heap", boat}));

        for (const Entity entity : {boat, flag}) EXPECT_TRUE(world.database().insert(entity, 3, Sail{2}));
        EXPECT_TRUE(*world.database().remove<Sail>(flag));  // disabled
        for (const char* tag : {"red", "fast"}) EXPECT_TRUE(world.manager<Tag>().add(boat, Tag{StringId(tag)}));
        return boat;
    }
    Vec3 place(Entity entity) { return transforms.world_position(transforms.instance(entity)); }
    std::uint32_t num_tags(Entity entity) {
        std::uint32_t count = 0;
        for (Instance i = world.manager<Tag>().instance(entity); i; i = world.manager<Tag>().next(i)) ++count;
        return count;
    }

    EntityManager entities;
    World world{entities};
    TransformManager& transforms = world.transforms();
    OwnershipManager& owners = world.ownership();
    Manager<Keel>& hulls = world.manager<Keel>();
    Entity lighthouse = *entities.create();
    Entity boat, mast, flag, captain, dog;
};

TEST_F(Harbour, a_copy_has_what_the_original_has_in_every_store) {
    launch();
    ASSERT_TRUE(world.manager<Log>().add(dog, Log{"woof", captain}));
    ASSERT_TRUE(world.manager<Watch>().add(mast, Watch{{captain, lighthouse}}));
    ASSERT_TRUE(world.manager<Chart>().add(mast, Chart{"the coast", {lighthouse, captain}}));
    EXPECT_EQ(entities_below(world, boat).size(), 5u);
    const std::uint64_t num_alive = entities.num_alive();
    const RootPose poses[] = {{.position = {100, 0, 0}}, {.position = {0, 50, 0}, .scale = {2, 2, 2}}};
    const Result<Spawned> copies = copy(world, boat, {.copies = 2, .root_poses = poses});
    ASSERT_TRUE(copies) << copies.message();
    EXPECT_EQ(entities.num_alive(), num_alive + 10);
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
        const Entity twin = copies->entity(0, copy);
        const Entity twin_captain = hulls.get<&Keel::captain>(hulls.instance(twin));
        EXPECT_NE(twin_captain, captain);
        EXPECT_EQ(owners.owner(twin_captain), twin);
        EXPECT_EQ(hulls.get<&Keel::length>(hulls.instance(twin)), 7);
        EXPECT_EQ(place(twin), poses[copy].position);
        const Instance twin_mast = transforms.first_child(transforms.instance(twin));
        EXPECT_EQ(place(transforms.entity(twin_mast)), (poses[copy].position + Vec3{0, 0, copy == 0 ? 5.0f : 10.0f}));
        EXPECT_EQ(hulls.get<&Keel::captain>(hulls.instance(transforms.entity(twin_mast))), lighthouse)
            << "a reference to what was not copied stays";
        const Entity twin_flag = transforms.entity(transforms.first_child(twin_mast));
        Database& sea = world.database();
        EXPECT_EQ(sea.find(twin).table->zone(), 3u);
        EXPECT_TRUE(sea.has<Sail>(twin));
        EXPECT_FALSE(sea.has<Sail>(twin_flag)) << "it is disabled";
        EXPECT_EQ(sea.get<&Sail::area>(sea.find(twin_flag)), 2);
        EXPECT_EQ(num_tags(twin), 2u);
        auto& logs = world.manager<Log>();
        EXPECT_EQ(logs.get<&Log::text>(logs.instance(twin_captain)), "a long line that is kept on the heap");
        EXPECT_EQ(logs.get<&Log::about>(logs.instance(twin_captain)), twin);
        Entity twin_dog;
        owners.for_each_owned(twin_captain, [&](Entity owned) { twin_dog = owned; });
        EXPECT_EQ(logs.get<&Log::about>(logs.instance(twin_dog)), twin_captain);
        auto& watches = world.manager<Watch>();
        EXPECT_EQ((watches.get<&Watch::keepers>(watches.instance(transforms.entity(twin_mast)))),
                  (std::array{twin_captain, lighthouse}))
            << "each of several references for itself";
        auto& charts = world.manager<Chart>();
        EXPECT_EQ((charts.get<&Chart::stops>(charts.instance(transforms.entity(twin_mast)))),
                  (std::array{lighthouse, twin_captain}))
            << "also beside what is more than bytes";
        EXPECT_EQ(place(twin_dog) - place(twin), (copy == 0 ? Vec3{1, 1, 0} : Vec3{2, 2, 0}))
            << "what is owned lies where it lies beside the original";
        EXPECT_TRUE(owners.validate() && transforms.validate());
    }
    entities.destroy(copies->entity(0));
    world.settle();
    EXPECT_EQ(entities.num_alive(), num_alive + 10 - 3) << "a copy, its captain and the dog; the mast stays as a root";
    EXPECT_TRUE(entities.alive(captain));
}

TEST_F(Harbour, a_copy_of_a_part_is_a_root_that_stays_where_it_is_and_keeps_its_owner) {
    launch();
    const Result<Spawned> masts = copy(world, mast);
    ASSERT_TRUE(masts);
    EXPECT_EQ(masts->entities().size(), 2u);
    EXPECT_EQ(place(masts->entity(0)), (Vec3{10, 0, 5}));
    EXPECT_FALSE(transforms.parent(transforms.instance(masts->entity(0))));
    transforms.set_local(transforms.instance(boat), {{1, 2, 3}, {0.1f, 0.7f, 0.5f, 0.5f}, {3, 3, 3}});
    const Result<Spawned> scaled = copy(world, mast);
    ASSERT_TRUE(scaled);
    EXPECT_NEAR(transforms.local(transforms.instance(scaled->entity(0))).scale.x, 3, 1e-4f);
    const RootPose there{.position = {0.3f, 0.2f, 0.1f}, .rotation = {}, .scale = {1.7f, 1.7f, 1.7f}};
    const Result<Spawned> posed = copy(world, boat, {.root_poses = {&there, 1}});
    ASSERT_TRUE(posed);
    EXPECT_EQ(transforms.local(transforms.instance(posed->entity(0))),
              (Transform{there.position, there.rotation, there.scale}))
        << "exactly what was asked for";
    const Result<Spawned> captains = copy(world, captain);
    ASSERT_TRUE(captains);
    EXPECT_EQ(owners.owner(captains->entity(0)), boat);
    EXPECT_EQ(captains->entities().size(), 2u) << "the dog too";
}

TEST_F(Harbour, what_cannot_be_copied_is_refused_and_nothing_has_changed) {
    launch();
    std::uint64_t hash = state_hash(world);
    const RootPose poses[2] = {};
    EXPECT_EQ(copy(world, boat, {.copies = 3, .root_poses = poses}).message().substr(0, 31),
              "2 poses for 3 copies of entity ");
    EXPECT_EQ(copy(world, boat, {.copies = 1, .root_poses = poses}).message().substr(0, 31),
              "2 poses for 1 copies of entity ");
    EXPECT_EQ(copy(world, boat, {.overrides = {{"boat", "transform.position", Vec3{}}}}).message().substr(0, 40),
              "overrides are given for a copy of entity");
    EXPECT_EQ(state_hash(world), hash);
    entities.destroy(lighthouse);
    hash = state_hash(world);
    EXPECT_NE(copy(world, lighthouse).message().find("is dead, so it cannot be copied"), std::string_view::npos);
    EXPECT_NE(save_entities(world, Entities{lighthouse}).message().find("is dead, so it cannot be saved"),
              std::string_view::npos);
    EXPECT_EQ(save_entities(world, Entities{captain}).message(),
              "\"log\" has fields that are more than bytes, which a blob cannot hold");
    EXPECT_EQ(state_hash(world), hash);
    lighthouse = *entities.create();
}

TEST_F(Harbour, saved_entities_are_a_prefab_that_is_spawned_as_often_as_wanted) {
    launch();
    world.manager<Log>().remove(captain);
    const Result<EntityBlob> crew = save_entities(world, Entities{captain, dog});
    ASSERT_TRUE(crew) << crew.message();
    EXPECT_EQ(crew->num_components, 2u) << "the dog's transform and owner; that of the captain is not saved";
    EXPECT_EQ(crew->num_lost_references, 0u);
    for (const Entity entity : {boat, flag})
        ASSERT_TRUE(world.set(entity, "properties.paint", AnyValue(entity == boat ? "teal" : "ochre")).ok());
    const Result<EntityBlob> saved = save_entities(world, entities_below(world, boat), {.name = "boat"});
    ASSERT_TRUE(saved) << saved.message();
    EXPECT_EQ(saved->num_components, 4u + 2u + 2u + 2u + 2u + 2u)
        << "transforms, owners, keels, sails of which one is disabled, tags, and properties";
    EXPECT_EQ(saved->num_lost_references, 1u) << "to the lighthouse";
    const Result<Blob> prefab = Blob::load(saved->bytes);
    ASSERT_TRUE(prefab) << prefab.message();
    EXPECT_EQ(prefab->name(), "boat");
    for (const std::string_view text : {"teal", "ochre"})
        EXPECT_TRUE(std::ranges::any_of(prefab->texts(), [&](const BlobText& one) {
            return prefab->string(one.text) == text;
        })) << text;
    entities.destroy(boat);
    world.settle();
    const Result<Spawned> fleet = world.spawn(*prefab, {.copies = 3});
    ASSERT_TRUE(fleet) << fleet.message();
    EXPECT_EQ(hulls.num_components(), 1u + 6u) << "the old mast and two in each copy";
    EXPECT_EQ(place(fleet->entity(0, 2)), (Vec3{10, 0, 0}));
    const Instance twin_mast = transforms.first_child(transforms.instance(fleet->entity(0)));
    EXPECT_EQ(hulls.get<&Keel::captain>(hulls.instance(transforms.entity(twin_mast))), kNullEntity);
}

TEST_F(Harbour, of_two_databases_each_says_where_its_own_entities_lie) {
    PagePool pool;
    Database second(entities, pool);
    ASSERT_TRUE(world.attach(second));
    Entities made(2);
    ASSERT_TRUE(entities.create(made));
    for (std::uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(world.database().insert(made[i], Zone(1 + i), Sail{}));
    ASSERT_TRUE(owners.own(made[0], made[1]));
    EXPECT_EQ(entities_in(world, {1}), Entities{made[0]}) << "what it owns lies in another zone";
    const Result<EntityBlob> saved = save_zones(world, {1});
    ASSERT_TRUE(saved) << saved.message();
    const Result<Spawned> spawned = world.spawn(*Blob::load(saved->bytes));
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(world.database().find(spawned->entity(0)).table->zone(), 1u);
}

// --- commands ----------------------------------------------------------------------------------------------------

std::vector<std::byte> rowing_boat() {
    BlobWriter writer;
    const std::uint32_t boat = writer.add_entity({.name = "boat"}), oar = writer.add_entity({.parent = boat});
    const std::uint32_t hull = *writer.add_component_type(schema_of<Keel>());
    const std::uint32_t transform = *writer.add_component_type(schema_of<Transform>());
    const std::uint32_t sail = *writer.add_component_type(schema_of<Sail>());
    writer.add_component(sail, oar, blob_default_image(schema_of<Sail>()));
    writer.add_component(sail, boat, blob_default_image(schema_of<Sail>()));
    for (const std::uint32_t entity : {boat, oar}) {
        std::vector<std::byte> image = blob_default_image(schema_of<Keel>());
        const float length = entity == boat ? 3 : 2;
        std::memcpy(image.data(), &length, sizeof length);
        writer.add_component(hull, entity, image);
        writer.add_component(transform, entity, blob_default_image(schema_of<Transform>()));
    }
    return *writer.write();
}

TEST_F(Harbour, commands_spawn_copy_link_own_name_and_tag) {
    launch();
    const std::vector<std::byte> bytes = rowing_boat();
    const Result<Blob> blob = Blob::view(bytes);
    ASSERT_TRUE(blob) << blob.message();
    Commands& commands = world.commands();
    const Entity spawned = commands.spawn(*blob, {.position = {1, 2, 3}}, 9);
    const Entity copied = commands.copy(boat, {.position = {5, 5, 5}});
    const Entity second = commands.copy(boat);
    const Entity gone = commands.spawn(*blob);
    commands.destroy(gone);
    commands.add(spawned, Owned{copied}, Sail{4});
    commands.add(spawned, Tag{StringId("old")});
    commands.add(spawned, Tag{StringId("leaking")}, DebugName{StringId("Ann")});
    commands.add(spawned, ChildOf{lighthouse});  // which has no transform
    commands.add(second, ChildOf{copied});
    commands.remove<ChildOf>(mast);
    commands.remove<Tag>(boat);
    commands.add(boat, Tag{StringId("blue")});
    commands.add(second, Keel{70, spawned});
    Entity real;
    std::string order;
    commands.call(spawned, [&](Entity self) { real = self, order += 'a'; });
    commands.call(second, copied, [&](Entity self, Entity other) {
        order += 'b';
        EXPECT_EQ(place(other), (Vec3{5, 5, 5}));
        EXPECT_EQ(transforms.entity(transforms.parent(transforms.instance(self))), other);
    });
    commands.call(gone, [&](Entity) { order += 'x'; });
    const std::uint64_t num_alive = entities.num_alive();
    world.settle();
    EXPECT_EQ(order, "ab");
    EXPECT_EQ(entities.num_alive(), num_alive + 2 + 5 + 5);
    EXPECT_EQ(world.settle_statistics().last.num_created, 12u);
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 2u) << "the link and the call of what is gone";
    ASSERT_TRUE(entities.alive(real));
    EXPECT_EQ(place(real), (Vec3{1, 2, 3}));
    EXPECT_EQ(world.database().find(real).table->zone(), 9u);
    EXPECT_EQ(num_tags(real), 2u);
    EXPECT_EQ(world.manager<DebugName>().get<&DebugName::name>(world.manager<DebugName>().instance(real)),
              StringId("Ann"));
    EXPECT_EQ(num_tags(boat), 1u) << "what was added after the removal counts";
    EXPECT_FALSE(transforms.parent(transforms.instance(mast)));
    EXPECT_EQ(transforms.entity(transforms.parent(transforms.instance(flag))), mast);
    const Entity owner = owners.owner(real);
    EXPECT_EQ(place(owner), (Vec3{5, 5, 5}));
}

TEST_F(Harbour, each_copy_that_commands_ask_for_lies_where_its_own_command_says) {
    launch();
    const std::vector<std::byte> bytes = rowing_boat();
    const Result<Blob> blob = Blob::view(bytes);
    ASSERT_TRUE(blob) << blob.message();
    Commands& commands = world.commands();
    std::vector<std::pair<Entity, Vec3>> found;
    for (float x = 1; x < 4; ++x) {
        const Vec3 spawned{x, 0, 0}, copied{0, x, 0};
        const Zone zone = x == 2 ? 5u : 9u;
        commands.call(commands.spawn(*blob, {.position = spawned}, zone), [&found, spawned, zone, this](Entity made) {
            found.emplace_back(made, spawned);
            EXPECT_EQ(world.database().find(made).table->zone(), zone);
        });
        commands.call(commands.copy(boat, {.position = copied}),
                      [&found, copied](Entity made) { found.emplace_back(made, copied); });
    }
    world.settle();
    ASSERT_EQ(found.size(), 6u);
    for (const auto& [made, where] : found) EXPECT_EQ(place(made), where);
}

TEST_F(Harbour, dead_originals_are_dropped_and_what_cannot_be_spawned_is_counted) {
    launch();
    BlobWriter empty;
    const std::vector<std::byte> bytes = *empty.write();
    const Result<Blob> nothing = Blob::view(bytes);
    ASSERT_TRUE(nothing);
    Commands& commands = world.commands();
    const Entity dead = *entities.create();
    entities.destroy(dead);
    const Entity first = commands.copy(dead), second = commands.spawn(*nothing);
    commands.add(first, Keel{});
    commands.add(second, Keel{});
    const std::uint64_t num_alive = entities.num_alive();
    world.settle();
    EXPECT_EQ(entities.num_alive(), num_alive);
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 4u);
}

/// Has room for three keels.
TEST(FullHarbour, what_a_store_refuses_to_spawn_or_to_copy_by_command_leaves_nothing_alive_and_is_counted) {
    BlobWriter writer;
    writer.set_name("keels");
    const std::uint32_t type = writer.add_component_type(schema_of<Keel>()).value();
    const Keel keel{3, {}};
    for (int i = 0; i < 2; ++i) writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&keel, 1)));
    const Blob blob = *Blob::load(writer.write().value());
    for (const bool copies : {false, true}) {
        SCOPED_TRACE(copies);
        EntityManager others;
        World other(others);
        Manager<Keel>& keels = other.manager<Keel>({.capacity_rows = 3});
        const Entity boat = *others.create(), lighthouse = *others.create();
        ASSERT_TRUE(keels.add(boat, keel) && keels.add(lighthouse, Keel{}));
        other.settle();
        Commands& commands = other.commands();
        Entities promised;
        bool is_called = false;
        for (int i = 0; i < 2; ++i) {
            const Entity made = copies ? commands.copy(boat) : commands.spawn(blob);
            commands.call(made, [&](Entity) { is_called = true; });
            commands.add(lighthouse, Keel{5, made});
        }
        other.settle();
        EXPECT_EQ(others.num_alive(), 2u);
        EXPECT_EQ(keels.num_rows(), 2u);
        EXPECT_FALSE(is_called);
        EXPECT_FALSE(others.alive(keels.get<&Keel::captain>(keels.instance(lighthouse))));
        EXPECT_EQ(other.settle_statistics().last.num_created, 0u);
        const Entity made = other.commands().copy(boat);  // of which there is room for one
        other.commands().call(made, [&](Entity) { is_called = true; });
        other.settle();
        EXPECT_TRUE(is_called);
        EXPECT_EQ(others.num_alive(), 3u);
        EXPECT_EQ(other.settle_statistics().last.num_created, 1u);
    }
}

TEST(FullHarbour, commands_spawn_into_the_zones_that_they_name_and_copy_what_they_make_themselves) {
    BlobWriter writer;
    writer.set_name("keel");
    const Keel keel{3, {}};
    writer.add_component(writer.add_component_type(schema_of<Keel>()).value(), writer.add_entity({}),
                         std::as_bytes(std::span(&keel, 1)));
    const Blob blob = *Blob::load(writer.write().value());
    EntityManager entities;
    World world(entities);
    Database& database = world.database({.first_zone = 2});
    ASSERT_TRUE(world.directory().claim<Keel>(database).ok());
    const Entity dead = *entities.create();
    entities.destroy(dead);
    for (int round = 0; round < 2; ++round) {
        Commands& commands = world.commands();
        const Entity spawned = commands.spawn(blob, RootPose{}, 3);
        const Entity asked[] = {spawned,
                                commands.spawn(blob, 5, {}),
                                commands.spawn(blob),
                                commands.spawn(blob, RootPose{}, 7),
                                commands.spawn(blob, RootPose{}, 3),
                                commands.copy(spawned)};
        std::vector<Zone> zones;
        for (const Entity one : asked)
            commands.call(one, [&](Entity self) { zones.push_back(database.find(self).table->zone()); });
        for (int i = 0; i < 3; ++i) static_cast<void>(commands.copy(dead));
        world.settle();
        EXPECT_EQ(zones, (std::vector<Zone>{3, 5, 2, 7, 3, 3}));
        EXPECT_EQ(world.settle_statistics().last.num_created, 6u);
        EXPECT_EQ(world.settle_statistics().last.num_dropped, 3u);
    }
}

TEST_F(Harbour, of_several_tags_all_adds_after_the_last_remove_count_in_order) {
    const Entity entity = *entities.create();
    Commands& commands = world.commands();
    commands.add(entity, Tag{StringId("lost")});
    commands.remove<Tag>(entity);
    for (const char* tag : {"a", "b", "c"}) commands.add(entity, Tag{StringId(tag)});
    world.settle();
    std::vector<StringId> tags;
    auto& all = world.manager<Tag>();
    for (Instance i = all.instance(entity); i; i = all.next(i)) tags.push_back(all.get<&Tag::tag>(i));
    EXPECT_EQ(tags, (std::vector<StringId>{StringId("c"), StringId("b"), StringId("a")})) << "newest first";
}

TEST_F(Harbour, a_command_that_unlinks_keeps_the_place_in_the_world_as_the_call_does) {
    Entities made(5);
    ASSERT_TRUE(entities.create(made));
    const Transform locals[] = {{.position = {1, 0, 0}}, {.position = {0, 2, 0}}, {.position = {0, 0, 3}}, {}, {}};
    const std::uint32_t parents[] = {kNilRow, 0, 0, 0, kNilRow};
    ASSERT_TRUE(transforms.add(made, locals, parents));
    world.commands().remove<ChildOf>(made[1]);
    world.commands().add(made[2], ChildOf{});
    world.commands().add(made[4], ChildOf{made[0]});
    world.settle();
    transforms.unlink(transforms.instance(made[3]));
    for (const std::size_t i : {1, 2, 3}) EXPECT_FALSE(transforms.parent(transforms.instance(made[i])));
    EXPECT_EQ(place(made[1]), (Vec3{1, 2, 0}));
    EXPECT_EQ(place(made[2]), (Vec3{1, 0, 3}));
    EXPECT_EQ(place(made[3]), (Vec3{1, 0, 0}));
    EXPECT_EQ(place(made[4]), (Vec3{1, 0, 0})) << "linking keeps the local pose, as link() does";
}

TEST_F(Harbour, commands_name_and_tag_with_texts_that_the_world_keeps) {
    for (const bool in_database : {false, true}) {
        ThreadedExecutor executor(2);
        World sea(entities, {.executor = &executor});
        if (in_database) {
            ASSERT_TRUE(sea.directory().claim<Tag>(sea.database()));
            ASSERT_TRUE(sea.directory().claim<DebugName>(sea.database()));
        }
        auto& keels = sea.manager<Keel>();
        Entities fleet(3000);
        ASSERT_TRUE(entities.create(fleet));
        ASSERT_TRUE(keels.add(fleet));
        sea.commands();
        sea.schedule().add("christen", sea.query<With<Keel>>(), [](Commands& commands, Entity self) {
            const std::string number = std::to_string(self.index());
            commands.name(self, "ship " + number);
            commands.tag(self, "afloat");
            commands.tag(self, "afloat");
            commands.tag(self, "ship_with_a_long_name_" + number);
            commands.tag(self, "in_dock");
            commands.untag(self, "in_dock");
        });
        sea.step(0.1f);
        const auto text = [&](Entity entity, const char* field) {
            const Result<StringId> id = sea.get<StringId>(entity, field);
            return id ? std::string(sea.strings().text(*id)) : std::string("none");
        };
        for (const Entity ship : fleet) {
            const std::string number = std::to_string(ship.index());
            ASSERT_EQ(text(ship, "debug_name.name"), "ship " + number);
            ASSERT_EQ(text(ship, "tag[0].tag"), "ship_with_a_long_name_" + number);
            ASSERT_EQ(text(ship, "tag[1].tag"), "afloat") << "once";
            ASSERT_EQ(text(ship, "tag[2].tag"), "none");
        }
        Commands& commands = sea.commands();
        const Entity boat = commands.create(Keel{});
        Entity real;
        commands.name(boat, "launch");
        commands.call(boat, [&](Entity self) { real = self; });
        commands.name(fleet[0], "");
        commands.untag(fleet[1], "afloat");
        commands.tag(fleet[2], "");  // a line in the log
        const Entity sunk = commands.create(Keel{});
        commands.destroy(sunk);
        commands.name(sunk, "a name that nobody gets");
        ASSERT_TRUE(sea.schedule().remove("christen"));
        sea.settle();
        EXPECT_EQ(text(real, "debug_name.name"), "launch");
        EXPECT_EQ(text(fleet[0], "debug_name.name"), "none");
        EXPECT_EQ(text(fleet[1], "tag[1].tag"), "none");
        EXPECT_EQ(text(fleet[2], "tag[1].tag"), "afloat");
        entities.destroy(fleet);
    }
}

TEST_F(Harbour, links_are_made_when_all_else_is_there) {
    Entities made(6);
    ASSERT_TRUE(entities.create(made));
    Commands& commands = world.commands();
    commands.add(made[1], ChildOf{made[0]});  // both get their transforms later in the list
    commands.add(made[0], Transform{});
    commands.add(made[0], Keel{});
    commands.add(made[1], Transform{});
    commands.add(made[3], ChildOf{made[2]});
    commands.add(made[2], Transform{});
    commands.add(made[3], ChildOf{made[1]});  // the last counts
    commands.add(made[3], Transform{});
    commands.create(0, ChildOf{made[2]}, Transform{});
    commands.add(made[4], Transform{}, ChildOf{made[5]});  // its parent has no transform
    world.settle();
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u);
    const auto parent = [&](Entity child) {
        const Instance above = transforms.parent(transforms.instance(child));
        return above ? transforms.entity(above) : kNullEntity;
    };
    EXPECT_EQ(parent(made[1]), made[0]);
    EXPECT_EQ(parent(made[3]), made[1]);
    EXPECT_TRUE(transforms.first_child(transforms.instance(made[2])));
    EXPECT_TRUE(transforms.has(made[4]));
    entities.destroy(made[0]);
    world.commands().add(made[3], ChildOf{made[0]});
    world.settle();
    EXPECT_EQ(world.settle_statistics().last.num_dropped, 1u) << "a dead parent";
    EXPECT_EQ(parent(made[3]), made[1]);
}

TEST_F(Harbour, what_hangs_below_what_is_owned_is_copied_as_it_hangs) {
    launch();
    // The dog sits on the mast, which is found later than the dog: it is owned, and the mast is a grandchild.
    ASSERT_TRUE(transforms.link(transforms.instance(dog), transforms.instance(flag)));
    transforms.set_position(transforms.instance(dog), {0, 1, 0});
    ASSERT_TRUE(owners.own(boat, dog));
    const RootPose pose{.position = {100, 0, 0}};
    const Result<Spawned> copies = copy(world, boat, {.root_poses = {&pose, 1}});
    ASSERT_TRUE(copies) << copies.message();
    Entity twin_dog;
    owners.for_each_owned(copies->entity(0), [&](Entity owned) {
        if (transforms.has(owned)) twin_dog = owned;
    });
    ASSERT_TRUE(twin_dog);
    const Instance above = transforms.parent(transforms.instance(twin_dog));
    ASSERT_TRUE(above);
    EXPECT_NE(transforms.entity(above), flag);
    EXPECT_EQ(place(twin_dog), (Vec3{100, 1, 5}));
}

TEST_F(Harbour, a_chain_of_30000_is_copied) {
    Entities chain(30'000);
    ASSERT_TRUE(entities.create(chain));
    ASSERT_TRUE(transforms.add(chain, Transform{}));
    for (std::size_t i = 1; i < chain.size(); ++i)  // from the top: what is linked has nothing below it
        ASSERT_TRUE(transforms.link(transforms.instance(chain[i]), transforms.instance(chain[i - 1])));
    const Entities below = entities_below(world, chain[1]);
    EXPECT_TRUE(std::ranges::equal(below, std::span(chain).subspan(1)));
    const Result<Spawned> copies = copy(world, chain[0]);
    ASSERT_TRUE(copies) << copies.message();
    ASSERT_EQ(copies->entities().size(), chain.size());
    EXPECT_EQ(transforms.entity(transforms.parent(transforms.instance(copies->entity(29'999)))),
              copies->entity(29'998));
}

struct Moored {
    float rope = 0;
    Vec3 place{};
};
SHOAL_COMPONENT((Moored, whole), rope, place)
struct Adrift {
    float speed = 0;
    Vec3 place{};
};
SHOAL_COMPONENT(Adrift, speed, (place, split))

/// Copies an entity at {4, 0, 0}, with a child at {4, 3, 0}, to {-2, 1, 0}.
template <class T>
void copy_in_tiles(bool has_transform) {
    EntityManager others;
    World sea(others);
    const GridZones tiles({.origin = {-8, -8, 0}, .tile_size = 4, .num_x = 4, .num_y = 4, .first_zone = 1});
    sea.transforms(), sea.database().component<T>();
    sea.position_links().template keep_in_tiles<&T::place>(tiles);
    Entities made(2);
    ASSERT_TRUE(others.create(made));
    const Transform poses[] = {{.position = {4, 0, 0}}, {.position = {0, 3, 0}}};
    const std::uint32_t parents[] = {kNilRow, 0};
    if (has_transform) {
        ASSERT_TRUE(sea.transforms().add(made, poses, parents));
    }
    for (std::size_t i = 0; i < (has_transform ? 2 : 1); ++i) {
        T value;
        value.place = {4, i == 0 ? 0.0f : 3.0f, 0};
        ASSERT_TRUE(sea.database().add(made[i], value));
    }
    sea.settle();
    const RootPose there{.position = {-2, 1, 0}};
    const Result<Spawned> copies = copy(sea, made[0], {.root_poses = {&there, 1}});
    ASSERT_TRUE(copies) << copies.message();
    for (std::size_t i = 0; i < copies->entities().size(); ++i) {
        const DatabaseRow at = sea.database().find(copies->entities()[i]);
        const Vec3 place{-2, i == 0 ? 1.0f : 4.0f, 0};
        EXPECT_EQ(sea.database().get<&T::place>(at), place);
        EXPECT_EQ(at.table->zone(), tiles.zone_of(place));
    }
    ASSERT_TRUE(sea.database().move(made[0], 2));  // the program puts it elsewhere, until the world settles
    const Result<Spawned> there_too = copy(sea, made[0]);
    ASSERT_TRUE(there_too) << there_too.message();
    EXPECT_EQ(sea.database().find(there_too->entity(0)).table->zone(), 2u);
}

TEST_F(Harbour, services_are_told_of_spawns_and_not_of_copies) {
    struct Told final : WorldService {
        Told() : WorldService("told") {}
        void spawned(const Blob&, const Spawned&, const SpawnOptions&) override { ++num_spawns; }
        int num_spawns = 0;
    } told;
    world.services().add(told);
    ASSERT_TRUE(copy(world, launch()));
    EXPECT_EQ(told.num_spawns, 0);
    const Result<EntityBlob> saved = save_entities(world, Entities{mast});
    ASSERT_TRUE(saved && world.spawn(*Blob::load(saved->bytes)));
    EXPECT_EQ(told.num_spawns, 1);
    world.services().remove(told);
}

TEST(CopiesInTiles, lie_where_their_pose_says_and_so_says_the_field_of_their_tile) {
    copy_in_tiles<Moored>(true);
    copy_in_tiles<Adrift>(true);
    copy_in_tiles<Moored>(false);
    copy_in_tiles<Adrift>(false);
}

TEST_F(Harbour, components_of_the_database_that_are_more_than_bytes_are_copied_too) {
    EntityManager others;
    World sea(others);
    sea.database().component<Log>();
    Entities made(40);
    ASSERT_TRUE(sea.database().create<Log>(made, 2));
    for (const Entity entity : made)
        ASSERT_TRUE(sea.database().add(entity, Log{"kept in the database, and on the heap", entity}));
    const Result<Spawned> copies = copy(sea, made.back(), {.copies = 5});
    ASSERT_TRUE(copies) << copies.message();
    for (const Entity copy : copies->entities()) {
        const DatabaseRow row = sea.database().find(copy);
        EXPECT_EQ(sea.database().get<&Log::text>(row), "kept in the database, and on the heap");
        EXPECT_EQ(sea.database().get<&Log::about>(row), copy);
        EXPECT_EQ(row.table->zone(), 2u);
    }
}

TEST_F(Harbour, a_copy_of_an_entity_without_components_in_the_database_has_a_row_in_the_zone_of_the_original) {
    Database& database = world.database();
    launch();
    ASSERT_TRUE(database.insert(Entities{mast, captain}, database.archetype({}), 7));
    for (const Zone zone : {kNoZone, Zone(9)}) {
        const Result<Spawned> copies = copy(world, boat, {.copies = 2, .zone = zone});
        ASSERT_TRUE(copies) << copies.message();
        std::vector<Zone> zones;
        for (const Entity copy : copies->entities())
            if (database.has_row(copy)) zones.push_back(database.find(copy).table->zone());
        std::sort(zones.begin(), zones.end());
        const std::vector<Zone> expected =
            zone == kNoZone ? std::vector<Zone>{3, 3, 3, 3, 7, 7, 7, 7} : std::vector<Zone>(8, zone);
        EXPECT_EQ(zones, expected);
        EXPECT_TRUE(database.validate().ok());
    }
    const Result<Spawned> alone = copy(world, mast);
    ASSERT_TRUE(alone && database.has_row(alone->entity(0)));
    EXPECT_EQ(database.find(alone->entity(0)).table->zone(), 7u);
}

TEST_F(Harbour, several_values_in_the_database_are_copied_in_their_order_and_refer_to_copies) {
    EntityManager others;
    World sea(others);
    Database& database = sea.database();
    sea.database().component<Visit>();
    sea.database().component<Line>();
    const Entity port = *others.create();
    Entities made(3);
    ASSERT_TRUE(database.create<Sail>(made, 2));
    for (const Entity entity : made)
        for (int i = 0; i < 4; ++i) {
            ASSERT_TRUE(database.add(entity, Visit{i, i % 2 == 0 ? entity : port}));
            ASSERT_TRUE(database.add(entity, Line{std::string(40, char('a' + i)), entity}));
        }
    const Result<Spawned> copies = copy(sea, made[1], {.copies = 3});
    ASSERT_TRUE(copies) << copies.message();
    for (const Entity copy : copies->entities()) {
        ASSERT_EQ(database.num_values<Visit>(copy), 4u);
        ASSERT_EQ(database.num_values<Line>(copy), 4u);
        for (std::uint32_t index = 0; index < 4; ++index) {
            const int i = 3 - static_cast<int>(index);  // what was added last comes first
            EXPECT_EQ(database.get_value<&Visit::day>(copy, index), i);
            EXPECT_EQ(database.get_value<&Visit::at>(copy, index), i % 2 == 0 ? copy : port);
            EXPECT_EQ(database.get_value<&Line::text>(copy, index), std::string(40, char('a' + i)));
            EXPECT_EQ(database.get_value<&Line::about>(copy, index), copy);
        }
        EXPECT_EQ(database.find(copy).table->zone(), 2u);
    }
    EXPECT_EQ(database.validate().message(), "");
    const std::uint64_t before = state_hash(sea);
    database.set_value<&Visit::day>(made[0], 2, 77);
    EXPECT_NE(state_hash(sea), before) << "it tells of all values";
    EXPECT_EQ(*sea.get<int>(made[0], "visit[2].day"), 77);
}

TEST_F(Harbour, a_pass_spawns_and_copies_the_same_with_any_number_of_workers) {
    const std::vector<std::byte> bytes = rowing_boat();
    const Result<Blob> blob = Blob::view(bytes);
    ASSERT_TRUE(blob);
    const auto hash_with = [&](std::uint32_t num_workers) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        EntityManager entities;
        World world(entities, {.executor = &executor});
        auto& hulls = world.manager<Keel>();
        world.transforms();
        world.ownership();
        world.database().component<Sail>();
        Entities made(9000);
        EXPECT_TRUE(entities.create(made));
        EXPECT_TRUE(hulls.add(made, Keel{}));
        EXPECT_TRUE(world.transforms().add(std::span(made).first(50), Transform{}));
        world.schedule().add("breed", world.query<Read<&Keel::length>>(), [&](Commands& commands, Entity self, float) {
            const float x = float(self.index());
            if (self.index() % 7 == 0) commands.add(commands.spawn(*blob, {.position = {x, 0, 0}}), Owned{self});
            if (self.index() < 40) commands.add(commands.copy(self, {.position = {0, x, 0}}), ChildOf{self});
            if (self.index() % 50 == 3) commands.call(self, [&](Entity who) { entities.destroy(who); });
        });
        world.step(0.1f);
        EXPECT_EQ(world.settle_statistics().last.num_dropped, 0u);
        EXPECT_TRUE(world.transforms().validate());
        return std::pair(state_hash(world), entities.num_alive());
    };
    const auto alone = hash_with(1);
    EXPECT_GT(alone.second, 9000u + 2 * 1285 - 200);
    for (const std::uint32_t num_workers : {2u, 3u, 8u}) EXPECT_EQ(hash_with(num_workers), alone);
}

TEST_F(Harbour, calls_keep_what_their_functions_hold_until_they_end) {
    auto held = std::make_shared<int>(0);
    world.commands().call(lighthouse, [held](Entity) { ++*held; });
    EXPECT_EQ(held.use_count(), 2);
    world.settle();
    EXPECT_EQ(*held, 1);
    EXPECT_EQ(held.use_count(), 1);
}

using HarbourDeathTest = Harbour;

TEST_F(HarbourDeathTest, commands_that_need_a_world_end_the_program_without_one) {
    PagePool pool;
    Database copies(entities, pool);
    copies.commands().copy(lighthouse);
    EXPECT_DEATH(copies.settle({}), "commands spawn and copy in worlds");
}

}  // namespace
}  // namespace copy_test

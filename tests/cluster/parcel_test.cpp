// Entities in messages, and what comes of messages that make no sense.

#include "cluster/parcel.h"
#include "cluster/components.h"
#include "cluster/remote_commands.h"
#include "cluster/zone_rows.h"
#include "shoal/command/commands.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

namespace shoal {

struct ParcelBody {
    float mass = 1;
    Entity other{};
};
SHOAL_COMPONENT(ParcelBody, mass, other)
struct ParcelSleep {
    std::uint32_t depth = 0;
};
SHOAL_COMPONENT((ParcelSleep, enableable), depth)
struct ParcelLoad {
    float value = 0;
};
SHOAL_COMPONENT(ParcelLoad, value)

namespace {

using cluster::EntityNames;
using cluster::MessageReader;
using cluster::MessageWriter;

struct Side {
    Side() { world.database(), world.manager<ParcelLoad>(), world.transforms(), world.ownership(), world.properties(); }

    Entity find(cluster::Name name) const { return names.find(name); }

    EntityManager entities;
    World world{entities};
    EntityNames names{8};
};

/// An entity with something in every store, one that it owns, and a child.
struct Sent : Side {
    Sent() {
        Database& database = world.database();
        far = *database.create(Zone(3), ParcelBody{9, {}});
        boat = *database.create(Zone(2), ParcelBody{4, far}, Disabled{ParcelSleep{7}});
        EXPECT_TRUE(entities.create(std::span(&child, 1)).ok());
        EXPECT_TRUE(entities.create(std::span(&owned, 1)).ok());
        world.commands().add(boat, ParcelLoad{2.5f}, Transform{.position = {1, 2, 3}});
        world.commands().add(child, Transform{.position = {0, 1, 0}}, ChildOf{boat});
        world.commands().add(owned, Owned{boat});
        world.commands().name(boat, "Beagle");
        world.commands().tag(boat, "afloat");
        world.commands().tag(boat, "old");
        world.settle();
        EXPECT_TRUE(world.properties().set(boat, "armor", 3.5f).ok());
        names.set(boat, names.next(2));
        names.set(far, names.next(3));
    }

    MessageWriter packed() {
        MessageWriter to;
        const Entity all[] = {boat, child, owned};
        const Status status = cluster::pack(world, names, 1, all, to);
        EXPECT_TRUE(status.ok()) << status.message();
        return to;
    }

    Entity boat{}, far{}, child{}, owned{};
};

// req: H4
TEST(Parcel, an_entity_arrives_with_all_that_it_has) {
    Sent sent;
    Side other;
    const MessageWriter message = sent.packed();
    MessageReader from(message.bytes());
    const Result<std::vector<Entity>> arrived = cluster::unpack(other.world, other.names, from);
    ASSERT_TRUE(arrived.ok()) << arrived.message();
    ASSERT_TRUE(from.is_done());
    ASSERT_EQ(arrived->size(), 3u);
    const auto [boat, child, owned] = std::tuple((*arrived)[0], (*arrived)[1], (*arrived)[2]);
    World& world = other.world;
    EXPECT_EQ(other.names.name(boat), sent.names.name(sent.boat));
    EXPECT_EQ(world.database().find(boat).table->zone(), 2u);
    EXPECT_EQ(*world.get<&ParcelBody::mass>(boat), 4);
    EXPECT_EQ(*world.get<&ParcelLoad::value>(boat), 2.5f);
    EXPECT_FALSE(world.database().has<ParcelSleep>(boat)) << "what was disabled is enabled";
    EXPECT_TRUE(world.database().find(boat).table->type().has(world.database().find_component<ParcelSleep>()));
    EXPECT_EQ(world.transforms().parent(world.transforms().instance(child)), world.transforms().instance(boat));
    EXPECT_EQ(cluster::hash_of(world, other.names, boat), cluster::hash_of(sent.world, sent.names, sent.boat));
    EXPECT_EQ(cluster::hash_of(world, other.names, child), cluster::hash_of(sent.world, sent.names, sent.child));
    EXPECT_EQ(cluster::hash_of(world, other.names, owned), cluster::hash_of(sent.world, sent.names, sent.owned));
    const Entity far = *world.get<&ParcelBody::other>(boat);
    EXPECT_EQ(other.names.name(far), sent.names.name(sent.far)) << "a reference to an entity that stays is lost";
    EXPECT_TRUE(other.names.is_away(far));
}

// req: H4
TEST(Parcel, an_entity_that_is_known_by_name_keeps_its_id) {
    Sent sent;
    Side other;
    const Entity copy = *other.world.database().create(Zone(2), ParcelBody{1, {}});
    other.names.set(copy, sent.names.name(sent.boat));
    other.names.mark_copy(copy, true);
    const MessageWriter message = sent.packed();
    MessageReader from(message.bytes());
    const Result<std::vector<Entity>> arrived = cluster::unpack(other.world, other.names, from);
    ASSERT_TRUE(arrived.ok()) << arrived.message();
    EXPECT_EQ((*arrived)[0], copy);
    EXPECT_FALSE(other.names.is_copy(copy));
    EXPECT_EQ(*other.world.get<&ParcelBody::mass>(copy), 4);
}

TEST(Parcel, a_reference_to_a_dead_entity_stays_one_and_null_stays_null) {
    Side side, other;
    Entity boats[3], gone[2];
    for (Entity& one : gone) one = *side.entities.create();
    for (std::size_t i = 0; i < 3; ++i) {
        boats[i] = *side.world.database().create(Zone(2), ParcelBody{1, i < 2 ? gone[i] : kNullEntity});
        side.names.set(boats[i], side.names.next(2));
    }
    side.entities.destroy(std::span<const Entity>(gone));
    side.world.settle();
    MessageWriter message;
    ASSERT_TRUE(cluster::pack(side.world, side.names, 1, boats, message).ok());
    MessageReader from(message.bytes());
    const Result<std::vector<Entity>> arrived = cluster::unpack(other.world, other.names, from);
    ASSERT_TRUE(arrived.ok()) << arrived.message();
    for (std::size_t i = 0; i < 2; ++i) {
        const Entity dead = *other.world.get<&ParcelBody::other>((*arrived)[i]);
        EXPECT_TRUE(dead) << "a pass takes it for one that never was";
        EXPECT_FALSE(other.entities.alive(dead));
    }
    EXPECT_EQ(*other.world.get<&ParcelBody::other>((*arrived)[2]), kNullEntity);
    EXPECT_EQ(other.entities.num_alive(), 3u);
}

TEST(Parcel, an_entity_that_is_here_already_is_refused) {
    Sent sent;
    const MessageWriter message = sent.packed();
    MessageReader from(message.bytes());
    const Result<std::vector<Entity>> arrived = cluster::unpack(sent.world, sent.names, from);
    ASSERT_FALSE(arrived.ok());
    EXPECT_NE(arrived.message().find("is here already"), std::string_view::npos) << arrived.message();
}

TEST(Parcel, damaged_ones_are_refused_or_taken_and_do_no_harm) {
    Sent sent;
    const cluster::Bytes sound = sent.packed().take();
    Random random(shoal_test::seed());
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(2000); ++i) {
        cluster::Bytes damaged = sound;
        for (std::uint32_t times = 1 + random.below(3); times != 0; --times)
            damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] = std::byte(random.below(256));
        if (random.below(4) == 0) damaged.resize(random.below(static_cast<std::uint32_t>(damaged.size())));
        Side other;
        MessageReader from(damaged);
        static_cast<void>(cluster::unpack(other.world, other.names, from));
        other.world.settle();
        ASSERT_TRUE(other.world.database().validate().ok());
    }
}

TEST(RemoteCommands, a_value_that_refers_to_a_dead_entity_does_so_at_the_owner) {
    Sent sent, owner;
    sent.names.mark_copy(sent.far, true);
    const Entity gone = *sent.entities.create();
    sent.entities.destroy(gone);
    sent.world.commands().set<&ParcelBody::other>(sent.far, gone);
    cluster::RemoteCommands commands(sent.world, sent.names, 0), taken(owner.world, owner.names, 1);
    ASSERT_TRUE(taken.give(commands.take([](Entity) { return 4u; })[4].take()).ok());
    owner.world.settle();
    const Entity dead = *owner.world.get<&ParcelBody::other>(owner.far);
    EXPECT_TRUE(dead);
    EXPECT_FALSE(owner.entities.alive(dead));
}

TEST(RemoteCommands, damaged_ones_are_refused_or_taken_and_do_no_harm) {
    Sent sent;
    const Entity copy = sent.far;
    sent.names.mark_copy(copy, true);
    sent.world.commands().add(copy, ParcelBody{2, sent.boat}, ParcelSleep{1});
    sent.world.commands().set<&ParcelBody::mass>(copy, 5.0f);
    sent.world.commands().tag(copy, "seen");
    sent.world.commands().move(copy, 1);
    sent.world.commands().remove<ParcelSleep>(copy);
    sent.world.commands().add(copy, Disabled{ParcelSleep{3}});
    cluster::RemoteCommands commands(sent.world, sent.names, 0);
    auto messages = commands.take([](Entity) { return 4u; });
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(commands.num_sent(), 6u);
    const cluster::Bytes sound = messages[4].take();
    Random random(shoal_test::seed());
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(2000); ++i) {
        cluster::Bytes damaged = sound;
        if (i != 0) damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] = std::byte(random.below(256));
        if (i % 4 == 3) damaged.resize(random.below(static_cast<std::uint32_t>(damaged.size())));
        Sent owner;
        cluster::RemoteCommands taken(owner.world, owner.names, 1);
        const Status given = taken.give(damaged);
        owner.world.settle();
        ASSERT_TRUE(owner.world.database().validate().ok());
        if (i != 0) continue;
        ASSERT_TRUE(given.ok()) << given.message();
        EXPECT_EQ(*owner.world.get<&ParcelBody::mass>(owner.far), 5);
        EXPECT_EQ(*owner.world.get<&ParcelBody::other>(owner.far), owner.boat) << "a name became another entity";
        EXPECT_EQ(owner.world.database().find(owner.far).table->zone(), 1u);
        const ComponentRow sleep = owner.world.database().find_row(schema_of<ParcelSleep>().id(), owner.far, 0);
        EXPECT_TRUE(sleep && !sleep.is_enabled) << "it was removed, and then added as disabled";
    }
}

}  // namespace
}  // namespace shoal

// Commands that are passed to another world: it carries them out as the one in which they were asked for.

#include "shoal/command/detail/passed_commands.h"
#include "shoal/command/detail/saved_commands.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"

#include "support/testing.h"
#include "support/whole_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

namespace passed_commands_test {
namespace {

using namespace shoal;
using namespace shoal_test;

Snapshot state_of(const World& world) {
    Snapshot state;
    const Status status = save(world, state);
    EXPECT_TRUE(status.ok()) << status.message();
    return state;
}

/// Asks for something of each kind that can be passed on.
void ask_for_one(Sea& sea, Commands& commands, Random& random) {
    const Entity a = sea.any(random), b = sea.any(random), singleton = sea.world.directory().singletons().entity();
    if (a == singleton || b == singleton) return;
    switch (random.below(16)) {
        case 0:
            return commands.destroy(a);
        case 1:
            return commands.move(a, random.below(5));
        case 2:
            return commands.add(a, Hungry{random.unit()});
        case 3:
            return commands.add(a, Disabled{Hungry{random.unit()}}, Plankton{random.next(), Kind::kAnimal, true});
        case 4:
            return commands.add(a, Spot{{random.unit(), 1, 2}}, Disabled{Hungry{random.unit()}}, Fin{{1, 2, 3}, 4});
        case 5:
            return commands.remove<Plankton, Fin>(a);
        case 6:
            return commands.remove<Hungry>(a);
        case 7:
            return commands.add(a, Egg{std::uint16_t(random.below(9))});
        case 8:
            return commands.add(a, Hunts{b}, Scar{random.below(5)});
        case 9:
            return commands.set<&Spot::position>(a, Vec3{random.unit(), 3, 4});
        case 10:
            return commands.set<&Fin::drag>(a, random.unit());
        case 11:
            return commands.name(a, "fish " + std::to_string(random.below(30)));
        case 12:
            return commands.tag(a, random.below(2) == 0 ? "hungry" : "shy");
        case 13:
            return commands.untag(a, random.below(2) == 0 ? "hungry" : "shy");
        case 14:
            return commands.add(a, Transform{.position = {random.unit(), 1, 1}});
        default:
            return commands.add(a, sea.world.manager<Age>().core().schema(), nullptr);
    }
}

/// A sea in which, when `asks` is set, a pass and the loop of another one ask for changes. Nothing else does.
struct AskedSea : Sea {
    explicit AskedSea(std::uint64_t seed) : Sea(nullptr, seed) {
        mourns = false;
        world.schedule().add("ask", {writes_everything()}, [this, seed](PassContext&) {
            Random random(seed + 1);
            for (int i = 0; i < 60 && asks; ++i) ask_for_one(*this, world.commands(), random);
        });
        world.schedule().add("ask in a loop", {writes_everything()}, [this, seed](PassContext& pass) {
            if (!asks) return;
            const auto rows = world.query<Read<&Spot::position>>().grain(8);
            rows.for_each(pass.executor, [&](Commands& commands, Entity who, Vec3) {
                Random random(seed + who.id);
                for (std::uint32_t i = random.below(3); i > 0; --i) ask_for_one(*this, commands, random);
            });
        });
        run(8);
        while (count_saved_commands(state_of(world)) != 0) world.settle();
        EXPECT_TRUE(world.schedule().enable("bite", false).ok());
    }
    bool asks = false;
};

/// A command that was taken, and the memory to which it points.
struct Taken {
    explicit Taken(const PassedCommand& from)
        : command(from), text(from.text), parts(from.parts.begin(), from.parts.end()) {
        for (PassedPart& part : parts) {
            part.value = values.emplace_back(part.value.begin(), part.value.end());
            if (part.field != PassedPart::kNoField)
                part.value_schema = &fields.emplace_back(value_schema_of(*part.component, part.field));
        }
        command.text = text, command.parts = parts;
    }
    Taken(const Taken&) = delete;
    PassedCommand command;
    std::string text;
    std::vector<PassedPart> parts;
    std::deque<std::vector<std::byte>> values;
    std::deque<Schema> fields;
};

/// Compares what each entity has. Rows may lie in another order.
void expect_same(const AskedSea& one, const AskedSea& other) {
    ASSERT_EQ(one.entities.num_alive(), other.entities.num_alive());
    ASSERT_EQ(one.entities.num_indices_used(), other.entities.num_indices_used());
    for (const DatabaseTable* table : one.sea.all_tables())
        for (std::uint32_t row = 0; table != nullptr && row < table->num_rows(); ++row) {
            const Entity entity = table->entities()[row];
            ASSERT_TRUE(other.entities.alive(entity));
            EXPECT_EQ(text_of(one.world, entity), text_of(other.world, entity)) << entity.index();
            EXPECT_EQ(table->zone(), other.sea.find(entity).table->zone()) << entity.index();
        }
}

TEST(PassedCommands, do_in_another_world_what_they_would_have_done_where_they_were_asked_for) {
    SCOPED_TRACE(seed_text());
    for (std::int64_t round = 0; round < std::max<std::int64_t>(scaled_operations(10), 3); ++round) {
        const std::uint64_t seed = shoal_test::seed() + std::uint64_t(round) * 100;
        AskedSea whole(seed), here(seed), there(seed);
        ASSERT_EQ(difference(state_of(whole.world), state_of(there.world)), "");
        for (AskedSea* sea : {&whole, &here}) {
            Random random(seed);
            for (int i = 0; i < 60; ++i) ask_for_one(*sea, sea->world.commands(), random);
            sea->asks = true;
        }
        for (AskedSea* sea : {&whole, &here, &there}) sea->world.run_passes(0.1f);
        std::deque<Taken> taken;
        const std::uint64_t num_dropped = take_commands(
            here.world.directory(), [](const void*, Entity) { return true; },
            [](void* to, const PassedCommand& command) { static_cast<std::deque<Taken>*>(to)->emplace_back(command); },
            &taken);
        EXPECT_EQ(num_dropped, 0u);
        EXPECT_GT(taken.size(), 100u);
        for (const Taken& each : taken) give_command(there.world.directory(), each.command);
        for (AskedSea* sea : {&whole, &here, &there}) sea->world.settle();
        expect_same(whole, there);
        ASSERT_FALSE(HasFailure()) << "round " << round;
        ASSERT_TRUE(there.validate().ok()) << there.validate().message();
    }
}

TEST(PassedCommands, come_after_those_of_their_pass_and_before_those_of_later_passes) {
    EntityManager entities;
    World world(entities);
    Database& database = world.database();
    const Entity fish = *entities.create();
    ASSERT_TRUE(database.insert(fish, 1, Spot{}).ok());
    const auto pass_on = [&](std::uint32_t pass, Zone zone) {
        give_command(world.directory(), {.kind = SavedCommandKind::kMove, .pass = pass, .entity = fish, .zone = zone});
    };
    const auto zone_then = [&] {
        world.settle();
        return database.find(fish).table->zone();
    };
    for (int frame = 0; frame < 3; ++frame) {  // what one frame has opened is used by the next
        pass_on(2, 3), pass_on(1, 4), pass_on(2, 5), pass_on(1, 6);
        EXPECT_EQ(zone_then(), 5u);
        world.commands().move(fish, 7);
        pass_on(0, 8);
        world.commands().move(fish, 9);
        EXPECT_EQ(zone_then(), 8u);
    }
}

TEST(PassedCommands, that_add_a_component_disabled_or_enabled_do_so_each_by_itself) {
    EntityManager entities;
    World world(entities);
    std::array<Entity, 4> fish;
    ASSERT_TRUE(entities.create(fish).ok());
    for (const Entity one : fish) ASSERT_TRUE(world.database().insert(one, 1, Spot{}).ok());
    world.database().component<Hungry>();
    const Schema& schema = schema_of<Hungry>();
    for (std::size_t i = 0; i < fish.size(); ++i) {
        const PassedPart part{
            .component = &schema, .is_disabled = i % 2 == 0, .value_schema = &schema, .value = schema.default_image()};
        give_command(world.directory(),
                     {.kind = SavedCommandKind::kAdd, .pass = 1, .entity = fish[i], .parts = {&part, 1}});
    }
    world.settle();
    for (std::size_t i = 0; i < fish.size(); ++i) EXPECT_EQ(world.database().has<Hungry>(fish[i]), i % 2 == 1) << i;
}

TEST(PassedCommands, refer_to_pending_entities_of_their_own_chunk_that_will_be_created_and_to_no_others) {
    EntityManager entities;
    World world(entities);
    std::array<Entity, 4> fish;
    ASSERT_TRUE(entities.create(fish).ok());
    for (const Entity one : fish) ASSERT_TRUE(world.database().insert(one, 1, Spot{}).ok());
    Entity of_first{};
    world.schedule().add("first", {writes_everything()}, [&](PassContext&) {
        of_first = world.commands().create(Spot{{1, 0, 0}});
        world.commands().add(fish[0], Hunts{of_first});
    });
    world.schedule().add("second", {writes_everything()}, [&](PassContext&) {
        Commands& commands = world.commands();
        const Entity destroyed = commands.create(Spot{}), born = commands.create(Spot{{2, 0, 0}});
        commands.destroy(destroyed);
        commands.add(fish[1], Hunts{of_first});
        commands.add(fish[2], Hunts{destroyed});
        commands.add(fish[3], Hunts{born});
    });
    world.run_passes(0.1f);
    std::vector<Entity> targets;  // in the order of the commands
    take_commands(
        world.directory(), [](const void*, Entity entity) { return !is_pending(entity); },
        [](void* to, const PassedCommand& command) {
            static_cast<std::vector<Entity>*>(to)->push_back(read_as<Entity>(command.parts[0].value.data()));
        },
        &targets);
    ASSERT_EQ(targets.size(), 4u);
    EXPECT_TRUE(is_pending(targets[0]) && is_pending(targets[3]));
    EXPECT_EQ(targets[1], kNullEntity) << "it belongs to another chunk";
    EXPECT_EQ(targets[2], kNullEntity) << "it is destroyed before it is created";
    resolve_when_created(world.directory(), targets);
    world.settle();
    EXPECT_EQ(world.get<&Spot::position>(targets[0])->x, 1);
    EXPECT_EQ(targets[1], kNullEntity);
    EXPECT_EQ(world.get<&Spot::position>(targets[3])->x, 2);
    const std::vector<Entity> created = targets;
    world.commands().create(Spot{});
    world.settle();
    EXPECT_EQ(targets, created) << "only the next settle replaces pending entities";
}

}  // namespace
}  // namespace passed_commands_test

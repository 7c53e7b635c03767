// Commands that wait when a world is saved: the world that loads carries them out as the one that saved does.

#include "save/state_file.h"
#include "shoal/base/file.h"
#include "shoal/base/log.h"
#include "shoal/command/detail/saved_commands.h"
#include "shoal/components/point_mass.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/library.h"
#include "shoal/resource/migration.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"

#include "support/testing.h"
#include "support/thread_pool_executor.h"
#include "support/whole_world.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace save_commands_test {

using namespace shoal;
using namespace shoal_test;

Snapshot state_of(const World& world) {
    Snapshot state;
    const Status status = save(world, state);
    EXPECT_TRUE(status.ok()) << status.message();
    return state;
}

std::uint64_t num_waiting(const World& world) { return count_saved_commands(state_of(world)); }

bool are_equal(const SettleCounts& a, const SettleCounts& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// A state as its file is read again.
Snapshot through_a_file(const World& world) {
    Array<std::byte> bytes{Owner("test")};
    const Status status = save(world, bytes);
    EXPECT_TRUE(status.ok()) << status.message();
    SerialExecutor serial;
    Result<Snapshot> state = read_state(bytes, serial);
    EXPECT_TRUE(state.ok());
    return std::move(*state);
}

// --- what is loaded goes on --------------------------------------------------------------------------------------

/// Runs both on, and compares them after each step.
void expect_same_course(Sea& a, Sea& b, int num_frames) {
    for (int frame = 0; frame < num_frames; ++frame) {
        a.told.clear(), b.told.clear();
        a.run(1), b.run(1);
        ASSERT_EQ(difference(state_of(a.world), state_of(b.world)), "") << "frame " << frame;
        ASSERT_EQ(a.told, b.told) << "frame " << frame;
        ASSERT_TRUE(are_equal(a.world.settle_statistics().last, b.world.settle_statistics().last)) << "frame " << frame;
    }
}

/// What waits before a step, between its halves, or after it.
void prepare(Sea& sea, std::uint64_t seed) {
    sea.run(8);
    if (seed % 3 != 0) sea.meddle();
    if (seed % 3 != 1) sea.world.run_passes(1.0f / 60);
    if (seed % 2 == 0) sea.ask(200);
    sea.world.query<Read<&Spot::position>>().for_each(sea.world.executor(),
                                                      [&](Commands& commands, Entity who, Vec3 at) {
                                                          if (int(at.x) % 5 == 0)
                                                              commands.add(commands.create(Hunts{who}), Spot{at});
                                                          if (int(at.x) % 5 == 1) commands.add(who, Hungry{at.x});
                                                          if (int(at.x) % 5 == 2)
                                                              commands.set<&Spot::position>(who, at * 0.5f);
                                                      });
}

TEST(SaveCommands, a_world_that_was_loaded_carries_them_out_as_the_one_that_was_saved_for_any_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    for (int round = 0; round < 6; ++round) {
        const std::uint64_t seed = random.below(1000) * 6 + std::uint64_t(round);
        ThreadPoolExecutor executor(3);
        Sea saved(round % 2 == 0 ? &executor : nullptr, seed), loaded(round % 2 == 0 ? nullptr : &executor, 99);
        prepare(saved, seed);
        loaded.run(3), loaded.ask(50);
        ASSERT_GT(num_waiting(saved.world), 20u);
        const Status status = load(loaded.world, through_a_file(saved.world), false);
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "") << "seed " << seed;
        // More is asked for, by the same lists and by others, and in the same loops.
        if (round >= 2) saved.ask(100), loaded.ask(100);
        if (round >= 4) saved.world.run_passes(0.1f), loaded.world.run_passes(0.1f);
        ASSERT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "") << "seed " << seed;
        saved.world.settle(), loaded.world.settle();
        ASSERT_TRUE(are_equal(saved.world.settle_statistics().last, loaded.world.settle_statistics().last));
        ASSERT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "") << "seed " << seed;
        expect_same_course(saved, loaded, 4);
        EXPECT_TRUE(loaded.validate().ok());
    }
}

TEST(SaveCommands, what_waits_is_saved_the_same_for_any_number_of_workers) {
    for (const std::uint64_t seed : {3, 4}) {
        Sea one(nullptr, seed);
        prepare(one, seed);
        for (const std::uint32_t num_workers : {2u, 5u}) {
            ThreadPoolExecutor executor(num_workers);
            Sea many(&executor, seed);
            prepare(many, seed);
            EXPECT_EQ(difference(state_of(one.world), state_of(many.world)), "");
        }
    }
}

/// Asks for an entity for each row, in a loop outside of passes. If `waits`, the first row waits until another chunk has asked.
void ask_in_loop(World& world, bool waits) {
    std::atomic<int> num_others{0};
    world.query<Read<&Age::frames>>().for_each(world.executor(), [&](Commands& commands, const std::uint32_t& frames) {
        for (int i = 0; waits && frames == 0 && num_others.load() == 0 && i < 2000; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const Entity made = commands.create(Age{frames});
        if (frames % 3 == 0) commands.add(made, Hunts{made});
        if (frames != 0) num_others.fetch_add(1);
    });
}

TEST(SaveCommands, what_chunks_ask_for_at_the_same_time_is_saved_in_their_order) {
    ThreadPoolExecutor executor(3);
    Snapshot states[2];
    for (const int many : {0, 1}) {
        EntityManager entities;
        World world(entities, {.executor = many != 0 ? &executor : nullptr});
        auto& ages = world.manager<Age>();
        world.manager<Hunts>();
        std::vector<Entity> all(50'000);
        ASSERT_TRUE(entities.create(all).ok() && ages.add(all).ok());
        for (std::uint32_t i = 0; i < all.size(); ++i) ages.set<&Age::frames>(ages.instance(all[i]), i);
        ask_in_loop(world, many != 0);
        states[many] = state_of(world);
    }
    EXPECT_EQ(difference(states[0], states[1]), "");
}

/// The two lists fill one table of the database, in the order in which they are carried out.
void ask_for_two_lists(World& world) {
    world.query<Read<&Current::turns>>().for_each([&](Commands& commands, std::uint64_t) {
        commands.create(Spot{{1, 0, 0}});
        commands.create(Spot{{2, 0, 0}}, Fin{});
    });
}

TEST(SaveCommands, what_is_asked_for_after_loading_is_carried_out_in_the_same_calls) {
    EntityManager entities, other_entities;
    World saved(entities), loaded(other_entities);
    for (World* world : {&saved, &loaded}) world->manager<Fin>(), world->singleton<Current>(), world->database();
    ask_for_two_lists(saved);
    ASSERT_TRUE(load(loaded, state_of(saved)).ok());
    ask_for_two_lists(saved), ask_for_two_lists(loaded);
    saved.settle(), loaded.settle();
    EXPECT_EQ(difference(state_of(saved), state_of(loaded)), "");
}

TEST(SaveCommands, a_component_that_was_asked_for_disabled_comes_disabled_beside_others_that_do_not) {
    EntityManager entities, other_entities;
    World saved(entities), loaded(other_entities);
    for (World* world : {&saved, &loaded}) world->database().component<Spot>(), world->database().component<Hungry>();
    const Entity one = saved.database().create(0, Spot{}).value(), two = saved.database().create(0, Spot{}).value();
    saved.commands().add(one, Disabled{Hungry{}});
    ASSERT_TRUE(load(loaded, state_of(saved)).ok());
    loaded.commands().add(two, Hungry{});
    loaded.settle();
    std::vector<Entity> hungry;
    loaded.query<With<Hungry>>().for_each([&](Entity who) { hungry.push_back(who); });
    EXPECT_EQ(hungry, std::vector<Entity>{two});
}

TEST(SaveCommands, what_callbacks_and_observers_ask_for_is_part_of_kept_frames) {
    Sea sea(nullptr, 5);
    Frames frames(sea.world, 3);
    for (int i = 0; i < 200 && num_waiting(sea.world) == 0; ++i) sea.run(1);
    ASSERT_NE(num_waiting(sea.world), 0u);
    const std::uint64_t frame = sea.world.frame();
    const Snapshot then = state_of(sea.world);
    sea.run(2);
    const Snapshot first = state_of(sea.world);
    ASSERT_TRUE(frames.rewind(frame).ok());
    EXPECT_EQ(difference(then, state_of(sea.world)), "");
    sea.run(2);
    EXPECT_EQ(difference(first, state_of(sea.world)), "");
}

TEST(SaveCommands, what_waits_when_a_world_is_loaded_is_gone) {
    Sea sea(nullptr, 6);
    sea.run(3);
    sea.world.settle();
    while (num_waiting(sea.world) != 0) sea.world.settle();
    const Snapshot then = state_of(sea.world);
    sea.ask(50);
    ASSERT_TRUE(load(sea.world, then).ok());
    EXPECT_EQ(num_waiting(sea.world), 0u);
    EXPECT_EQ(difference(then, state_of(sea.world)), "");
    // Also of a database that the state does not have.
    EntityManager entities, other_entities;
    World world(entities), empty(other_entities);
    world.commands().create(Spot{});
    ASSERT_TRUE(load(world, state_of(empty)).ok());
    world.settle();
    EXPECT_EQ(entities.num_alive(), 0u);
}

TEST(SaveCommands, a_pending_entity_that_the_program_holds_is_named_by_later_commands) {
    Sea saved(nullptr, 7), loaded(nullptr, 8);
    saved.run(3);
    saved.world.run_passes(0.1f);  // takes pending entities too, as does a loop of the program
    saved.world.query<Read<&Spot::position>>().for_each(
        saved.world.executor(), [](Commands& commands, Entity who, Vec3) { commands.create(Hunts{who}); });
    saved.ask(20);
    const Entity egg = saved.world.commands().create(Spot{{9, 9, 9}});
    for (int i = 0; i < 100; ++i) saved.world.commands().create(Spot{});
    ASSERT_TRUE(load(loaded.world, through_a_file(saved.world), false).ok());
    for (Sea* sea : {&saved, &loaded}) {
        sea->world.commands().add(egg, Hungry{77});
        const Entity next = sea->world.commands().create(Hunts{egg});
        sea->world.commands().name(next, "guard");
        sea->world.settle();
    }
    EXPECT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "");
    int num_found = 0;
    loaded.world.query<Read<&Spot::position>, Read<&Hungry::since>>().for_each(
        [&](Vec3 at, float since) { num_found += since == 77 && at.x == 9; });
    EXPECT_EQ(num_found, 1);
}

// --- what commands name ------------------------------------------------------------------------------------------

struct Ghost {
    std::uint64_t seen = 0;
    Entity haunts;
    bool is_loud = false;
};
SHOAL_COMPONENT(Ghost, seen, haunts, is_loud)
struct Shade {
    float depth = 0;
};
SHOAL_COMPONENT((Shade, enableable), depth)

struct Game {
    explicit Game(ResourceLibrary* library = nullptr) : world(entities, {.library = library}) {}
    EntityManager entities;
    World world;
};

TEST(SaveCommands, a_component_type_that_no_store_keeps_yet_comes_with_the_state) {
    for (const bool through_file : {false, true}) {
        Game saved, loaded;
        Commands& commands = saved.world.commands();
        const Entity one = commands.create(Spot{{1, 0, 0}});
        commands.add(one, Ghost{5, one, true}, Disabled{Shade{3}});
        commands.add(one, ChildOf{});  // the world has no transforms yet
        const Snapshot state = through_file ? through_a_file(saved.world) : state_of(saved.world);
        const Status status = load(loaded.world, state, !through_file);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(find_database(loaded.world.directory()), nullptr) << "it is made when the world settles";
        EXPECT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "");
        saved.world.settle(), loaded.world.settle();
        EXPECT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "");
        EXPECT_EQ(*loaded.world.get<std::uint64_t>(make_entity(1, 1), "ghost.seen"), 5u);
        EXPECT_EQ(*loaded.world.get<Entity>(make_entity(1, 1), "ghost.haunts"), make_entity(1, 1));
        const ComponentRow shade = loaded.world.database().find_row(schema_of<Shade>().id(), make_entity(1, 1), 0);
        EXPECT_TRUE(shade && !shade.is_enabled);
    }
}

TEST(SaveCommands, creations_that_fill_their_blocks_of_ids_are_all_made_and_others_follow) {
    for (const int count : {63, 64, 65, 128}) {
        Game saved, loaded;
        saved.world.manager<Spot>(), loaded.world.manager<Spot>();
        for (int i = 0; i < count; ++i) saved.world.commands().create(Spot{{float(i), 0, 0}});
        ASSERT_TRUE(load(loaded.world, state_of(saved.world), false).ok()) << count;
        for (Game* game : {&saved, &loaded}) {
            game->world.commands().create(Spot{{-1, 0, 0}});
            game->world.settle();
            EXPECT_EQ(game->world.settle_statistics().last.num_created, std::uint64_t(count) + 1);
            EXPECT_EQ(game->entities.num_alive(), std::uint64_t(count) + 1);
        }
        EXPECT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "") << count;
    }
}

Blob mass_blob(const char* name) {
    BlobWriter writer;
    writer.set_name(name);
    const std::uint32_t masses = writer.add_component_type(schema_of<PointMass>(), 0).value();
    writer.add_entity({.name = "stone"});
    const PointMass mass{.mass = 3};
    writer.add_component(masses, 0, std::as_bytes(std::span(&mass, 1)));
    return Blob::load(writer.write().value()).value();
}

TEST(SaveCommands, spawns_find_their_blobs_in_the_library_and_pin_them) {
    ResourceLibrary library, other_library;
    const Blob& blob = **library.add(mass_blob("levels/stone"));
    Game saved(&library), loaded(&other_library);
    saved.world.manager<PointMass>(), loaded.world.manager<PointMass>();
    const Entity stone = saved.world.commands().spawn(blob);
    saved.world.commands().spawn(blob, {.position = {1, 2, 3}}, 2);
    saved.world.commands().add(stone, Spot{{4, 5, 6}});
    EXPECT_FALSE(library.unload("levels/stone").ok());
    const Snapshot state = through_a_file(saved.world);
    EXPECT_EQ(load(loaded.world, state, false).message(),
              "the snapshot, part \"commands/blobs\": commands spawn \"levels/stone\", a resource that "
              "is not loaded; load it through the world's library, WorldOptions::library, before the state");
    ASSERT_TRUE(other_library.add(mass_blob("levels/stone")).ok());
    const Status status = load(loaded.world, state, false);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_FALSE(other_library.unload("levels/stone").ok());
    saved.world.settle(), loaded.world.settle();
    EXPECT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "");
    int num_stones = 0;
    loaded.world.query<Read<&PointMass::mass>>().for_each([&](float mass) { num_stones += mass == 3; });
    EXPECT_EQ(num_stones, 2);
    EXPECT_TRUE(other_library.unload("levels/stone").ok());

    const Blob outside = mass_blob("levels/outside");
    saved.world.commands().spawn(outside);
    Snapshot refused;
    EXPECT_EQ(
        save(saved.world, refused).message(),
        "it cannot be saved: commands wait to spawn a blob that is not in the library of the world, where it would be "
        "found again; settle first, with World::settle(), or add the blob to WorldOptions::library");
}

struct Chart {
    BlobArray<float> depths;
};
SHOAL_COMPONENT(Chart, depths)

/// A blob with a chart of one depth.
Blob chart_blob(const char* name) {
    BlobWriter writer;
    writer.set_name(name);
    const float depth = 4;
    Chart chart;
    static_cast<BlobArrayBase&>(chart.depths) =
        writer.add_array(FieldType::kFloat, std::as_bytes(std::span(&depth, 1)));
    writer.add_entity({});
    writer.add_component(writer.add_component_type(schema_of<Chart>()).value(), 0, std::as_bytes(std::span(&chart, 1)));
    return Blob::load(writer.write().value()).value();
}

TEST(SaveCommands, values_that_were_loaded_pin_the_blobs_of_their_arrays) {
    ResourceLibrary library;
    const Blob& blob = **library.add(chart_blob("levels/stone"));
    Game saved(&library), loaded(&library);
    Chart chart;
    std::memcpy(static_cast<void*>(&chart), blob.component_types().front().columns[0], sizeof chart);
    saved.world.commands().create(chart);
    ASSERT_TRUE(load(loaded.world, through_a_file(saved.world), false).ok());
    load(saved.world, state_of(Game().world)).ok();
    EXPECT_FALSE(library.unload("levels/stone").ok());
    load(loaded.world, state_of(Game().world)).ok();
    EXPECT_TRUE(library.unload("levels/stone").ok());
}

// --- older programs ----------------------------------------------------------------------------------------------

namespace then {
struct Sail {
    float area = 1;
    Entity sailor;
};
SHOAL_COMPONENT((Sail, enableable), area, sailor)
struct Berth {
    std::uint32_t dock = 0;
};
SHOAL_COMPONENT(Berth, dock)
}  // namespace then
namespace now {
struct Sail {
    Entity sailor;
    double area = 1;
    Vec3 wind{1, 2, 3};
};
SHOAL_COMPONENT((Sail, enableable, version(2)), sailor, area, (wind, split))
struct Mooring {
    std::uint64_t dock = 0;
};
SHOAL_COMPONENT((Mooring, version(2)), dock)
}  // namespace now
namespace later {
struct Sail {
    float height = 1;
};
SHOAL_COMPONENT((Sail, enableable, version(3)), height)
}  // namespace later

TEST(SaveCommands, values_of_an_older_program_become_what_the_migrations_say) {
    Game saved;
    Commands& commands = saved.world.commands();
    const Entity one = commands.create(Spot{{1, 0, 0}}, then::Sail{7, {}}), other = commands.create(then::Berth{4});
    commands.add(other, Disabled{then::Sail{9, one}});
    commands.add(one, then::Berth{6});
    commands.remove<then::Berth>(one);
    const Snapshot state = through_a_file(saved.world);

    Game loaded;
    loaded.world.registry().migrations<now::Sail>().from(1).convert("area", [](float area) { return area + 100; });
    loaded.world.registry().migrations<now::Mooring>().renamed_from("berth");
    loaded.world.database().component<now::Sail>();
    const Status status = load(loaded.world, state, false);
    ASSERT_TRUE(status.ok()) << status.message();
    loaded.world.settle();
    const Entity first = make_entity(1, 1), second = make_entity(2, 1);
    EXPECT_FALSE(loaded.world.get<std::uint64_t>(first, "mooring.dock").ok());
    const auto sail = loaded.world.get<double>(first, "sail.area");
    ASSERT_TRUE(sail.ok()) << sail.message();
    EXPECT_EQ(*sail, 107);
    EXPECT_EQ(loaded.world.get<Vec3>(first, "sail.wind")->z, 3);
    const Database& sea = loaded.world.database();
    EXPECT_FALSE(sea.find_row(schema_of<now::Sail>().id(), second, 0).is_enabled);
    EXPECT_EQ(sea.get<&now::Sail::area>(sea.find(second)), 109);
    EXPECT_EQ(sea.get<&now::Sail::sailor>(sea.find(second)), first);
    const auto dock = loaded.world.get<std::uint64_t>(second, "mooring.dock");
    ASSERT_TRUE(dock.ok()) << dock.message();
    EXPECT_EQ(*dock, 4u);

    Game refuses;
    refuses.world.database().component<later::Sail>();
    EXPECT_EQ(load(refuses.world, state, false).message(),
              "the snapshot, part \"types\": it has sail v1 {area float, sailor entity}, and this program has sail "
              "v3 {height float}; no migration leads from one to the other: there is no field \"area\" in version 3; "
              "say what became of it, or remove() it");
}

// --- states that are false ---------------------------------------------------------------------------------------

template <class T>
T& element(std::vector<std::byte>& bytes, std::size_t i = 0) {
    return reinterpret_cast<T*>(bytes.data())[i];
}

struct Library {
    ResourceLibrary library;
};

/// What waits in a small world, with lists in this order.
struct Waiting : Library, Game {
    Waiting() : Game(&library) {
        world.database().component<Spot>(), world.database().component<Plankton>(),
            world.database().component<Hungry>();
        world.manager<Fin>();
        Commands& commands = world.commands();
        const Entity one = commands.create(Zone(3), Spot{{1, 2, 3}});      // list 0
        const Entity two = commands.create(Zone(2), Spot{{4, 5, 6}});      // list 0
        commands.add(one, Plankton{1, Kind::kAnimal, true});               // list 1
        commands.add(two, Disabled{Hungry{}});                             // list 2
        commands.destroy(two);                                             // list 3
        commands.move(one, 1);                                             // list 4
        commands.name(one, "krill");                                       // list 5
        commands.copy(one, {.position = {1, 2, 3}});                       // list 6
        commands.add(one, Transform{.position = {1, 2, 3}});               // list 7
        commands.spawn(**library.add(mass_blob("levels/stone")), kNoZone,  // list 8
                       {{"stone", "point_mass.mass", 5}, {"stone", "properties.is_wet", true}});
        commands.add(one, world.manager<Fin>().core().schema(), nullptr);       // list 9, of the chunk
        commands.create(world.database(), world.database().archetype<Spot>());  // list 10, of the chunk
        commands.set<&Plankton::kind>(one, Kind::kAnimal);                      // list 11
    }
};

// The structs of docs/formats/save.md that nobody else reads.
struct SavedCommandLoop {
    std::uint32_t pass, num_chunks, num_steps, is_of_pass;
    std::uint64_t steps[8];
};
struct SavedCommandChunk {
    std::uint32_t num_runs, num_pending, num_ordered;
};
struct SavedCommandBatch {
    std::uint32_t list, num_rows;
};

struct SavedOverride {
    std::uint32_t entity_bytes, field_bytes, copy, array_length, value_bytes, type;
};

struct Lie {
    const char* part;
    std::function<void(std::vector<std::byte>& bytes)> change;
    const char* complaint;
};

/// The part of the last list, which sets a field.
SavedCommandPart& of_set(std::vector<std::byte>& parts) {
    return element<SavedCommandPart>(parts, parts.size() / sizeof(SavedCommandPart) - 1);
}

std::vector<Lie> lies() {
    using Bytes = std::vector<std::byte>;
    const auto shorter = [](Bytes& bytes) { bytes.pop_back(), bytes.clear(); };
    return {
        {"epoch", [](Bytes& b) { element<std::uint32_t>(b) = 64; }, "is more than there are"},
        {"types", [](Bytes& b) { b[0] = std::byte('x'); }, "which no store keeps"},
        {"types",
         [](Bytes& b) {
             Bytes twice = b;
             b.insert(b.end(), twice.begin(), twice.end());
         },
         "twice"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 0).kind = SavedCommandKind(9); }, "cannot be as it says"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 0).kind = SavedCommandKind::kDestroy; }, "cannot be"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 0).kind = SavedCommandKind::kRemove; }, "remove it"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 0).num_parts = 90; }, "cannot be as it says"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 0).num_rows = 3; }, "commands"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 0).flags = 2; }, "cannot be as it says"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 1).num_parts = 0; }, "cannot be as it says"},
        {"lists", shorter, "more than the lists have"},
        {"parts", [](Bytes& b) { element<SavedCommandPart>(b, 0).type = 99; }, "unknown component type"},
        {"parts", [](Bytes& b) { element<SavedCommandPart>(b, 0).flags = 8; }, "unknown component type"},
        {"parts", [](Bytes& b) { element<SavedCommandPart>(b, 0).flags = 3; }, "which its store cannot"},
        {"parts", [](Bytes& b) { element<SavedCommandPart>(b, 0).flags = 5; }, "a database that lacks it"},
        {"parts", [](Bytes& b) { element<SavedCommandPart>(b, 0).flags |= 1 << 8; }, "name a field, and set none"},
        {"parts", [](Bytes& b) { of_set(b).flags |= 99 << 8; }, "set a field that it does not have"},
        {"parts", [](Bytes& b) { of_set(b).flags |= SavedCommandPart::kIsDisabled; },
         "set a field that it does not have"},
        {"parts", [](Bytes& b) { of_set(b).flags &= ~SavedCommandPart::kBringsValue; },
         "set a field that it does not have"},
        {"lists", [](Bytes& b) { element<SavedCommandList>(b, 11).flags = 1; }, "cannot be as it says"},
        {"list/11/plankton/field/kind", [](Bytes& b) { b[0] = std::byte(9); }, "enum"},
        {"list/11/plankton/field/kind", shorter, "plankton"},
        {"loops", [](Bytes& b) { element<SavedCommandLoop>(b).num_chunks = 0; }, "where it says"},
        {"loops", [](Bytes& b) { element<SavedCommandLoop>(b).num_chunks = 2; }, "where it says"},
        {"loops", [](Bytes& b) { element<SavedCommandLoop>(b).is_of_pass = 2; }, "where it says"},
        {"loops", [](Bytes& b) { element<SavedCommandLoop>(b).num_steps = 1; }, "where it says"},
        {"loops", shorter, "not those of the loops"},
        {"loops", [](Bytes& b) { b.insert(b.end(), b.begin(), b.begin() + sizeof(SavedCommandLoop)); }, "there twice"},
        {"chunks", [](Bytes& b) { element<SavedCommandChunk>(b).num_runs += 1; }, "other runs than there are"},
        {"chunks", [](Bytes& b) { element<SavedCommandChunk>(b).num_runs -= 1; }, "more than the chunks have"},
        {"chunks", [](Bytes& b) { element<SavedCommandChunk>(b).num_pending = 65; }, "twice, or missing"},
        {"chunks", [](Bytes& b) { element<SavedCommandChunk>(b).num_pending = 3; }, "that it was not given"},
        {"chunks", [](Bytes& b) { element<SavedCommandChunk>(b).num_ordered = 2; }, "after the last one of its chunk"},
        {"pending_blocks", [](Bytes& b) { element<std::uint32_t>(b) = 1; }, "twice, or missing"},
        {"pending_blocks", shorter, "twice, or missing"},
        {"runs", [](Bytes& b) { element<SavedCommandBatch>(b, 0).list = 77; }, "a list that does not exist"},
        {"runs", [](Bytes& b) { element<SavedCommandBatch>(b, 0).num_rows = 3; }, "other commands than its list"},
        {"runs", [](Bytes& b) { element<SavedCommandBatch>(b, 0).num_rows = 0; }, "other commands than its list"},
        {"runs", [](Bytes& b) { element<SavedCommandBatch>(b, 0).num_rows = 1; }, "do not take all commands"},
        {"list/0/entity", [](Bytes& b) { element<Entity>(b, 0) = make_entity(1, 1); }, "that it was not given"},
        {"list/0/entity", [](Bytes& b) { element<Entity>(b, 0) = element<Entity>(b, 1); }, "that it was not given"},
        {"list/0/entity", [](Bytes& b) { element<Entity>(b, 0).id += 40; }, "that it was not given"},
        {"list/0/number", [](Bytes& b) { element<std::uint32_t>(b, 0) = kMaxZones; }, "there is no zone"},
        {"list/4/number", [](Bytes& b) { element<std::uint32_t>(b, 0) = kNoZone; }, "there is no zone"},
        {"list/1/number", [](Bytes& b) { element<std::uint32_t>(b, 0) = 0; }, "after the last one of its chunk"},
        {"list/1/plankton/field/cells...", [](Bytes& b) { b[offsetof(Plankton, glows)] = std::byte(2); }, "bool"},
        {"list/1/plankton/field/cells...", [](Bytes& b) { b[offsetof(Plankton, kind)] = std::byte(9); }, "enum"},
        {"list/1/plankton/field/cells...", shorter, "plankton"},
        {"list/5/change", [](Bytes& b) { b[0] = std::byte(3); }, "in an unknown way"},
        {"list/5/text_bytes", [](Bytes& b) { element<std::uint32_t>(b) = 4; }, "do not fill it"},
        {"list/5/text", shorter, "do not fill it"},
        {"list/5/text", [](Bytes& b) { b[1] = std::byte(0xFF); }, "text 0 is not valid UTF-8"},
        {"list/6/entity", [](Bytes& b) { element<Entity>(b, 0).id -= 1; }, "that it was not given"},
        {"list/6/number", [](Bytes& b) { element<std::uint32_t>(b) = kMaxZones; }, "there is no zone"},
        {"list/6/pose", [](Bytes& b) { element<RootPose>(b).scale.x = 0; }, "a pose is flat"},
        {"list/6/original", shorter, "commands"},
        {"list/7/transform/field/scale", [](Bytes& b) { element<Vec3>(b).y = 0; }, "a pose is flat"},
        {"list/8/num_overrides", [](Bytes& b) { element<std::uint32_t>(b) = 1; }, "do not take all overrides"},
        {"list/8/num_overrides", [](Bytes& b) { element<std::uint32_t>(b) = 3; }, "do not take all overrides"},
        {"list/8/num_overrides", shorter, "commands"},
        {"list/8/overrides", [](Bytes& b) { element<SavedOverride>(b, 1).type = 0; }, "no known type"},
        {"list/8/overrides", [](Bytes& b) { element<SavedOverride>(b, 1).value_bytes = 0; }, "no known type"},
        {"list/8/overrides", [](Bytes& b) { element<SavedOverride>(b, 0).array_length = 9; }, "no known type"},
        {"list/8/overrides", [](Bytes& b) { element<SavedOverride>(b, 1).entity_bytes += 1; }, "no known type"},
        {"list/8/overrides", [](Bytes& b) { element<SavedOverride>(b, 1).field_bytes -= 1; }, "do not fill"},
        {"list/8/overrides", shorter, "do not fill"},
        {"list/8/override_texts", [](Bytes& b) { b[0] = std::byte(0xFF); }, "texts that are not UTF-8"},
        {"list/8/override_texts", shorter, "texts that are not UTF-8"},
        {"list/8/override_values", [](Bytes& b) { b.back() = std::byte(2); }, "no known type"},
        {"list/8/override_values", [](Bytes& b) { b.push_back({}); }, "do not fill"},
    };
}

TEST(SaveCommands, what_is_false_is_named_and_the_world_stays_as_it_was) {
    Waiting settled;
    settled.world.settle();  // which counts as an epoch
    const Snapshot with_epoch = through_a_file(settled.world), state = through_a_file(Waiting().world);
    Waiting world;
    ASSERT_TRUE(load(world.world, with_epoch, false).ok());  // makes stores
    world.world.commands().create(Spot{});
    const Snapshot before = state_of(world.world);
    for (const Lie& lie : lies()) {
        const Snapshot& good = std::string_view(lie.part) == "epoch" ? with_epoch : state;
        const Status status =
            load(world.world, with_part(good, "commands/" + std::string(lie.part), lie.change), false);
        EXPECT_NE(status.message().find(lie.complaint), std::string_view::npos) << lie.part << ": " << status.message();
        EXPECT_EQ(difference(before, state_of(world.world)), "") << lie.part;
    }
    EXPECT_TRUE(load(world.world, state, false).ok());
}

/// The same state as it was written when databases had the commands.
Snapshot as_of_a_database(const Snapshot& state, std::string_view database) {
    return with_parts(state, [&](ChangedPart& part) {
        if (part.path.starts_with("commands/")) part.path = "stores/" + std::string(database) + '/' + part.path;
        return true;
    });
}

TEST(SaveCommands, that_an_older_state_has_in_its_database_are_carried_out) {
    Waiting saved;
    const Snapshot state = through_a_file(saved.world);
    Waiting loaded;
    const Status status = load(loaded.world, as_of_a_database(state, "database"), false);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(num_waiting(loaded.world), num_waiting(saved.world));
    saved.world.settle(), loaded.world.settle();
    EXPECT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "");
}

TEST(SaveCommands, that_an_older_state_has_in_one_of_two_databases_are_carried_out_whatever_epochs_both_have) {
    Waiting saved;
    saved.world.settle();  // which counts as an epoch
    PagePool pool;
    Database second(saved.entities, pool);
    ASSERT_TRUE(saved.world.attach(second).ok());
    saved.world.commands().create(Spot{{1, 2, 3}});
    const Snapshot state = as_of_a_database(through_a_file(saved.world), "database");
    Snapshot both = with_parts(state, [](ChangedPart&) { return true; });
    const std::uint32_t epoch = 1;
    SnapshotWriter(both).value("stores/database 1/commands/epoch", epoch);
    Waiting loaded;
    PagePool others_pool;
    Database others(loaded.entities, others_pool);
    ASSERT_TRUE(loaded.world.attach(others).ok());
    const Status status = load(loaded.world, both);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(num_waiting(loaded.world), 1u);
    saved.world.detach(second), loaded.world.detach(others);
}

TEST(SaveCommands, of_component_types_without_an_end_of_the_last_line_are_carried_out) {
    Game saved;
    saved.world.manager<Spot>(), saved.world.manager<Hungry>(), saved.world.manager<Fin>();
    const Entity one = *saved.entities.create();
    saved.world.commands().add(one, Spot{{1, 2, 3}});
    saved.world.commands().add(one, Hungry{7});
    saved.world.commands().add(one, Fin{});
    const Snapshot state = with_part(through_a_file(saved.world), "commands/types",
                                     [](std::vector<std::byte>& bytes) { bytes.pop_back(); });
    Game loaded;
    const Status status = load(loaded.world, state, false);
    ASSERT_TRUE(status.ok()) << status.message();
    saved.world.settle(), loaded.world.settle();
    EXPECT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "");
    EXPECT_EQ(loaded.world.get<Vec3>(one, "spot.position")->y, 2);
}

/// Most of it is not saved.
struct Hollow {
    float depth = 0;
    char walls[65532];
};
SHOAL_COMPONENT(Hollow, depth, (walls, ignored))

TEST(SaveCommands, values_count_as_memory_with_the_bytes_that_are_not_saved) {
    Game saved, loaded;
    saved.world.manager<Hollow>();
    const Entity one = *saved.entities.create();
    for (int i = 0; i < 50; ++i) saved.world.commands().add(one, Hollow{.depth = float(i), .walls = {}});
    for (int i = 0; i < 50; ++i) saved.world.commands().create(Hollow{});
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved.world, bytes).ok());
    ASSERT_LT(bytes.size(), 10'000u);
    const LoadOptions little{.max_bytes = 6'553'600 + 1000}, enough{.max_bytes = 6'553'600 + 300'000};
    const Result<Snapshot> state = read_save(bytes, enough), again = read_save(bytes, enough);
    ASSERT_TRUE(state.ok());
    const std::string complaint =
        "the snapshot, part \"commands/list/1/hollow/field\": what is made of it takes 3276800 "
        "bytes, so the state takes " +
        std::to_string(state->num_bytes() + 6'553'600) + " bytes in memory, and may take ";
    const Snapshot before = state_of(loaded.world);
    EXPECT_EQ(load(loaded.world, bytes, little).message(),
              complaint + "6554600; if you trust its source, set LoadOptions::max_bytes");
    EXPECT_EQ(difference(before, state_of(loaded.world)), "");
    Snapshot small = std::move(read_save(bytes, little).value());
    EXPECT_FALSE(load(loaded.world, small, false).ok()) << "it is a state that was told what it may take";
    EXPECT_TRUE(load(loaded.world, small, true).ok()) << "what a program has saved itself may be as large as it was";
    EXPECT_TRUE(load(loaded.world, bytes, enough).ok());
    EXPECT_TRUE(load(loaded.world, bytes).ok());
    loaded.world.settle();
    EXPECT_EQ(*loaded.world.get<float>(one, "hollow.depth"), 49);
}

TEST(SaveCommands, a_text_that_is_not_utf8_is_dropped_with_a_message_and_the_world_can_be_saved) {
    std::string logged;
    set_log_hook([](void* to, LogLevel, std::string_view message) { *static_cast<std::string*>(to) += message; },
                 &logged);
    Game game;
    game.world.database();
    const Entity one = *game.entities.create();
    game.world.commands().tag(game.world.commands().create(Spot{}), "\xff");
    game.world.commands().name(one, "a\xff");
    set_log_hook(nullptr, nullptr);
    EXPECT_EQ(
        logged,
        "a command to name or tag an entity to come was dropped: the text \"\\xFF\" is not valid UTF-8; convert it "
        "to UTF-8 first"
        "a command to name or tag entity 1:1 was dropped: the text \"a\\xFF\" is not valid UTF-8; convert it to "
        "UTF-8 first");
    EXPECT_EQ(num_waiting(game.world), 1u);
    Array<std::byte> bytes{Owner("test")};
    EXPECT_TRUE(save(game.world, bytes).ok());
    game.world.settle();
    EXPECT_FALSE(game.world.strings().intern("\xff").ok());
    EXPECT_TRUE(save(game.world, bytes).ok());
}

/// A state of which one part is damaged that has commands.
Snapshot with_damaged_commands(const Snapshot& from, Random& random) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < from.num_parts(); ++i)
        if (from.part(i).path.starts_with("commands/") && from.part(i).num_elements != 0)
            paths.emplace_back(from.part(i).path);
    return with_part(
        from, paths[random.below(static_cast<std::uint32_t>(paths.size()))], [&](std::vector<std::byte>& bytes) {
            for (std::uint32_t n = 0; n < 1 + random.below(3); ++n) {
                std::byte& byte = bytes[random.below(static_cast<std::uint32_t>(bytes.size()))];
                byte = random.below(2) == 0 ? byte ^ std::byte(1 << random.below(8)) : std::byte(random.below(256));
            }
        });
}

TEST(SaveCommands, a_value_that_no_load_would_take_is_refused_with_what_to_do) {
    EntityManager entities;
    World world(entities);
    world.database().component<Plankton>();
    const Entity one = *entities.create();
    const auto expect_refused = [&](const std::string& why) {
        Array<std::byte> bytes{Owner("test")};
        EXPECT_EQ(std::string(save(world, bytes).message()), "it cannot be saved: " + why);
        EXPECT_TRUE(state_of(world).num_parts() > 0);  // in memory
        world.settle();
        EntityManager there;
        World loaded(there);
        return save(world, bytes).ok() ? std::string(load(loaded, bytes).message()) : std::string("not saved");
    };
    world.commands().add(one, Plankton{1, Kind(3), false});
    EXPECT_EQ(expect_refused("1 commands that wait to add \"plankton\" bring what no program would load: \"kind\" of "
                             "\"plankton\" holds a number that its enum does not name; settle first, with "
                             "World::settle()"),
              "not saved");
    world.database().set<&Plankton::kind>(world.database().find(one), Kind::kPlant);
#if !SHOAL_CHECKED  // such a program ends as soon as it sets the pose
    world.transforms();
    world.commands().add(one, Transform{.position = {0, std::numeric_limits<float>::quiet_NaN(), 0}});
    EXPECT_EQ(expect_refused("1 commands that wait to add \"transform\" bring what no program would load: a pose is "
                             "flat, infinite or not a number, or its rotation is not of length 1; settle first, with "
                             "World::settle()"),
              "");
    world.commands().copy(one, {.scale = {0, 1, 1}});
    Array<std::byte> bytes{Owner("test")};
    EXPECT_EQ(std::string(save(world, bytes).message()),
              "it cannot be saved: 1 commands that wait to copy something where no program would load it: a pose is "
              "flat, infinite or not a number, or its rotation is not of length 1; settle first, with World::settle()");
    world.settle();
    EXPECT_TRUE(save(world, bytes).ok());
#endif
}

TEST(SaveCommands, damaged_ones_are_refused_and_change_nothing_or_give_a_world_that_works) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Sea saved(nullptr, 12);
    prepare(saved, 8);
    const Snapshot state = through_a_file(saved.world);
    int num_refused = 0, num_taken = 0;
    Sea sea(nullptr, 10);
    sea.run(2);
    for (std::int64_t i = 0, end = shoal_test::scaled_operations(1000); i < end; ++i) {
        const Snapshot before = state_of(sea.world);
        const Status status = load(sea.world, with_damaged_commands(state, random), false);
        status ? ++num_taken : ++num_refused;
        if (!status) {
            ASSERT_EQ(difference(before, state_of(sea.world)), "") << status.message();
        }
        if (status || i % 8 == 0) sea.run(1);
    }
    EXPECT_GT(num_refused, 0);
    EXPECT_GT(num_taken, 0);
}

// --- saves of other programs -------------------------------------------------------------------------------------

TEST(SaveOfAnotherProgram, other_ids_are_refused_with_what_the_save_and_the_program_have) {
    Waiting saved, world;
    const Snapshot good = state_of(saved.world), before = state_of(world.world);
    const std::uint32_t other_bytes = sizeof(Entity) == 8 ? 4 : 8, other_bits = kIndexBits == 32 ? 22 : 32;
    // As the other build writes it: all that has entities has elements of another size.
    const Snapshot other = with_parts(good, [&](ChangedPart& part) {
        const bool has_entities = part.path.ends_with("/owner") || part.path.ends_with("/entity") ||
                                  part.path == "entities/free_ids" || part.path == "world/singletons";
        if (part.path == "entities/id_bytes") std::memcpy(part.bytes.data(), &other_bytes, sizeof other_bytes);
        if (part.path == "entities/index_bits") std::memcpy(part.bytes.data(), &other_bits, sizeof other_bits);
        if (!has_entities) return true;
        part.bytes.resize(part.bytes.size() / part.element_bytes * other_bytes);
        part.element_bytes = other_bytes;
        return true;
    });
    SerialExecutor serial;
    const Result<Array<std::byte>> bytes = write_state(other, serial);
    ASSERT_TRUE(bytes.ok());
    const std::string here = std::to_string(sizeof(Entity) * 8), there = std::to_string(other_bytes * 8);
    EXPECT_EQ(load(world.world, std::span<const std::byte>(*bytes)).message(),
              "the snapshot, part \"entities/index_bits\": its entities have " + there + "-bit ids with " +
                  std::to_string(other_bits) + " bits of index, and this program's have " + here + " with " +
                  std::to_string(kIndexBits) + "; build it with the same SHOAL_WIDE_IDS and SHOAL_INDEX_BITS");
    EXPECT_EQ(difference(before, state_of(world.world)), "");
}

TEST(SaveOfAnotherProgram, another_byte_order_or_version_is_refused_with_what_the_save_and_the_program_have) {
    Waiting saved, world;
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved.world, bytes).ok());
    Array<std::byte> swapped = bytes, newer = bytes;
    std::reverse(swapped.begin() + 12, swapped.begin() + 16);
    EXPECT_EQ(
        load(world.world, swapped).message(),
        "the save has the byte order big-endian, and this program has little-endian; make it there again as a blob, "
        "with save_zones()");
    newer[8] = std::byte(9);
    EXPECT_EQ(load(world.world, newer).message(),
              "the save has version 9 of the format, and this program reads version 1; load it with the program that "
              "made it");
}

}  // namespace save_commands_test

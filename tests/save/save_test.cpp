// Saving and loading a world: what is loaded goes on as what was saved, whatever it keeps, and what is false does no harm.

#include "shoal/save/save.h"
#include "save/state_file.h"
#include "shoal/base/file.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/react/position_links.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"

#include "support/changed_state.h"
#include "support/message_counts.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"
#include "support/whole_world.h"

#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

namespace save_test {

using namespace shoal;
using namespace shoal_test;

Snapshot state_of(const World& world) {
    Snapshot state;
    const Status status = save(world, state);
    EXPECT_TRUE(status.ok()) << status.message();
    return state;
}

void expect_sound(Sea& sea) {
    const Status status = sea.validate();
    EXPECT_TRUE(status.ok()) << status.message();
}

std::string temporary_path(const std::string& name) {
    return (std::filesystem::temp_directory_path() / ("shoal_save_test_" + std::to_string(getpid()) + name)).string();
}

TEST(Save, a_world_that_was_loaded_into_another_program_goes_on_as_the_one_that_was_saved) {
    const std::string path = temporary_path("goes_on.save");
    for (const std::uint64_t seed : {1, 2, 3}) {
        const LeakCheck leaks;
        Sea saved(nullptr, seed);
        saved.run(30);
        saved.meddle();  // what was not settled is saved too
        ASSERT_TRUE(save(saved.world, path).ok()) << save(saved.world, path).message();
        Sea loaded(nullptr, 99);
        loaded.run(7);  // what was there before is gone
        const Status status = load(loaded.world, path);
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "");
        expect_sound(loaded);
        saved.told.clear(), loaded.told.clear();
        saved.late = loaded.late = 0;
        for (int frame = 0; frame < 20; ++frame) {
            saved.run(1), loaded.run(1);
            ASSERT_EQ(difference(state_of(saved.world), state_of(loaded.world)), "") << "frame " << frame;
            ASSERT_EQ(saved.told, loaded.told) << "frame " << frame;
        }
        EXPECT_EQ(saved.late, loaded.late);
        EXPECT_FALSE(saved.told.empty());
        EXPECT_EQ(state_hash(saved.world), state_hash(loaded.world));
        expect_sound(loaded);
    }
    std::filesystem::remove(path);
}

TEST(Save, the_bytes_of_a_world_are_those_of_its_file_and_bring_it_back) {
    const std::string path = temporary_path("bytes.save");
    Sea saved(nullptr, 5), loaded(nullptr, 6);
    saved.run(12), loaded.run(3);
    Array<std::byte> bytes{Owner("test")};
    bytes.resize(3);
    ASSERT_TRUE(save(saved.world, bytes).ok());
    ASSERT_TRUE(save(saved.world, path).ok());
    const Result<std::string> file = read_file(path);
    ASSERT_TRUE(file);
    ASSERT_EQ(bytes.size(), file->size());
    EXPECT_EQ(std::memcmp(bytes.data(), file->data(), file->size()), 0);
    const std::string before = difference(state_of(loaded.world), state_of(saved.world));
    EXPECT_NE(before, "");
    EXPECT_FALSE(load(loaded.world, std::span<const std::byte>(bytes).first(bytes.size() - 1)).ok());
    EXPECT_EQ(difference(state_of(loaded.world), state_of(saved.world)), before);
    Frames frames(loaded.world, 4);
    ASSERT_TRUE(load(loaded.world, bytes).ok());
    EXPECT_EQ(difference(state_of(loaded.world), state_of(saved.world)), "");
    EXPECT_EQ(frames.statistics().first, saved.world.frame()) << "frames of before are forgotten";
    std::filesystem::remove(path);
}

TEST(Save, a_state_in_memory_brings_a_world_back_and_the_program_that_goes_on_does_the_same_again) {
    for (const std::uint64_t seed : {4, 5}) {
        Sea sea(nullptr, seed);
        sea.run(25);
        const Snapshot then = state_of(sea.world);
        sea.told.clear();
        sea.run(15);
        const Snapshot first = state_of(sea.world);
        const std::string told = std::exchange(sea.told, {});
        const Status status = load(sea.world, then);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(difference(then, state_of(sea.world)), "");
        EXPECT_EQ(sea.told, "") << "observers are told of nothing when a state is loaded";
        sea.run(15);
        EXPECT_EQ(difference(first, state_of(sea.world)), "");
        EXPECT_EQ(sea.told, told);
        expect_sound(sea);
    }
}

TEST(Save, the_state_is_the_same_for_any_number_of_workers) {
    Sea one(nullptr, 6);
    one.run(20);
    for (const std::uint32_t num_workers : {2u, 5u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        Sea many(&executor, 6);
        many.run(20);
        EXPECT_EQ(difference(state_of(one.world), state_of(many.world)), "");
    }
}

TEST(Save, a_state_shares_with_the_one_before_it_what_has_not_changed) {
    EntityManager entities;
    World world(entities);
    auto& fins = world.manager<Fin>();
    std::vector<Entity> all(100 * 1024);
    ASSERT_TRUE(entities.create(all).ok());
    ASSERT_TRUE(fins.add(all, Fin{}).ok());
    world.step(0.1f);
    Snapshot first, second, third;
    ASSERT_TRUE(save(world, first).ok());
    fins.set<&Fin::drag>(fins.instance(all[5000]), 7);
    ASSERT_TRUE(save(world, second, &first).ok());
    EXPECT_EQ(first.num_bytes(), second.num_bytes());
    EXPECT_LT(second.num_own_bytes(), first.num_bytes() / 20) << "one block of one column, and what is small";
    Snapshot alone, later;
    ASSERT_TRUE(save(world, alone).ok());
    first.clear();  // what is shared stays, also when memory is taken for others
    for (std::size_t i = 0; i < all.size(); i += 1024) fins.set<&Fin::drag>(fins.instance(all[i]), 9);
    ASSERT_TRUE(save(world, later, &second).ok());
    EXPECT_EQ(difference(second, alone), "");
    ASSERT_TRUE(load(world, second).ok());
    EXPECT_EQ(fins.get<&Fin::drag>(fins.instance(all[5000])), 7);
    fins.set<&Fin::drag>(fins.instance(all[5000]), 8);
    ASSERT_TRUE(save(world, third, &second).ok());
    Snapshot whole;
    ASSERT_TRUE(save(world, whole).ok());
    EXPECT_EQ(difference(third, whole), "");
}

/// A sea with so many fish that tables have several blocks of rows.
struct CrowdedSea : Sea {
    explicit CrowdedSea(std::uint64_t seed) : Sea(nullptr, seed), fish(3000) {
        EXPECT_TRUE(entities.create(fish).ok());
        EXPECT_TRUE(world.manager<Fin>().add(fish, Fin{}).ok());
        EXPECT_TRUE(world.transforms().add(fish, Transform{}).ok());
        for (const Entity one : fish) EXPECT_TRUE(sea.insert(one, 1, Spot{}, Plankton{}).ok());
        run(2);
    }
    /// Writes to some fish here and there.
    void stir(Random& random) {
        for (std::uint32_t i = random.below(100); i > 0; --i) {
            const Entity one = fish[random.below(std::uint32_t(fish.size()))];
            auto& fins = world.manager<Fin>();
            if (const auto fin = fins.instance(one)) fins.set<&Fin::drag>(fin, random.unit());
            if (world.transforms().has(one))
                world.transforms().set_position(world.transforms().instance(one), {random.unit(), 0, 0});
            if (sea.has<Plankton>(one)) sea.set<&Plankton::cells>(sea.find(one), random.next());
        }
    }
    std::vector<Entity> fish;
};

/// Transforms write these without marks, and save them once more, apart.
bool is_saved_apart(const Snapshot&, const SnapshotPart& part) {
    return part.path == "stores/transform/rows/field/mark" || part.path == "stores/transform/rows/field/extent";
}

TEST(Save, states_that_share_with_any_earlier_one_have_what_a_whole_copy_has_and_bring_it_back) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    CrowdedSea sea(shoal_test::seed());
    struct Kept {
        Snapshot state, whole;
    };
    std::vector<Kept> kept;
    for (std::int64_t i = shoal_test::scaled_operations(400); i > 0; --i) {
        const std::uint32_t dice = random.below(10);
        if (dice < 5) sea.stir(random);
        if (dice == 5) sea.run(1);
        if (dice == 6)
            for (std::uint32_t k = random.below(20) == 0 ? 300 : random.below(3); k > 0; --k) sea.world.settle();
        if (dice >= 7 && dice < 9) {
            Kept made;
            const Snapshot* const before =
                kept.empty() ? nullptr : &kept[random.below(std::uint32_t(kept.size()))].state;
            ASSERT_TRUE(save(sea.world, made.state, before).ok());
            made.whole = state_of(sea.world);
            ASSERT_EQ(difference(made.state, made.whole, is_saved_apart), "");
            if (kept.size() == 5) kept.erase(kept.begin() + random.below(5));
            kept.push_back(std::move(made));
        }
        if (dice == 9 && !kept.empty()) {
            const Kept& back = kept[random.below(std::uint32_t(kept.size()))];
            ASSERT_TRUE(load(sea.world, back.state).ok());
            ASSERT_EQ(difference(back.whole, state_of(sea.world)), "");
        }
    }
    for (const Kept& one : kept)
        EXPECT_EQ(difference(one.state, one.whole, is_saved_apart), "") << "a state has changed";
    expect_sound(sea);
}

TEST(Save, a_state_shares_nothing_with_one_of_another_history_that_differs) {
    EntityManager entities;
    World world(entities);
    auto& fins = world.manager<Fin>();
    const Entity one = *entities.create();
    ASSERT_TRUE(fins.add(one, Fin{}).ok());
    const auto set = [&](float drag) { fins.set<&Fin::drag>(fins.instance(one), drag); };
    world.step(0.1f);
    set(1);
    Snapshot first, second, third, whole;
    ASSERT_TRUE(save(world, first).ok());
    world.step(0.1f);
    set(2);
    world.step(0.1f), world.step(0.1f);
    ASSERT_TRUE(save(world, second).ok());
    ASSERT_TRUE(load(world, first).ok());  // back, and on in another way, with stamps that were there before
    set(3);
    ASSERT_TRUE(save(world, third, &second).ok());
    ASSERT_TRUE(save(world, whole).ok());
    EXPECT_EQ(difference(third, whole), "");
}

TEST(Save, channels_of_types_with_one_name_are_saved_apart) {
    EntityManager entities;
    World world(entities);
    const auto sum_of = [](const auto& calls) {
        std::uint64_t sum = 0;
        for (const auto& call : calls.read()) sum += call.number;
        return sum;
    };
    std::function<std::uint64_t()> first, second;
    {
        struct Call {
            std::uint32_t number = 0;
        };
        Events<Call>& calls = world.events<Call>();
        calls.write({7});
        first = [&] { return sum_of(calls); };
    }
    {
        struct Call {
            std::uint64_t number = 0;
        };
        Events<Call>& calls = world.events<Call>();
        calls.write({8}), calls.write({9});
        second = [&] { return sum_of(calls); };
    }
    const Snapshot state = state_of(world);
    world.step(0.1f), world.step(0.1f);
    EXPECT_EQ(first() + second(), 0u);
    ASSERT_TRUE(load(world, state).ok());
    EXPECT_EQ(first(), 7u);
    EXPECT_EQ(second(), 17u);
}

TEST(Save, a_state_without_events_takes_away_those_that_there_are) {
    EntityManager entities;
    World world(entities);
    auto& bites = world.events<Bite>();
    const Snapshot quiet = state_of(world);
    bites.write({Entity{}, 7});
    ASSERT_EQ(bites.read().size(), 1u);
    ASSERT_TRUE(load(world, quiet).ok());
    EXPECT_EQ(bites.read().size(), 0u);
}

TEST(Save, channels_of_one_name_are_saved_apart) {
    EntityManager entities;
    World world(entities);
    auto& bites = world.events<Bite>();
    const Result<detail::EventLog*> named = world.events().named(detail::event_name<Bite>(), 4);
    ASSERT_TRUE(named.ok());
    bites.write({Entity{}, 7});
    const std::uint32_t number = 9;
    (*named)->append(std::as_bytes(std::span(&number, 1)));
    const Snapshot state = state_of(world);
    world.step(0.1f), world.step(0.1f);
    ASSERT_TRUE(load(world, state).ok());
    ASSERT_EQ(bites.read().size(), 1u);
    EXPECT_EQ(bites.read()[0].strength, 7u);
    ASSERT_EQ((*named)->read().size(), 4u);
    EXPECT_EQ(std::memcmp((*named)->read().data(), &number, 4), 0);
    world.events().end(**named);
}

TEST(Rewind, the_world_goes_back_to_any_kept_frame_and_on_from_there_as_it_did) {
    const LeakCheck leaks;
    Sea sea(nullptr, 7);
    sea.run(10);
    constexpr std::uint32_t kKept = 8;
    Frames frames(sea.world, kKept);
    std::vector<Snapshot> states(200);
    std::vector<std::string> told(200);
    const auto note = [&] { states[sea.world.frame()] = state_of(sea.world); };
    note();
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    for (int round = 0; round < 40; ++round) {
        const std::uint64_t frame = sea.world.frame();
        sea.told.clear();
        sea.run(1);
        // A frame that was there before is the same again.
        if (!states[frame + 1].empty()) {
            ASSERT_EQ(difference(states[frame + 1], state_of(sea.world)), "") << "frame " << frame + 1;
            ASSERT_EQ(told[frame + 1], sea.told);
        }
        note();
        told[frame + 1] = sea.told;
        if (random.below(3) != 0) continue;
        const FrameStatistics kept = frames.statistics();
        const std::uint64_t back = kept.first + random.below(kept.num_frames);
        const Status status = frames.rewind(back);
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(sea.world.frame(), back);
        ASSERT_EQ(difference(states[back], state_of(sea.world)), "") << "back at frame " << back;
        ASSERT_EQ(frames.statistics().last, back);
        expect_sound(sea);
    }
    EXPECT_LE(frames.statistics().num_frames, kKept);
}

TEST(Rewind, a_frame_that_is_not_kept_is_refused) {
    Sea sea;
    sea.run(3);
    Frames frames(sea.world, 0);
    EXPECT_EQ(frames.rewind(2).message(),
              "the world keeps no frames that it could go back to; call Frames::keep() before");
    frames.keep(2);
    sea.run(3);
    EXPECT_EQ(frames.rewind(4).message(), "frame 4 is not kept; those from 5 to 6 are, of 2 at most; keep more frames");
    EXPECT_EQ(sea.world.frame(), 6u);
}

struct Game {
    EntityManager entities;
    World world{entities};
};

/// What a program does that saves when it is told to.
Status save_and_load(World& world, const std::string& path) {
    // [save]
    if (Status status = save(world, path); !status) return status;  // the file is what it was then
    world.step(0.1f);
    if (Status status = load(world, path); !status) return status;  // as if the step had not been
    // [save]
    return {};
}

/// What one does that steps again what a late input has changed.
Status step_again(World& world, const std::function<void(std::uint64_t frame)>& apply_inputs) {
    // [rewind]
    Frames frames(world, 8);
    for (int i = 0; i < 5; ++i) world.step(1.0f / 60);
    const std::uint64_t now = world.frame();
    if (Status status = frames.rewind(now - 3); !status) return status;  // an input of then has come
    while (world.frame() < now) {
        apply_inputs(world.frame());
        world.step(1.0f / 60);
    }
    // [rewind]
    return {};
}

TEST(Save, what_the_guide_shows_works) {
    const std::string path = temporary_path("guide.save");
    Game game;
    auto& ages = game.world.manager<Age>();
    const Entity one = *game.entities.create();
    ASSERT_TRUE(ages.add(one, {0}).ok());
    game.world.schedule().add("grow", query<Write<&Age::frames>>(ages), [](auto&& frames) { ++frames; });
    EXPECT_TRUE(save_and_load(game.world, path).ok());
    EXPECT_EQ(ages.get<&Age::frames>(ages.instance(one)), 0u);
    std::vector<std::uint64_t> applied;
    EXPECT_TRUE(step_again(game.world, [&](std::uint64_t frame) { applied.push_back(frame); }).ok());
    EXPECT_EQ(applied, (std::vector<std::uint64_t>{2, 3, 4}));
    EXPECT_EQ(ages.get<&Age::frames>(ages.instance(one)), 5u);
    std::filesystem::remove(path);
}

// --- what is refused ---------------------------------------------------------------------------------------------

struct Notebook {
    std::string text;
};
SHOAL_COMPONENT(Notebook, text)

TEST(Save, what_cannot_be_saved_is_named_and_the_file_stays_as_it_was) {
    const std::string path = temporary_path("refused.save");
    ASSERT_TRUE(write_file(path, "what was there").ok());
    EntityManager entities;
    World world(entities);
    ASSERT_TRUE(world.manager<Notebook>().add(*entities.create(), Notebook{"x"}).ok());
    EXPECT_EQ(
        save(world, path).message(),
        path +
            ": it cannot be saved: the field \"text\" of \"notebook\" has a type that only C++ knows; keep what it "
            "holds in plain fields, or remove the components before");
    world.manager<Notebook>().clear();
    const Entity one = *entities.create();
    world.commands().call(one, [](Entity) {});
    EXPECT_EQ(save(world, path).message(),
              path + ": it cannot be saved: commands.call() about " + entity_text(one) +
                  " waits, and its C++ function cannot be saved; settle first, with World::settle()");
    world.settle();
    world.commands().add(one, Notebook{"y"});
    EXPECT_EQ(save(world, path).message(),
              path +
                  ": it cannot be saved: 1 commands that wait to add \"notebook\" have values with a field that only "
                  "C++ knows; settle first, with World::settle()");
    world.settle();
    world.manager<Notebook>().clear();
    EXPECT_EQ(*read_file(path), "what was there");
    world.settle();
    EXPECT_TRUE(save(world, path).ok());
    std::filesystem::remove(path);
}

TEST(Save, a_state_of_shared_entities_is_not_loaded_into_one_of_several_worlds) {
    EntityManager entities;
    World world(entities);
    const Snapshot state = state_of(world);
    World other(entities);
    EXPECT_EQ(load(world, state).message(),
              "2 worlds share the entities, which a state has all of; load it into a world with an entity manager of "
              "its own");
}

TEST(Save, a_state_of_shared_entities_is_loaded_into_a_world_that_has_its_own) {
    EntityManager entities;
    World world(entities), other(entities);
    const Entity here = *entities.create(), there = *entities.create();
    ASSERT_TRUE(world.manager<Fin>().add(here));
    ASSERT_TRUE(other.manager<Fin>().add(there));
    const Snapshot state = state_of(world);
    EntityManager own;
    World loaded(own);
    loaded.manager<Fin>();
    const Status status = load(loaded, state);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(own.alive(here) && own.alive(there));
    EXPECT_TRUE(loaded.manager<Fin>().has(here));
    EXPECT_FALSE(loaded.manager<Fin>().has(there));
}

TEST(Save, a_world_of_another_program_gets_the_component_types_that_only_the_file_knows) {
    const std::string path = temporary_path("types.save");
    ComponentDefinition definition{.name = "coral", .fields = {{.name = "height"}}};
    const Schema schema = Schema::make(definition).value();
    Entity coral;
    {
        EntityManager entities;
        World world(entities);
        ComponentManager& corals = **world.manager(schema);
        coral = *entities.create();
        const float height = 2.5f;
        ASSERT_TRUE(corals.add_images({&coral, 1}, reinterpret_cast<const std::byte*>(&height), 0).ok());
        ASSERT_TRUE(world.database().add(coral, Spot{{1, 2, 3}}).ok());
        ASSERT_TRUE(world.strings().intern("staghorn").ok());
        ASSERT_TRUE(save(world, path).ok()) << save(world, path).message();
    }
    EntityManager entities;
    World world(entities);
    const Status status = load(world, path);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(*world.get<float>(coral, "coral.height"), 2.5f);
    EXPECT_EQ(world.get<Vec3>(coral, "spot.position")->y, 2);
    EXPECT_EQ(world.strings().text(StringId("staghorn")), "staghorn");
    definition.fields[0].type = FieldType::kVec3;
    EntityManager other_entities;
    World other(other_entities);
    ASSERT_TRUE(other.manager(Schema::make(definition).value()).ok());
    EXPECT_EQ(load(other, path).message(),
              path +
                  ": the snapshot, part \"types\": it has coral v1 {height float}, and this program has coral v1 "
                  "{height vec3}; no migration leads from one to the other: convert() is needed for component 0: "
                  "\"height\" is a vec3, not a float; name a part of it, such as \"height.x\"");
    std::filesystem::remove(path);
}

TEST(Save, a_component_type_named_like_the_database_of_the_world_is_refused) {
    EntityManager entities;
    World world(entities);
    const Schema schema = Schema::make({.name = "database", .fields = {{.name = "rows"}}}).value();
    ASSERT_TRUE(world.manager(schema).ok());
    world.database();
    Snapshot state;
    EXPECT_EQ(save(world, state).message(),
              "it cannot be saved: two stores would have the name \"database\" in the save; give the component type "
              "another name");
}

struct Blast {
    unsigned char picture[2 << 20];
};

TEST(Save, what_no_program_could_read_again_is_refused_when_it_is_saved) {
    EntityManager entities;
    Snapshot state;
    World with_blasts(entities);
    with_blasts.events<Blast>();
    EXPECT_NE(
        save(with_blasts, state).message().find("has values of 2097152 bytes, and a save has values of up to 1048576"),
        std::string::npos)
        << save(with_blasts, state).message();
    for (const std::string& name : {std::string(5000, 'p'), std::string("\xff")}) {
        World world(entities);
        world.schedule().add(name, {}, [](PassContext&) {});
        EXPECT_NE(save(world, state).message().find("is not UTF-8 or longer than 4,000 bytes"), std::string::npos)
            << save(world, state).message();
    }
}

struct Label {
    FixedString<8> text;
    Kind kind = Kind::kPlant;
    bool is_lit = false;
    float size = 1;
};
SHOAL_COMPONENT(Label, text, kind, is_lit, size)

/// A manager and a database with a column for each field, or with one for all.
TEST(Save, a_value_that_no_load_would_take_is_refused_by_name_and_all_others_come_back) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    int num_refused = 0, num_loaded = 0;
    for (int round = 0; round < 60; ++round) {
        EntityManager entities;
        World world(entities);
        auto& labels = world.manager<Label>();
        Entity last;
        for (int i = 0; i < 1100; ++i) {
            last = *entities.create();
            ASSERT_TRUE(labels.add(last, Label{FixedString<8>("label")}).ok());
            ASSERT_TRUE(world.database().insert(last, Zone(0), Plankton{}).ok());
        }
        Label label;
        Plankton plankton;
        if (random.below(2) == 0)
            for (char& letter : label.text.data) letter = char(random.below(4) == 0 ? 0 : random.below(140));
        // To read a bool of another value is an error of its own, which the sanitizers find.
        const auto lit = static_cast<int>(random.below(kSanitized ? 2 : 3));
        if (random.below(3) == 0) std::memset(static_cast<void*>(&label.is_lit), lit, 1);
        if (random.below(3) == 0) label.kind = Kind(random.below(3));
        if (random.below(3) == 0) plankton.kind = Kind(random.below(4));
        labels.remove(last);
        ASSERT_TRUE(labels.add(last, label).ok());
        world.database().set<&Plankton::kind>(world.database().find(last), plankton.kind);
        Array<std::byte> bytes{Owner("test")};
        const Status saved = save(world, bytes);
        EntityManager there;
        World loaded(there);
        if (saved) {
            const Status status = load(loaded, bytes);
            ASSERT_TRUE(status.ok()) << status.message();
            ASSERT_EQ(difference(state_of(world), state_of(loaded)), "");
            ++num_loaded;
        } else {
            const std::string message(saved.message());
            ASSERT_NE(message.find(concat(" of ", entity_text(last), " in \"")), std::string::npos) << message;
            ASSERT_NE(message.find("which no program would load; set it to a value of its type before"),
                      std::string::npos)
                << message;
            const Snapshot state = state_of(world);  // of this run of the program
            ASSERT_TRUE(load(world, state).ok());
            ASSERT_FALSE(load(loaded, state, false).ok()) << message;
            ++num_refused;
        }
    }
    EXPECT_GT(num_refused, 3);
    EXPECT_GT(num_loaded, 3);
}

/// Rows without an owner, which an index by identity leaves, keep the bytes of who was there.
TEST(Save, bytes_of_rows_that_nobody_has_do_not_keep_a_world_from_being_saved) {
    EntityManager entities, there;
    World world(entities), loaded(there);
    auto& labels = world.manager<Label>({.index = RowIndexKind::kIdentity});
    loaded.manager<Label>({.index = RowIndexKind::kIdentity});
    std::vector<Entity> all(5);
    ASSERT_TRUE(entities.create(all));
    for (const Entity entity : all) ASSERT_TRUE(labels.add(entity, Label{}).ok());
    labels.set<&Label::kind>(labels.instance(all[2]), Kind(7));
    Array<std::byte> bytes{Owner("test")};
    EXPECT_FALSE(save(world, bytes).ok());
    labels.remove(all[2]);
    world.settle();
    Status status = save(world, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    status = load(loaded, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(difference(state_of(world), state_of(loaded)), "");
}

enum class Gear : std::uint8_t { kReverse = 0, kBack = 0, kSecond = 2 };
SHOAL_ENUM(Gear, kReverse, kBack, kSecond)
enum class Far : std::int64_t { kNear = 1, kFar = 2 };
SHOAL_ENUM(Far, kNear, kFar)
struct Machine {
    Gear gear = Gear::kReverse;
    Far far = Far::kNear;
};
SHOAL_COMPONENT(Machine, gear, far)

TEST(Save, numbers_between_those_of_an_enum_and_the_smallest_and_largest_are_refused_too) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const auto& [gear, far, is_sound] : {std::tuple{0, std::int64_t(1), true},
                                              {2, 2, true},
                                              {1, 1, false},
                                              {3, 1, false},
                                              {0, kLeast, false},
                                              {0, kMost, false},
                                              {0, 0, false}}) {
        EntityManager entities, there;
        World world(entities), loaded(there);
        loaded.manager<Machine>();
        ASSERT_TRUE(world.manager<Machine>().add(*entities.create(), Machine{Gear(gear), Far(far)}).ok());
        Array<std::byte> bytes{Owner("test")};
        EXPECT_EQ(save(world, bytes).ok(), is_sound) << gear << ", " << far;
        EXPECT_EQ(load(loaded, state_of(world), false).ok(), is_sound) << gear << ", " << far;
    }
}

TEST(Save, what_follows_the_end_of_a_text_in_place_does_not_matter) {
    EntityManager entities, there;
    World world(entities), loaded(there);
    Label label{FixedString<8>("mackere")};
    std::strcpy(label.text.data, "cod");  // and the rest of the longer one
    const Entity entity = *entities.create();
    ASSERT_TRUE(world.manager<Label>().add(entity, label).ok());
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(world, bytes).ok());
    auto& labels = loaded.manager<Label>();
    const Status status = load(loaded, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(labels.get<&Label::text>(labels.instance(entity)).view(), "cod");
}

TEST(Save, a_load_that_fails_leaves_no_store_that_it_has_made) {
    Array<std::byte> bytes{Owner("test")};
    {
        EntityManager entities;
        World world(entities);
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(world.manager<Fin>().add(*entities.create()).ok());
        world.transforms();
        world.database();
        ASSERT_TRUE(save(world, bytes).ok());
    }
    EntityManager few({.max_entities = 10});
    World world(few);
    EXPECT_FALSE(load(world, bytes).ok());
    EXPECT_TRUE(world.directory().stores().empty());
    EXPECT_TRUE(world.manager<Fin>().add(*few.create()).ok());  // ends the program if the world has another for fins
}

TEST(Save, a_state_that_may_not_be_lost_is_not_replaced_by_another) {
    Sea sea(nullptr, 3);
    sea.run(3);
    const Snapshot then = state_of(sea.world);
    sea.run(1);
    sea.world.commands().call(*sea.entities.create(), [](Entity) {});
    const Status status = load(sea.world, then);
    EXPECT_NE(status.message().find("could not be brought back if loading fails"), std::string::npos)
        << status.message();
    sea.world.settle();
    EXPECT_TRUE(load(sea.world, then).ok());
}

TEST(Save, a_store_that_the_file_does_not_have_is_empty_when_it_is_loaded) {
    EntityManager entities, other_entities;
    World saved(entities), loaded(other_entities);
    ASSERT_TRUE(saved.manager<Fin>().add(*entities.create(), Fin{}).ok());
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(saved, bytes).ok());
    const Entity one = *other_entities.create();
    loaded.manager<Fin>();
    ASSERT_TRUE(loaded.manager<Scar>().add(one, {1}).ok());
    ASSERT_TRUE(loaded.database().add(one, Spot{}).ok());
    for (const Zone zone : {1u, 3u})  // each in a table of its own
        ASSERT_TRUE(loaded.database().insert(*other_entities.create(), zone, Spot{}).ok());
    const Status status = load(loaded, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(loaded.manager<Fin>().num_rows(), 1u);
    EXPECT_EQ(loaded.manager<Scar>().num_rows(), 0u);
    EXPECT_EQ(loaded.database().num_rows(), 0u);
}

// --- files that are false ----------------------------------------------------------------------------------------

/// A small file with something of everything.
Array<std::byte> small_file() {
    Sea sea(nullptr, 8);
    sea.run(6);
    const std::string path = temporary_path("small.save");
    EXPECT_TRUE(save(sea.world, path).ok()) << save(sea.world, path).message();
    const std::string text = *read_file(path);
    std::filesystem::remove(path);
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    return Array<std::byte>(bytes, bytes + text.size(), "test");
}

Status load_bytes(World& world, std::span<const std::byte> bytes) {
    SerialExecutor serial;
    const Result<Snapshot> state = read_state(bytes, serial);
    return state ? load(world, *state, false) : state.status();
}

TEST(Save, a_file_that_is_cut_short_or_damaged_is_refused_and_the_world_stays_as_it_was) {
    const Array<std::byte> file = small_file();
    Sea sea(nullptr, 9);
    sea.run(5);
    const Snapshot before = state_of(sea.world);
    Random random(shoal_test::seed());
    for (int i = 0; i < 300; ++i) {
        Array<std::byte> bytes = file;
        if (i % 2 == 0)
            bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size())));
        else
            bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] ^= std::byte(1 << random.below(8));
        EXPECT_FALSE(load_bytes(sea.world, bytes).ok());
    }
    EXPECT_EQ(difference(before, state_of(sea.world)), "");
    EXPECT_TRUE(load_bytes(sea.world, file).ok());
}

/// Why bytes are no state, and whether they are damaged.
std::string fault_of(std::span<const std::byte> bytes) {
    SerialExecutor serial;
    bool is_damaged = false;
    const Result<Snapshot> state = read_state(bytes, serial, 0, &is_damaged);
    return (is_damaged ? "damaged: " : "whole: ") + std::string(state.message());
}

TEST(Save, what_is_no_save_cut_short_or_damaged_or_of_another_program_is_told_apart) {
    const Array<std::byte> file = small_file();
    const std::span<const std::byte> whole(file);
    const auto changed = [&](std::size_t at, int value) {
        Array<std::byte> bytes = file;
        bytes[at] = std::byte(value);
        return fault_of(bytes);
    };
    const auto begins = [](const std::string& fault, std::string_view with) { return fault.starts_with(with); };
    const std::string_view kNoSave = "damaged: the file is not a save of a world: it does not begin with";
    EXPECT_TRUE(begins(fault_of({}), kNoSave));
    EXPECT_TRUE(begins(fault_of(std::as_bytes(std::span(std::string_view("nonsense")))), kNoSave));
    EXPECT_TRUE(begins(fault_of(std::as_bytes(std::span(std::string_view("some longer text, as long as a header is, "
                                                                         "which is 64 bytes")))),
                       kNoSave));
    const std::string_view kCut = "damaged: the file is not a complete save: it is cut short: it has ";
    for (const std::size_t num_bytes :
         {std::size_t(1), std::size_t(8), std::size_t(63), std::size_t(64), whole.size() / 2, whole.size() - 1})
        EXPECT_TRUE(begins(fault_of(whole.first(num_bytes)), concat(kCut, num_bytes, " bytes"))) << num_bytes;
    Array<std::byte> longer = file;
    longer.push_back(std::byte(0));
    EXPECT_EQ(fault_of(longer), concat("damaged: the file is not a complete save: it has ", longer.size(),
                                       " bytes, and had ", file.size(), "; take another copy of it"));
    EXPECT_TRUE(begins(changed(file.size() / 2, ~std::to_integer<int>(file[file.size() / 2])),
                       "damaged: the file is not a complete save: its checksum is wrong"));
    EXPECT_TRUE(begins(changed(13, 9), "damaged: the header of the save is damaged: it has no byte order"));
    EXPECT_TRUE(begins(changed(8, 2), "whole: the save has version 2 of the format"));
    Array<std::byte> swapped = file;
    std::reverse(swapped.begin() + 12, swapped.begin() + 16);
    EXPECT_TRUE(begins(fault_of(swapped), "whole: the save has the byte order big-endian"));
    EXPECT_EQ(fault_of(file), "damaged: ") << "which says nothing of bytes that were read";
}

/// A copy of a state with another text as one of its parts.
Snapshot with_text(const Snapshot& from, std::string_view path, std::string_view text) {
    return with_part(from, path, [&](std::vector<std::byte>& bytes) {
        const std::span<const std::byte> other = std::as_bytes(std::span(text));
        bytes.assign(other.begin(), other.end());
    });
}

TEST(Save, a_store_that_a_file_lists_twice_is_refused) {
    EntityManager entities;
    World world(entities);
    ASSERT_TRUE(world.manager<Fin>().add(*entities.create()).ok());
    const Snapshot twice = with_text(state_of(world), "stores", "fin\tmanager\nfin\tmanager\n");
    EXPECT_EQ(load(world, twice, false).message(), "the snapshot, part \"stores\": it lists \"fin\" twice");
}

/// A file whose state is `num_pieces` times 1 MiB of zeros.
std::vector<std::byte> file_of_zeros(std::uint32_t num_pieces) {
    constexpr std::size_t kPieceBytes = std::size_t(1) << 20;
    const std::vector<std::byte> zeros(kPieceBytes);
    std::vector<std::byte> piece(ZSTD_compressBound(kPieceBytes));
    piece.resize(ZSTD_compress(piece.data(), piece.size(), zeros.data(), zeros.size(), 19));
    std::vector<std::byte> bytes;
    const auto append = [&](const auto& value) {
        const auto* const first = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), first, first + sizeof value);
    };
    append(std::uint64_t(num_pieces) * kPieceBytes);  // elements
    append(std::uint32_t(1)), append(std::uint32_t(5));
    for (const char c : {'z', 'e', 'r', 'o', 's', '\0', '\0', '\0'}) append(c);
    const std::uint64_t table_bytes = bytes.size();
    for (std::uint32_t i = 0; i < num_pieces; ++i) append(static_cast<std::uint32_t>(piece.size()));
    for (std::uint32_t i = 0; i < num_pieces; ++i) bytes.insert(bytes.end(), piece.begin(), piece.end());
    const std::vector<std::byte> body = std::exchange(bytes, {});
    for (const char c : {'s', 'h', 'o', 'a', 'l', 's', 'a', 'v'}) append(c);
    append(std::uint32_t(1)), append(std::uint32_t(0x01020304));
    for (const std::uint64_t number : {64 + body.size(), num_pieces * kPieceBytes, std::size_t(1)}) append(number);
    append(table_bytes), append(std::uint64_t(num_pieces)), append(hash_bytes(body.data(), body.size()));
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
}

Status load_what_a_stranger_sent(World& world, std::span<const std::byte> bytes) {
    // [limit]
    return load(world, bytes, {.max_bytes = std::uint64_t(64) << 20});  // 64 MiB
    // [limit]
}

TEST(Save, a_small_file_of_a_large_state_is_refused_before_it_takes_memory_unless_the_program_allows_it) {
    Sea sea(nullptr, 9);
    sea.run(2);
    const Snapshot before = state_of(sea.world);
    const std::vector<std::byte> large = file_of_zeros(2048), small = file_of_zeros(4);
    ASSERT_LT(large.size(), 1u << 20) << "2 GiB";
    EXPECT_EQ(load(sea.world, large).message(),
              "the save takes 2147483648 bytes in memory, and may take 1073741824; if you trust its source, set "
              "LoadOptions::max_bytes");
    EXPECT_EQ(load(sea.world, small, {.max_bytes = (4u << 20) - 1}).message(),
              "the save takes 4194304 bytes in memory, and may take 4194303; if you trust its source, set "
              "LoadOptions::max_bytes");
    EXPECT_EQ(load(sea.world, small, {.max_bytes = 4u << 20}).message(),
              "the snapshot, part \"entities/id_bytes\": it is missing");
    EXPECT_EQ(difference(before, state_of(sea.world)), "");
    Array<std::byte> own{Owner("test")};
    ASSERT_TRUE(save(sea.world, own).ok());
    EXPECT_FALSE(load(sea.world, own, {.max_bytes = 1000}).ok());
    EXPECT_TRUE(load_what_a_stranger_sent(sea.world, own).ok());
    EXPECT_NE(load_what_a_stranger_sent(sea.world, file_of_zeros(65)).message().find("may take 67108864;"),
              std::string_view::npos);
    EXPECT_TRUE(load(sea.world, own, {.max_bytes = before.num_bytes() + (1 << 20)}).ok());
}

TEST(Save, a_file_of_more_bytes_than_there_can_be_is_refused_whatever_it_may_take) {
    std::vector<std::byte> bytes = file_of_zeros(1);
    const std::uint64_t most = ~std::uint64_t(0), none = 0;
    std::memcpy(bytes.data() + 24, &most, sizeof most);  // of the elements of all parts
    std::memcpy(bytes.data() + 64, &most, sizeof most);  // of the one part
    std::memcpy(bytes.data() + 48, &none, sizeof none);  // pieces
    const std::uint64_t checksum = hash_bytes(bytes.data() + 64, bytes.size() - 64);
    std::memcpy(bytes.data() + 56, &checksum, sizeof checksum);
    EntityManager entities;
    World world(entities);
    for (const std::uint64_t max_bytes : {std::uint64_t(0), most})
        EXPECT_EQ(load(world, bytes, {.max_bytes = max_bytes}).message(),
                  "the file is not a complete save: the sizes in its header do not fit; take another copy of it");
}

TEST(Save, a_state_that_is_compressed_in_several_rounds_is_read_as_it_was) {
    constexpr std::size_t kPiece = std::size_t(1) << 20, kNumPieces = 66;  // 64 in each round
    std::vector<std::byte> values(kNumPieces * kPiece);
    for (std::size_t i = 0; i < kNumPieces; ++i) std::memset(values.data() + i * kPiece, int(i) + 1, kPiece);
    Snapshot state;
    SnapshotWriter(state).elements("large", values.data(), 8, values.size() / 8);
    SerialExecutor serial;
    const Result<Array<std::byte>> bytes = write_state(state, serial);
    ASSERT_TRUE(bytes.ok()) << bytes.message();
    const Result<Snapshot> read = read_state(*bytes, serial, values.size());
    ASSERT_TRUE(read.ok()) << read.message();
    const SnapshotPart part = read->part(read->find("large"));
    for (std::size_t i = 0; i < kNumPieces; ++i) {
        std::uint64_t value = 0;
        read->copy(part, i * kPiece / 8 + 5, 1, reinterpret_cast<std::byte*>(&value));
        EXPECT_EQ(value, (i + 1) * 0x0101010101010101u) << i;
    }
}

TEST(Save, stores_are_made_in_the_time_of_their_number) {
    const auto num_stores = static_cast<std::uint32_t>(shoal_test::scaled_operations(10'000));
    EntityManager entities;
    World empty(entities);
    const Snapshot state = state_of(empty);
    BlobWriter types;
    types.set_name("types");
    std::string stores;
    for (std::uint32_t i = 0; i < num_stores; ++i) {
        const Schema schema = Schema::make({.name = concat("c", i), .fields = {{.name = "a"}}}).value();
        ASSERT_TRUE(types.add_component_type(schema).ok());
        stores += concat("c", i, "\tmanager\n");
    }
    Snapshot large = with_text(state, "stores", stores);
    SnapshotWriter(large).array("types", std::span<const std::byte>(types.write().value()));
    EXPECT_EQ(load(empty, large, false).message(), "the snapshot, part \"stores/c0/rows/num_rows\": it is missing");
    EXPECT_TRUE(empty.directory().stores().empty());
}

TEST(Save, a_false_state_is_refused_and_changes_nothing_or_gives_a_world_that_works) {
    SerialExecutor serial;
    const Result<Snapshot> state = read_state(small_file(), serial);
    ASSERT_TRUE(state.ok());
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    int num_refused = 0, num_taken = 0;
    for (std::int64_t i = 0, end = shoal_test::scaled_operations(2000); i < end; ++i) {
        Sea sea(nullptr, 10);
        sea.run(2);
        const Snapshot before = state_of(sea.world);
        const Snapshot damaged = damaged_copy(*state, random);
        const Status status = load(sea.world, damaged, false);
        if (!status) {
            ++num_refused;
            ASSERT_EQ(difference(before, state_of(sea.world)), "") << status.message();
        } else {
            ++num_taken;
        }
        sea.run(2);
    }
    EXPECT_GT(num_refused, 0);
    EXPECT_GT(num_taken, 0);
}

TEST(Save, as_many_false_parts_have_each_message_as_always_had) {
    if (sizeof(Entity) != 4 || kSanitized) GTEST_SKIP() << "other builds have other ids, or show nothing";
    SerialExecutor serial;
    const Result<Snapshot> state = read_state(small_file(), serial);
    ASSERT_TRUE(state.ok());
    std::map<std::string, int> num_of;
    for (std::size_t number = 0; number < state->num_parts(); ++number)
        for (int way = 0; way < 5; ++way) {
            const Snapshot damaged = with_parts(*state, [&, at = std::size_t(0)](ChangedPart& part) mutable {
                if (at++ != number) return true;
                if (part.bytes.empty()) return way != 0;
                if (way == 1) part.bytes.resize(part.bytes.size() - part.element_bytes);
                if (way == 2) part.bytes.resize(part.bytes.size() + part.element_bytes);
                if (way == 3) part.bytes.front() ^= std::byte(0xFF);
                if (way == 4) part.bytes.back() ^= std::byte(0xFF);
                return way != 0;
            });
            Sea sea(nullptr, 10);
            ++num_of[kind_of_message(load(sea.world, damaged, false).message())];
        }
    expect_message_counts(num_of, SHOAL_SOURCE_DIR "/tests/save/golden/false_parts.txt");
}

TEST(Save, a_false_zone_is_refused_and_changes_nothing_or_gives_a_database_that_is_sound) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    int num_refused = 0, num_taken = 0;
    for (std::int64_t i = 0, end = shoal_test::scaled_operations(1000); i < end; ++i) {
        Sea sea(nullptr, 11);
        sea.run(3);
        Snapshot zone;
        SnapshotWriter to(zone);
        sea.sea.write_zone(1, to);
        ASSERT_TRUE(to.status().ok()) << to.status().message();
        ASSERT_GT(sea.sea.drop_zone(1), 0u);
        const Snapshot before = state_of(sea.world), damaged = damaged_copy(zone, random);
        SnapshotReader from(damaged, false);
        const Status status = sea.sea.read_zone(1, from).status();
        if (!status) {
            ASSERT_EQ(difference(before, state_of(sea.world)), "") << status.message();
        }
        ++(status ? num_taken : num_refused);
        expect_sound(sea);
        sea.run(1);
    }
    EXPECT_GT(num_refused, 0);
    EXPECT_GT(num_taken, 0);
}

/// Makes the first entity that is not null another one. Returns whether there is one.
bool replace_first_entity(std::vector<std::byte>& bytes, EntityBits (*change)(Entity)) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Entity)) {
        Entity entity;
        std::memcpy(&entity, bytes.data() + at, sizeof entity);
        if (!entity) continue;
        entity.id = change(entity);
        return std::memcpy(bytes.data() + at, &entity, sizeof entity) != nullptr;
    }
    return false;
}

constexpr EntityBits (*kImpossible[])(Entity) = {
    [](Entity entity) { return EntityBits(entity.index()); },  // generation 0
    [](Entity entity) { return entity.id & ~kIndexMask; },     // index 0
    [](Entity entity) {
        return entity.id |
               (kSpareBits == 0 ? 0 : EntityBits(1) << (kIndexBits + kGenerationBits - 1 + (kSpareBits != 0)));
    },
};

TEST(Save, an_id_that_no_entity_can_have_is_refused_wherever_a_state_says_whose_something_is) {
    const std::set<std::string> kNames = {"owner", "owners", "dead", "entities", "free_ids", "singletons"};
    Sea sea(nullptr, 13);
    sea.run(6);
    sea.meddle();
    const Snapshot sound = state_of(sea.world);
    std::set<std::string> seen;
    Sea other(nullptr, 13);
    for (std::size_t i = 0; i < sound.num_parts(); ++i) {
        const std::string path(sound.part(i).path), name = path.substr(path.rfind('/') + 1);
        if (!kNames.contains(name) || path.find("/field/") != std::string::npos) continue;  // fields may hold anything
        for (const auto change : std::span(kImpossible).first(seen.contains(name) ? 1u : 2u + (kSpareBits != 0))) {
            bool is_other = false;
            const Snapshot damaged =
                with_part(sound, path, [&](auto& bytes) { is_other = replace_first_entity(bytes, change); });
            if (!is_other) continue;
            seen.insert(name);
            EXPECT_FALSE(load(other.world, damaged, false)) << path;
        }
    }
    EXPECT_EQ(seen, kNames);
    EXPECT_TRUE(load(other.world, sound, false));
}

TEST(Save, an_id_that_no_entity_can_have_or_that_is_there_twice_is_refused_in_a_zone) {
    Sea sea(nullptr, 14);
    sea.run(3);
    Snapshot zone;
    SnapshotWriter to(zone);
    sea.sea.write_zone(1, to);
    sea.sea.drop_zone(1);
    const auto expect_refused = [&](auto change_owners, std::string_view why) {
        const Snapshot damaged = with_part(zone, "table/0/owner", change_owners);
        SnapshotReader from(damaged, false);
        const Status status = sea.sea.read_zone(1, from).status();
        EXPECT_NE(status.message().find(why), std::string_view::npos) << status.message();
        EXPECT_EQ(sea.sea.num_rows(1), 0u) << "a part of it was taken over";
    };
    for (const auto change : kImpossible)
        if (change != kImpossible[2] || kSpareBits != 0)
            expect_refused([&](auto& owners) { replace_first_entity(owners, change); }, "is not the id of an entity");
    const auto repeat_first = [](std::vector<std::byte>& owners) {
        ASSERT_GT(owners.size(), sizeof(Entity));
        std::memcpy(owners.data() + sizeof(Entity), owners.data(), sizeof(Entity));
    };
    expect_refused(repeat_first, "has two rows");
    SnapshotReader from(zone, false);
    EXPECT_TRUE(sea.sea.read_zone(1, from).ok());
}

TEST(Save, owners_of_a_zone_are_checked_in_the_time_of_their_number) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    sea.component<Spot>(), sea.component<Hungry>();
    std::vector<Entity> owners(static_cast<std::size_t>(shoal_test::scaled_operations(20'000)));
    ASSERT_TRUE(entities.create(owners).ok());
    ASSERT_TRUE(sea.insert(owners[0], 1, Spot{}).ok());
    Snapshot zone;
    SnapshotWriter to(zone);
    sea.write_zone(1, to);
    sea.drop_zone(1);
    for (const Entity owner : owners) ASSERT_TRUE(sea.insert(owner, 2, Hungry{}).ok());
    std::string names;
    for (int i = 0; i < 1'000'000; ++i) names += "h\n";
    const Snapshot large = with_parts(zone, [&](ChangedPart& part) {
        const auto put = [&](std::span<const std::byte> bytes) { part.bytes.assign(bytes.begin(), bytes.end()); };
        if (part.path == "table/0/owner") put(std::as_bytes(std::span(owners)));
        if (part.path == "table/0/components") put(std::as_bytes(std::span(names)));
        return true;
    });
    SnapshotReader from(large, false);
    EXPECT_EQ(sea.read_zone(1, from).status().message(),
              "the snapshot, part \"table/0/components\": \"h\" had other fields when the zone was written");
}

TEST(Save, a_place_that_is_not_looked_at_for_a_long_time_is_refused) {
    const auto declare = [](World& world) {
        world.transforms();
        world.database().component<Spot>();
        world.position_links().follow<&Spot::position>(Follower::kField);
    };
    EntityManager entities, others;
    World world(entities), other(others);
    declare(world), declare(other);
    for (int i = 0; i < 3; ++i) world.step(0.1f);
    const Snapshot state = state_of(world);
    const auto with_since = [&](std::uint64_t since) {
        return with_part(state, "position_links/declared", [&](std::vector<std::byte>& bytes) {
            ASSERT_GE(bytes.size(), sizeof since);
            std::memcpy(bytes.data() + bytes.size() - sizeof since, &since, sizeof since);
        });
    };
    const Snapshot before = state_of(other);
    EXPECT_EQ(load(other, with_since(world.stamp() + 1), false).message(),
              "the snapshot, part \"position_links/declared\": a place is to be looked at only from a stamp on that "
              "lies in the "
              "future");
    EXPECT_EQ(difference(before, state_of(other)), "");
    const Status status = load(other, with_since(world.stamp()), false);
    EXPECT_TRUE(status.ok()) << status.message();
}

struct Chart {
    BlobArray<float> depths;
};
SHOAL_COMPONENT(Chart, depths)
struct Diary {
    std::string text;
};
SHOAL_COMPONENT(Diary, text)

TEST(Save, arrays_of_commands_that_wait_stay_unless_who_looks_at_them_says_that_one_has_changed) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    sea.component<Chart>();
    BlobArrayBase array;
    array.resource = ResourceId("depths"), array.count = 3;
    Chart chart;
    std::memcpy(static_cast<void*>(&chart.depths), &array, sizeof array);
    world.commands().add(*entities.create(), chart);
    struct Look {
        bool changes;
        std::uint32_t num_seen = 0, last_count = 0;
    };
    const auto look = [](void* context, FieldType type, BlobArrayBase& seen) {
        auto& [changes, num_seen, last_count] = *static_cast<Look*>(context);
        EXPECT_EQ(type, FieldType::kFloat);
        ++num_seen, last_count = seen.count;
        ++seen.count;
        return changes;
    };
    const auto expect_count = [&](std::uint32_t expected, bool changes) {
        Look one{changes};
        WaitingCommands::of_directory(world.directory()).visit_arrays(look, &one);
        EXPECT_EQ(one.last_count, expected);
        EXPECT_EQ(one.num_seen, 1u);
    };
    expect_count(3, false);
    expect_count(3, true);
    expect_count(4, false);
    expect_count(4, false);
    WaitingCommands::of_directory(world.directory()).discard();
}

struct Atlas {
    std::uint32_t page = 0;
    BlobArray<float> depths;
};
SHOAL_COMPONENT((Atlas, whole), page, depths)

/// A blob with an array of `count` numbers, and an atlas that refers to it.
std::vector<std::byte> atlas_blob(std::string_view name, std::size_t count, Atlas& atlas) {
    BlobWriter writer;
    writer.set_name(name);
    const std::vector<float> depths(count, 4);
    static_cast<BlobArrayBase&>(atlas.depths) = writer.add_array(FieldType::kFloat, std::as_bytes(std::span(depths)));
    writer.add_entity({});
    writer.add_component(writer.add_component_type(schema_of<Atlas>()).value(), 0, std::as_bytes(std::span(&atlas, 1)));
    const std::vector<std::byte> bytes = writer.write().value();
    std::memcpy(static_cast<void*>(&atlas), Blob::load(bytes).value().component_types().front().columns[0],
                sizeof atlas);
    return bytes;
}

TEST(Save, rows_without_an_owner_need_no_resource_for_their_arrays) {
    Atlas kept{1, {}}, dropped{2, {}};
    const std::vector<std::byte> deep = atlas_blob("deep", 3, kept), shallow = atlas_blob("shallow", 5, dropped);
    ResourceLibrary both, only_deep, only_shallow;
    ASSERT_TRUE(both.load(deep).ok() && both.load(shallow).ok());
    ASSERT_TRUE(only_deep.load(deep).ok() && only_shallow.load(shallow).ok());
    const auto add_stores = [](World& world) {
        world.manager<Atlas>({.index = RowIndexKind::kIdentity});  // what is removed leaves a hole
    };
    EntityManager entities;
    World world(entities, {.library = &both});
    add_stores(world);
    std::vector<Entity> made(7), gone;
    ASSERT_TRUE(entities.create(made).ok());
    for (std::size_t i = 0; i < made.size(); ++i) {
        const bool stays = i % 3 == 1;
        ASSERT_TRUE(world.manager<Atlas>().add(made[i], stays ? kept : dropped).ok());
        if (!stays) gone.push_back(made[i]);
    }
    world.manager<Atlas>().remove(gone);
    ASSERT_EQ(world.manager<Atlas>().core().table().num_holes(), gone.size() - 1) << "the last rows are cut off";
    const Snapshot state = state_of(world);
    for (const bool is_trusted : {true, false}) {
        EntityManager others, yet_others;
        World loaded(others, {.library = &only_deep}), refused(yet_others, {.library = &only_shallow});
        add_stores(loaded), add_stores(refused);
        const Status status = load(loaded, state, is_trusted);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(state_hash(loaded), state_hash(world));
        EXPECT_NE(load(refused, state, is_trusted).message().find("refers to arrays of the resource \"deep\""),
                  std::string_view::npos);
        EXPECT_EQ(refused.manager<Atlas>().entities().size(), 0u);
    }
}

TEST(Save, a_zone_whose_file_has_what_is_never_written_there_is_refused) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    sea.component<Chart>(), sea.component<Diary>();
    ASSERT_TRUE(sea.insert(*entities.create(), 1, Chart{}).ok());
    Snapshot zone;
    SnapshotWriter to(zone);
    sea.write_zone(1, to);
    ASSERT_TRUE(to.status().ok()) << to.status().message();
    sea.drop_zone(1);
    const auto refusal = [&](const Snapshot& state) {
        SnapshotReader from(state, false), again(state, false);
        const Status status = sea.read_zone(1, from).status();
        EXPECT_EQ(sea.check_zone(1, again).message(), status.message());
        EXPECT_EQ(sea.num_rows(), 0u);
        return std::string(status.message());
    };
    const Snapshot with_array = with_part(zone, "table/0/chart/column/0", [](std::vector<std::byte>& bytes) {
        BlobArrayBase array;
        array.resource = ResourceId("depths"), array.count = 3;
        std::memcpy(bytes.data(), &array, sizeof array);
    });
    EXPECT_EQ(refusal(with_array),
              "the snapshot, part \"table/0/column\": \"chart.depths\" refers to an array of a resource");
    const Snapshot with_diary = with_parts(zone, [](ChangedPart& part) {
        const std::uint64_t layout = schema_of<Diary>().layout_hash();
        const std::string_view names = "diary\n";
        const std::span<const std::byte> bytes =
            part.path.ends_with("layouts") ? std::as_bytes(std::span(&layout, 1)) : std::as_bytes(std::span(names));
        if (part.path.ends_with("layouts") || part.path.ends_with("components"))
            part.bytes.assign(bytes.begin(), bytes.end());
        return true;
    });
    EXPECT_EQ(refusal(with_diary), "the snapshot, part \"table/0/components\": they have fields that only C++ knows");
}

}  // namespace save_test

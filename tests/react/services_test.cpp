// Services: what happens around the frames of a world, in a declared order, also what programs add.

#include "shoal/react/service.h"

#include "shoal/command/commands.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/copy.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace services_test {

using namespace shoal;
using shoal_test::LeakCheck;

struct Shrimp {
    float mass = 1;
};
SHOAL_COMPONENT(Shrimp, mass)

// [world/service]
struct Census final : WorldService {
    explicit Census(World& of) : WorldService("census"), world(of) { world.services().add(*this); }
    ~Census() override { world.services().remove(*this); }
    void after_settle(const SettleContext&) override { num_alive.push_back(world.entities().num_alive()); }
    World& world;
    std::vector<std::uint64_t> num_alive;
};
// [world/service]

/// Writes down which hooks are called, and calls a function in one of them.
class Diary final : public WorldService {
public:
    Diary(World& world, std::string_view name, std::string& pages, std::uint32_t version = 0)
        : WorldService(name), world_(&world), pages_(pages), version_(version) {
        world.services().add(*this);
    }
    ~Diary() override {
        if (world_ != nullptr) world_->services().remove(*this);
    }
    void before_commands(const SettleContext&) override { note("before"); }
    void after_commands(const SettleContext&) override { note("after"); }
    void note_deaths() override { note("deaths"); }
    void after_settle(const SettleContext&) override { note("settled"); }
    void after_frame() override { note("frame"); }
    void spawned(const Blob&, const Spawned& all, const SpawnOptions&) override {
        note("spawned " + std::to_string(all.entities().size()));
    }
    void before_detach(Store&) override { note("detach"); }
    void forget(const Store&) override { note("forget"); }
    void fields_changed() override { note("fields"); }
    void after_load() override { note("loaded"); }
    void world_ends() override { note("end"), world_ = nullptr; }
    void mark_texts(TextMarks& marks) const override { marks.mark(text); }
    std::uint32_t state_version() const override { return version_; }
    void save_part(SnapshotWriter& to) const override { to.value("value", value); }
    Status load_part(SnapshotReader& from, std::uint32_t version) override {
        note("load " + std::to_string(version));
        value = 0;
        return version == 0 ? Status() : from.value("value", value);
    }

    StringId text;
    std::uint32_t value = 0;
    std::function<void(const std::string& hook)> in_hook;

private:
    void note(const std::string& hook) {
        pages_ += std::string(name()) + " " + hook + ", ";
        if (in_hook) in_hook(hook);
    }

    World* world_;
    std::string& pages_;
    std::uint32_t version_;
};

std::string names_of(const World& world) {
    std::string names;
    world.services().for_each([&](const WorldService& service) { names += std::string(service.name()) + " "; });
    return names;
}

std::vector<std::byte> blob_of_shrimp() {
    BlobWriter writer;
    writer.set_name("shrimp");
    const Shrimp shrimp;
    EXPECT_TRUE(writer.add_component_type(schema_of<Shrimp>()).ok());
    writer.add_component(0, writer.add_entity({.guid = 1}), std::as_bytes(std::span(&shrimp, 1)));
    return *writer.write();
}

TEST(Services, the_hooks_of_a_step_are_called_where_the_manual_says) {
    EntityManager entities;
    World world(entities);
    auto& shrimps = world.manager<Shrimp>();
    const Entity old = *entities.create(), other = *entities.create();
    ASSERT_TRUE(shrimps.add(old).ok());
    std::string pages;
    Diary diary(world, "a", pages);
    std::vector<std::string> seen;
    diary.in_hook = [&](const std::string& hook) {
        seen.push_back(hook + (entities.alive(old) ? ", old lives" : "") +
                       (shrimps.has(other) ? ", other has one" : "") + ", " + std::to_string(shrimps.num_rows()) +
                       (world.services().is_at_rest() ? ", at rest" : ""));
    };
    world.schedule().add("swap", [&](PassContext&) {
        world.commands().add(other, Shrimp{2});
        world.commands().destroy(old);
    });
    world.step(0.1f);
    EXPECT_EQ(seen,
              (std::vector<std::string>{"before, old lives, 1", "after, other has one, 2", "deaths, other has one, 1",
                                        "settled, other has one, 1", "frame, other has one, 1, at rest"}));
    pages.clear();
    world.settle();
    EXPECT_EQ(pages, "a before, a after, a deaths, a settled, ") << "a settle alone is no frame";
}

/// Adds itself before the class is known that overrides a hook.
class Notebook : public WorldService {
public:
    explicit Notebook(World& world) : WorldService("notebook"), world_(world) { world.services().add(*this); }
    ~Notebook() override { world_.services().remove(*this); }

private:
    World& world_;
};

struct Tally final : Notebook {
    using Notebook::Notebook;
    void note_deaths() override { ++num_calls; }
    int num_calls = 0;
};

/// Its override is private.
class Sealed final : public WorldService {
public:
    explicit Sealed(World& world) : WorldService("sealed"), world_(world) { world.services().add(*this); }
    ~Sealed() override { world_.services().remove(*this); }
    int num_calls = 0;

private:
    void before_commands(const SettleContext&) override { ++num_calls; }
    World& world_;
};

TEST(Services, a_hook_is_called_of_every_class_that_may_override_it_and_of_no_other) {
    EntityManager entities;
    World world(entities);
    const auto names = [&](FrameHook hook) {
        std::string text;
        world.services().for_each(hook, [&](WorldService& service) { text += std::string(service.name()) + " "; });
        return text;
    };
    Census census(world);
    Tally tally(world);
    Sealed sealed(world);
    EXPECT_EQ(names(FrameHook::kBeforeCommands), "notebook sealed ");
    EXPECT_EQ(names(FrameHook::kAfterCommands), "relations position_links notebook ");
    EXPECT_EQ(names(FrameHook::kNoteDeaths), "notebook ");
    EXPECT_EQ(names(FrameHook::kAfterSettle), "position_links observers census notebook texts ");
    EXPECT_EQ(names(FrameHook::kAfterFrame), "notebook ");
    world.step(0.1f);
    EXPECT_EQ(census.num_alive.size(), 1u);
    EXPECT_EQ(tally.num_calls, 1);
    EXPECT_EQ(sealed.num_calls, 1);
}

TEST(Services, each_has_its_turn_in_the_order_of_the_stages_whenever_it_was_added) {
    const LeakCheck leaks;
    EntityManager entities;
    World world(entities);
    std::string pages;
    Persistence persistence(world);
    Diary one(world, "one", pages);
    Frames frames(world, 2);
    Diary two(world, "two", pages);
    Reloader reloader(world);
    ZoneStreaming zones(world);
    EXPECT_EQ(names_of(world), "zones relations position_links observers spawns one two texts frames persistence ");
    world.settle();
    EXPECT_EQ(pages,
              "one before, two before, one after, two after, one deaths, two deaths, one settled, two settled, ");
}

// req: H11
TEST(Services, a_service_of_a_program_sees_what_every_settle_has_led_to) {
    EntityManager entities;
    World world(entities);
    {
        Census census(world);
        const Entity shrimp = *entities.create();
        world.step(0.1f);
        EXPECT_TRUE(entities.destroy(shrimp));
        world.settle();
        EXPECT_EQ(census.num_alive, (std::vector<std::uint64_t>{1, 0}));
    }
    world.settle();
    EXPECT_EQ(names_of(world), "relations position_links observers texts ") << "it took itself out";
}

TEST(Services, one_may_be_added_or_removed_in_a_hook) {
    const LeakCheck leaks;
    EntityManager entities;
    World world(entities);
    std::string pages;
    Diary first(world, "first", pages);
    std::optional<Diary> second, third;
    second.emplace(world, "second", pages);
    std::optional<Frames> frames;
    first.in_hook = [&](const std::string& hook) {
        if (hook == "before") second.reset(), third.emplace(world, "third", pages);
    };
    world.settle();
    EXPECT_EQ(pages,
              "first before, third before, first after, third after, first deaths, third deaths, first settled, third "
              "settled, ");
    third->in_hook = [&](const std::string& hook) {
        if (hook == "frame") third.reset();
    };
    first.in_hook = nullptr;
    world.step(0);
    EXPECT_EQ(names_of(world), "relations position_links observers first texts ");
}

TEST(Services, what_one_saves_comes_back_and_is_taken_from_no_other) {
    const LeakCheck leaks;
    EntityManager entities, others;
    World world(entities), other(others);
    std::string pages;
    Diary census(world, "census", pages, 2), silent(world, "silent", pages);
    census.value = 7;
    Snapshot state;
    ASSERT_TRUE(save(world, state).ok());
    EXPECT_NE(state.find("services/census/value"), state.num_parts());
    EXPECT_EQ(state.find("services/silent/value"), state.num_parts());
    Array<std::byte> bytes(Owner("test"));
    ASSERT_TRUE(save(world, bytes).ok());
    Diary same(other, "census", pages, 3), later(other, "later", pages, 1);
    later.value = 9;
    pages.clear();
    ASSERT_TRUE(load(other, bytes).ok());
    EXPECT_EQ(same.value, 7u);
    EXPECT_EQ(later.value, 0u) << "the state has nothing of it";
    EXPECT_EQ(pages, "census deaths, later deaths, census load 2, later load 0, census loaded, later loaded, ");
}

TEST(Services, a_state_of_a_newer_service_is_refused_and_changes_nothing) {
    EntityManager entities, others;
    World world(entities), other(others);
    std::string pages;
    Diary newer(world, "census", pages, 3), older(other, "census", pages, 2), before(other, "before", pages, 1);
    newer.value = 7, older.value = 8, before.value = 9;
    Array<std::byte> bytes(Owner("test"));
    ASSERT_TRUE(save(world, bytes).ok());
    pages.clear();
    const Status status = load(other, bytes);
    EXPECT_EQ(status.message(),
              "the snapshot, part \"services/census/version\": the service \"census\" has written version 3, and here "
              "it reads versions up to 2; load it with the newer program");
    EXPECT_EQ(older.value, 8u);
    EXPECT_EQ(before.value, 9u);
    EXPECT_EQ(pages.find("loaded"), std::string::npos) << "nothing was loaded: " << pages;
}

TEST(Services, frames_take_what_services_save_back_too) {
    EntityManager entities;
    World world(entities);
    std::string pages;
    Diary census(world, "census", pages, 1);
    Frames frames(world, 4);
    census.in_hook = [&](const std::string& hook) { census.value += hook == "settled"; };
    world.step(0), world.step(0), world.step(0);
    EXPECT_EQ(census.value, 3u);
    pages.clear();
    ASSERT_TRUE(frames.rewind(1).ok());
    EXPECT_EQ(census.value, 1u);
    EXPECT_EQ(pages, "census deaths, census load 1, ") << "going back is no load";
}

TEST(Services, stores_that_leave_spawns_and_other_fields_are_told) {
    EntityManager entities;
    World world(entities);
    std::string pages;
    Diary diary(world, "a", pages);
    const std::vector<std::byte> bytes = blob_of_shrimp();
    const Blob blob = *Blob::view(bytes);
    auto& shrimps = world.manager<Shrimp>();
    const Result<Spawned> spawned = world.spawn(blob, {.copies = 3});
    ASSERT_TRUE(spawned.ok());
    ASSERT_TRUE(copy(world, spawned->entity(0)).ok());
    EXPECT_EQ(pages, "a spawned 3, ") << "a copy is not told of";
    pages.clear();
    world.commands().spawn(blob);
    world.settle();
    EXPECT_EQ(pages, "a before, a spawned 1, a after, a deaths, a settled, ");
    pages.clear();
    diary.in_hook = [&](const std::string& hook) {
        if (hook == "detach") {
            EXPECT_EQ(world.directory().find(schema_of<Shrimp>().id()), &shrimps.core());
        }
    };
    world.detach(shrimps.core());
    {
        Database sea(entities, world.pool());
        ASSERT_TRUE(world.attach(sea).ok());
    }
    EXPECT_EQ(pages, "a detach, a forget, a forget, ");
}

TEST(Services, texts_that_one_marks_stay) {
    EntityManager entities;
    World world(entities);
    std::string pages;
    Diary diary(world, "a", pages);
    diary.text = world.strings().intern_until_unused("kept by a service").value();
    for (int i = 0; i < 20'000; ++i)
        ASSERT_TRUE(world.strings().intern_until_unused("nobody keeps " + std::to_string(i)).ok());
    world.settle();
    world.settle();
    EXPECT_EQ(world.strings().text(diary.text), "kept by a service");
    EXPECT_LT(world.strings().size(), 100u);
}

TEST(Services, the_world_may_end_before_the_objects_beside_it) {
    const LeakCheck leaks;
    EntityManager entities;
    std::string pages;
    std::optional<World> world(std::in_place, entities);
    Diary one(*world, "one", pages);
    Frames frames(*world, 4);
    Diary two(*world, "two", pages);
    Persistence persistence(*world);
    ZoneStreaming zones(*world);
    Reloader reloader(*world);
    world->step(0);
    pages.clear();
    world.reset();
    EXPECT_EQ(pages, "two end, one end, ") << "the last one first";
    EXPECT_EQ(frames.statistics().num_frames, 0u);
    EXPECT_FALSE(persistence.statistics().is_running);
    EXPECT_EQ(zones.unloaded(), ZoneSet());
}

TEST(ServicesDeathTest, a_second_service_of_a_kind_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    World world(entities);
    std::string pages;
    Frames frames(world, 1);
    Persistence persistence(world);
    ZoneStreaming zones(world);
    Reloader reloader(world);
    Diary saved(world, "census", pages, 1), unsaved(world, "census", pages);
    Diary unsaved_first(world, "log", pages), saved_second(world, "log", pages, 1);
    EXPECT_DEATH(Frames(world, 1), "the world has a service \"frames\" already; use that one, or end it before");
    EXPECT_DEATH(Persistence other(world), "\"persistence\" already");
    EXPECT_DEATH(ZoneStreaming other(world), "\"zones\" already");
    EXPECT_DEATH(Reloader other(world), "\"spawns\" already");
    EXPECT_DEATH(Diary(world, "census", pages, 1), "\"census\" already");
    EXPECT_DEATH(world.services().add(saved), "the service was added to this world already");
}

TEST(ServicesDeathTest, a_pass_does_not_add_or_remove_services) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    World world(entities);
    std::string pages;
    std::optional<Diary> diary;
    world.schedule().add("add", [&](PassContext&) { diary.emplace(world, "a", pages); });
    EXPECT_DEATH(world.step(0), "a pass added a service to the world that runs it");
    world.schedule().clear();
    diary.emplace(world, "a", pages);
    world.schedule().add("remove", [&](PassContext&) { world.services().remove(*diary); });
    EXPECT_DEATH(world.step(0), "a pass removed a service of the world that runs it");
    world.schedule().clear();
}

}  // namespace services_test

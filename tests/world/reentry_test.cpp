// What callbacks may do while the world calls them: the table in docs/guarantees.md, cell by cell.

#include "shoal/base/log.h"
#include "shoal/command/commands.h"
#include "shoal/react/observers.h"
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
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace shoal;

struct Snail {
    int number = 0;
};
SHOAL_COMPONENT(Snail, number)
struct Slime {
    int number = 0;
};
SHOAL_COMPONENT(Slime, number)
struct Leaf {
    int number = 0;
};
SHOAL_COMPONENT(Leaf, number)
struct Moss {
    int number = 0;
};
SHOAL_COMPONENT(Moss, number)

/// An entity with a component.
template <class T>
std::vector<std::byte> blob_of() {
    BlobWriter writer;
    writer.set_name(std::string(schema_of<T>().name()));
    const T value{7};
    const std::uint32_t type = writer.add_component_type(schema_of<T>(), 0).value();
    writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&value, 1)));
    return writer.write().value();
}

/// Snails in the database with slime in a manager, leaves in a manager, and a function that one of the callbacks calls.
struct Garden {
    Garden() {
        EXPECT_TRUE(world.database().create<Snail>(snails, Zone(0)).ok());
        EXPECT_TRUE(slimes.add(snails).ok());
        EXPECT_TRUE(entities.create(leaves).ok());
        EXPECT_TRUE(world.manager<Leaf>().add(leaves).ok());
        frames.keep(2);
        world.step(0);
        callback = entities.add_destruction_callback(
            [](void* self, std::span<const Entity>) { static_cast<Garden*>(self)->call(&Garden::on_death); }, this);
        EXPECT_TRUE(world.registry().set_spawn_function(
            "moss",
            [](void* self, const SpawnBatch&) {
                static_cast<Garden*>(self)->call(&Garden::on_spawn);
                return Status();
            },
            this));
    }
    ~Garden() { entities.remove_destruction_callback(callback); }

    using Function = std::function<void()>;
    /// Calls a function once.
    void call(Function Garden::* function) {
        if (this->*function) std::exchange(this->*function, nullptr)();
    }
    void expect_whole() {
        EXPECT_EQ(world.database().validate().message(), "");
        for (Store* store : world.directory().stores())
            for (const Table* table : store->tables()) EXPECT_EQ(table->validate().message(), "");
        for (const Entity snail : snails) EXPECT_EQ(slimes.has(snail), entities.alive(snail));
    }

    EntityManager entities;
    World world{entities};
    Frames frames{world, 0};
    Persistence persistence{world};
    ZoneStreaming zones{world};
    Manager<Slime>& slimes = world.manager<Slime>();
    std::vector<Entity> snails = std::vector<Entity>(6), leaves = std::vector<Entity>(3);
    Function on_death, on_spawn;
    DestructionCallback callback;
    std::vector<std::byte> leaf_bytes = blob_of<Leaf>(), moss_bytes = blob_of<Moss>();
    Blob leaf = Blob::view(leaf_bytes).value(), moss = Blob::view(moss_bytes).value();
    int num_runs = 0;
};

/// A callback that the world calls: `trigger` makes it call a function, and settles.
struct Caller {
    const char* name;
    void (*trigger)(Garden& garden, std::function<void()> function);
};

constexpr Caller kCallers[] = {
    {"a_destruction_callback_in_a_settle",
     [](Garden& garden, std::function<void()> function) {
         garden.on_death = std::move(function);
         garden.world.commands().destroy(garden.snails[0]);
         garden.world.settle();
     }},
    {"a_destruction_callback_outside",
     [](Garden& garden, std::function<void()> function) {
         garden.on_death = std::move(function);
         garden.entities.destroy(garden.snails[0]);
         garden.world.settle();
     }},
    {"an_observer_of_what_came",
     [](Garden& garden, std::function<void()> function) {
         garden.world.observers().on_add<Leaf>([function](std::span<const Entity>) mutable {
             if (function) std::exchange(function, nullptr)();
         });
         EXPECT_TRUE(garden.world.manager<Leaf>().add(garden.snails[0]));
         garden.entities.destroy(garden.snails[0]);
         EXPECT_TRUE(garden.world.manager<Leaf>().add(garden.snails[1]));
         garden.world.settle();
     }},
    {"an_observer_of_what_went",
     [](Garden& garden, std::function<void()> function) {
         garden.world.observers().on_remove<Slime>([function](std::span<const Entity>) mutable {
             if (function) std::exchange(function, nullptr)();
         });
         garden.entities.destroy(garden.snails[0]);
         garden.world.settle();
     }},
    {"an_observer_of_a_change",
     [](Garden& garden, std::function<void()> function) {
         garden.world.observers().on_change<&Slime::number>([function](std::span<const Entity>) mutable {
             if (function) std::exchange(function, nullptr)();
         });
         garden.entities.destroy(garden.snails[0]);
         garden.slimes.set<&Slime::number>(garden.slimes.instance(garden.snails[1]), 9);
         garden.world.settle();
     }},
    {"a_call_by_command",
     [](Garden& garden, std::function<void()> function) {
         garden.world.commands().destroy(garden.snails[0]);
         garden.world.commands().call(garden.snails[1], [function](Entity) { function(); });
         garden.world.settle();
     }},
    {"a_spawn_function",
     [](Garden& garden, std::function<void()> function) {
         garden.on_spawn = std::move(function);
         garden.entities.destroy(garden.snails[0]);
         EXPECT_TRUE(garden.world.spawn(garden.moss).ok());
         garden.world.settle();
     }},
};

class Reentry : public ::testing::TestWithParam<Caller> {
protected:
    /// Does `action` in the callback, settles once more, for what it asked for, and calls `check`.
    void expect(const std::function<void(Garden&)>& action, const std::function<void(Garden&)>& check) {
        Garden garden;
        bool was_called = false;
        GetParam().trigger(garden, [&] {
            was_called = true;
            action(garden);
        });
        EXPECT_TRUE(was_called);
        garden.world.step(0);
        check(garden);
        garden.expect_whole();
    }
};

TEST_P(Reentry, may_create_and_destroy) {
    expect(
        [](Garden& garden) {
            Entity more[2];
            ASSERT_TRUE(garden.entities.create(more));
            ASSERT_TRUE(garden.slimes.add(more, Slime{1}));
            garden.snails.insert(garden.snails.end(), std::begin(more), std::end(more));
            garden.entities.destroy(garden.snails[2]);
            garden.world.database().destroy(garden.snails[3]);
        },
        [](Garden& garden) {
            EXPECT_EQ(garden.slimes.num_rows(), 5u);
            EXPECT_EQ(garden.world.database().num_rows(), 3u);
        });
}

TEST_P(Reentry, may_destroy_the_dead_again_and_all_others) {
    expect(
        [](Garden& garden) {
            EXPECT_FALSE(garden.entities.destroy(garden.snails[0]) && garden.entities.destroy(garden.snails[0]));
            garden.entities.destroy(garden.snails);
            garden.entities.destroy_next(garden.snails);
        },
        [](Garden& garden) {
            EXPECT_EQ(garden.slimes.num_rows(), 0u);
            EXPECT_EQ(garden.world.database().num_rows(), 0u);
        });
}

TEST_P(Reentry, may_add_remove_and_set_components) {
    expect(
        [](Garden& garden) {
            ASSERT_TRUE(garden.world.manager<Leaf>().add(garden.snails[4], Leaf{4}));
            ASSERT_TRUE(garden.world.database().add(garden.snails[4], Moss{4}).ok());  // a store for it is made
            EXPECT_TRUE(garden.world.manager<Leaf>().remove(garden.leaves[0]));
            garden.slimes.set<&Slime::number>(garden.slimes.instance(garden.snails[5]), 6);
        },
        [](Garden& garden) {
            EXPECT_TRUE(garden.world.manager<Leaf>().has(garden.snails[4]));
            EXPECT_TRUE(garden.world.database().has<Moss>(garden.snails[4]));
            EXPECT_FALSE(garden.world.manager<Leaf>().has(garden.leaves[0]));
            EXPECT_EQ(garden.slimes.get<&Slime::number>(garden.slimes.instance(garden.snails[5])), 6);
        });
}

TEST_P(Reentry, may_spawn_and_copy) {
    expect(
        [](Garden& garden) {
            ASSERT_TRUE(garden.world.spawn(garden.leaf, {.copies = 4}).ok());
            ASSERT_TRUE(copy(garden.world, garden.leaves[1], {.copies = 3}).ok());
        },
        [](Garden& garden) { EXPECT_GE(garden.world.manager<Leaf>().num_rows(), 3u + 4 + 3); });
}

TEST_P(Reentry, may_ask_by_command_which_is_done_at_the_next_settle_at_the_latest) {
    expect(
        [](Garden& garden) {
            garden.world.commands().create(Zone(0), Snail{5}, Leaf{5});
            garden.world.commands().destroy(garden.snails[2]);
            garden.world.commands().spawn(garden.leaf);
        },
        [](Garden& garden) {
            EXPECT_FALSE(garden.entities.alive(garden.snails[2]));
            EXPECT_EQ(garden.world.database().num_rows(), 5u);
            EXPECT_GE(garden.world.manager<Leaf>().num_rows(), 5u);
        });
}

TEST_P(Reentry, may_make_and_attach_stores_and_add_observers_and_passes) {
    EntityManager others;
    PagePool pool;
    expect(
        [](Garden& garden) {
            ASSERT_TRUE(garden.world.manager<Moss>().add(garden.snails[5], Moss{3}));
            garden.world.observers().on_add<Moss>([&](std::span<const Entity>) { ++garden.num_runs; });
            const ObserverId ended =
                garden.world.observers().on_add<Leaf>([&](std::span<const Entity>) { garden.num_runs += 100; });
            garden.world.observers().remove(ended);
            garden.world.schedule().add("new", [&](PassContext&) { garden.num_runs += 10; });
            ASSERT_TRUE(garden.world.manager<Moss>().add(garden.snails[4]));
        },
        [](Garden& garden) { EXPECT_GE(garden.num_runs, 10) << "the pass has run in the step"; });
}

INSTANTIATE_TEST_SUITE_P(Callers, Reentry, ::testing::ValuesIn(kCallers),
                         [](const auto& info) { return std::string(info.param.name); });

// --- what ends the program -------------------------------------------------------------------------------------------

/// A call that needs a world at rest.
struct Refused {
    const char* call;
    void (*run)(Garden& garden);
};

constexpr Refused kRefused[] = {
    {"step", [](Garden& garden) { garden.world.step(0); }},
    {"settle", [](Garden& garden) { garden.world.settle(); }},
    {"save",
     [](Garden& garden) {
         Array<std::byte> bytes;
         static_cast<void>(save(garden.world, bytes));
     }},
    {"load", [](Garden& garden) { static_cast<void>(load(garden.world, Snapshot())); }},
    {"rewind", [](Garden& garden) { static_cast<void>(garden.frames.rewind(1)); }},
    {"detach", [](Garden& garden) { garden.world.detach(garden.slimes.core()); }},
    {"persist", [](Garden& garden) { static_cast<void>(garden.persistence.start("nowhere")); }},
    {"load_zone", [](Garden& garden) { static_cast<void>(garden.zones.load(0)); }},
};

/// What messages call it: each names the kind of caller that made the call.
const char* expected_caller(std::string_view caller) {
    return caller == "a_spawn_function" ? "spawn function|callback" : "callback|observer";
}

TEST(ReentryDeathTest, steps_settles_saves_loads_and_detached_stores_in_a_callback_end_the_program) {
    for (const Caller& caller : kCallers) {
        if (caller.name == std::string_view("a_destruction_callback_outside")) continue;
        for (const Refused& refused : kRefused) {
            SCOPED_TRACE(std::string(caller.name) + " calls " + refused.call);
            Garden garden;
            EXPECT_DEATH(caller.trigger(garden, [&] { refused.run(garden); }), expected_caller(caller.name));
        }
    }
}

TEST(ReentryDeathTest, a_destruction_callback_outside_of_a_settle_may_settle_and_step_but_not_save) {
    Garden garden;
    kCallers[1].trigger(garden, [&] {
        garden.world.settle();
        garden.frames.keep(0);
        garden.world.step(0);
    });
    garden.expect_whole();
    Garden other;
    EXPECT_DEATH(kCallers[1].trigger(other,
                                     [&] {
                                         Array<std::byte> bytes;
                                         static_cast<void>(save(other.world, bytes));
                                     }),
                 "a destruction callback saved the entities; save them afterwards");
}

TEST(ReentryDeathTest, a_pass_that_calls_what_changes_the_world_ends_the_program) {
    Garden garden;
    const auto run = [&](auto function) {
        garden.world.schedule().clear();
        garden.world.schedule().add("pass", [&](PassContext&) { function(); });
        garden.world.step(0);
    };
    for (const Refused& refused : kRefused) {
        SCOPED_TRACE(refused.call);
        EXPECT_DEATH(run([&] { refused.run(garden); }), "a pass ");
    }
    EXPECT_DEATH(run([&] { static_cast<void>(garden.world.spawn(garden.leaf)); }), "a pass called World::spawn");
    EXPECT_DEATH(run([&] { static_cast<void>(copy(garden.world, garden.leaves[0])); }), "a pass called World::spawn");
    EXPECT_DEATH(run([&] { static_cast<void>(garden.slimes.add(garden.leaves[0])); }),
                 "add\\(\\) of a manager for \"slime\" was called in the pass");
    EXPECT_DEATH(run([&] { garden.world.observers().remove({1}); }), "a pass removed an observer");
    EXPECT_DEATH(run([&] { garden.world.observers().on_add<Leaf>([](std::span<const Entity>) {}); }),
                 "a pass added an observer");
}

/// Calls that change which entities there are, or who is told of it.
constexpr Refused kEntityCalls[] = {
    {"create\\(\\)", [](Garden& garden) { static_cast<void>(garden.entities.create()); }},
    {"create\\(\\)", [](Garden& garden) { static_cast<void>(garden.entities.create(garden.leaves)); }},
    {"destroy\\(\\)", [](Garden& garden) { garden.entities.destroy(garden.leaves[0]); }},
    {"destroy\\(\\)", [](Garden& garden) { garden.entities.destroy(garden.leaves); }},
    {"destroy_next\\(\\)", [](Garden& garden) { garden.entities.destroy_next(garden.leaves); }},
    {"add_destruction_callback\\(\\)",
     [](Garden& garden) { garden.entities.add_destruction_callback([](void*, std::span<const Entity>) {}, nullptr); }},
    {"remove_destruction_callback\\(\\)",
     [](Garden& garden) { garden.entities.remove_destruction_callback(garden.callback); }},
    {"open_death_cursor\\(\\)", [](Garden& garden) { garden.entities.open_death_cursor(); }},
    {"close_death_cursor\\(\\)", [](Garden& garden) { garden.entities.close_death_cursor({1}); }},
    {"advance\\(\\)", [](Garden& garden) { garden.entities.advance({1}, garden.entities.deaths_end()); }},
    {"set_death_position\\(\\)", [](Garden& garden) { static_cast<void>(garden.entities.set_death_position({1}, 0)); }},
    {"load\\(\\)",
     [](Garden& garden) {
         Snapshot state;
         SnapshotReader from(state);
         static_cast<void>(garden.entities.load(from));
     }},
    {"add_world\\(\\)", [](Garden& garden) { const World another(garden.entities); }},
    {"add_speaker\\(\\) of the inactive entities",
     [](Garden& garden) { garden.entities.inactive().add_speaker(&garden); }},
    {"forget_all\\(\\) of the inactive entities", [](Garden& garden) { garden.entities.inactive().forget_all(); }},
};

TEST(ReentryDeathTest, a_pass_that_calls_what_changes_entities_ends_the_program_with_its_name_and_advice) {
    Garden garden;
    World pond(garden.entities);
    for (World* const world : {&garden.world, &pond}) {
        for (const Refused& refused : kEntityCalls) {
            SCOPED_TRACE(refused.call);
            world->schedule().clear();
            world->schedule().add("prune", [&](PassContext&) { refused.run(garden); });
            EXPECT_DEATH(world->step(0), std::string(refused.call) + ".* in the pass \"prune\".* take a Commands&");
        }
    }
    garden.world.schedule().clear();
    garden.world.schedule().add("weed", garden.world.query<Read<&Leaf::number>>(),
                                [&](Entity leaf, int) { garden.entities.destroy(leaf); });
    EXPECT_DEATH(
        garden.world.step(0),
        "destroy\\(\\) of the entity manager was called in the pass \"weed\" while the passes of a world ran; let");
}

TEST(ReentryInPasses, may_ask_which_entities_live_and_between_frames_they_come_and_go_as_before) {
    Garden garden;
    World pond(garden.entities);
    std::uint64_t num_alive = 0;
    pond.database();
    pond.schedule().add("look", [&](PassContext&) {
        num_alive = garden.entities.num_alive() + garden.entities.alive(garden.leaves[0]);
        EXPECT_TRUE(garden.entities.is_living_run(garden.leaves));
    });
    garden.world.schedule().add("pond", [&](PassContext&) { pond.run_passes(0); });
    garden.world.step(0);
    EXPECT_EQ(num_alive, 10u);
    const Entity newest = garden.entities.create().value();
    EXPECT_EQ(newest.index(), 10u) << "on a fresh index, as without passes";
    EXPECT_TRUE(garden.entities.destroy(newest));
}

// --- chains and circles ----------------------------------------------------------------------------------------------

TEST(ReentryChains, observers_that_cause_each_other_go_one_round_per_settle_also_in_a_circle) {
    Garden garden;
    auto& leaves = garden.world.manager<Leaf>();
    auto& moss = garden.world.manager<Moss>();
    int num_leaves = 0, num_moss = 0;
    garden.world.observers().on_add<Leaf>([&](std::span<const Entity> added) {
        ++num_leaves;
        ASSERT_TRUE(moss.add(added));
        leaves.remove(added);
    });
    garden.world.observers().on_add<Moss>([&](std::span<const Entity> added) {
        ++num_moss;
        ASSERT_TRUE(leaves.add(added));
        moss.remove(added);
    });
    ASSERT_TRUE(leaves.add(garden.snails[1]));
    for (int round = 1; round <= 10; ++round) {
        garden.world.settle();
        EXPECT_EQ(num_leaves + num_moss, round) << "a circle never ends, and never holds a settle up";
    }
}

TEST(ReentryChains, two_callbacks_that_destroy_each_others_entities_end_when_all_are_dead) {
    EntityManager entities;
    std::vector<Entity> pair(2);
    ASSERT_TRUE(entities.create(pair));
    struct Both {
        EntityManager& entities;
        std::vector<Entity>& pair;
        int num_told = 0;
    } both{entities, pair};
    entities.add_destruction_callback(
        [](void* context, std::span<const Entity> dead) {
            auto& self = *static_cast<Both*>(context);
            self.num_told += int(dead.size());
            self.entities.destroy(dead);  // again
            self.entities.destroy(dead[0] == self.pair[0] ? self.pair[1] : self.pair[0]);
        },
        &both);
    EXPECT_TRUE(entities.destroy(pair[0]));
    EXPECT_EQ(both.num_told, 2);
    EXPECT_EQ(entities.num_alive(), 0u);
}

/// Destroys a line of entities, each in the callback about the one before it.
struct Line {
    explicit Line(std::size_t length) : line(length) {
        EXPECT_TRUE(entities.create(line));
        entities.add_destruction_callback(
            [](void* self, std::span<const Entity>) {
                auto& here = *static_cast<Line*>(self);
                if (++here.num_dead < here.line.size()) here.entities.destroy(here.line[here.num_dead]);
            },
            this);
    }
    EntityManager entities;
    std::vector<Entity> line;
    std::size_t num_dead = 0;
};

TEST(ReentryChainsDeathTest, deaths_within_deaths_go_a_thousand_levels_deep_and_then_end_the_program_with_advice) {
    Line short_line(1000);
    short_line.entities.destroy(short_line.line[0]);
    EXPECT_EQ(short_line.entities.num_alive(), 0u);
    Line long_line(1001);
    EXPECT_DEATH(long_line.entities.destroy(long_line.line[0]), "too deep or without end; call destroy_next\\(\\)");
}

TEST(ReentryChainsDeathTest, a_spawn_function_that_spawns_into_the_database_that_spawns_is_told_of_commands) {
    const std::vector<std::byte> bytes = [] {
        BlobWriter writer;
        const std::uint32_t moss = writer.add_component_type(schema_of<Moss>(), 1).value();
        const std::uint32_t snails = writer.add_component_type(schema_of<Snail>(), 0).value();
        const std::uint32_t entity = writer.add_entity({});
        const Snail snail{1};
        const Moss green{1};
        writer.add_component(snails, entity, std::as_bytes(std::span(&snail, 1)));
        writer.add_component(moss, entity, std::as_bytes(std::span(&green, 1)));
        writer.add_component(snails, writer.add_entity({}), std::as_bytes(std::span(&snail, 1)));
        return writer.write().value();
    }();
    const Blob blob = Blob::view(bytes).value();
    const std::vector<std::byte> snail_bytes = blob_of<Snail>();
    const Blob snail = Blob::view(snail_bytes).value();
    Garden garden;
    garden.on_spawn = [&] { garden.world.commands().spawn(snail); };
    ASSERT_TRUE(garden.world.spawn(blob).ok());
    garden.world.settle();
    EXPECT_EQ(garden.world.database().num_rows(), 6u + 2 + 1);
    EXPECT_EQ(garden.world.database().validate().message(), "");
}

// --- hooks and listeners ---------------------------------------------------------------------------------------------

TEST(ReentryHooks, a_log_hook_may_log_which_goes_to_standard_error) {
    int num_calls = 0;
    set_log_hook(
        [](void* context, LogLevel, std::string_view) {
            ++*static_cast<int*>(context);
            log(LogLevel::kNote, "said by the hook");
        },
        &num_calls);
    ::testing::internal::CaptureStderr();
    log(LogLevel::kWarning, "said by the program");
    log(LogLevel::kWarning, "said again");
    set_log_hook(nullptr, nullptr);
    EXPECT_EQ(num_calls, 2);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "shoal: note: said by the hook\nshoal: note: said by the hook\n");
}

TEST(ReentryHooksDeathTest, a_page_hook_that_reserves_pages_ends_the_program) {
    const PageHooks before = set_page_hooks({.may_reserve = [](void*, std::size_t) {
        if (const Result<PageRange> more = reserve_pages(1)) release_pages(*more);
        return true;
    }});
    EXPECT_DEATH(static_cast<void>(reserve_pages(1)), "a page hook made a call that reserves pages");
    set_page_hooks(before);
}

TEST(ReentryHooks, a_service_that_is_told_of_other_fields_may_end_and_look_at_the_new_stores) {
    const Schema before = Schema::make({.name = "pot", .fields = {{.name = "size"}}}).value();
    const Schema after = Schema::make({.name = "pot", .fields = {{.name = "size"}, {.name = "depth"}}}).value();
    Garden garden;
    ASSERT_TRUE(garden.world.manager(before).ok());
    struct Told final : WorldService {
        explicit Told(Garden& of) : WorldService("told"), garden(of) { garden.world.services().add(*this); }
        void fields_changed() override {
            ++num_told;
            num_fields = garden.world.directory().find(ComponentId("pot"))->schemas()[0]->fields().size();
            garden.world.services().remove(*this);
        }
        Garden& garden;
        int num_told = 0;
        std::size_t num_fields = 0;
    } first{garden}, second{garden};
    for (const Schema* schema : {&after, &before}) {
        Result<SchemaChange*> change = begin_schema_change(garden.world, *schema);
        ASSERT_TRUE(change.ok()) << change.message();
        end_schema_change(*change, true);
    }
    EXPECT_EQ(first.num_told, 1);
    EXPECT_EQ(second.num_told, 1) << "though the one before it has gone";
    EXPECT_EQ(second.num_fields, 2u);
}

}  // namespace

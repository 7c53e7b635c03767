// Loading, reloading and unloading plugins: what is refused and why, what stays, and what goes.

#include "shoal/plugin/plugins.h"

#include "shoal/base/file.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/query/text_query.h"
#include "shoal/react/observers.h"
#include "shoal/react/relations.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/table.h"
#include "shoal/world/copy.h"
#include "shoal/world/entity_blob.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::LeakCheck;

std::string test_plugin(std::string_view name) { return concat(SHOAL_TEST_PLUGINS, name, ".so"); }
std::string sample_plugin(std::string_view name) { return concat(SHOAL_SAMPLE_PLUGINS, name, ".so"); }

/// What the plugin of wheels.c declares.
struct Wheel {
    float angle = 0, speed = 0;
};
SHOAL_COMPONENT(Wheel, angle, speed)

/// A world, and what is loaded into it.
struct Host {
    explicit Host(std::uint32_t num_workers = 1) : executor(num_workers) {}

    Status load(std::string_view name) { return plugins.load(test_plugin(name)); }
    /// Makes entities with a component, by its default values.
    std::vector<Entity> make(std::string_view component, std::size_t count) {
        std::vector<Entity> made(count);
        EXPECT_TRUE(entities.create(made));
        Store* const store = world.directory().find(ComponentId(component));
        EXPECT_TRUE(store != nullptr && store->add_values(*store->schemas()[0], made, {}));
        return made;
    }
    template <class T>
    T value(Entity entity, std::string_view path) {
        const Result<T> found = world.get<T>(entity, path);
        EXPECT_TRUE(found) << found.message();
        return found ? *found : T();
    }

    ThreadedExecutor executor;
    EntityManager entities;
    World world{entities, {.executor = &executor}};
    Plugins plugins{world};
};

/// A plugin file that is exchanged by others.
class ExchangedFile {
public:
    ExchangedFile() : folder_(std::filesystem::temp_directory_path() / "shoal_plugins_test_XXXXXX") {
        std::string pattern = folder_.string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~ExchangedFile() { std::filesystem::remove_all(folder_); }
    ExchangedFile(const ExchangedFile&) = delete;
    ExchangedFile& operator=(const ExchangedFile&) = delete;

    std::string path() const { return (folder_ / "counter.so").string(); }
    /// Writes another plugin into the same file, as a careless copy does.
    void become(std::string_view name) const {
        std::ifstream from(test_plugin(name), std::ios::binary);
        std::ofstream(path(), std::ios::binary) << from.rdbuf();
    }
    std::size_t num_files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
    }

private:
    std::filesystem::path folder_;
};

Status load_and_exchange(World& world, const std::string& path) {
    // [plugins]
    Plugins plugins(world);
    if (Status status = plugins.load(path); !status) return status;        // which file, and why
    world.step(0.5f);                                                      // passes of the plugin run, too
    if (Status status = plugins.reload("wheels"); !status) return status;  // the file was built again
    world.step(0.5f);
    return plugins.unload("wheels");
    // [plugins]
}

TEST(Plugins, are_loaded_exchanged_and_unloaded) {
    Host host;
    const Status status = load_and_exchange(host.world, test_plugin("wheels"));
    EXPECT_TRUE(status) << status.message();
    EXPECT_NE(host.world.directory().find(ComponentId("wheel")), nullptr);
    EXPECT_EQ(host.world.schedule().num_passes(), 0u);
}

// req: G3-G4
TEST(Plugins, a_pass_of_a_plugin_runs_until_it_is_unloaded_and_its_rows_stay) {
    const LeakCheck leaks;
    Host host;
    ASSERT_TRUE(host.load("wheels"));
    ASSERT_EQ(host.plugins.num_plugins(), 1u);
    EXPECT_EQ(host.plugins.plugin(0).name, "wheels");
    EXPECT_EQ(host.plugins.plugin(0).version, "1.0");
    EXPECT_EQ(host.plugins.plugin(0).path, test_plugin("wheels"));
    const std::vector<Entity> wheels = host.make("wheel", 3);
    ASSERT_TRUE(host.world.set(wheels[1], "wheel.speed", 2.0f));
    host.world.step(0.25f);
    EXPECT_EQ(host.value<float>(wheels[1], "wheel.angle"), 0.5f);
    ASSERT_TRUE(host.plugins.unload("wheels"));
    EXPECT_EQ(host.plugins.num_plugins(), 0u);
    EXPECT_EQ(host.world.schedule().num_passes(), 0u);
    host.world.step(0.25f);
    EXPECT_EQ(host.value<float>(wheels[1], "wheel.angle"), 0.5f);
    ASSERT_TRUE(host.load("wheels"));
    host.world.step(0.25f);
    EXPECT_EQ(host.value<float>(wheels[1], "wheel.angle"), 1.0f);
}

std::uint64_t hash_after_frames(Host& host, bool by_plugin) {
    Manager<Wheel>& manager = host.world.manager<Wheel>();
    if (by_plugin) {
        const Status status = host.load("wheels");
        EXPECT_TRUE(status) << status.message();
    } else {
        host.world.schedule().add(
            "turn", query<Write<&Wheel::angle>, Read<&Wheel::speed>>(manager),
            [](const PassContext& frame, auto&& angle, float speed) { angle += frame.dt * speed; });
    }
    std::vector<Entity> wheels(20'000);
    EXPECT_TRUE(host.entities.create(wheels));
    Random random(5);
    std::vector<Wheel> values(wheels.size());
    for (Wheel& value : values) value = {random.unit(), random.unit()};
    EXPECT_TRUE(manager.add(wheels, values));
    for (int i = 0; i < 10; ++i) host.world.step(0.125f);
    return state_hash(host.world);
}

TEST(Plugins, a_pass_in_c_gives_the_state_of_the_same_pass_in_cpp_for_any_number_of_workers) {
    Host in_cpp;
    const std::uint64_t expected = hash_after_frames(in_cpp, false);
    for (const std::uint32_t num_workers : {1u, 2u, 5u}) {
        Host host(num_workers);
        EXPECT_EQ(hash_after_frames(host, true), expected) << num_workers;
    }
    Host still;
    EXPECT_TRUE(still.load("wheels"));
    still.world.step(0.125f);
    EXPECT_NE(state_hash(still.world), expected);
}

TEST(Plugins, use_all_that_the_interface_has_with_one_result_for_any_number_of_workers) {
    const LeakCheck leaks;
    std::vector<std::uint64_t> hashes;
    for (const std::uint32_t num_workers : {1u, 2u, 4u}) {
        Host host(num_workers);
        const Status status = host.load("crowd");
        ASSERT_TRUE(status) << status.message();
        for (int i = 0; i < 30; ++i) host.world.step(0.125f);
        const Entity clerk = host.world.directory().find(ComponentId("census"))->tables()[0]->entities()[0];
        const auto counted = [&](const char* field) {
            return host.value<std::uint64_t>(clerk, concat("census.", field));
        };
        EXPECT_GT(counted("events"), 5'000u);
        EXPECT_LE(counted("events_last"), counted("events"));
        EXPECT_EQ(counted("tired"), counted("events"));
        EXPECT_GT(counted("rested"), 4'000u);
        EXPECT_GT(counted("since"), counted("rested"));
        EXPECT_GT(counted("steps"), 40'000u);
        EXPECT_EQ(host.world.settle_statistics().total.num_dropped, 0u);
        EXPECT_GT(host.world.settle_statistics().total.num_created, 4'000u);
        hashes.push_back(state_hash(host.world));
        ASSERT_TRUE(host.plugins.unload("crowd"));
        host.world.step(0.125f);
    }
    EXPECT_EQ(hashes[1], hashes[0]);
    EXPECT_EQ(hashes[2], hashes[0]);
}

struct Refusal {
    const char* name;
    const char* says;
};

TEST(Plugins, that_are_broken_are_refused_with_a_reason_and_the_world_is_as_before) {
    const LeakCheck leaks;
    Host host;
    ASSERT_TRUE(host.load("wheels"));
    host.make("wheel", 5);
    host.world.step(0.5f);
    host.world.settle();
    const std::uint64_t before = state_hash(host.world);
    const std::size_t num_stores = host.world.directory().stores().size();
    for (const auto& [name, says] : {
             Refusal{"nothing_here", "cannot open: No such file or directory"},
             Refusal{"NO_ENTRY", "it exports no function shoal_plugin_entry; define it with SHOAL_PLUGIN_EXPORT"},
             Refusal{"NULL_ENTRY", "shoal_plugin_entry() returned NULL"},
             Refusal{"SHORT", "what it exports does not begin with sizeof(shoal_plugin)"},
             Refusal{"OTHER_VERSION",
                     "it was built for version 7 of the interface, and this program has version 1; build it with the "
                     "header of this program"},
             Refusal{"OTHER_ENTITIES", sizeof(Entity) == 4 ? "its entities have 8 bytes, and those of this program 4; "
                                                             "build it without SHOAL_WIDE_IDS"
                                                           : "its entities have 4 bytes, and those of this program 8; "
                                                             "build it with SHOAL_WIDE_IDS"},
             Refusal{"NEWER_HOST", "it was built with a newer header, and may call what this program does not have"},
             Refusal{"NO_NAME", "it has no name"},
             Refusal{"NO_LOAD", "plugin \"broken\" has no function load"},
             Refusal{"NO_LIST", "plugin \"broken\" depends on others, but the list of them is NULL"},
             Refusal{"TAKEN", "a plugin \"wheels\" is loaded already, from "},
             Refusal{"NEEDS",
                     "plugin \"broken\" depends on plugin \"flour\", which is not loaded; load that one first"},
             Refusal{"MISSING_SYMBOL", "undefined symbol: a_function_that_nobody_has"},
             Refusal{"FAILS", "plugin \"broken\" failed to load: it does not say why"},
             Refusal{"NO_FUNCTION", "plugin \"broken\" failed to load: pass \"broken\" has no function"},
             Refusal{"BAD_QUERY",
                     "pass \"broken\": query \"&thing, !thong\": 1:10: no store keeps a component "
                     "\"thong\"; did you mean \"thing\"?"},
             Refusal{"BAD_COLUMN", "did you mean \"place\"?"},
             Refusal{"SPLIT_COLUMN", "\"thing.place\" is split into columns of their own; name them: thing.place.x"},
             Refusal{"BAD_TYPE",
                     "component \"thing\": field \"odd\" has type 99, which is none of SHOAL_BOOL to "
                     "SHOAL_BLOB_ARRAY"},
             Refusal{"TAKEN_PASS",
                     "the world has a pass, or a group of passes, \"turn\" already; give this one another name"},
             Refusal{"NO_ORDER", "nobody"},
             Refusal{"BAD_CHANNEL", "pass \"broken\": the plugin has opened no channel \"nobody\"; open it before"},
             Refusal{"UNKNOWN_READ", "pass \"broken\": no store keeps a component \"nobody\""},
         }) {
        const Status status = host.load(name);
        EXPECT_FALSE(status) << name;
        EXPECT_TRUE(status.message().starts_with(concat("cannot load plugin ", test_plugin(name), ": ")))
            << status.message();
        EXPECT_NE(status.message().find(says), std::string_view::npos) << name << "\n" << status.message();
        EXPECT_EQ(status.message().find(".so."), std::string_view::npos) << "it names the copy: " << status.message();
        EXPECT_EQ(host.plugins.num_plugins(), 1u);
        EXPECT_EQ(host.world.schedule().num_passes(), 1u);
        host.world.settle();
        EXPECT_EQ(host.world.directory().stores().size(), num_stores) << name;
        EXPECT_EQ(state_hash(host.world), before) << name;
    }
    host.world.step(0.5f);
}

TEST(Plugins, are_no_text_and_no_folder) {
    Host host;
    const ExchangedFile file;
    std::ofstream(file.path()) << "not a library";
    EXPECT_NE(host.plugins.load(file.path()).message().find("counter.so: file too short"), std::string_view::npos);
    EXPECT_NE(host.plugins.load(std::filesystem::temp_directory_path().string()).message().find("it is a directory"),
              std::string_view::npos);
    EXPECT_EQ(file.num_files(), 1u);
}

/// Loads the first version of the counter, makes 100 of them, of which one keeps a value of its own, and makes a step.
std::vector<Entity> start_counters(Host& host, const ExchangedFile& file) {
    file.become("counter_1");
    EXPECT_TRUE(host.plugins.load(file.path()));
    std::vector<Entity> counters = host.make("counter", 100);
    EXPECT_TRUE(host.world.set(counters[7], "counter.kept", 0.25f));
    host.world.step(1);
    return counters;
}

// req: A1
TEST(Plugins, reload_what_their_file_has_become_and_rows_keep_what_fits) {
    const LeakCheck leaks;
    Host host;
    const ExchangedFile file;
    const std::vector<Entity> counters = start_counters(host, file);
    file.become("counter_2");  // while the first version runs on
    host.world.step(1);
    EXPECT_EQ(host.value<float>(counters[7], "counter.value"), 2);
    const Status status = host.plugins.reload("counter");
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(host.plugins.plugin(0).version, "2.0");
    host.world.step(1);
    EXPECT_EQ(host.value<float>(counters[7], "counter.value"), 12);
    EXPECT_EQ(host.value<float>(counters[7], "counter.weight"), 2);
    EXPECT_EQ(host.value<double>(counters[7], "counter.kept"), 0.25);
    EXPECT_EQ(host.value<double>(counters[8], "counter.kept"), 0);
    EXPECT_EQ(file.num_files(), 1u) << "copies are gone";
}

TEST(Plugins, that_fail_to_reload_leave_the_one_before_at_work) {
    const LeakCheck leaks;
    Host host;
    const ExchangedFile file;
    const std::vector<Entity> counters = start_counters(host, file);
    std::uint64_t before = state_hash(host.world);
    file.become("counter_3");
    EXPECT_EQ(host.plugins.reload("counter").message(),
              concat("cannot load plugin ", file.path(),
                     ": plugin \"counter\" failed to load: the third one never works; the one before works on"));
    host.world.settle();
    EXPECT_EQ(state_hash(host.world), before);
    EXPECT_EQ(host.value<float>(counters[7], "counter.kept"), 0.25f) << "a field that the third one does not have";
    host.world.step(1);
    EXPECT_EQ(host.value<float>(counters[7], "counter.value"), 2);
    before = state_hash(host.world);
    file.become("counter_4");
    EXPECT_NE(host.plugins.reload("counter").message().find("has plugin \"other\" now, not \"counter\""),
              std::string_view::npos);
    file.become("counter_5");
    EXPECT_NE(host.plugins.reload("counter").message().find("nobody"), std::string_view::npos);
    for (const auto& [version, needed] : {std::pair{"counter_6", "flour"}, std::pair{"counter_7", "counter"}}) {
        file.become(version);
        EXPECT_EQ(host.plugins.reload("counter").message(),
                  concat("cannot load plugin ", file.path(), ": plugin \"counter\" depends on plugin \"", needed,
                         "\", which is not loaded; load that one first"));
    }
    std::filesystem::remove(file.path());
    EXPECT_NE(host.plugins.reload("counter").message().find("No such file"), std::string_view::npos);
    EXPECT_EQ(state_hash(host.world), before);
    host.world.step(1);
    EXPECT_EQ(host.value<float>(counters[7], "counter.value"), 3);
    EXPECT_EQ(host.plugins.plugin(0).version, "1.0");
}

std::string run_verb(Plugins& plugins, std::span<const std::string> words, std::size_t index = 0) {
    std::string text;
    const Status status = plugins.run_verb(
        index, words, [](void* to, std::string_view said) { *static_cast<std::string*>(to) += said; }, &text);
    return status ? text : std::string(status.message());
}

/// What is logged while it lives.
class LogText {
public:
    LogText() {
        set_log_hook(
            [](void* to, LogLevel, std::string_view text) { static_cast<LogText*>(to)->text_ += concat(text, "\n"); },
            this);
    }
    ~LogText() { set_log_hook(nullptr, nullptr); }
    LogText(const LogText&) = delete;
    LogText& operator=(const LogText&) = delete;
    bool has(std::string_view text) const { return text_.find(text) != std::string::npos; }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// What a diary says in the log of what was done with it.
std::string diary_of(const LogText& log) {
    std::string said;
    for (std::size_t at = 0; (at = log.text().find("diary: ", at)) != std::string::npos; at += 7)
        said += log.text().substr(at + 7, log.text().find('\n', at) - at - 7) + ", ";
    return said;
}

TEST(Plugins, are_unloaded_as_often_as_they_were_loaded_with_the_state_of_that_load) {
    const LeakCheck leaks;
    const LogText log;
    Host host;
    const ExchangedFile file;
    ASSERT_TRUE(host.load("wheels"));
    file.become("diary_1");
    ASSERT_TRUE(host.plugins.load(file.path()));
    file.become("diary_2");
    EXPECT_EQ(host.plugins.reload("diary").message(),
              concat("cannot load plugin ", file.path(),
                     ": plugin \"diary\" failed to load: the second never loads; the one before works on"));
    EXPECT_EQ(diary_of(log), "load of 1, unload of 1, load of 2, load of 1, ") << "what has not loaded is not unloaded";
    file.become("diary_3");
    EXPECT_TRUE(host.plugins.reload("diary").message().ends_with("; the one before works on"));
    EXPECT_EQ(diary_of(log).substr(46), "unload of 1, load of 3, unload of 3, load of 1, ");
    EXPECT_EQ(host.world.schedule().num_passes(), 2u);
    EXPECT_EQ(host.plugins.num_verbs(), 2u);
    file.become("diary_4");
    ASSERT_TRUE(host.plugins.reload("diary"));
    EXPECT_EQ(host.plugins.plugin(0).name, "wheels");
    EXPECT_EQ(host.plugins.plugin(1).name, "diary") << "each keeps its place";
    // One that does not load again either is gone, and orders no others.
    const std::vector<Entity> pages = host.make("page", 3);
    bool ran = false;
    host.world.schedule().add("look", [&](PassContext&) { ran = true; }).after("note");
    file.become("diary_2");
    EXPECT_EQ(
        host.plugins.reload("diary").message(),
        concat("cannot load plugin ", file.path(), ": plugin \"diary\" failed to load: the second never loads; and ",
               "the one before failed to load again: plugin \"diary\" failed to load: the fourth loads once"));
    EXPECT_EQ(host.plugins.num_plugins(), 1u);
    EXPECT_EQ(host.plugins.num_verbs(), 0u);
    EXPECT_TRUE(log.has("so 3 components of it are gone")) << log.text();
    EXPECT_EQ(host.world.directory().find(ComponentId("page")), nullptr);
    host.world.step(1);
    EXPECT_TRUE(ran);
    host.world.schedule().clear();
}

TEST(Plugins, whose_stores_somebody_uses_stay_whichever_of_them_it_is_and_tell_of_all_when_they_go) {
    const LogText log;
    Host host;
    ASSERT_TRUE(host.load("diary_1"));
    const std::vector<Entity> pages = host.make("page", 3), lines = host.make("line", 2);
    for (const char* name : {"page", "line"}) {
        host.world.schedule().add("look", {Access{host.world.directory().find(ComponentId(name))}},
                                  [](PassContext&) {});
        EXPECT_EQ(host.plugins.unload("diary").message(),
                  concat("plugin \"diary\" stays, because the pass \"look\" of the program uses its store of \"", name,
                         "\"; remove that pass first"));
        ASSERT_TRUE(host.world.schedule().remove("look"));
    }
    EXPECT_EQ(run_verb(host.plugins, {}, 0) + run_verb(host.plugins, {}, 1), "readtear");
    ASSERT_TRUE(host.plugins.unload("diary"));
    EXPECT_TRUE(log.has("plugin \"diary\" goes, and with it 3 components of \"page\", 2 components of \"line\""))
        << log.text();
    ASSERT_TRUE(host.load("stock_1"));
    ASSERT_TRUE(host.load("diary_5"));
    EXPECT_EQ(host.plugins.unload("stock").message(),
              "plugin \"stock\" stays, because plugin \"diary\" uses its store of \"item\"; unload that one first");
    ASSERT_TRUE(host.plugins.reload("stock")) << "it has the store again";
    ASSERT_TRUE(host.plugins.unload("diary"));
    ASSERT_TRUE(host.plugins.unload("stock"));
}

TEST(Plugins, need_all_that_they_depend_on_and_an_order_only_if_there_was_one) {
    Host host;
    ASSERT_TRUE(host.load("wheels"));
    EXPECT_NE(host.load("diary_6").message().find("plugin \"diary\" depends on plugin \"flour\", which is not loaded"),
              std::string_view::npos);
    host.world.schedule().add("own", [](PassContext&) {}).after("nobody");
    ASSERT_FALSE(host.world.schedule().prepare());
    EXPECT_TRUE(host.load("diary_1")) << "the program's mistake is not the plugin's";
    EXPECT_EQ(run_verb(host.plugins, {}, 1), "tear");
    ASSERT_TRUE(host.load("random_calls"));
    EXPECT_EQ(host.plugins.verb(2).name, "calls") << "the first one has two";
    host.world.schedule().clear();
}

TEST(Plugins, that_would_use_variables_of_an_older_version_are_refused) {
    Host host;
    const ExchangedFile file;
    file.become("unique");
    ASSERT_TRUE(host.plugins.load(file.path()));
    const std::string problem = concat(
        "cannot load plugin ", file.path(),
        ": its variable \"shoal_test_unique\" is that of a version that was opened before, which the system keeps; ",
        "compile it with -fvisibility=hidden or -fno-gnu-unique, as the CMake target shoal::plugin does, ",
        "and start the program again");
    EXPECT_EQ(host.plugins.reload("unique").message(), problem);
    EXPECT_EQ(host.plugins.num_plugins(), 1u) << "the one before works on";
    ASSERT_TRUE(host.plugins.unload("unique"));
    EXPECT_EQ(host.plugins.load(file.path()).message(), problem);
    EXPECT_EQ(file.num_files(), 1u) << "copies are gone";
    Host other;
    const ExchangedFile another;
    another.become("unique");
    EXPECT_TRUE(other.plugins.load(another.path())) << "what another plugin has is no older version";
}

TEST(Plugins, on_which_others_depend_are_loaded_first_and_unloaded_last) {
    Host host;
    EXPECT_NE(host.load("DEPENDS").message().find("depends on plugin \"wheels\", which is not loaded"),
              std::string_view::npos);
    ASSERT_TRUE(host.load("wheels"));
    ASSERT_TRUE(host.load("DEPENDS"));
    EXPECT_EQ(host.plugins.unload("wheels").message(),
              "plugin \"wheels\" stays, because plugin \"broken\" depends on it; unload that one first");
    EXPECT_EQ(host.plugins.num_plugins(), 2u);
    EXPECT_EQ(host.world.schedule().num_passes(), 2u);
    ASSERT_TRUE(host.plugins.reload("wheels"));
    EXPECT_EQ(host.plugins.plugin(0).name, "wheels") << "it keeps its place";
    ASSERT_TRUE(host.plugins.unload("broken"));
    ASSERT_TRUE(host.plugins.unload("wheels"));
}

TEST(Plugins, that_nobody_has_loaded_are_not_unloaded) {
    Host host;
    EXPECT_EQ(host.plugins.unload("wheels").message(), "no plugin \"wheels\" is loaded");
    EXPECT_EQ(host.plugins.reload("wheels").message(), "no plugin \"wheels\" is loaded");
}

TEST(Plugins, end_with_their_list_and_the_world_runs_on) {
    const LeakCheck leaks;
    EntityManager entities;
    World world(entities);
    int num_runs = 0;
    world.schedule().add("look", [&](PassContext&) { ++num_runs; }).after("turn");
    {
        Plugins plugins(world);
        ASSERT_TRUE(plugins.load(test_plugin("crowd")));
        ASSERT_TRUE(plugins.load(test_plugin("wheels")));
        world.step(0.5f);
    }
    EXPECT_EQ(world.schedule().num_passes(), 1u);
    world.step(0.5f);
    EXPECT_EQ(num_runs, 2) << "what came after their passes has an order without them";
}

// --- stores ------------------------------------------------------------------------------------------------------

struct Item {
    float weight = 0;
    std::uint32_t kind = 0;
    Entity box{};
};
SHOAL_COMPONENT(Item, (weight, unit("kg")), kind, (box, relation))

std::vector<Entity> make_items(Host& host, std::uint32_t count) {
    std::vector<Entity> made(count);
    EXPECT_TRUE(host.entities.create(made));
    std::vector<Item> items(count);
    for (std::uint32_t i = 0; i < count; ++i) items[i] = {.weight = float(i), .kind = i % 3, .box = made[0]};
    Store* const store = host.world.directory().find(ComponentId("item"));
    EXPECT_NE(store, nullptr);
    const Result<std::uint32_t> added =
        store->add_values(*store->schemas()[0], made,
                          {.images = reinterpret_cast<const std::byte*>(items.data()), .stride = sizeof(Item)});
    EXPECT_TRUE(added && *added == count);
    return made;
}

std::uint64_t count_matches(World& world, std::string_view text) {
    const Result<TextQuery> query = TextQuery::make(world.directory(), text);
    EXPECT_TRUE(query) << query.message();
    std::uint64_t count = 0;
    if (query) query->for_each_batch([&](const TextBatch& batch) { count += batch.num_rows(); });
    return count;
}

// req: A1, G3-G4
TEST(PluginStores, take_part_in_queries_commands_observers_and_reports_as_every_store) {
    const LeakCheck leaks;
    Host host;
    ASSERT_TRUE(host.load("stock_1"));
    std::vector<Entity> came, gone;
    std::vector<float> weights;
    host.world.observers().on_add<Item>(
        [&](std::span<const Entity> entities) { came.assign(entities.begin(), entities.end()); });
    host.world.observers().on_remove<Item>([&](std::span<const Entity> entities, std::span<const Item> before) {
        gone.assign(entities.begin(), entities.end());
        for (const Item& item : before) weights.push_back(item.weight);
    });
    std::vector<Entity> items = make_items(host, 2'000);
    host.world.settle();
    EXPECT_EQ(came, items);
    EXPECT_EQ(count_matches(host.world, "item, item.weight < 10"), 10u);
    EXPECT_EQ(host.value<float>(items[7], "item.weight"), 7);
    // Commands, and deaths: rows move into the gaps, and are found where they are.
    host.world.commands().remove(items[3], host.world.directory().find(ComponentId("item"))->schemas()[0][0]);
    host.world.commands().add(items[5], Item{.weight = 50});
    host.entities.destroy(std::span(&items[1'999], 1));
    host.world.settle();
    EXPECT_EQ(gone, (std::vector<Entity>{items[3], items[1'999]}));
    EXPECT_EQ(weights, (std::vector<float>{3, 1'999}));
    EXPECT_EQ(host.value<float>(items[1'998], "item.weight"), 1'998);
    EXPECT_EQ(host.value<float>(items[5], "item.weight"), 50);
    EXPECT_EQ(count_matches(host.world, "item"), 1'998u);
    host.world.step(1);  // a pass of the plugin over its own store
    EXPECT_EQ(host.value<float>(items[7], "item.weight"), 8);
    // Setting a field asks the plugin.
    EXPECT_TRUE(host.world.set(items[7], "item.weight", 2.5f));
    EXPECT_EQ(host.world.set(items[7], "item.weight", -2.5f).message(), "a weight is not negative");
    EXPECT_EQ(host.value<float>(items[7], "item.weight"), 2.5f);
    EXPECT_EQ(run_verb(host.plugins, {}), "all: set 1 parents 0 spawned 0 dead 1 written 1998 ordered 0\n");
    // What is set, or given once more, carries the stamp of now.
    Store& store = *host.world.directory().find(ComponentId("item"));
    const auto stamped_after = [&](const auto& change) {
        host.world.settle();
        change();
        std::string text;
        for (std::uint32_t block = 0; block < 2; ++block)
            text += store.tables()[0]->placed_stamp(block) == host.world.stamp() ? '+' : '-';
        return text;
    };
    EXPECT_EQ(stamped_after([] {}), "--");
    EXPECT_EQ(stamped_after([&] { EXPECT_TRUE(host.world.set(items[1'500], "item.weight", 1'500.0f)); }), "-+");
    EXPECT_EQ(stamped_after([&] {
                  const Item item{.weight = 2.5f, .kind = 1, .box = items[0]};
                  EXPECT_TRUE(store.add_values(*store.schemas()[0], {&items[7], 1},
                                               {.images = reinterpret_cast<const std::byte*>(&item)}));
              }),
              "+-");
    EXPECT_EQ(stamped_after([&] {
                  const Item item{.weight = 2.5f, .kind = 1, .box = items[0]};
                  const Entity both[] = {items[7], items[1'500]};
                  EXPECT_TRUE(store.add_values(*store.schemas()[0], both,
                                               {.images = reinterpret_cast<const std::byte*>(&item)}));
              }),
              "++");
    EXPECT_EQ(store.find_row(ComponentId("crate"), items[7], 0).schema, nullptr) << "it keeps no others";
    StoreStatistics statistics;
    EXPECT_EQ(host.world.directory().find(ComponentId("item"))->statistics({&statistics, 1}), 1u);
    EXPECT_EQ(statistics.num_rows, 1'998u);
    EXPECT_EQ(statistics.rows.committed_bytes, 4096u * 16);
    std::size_t num_referrers = 0;
    for (const Entity referrer : host.world.relations().referrers(ComponentId("item"), 2, items[0]))
        num_referrers += bool(referrer);
    EXPECT_EQ(num_referrers, 1'997u) << "the set one refers to nobody";
}

// req: G3-G4
TEST(PluginStores, have_the_rows_that_a_naive_model_has) {
    for (const char* version : {"stock_1", "stock_3", "stock_4"}) {
        SCOPED_TRACE(version);
        const LeakCheck leaks;
        Host host;
        const Status status = host.load(version);
        ASSERT_TRUE(status) << status.message();
        Store& store = *host.world.directory().find(ComponentId("item"));
        const bool many = store.schemas()[0]->many();
        Random random(11);
        std::vector<Entity> living;
        std::vector<std::pair<Entity, float>> model;
        for (int step = 0; step < 600; ++step) {
            const std::uint32_t what = random.below(10);
            if (what < 3 || living.empty()) {
                living.push_back(*host.entities.create());
                continue;
            }
            const std::uint32_t chosen = random.below(static_cast<std::uint32_t>(living.size()));
            const Entity entity = living[chosen];
            const auto is_its = [&](const auto& row) { return row.first == entity; };
            if (what < 7) {
                const Item item{.weight = float(step)};
                ASSERT_TRUE(store.add_values(*store.schemas()[0], {&entity, 1},
                                             {.images = reinterpret_cast<const std::byte*>(&item)}));
                if (!many) std::erase_if(model, is_its);
                model.emplace_back(entity, float(step));
            } else if (what == 7) {
                const std::size_t count = std::erase_if(model, is_its);
                EXPECT_EQ(*store.remove_values(*store.schemas()[0], {&entity, 1}), count);
            } else if (what == 8) {
                host.entities.destroy({&entity, 1});
                std::erase_if(model, is_its);
                living.erase(living.begin() + chosen);
            } else {
                host.world.settle();
                std::vector<std::pair<Entity, float>> found;
                for (const Entity each : living) {
                    std::uint32_t index = 0;
                    for (ComponentRow at = store.find_row(ComponentId("item"), each, 0); at;
                         at = store.find_next(at, each, ++index)) {
                        float weight = -1;
                        store.read_field(at, *find_field_part(*store.schemas()[0], "weight"),
                                         reinterpret_cast<std::byte*>(&weight));
                        found.emplace_back(each, weight);
                    }
                }
                auto expected = model;
                std::sort(expected.begin(), expected.end());
                std::sort(found.begin(), found.end());
                ASSERT_EQ(found, expected) << step;
            }
        }
    }
}

// req: G3-G4
TEST(PluginStores, get_the_parents_of_what_is_spawned_and_may_refuse_it_afterwards) {
    const LeakCheck leaks;
    Host host;
    ASSERT_TRUE(host.load("stock_1"));
    const Schema item = *host.world.directory().find(ComponentId("item"))->schemas()[0];
    const auto spawn = [&](float weight) {
        BlobWriter writer;
        const std::uint32_t shop = writer.add_entity({}), shelf = writer.add_entity({.parent = shop});
        const std::uint32_t type = *writer.add_component_type(item);
        const Item items[] = {{.weight = 1, .box = Entity{static_cast<EntityBits>(~EntityBits(0))}},
                              {.weight = weight, .kind = 4, .box = Entity{shop}}};
        writer.add_component(type, shop, std::as_bytes(std::span(items).first(1)));
        writer.add_component(type, shelf, std::as_bytes(std::span(items).last(1)));
        return host.world.spawn(*Blob::load(*writer.write()), {.copies = 3}).status();
    };
    ASSERT_TRUE(spawn(2));
    EXPECT_EQ(run_verb(host.plugins, {}), "all: set 0 parents 3 spawned 6 dead 0 written 0 ordered 0\n");
    EXPECT_EQ(count_matches(host.world, "item"), 6u);
    const Store& store = *host.world.directory().find(ComponentId("item"));
    const std::span<const Entity> owners = store.tables()[0]->entities();
    EXPECT_EQ(host.value<Entity>(owners[1], "item.box"), owners[0]) << "of the first copy";
    EXPECT_EQ(host.value<Entity>(owners[5], "item.box"), owners[4]) << "of the last";
    EXPECT_EQ(spawn(-1).message(), "cannot spawn \"\": nothing weighs less than nothing");
    EXPECT_EQ(count_matches(host.world, "item"), 6u);
    // And copies of entities are spawned into it.
    ASSERT_TRUE(copy(host.world, owners[1]));
    EXPECT_EQ(count_matches(host.world, "item, item.kind == 4"), 4u);
}

TEST(PluginStores, keep_their_data_while_the_plugin_is_exchanged) {
    const LeakCheck leaks;
    const LogText log;
    Host host;
    const ExchangedFile file;
    file.become("stock_1");
    ASSERT_TRUE(host.plugins.load(file.path()));
    const std::vector<Entity> items = make_items(host, 300);
    host.world.step(1);
    file.become("stock_2");  // whose weights are tenths
    const Status status = host.plugins.reload("stock");
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(host.plugins.plugin(0).version, "2.0");
    EXPECT_EQ(host.value<float>(items[7], "item.weight"), 80);
    EXPECT_EQ(host.value<Entity>(items[7], "item.box"), items[0]);
    host.world.step(1);
    EXPECT_EQ(host.value<float>(items[7], "item.weight"), 81);
    file.become("stock_6");
    EXPECT_EQ(host.plugins.reload("stock").message(),
              concat("cannot load plugin ", file.path(),
                     ": plugin \"stock\" failed to load: the store of \"item\" cannot be ",
                     "loaded: the sixth reads nothing; the one before works on"));
    EXPECT_EQ(host.value<float>(items[7], "item.weight"), 81);
    host.world.step(1);
    EXPECT_EQ(host.value<float>(items[7], "item.weight"), 82);
    EXPECT_FALSE(log.has("300 components"));
    file.become("stock_5");
    ASSERT_TRUE(host.plugins.reload("stock"));
    EXPECT_TRUE(log.has("plugin \"stock\" has no store of \"item\" any more, so 300 components of it are gone"))
        << log.text();
    EXPECT_EQ(host.world.directory().find(ComponentId("item")), nullptr);
    host.world.step(1);
    ASSERT_TRUE(host.plugins.unload("stock"));
    file.become("stock_1");
    ASSERT_TRUE(host.plugins.load(file.path()));
    EXPECT_EQ(host.world.directory().find(ComponentId("item"))->tables()[0]->num_rows(), 0u) << "what is gone is gone";
    EXPECT_EQ(host.world.directory().find(ComponentId("item"))->schemas()[0]->fields()[0].unit, "kg");
}

TEST(PluginStores, are_saved_and_loaded_with_their_world) {
    for (const char* version : {"stock_1", "stock_3"}) {
        SCOPED_TRACE(version);
        Host host;
        ASSERT_TRUE(host.load(version));
        const std::vector<Entity> items = host.make("item", 20);
        for (std::size_t i = 0; i < items.size(); ++i)
            ASSERT_TRUE(host.world.set(items[i], "item.weight", static_cast<float>(i)));
        host.world.settle();
        const std::uint64_t hash = state_hash(host.world);
        Snapshot state;
        const Status saved = save(host.world, state);
        ASSERT_TRUE(saved) << saved.message();
        host.entities.destroy(std::span(items).first(5));
        ASSERT_TRUE(host.world.set(items[7], "item.weight", 100.0f));
        host.world.settle();
        ASSERT_NE(state_hash(host.world), hash);
        const Status loaded = load(host.world, state);
        ASSERT_TRUE(loaded) << loaded.message();
        EXPECT_EQ(state_hash(host.world), hash);
        EXPECT_EQ(host.value<float>(items[3], "item.weight"), 3);
        EXPECT_EQ(host.value<float>(items[7], "item.weight"), 7);
    }
}

TEST(PluginStores, that_do_not_save_lose_their_rows_with_a_line_in_the_log) {
    const LeakCheck leaks;
    const LogText log;
    Host host;
    const ExchangedFile file;
    file.become("stock_7");
    ASSERT_TRUE(host.plugins.load(file.path()));
    ASSERT_TRUE(host.plugins.reload("stock"));
    EXPECT_FALSE(log.has("gone")) << "there were none";
    make_items(host, 30);
    file.become("stock_1");
    ASSERT_TRUE(host.plugins.reload("stock"));
    const char* const text =
        "plugin \"stock\" was exchanged, and its store of \"item\" has no function save, so 30 components of it are "
        "gone";
    EXPECT_TRUE(log.has(text)) << log.text();
    EXPECT_EQ(host.world.directory().find(ComponentId("item"))->tables()[0]->num_rows(), 0u);
}

TEST(PluginStores, that_do_not_save_lose_their_rows_also_when_the_one_before_works_on) {
    const LogText log;
    Host host;
    const ExchangedFile file;
    file.become("stock_7");
    ASSERT_TRUE(host.plugins.load(file.path()));
    make_items(host, 20);
    file.become("stock_8");
    EXPECT_TRUE(host.plugins.reload("stock").message().ends_with("; the one before works on"));
    EXPECT_TRUE(log.has("has no function save, so 20 components of it are gone")) << log.text();
}

TEST(PluginStores, whose_reload_was_refused_keep_their_rows_and_give_none_to_a_later_load) {
    Host host;
    ASSERT_TRUE(host.load("diary_7"));
    const std::vector<Entity> pages = host.make("page", 3), lines = host.make("line", 1);
    const auto num_pages = [&] { return host.world.directory().find(ComponentId("page"))->tables()[0]->num_rows(); };
    EXPECT_NE(host.plugins.reload("diary").message().find("lines are not saved"), std::string_view::npos);
    EXPECT_EQ(num_pages(), 3u);
    ASSERT_TRUE(host.plugins.unload("diary"));
    ASSERT_TRUE(host.load("diary_7"));
    EXPECT_EQ(num_pages(), 0u);
}

TEST(PluginStores, that_the_one_before_does_not_make_again_lose_their_rows_with_a_line_in_the_log) {
    const LogText log;
    Host host;
    const ExchangedFile file;
    file.become("stock_9");
    ASSERT_TRUE(host.plugins.load(file.path()));
    make_items(host, 20);
    file.become("stock_6");
    EXPECT_TRUE(host.plugins.reload("stock").message().ends_with("; the one before works on"));
    EXPECT_TRUE(log.has("plugin \"stock\" has no store of \"item\" any more, so 20 components of it are gone"))
        << log.text();
    EXPECT_EQ(host.world.directory().find(ComponentId("item")), nullptr);
}

TEST(PluginStores, go_with_the_plugin_unless_somebody_uses_them) {
    const LeakCheck leaks;
    const LogText log;
    Host host;
    ASSERT_TRUE(host.load("stock_1"));
    ASSERT_TRUE(host.plugins.unload("stock"));
    EXPECT_FALSE(log.has("goes")) << "its store had no rows";
    ASSERT_TRUE(host.load("stock_1"));
    make_items(host, 12);
    const Result<TextQuery> query = TextQuery::make(host.world.directory(), "item");
    ASSERT_TRUE(query);
    host.world.schedule().add("weigh", {Access{host.world.directory().find(ComponentId("item"))}}, [](PassContext&) {});
    EXPECT_EQ(
        host.plugins.unload("stock").message(),
        "plugin \"stock\" stays, because the pass \"weigh\" of the program uses its store of \"item\"; remove that "
        "pass first");
    EXPECT_EQ(host.plugins.reload("stock").message().substr(0, 11), "cannot load");
    host.world.step(1);
    ASSERT_TRUE(host.world.schedule().remove("weigh"));
    ASSERT_TRUE(host.plugins.unload("stock"));
    EXPECT_TRUE(log.has("plugin \"stock\" goes, and with it 12 components of \"item\"")) << log.text();
    EXPECT_TRUE(host.world.directory().stores().empty() || host.world.directory().find(ComponentId("item")) == nullptr);
    host.world.step(1);
}

// req: G7
TEST(PluginStores, without_columns_are_found_by_queries_and_read_by_name) {
    const LeakCheck leaks;
    Host host;
    ASSERT_TRUE(host.load("stock_3"));
    const std::vector<Entity> items = make_items(host, 5);
    EXPECT_EQ(count_matches(host.world, "item"), 5u);
    EXPECT_NE(
        TextQuery::make(host.world.directory(), "item.weight < 3").message().find("keeps its fields in another form"),
        std::string_view::npos);
    EXPECT_EQ(host.value<float>(items[3], "item.weight"), 3);
    const std::uint64_t before = state_hash(host.world);
    ASSERT_TRUE(host.world.set(items[3], "item.weight", 9.0f));
    EXPECT_EQ(host.value<float>(items[3], "item.weight"), 9);
    EXPECT_NE(state_hash(host.world), before);
}

// req: A1
TEST(PluginTypes, are_compiled_spawned_and_migrated_by_functions_of_the_plugin) {
    const LeakCheck leaks;
    Host host;
    ASSERT_TRUE(host.load("stock_1"));
    const RegisteredComponent* const order = host.world.registry().find("order");
    ASSERT_NE(order, nullptr);
    EXPECT_EQ(order->spawn_order, 5);
    EXPECT_NE(order->compile, nullptr);
    ComponentRegistry registry;
    ASSERT_TRUE(host.plugins.register_components(registry));
    EXPECT_NE(registry.find("order")->compile, nullptr);
    EXPECT_NE(registry.find("item")->schema, nullptr);
    ComponentDefinition first;  // version 1, which counted pairs of two kinds
    first.name = "order";
    first.fields.push_back({.name = "pairs", .type = FieldType::kUint16, .array_length = 2});
    first.fields.push_back(
        {.name = "what", .type = FieldType::kEnum, .value_bytes = 1, .enumerators = {{"nails", 0}, {"screws", 5}}});
    const auto spawn = [&](std::uint16_t pairs) {
        BlobWriter writer;
        const std::uint32_t owner = writer.add_entity({});
        const std::uint32_t type = *writer.add_component_type(*Schema::make(first));
        std::byte image[6] = {};
        const std::uint16_t of_both_kinds[] = {1, static_cast<std::uint16_t>(pairs - 1)};
        std::memcpy(image, of_both_kinds, sizeof of_both_kinds);
        image[sizeof of_both_kinds] = std::byte(5);
        writer.add_component(type, owner, image);
        return host.world.spawn(*Blob::load(*writer.write()), {.copies = 2}).status();
    };
    const Status status = spawn(21);
    ASSERT_TRUE(status) << status.message();
    const std::string who[] = {"Ann", "Bob"};
    EXPECT_EQ(run_verb(host.plugins, std::span(who).first(1)),
              "Ann: set 0 parents 0 spawned 0 dead 0 written 0 ordered 84\n");
    EXPECT_EQ(run_verb(host.plugins, who), "say for whom, or nobody");
    EXPECT_NE(spawn(2'000).message().find("nobody orders more than 1000"), std::string_view::npos);
    ASSERT_TRUE(host.plugins.unload("stock"));
    EXPECT_EQ(host.world.registry().find("order"), nullptr);
}

TEST(Plugins, that_were_built_with_the_first_header_load_and_work) {
    const LeakCheck leaks;
    Host host;
    const Status status = host.load("abi_1");
    ASSERT_TRUE(status) << status.message();
    const std::vector<Entity> lamps = host.make("lamp", 3);
    ASSERT_TRUE(host.world.set(lamps[1], "lamp.watts", 1.5f));
    ASSERT_TRUE(host.world.set(lamps[1], "lamp.mood", "cold"));
    ASSERT_TRUE(host.world.set(lamps[1], "lamp.socket", lamps[0]));
    EXPECT_EQ(host.world.set(lamps[1], "lamp.mood", "icy").message().empty(), false);
    host.world.step(1);
    EXPECT_EQ(count_matches(host.world, "lamp, lamp.mood == cold"), 1u) << "the others are dark";
    EXPECT_EQ(host.value<float>(lamps[1], "lamp.watts"), 0.5f);
    host.entities.destroy({&lamps[0], 1});
    host.world.settle();
    EXPECT_EQ(host.value<Entity>(lamps[1], "lamp.socket"), kNullEntity) << "a relation that is cleared";
    EXPECT_EQ(host.make("socket", 1).size(), 1u);
    EXPECT_EQ(count_matches(host.world, "socket"), 1u);
    EXPECT_EQ(host.world.directory().find(ComponentId("score"))->schemas()[0]->fields()[0].type, FieldType::kBlobArray);
    EXPECT_EQ(run_verb(host.plugins, {}), "1 lamps were lit\n");
    ASSERT_TRUE(host.plugins.unload("early"));
}

TEST(SamplePlugins, a_grid_is_kept_right_by_observers_and_used_by_a_pass) {
    const LeakCheck leaks;
    for (const std::uint32_t num_workers : {1u, 3u}) {
        Host host(num_workers);
        const Status status = host.plugins.load(sample_plugin("grid"));
        ASSERT_TRUE(status) << status.message();
        std::vector<Entity> motes = host.make("mote", 200);
        Random random(3);
        const auto place = [&](Entity mote) {
            EXPECT_TRUE(host.world.set(mote, "mote.x", random.unit() * 20 - 10));
            EXPECT_TRUE(host.world.set(mote, "mote.y", random.unit() * 20 - 10));
        };
        for (int frame = 0; frame < 5; ++frame) {
            for (const Entity mote : motes) place(mote);
            host.entities.destroy({motes.data() + 150 - frame, 1});
            motes.erase(motes.begin() + 150 - frame);
            if (frame == 3) {
                ASSERT_TRUE(host.plugins.reload("grid"));
            }
            host.world.settle();  // tells the store where they are
            host.world.step(1);
            for (std::size_t i = 0; i < motes.size(); ++i) {
                const float x = host.value<float>(motes[i], "mote.x"), y = host.value<float>(motes[i], "mote.y");
                std::uint32_t num_near = 0;
                for (std::size_t k = 0; k < motes.size(); ++k) {
                    const float dx = x - host.value<float>(motes[k], "mote.x");
                    const float dy = y - host.value<float>(motes[k], "mote.y");
                    num_near += k != i && dx * dx + dy * dy < 1;
                }
                ASSERT_EQ(host.value<std::uint32_t>(motes[i], "neighbour.num_near"), num_near) << frame << ' ' << i;
            }
        }
        EXPECT_EQ(count_matches(host.world, "neighbour"), motes.size());
        const std::string words[] = {"3.5", "-2.5"};
        EXPECT_EQ(run_verb(host.plugins, words), "3 -3\n");
        EXPECT_EQ(run_verb(host.plugins, std::span(words).first(1)), "give two numbers, X and Y");
    }
}

TEST(SamplePlugins, verbs_of_several_have_their_numbers_in_the_order_of_loading) {
    Host host;
    for (const Status& status :
         {host.load("random_calls"), host.plugins.load(sample_plugin("grid")), host.load("abi_1")})
        ASSERT_TRUE(status) << status.message();
    ASSERT_EQ(host.plugins.num_verbs(), 3u);
    EXPECT_EQ(host.plugins.verb(0).name, "calls");
    EXPECT_EQ(host.plugins.verb(1).name, "cell");
    const std::string words[] = {"3.5", "-2.5"};
    EXPECT_EQ(run_verb(host.plugins, words, 1), "3 -3\n");
    EXPECT_EQ(run_verb(host.plugins, {}, 2), "0 lamps were lit\n");
    ASSERT_TRUE(host.plugins.unload("calls"));
    ASSERT_EQ(host.plugins.num_verbs(), 2u);
    EXPECT_EQ(host.plugins.verb(0).name, "cell");
    EXPECT_DEATH(host.plugins.verb(2), "there are fewer verbs");
}

// --- calls -------------------------------------------------------------------------------------------------------

#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
constexpr int kUsualCalls = 250'000;
#else
constexpr int kUsualCalls = 100'000;
#endif

/// SHOAL_PLUGIN_CALLS=5000000 makes more; a million where everything is tried.
int num_calls() {
    const char* const wanted = std::getenv("SHOAL_PLUGIN_CALLS");
    if (wanted != nullptr) return std::atoi(wanted);
    return shoal_test::tries_everything() ? 1'000'000 : kUsualCalls;
}

TEST(PluginCalls, at_random_are_carried_out_or_refused_and_leave_the_world_whole) {
    const LeakCheck leaks;
    set_log_hook([](void*, LogLevel, std::string_view) {}, nullptr);
    Host host(2);
    host.world.schedule().open_group("group");
    host.world.schedule().open_group("");
    const Status status = host.load("random_calls");
    ASSERT_TRUE(status) << status.message();
    constexpr int kAtOnce = 2'000;
    for (int i = 0; i < num_calls() / kAtOnce; ++i) {
        const std::string words[] = {concat(kAtOnce), concat(i + 1)};
        SCOPED_TRACE(words[1]);
        EXPECT_EQ(run_verb(host.plugins, words), "");
        host.world.step(0.5f);
        for (const Store* store : host.world.directory().stores())
            for (const Table* table : store->tables()) ASSERT_TRUE(table->validate()) << store->schemas()[0]->name();
    }
    // How much depends on the addresses of what the plugin makes, which differ between runs.
    EXPECT_GT(host.world.settle_statistics().total.num_created, std::uint64_t(num_calls()) / 10'000) << "some do much";
    EXPECT_GT(host.world.settle_statistics().total.num_removed, std::uint64_t(num_calls()) / 10'000);
    ASSERT_TRUE(host.plugins.unload("calls"));
    host.world.step(0.5f);
    set_log_hook(nullptr, nullptr);
}

// --- what passes of others say -----------------------------------------------------------------------------------

TEST(Plugins, that_go_leave_passes_of_the_program_in_order) {
    Host host;
    ASSERT_TRUE(host.load("wheels"));
    bool ran = false;
    host.world.schedule().add("look", [&](PassContext&) { ran = true; }).after("turn");
    host.world.step(1);
    ASSERT_TRUE(host.plugins.reload("wheels"));
    ASSERT_TRUE(host.plugins.unload("wheels"));
    ran = false;
    host.world.step(1);
    EXPECT_TRUE(ran);
    ASSERT_TRUE(host.world.schedule().remove("look"));
}

TEST(Plugins, have_no_pass_with_the_name_of_a_group) {
    Host host;
    host.world.schedule().open_group("turn");
    EXPECT_NE(host.load("wheels").message().find("the world has a pass, or a group of passes, \"turn\" already"),
              std::string_view::npos);
}

TEST(Plugins, see_the_new_fields_when_the_program_changes_those_of_a_component_type) {
    const LeakCheck leaks;
    const LogText log;
    Host host;
    ASSERT_TRUE(host.load("wheels"));
    const std::vector<Entity> wheels = host.make("wheel", 3);
    ASSERT_TRUE(host.world.set(wheels[1], "wheel.speed", 2.0f));
    const auto change = [&](std::initializer_list<const char*> fields) {
        ComponentDefinition definition;
        definition.name = "wheel";
        for (const char* field : fields) definition.fields.push_back({.name = field});
        const Result<SchemaChange*> begun = begin_schema_change(host.world, *Schema::make(definition));
        ASSERT_TRUE(begun) << begun.message();
        end_schema_change(*begun, true);
    };
    change({"size", "speed", "angle"});
    host.world.step(0.5f);
    EXPECT_EQ(host.value<float>(wheels[1], "wheel.angle"), 1);
    change({"size", "angle"});  // what the pass needs is gone
    EXPECT_TRUE(log.has("pass \"turn\" of plugin \"wheels\" rests until what it needs is there again: ")) << log.text();
    host.world.step(0.5f);
    EXPECT_EQ(host.value<float>(wheels[1], "wheel.angle"), 1);
    change({"size", "speed", "angle"});
    ASSERT_TRUE(host.world.set(wheels[1], "wheel.speed", 4.0f));
    host.world.step(0.5f);
    EXPECT_EQ(host.value<float>(wheels[1], "wheel.angle"), 3);
}

TEST(PluginsDeathTest, are_not_unloaded_by_a_pass) {
    Host host;
    ASSERT_TRUE(host.load("wheels"));
    host.world.schedule().add("end", [&](PassContext&) { static_cast<void>(host.plugins.unload("wheels")); });
    EXPECT_DEATH(host.world.step(1), "a pass loaded or unloaded a plugin; do it between steps");
    ASSERT_TRUE(host.world.schedule().remove("end"));
}

TEST(SamplePlugins, spin_turns_bodies_and_drift_declares_a_type) {
    const LeakCheck leaks;
    Host host(2);
    ASSERT_TRUE(host.plugins.load(sample_plugin("spin")));
    ASSERT_TRUE(host.plugins.load(sample_plugin("drift")));
    const std::vector<Entity> bodies = host.make("spin", 10'000);
    ASSERT_TRUE(host.world.set(bodies[9'999], "spin.speed", 4.0f));
    for (int i = 0; i < 8; ++i) host.world.step(0.5f);
    EXPECT_EQ(host.value<std::uint32_t>(bodies[9'999], "spin.turns"), 2u);
    EXPECT_NEAR(host.value<float>(bodies[9'999], "spin.angle"), 16 - 2 * 6.2831853f, 1e-5f);
    EXPECT_EQ(host.value<float>(bodies[0], "spin.angle"), 4.0f);
    const std::vector<Entity> boats = host.make("drift", 1);
    EXPECT_EQ(host.value<Vec3>(boats[0], "drift.velocity"), (Vec3{1, 0, 0}));
    ASSERT_TRUE(host.plugins.unload("spin"));
    ASSERT_TRUE(host.plugins.unload("drift"));
    host.world.step(0.5f);
    EXPECT_EQ(host.value<float>(bodies[0], "spin.angle"), 4.0f);
}

}  // namespace

// Memory that runs out, at each allocation of what a world does in turn. What reserves pages returns an error and leaves the
// world as it was, or does less and says so; what allocates bookkeeping memory ends the program with the name of the owner.

#include "shoal/base/detail/page_memory.h"
#include "shoal/base/log.h"
#include "shoal/reload/reloader.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/world/copy.h"

#include "support/address_space.h"
#include "support/level.h"
#include "support/testing.h"
#include "support/whole_world.h"
#include "support/zstd_memory.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace out_of_memory_test {

using namespace shoal;
using namespace shoal_test;
namespace fs = std::filesystem;

constexpr std::uint32_t kManyRows = 3000;  // take more than a block of a slab
constexpr std::uint32_t kFewRows = 20;     // after which there is nothing new to allocate

/// What the steps share. `count` is that of entities that they create, and spawn.
struct Levels {
    explicit Levels(std::uint32_t num_entities) : count(num_entities) { fs::create_directory(folder); }
    std::uint32_t count;
    Blob first = make_level(count, 1), second = make_level(count, 2);
    std::string folder = (fs::temp_directory_path() / ("shoal_out_of_memory_" + std::to_string(::getpid()))).string();
    ~Levels() { fs::remove_all(folder); }
};

struct Scene {
    explicit Scene(Levels& shared) : levels(shared) {
        sea.mourns = false;  // callbacks are told of the ids that a failed spawn has used up, and would ask for more
    }
    Levels& levels;
    Sea sea{nullptr, 1, true};
    World& world = sea.world;
    Frames frames{world, 0};
    std::vector<Entity> all;
    std::optional<Array<std::byte>> saved;
};

/// How a step fails.
enum class Rule {
    kNothing,  ///< with an error, and nothing has changed; the next try does what the first would have done
    kIds,      ///< the same, but that ids were used up
    kLess,     ///< without an error: what could not be done is logged, and the world is whole
};

struct Step {
    const char* name;
    Rule rule;
    Status (*run)(Scene& scene);
};

template <class T>
Status status_of(const Result<T>& result) {
    return result ? Status() : result.status();
}

/// Each is one call of the library, so that "nothing has changed" can be said of it.
const Step kSteps[] = {
    {"create ids", Rule::kNothing,
     [](Scene& s) {
         std::vector<Entity> all(s.levels.count);
         Status status = s.sea.entities.create(all);
         if (status) s.all = all;
         return status;
     }},
    {"add to a manager", Rule::kNothing,
     [](Scene& s) { return status_of(s.world.manager<Fin>().add(s.all, Fin{{1, 2, 3}, 4})); }},
    {"add to a manager with a hash index", Rule::kNothing,
     [](Scene& s) { return status_of(s.world.manager<Age>().add(s.all, Age{3})); }},
    {"add to a list", Rule::kNothing, [](Scene& s) { return status_of(s.world.manager<Scar>().add(s.all, Scar{3})); }},
    {"add relations", Rule::kNothing,
     [](Scene& s) { return status_of(s.world.manager<Hunts>().add(s.all, Hunts{s.all[5]})); }},
    {"insert into the database", Rule::kNothing,
     [](Scene& s) {
         const std::vector<Spot> spots(s.levels.count, Spot{{1, 2, 3}});
         const std::vector<Egg> eggs(s.levels.count, Egg{9});
         return status_of(s.sea.sea.insert<Spot, Egg>(s.all, 3, spots, eggs));
     }},
    {"add to rows of the database", Rule::kNothing,
     [](Scene& s) { return status_of(s.sea.sea.add(s.all, Plankton{7, Kind::kAnimal, true})); }},
    {"enable in the database", Rule::kNothing, [](Scene& s) { return status_of(s.sea.sea.add(s.all, Hungry{2})); }},
    {"add more of a list in the database", Rule::kNothing,
     [](Scene& s) { return status_of(s.sea.sea.add(s.all, Egg{4})); }},
    {"move to another zone", Rule::kNothing,
     [](Scene& s) { return status_of(s.sea.sea.move(std::span(s.all).first(s.levels.count / 2), 1)); }},
    {"remove from rows of the database", Rule::kNothing,
     [](Scene& s) { return status_of(s.sea.sea.remove<Plankton>(std::span(s.all).last(s.levels.count / 2))); }},
    {"add transforms", Rule::kNothing,
     [](Scene& s) { return status_of(s.world.transforms().add(s.all, Transform{{1, 2, 3}})); }},
    {"link transforms", Rule::kNothing,
     [](Scene& s) {
         TransformManager& transforms = s.world.transforms();
         return transforms.link(transforms.instance(s.all[9]), transforms.instance(s.all[3]));
     }},
    {"own", Rule::kNothing,
     [](Scene& s) { return s.world.ownership().own(s.all[0], std::span(s.all).subspan(1, s.levels.count / 2)); }},
    {"set a property", Rule::kNothing,
     [](Scene& s) { return s.world.properties().set(s.all[0], PropertyPath("armor.front"), 3.0f); }},
    {"deactivate entities", Rule::kNothing,
     [](Scene& s) { return s.world.activity().set_active(std::span(s.all).first(s.levels.count / 2), false); }},
    {"write events", Rule::kLess,
     [](Scene& s) {
         for (std::uint32_t i = 0; i < s.levels.count; ++i) s.world.events<Bite>().write({s.all[i], i});
         return Status();
     }},
    {"settle commands", Rule::kLess,
     [](Scene& s) {
         for (std::uint32_t i = 0; i < s.levels.count; ++i) {
             Commands& commands = s.world.commands();
             commands.add(commands.create(Spot{{float(i), 0, 0}}, Plankton{i}), Fin{});
             commands.add(s.all[i], Age{i});
             commands.move(s.all[i], 4);
             if (i % 2 == 0) commands.remove<Scar>(s.all[i]);
             if (i % 5 == 0) commands.destroy(s.all[i]);
             if (i % 7 == 0) commands.tag(s.all[i], "shy");
         }
         for (int i = 0; i < 3; ++i) s.world.commands().spawn(s.levels.first);
         s.world.settle();
         return Status();
     }},
    {"destroy", Rule::kLess,
     [](Scene& s) {
         s.sea.entities.destroy(std::span(s.all).first(s.levels.count / 3));
         return Status();
     }},
    {"step", Rule::kLess,
     [](Scene& s) {
         s.sea.run(1);
         return Status();
     }},
    {"spawn", Rule::kIds, [](Scene& s) { return status_of(s.world.spawn(s.levels.first, {.copies = 2})); }},
    {"copy", Rule::kIds,
     [](Scene& s) {
         SpawnOptions options;
         options.copies = 20;
         return status_of(copy(s.world, s.all[s.levels.count - 2], options));
     }},
    {"reload", Rule::kIds, [](Scene& s) { return status_of(s.sea.reloader->reload(s.levels.first, s.levels.second)); }},
    {"step after that", Rule::kLess,
     [](Scene& s) {
         s.sea.run(1);
         return Status();
     }},
    {"save to memory", Rule::kNothing,
     [](Scene& s) {
         s.saved.emplace(Owner("test"));
         return save(s.world, *s.saved);
     }},
    {"save to a file", Rule::kNothing, [](Scene& s) { return save(s.world, s.levels.folder + "/reef.save"); }},
    {"step before loading", Rule::kLess,
     [](Scene& s) {
         s.sea.run(2);
         return Status();
     }},
    {"load from memory", Rule::kNothing, [](Scene& s) { return load(s.world, std::span<const std::byte>(*s.saved)); }},
    {"load from a file", Rule::kNothing, [](Scene& s) { return load(s.world, s.levels.folder + "/reef.save"); }},
    {"keep frames", Rule::kLess,
     [](Scene& s) {
         s.frames.keep(4);
         s.sea.run(3);
         return Status();
     }},
    {"rewind", Rule::kNothing, [](Scene& s) { return s.frames.rewind(s.world.frame() - 2); }},
    {"persist", Rule::kNothing,
     [](Scene& s) {
         Status status =
             s.sea.persistence.start(s.levels.folder + "/world", {.keeps_all_frames = true, .replace = true});
         if (!status) return status;
         return s.sea.persistence.stop();
     }},
    {"persist a frame", Rule::kLess,
     [](Scene& s) {
         Status status =
             s.sea.persistence.start(s.levels.folder + "/world", {.keeps_all_frames = true, .replace = true});
         s.sea.run(1);
         const Status stopped = s.sea.persistence.stop();
         if (!status || !stopped) log(LogLevel::kError, "it could not be persisted");
         return Status();
     }},
    {"recover", Rule::kNothing,
     [](Scene& s) { return status_of(s.sea.persistence.recover(s.levels.folder + "/world")); }},
};

// --- pages -------------------------------------------------------------------------------------------------------

/// Refuses the N-th reservation of pages, or all from the N-th on, while it lives; of 0, none, and counts them.
class ShortPages {
public:
    ShortPages(std::uint32_t fail_at, bool for_good) : fail_at_(fail_at), for_good_(for_good) {
        before_ =
            set_page_hooks({[](void* self, std::size_t) { return static_cast<ShortPages*>(self)->allows(); }, this});
    }
    ~ShortPages() { set_page_hooks(before_); }
    bool has_failed() const { return fail_at_ != 0 && num_calls_ >= fail_at_; }
    std::uint32_t num_calls() const { return num_calls_; }

private:
    bool allows() {
        ++num_calls_;
        return for_good_ && fail_at_ != 0 ? num_calls_ < fail_at_ : num_calls_ != fail_at_;
    }
    std::uint32_t fail_at_, num_calls_ = 0;
    bool for_good_;
    PageHooks before_;
};

enum Answer { kNotReached = 10, kHeld = 11, kBroken = 12 };

Answer broken(const char* what, const std::string& more = {}) {
    std::fprintf(stderr, "%s%s%s\n", what, more.empty() ? "" : ": ", more.c_str());
    return kBroken;
}

Snapshot state_of(const World& world) {
    Snapshot state;
    const Status status = save(world, state);
    SHOAL_ASSERT(status.ok(), "the world of the test can be saved");
    return state;
}

bool is_stamps(const Snapshot&, const SnapshotPart& part) { return part.path.ends_with("/stamps"); }

/// Whether a part says which tables there are, or belongs to one without rows: those stay when a call fails.
bool is_of_tables(const Snapshot& state, const SnapshotPart& part) {
    constexpr std::string_view kDatabase = "stores/database/", kTable = "table/";
    if (part.path.ends_with("/pictures")) return true;  // which tables the journal and observers have looked at
    if (!part.path.starts_with(kDatabase)) return false;
    const std::string_view name = part.path.substr(kDatabase.size());
    if (name.find('/') == std::string_view::npos) return true;
    if (!name.starts_with(kTable)) return false;
    const std::string_view table = part.path.substr(0, kDatabase.size() + name.find('/', kTable.size()));
    std::uint32_t num_rows = 1;
    SnapshotReader from(state);
    return from.value(std::string(table) + "/num_rows", num_rows).ok() && num_rows == 0;
}

/// Says what a call that failed has changed. Stamps may be later, and tables of the database be there that are empty.
std::string changed(const Snapshot& now, const Snapshot& before, Rule rule) {
    return difference(now, before, [rule](const Snapshot& state, const SnapshotPart& part) {
        const bool is_of_ids = part.path.starts_with("entities/") || part.path.ends_with("/deaths_seen");
        return is_stamps(state, part) || is_of_tables(state, part) || (is_of_ids && rule == Rule::kIds);
    });
}

/// Says in what a world differs from the one that has not been disturbed: with other ids, in how many rows there are. Ages
/// have rows of the dead until a new entity has their index, or chance collects them.
std::string differs(const Snapshot& now, const Snapshot& wanted, Rule rule) {
    return difference(now, wanted, [rule](const Snapshot& state, const SnapshotPart& part) {
        const bool counts = part.path.ends_with("/num_rows") && !part.path.starts_with("stores/age/");
        return rule == Rule::kIds ? !counts : is_stamps(state, part);
    });
}

/// Runs a step while memory of some kind is short, and checks what it leaves.
template <class Shortage>
Answer fail_in(Scene& scene, const Step& step, std::uint32_t fail_at, bool for_good, const Snapshot& before,
               const Snapshot& after) {
    std::size_t num_logged = 0;
    set_log_hook([](void* count, LogLevel, std::string_view) { ++*static_cast<std::size_t*>(count); }, &num_logged);
    Status status;
    {
        const Shortage shortage(fail_at, for_good);
        status = step.run(scene);
        if (!shortage.has_failed()) return kNotReached;
    }
    if (const Status sound = scene.sea.validate(); !sound) return broken("not sound", std::string(sound.message()));
    if (step.rule != Rule::kLess) {
        if (!status)
            if (const std::string what = changed(state_of(scene.world), before, step.rule); !what.empty())
                return broken("it has changed something", what + " when " + std::string(status.message()));
        if (!status && (status.message().find("address space") == std::string::npos &&
                        status.message().find("memory") == std::string::npos))
            return broken("it does not say what was short", std::string(status.message()));
        if (!status)
            if (const Status again = step.run(scene); !again)
                return broken("the next try fails", std::string(again.message()));
        if (const std::string what = differs(state_of(scene.world), after, step.rule); !what.empty())
            return broken("the next try does something else", what);
    } else if (const std::string what = differs(state_of(scene.world), after, step.rule);
               !what.empty() && num_logged == 0) {
        return broken("it has done less and said nothing", what);
    }
    scene.sea.run(2);
    if (const Status sound = scene.sea.validate(); !sound)
        return broken("not sound later", std::string(sound.message()));
    return kHeld;
}

/// Returns the exit code of `body` in a child, or a signal as 128 + its number, and what it wrote to stderr.
int in_child(const std::function<int()>& body, std::string& said) {
    int ends[2];
    if (::pipe(ends) != 0) return -1;
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        ::dup2(ends[1], 2);
        ::close(ends[0]);
        ::alarm(60);
        ::_exit(body());
    }
    ::close(ends[1]);
    said.clear();
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Returns how often a step requests memory of some kind. A child runs it, because only the children that follow are certain to do
/// the same: another scene in this process may have pages left that this one asks for.
template <class Shortage>
std::uint32_t count_requests(Scene& scene, const Step& step) {
    constexpr int kMost = 100;
    const auto count = [&]() -> int {
        const Shortage none(0, false);
        if (const Status status = step.run(scene); !status) return broken("it fails", std::string(status.message()));
        return none.num_calls() < kMost ? kMost + int(none.num_calls()) : broken("it makes too many requests");
    };
    std::string said;
    const int answer = in_child(count, said);
    EXPECT_GE(answer, kMost) << step.name << ": " << said;
    return static_cast<std::uint32_t>(std::max(answer, kMost) - kMost);
}

/// Lets memory of some kind run out at each request of each step, in one of two ways, once and for good; in both where
/// everything is tried, and at every fifth request under a sanitizer, where a child takes ten times as long. Returns how
/// many requests there are.
template <class Shortage>
std::uint32_t run_out_everywhere() {
    Levels levels(kManyRows);
    Scene scene(levels), undisturbed(levels);
    std::uint32_t num_in_all = 0;
    for (const Step& step : kSteps) {
        EXPECT_TRUE(step.run(undisturbed).ok()) << step.name;
        const Snapshot before = state_of(scene.world), after = state_of(undisturbed.world);
        const std::uint32_t num_requests = count_requests<Shortage>(scene, step);
        num_in_all += num_requests;
        std::uint32_t num_tried = 0;
        for (std::uint32_t i = 0; i < 2 * num_requests; ++i) {
            const std::uint32_t fail_at = 1 + i / 2;
            const bool for_good = i % 2 == 1;
            if (!tries_everything() && for_good != (fail_at % 2 == 1)) continue;
            if (!tries_everything() && kSanitized && fail_at % 5 != 1) continue;
            std::string said;
            const int answer =
                in_child([&] { return fail_in<Shortage>(scene, step, fail_at, for_good, before, after); }, said);
            EXPECT_EQ(answer, kHeld) << step.name << ", request " << fail_at << (for_good ? " and later" : "") << ": "
                                     << said;
            ++num_tried;
        }
        EXPECT_GE(kSanitized ? 5 * num_tried : num_tried, num_requests) << step.name;
        const Status status = step.run(scene);
        EXPECT_TRUE(status.ok()) << step.name << ": " << status.message();
        EXPECT_EQ(differs(state_of(scene.world), after, Rule::kNothing), "") << step.name;
    }
    return num_in_all;
}

TEST(OutOfMemory, pages_that_run_out_anywhere_are_an_error_and_the_world_is_whole_and_the_next_try_succeeds) {
    if (kThreadSanitized) GTEST_SKIP() << "the sanitizer does not follow threads into a child";
    EXPECT_GT(run_out_everywhere<ShortPages>(), 50u);
}

TEST(OutOfMemory, memory_of_the_compressor_that_runs_out_anywhere_is_an_error_and_the_next_try_succeeds) {
    if (kThreadSanitized) GTEST_SKIP() << "the sanitizer does not follow threads into a child";
    EXPECT_GT(run_out_everywhere<ShortZstdMemory>(), 10u);
}

// --- bookkeeping -------------------------------------------------------------------------------------------------

/// A heap that fails at the N-th allocation.
struct FailingHeap {
    std::uint32_t fail_at;
    std::atomic<std::uint32_t> num_calls = 0;  // of several threads
    const char* asked_by = "";

    MemoryHooks hooks() {
        return {[](void* self, std::size_t num_bytes, const char* owner) -> void* {
                    auto& heap = *static_cast<FailingHeap*>(self);
                    if (num_bytes == 0 || ++heap.num_calls != heap.fail_at) return std::malloc(num_bytes);
                    heap.asked_by = owner;
                    return nullptr;
                },
                [](void*, void* memory, std::size_t, const char*) { std::free(memory); }, this};
    }
};

/// Returns how many allocations a step makes.
std::uint32_t count_allocations(Scene& scene, const Step& step) {
    FailingHeap heap{0};
    const MemoryHooks before = set_memory_hooks(heap.hooks());
    static_cast<void>(step.run(scene));
    set_memory_hooks(before);
    return heap.num_calls;
}

/// Returns which of the allocations of a step fail, each in a child: the first, the last, and some that chance chooses,
/// more of them where the step saves, loads, persists or reloads. `./dev soak kills` tries all of them.
std::vector<std::uint32_t> tried_allocations(const Step& step, std::uint32_t num_allocations, Random& random) {
    constexpr std::string_view kLong[] = {"reload", "save to memory", "load from memory", "persist"};
    const std::uint32_t num_tried = std::ranges::count(kLong, step.name) != 0 ? 26 : 8;
    std::vector<std::uint32_t> tried;
    const bool all = tries_everything();
    const std::uint32_t count = all ? num_allocations : std::min(num_allocations, num_tried);
    for (std::uint32_t i = 0; i < count; ++i)
        tried.push_back(all || i == 0 ? i + 1 : i == 1 ? num_allocations : 1 + random.below(num_allocations));
    return tried;
}

TEST(OutOfMemory, bookkeeping_memory_that_runs_out_anywhere_ends_the_program_with_the_name_of_the_owner) {
    if (kSanitized) GTEST_SKIP() << "a child that is aborted takes a sanitizer long";
    SCOPED_TRACE(seed_text());
    Random random(seed());
    Levels levels(kFewRows);
    Scene scene(levels), ahead(levels);
    for (const Step& step : kSteps) {
        const std::uint32_t num_allocations = count_allocations(ahead, step);
        for (const std::uint32_t fail_at : tried_allocations(step, num_allocations, random)) {
            std::string said;
            const int ended = in_child(
                [&] {
                    FailingHeap heap{fail_at};
                    set_memory_hooks(heap.hooks());
                    const Status status = step.run(scene);
                    std::fprintf(stderr, "it went on: %s", status ? "" : std::string(status.message()).c_str());
                    return 1;
                },
                said);
            EXPECT_EQ(ended, 128 + SIGABRT) << step.name << ", allocation " << fail_at << ": " << said;
            EXPECT_TRUE(said.starts_with("shoal: out of bookkeeping memory: ") &&
                        said.find(" asked for ") != std::string::npos && said.ends_with(" bytes\n"))
                << step.name << ", allocation " << fail_at << ": " << said;
        }
        ASSERT_TRUE(step.run(scene).ok()) << step.name;
    }
}

// --- address space -----------------------------------------------------------------------------------------------

/// Whether the last line is how the library ends a program, or the standard library for want of memory.
bool says_why_it_ended(const std::string& said) {
    const std::size_t end = said.find_last_not_of('\n');
    if (end == std::string::npos) return false;
    const std::string last = said.substr(said.rfind('\n', end) + 1);
    return last.find("shoal: out of bookkeeping memory: ") != std::string::npos ||
           last.find("cannot reserve ") != std::string::npos || last.find("std::bad_alloc") != std::string::npos ||
           last.find("there is no address space left for the events") != std::string::npos;
}

TEST(OutOfMemory, a_program_whose_address_space_is_used_up_gets_errors_or_ends_with_a_message) {
    if (kSanitized) GTEST_SKIP() << "a sanitizer needs address space of its own";
    SCOPED_TRACE(seed_text());
    constexpr std::uint32_t kEnough = 2000;  // megabytes
    Random random(seed());
    Levels levels(kManyRows);
    std::uint32_t num_ends = 0;
    const std::uint32_t farthest = tries_everything() ? 100 : 300;
    for (std::uint32_t megabytes = 0; megabytes < kEnough; megabytes += 1 + random.below(farthest)) {
        std::string said;
        const int ended = in_child(
            [&] {
                if (!limit_address_space(std::size_t(megabytes) << 20)) return 99;
                Scene scene(levels);
                for (const Step& step : kSteps) {
                    const Status status = step.run(scene);
                    if (!scene.sea.validate()) return 3;
                    if (!status)
                        return status.message().find("memory") == std::string::npos &&
                                       status.message().find("address space") == std::string::npos
                                   ? 4
                                   : 1;
                }
                return 0;
            },
            said);
        num_ends += ended == 128 + SIGABRT;
        EXPECT_TRUE(ended == 0 || ended == 1 || (ended == 128 + SIGABRT && says_why_it_ended(said)))
            << megabytes << " MiB: " << ended << ' ' << said;
    }
    EXPECT_GT(num_ends, 0u);
}

}  // namespace out_of_memory_test

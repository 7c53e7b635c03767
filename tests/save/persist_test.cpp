// Worlds that survive their process: what is recovered is the world of the last frame that is whole, bit for bit.

#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"

#include "shoal/base/detail/folder.h"
#include "shoal/base/file.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/reload/reloader.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/state/snapshot.h"

#include "save/state_log.h"
#include "support/kills.h"
#include "support/level.h"
#include "support/logged.h"
#include "support/small_files.h"
#include "support/testing.h"
#include "support/whole_world.h"
#include "support/zstd_memory.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Whether logs cannot be flushed, and how often they were; all logs are flushed through the function below instead of
/// that of the C library.
static bool has_bad_disk = false;
static std::atomic<int> num_flushes{0};
extern "C" int fdatasync(int file) {
    ++num_flushes;
    if (!has_bad_disk) return static_cast<int>(::syscall(SYS_fdatasync, file));
    errno = EIO;
    return -1;
}

namespace persist_test {

using namespace shoal;
using namespace shoal_test;
namespace fs = std::filesystem;

/// An empty folder, which goes in the end.
struct Folder {
    explicit Folder(const std::string& name)
        : path((fs::temp_directory_path() / ("shoal_persist_test_" + name + std::to_string(getpid()))).string()) {
        fs::remove_all(path);
    }
    ~Folder() { fs::remove_all(path); }
    std::vector<std::string> names(const std::string& ending) const {
        std::vector<std::string> result;
        const Result<std::vector<std::string>> all = list_folder(path);
        if (!all) return result;
        for (const std::string& name : *all)
            if (name.ends_with(ending)) result.push_back(name);
        return result;
    }
    std::string newest(const std::string& ending) const { return path + "/" + names(ending).back(); }
    std::string path;
};

/// What describe(world) shows of the persistence.
std::string described(const Sea& sea) { return static_cast<const WorldService&>(sea.persistence).describe(); }

Recovered recover(Sea& sea, const std::string& folder) {
    const Result<Recovered> recovered = sea.persistence.recover(folder);
    EXPECT_TRUE(recovered.ok()) << recovered.message();
    return recovered ? *recovered : Recovered();
}

/// The bytes of a world at the end of each frame.
std::vector<std::string> run_persisted(const std::string& folder, const PersistOptions& options, int num_frames) {
    Sea sea;
    const Status status = sea.persistence.start(folder, options);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<std::string> frames = {bytes_of(sea.world)};
    for (int i = 0; i < num_frames; ++i) sea.run(1), frames.push_back(bytes_of(sea.world));
    const Status stopped = sea.persistence.stop();
    EXPECT_TRUE(stopped.ok()) << stopped.message();
    return frames;
}

TEST(Persist, what_is_recovered_is_the_last_frame_and_goes_on_as_the_world_that_was_persisted) {
    const LeakCheck leaks;
    const Folder folder("goes_on");
    Sea sea;
    sea.run(3);
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    sea.run(20);
    ASSERT_TRUE(sea.persistence.stop().ok());
    Sea other(nullptr, 99);
    other.run(5);
    const Recovered recovered = recover(other, folder.path);
    EXPECT_TRUE(recovered.found);
    EXPECT_EQ(recovered.frame, sea.world.frame());
    EXPECT_EQ(recovered.damage, "");
    ASSERT_EQ(bytes_of(other.world), bytes_of(sea.world));
    ASSERT_TRUE(other.persistence.start(folder.path).ok());
    sea.run(10), other.run(10);
    ASSERT_EQ(bytes_of(other.world), bytes_of(sea.world));
    ASSERT_TRUE(other.persistence.stop().ok());
    Sea third;
    EXPECT_EQ(recover(third, folder.path).frame, sea.world.frame());
    EXPECT_EQ(bytes_of(third.world), bytes_of(sea.world));
}

TEST(Persist, blocks_that_are_full_are_recovered_with_what_transforms_write_without_a_stamp) {
    const Folder folder("full_blocks");
    Sea sea;
    sea.run(50);
    std::vector<Entity> more(kElementsPerSnapshotBlock);
    ASSERT_TRUE(sea.entities.create(more).ok() && sea.world.transforms().add(more).ok());
    sea.run(10);
    ASSERT_GT(sea.world.transforms().num_rows(), kElementsPerSnapshotBlock);
    ASSERT_TRUE(sea.persistence.start(folder.path, {.keeps_all_frames = true}).ok());
    sea.run(20);
    ASSERT_TRUE(sea.persistence.stop().ok());
    Sea other;
    EXPECT_EQ(recover(other, folder.path).num_records, 20u);
    // A state that shares nothing is the truth; that of the other world goes on from it.
    sea.run(5), other.run(5);
    EXPECT_TRUE(bytes_of(other.world) == bytes_of(sea.world));
}

TEST(Persist, what_a_program_changes_between_two_steps_is_there_after_a_flush_and_at_the_end) {
    const Folder folder("between");
    Sea sea;
    sea.run(3);
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    static_cast<void>(sea.world.random().next());
    ASSERT_TRUE(sea.persistence.flush().ok());
    ASSERT_TRUE(sea.persistence.flush().ok());
    EXPECT_EQ(sea.persistence.statistics().num_records, 1u) << "the second flush has nothing new";
    Sea other;
    EXPECT_EQ(recover(other, folder.path).frame, 3u);
    EXPECT_EQ(bytes_of(other.world), bytes_of(sea.world));
    ASSERT_TRUE(sea.world.entities().create().ok());
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(recover(other, folder.path).num_records, 2u);
    EXPECT_EQ(bytes_of(other.world), bytes_of(sea.world));
}

TEST(Persist, an_empty_folder_and_none_leave_the_world_as_it_is) {
    const Folder folder("empty");
    Sea sea;
    sea.run(2);
    const std::string before = bytes_of(sea.world);
    EXPECT_FALSE(recover(sea, folder.path).found);
    fs::create_directory(folder.path);
    EXPECT_FALSE(recover(sea, folder.path).found);
    EXPECT_EQ(bytes_of(sea.world), before);
    EXPECT_TRUE(sea.persistence.start(folder.path).ok());
}

TEST(Persist, every_frame_has_a_record_if_a_step_waits_for_the_writer) {
    const Folder folder("all");
    Sea sea;
    ASSERT_TRUE(sea.persistence.start(folder.path, {.keeps_all_frames = true}).ok());
    sea.run(40);
    ASSERT_TRUE(sea.persistence.flush().ok());
    const PersistStatistics statistics = sea.persistence.statistics();
    EXPECT_TRUE(statistics.is_running);
    EXPECT_EQ(statistics.num_records, 40u);
    EXPECT_EQ(statistics.num_merged, 0u);
    EXPECT_EQ(statistics.num_snapshots, 1u);
    EXPECT_EQ(statistics.last_frame, sea.world.frame());
    EXPECT_EQ(statistics.log_bytes, fs::file_size(folder.newest(".log")));
}

TEST(Persist, frames_that_have_no_record_were_merged_into_later_ones) {
    const Folder folder("merged");
    Sea sea;
    ASSERT_TRUE(sea.persistence.start(folder.path, {.every_frames = 3}).ok());
    sea.run(30);
    ASSERT_TRUE(sea.persistence.flush().ok());
    const PersistStatistics statistics = sea.persistence.statistics();
    EXPECT_EQ(statistics.num_records + statistics.num_merged, 10u);
    EXPECT_EQ(statistics.last_frame, 30u);
}

TEST(Persist, options_of_zero_mean_one_and_a_world_that_is_persisted_again_counts_anew) {
    const Folder folder("again");
    Sea sea;
    const PersistOptions options{.every_frames = 0, .max_log_records = 2, .num_snapshots = 0, .keeps_all_frames = true};
    ASSERT_TRUE(sea.persistence.start(folder.path, options).ok());
    sea.run(5);
    ASSERT_TRUE(sea.persistence.flush().ok());
    const PersistStatistics first = sea.persistence.statistics();
    EXPECT_EQ(first.num_records + first.num_snapshots, 1u + 5u) << "each frame";
    EXPECT_EQ(folder.names(".save").size(), 1u);
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_FALSE(sea.persistence.statistics().is_running);
    EXPECT_EQ(sea.persistence.statistics().last_frame, 5u);
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    const PersistStatistics second = sea.persistence.statistics();
    EXPECT_TRUE(second.is_running);
    EXPECT_EQ(second.num_records + second.num_merged, 0u);
    EXPECT_EQ(second.num_snapshots, 1u);
    EXPECT_EQ(second.last_frame, 5u);
    EXPECT_EQ(second.log_bytes, fs::file_size(folder.newest(".log")));
    ASSERT_TRUE(sea.persistence.stop().ok());
    PersistedSnapshot newest = list_persisted(folder.path).value().front();
    EXPECT_EQ(newest.log_bytes, second.log_bytes);
    ASSERT_TRUE(read_persisted(newest, {}).ok());
    EXPECT_EQ(newest.last_frame, 5u) << "its log has no record";
    ASSERT_TRUE(
        sea.persistence
            .start(folder.path, {.max_log_records = 1, .num_snapshots = 3, .keeps_all_frames = true, .replace = true})
            .ok());
    EXPECT_EQ(folder.names(".save").size(), 1u) << "older ones are replaced";
    sea.run(10);
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(folder.names(".save").size(), 3u) << "later ones stay";
}

TEST(Persist, a_long_log_ends_with_a_new_snapshot_and_old_files_go) {
    const Folder folder("compacted");
    const std::vector<std::string> frames =
        run_persisted(folder.path, {.max_log_records = 4, .num_snapshots = 3, .keeps_all_frames = true}, 32);
    EXPECT_EQ(folder.names(".save"),
              (std::vector<std::string>{"0000000005.save", "0000000006.save", "0000000007.save"}));
    EXPECT_EQ(folder.names(".log"), (std::vector<std::string>{"0000000005.log", "0000000006.log", "0000000007.log"}));
    Sea sea;
    const Recovered recovered = recover(sea, folder.path);
    EXPECT_EQ(recovered.frame, 32u);
    EXPECT_EQ(recovered.num_records, 2u);
    EXPECT_EQ(bytes_of(sea.world), frames[32]);
}

TEST(Persist, a_log_ends_when_it_has_as_many_bytes_as_it_may_have) {
    std::uint64_t log_bytes = ~std::uint64_t(0);
    for (const std::uint64_t num_snapshots : {1u, 2u}) {
        const Folder folder("full_log");
        Sea sea;
        ASSERT_TRUE(sea.persistence.start(folder.path, {.max_log_bytes = log_bytes, .keeps_all_frames = true}).ok());
        for (int i = 0; i < 3; ++i) {
            sea.run(1);
            ASSERT_TRUE(sea.persistence.flush().ok());
            if (i == 1) log_bytes = sea.persistence.statistics().log_bytes;
        }
        EXPECT_EQ(sea.persistence.statistics().num_snapshots, num_snapshots);
    }
}

TEST(Persist, a_truncated_or_corrupt_log_recovers_the_last_complete_frame_and_reports_it) {
    SCOPED_TRACE(seed_text());
    const Folder folder("damaged");
    const std::vector<std::string> frames = run_persisted(folder.path, {.keeps_all_frames = true}, 12);
    const std::string log = folder.newest(".log"), whole = *read_file(log);
    Random random(seed());
    Sea sea;
    for (int i = 0; i < 12; ++i) {
        std::string text = whole;
        const std::uint32_t at = 40 + random.below(std::uint32_t(whole.size() - 40));
        if (i % 2 == 0)
            text.resize(at + 1 == text.size() ? at : at + 1);
        else
            text[at] = static_cast<char>(text[at] ^ 4);
        ASSERT_TRUE(write_file(log, text).ok());
        const Recovered recovered = recover(sea, folder.path);
        ASSERT_LT(recovered.frame, 12u);
        ASSERT_NE(recovered.damage.find(log + ": record " + std::to_string(recovered.frame)), std::string::npos)
            << recovered.damage;
        ASSERT_EQ(bytes_of(sea.world), frames[recovered.frame]);
    }
}

TEST(Persist, each_snapshot_can_be_read_without_a_world_up_to_the_last_record_of_its_log) {
    const Folder folder("read");
    const std::vector<std::string> frames =
        run_persisted(folder.path, {.max_log_records = 4, .keeps_all_frames = true}, 12);
    Result<std::vector<PersistedSnapshot>> snapshots = list_persisted(folder.path);
    ASSERT_TRUE(snapshots.ok()) << snapshots.message();
    ASSERT_EQ(snapshots->size(), 2u);
    Sea sea;
    for (PersistedSnapshot& snapshot : *snapshots) {
        const Result<Snapshot> state = read_persisted(snapshot, {});
        ASSERT_TRUE(state.ok()) << state.message();
        ASSERT_TRUE(load(sea.world, *state, false).ok());
        EXPECT_EQ(bytes_of(sea.world), frames[snapshot.last_frame]);
        EXPECT_EQ(snapshot.last_frame, snapshot.frame + snapshot.num_records);
        EXPECT_EQ(snapshot.whole_log_bytes, fs::file_size(snapshot.log_path));
        EXPECT_EQ(concat(snapshot.damage, snapshot.log_damage), "");
    }
    PersistedSnapshot& newest = snapshots->front();
    EXPECT_EQ(newest.last_frame, 12u);
    EXPECT_EQ(snapshots->back().last_frame, 9u);
    for (const std::string& path : {newest.path, newest.log_path}) {
        const std::string whole = *read_file(path);
        ASSERT_TRUE(write_file(path, whole.substr(0, whole.size() - 1)).ok());
        ASSERT_TRUE(read_persisted(newest, {}).ok());
        EXPECT_NE(path == newest.path ? newest.damage : newest.log_damage, "");
        EXPECT_EQ(newest.last_frame, path == newest.path ? 0u : 11u);
        ASSERT_TRUE(write_file(path, whole).ok());
        ASSERT_TRUE(read_persisted(newest, {}).ok());
        EXPECT_EQ(concat(newest.damage, newest.log_damage), "") << "it is read anew";
        EXPECT_EQ(newest.last_frame, 12u);
    }
    fs::remove(newest.log_path);
    ASSERT_TRUE(read_persisted(newest, {}).ok());
    EXPECT_EQ(newest.log_path, "");
    EXPECT_EQ(newest.last_frame, 10u) << "the program ended before it began the log";
    EXPECT_EQ(newest.num_records, 0u);
    EXPECT_FALSE(list_persisted(folder.path + "/none").ok());
}

TEST(Persist, a_snapshot_that_is_damaged_gives_the_last_frame_before_it_and_if_all_are_the_world_stays) {
    const Folder folder("snapshot");
    const std::vector<std::string> frames =
        run_persisted(folder.path, {.max_log_records = 4, .keeps_all_frames = true}, 12);
    const std::string newest = folder.newest(".save");
    std::string text = *read_file(newest);
    text[text.size() / 2] ^= 1;
    ASSERT_TRUE(write_file(newest, text).ok());
    Sea sea;
    const Recovered recovered = recover(sea, folder.path);
    EXPECT_EQ(recovered.frame, 9u);  // snapshots are frames 0, 5 and 10
    EXPECT_NE(recovered.damage.find(newest + ": the file is not a complete save: its checksum is wrong"),
              std::string::npos)
        << recovered.damage;
    EXPECT_EQ(bytes_of(sea.world), frames[9]);

    ASSERT_TRUE(write_file(folder.path + "/" + folder.names(".save").front(), "nonsense").ok());
    sea.run(1);
    const std::string before = bytes_of(sea.world);
    const Result<Recovered> none = sea.persistence.recover(folder.path);
    ASSERT_FALSE(none.ok());
    EXPECT_TRUE(none.message().starts_with("no snapshot in \"" + folder.path + "\" can be read: ")) << none.message();
    EXPECT_EQ(bytes_of(sea.world), before);
}

TEST(Persist, a_frame_that_is_larger_than_it_may_be_is_an_error_and_no_older_one_takes_its_place) {
    const Folder folder("large");
    run_persisted(folder.path, {.max_log_records = 4, .keeps_all_frames = true}, 12);
    Sea sea;
    sea.run(1);
    const std::string before = bytes_of(sea.world);
    EXPECT_FALSE(sea.persistence.recover(folder.path, {.max_bytes = 1000}).ok());
    EXPECT_EQ(bytes_of(sea.world), before);
    std::uint64_t refused = 1000, taken = std::uint64_t(1) << 30;
    while (taken - refused > 1) {
        const std::uint64_t max_bytes = refused + (taken - refused) / 2;
        const Result<Recovered> recovered = sea.persistence.recover(folder.path, {.max_bytes = max_bytes});
        (recovered.ok() ? taken : refused) = max_bytes;
        if (recovered.ok()) {
            ASSERT_EQ(recovered->frame, 12u);
            ASSERT_EQ(recovered->damage, "");
        } else {
            ASSERT_NE(recovered.message().find("set LoadOptions::max_bytes"), std::string_view::npos)
                << recovered.message();
        }
    }
    EXPECT_GT(refused, 1000u);
}

TEST(Persist, a_folder_takes_one_world_at_a_time_and_only_the_one_that_it_has) {
    const Folder folder("taken");
    Sea first, second;
    ASSERT_TRUE(first.persistence.start(folder.path).ok());
    EXPECT_EQ(second.persistence.start(folder.path).message(),
              "cannot lock \"" + folder.path + "/lock\": another world or program has locked it");
    EXPECT_EQ(first.persistence.start(folder.path).message(),
              "the world is persisted to \"" + folder.path + "\" already; call Persistence::stop() first");
    EXPECT_FALSE(first.persistence.recover(folder.path).ok());
    first.run(2);
    ASSERT_TRUE(first.persistence.stop().ok());
    const std::string error =
        "the folder \"" + folder.path +
        "\" has a world that this one does not go on from; call Persistence::recover() first, set "
        "PersistOptions::replace, or take another folder";
    EXPECT_EQ(second.persistence.start(folder.path).message(), error);
    ASSERT_TRUE(first.persistence.start(folder.path).ok());  // its own
    ASSERT_TRUE(first.persistence.stop().ok());
    ASSERT_TRUE(second.persistence.start(folder.path, {.replace = true}).ok());
    EXPECT_EQ(folder.names(".save"), std::vector<std::string>{"0000000003.save"});
    ASSERT_TRUE(second.persistence.stop().ok());
    EXPECT_EQ(first.persistence.start(folder.path).message(), error);
}

TEST(Persist, a_folder_that_cannot_be_made_is_an_error) {
    const Folder folder("file");
    ASSERT_TRUE(write_file(folder.path, "text").ok());
    Sea sea;
    EXPECT_EQ(sea.persistence.start(folder.path).message(),
              "cannot make the folder \"" + folder.path + "\": cannot create: File exists");
    EXPECT_EQ(sea.persistence.start(folder.path + "/in").message(),
              "cannot make the folder \"" + folder.path + "/in\": cannot create: Not a directory");
    sea.run(1);
    EXPECT_FALSE(sea.persistence.statistics().is_running);
}

TEST(Persist, a_full_disk_is_logged_once_and_what_was_written_can_be_recovered) {
    const Folder folder("full");
    const Logged logged;
    Sea sea;
    ASSERT_TRUE(sea.persistence.start(folder.path, {.keeps_all_frames = true}).ok());
    sea.run(5);
    ASSERT_TRUE(sea.persistence.flush().ok());
    const std::string written = bytes_of(sea.world);
    {
        const SmallFiles limit(fs::file_size(folder.newest(".log")) + 100);
        sea.run(10);
    }
    EXPECT_EQ(sea.world.frame(), 15u);
    EXPECT_FALSE(sea.persistence.statistics().is_running);
    const std::string error = "cannot append to \"" + folder.newest(".log") + "\": cannot write: File too large";
    EXPECT_EQ(logged.lines, std::vector<std::string>{"the world is no longer persisted: " + error});
    EXPECT_EQ(sea.persistence.stop().message(), error);
    Sea other;
    EXPECT_EQ(recover(other, folder.path).frame, 5u);
    EXPECT_EQ(bytes_of(other.world), written);
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());  // there is room again
    sea.run(1);
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(recover(other, folder.path).frame, 16u);
}

TEST(Persist, a_value_that_could_not_be_recovered_is_named_and_what_was_written_can_be) {
    const Folder folder("bad_value");
    const Logged logged;
    Sea sea;
    std::vector<Entity> all;
    for (int i = 0; i < 3000; ++i) {
        all.push_back(*sea.entities.create());
        ASSERT_TRUE(sea.sea.insert(all.back(), Zone(7), Plankton{}).ok());
    }
    ASSERT_TRUE(sea.persistence.start(folder.path, {.keeps_all_frames = true}).ok());
    sea.run(3);
    ASSERT_TRUE(sea.persistence.flush().ok());
    const std::string written = bytes_of(sea.world);
    sea.sea.set<&Plankton::kind>(sea.sea.find(all[2000]), Kind(9));
    sea.run(2);
    ASSERT_EQ(logged.lines.size(), 1u);
    EXPECT_EQ(logged.lines[0],
              concat("the world is no longer persisted: ", folder.path,
                     ": it cannot be saved: the field \"plankton.kind\" of ", entity_text(all[2000]),
                     " in \"plankton\" holds a number that its enum does not name, which no program "
                     "would load; set it to a value of its type before, or settle the world if the entity is dead"));
    EXPECT_FALSE(sea.persistence.stop().ok());
    EXPECT_FALSE(sea.persistence.start(folder.path).ok());
    Sea other;
    EXPECT_EQ(recover(other, folder.path).frame, 3u);
    EXPECT_EQ(bytes_of(other.world), written);
    sea.sea.set<&Plankton::kind>(sea.sea.find(all[2000]), Kind::kAnimal);
    const Status again = sea.persistence.start(folder.path);
    ASSERT_TRUE(again.ok()) << again.message();
    sea.run(1);
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(recover(other, folder.path).frame, 6u);
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    sea.sea.set<&Plankton::kind>(sea.sea.find(all[2000]), Kind(9));
    EXPECT_NE(sea.persistence.stop().message().find("\"plankton.kind\""), std::string_view::npos)
        << "a state that is taken last is one of those that are told of";
}

TEST(Persist, a_disk_that_is_full_for_a_new_snapshot_keeps_the_one_before_and_its_log) {
    const Folder folder("full_snapshot");
    const Logged logged;
    Sea sea;
    ASSERT_TRUE(sea.persistence.start(folder.path, {.max_log_records = 3, .keeps_all_frames = true}).ok());
    sea.run(3);
    ASSERT_TRUE(sea.persistence.flush().ok());
    const std::string written = bytes_of(sea.world);
    {
        const SmallFiles limit(1000);
        sea.run(3);
    }
    EXPECT_FALSE(sea.persistence.stop().ok());
    EXPECT_EQ(sea.persistence.statistics().last_frame, 3u) << "what could not be written does not count";
    EXPECT_EQ(folder.names(".save"), std::vector<std::string>{"0000000001.save"});
    Sea other;
    EXPECT_EQ(recover(other, folder.path).frame, 3u);
    EXPECT_EQ(bytes_of(other.world), written);
}

TEST(Persist, a_world_that_goes_back_or_is_loaded_is_recovered_as_it_is_then) {
    const Folder folder("back");
    Sea sea;
    Frames frames(sea.world, 8);
    ASSERT_TRUE(sea.persistence.start(folder.path, {.keeps_all_frames = true}).ok());
    sea.run(10);
    ASSERT_TRUE(frames.rewind(6).ok());
    sea.world.random() = Random(12345);  // another course than before
    sea.run(2);
    ASSERT_TRUE(sea.persistence.flush().ok());
    Sea other;
    EXPECT_EQ(recover(other, folder.path).frame, 8u);
    EXPECT_EQ(bytes_of(other.world), bytes_of(sea.world));
    Snapshot state;
    ASSERT_TRUE(save(Sea().world, state).ok());
    ASSERT_TRUE(load(sea.world, state).ok());
    sea.run(1);
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(recover(other, folder.path).frame, 1u);
    EXPECT_EQ(bytes_of(other.world), bytes_of(sea.world));
}

/// Changes a byte in the middle of a file.
void damage(const std::string& path) {
    std::string text = *read_file(path);
    text[text.size() / 2] ^= 1;
    ASSERT_TRUE(write_file(path, text).ok());
}

TEST(Persist, a_world_that_was_recovered_before_another_went_on_in_the_folder_is_refused) {
    const Folder folder("gone_on");
    Sea first, second;
    ASSERT_TRUE(first.persistence.start(folder.path).ok());
    first.run(5);
    ASSERT_TRUE(first.persistence.flush().ok());
    EXPECT_EQ(recover(second, folder.path).frame, 5u);
    first.run(10);
    ASSERT_TRUE(first.persistence.stop().ok());
    EXPECT_NE(std::string(second.persistence.start(folder.path).message()).find("does not go on from"),
              std::string::npos);
    EXPECT_EQ(recover(second, folder.path).frame, 15u);
    EXPECT_TRUE(second.persistence.start(folder.path).ok());
}

TEST(Persist, a_damaged_snapshot_is_not_counted_among_those_that_stay) {
    const Folder folder("spare");
    run_persisted(folder.path, {.max_log_records = 4, .keeps_all_frames = true}, 12);
    damage(folder.newest(".save"));
    Sea sea;
    EXPECT_EQ(recover(sea, folder.path).frame, 9u);
    const Folder other("spare_other");
    has_bad_disk = true;
    EXPECT_FALSE(sea.persistence.start(other.path).ok());
    has_bad_disk = false;
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(folder.names(".save").size(), 3u) << "the new one, the damaged one, and the one that was read";
    damage(folder.newest(".save"));
    EXPECT_EQ(recover(sea, folder.path).frame, 9u);
    ASSERT_TRUE(sea.persistence.start(other.path, {.max_log_records = 1, .keeps_all_frames = true}).ok());
    while (sea.persistence.statistics().num_snapshots < 4) {
        sea.run(1);
        ASSERT_TRUE(sea.persistence.flush().ok());
    }
    EXPECT_EQ(other.names(".save").size(), 2u) << "what is damaged in one folder does not matter in another";
}

TEST(Persist, a_world_that_could_not_take_what_a_folder_has_does_not_go_on_from_it) {
    const Folder folder("not_taken");
    run_persisted(folder.path, {}, 3);
    EntityManager entities;
    World world(entities);
    ASSERT_TRUE(world.manager(*Schema::make({.name = std::string(schema_of<Fin>().name())})).ok());
    Persistence persistence(world);
    EXPECT_FALSE(persistence.recover(folder.path).ok());
    EXPECT_NE(std::string(persistence.start(folder.path).message()).find("does not go on from"), std::string::npos);
    Sea sea;
    EXPECT_EQ(recover(sea, folder.path).frame, 3u);
}

TEST(Persist, a_snapshot_or_log_that_cannot_be_read_now_is_an_error_and_not_damage) {
    const Folder folder("unreadable");
    run_persisted(folder.path, {.max_log_records = 4, .keeps_all_frames = true}, 12);
    Sea sea;
    const std::string before = bytes_of(sea.world);
    for (const char* ending : {".log", ".save"}) {
        const std::string path = folder.newest(ending);
        fs::rename(path, path + ".away");
        fs::create_directory(path);  // reading it fails, whoever the user is
        const Result<Recovered> recovered = sea.persistence.recover(folder.path);
        ASSERT_FALSE(recovered.ok());
        EXPECT_TRUE(recovered.message().starts_with("cannot read \"" + path)) << recovered.message();
        EXPECT_EQ(bytes_of(sea.world), before);
        EXPECT_FALSE(sea.persistence.start(folder.path).ok()) << "whose world it has is not known";
        if (path.ends_with(".save")) {  // nor is it if nothing but the number is left
            const std::string log = folder.newest(".log");
            fs::rename(log, log + ".away");
            EXPECT_FALSE(sea.persistence.start(folder.path).ok());
            fs::rename(log + ".away", log);
        }
        fs::remove(path);
        fs::rename(path + ".away", path);
    }
    EXPECT_EQ(recover(sea, folder.path).frame, 12u);
}

/// The bytes of all files of a folder, by their names.
std::map<std::string, std::string> files_of(const Folder& folder) {
    std::map<std::string, std::string> files;
    for (const std::string& name : folder.names("")) files[name] = *read_file(folder.path + "/" + name);
    return files;
}

/// Returns why the 12 frames in a folder cannot be recovered, in which case nothing has changed; or nothing. `fail_at`: of the pieces
/// of memory that Zstandard asks for; 0: none.
std::string why_not_recovered(const Folder& folder, std::uint32_t fail_at = 0) {
    Sea sea;
    const std::string before = bytes_of(sea.world);
    const std::map<std::string, std::string> files = files_of(folder);
    const Result<Recovered> recovered = [&] {
        const ShortZstdMemory memory(fail_at);
        return sea.persistence.recover(folder.path);
    }();
    EXPECT_EQ(recovered ? recovered->frame : 12u, 12u) << "an older frame took its place";
    if (recovered) return {};
    EXPECT_FALSE(sea.persistence.start(folder.path).ok()) << "it would go on from an older frame";
    EXPECT_EQ(bytes_of(sea.world), before);
    EXPECT_EQ(files_of(folder), files);
    return std::string(recovered.message());
}

TEST(Persist, a_snapshot_or_log_of_another_program_is_an_error_and_no_older_frame_takes_its_place) {
    const Folder folder("foreign");
    run_persisted(folder.path, {.max_log_records = 4, .keeps_all_frames = true}, 12);
    constexpr std::size_t kVersionAt = 8, kByteOrderAt = 12, kIdBytesAt = 16;
    const auto check = [&](const std::string& path, const std::string& expected, const auto& change) {
        const std::string whole = *read_file(path);
        std::string text = whole;
        change(text);
        ASSERT_TRUE(write_file(path, text).ok());
        const std::string why = why_not_recovered(folder);
        EXPECT_TRUE(why.starts_with(path + ": the " + expected)) << why;
        ASSERT_TRUE(write_file(path, whole).ok());
    };
    const auto other_version = [](std::string& text) { text[kVersionAt] = 9; };
    const auto other_byte_order = [](std::string& text) {
        std::reverse(text.begin() + kByteOrderAt, text.begin() + kByteOrderAt + 4);
    };
    const std::string save = folder.newest(".save"), log = folder.newest(".log");
    check(save,
          "save has version 9 of the format, and this program reads version 1; load it with the program that made it",
          other_version);
    check(log, "log has version 9 of the format, and this program reads 2; read it with the program that made it",
          other_version);
    check(save, "save has the byte order big-endian, and this program has little-endian", other_byte_order);
    check(log, "log has the byte order big-endian, and this program has little-endian", other_byte_order);
    check(log, "log has ids of 3 bytes", [](std::string& text) {
        text[kIdBytesAt] = 3;
        StateLogHeader header;
        std::memcpy(&header, text.data(), sizeof header);
        header.checksum = checksum_of(header);
        std::memcpy(text.data(), &header, sizeof header);
    });
    EXPECT_EQ(why_not_recovered(folder), "");
}

TEST(Persist, memory_that_runs_out_while_a_frame_is_decompressed_is_an_error_and_no_older_frame_takes_its_place) {
    const Folder folder("no_memory");
    run_persisted(folder.path, {.max_log_records = 4, .keeps_all_frames = true}, 12);
    const std::string save = folder.newest(".save"), log = folder.newest(".log");
    std::map<std::string, int> num_failures;  // by file
    std::uint32_t fail_at = 1;
    for (std::string why; !(why = why_not_recovered(folder, fail_at)).empty(); ++fail_at) {
        ++num_failures[why.substr(0, why.find(": "))];
        EXPECT_NE(why.find("there is no memory to decompress"), std::string::npos) << why;
    }
    EXPECT_GT(num_failures[save], 0);
    EXPECT_GT(num_failures[log], 0);
    EXPECT_EQ(num_failures.size(), 2u);
}

TEST(Persist, a_failure_that_nobody_was_told_of_is_logged_when_the_world_ends) {
    const Folder folder("told_at_the_end");
    const Logged logged;
    {
        Sea sea;
        ASSERT_TRUE(sea.persistence.start(folder.path, {.keeps_all_frames = true}).ok());
        const SmallFiles limit(fs::file_size(folder.newest(".log")));
        sea.run(1);
        while (sea.persistence.statistics().is_running) std::this_thread::yield();
    }
    ASSERT_EQ(logged.lines.size(), 1u);
    EXPECT_NE(logged.lines[0].find("File too large"), std::string::npos) << logged.lines[0];
    {
        Sea sea;
        ASSERT_TRUE(sea.persistence.start(folder.path, {.replace = true}).ok());
        const SmallFiles limit(fs::file_size(folder.newest(".log")));
        sea.world.random().next();
        EXPECT_FALSE(sea.persistence.flush().ok());
    }
    EXPECT_EQ(logged.lines.size(), 1u) << "of this one, flush() has told";
}

TEST(Persist, flush_and_stop_write_the_newest_frame_also_between_two_records) {
    const Folder folder("newest");
    Sea sea, other;
    EXPECT_TRUE(sea.persistence.flush().ok() && sea.persistence.stop().ok()) << "nothing is written";
    EXPECT_EQ(described(sea), "nothing is written");
    ASSERT_TRUE(sea.persistence.start(folder.path, {.every_frames = 10}).ok());
    sea.run(7);
    ASSERT_TRUE(sea.persistence.flush().ok());
    EXPECT_EQ(recover(other, folder.path).frame, 7u);
    sea.run(6);
    EXPECT_EQ(described(sea),
              "to \"" + folder.path + "\", up to frame " + std::to_string(sea.persistence.statistics().last_frame));
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(described(sea), "nothing is written");
    const PersistStatistics statistics = sea.persistence.statistics();
    EXPECT_EQ(statistics.num_records + statistics.num_merged, 2u) << "ten frames are counted from the flush on";
    EXPECT_EQ(recover(other, folder.path).frame, 13u);
    EXPECT_EQ(bytes_of(other.world), bytes_of(sea.world));
}

TEST(Persist, a_log_is_flushed_whenever_as_many_records_have_come_as_asked_for) {
    const Folder folder("flushed");
    Sea sea;
    ASSERT_TRUE(sea.persistence.start(folder.path, {.flush_every_records = 2, .keeps_all_frames = true}).ok());
    const int before = num_flushes;
    sea.run(7);
    ASSERT_TRUE(sea.persistence.flush().ok());
    EXPECT_EQ(num_flushes - before, 3 + 1) << "after 2, 4 and 6 records, and for flush()";
}

TEST(Persist, a_world_that_is_persisted_again_counts_the_frames_until_its_first_record_anew) {
    const Folder folder("first_record");
    Sea sea;
    ASSERT_TRUE(sea.persistence.start(folder.path, {.every_frames = 10}).ok());
    sea.run(1);
    ASSERT_TRUE(sea.persistence.stop().ok());
    ASSERT_TRUE(sea.persistence.start(folder.path, {.every_frames = 3, .keeps_all_frames = true}).ok());
    sea.run(5);
    ASSERT_TRUE(sea.persistence.flush().ok());
    EXPECT_EQ(sea.persistence.statistics().num_records, 2u) << "of the third frame, and of the fifth for flush()";
}

TEST(Persist, what_was_loaded_last_is_what_a_world_that_stops_has_written) {
    const Folder folder("loaded_last");
    Sea sea, other;
    Snapshot state;
    ASSERT_TRUE(save(sea.world, state).ok());
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    sea.run(6);
    ASSERT_TRUE(load(sea.world, state).ok());
    ASSERT_TRUE(sea.persistence.stop().ok());
    EXPECT_EQ(recover(other, folder.path).frame, 0u);
    EXPECT_EQ(bytes_of(other.world), bytes_of(sea.world));
}

TEST(Persist, worlds_that_share_their_entities_are_neither_persisted_nor_kept) {
    const Folder folder("shared");
    EntityManager entities;
    World world(entities), second(entities);
    Persistence persistence(world);
    EXPECT_NE(std::string(persistence.start(folder.path).message()).find("2 worlds share the entities"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(folder.path));
    Frames frames(world, 4);
    world.step(0.1f);
    EXPECT_EQ(frames.statistics().num_frames, 0u);
    EXPECT_NE(std::string(frames.rewind(0).message()).find("2 worlds share the entities"), std::string::npos);
}

TEST(Persist, a_folder_is_the_same_one_however_it_is_spelled) {
    const Folder folder("spelled");
    run_persisted(folder.path, {}, 3);
    Sea sea;
    EXPECT_TRUE(recover(sea, folder.path).found);
    EXPECT_TRUE(sea.persistence.start(folder.path + "/./").ok());
}

TEST(Persist, after_the_last_number_a_folder_takes_no_snapshot) {
    const Folder folder("last_number");
    run_persisted(folder.path, {}, 3);
    for (const char* ending : {".save", ".log"})
        fs::rename(folder.newest(ending), folder.path + "/9999999999" + ending);
    Sea sea;
    EXPECT_EQ(recover(sea, folder.path).frame, 3u);
    EXPECT_NE(std::string(sea.persistence.start(folder.path).message()).find("no number"), std::string::npos);
    EXPECT_TRUE(FileLock::take(folder.path + "/lock").ok());
    EXPECT_EQ(recover(sea, folder.path).frame, 3u);
}

TEST(Persist, a_start_that_fails_leaves_no_snapshot_and_can_be_repeated) {
    const Folder folder("failed_start"), other("failed_start_other");
    Sea sea;
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    sea.run(1);
    ASSERT_TRUE(sea.persistence.stop().ok());
    fs::create_directory(other.path);
    has_bad_disk = true;  // the log fails, when its snapshot is there already
    const Status status = sea.persistence.start(other.path);
    has_bad_disk = false;
    EXPECT_TRUE(status.message().starts_with("cannot flush \"" + other.path)) << status.message();
    EXPECT_EQ(other.names(".save"), std::vector<std::string>());
    ASSERT_TRUE(sea.persistence.start(folder.path).ok()) << "it is still known";
    ASSERT_TRUE(sea.persistence.stop().ok());
    Sea second;
    ASSERT_TRUE(second.persistence.start(other.path).ok()) << "nobody has locked it";
    ASSERT_TRUE(second.persistence.stop().ok());
    EXPECT_EQ(recover(sea, other.path).frame, second.world.frame());
    ASSERT_TRUE(sea.persistence.start(other.path).ok());
}

struct Shell {
    std::uint32_t rings = 0;
    StringId name;
};
SHOAL_COMPONENT(Shell, rings, name)

TEST(Persist, component_types_and_texts_that_come_later_are_recovered) {
    const Folder folder("later");
    EntityManager entities;
    World world(entities);
    Persistence persistence(world);
    ASSERT_TRUE(persistence.start(folder.path, {.keeps_all_frames = true}).ok());
    world.step(0.1f);
    const Entity entity = *entities.create();
    ASSERT_TRUE(world.manager<Shell>().add(entity, Shell{7, *world.strings().intern("conch")}).ok());
    world.step(0.1f);
    world.manager<Shell>().set<&Shell::name>(world.manager<Shell>().instance(entity), *world.strings().intern("whelk"));
    world.step(0.1f);
    ASSERT_TRUE(persistence.stop().ok());
    EntityManager other_entities;
    World other(other_entities);
    const Result<Recovered> recovered = Persistence(other).recover(folder.path);
    ASSERT_TRUE(recovered.ok()) << recovered.message();
    EXPECT_EQ(recovered->num_records, 3u);
    EXPECT_EQ(state_hash(other), state_hash(world));
    EXPECT_EQ(other.strings().text(StringId("whelk")), "whelk");
}

TEST(Persist, temporary_files_of_a_killed_program_go_when_the_next_one_starts) {
    const Folder folder("temporary");
    fs::create_directory(folder.path);
    for (const char* name : {"/0000000001.save.Ab3dEf", "/0000000001.savings", "/notes.txt"})
        ASSERT_TRUE(write_file(folder.path + name, "x").ok());
    Sea sea;
    EXPECT_FALSE(recover(sea, folder.path).found);
    ASSERT_TRUE(sea.persistence.start(folder.path).ok());
    EXPECT_EQ(*list_folder(folder.path), (std::vector<std::string>{"0000000001.log", "0000000001.save",
                                                                   "0000000001.savings", "lock", "notes.txt"}));
}

// --- what the guide shows ----------------------------------------------------------------------------------------

Status play(World& world, const std::string& folder, void (*build)(World&), const std::function<bool()>& runs) {
    // [persist]
    Persistence persistence(world);
    const Result<Recovered> recovered = persistence.recover(folder);
    if (!recovered) return recovered.status();
    if (!recovered->found) build(world);  // the first start
    if (!recovered->damage.empty()) log(LogLevel::kWarning, recovered->damage);
    if (Status status = persistence.start(folder); !status) return status;
    while (runs()) world.step(1.0f / 60);
    return persistence.stop();  // what waits is written; why it had ended, if it had
    // [persist]
}

TEST(Persist, what_the_guide_shows_goes_on_where_it_ended) {
    const Folder folder("guide");
    for (std::uint64_t run = 1; run <= 3; ++run) {
        EntityManager entities;
        World world(entities);
        world.manager<Shell>();
        const auto build = [](World& empty) {
            const Entity shell = *empty.entities().create();
            ASSERT_TRUE(empty.manager<Shell>().add(shell, Shell{9, {}}).ok());
        };
        int left = 5;
        const Status status = play(world, folder.path, build, [&] { return left-- > 0; });
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(world.frame(), run * 5);
        EXPECT_EQ(world.manager<Shell>().num_rows(), 1u);
    }
}

// --- kills -------------------------------------------------------------------------------------------------------

/// What a program is doing when it is killed.
enum class Doing : char { kNothing = '-', kRunning = 'r', kSaving = 's', kWriting = 'w', kReloading = 'l' };
constexpr Doing kAllDoing[] = {Doing::kNothing, Doing::kRunning, Doing::kSaving, Doing::kWriting, Doing::kReloading};

/// A sea with a level of which there are two versions: every third frame, it is reloaded with the other one.
struct ChangingSea {
    static constexpr std::uint64_t kFramesPerVersion = 3;

    explicit ChangingSea(const Blob (&all)[2]) : versions(all) {}
    void begin() { EXPECT_TRUE(sea.world.spawn(versions[0]).ok()); }
    const Blob* next_version() const {
        const std::uint64_t frame = sea.world.frame();
        return frame == 0 || frame % kFramesPerVersion != 0 ? nullptr : &versions[frame / kFramesPerVersion % 2];
    }
    /// `loaded`: the next version, from a file; nullptr: as it is here.
    Status run_frame(const Blob* loaded = nullptr) {
        const Blob* const next = next_version();
        const Blob& before = next == &versions[0] ? versions[1] : versions[0];
        if (next != nullptr)
            if (Status status = sea.reloader->reload(before, loaded != nullptr ? *loaded : *next).status(); !status)
                return status;
        sea.run(1);
        return {};
    }

    const Blob (&versions)[2];
    Sea sea{nullptr, 1, true};
};

/// Where a program that is killed keeps what it has.
struct Paths {
    std::string folder, save, level;
};

/// Recovers, then runs, persists with many snapshots, saves, and reloads the level from a file that it replaces, until it is
/// killed. Writes what it is doing.
[[noreturn]] void live(const Paths& places, const Blob (&versions)[2], int doing) {
    ::alarm(60);
    const auto says = [&](Doing what) {
        if (::write(doing, &what, 1) != 1) ::_exit(9);
    };
    ChangingSea changing(versions);
    World& world = changing.sea.world;
    Persistence& persistence = changing.sea.persistence;
    const Result<Recovered> recovered = persistence.recover(places.folder);
    if (!recovered) ::_exit(2);
    if (!recovered->found) changing.begin();
    if (!recovered->found && !changing.run_frame()) ::_exit(8);  // loading makes relations, of which there are none yet
    if (!persistence.start(places.folder, {.flush_every_records = 4, .max_log_records = 6})) ::_exit(3);
    for (bool is_first = true;; is_first = false) {
        std::optional<Blob> level;
        if (const Blob* const version = changing.next_version()) {
            says(Doing::kWriting);
            if (!write_file(places.level, version->bytes())) ::_exit(6);
            const Result<std::string> bytes = read_file(places.level);
            if (bytes) level = *Blob::load(std::as_bytes(std::span(*bytes)));
            if (!level) ::_exit(7);
            says(Doing::kReloading);
        }
        if (!changing.run_frame(level ? &*level : nullptr)) ::_exit(8);
        if (is_first && !persistence.flush()) ::_exit(5);
        says(Doing::kRunning);
        if (world.frame() % 5 != 0) continue;
        says(Doing::kSaving);
        if (!save(world, places.save)) ::_exit(4);
    }
}

/// The hashes of the same world in every frame, when nobody kills it.
struct Undisturbed {
    explicit Undisturbed(const Blob (&versions)[2]) : changing(versions) { changing.begin(); }
    std::uint64_t hash_at(std::uint64_t frame) {
        while (hashes.size() <= frame) {
            const Status status = hashes.empty() ? Status() : changing.run_frame();
            EXPECT_TRUE(status.ok()) << status.message();
            hashes.push_back(hash_of(changing.sea.world));
        }
        return hashes[static_cast<std::size_t>(frame)];
    }
    static std::uint64_t hash_of(const World& world) {
        const std::string bytes = bytes_of(world);
        return hash_bytes(bytes.data(), bytes.size());
    }
    ChangingSea changing;
    std::vector<std::uint64_t> hashes;
};

/// Lets it live until it does something, and for a while longer, and kills it. Returns how it ended: 0 by the kill, and what it
/// was doing then.
int live_and_be_killed(const Paths& places, const Blob (&versions)[2], Doing until, std::uint32_t after_us,
                       Doing& doing) {
    int ends[2];
    if (::pipe(ends) != 0) return -1;
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        live(places, versions, ends[1]);
    }
    ::close(ends[1]);
    doing = Doing::kNothing;
    while (doing != until && ::read(ends[0], &doing, 1) == 1) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(after_us));
    ::kill(child, SIGKILL);
    while (::read(ends[0], &doing, 1) == 1) {
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/// Whether a file is one of the versions, or not there yet.
bool is_whole_level(const std::string& path, const Blob (&versions)[2]) {
    if (!fs::exists(path)) return true;
    const std::string text = *read_file(path);
    const auto is_equal = [&](const Blob& blob) {
        return std::ranges::equal(std::as_bytes(std::span(text)), blob.bytes());
    };
    return is_equal(versions[0]) || is_equal(versions[1]);
}

TEST(Persist, a_program_that_is_killed_at_any_moment_leaves_a_whole_frame_save_and_level) {
    if (kThreadSanitized) GTEST_SKIP() << "the sanitizer does not follow threads into a child";
    SCOPED_TRACE(seed_text());
    const Folder outer("killed");
    fs::create_directory(outer.path);
    const Paths places{outer.path + "/world", outer.path + "/world.save", outer.path + "/level.blob"};
    const Blob versions[2] = {make_level(200, 1), make_level(200, 2)};
    Random random(seed());
    Undisturbed undisturbed(versions);
    std::uint64_t last = 0, last_saved = 0, num_advances = 0;
    std::map<Doing, int> num_killed;
    for (int round = 0, end = num_kills(kSanitized ? 25 : 50); round < end; ++round) {
        Doing doing{};
        const Doing until = kAllDoing[std::size_t(round) % std::size(kAllDoing)];
        const std::uint32_t most_us = until == Doing::kNothing || until == Doing::kRunning ? 40'000 : 1000;
        ASSERT_EQ(live_and_be_killed(places, versions, until, random.below(most_us), doing), 0) << "round " << round;
        ++num_killed[doing];
        ChangingSea changing(versions);
        Sea& sea = changing.sea;
        const Recovered recovered = recover(sea, places.folder);
        ASSERT_GE(recovered.frame, last) << "round " << round;
        ASSERT_TRUE(recovered.found || last == 0) << "round " << round;
        if (recovered.found) {
            ASSERT_EQ(Undisturbed::hash_of(sea.world), undisturbed.hash_at(recovered.frame)) << "round " << round;
        }
        num_advances += recovered.frame > last;
        const std::uint64_t begun = std::exchange(last, recovered.frame);
        ASSERT_TRUE(is_whole_level(places.level, versions)) << "round " << round;
        if (!fs::exists(places.save)) continue;
        const Status status = load(sea.world, places.save);
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(sea.world.frame() % 5, 0u);
        if (sea.world.frame() != last_saved) {
            ASSERT_GT(sea.world.frame(), begun) << "round " << round;
        }
        last_saved = sea.world.frame();
        ASSERT_EQ(Undisturbed::hash_of(sea.world), undisturbed.hash_at(last_saved)) << "round " << round;
        if (last < 600) continue;
        fs::remove_all(places.folder), fs::remove(places.save);  // the sea has grown; from the beginning
        last = last_saved = 0;
    }
    EXPECT_GT(num_advances, 5u);
    EXPECT_GT(num_killed[Doing::kReloading], 0) << "no round met the reloading";
}

}  // namespace persist_test

// Folders of Persistence in the tool: checked, shown and compared, and never written into.

#include "shoal/base/file.h"
#include "shoal/components/point_mass.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/world/world.h"
#include "tool/tool_process.h"

#include <chrono>
#include <csignal>
#include <map>
#include <thread>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::kReef;
using shoal_test::ToolResult;
namespace fs = std::filesystem;

class ToolPersisted : public shoal_test::ToolTest {
protected:
    /// Two masses, one of which is heavier in each frame.
    struct Scales {
        Scales() {
            first = *entities.create(), second = *entities.create();
            EXPECT_TRUE(world.manager<PointMass>().add(first, PointMass{.mass = 1}));
            EXPECT_TRUE(world.manager<PointMass>().add(second, PointMass{.mass = 7}));
        }
        void step() {
            auto& masses = world.manager<PointMass>();
            masses.set<&PointMass::mass>(masses.instance(first), float(world.frame() + 2));
            world.step(0.1f);
        }
        EntityManager entities;
        World world{entities};
        Persistence persistence{world};
        Entity first, second;
    };
    /// Persists frames 0 to 9 with a new snapshot after each three records: those of frames 4 and 8 stay, with three records and
    /// one. Returns the folder.
    std::string persist(Scales& scales) const {
        const PersistOptions options{.max_log_records = 3, .keeps_all_frames = true};
        const Status status = scales.persistence.start(path("kept"), options);
        EXPECT_TRUE(status.ok()) << status.message();
        for (int i = 0; i < 9; ++i) scales.step();
        EXPECT_TRUE(scales.persistence.stop().ok());
        return path("kept");
    }
    std::string persist() const {
        Scales scales;
        return persist(scales);
    }
    /// Returns `1,553 bytes`. Requires: there are fewer than a million.
    static std::string bytes_text(std::uintmax_t count) {
        std::string text = std::to_string(count);
        if (text.size() > 3) text.insert(text.size() - 3, ",");
        return text + " bytes";
    }
    static std::string size_of(const std::string& file) { return bytes_text(fs::file_size(file)); }
    void flip(const std::string& file, std::size_t byte) const {
        std::string bytes = read(file);
        ASSERT_LT(byte, bytes.size());
        bytes[byte] = char(bytes[byte] ^ 4);
        EXPECT_TRUE(write_file(file, bytes).ok());
    }
    static std::map<std::string, std::pair<std::string, fs::file_time_type>> files_of(const std::string& folder) {
        std::map<std::string, std::pair<std::string, fs::file_time_type>> files;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder))
            files.emplace(entry.path().string(), std::pair(read(entry.path().string()), entry.last_write_time()));
        return files;
    }
    static float mass_in(const nlohmann::json& dumped, std::size_t entity) {
        return dumped["entity_data"][entity]["components"]["point_mass"]["mass"];
    }
};

TEST_F(ToolPersisted, check_lists_each_snapshot_and_log_and_says_which_frame_is_recovered) {
    const std::string folder = persist();
    const std::string newer = folder + "/0000000003", older = folder + "/0000000002";
    const ToolResult good = run({"check", folder});
    EXPECT_EQ(good.exit_code, 0) << good.err;
    EXPECT_EQ(good.out, newer + ".save: frame 8, " + size_of(newer + ".save") + "\n" + newer +
                            ".log: 1 record up to frame 9, " + size_of(newer + ".log") + "\n" + older +
                            ".save: frame 4, " + size_of(older + ".save") + "\n" + older +
                            ".log: 3 records up to frame 7, " + size_of(older + ".log") + "\n" + folder +
                            ": ok, frame 9 is recovered, 2 entities, no warnings\n");
    const nlohmann::json json = run({"check", folder, "--json"}).json();
    EXPECT_EQ(json["ok"], true);
    const nlohmann::json& source = json["sources"][0];
    EXPECT_EQ(source["recovered_frame"], 9);
    EXPECT_EQ(source["entities"], 2);
    ASSERT_EQ(source["snapshots"].size(), 2u);
    EXPECT_EQ(source["snapshots"][1], (nlohmann::json{{"save", older + ".save"},
                                                      {"ok", true},
                                                      {"bytes", fs::file_size(older + ".save")},
                                                      {"frame", 4},
                                                      {"log",
                                                       {{"path", older + ".log"},
                                                        {"ok", true},
                                                        {"bytes", fs::file_size(older + ".log")},
                                                        {"whole_bytes", fs::file_size(older + ".log")},
                                                        {"records", 3},
                                                        {"last_frame", 7}}}}));
}

TEST_F(ToolPersisted, a_log_that_is_damaged_is_shown_up_to_the_byte_where_the_damage_begins) {
    const std::string folder = persist(), log = folder + "/0000000003.log";
    const std::size_t size = fs::file_size(log);
    fs::resize_file(log, size - 1);
    const ToolResult bad = run({"check", folder});
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_TRUE(bad.says("error: " + log + ": record 0 at byte 40: the record is not whole: it is cut short"))
        << bad.err;
    EXPECT_TRUE(bad.prints(log + ": 0 records, " + bytes_text(size - 1) + ", damaged from byte 40 on\n")) << bad.out;
    EXPECT_TRUE(bad.prints(folder + ": frame 8 is recovered, 2 entities, 1 error, no warnings\n")) << bad.out;
    const nlohmann::json json = run({"check", folder, "--json"}).json();
    EXPECT_EQ(json["ok"], false);
    EXPECT_EQ(json["sources"][0]["recovered_frame"], 8);
    EXPECT_EQ(json["sources"][0]["snapshots"][0]["log"]["whole_bytes"], 40);
    const ToolResult shown = run({"dump", folder, "--json"});
    EXPECT_EQ(shown.exit_code, 0) << "what is whole is shown";
    EXPECT_TRUE(shown.says("warning: " + log + ": record 0 at byte 40")) << shown.err;
    EXPECT_EQ(shown.json()["frame"], 8);
    EXPECT_EQ(shown.json()["warnings"], 1);
}

TEST_F(ToolPersisted, damage_of_an_older_log_is_an_error_of_check_and_nothing_to_dump) {
    const std::string folder = persist(), log = folder + "/0000000002.log";
    flip(log, fs::file_size(log) - 1);
    const ToolResult bad = run({"check", folder});
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_TRUE(bad.says(log + ": record 2 at byte ")) << bad.err;
    EXPECT_TRUE(bad.prints(log + ": 2 records up to frame 6, ")) << bad.out;
    EXPECT_TRUE(bad.prints(folder + ": frame 9 is recovered, ")) << bad.out;
    const ToolResult shown = run({"dump", folder});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_EQ(shown.err, "");
}

TEST_F(ToolPersisted, the_snapshot_before_is_read_if_the_newest_is_damaged_as_recovery_does) {
    const std::string folder = persist();
    const std::string newest = folder + "/0000000003.save", oldest = folder + "/0000000002.save";
    flip(newest, fs::file_size(newest) / 2);
    const ToolResult bad = run({"check", folder});
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_TRUE(bad.says(newest + ": the file is not a complete save: its checksum is wrong")) << bad.err;
    EXPECT_TRUE(bad.prints(".save: " + size_of(newest) + ", damaged\n")) << bad.out;
    EXPECT_TRUE(bad.prints(" bytes, not read without its snapshot\n")) << bad.out;
    EXPECT_TRUE(bad.prints(folder + ": frame 7 is recovered, ")) << bad.out;
    EXPECT_EQ(run({"dump", folder, "--json"}).json()["frame"], 7);
    EntityManager entities;
    World world(entities);
    EXPECT_EQ(Persistence(world).recover(folder)->frame, 7u) << "what is said is what recovery gives";
    flip(oldest, fs::file_size(oldest) / 2);
    const ToolResult none = run({"check", folder});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_TRUE(none.says("no snapshot in the folder \"" + folder + "\" can be read")) << none.err;
    EXPECT_TRUE(none.prints(folder + ": nothing is recovered, 3 errors, no warnings\n")) << none.out;
    EXPECT_EQ(run({"dump", folder}).exit_code, 1);
    EXPECT_EQ(run({"diff", folder, folder}).exit_code, 1);
}

TEST_F(ToolPersisted, a_folder_is_shown_and_compared_as_a_save_of_its_last_frame) {
    Scales scales;
    const std::string folder = persist(scales), save = path("now.save");
    ASSERT_TRUE(shoal::save(scales.world, save).ok());
    EXPECT_EQ(run({"dump", folder}).out, run({"dump", save}).out);
    EXPECT_EQ(mass_in(run({"dump", folder, "--json"}).json(), 0), 10);
    for (const auto& [before, after] : {std::pair(folder, save), std::pair(save, folder), std::pair(folder, folder)}) {
        const ToolResult same = run({"diff", before, after});
        EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
    }
    scales.step();
    ASSERT_TRUE(shoal::save(scales.world, save).ok());
    const ToolResult different = run({"diff", folder, save});
    EXPECT_EQ(different.exit_code, 3);
    EXPECT_TRUE(different.prints("-   components.point_mass.mass = 10.0\n+   components.point_mass.mass = 11.0\n"))
        << different.out;
}

TEST_F(ToolPersisted, nothing_is_written_into_a_folder_and_the_world_goes_on_in_it) {
    Scales scales;
    const std::string folder = persist(scales);
    fs::remove(folder + "/lock");
    write("kept/0000000004.save.a1b2c3", "what a kill has left");
    const auto before = files_of(folder);
    for (const char* verb : {"check", "dump"}) EXPECT_EQ(run({verb, folder}).exit_code, 0);
    EXPECT_EQ(run({"diff", folder, folder}).exit_code, 0);
    EXPECT_EQ(files_of(folder), before);
    EXPECT_TRUE(scales.persistence.start(folder).ok());
    const ToolResult open = run({"check", folder});
    EXPECT_EQ(open.exit_code, 0) << "also while a world writes there: " << open.err;
    EXPECT_TRUE(scales.persistence.stop().ok());
}

TEST_F(ToolPersisted, a_run_goes_on_from_the_folder_in_which_the_one_before_ended) {
    const std::string reef = write("reef.sjson", kReef), folder = path("reef_world");
    const std::string whole = run({"run", reef, "--frames", "60", "--json"}).json()["state_hash"];
    const nlohmann::json first = run({"run", reef, "--frames", "30", "--persist", folder, "--json"}).json();
    EXPECT_EQ(first["persisted_frame"], 30);
    EXPECT_FALSE(first.contains("recovered_frame"));
    const nlohmann::json second = run({"run", reef, "--frames", "30", "--persist", folder, "--json"}).json();
    EXPECT_EQ(second["recovered_frame"], 30);
    EXPECT_EQ(second["persisted_frame"], 60);
    EXPECT_EQ(second["state_hash"], whole);
    EXPECT_EQ(second["entities"], 3);
    EXPECT_TRUE(run({"check", folder}).prints("reef_world: ok, frame 60 is recovered, 3 entities"));
    const std::string newest = folder + "/0000000002.save";
    flip(newest, fs::file_size(newest) / 2);
    const ToolResult third = run({"run", reef, "--frames", "0", "--persist", folder});
    EXPECT_EQ(third.exit_code, 0) << third.err;
    EXPECT_TRUE(third.says("warning: " + newest + ": the file is not a complete save")) << third.err;
    EXPECT_TRUE(third.says("the run goes on from frame 30")) << third.err;
    EXPECT_TRUE(third.prints("persisted   " + folder + ", frame 30, recovered from frame 30\n")) << third.out;
}

TEST_F(ToolPersisted, a_folder_that_takes_more_memory_than_it_may_names_the_flag_that_allows_it) {
    const std::string reef = write("reef.sjson", kReef), folder = path("reef_world");
    ASSERT_EQ(run({"run", reef, "--frames", "3", "--persist", folder}).exit_code, 0);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"dump", folder}, {"check", folder}, {"run", reef, "--persist", folder}}) {
        std::vector<std::string> limited = words;
        limited.insert(limited.end(), {"--max-memory", "1K"});
        const ToolResult refused = run(limited);
        EXPECT_EQ(refused.exit_code, 1) << words[0];
        EXPECT_TRUE(refused.says("may take 1024; ") && refused.says("give --max-memory a larger SIZE\n"))
            << refused.err;
        limited.back() = "1M";
        EXPECT_EQ(run(limited).exit_code, 0) << words[0];
    }
}

TEST_F(ToolPersisted, a_run_that_is_killed_leaves_its_world_and_the_last_save) {
    const std::string reef = write("reef.sjson", kReef), folder = path("reef_world"), save = path("reef.save");
    const std::vector<std::string> words = {SHOAL_TOOL, "run",    reef, "--frames",     "1000000000", "--persist",
                                            folder,     "--save", save, "--save-every", "7"};
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::execv(SHOAL_TOOL, pointers.data());
        ::_exit(127);
    }
    int status = 0;
    bool has_ended = false;
    while (!has_ended && !fs::exists(save)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        has_ended = ::waitpid(child, &status, WNOHANG) == child;
    }
    ASSERT_FALSE(has_ended) << "the run has ended by itself";
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    const std::uint64_t frame = run({"dump", save, "--json"}).json()["frame"];
    EXPECT_EQ(frame % 7, 0u);
    EXPECT_GT(frame, 0u);
    const ToolResult next = run({"run", reef, "--frames", "5", "--persist", folder, "--json"});
    ASSERT_EQ(next.exit_code, 0) << next.err;
    const std::uint64_t recovered = next.json()["recovered_frame"];
    EXPECT_EQ(next.json()["persisted_frame"], recovered + 5);
}

TEST_F(ToolPersisted, flags_that_say_with_which_world_to_begin_exclude_each_other) {
    const std::string reef = write("reef.sjson", kReef), folder = path("reef_world");
    for (const std::vector<std::string>& flags : {std::vector<std::string>{"--persist", folder, "--load", reef},
                                                  {"--persist", folder, "--watch"},
                                                  {"--save-every", "5"},
                                                  {"--save-every", "5", "--save", "-"},
                                                  {"--save-every", "0", "--save", path("a.save")}}) {
        std::vector<std::string> words = {"run", reef};
        words.insert(words.end(), flags.begin(), flags.end());
        EXPECT_EQ(run(words).exit_code, 2) << flags[0];
    }
    EXPECT_FALSE(fs::exists(folder));
    const ToolResult file = run({"run", reef, "--persist", reef});
    EXPECT_EQ(file.exit_code, 1);
    EXPECT_TRUE(file.says("reef.sjson")) << file.err;
}

TEST_F(ToolPersisted, a_log_alone_is_refused_and_the_folder_is_named) {
    const std::string folder = persist(), log = folder + "/0000000003.log";
    const std::string refusal = "error: " + log +
                                ": the file is the log of a snapshot, and has only what has changed since; it cannot "
                                "be read alone; give the folder that has both: " +
                                folder + "\n";
    EXPECT_EQ(run({"dump", log}).err, refusal);
    EXPECT_EQ(run({"check", log}).err, refusal);
    EXPECT_EQ(run({"diff", folder, log}).err, refusal);
    for (const char* verb : {"check", "dump"}) EXPECT_EQ(run({verb, log}).exit_code, 1);
    const std::string recording = path("reef.rec");
    EXPECT_EQ(run({"run", write("reef.sjson", kReef), "--frames", "2", "--record", recording}).exit_code, 0);
    EXPECT_EQ(run({"dump", recording}).err, "error: " + recording +
                                                ": the file is a recording of a run, and not a save; play it with "
                                                "`shoal replay`, whose --save gives a save\n");
    fs::create_directory(path("empty"));
    const ToolResult empty = run({"check", path("empty")});
    EXPECT_EQ(empty.exit_code, 1);
    EXPECT_TRUE(empty.says("has no snapshot, such as 0000000001.save, that Persistence writes")) << empty.err;
}

}  // namespace

// Runs cluster_program with several ranks: what it prints is to be the same for any number of them.

#include "safety/child_process.h"
#include "shoal/base/random.h"
#include "support/kills.h"
#include "support/testing.h"
#include "tool/tool_process.h"

#include <set>
#include <sstream>
#include <vector>

namespace {

using shoal_test::ChildProcess;

/// Whether a build checks memory: its processes take several times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

class ClusterProgram : public shoal_test::ToolTest {
protected:
    void SetUp() override {
        ToolTest::SetUp();
        for (const char* name :
             {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
            setenv(name, "1", 1);
        setenv("OMPI_MCA_plm", "isolated", 1);
        setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);  // seconds until the other ranks end with one that failed
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);           // Open MPI keeps what it has to the end
    }

    std::string output() const { return read(path("output")); }
    std::vector<std::string> command(int ranks, const std::vector<std::string>& options) const {
        std::vector<std::string> words{"/usr/bin/env", "mpirun", "-n", std::to_string(ranks), SHOAL_TOOL};
        words.insert(words.end(), options.begin(), options.end());
        return words;
    }
    /// Returns the lines "frame ..." that ranks print, from frame `first` on.
    std::string frames(int ranks, const std::vector<std::string>& options, int first = 0) {
        ChildProcess process(command(ranks, options), path("output"));
        const int code = process.wait();
        EXPECT_EQ(code, 0) << ranks << " ranks:\n" << output();
        std::string lines;
        std::istringstream all(output());
        for (std::string line; std::getline(all, line);)
            if (line.starts_with("frame ") && std::stoi(line.substr(6)) > first) lines += line + '\n';
        EXPECT_NE(lines, "") << output();
        return lines;
    }
    /// Returns the message of a run that fails.
    std::string mistake(int ranks, const std::vector<std::string>& options) {
        ChildProcess process(command(ranks, options), path("output"));
        EXPECT_EQ(process.wait(), 1);
        return output();
    }
};

// req: H4 H5
TEST_F(ClusterProgram, random_programs_have_the_same_state_in_every_frame_for_any_number_of_ranks_and_workers) {
    std::vector<int> rank_counts = kIsSanitized ? std::vector<int>{3} : std::vector<int>{2, 3, 4};
    if (shoal_test::tries_everything()) rank_counts.push_back(8);
    const int num_seeds = shoal_test::tries_everything() ? 50 : kIsSanitized ? 1 : 3;
    for (int seed = 1; seed <= num_seeds; ++seed) {
        const std::string number = std::to_string(seed), num_frames = kIsSanitized ? "25" : "50";
        const std::string one = frames(1, {"--seed", number, "--frames", num_frames, "--entities", "250"});
        for (const int ranks : rank_counts)
            EXPECT_EQ(frames(ranks, {"--seed", number, "--frames", num_frames, "--entities", "250", "--workers",
                                     std::to_string(1 + (ranks + seed) % 3)}),
                      one)
                << "seed " << seed << ", " << ranks << " ranks";
    }
}

// req: H4
TEST_F(ClusterProgram, zones_that_change_hands_leave_the_state_as_it_is) {
    const std::vector<std::string> options{"--seed", "4", "--frames", "40", "--entities", "250", "--rebalance", "5"};
    const std::string one = frames(1, options);
    for (const int ranks : kIsSanitized ? std::vector<int>{2} : std::vector<int>{2, 4})
        EXPECT_EQ(frames(ranks, options), one) << ranks;
}

// req: H4
TEST_F(ClusterProgram, a_zone_of_many_rows_changes_hands_with_its_columns) {
    const std::vector<std::string> options{"--seed", "6",       "--frames", "4",           "--entities",
                                           "60",     "--crowd", "20000",    "--rebalance", "1"};
    EXPECT_EQ(frames(2, options), frames(1, options));
}

// req: H5
TEST_F(ClusterProgram, a_checkpoint_continues_on_any_number_of_ranks) {
    const std::vector<std::string> usual{"--seed", "5", "--frames", "30", "--entities", "250"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), usual.begin(), usual.end());
        return more;
    };
    const std::string one = frames(1, with({"--checkpoint", path("of_one"), "--at", "15"}), 15);
    EXPECT_EQ(frames(4, with({"--checkpoint", path("of_four"), "--at", "15"}), 15), one);
    EXPECT_EQ(frames(1, with({"--restore", path("of_four")}), 15), one);
    EXPECT_EQ(frames(3, with({"--restore", path("of_one")}), 15), one);
    EXPECT_EQ(frames(2, with({"--restore", path("of_one"), "--empty"}), 15), one) << "where no store was used before";
}

TEST_F(ClusterProgram, a_checkpoint_that_is_damaged_or_of_another_program_is_refused) {
    const std::vector<std::string> usual{"--seed", "5", "--frames", "4", "--entities", "60"};
    frames(2, {"--seed", "5", "--frames", "4", "--entities", "60", "--checkpoint", path("kept"), "--at", "3"});
    const auto refused = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--restore", path("kept"), "--frames", "6"});
        return mistake(2, more);
    };
    EXPECT_NE(refused({"--mistake", "writes"}).find("the pass \"bad\" writes"), std::string::npos) << output();
    EXPECT_NE(refused({"--tiles", "5"}).find("continue it with the program that wrote it"), std::string::npos)
        << output();
    const std::string zones = path("kept") + "/000003_rank_1.zones", bytes = read(zones);
    std::string damaged = bytes;
    damaged[damaged.size() / 2] ^= 1;
    ASSERT_TRUE(shoal::write_file(zones, std::string_view(damaged)).ok());
    EXPECT_NE(refused({}).find("is damaged"), std::string::npos) << output();
    std::filesystem::remove(zones);
    EXPECT_NE(refused({}).find("000003_rank_1.zones"), std::string::npos) << output();
    ASSERT_TRUE(shoal::write_file(zones, std::string_view(bytes)).ok());
    ASSERT_TRUE(shoal::write_file(path("kept") + "/manifest", std::string_view("none")).ok());
    EXPECT_NE(refused({}).find("no checkpoint of a cluster"), std::string::npos) << output();
}

/// Returns the lines of `all` about frames after one.
std::string after(const std::string& all, int frame) {
    std::string lines;
    std::istringstream from(all);
    for (std::string line; std::getline(from, line);)
        if (std::stoi(line.substr(6)) > frame) lines += line + '\n';
    return lines;
}

// req: H5
TEST_F(ClusterProgram, a_rank_that_is_killed_at_any_time_ends_the_others_and_leaves_the_last_checkpoint_whole) {
    constexpr int kMostFrames = 60;
    const auto with = [](int num_frames, std::vector<std::string> more) {
        more.insert(more.end(), {"--seed", "6", "--entities", "100", "--frames", std::to_string(num_frames)});
        return more;
    };
    const std::string alone = frames(1, with(kMostFrames + 2, {}));
    shoal::Random random(shoal_test::seed());
    int num_restored = 0;
    const int count = shoal_test::num_kills(kIsSanitized ? 1 : 20);
    for (int kill = 0; kill < count; ++kill) {
        std::filesystem::remove_all(path("kept"));
        const std::string time = std::to_string(1 + random.below(60'000));
        ChildProcess process(
            command(3, with(1'000'000, {"--checkpoint", path("kept"), "--each", "--kill-after", time})),
            path("output"));
        EXPECT_NE(process.wait(), 0);
        EXPECT_NE(output().find("rank 2"), std::string::npos) << output();
        if (!std::filesystem::exists(path("kept") + "/manifest")) continue;  // not even the first was complete
        const std::string restored = frames(2, with(kMostFrames + 2, {"--restore", path("kept")}));
        EXPECT_EQ(restored, after(alone, std::stoi(restored.substr(6)) - 1)) << "kill " << kill;
        ++num_restored;
    }
    EXPECT_GE(num_restored, count / 4);
}

TEST_F(ClusterProgram, a_checkpoint_that_cannot_be_written_leaves_the_one_of_the_same_frame_whole) {
    const std::vector<std::string> writing{"--seed", "5", "--frames",     "4",         "--entities", "60",
                                           "--at",   "3", "--checkpoint", path("kept")};
    const auto files = [&] {
        std::set<std::string> names;
        for (const auto& file : std::filesystem::directory_iterator(path("kept"))) names.insert(file.path().filename());
        return names;
    };
    const std::string one = frames(3, writing, 3);
    EXPECT_EQ(files(),
              (std::set<std::string>{"manifest", "000003_rank_0.zones", "000003_rank_1.zones", "000003_rank_2.zones"}));
    std::vector<std::string> failing = writing;
    failing.insert(failing.end(), {"--mistake", "disk"});
    EXPECT_NE(mistake(2, failing).find("kept"), std::string::npos) << output();
    EXPECT_EQ(frames(2, {"--frames", "4", "--entities", "60", "--seed", "5", "--restore", path("kept")}, 3), one);
    frames(2, writing, 3);  // and a newer one takes its place, without the files of rank 2
    const std::set<std::string> left = files();
    EXPECT_EQ(left.size(), 3u);
    EXPECT_FALSE(left.contains("000003_rank_2.zones"));
    EXPECT_EQ(frames(1, {"--frames", "4", "--entities", "60", "--seed", "5", "--restore", path("kept")}, 3), one);
}

TEST_F(ClusterProgram, a_checkpoint_waits_for_a_settle_after_structural_calls) {
    const std::string said = mistake(
        2, {"--frames", "4", "--entities", "60", "--at", "3", "--checkpoint", path("kept"), "--mistake", "unsettled"});
    EXPECT_NE(said.find("call World::settle()"), std::string::npos) << said;
    EXPECT_FALSE(std::filesystem::exists(path("kept") + "/manifest"));
}

TEST_F(ClusterProgram, each_rank_can_show_what_all_have) {
    frames(3, {"--frames", "2", "--entities", "60", "--report"});
    for (const std::string rank : {"0", "1", "2"}) {
        EXPECT_NE(output().find("of rank " + rank + ": rank\tzones\trows\t"), std::string::npos) << output();
        const std::string begin = "\n" + rank + "\t1";
        int count = 0;
        for (std::size_t at = output().find(begin); at != std::string::npos; at = output().find(begin, at + 1)) ++count;
        EXPECT_EQ(count, 3) << output();
    }
}

// req: H4
TEST_F(ClusterProgram, a_pass_that_writes_what_other_ranks_own_is_refused_with_its_name) {
    const std::string said = mistake(2, {"--mistake", "writes"});
    EXPECT_NE(said.find("the pass \"bad\" writes \"charge.value\" in zones that other ranks may own; add "
                        ".in(cluster.own())"),
              std::string::npos)
        << said;
}

TEST_F(ClusterProgram, a_pass_that_reads_in_halos_what_was_written_before_it_is_refused_with_both_names) {
    const std::string said = mistake(2, {"--mistake", "order"});
    EXPECT_NE(said.find("the pass \"late\" reads \"place.position\" in halos after \"move\" has written it"),
              std::string::npos)
        << said;
}

TEST_F(ClusterProgram, a_pass_that_reads_in_halos_what_it_writes_itself_is_refused) {
    const std::string said = mistake(2, {"--mistake", "itself"});
    EXPECT_NE(said.find("the pass \"mix\" reads \"charge.births\" in halos while it writes it"), std::string::npos)
        << said;
}

TEST_F(ClusterProgram, a_pass_that_writes_a_zone_by_its_number_is_refused_on_the_rank_that_owns_it_too) {
    const std::string said = mistake(2, {"--mistake", "zone"});
    EXPECT_NE(said.find("the pass \"one\" writes \"charge.value\""), std::string::npos) << said;
    EXPECT_EQ(said.find("another rank has an error"), std::string::npos) << said;
}

TEST_F(ClusterProgram, references_are_not_read_in_halos_where_they_are_those_of_another_rank) {
    const std::string said = mistake(2, {"--mistake", "references"});
    EXPECT_NE(said.find("the pass \"friends\" reads \"friend.other\""), std::string::npos) << said;
}

TEST_F(ClusterProgram, ranks_that_differ_are_refused_with_what_differs) {
    const std::string said = mistake(2, {"--mistake", "entities"});
    EXPECT_NE(said.find("rank 1 has other entities in zone"), std::string::npos) << said;
    EXPECT_NE(mistake(2, {"--mistake", "seed"}).find("rank 1 has the random state"), std::string::npos) << output();
    EXPECT_NE(mistake(2, {"--mistake", "tiles"}).find("tiles of 9"), std::string::npos) << output();
    EXPECT_NE(mistake(2, {"--mistake", "imbalance"}).find("an imbalance of 0.5"), std::string::npos) << output();
    EXPECT_NE(mistake(2, {"--mistake", "columns"}).find("read other columns in halos"), std::string::npos) << output();
    EXPECT_NE(mistake(2, {"--mistake", "weights"}).find("36 weights were given for 37 zones"), std::string::npos)
        << output();
    EXPECT_NE(mistake(2, {"--mistake", "division"}).find("the division is to be the same on all"), std::string::npos)
        << output();
}

}  // namespace

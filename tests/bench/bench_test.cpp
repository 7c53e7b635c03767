#include "inspect/xml_check.h"
#include "tool/tool_process.h"

#include <map>
#include <set>
#include <string>

namespace {

using shoal_test::ToolResult;

/// The program in place of the tool. It ends with an error when the checksums of two sides differ.
class Benchmarks : public shoal_test::ToolTest {
protected:
    /// Runs the workloads that match quickly, and returns of how many things those that gave two times and a ratio
    /// measured each.
    std::map<std::string, std::size_t> sizes_of(const char* filter) const {
        const ToolResult result = run({"--quick", "--filter", filter, "--json", path("results.json")});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        std::map<std::string, std::size_t> sizes;
        for (const nlohmann::json& each : nlohmann::json::parse(read(path("results.json")), nullptr, false))
            if (each["shoal_ns"] > 0 && each["reference_ns"] > 0 && each["ratio"] > 0)
                sizes[each["workload"].get<std::string>()] = each["n"].get<std::size_t>();
        return sizes;
    }
    std::set<std::string> measured(const char* filter) const {
        std::set<std::string> names;
        for (const auto& [name, size] : sizes_of(filter)) names.insert(name);
        return names;
    }
};

// req: F2 F11
TEST_F(Benchmarks, other_ways_to_keep_objects_do_the_same_work) {
    EXPECT_EQ(measured("^baseline/"), (std::set<std::string>{"baseline/class_hierarchy", "baseline/nullable_pointers",
                                                             "baseline/component_containers",
                                                             "baseline/virtual_systems", "baseline/running_indices"}));
}

// What makes the layouts differ is checked by the program.
// req: E15 F13
TEST_F(Benchmarks, other_layouts_give_the_same_values) {
    EXPECT_EQ(measured("^access/(p|ca|s|t)"),
              (std::set<std::string>{"access/prefetched", "access/cache_lines", "access/single", "access/single_whole",
                                     "access/two_threads"}));
}

// req: F14
TEST_F(Benchmarks, cold_components_are_those_of_5000_entities_with_30_each) {
    EXPECT_EQ(sizes_of("^access/cold"), (std::map<std::string, std::size_t>{{"access/cold_components", 5000 * 30}}));
}

TEST_F(Benchmarks, questions_in_sql_have_the_answers_of_loops) {
    const std::set<std::string> names = measured("^sql/|^baseline/class");  // of which one is there without SQLite, too
    EXPECT_TRUE(names.size() == 1 ||
                names.contains("sql/scan") + names.contains("sql/join") + names.contains("sql/rows") == 3);
}

// The program ends with an error when ranks send other messages, or other numbers of entities, than were counted.
TEST_F(Benchmarks, ranks_send_what_is_counted_from_the_division_of_zones) {
#if defined(SHOAL_BENCH_CLUSTER)
    for (const char* ranks : {"1", "2", "3", "4"}) {
        const ToolResult result = run_program(SHOAL_BENCH_CLUSTER, {"--ranks", ranks, "check", "--quick"});
        EXPECT_EQ(result.exit_code, 0) << ranks << " ranks\n" << result.out << result.err;
    }
    const ToolResult scale = run_program(SHOAL_BENCH_CLUSTER, {"scale", "--quick", "--chart", path("scale.svg")});
    EXPECT_EQ(scale.exit_code, 0) << scale.err;
    EXPECT_NE(scale.out.find("256 ranks: "), std::string::npos) << scale.out;
    EXPECT_EQ(shoal_test::XmlCheck::problem(read(path("scale.svg"))), "");
    EXPECT_EQ(run_program(SHOAL_BENCH_CLUSTER, {"--ranks", "0", "check"}).exit_code, 2);
#else
    GTEST_SKIP() << "there is no MPI";
#endif
}

// Times are not looked at, but bytes are counted: those of halos are the written blocks, with little beside them.
TEST_F(Benchmarks, what_a_cluster_costs_is_measured_by_two_ranks) {
#if defined(SHOAL_BENCH_CLUSTER)
    EXPECT_EQ(measured("^cluster/"), (std::set<std::string>{"cluster/step", "cluster/one_rank", "cluster/move_zone"}));
    for (const nlohmann::json& each : nlohmann::json::parse(read(path("results.json")), nullptr, false))
        if (each["workload"] == "cluster/halo_bytes") {
            EXPECT_GT(each["ratio"], 1.0);
            EXPECT_LE(each["ratio"], 1.1);
            return;
        }
    ADD_FAILURE() << "the bytes of halos are not counted";
#else
    GTEST_SKIP() << "there is no MPI";
#endif
}

TEST_F(Benchmarks, wrong_usage_is_told_and_ends_with_two) {
    EXPECT_EQ(run({"--filter", "("}).exit_code, 2);
    EXPECT_EQ(run({"--fast"}).exit_code, 2);
    EXPECT_EQ(run({"--filter", "^nothing/", "--quick"}).exit_code, 1);
}

}  // namespace

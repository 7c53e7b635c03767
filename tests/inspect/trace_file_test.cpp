#include "shoal/inspect/trace_file.h"

#include "support/json.h"
#include "support/testing.h"

namespace {

using namespace shoal;

// req: F12
TEST(TraceFile, has_a_line_per_worker_and_a_bar_per_event) {
    Trace trace(2, 8);
    trace.add(0, {5'000'000'000, 5'000'012'500, 7, trace.number_of("move \"it\"")});
    trace.add(1, {4'999'999'000, 4'999'999'500, 7, trace.number_of("sense")});
    const nlohmann::json json = nlohmann::json::parse(trace_json(trace));
    EXPECT_EQ(json["displayTimeUnit"], "ms");
    const nlohmann::json& events = json["traceEvents"];
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(events[0],
              (nlohmann::json{
                  {"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", 0}, {"args", {{"name", "worker 0"}}}}));
    EXPECT_EQ(events[1], (nlohmann::json{{"ph", "X"},
                                         {"name", "move \"it\""},
                                         {"pid", 1},
                                         {"tid", 0},
                                         {"ts", 1.0},
                                         {"dur", 12.5},
                                         {"args", {{"frame", 7}}}}));
    EXPECT_EQ(events[2]["args"]["name"], "worker 1");
    EXPECT_EQ(events[3]["tid"], 1);
    EXPECT_EQ(events[3]["ts"], 0.0) << "the first of all workers";
    EXPECT_EQ(events[3]["dur"], 0.5);
}

TEST(TraceFile, a_trace_without_events_is_a_file_too) {
    const nlohmann::json json = nlohmann::json::parse(trace_json(Trace(1)));
    EXPECT_EQ(json["traceEvents"].size(), 1u);
}

TEST(TraceFile, that_cannot_be_written_is_an_error_that_names_it) {
    const Status status = write_trace("/nowhere/at/all.json", Trace(1));
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("/nowhere/at/all.json"), std::string_view::npos);
}

}  // namespace

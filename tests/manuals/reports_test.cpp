// What the headers of reports and pictures of schedules show.

#include "shoal/base/file.h"
#include "shoal/inspect/detail/timeline.h"
#include "shoal/inspect/html_report.h"
#include "shoal/inspect/schedule_picture.h"
#include "shoal/world/trace.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <string>

namespace {

using namespace shoal;

class ReportsManual : public ::testing::Test {
protected:
    ReportsManual() {
        world.schedule().add("swim", [](PassContext&) {});
        world.schedule().set_trace(&trace);
        world.step(1);
        world.schedule().set_trace(nullptr);
    }

    EntityManager entities;
    World world{entities};
    Trace trace{world.executor().num_workers()};
};

Status write_page(World& world, const Trace& trace, const std::string& path) {
    // [inspect/html_report]
    const Result<std::string> html = html_report(world, {.title = "reef", .trace = &trace});
    if (!html) return html.status();
    return write_file(path, std::string_view(*html));
    // [inspect/html_report]
}

TEST_F(ReportsManual, a_page_is_written) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("shoal_page_" + std::to_string(getpid()));
    ASSERT_TRUE(write_page(world, trace, path.string()).ok());
    EXPECT_GT(std::filesystem::file_size(path), 1000u);
    std::filesystem::remove(path);
}

Status draw(World& world, std::string& both) {
    // [inspect/schedule_picture]
    const Result<ScheduleGraph> graph = world.schedule().graph();
    if (!graph) return graph.status();
    const std::string svg = schedule_svg(*graph, {.passes = report_world(world).passes});
    const std::string dot = schedule_dot(*graph);  // dot -Tpdf passes.dot -o passes.pdf
    // [inspect/schedule_picture]
    both = svg + dot;
    return {};
}

TEST_F(ReportsManual, a_schedule_is_drawn) {
    std::string both;
    ASSERT_TRUE(draw(world, both).ok());
    EXPECT_NE(both.find(">swim<"), std::string::npos);
    EXPECT_NE(both.find("p0 [label=\"swim\"]"), std::string::npos);
}

TEST_F(ReportsManual, the_last_frame_has_its_passes) {
    // [inspect/timeline]
    const Timeline timeline = last_frame(trace, *world.schedule().graph());
    // [inspect/timeline]
    EXPECT_EQ(timeline.workers[0][0].pass, "swim");
}

}  // namespace

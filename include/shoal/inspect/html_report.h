#pragma once
// Writes what a world is and costs as one HTML file, which needs no other file, no script and no network: for those who
// were not there, such as the readers of a bug report or of a nightly build.
//
//     const Result<std::string> html = html_report(world, {.title = "reef", .trace = &trace});
//     if (!html) return html.status();
//     return write_file(path, std::string_view(*html));
//
// It shows what the live inspector shows: passes with their graph, who reads and writes what, the last frame of a
// trace; memory by component type and owner; zones; entities by their component types; and where entities are. It is
// dark or light as the reader's system is. What is long is cut, and says so: the file stays below two megabytes,
// whatever is in the world.
// Thread: that of the world; the schedule is not running.

#include "shoal/base/status.h"
#include "shoal/inspect/report.h"

#include <string>
#include <utility>
#include <vector>

namespace shoal {

class Trace;

struct HtmlReportOptions {
    std::string title{};  ///< any text
    /// Further facts, shown at the top: what they are, and what they say.
    std::vector<std::pair<std::string, std::string>> facts{};
    const Trace* trace = nullptr;         ///< of the world's schedule; nullptr: no frame is shown
    const WorldReport* report = nullptr;  ///< of the world; nullptr: report_world()
};

/// Errors: the schedule has no order, as Schedule::prepare() says.
SHOAL_API Result<std::string> html_report(World& world, const HtmlReportOptions& options = {});

}  // namespace shoal

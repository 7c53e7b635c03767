#pragma once
// Reports the content and the costs of a world as one HTML file without scripts or external resources. It is for people
// who did not run the program, such as those who read a bug report or the results of a nightly build.
//
//     const Result<std::string> html = html_report(world, {.title = "reef", .trace = &trace});
//     if (!html) return html.status();
//     return write_file(path, std::string_view(*html));
//
// The file shows what the live inspector shows. It has the passes, their graph, the fields that they read and write,
// and the last frame of a trace. It also has the memory by component type and by owner, the zones, the entities by
// component types, and the positions of entities. The page follows the reader's light or dark mode. Long lists are
// shortened, with a note, so that the file stays below two megabytes for any world.
// Thread: the same as for the world, while the schedule is not running.

#include "shoal/base/status.h"
#include "shoal/inspect/report.h"

#include <string>
#include <utility>
#include <vector>

namespace shoal {

class Trace;

struct HtmlReportOptions {
    std::string title{};  ///< any text
    /// Additional facts to show at the top, as name-value pairs.
    std::vector<std::pair<std::string, std::string>> facts{};
    const Trace* trace = nullptr;         ///< the trace of the world's schedule; nullptr: no frame is shown
    const WorldReport* report = nullptr;  ///< the report on the world; nullptr: report_world()
};

/// Errors: the schedule has no valid order; see Schedule::prepare().
SHOAL_API Result<std::string> html_report(World& world, const HtmlReportOptions& options = {});

}  // namespace shoal

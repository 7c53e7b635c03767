#pragma once
// Reports the content and the costs of a world as one HTML file without scripts or external resources, for people who
// did not run the program, such as the readers of a bug report or of a nightly build.
//
//     const Result<std::string> html = html_report(world, {.title = "reef", .trace = &trace});
//     if (!html) return html.status();
//     return write_file(path, std::string_view(*html));
//
// The file shows what the live inspector shows: the passes, with their graph, the fields that they read and write, and
// the last frame of a trace; memory by component type and owner; zones; entities by their component types; and where
// entities are. The page follows the reader's light or dark mode. Long lists are cut, with a note, so that the file
// stays below two megabytes for any world.
// Thread: as for the world; the schedule is not running.

#include "shoal/base/status.h"
#include "shoal/inspect/report.h"

#include <string>
#include <utility>
#include <vector>

namespace shoal {

class Trace;

struct HtmlReportOptions {
    std::string title{};  ///< any text
    /// More facts, shown at the top: pairs of a name and a value.
    std::vector<std::pair<std::string, std::string>> facts{};
    const Trace* trace = nullptr;         ///< of the world's schedule; nullptr: no frame is shown
    const WorldReport* report = nullptr;  ///< of the world; nullptr: report_world()
};

/// Errors: the schedule has no valid order; see Schedule::prepare().
SHOAL_API Result<std::string> html_report(World& world, const HtmlReportOptions& options = {});

}  // namespace shoal

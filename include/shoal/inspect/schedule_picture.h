#pragma once
// Draws the passes of a schedule as a graph, with levels from left to right. Passes in the same column may run in
// parallel.
//
//     const Result<ScheduleGraph> graph = world.schedule().graph();
//     if (!graph) return graph.status();
//     const std::string svg = schedule_svg(*graph, {.passes = report_world(world).passes});
//     const std::string dot = schedule_dot(*graph);  // dot -Tpdf passes.dot -o passes.pdf
//
//     +------+                 +------+                  +-----+
//     | roam |- body.heading ->| swim |- body.position ->| eat |    a solid line: both access its label, and one
//     +------+                 +------+                  +-----+    writes it; a dashed one: after() or before()
//     +------+                                              ^
//     | grow | - - - - - - - - - - - - - - - - - - - - - - -+
//     +------+
//
// The SVG follows the reader's light or dark mode (prefers-color-scheme), and is dark if the mode is unknown.
// Thread: any; calls are independent.

#include "shoal/inspect/report.h"
#include "shoal/world/detail/schedule_graph.h"

#include <span>
#include <string>

namespace shoal {

struct SchedulePictureOptions {
    std::string title{};  ///< any text; characters that SVG does not allow are left out
    std::string subtitle{};
    /// Costs of passes, which are found by name. A pass that is missing here or has not run has no time in the picture.
    std::span<const PassReport> passes{};
};

/// Returns an SVG file. The size of the file is proportional to the number of passes and lines, and is about 100 kB for
/// 100 passes.
SHOAL_API std::string schedule_svg(const ScheduleGraph& graph, const SchedulePictureOptions& options = {});

/// Returns a digraph in graphviz's language. Passes are nodes `p0`, `p1`... in the order in which they run.
SHOAL_API std::string schedule_dot(const ScheduleGraph& graph, const SchedulePictureOptions& options = {});

}  // namespace shoal

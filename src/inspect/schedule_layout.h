#pragma once
// The positions of passes in a picture of a schedule, and the lines between them.
//
//     column    0          1           2
//               pass ----- pass ------ pass
//               pass ----- ( ) ------- pass      a line over several levels goes through a gap in each column between
//
// Passes and gaps in a column are sorted by the mean position of their neighbours, in sweeps back and forth. This is
// the method of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures", 1981.

#include "shoal/world/detail/schedule_graph.h"

#include <vector>

namespace shoal {

struct LayoutSizes {
    double node_width = 150, node_height = 46, gap_x = 60, gap_y = 16, line_height = 8;
};

struct LayoutPoint {
    double x = 0, y = 0;
};

/// Units: pixels, from the top left corner.
struct ScheduleLayout {
    std::vector<LayoutPoint> nodes;               ///< top left corners. Shape: like ScheduleGraph::passes
    std::vector<std::vector<LayoutPoint>> lines;  ///< from right sides to left sides. Shape: like ScheduleGraph::edges
    double width = 0, height = 0;
};

ScheduleLayout lay_out(const ScheduleGraph& graph, const LayoutSizes& sizes);

}  // namespace shoal

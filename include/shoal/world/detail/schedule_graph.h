#pragma once
// The passes of a schedule as a graph, for pictures and tools: what each pass declares, and which passes it waits for.
//
//     const Result<ScheduleGraph> graph = schedule.graph();
//     if (!graph) return graph.status();
//     for (const PassEdge& edge : graph->edges) draw(graph->passes[edge.from], graph->passes[edge.to], edge.on);
//
//     level     0        1       2
//               roam --> swim -> eat        an edge for each wait that no chain of other edges implies
//               grow ---------> eat
//
// A graph is a copy, and refers to nothing in the schedule. Thread: any.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

struct PassNode {
    std::string name, group;
    std::size_t number = 0;   ///< for Schedule::statistics()
    std::uint32_t level = 0;  ///< the length of the longest chain of passes that the pass waits for
    /// "body.mass", "body", or the name of the store; "*": everything.
    std::vector<std::string> reads, writes;
};

struct PassEdge {
    std::uint32_t from = 0, to = 0;  ///< in ScheduleGraph::passes
    bool is_ordered = false;         ///< by after() or before()
    std::vector<std::string> on;     ///< what both passes touch and one writes; empty: only after() or before() relates
                                     ///< them
};

struct ScheduleGraph {
    std::vector<PassNode> passes;  ///< in the order in which they run
    std::vector<PassEdge> edges;
};

}  // namespace shoal

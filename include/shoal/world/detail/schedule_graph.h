#pragma once
// A schedule's passes as a graph, for pictures and tools: what each pass declares, and which passes it waits for.
//
//     const Result<ScheduleGraph> graph = schedule.graph();
//     if (!graph) return graph.status();
//     for (const PassEdge& edge : graph->edges) draw(graph->passes[edge.from], graph->passes[edge.to], edge.on);
//
//     level     0        1       2
//               roam --> swim -> eat        an edge for each wait that no chain of other edges implies
//               grow ---------> eat
//
// A graph is a copy that does not refer to the schedule. Thread: any.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

struct PassNode {
    std::string name, group;
    std::size_t number = 0;   ///< the argument of Schedule::statistics()
    std::uint32_t level = 0;  ///< the length of the pass's longest chain of predecessors
    /// Names such as "body.mass" or "body", or the name of a store; "*" means everything.
    std::vector<std::string> reads, writes;
};

struct PassEdge {
    std::uint32_t from = 0, to = 0;  ///< indices into ScheduleGraph::passes
    bool is_ordered = false;         ///< whether after() or before() orders the passes
    std::vector<std::string> on;     ///< what both passes touch and one of them writes; empty if only after() or
                                     ///< before() orders them
};

struct ScheduleGraph {
    std::vector<PassNode> passes;  ///< in execution order
    std::vector<PassEdge> edges;
};

}  // namespace shoal

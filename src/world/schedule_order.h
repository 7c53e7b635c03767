#pragma once
// Computes the order of passes, and which passes must wait for each other. Both follow from what the passes declare.
//
//     order          0 1 2 3        order[p] is the pass at position p
//     successors     0 -> 2         by position: the pass at 2 starts when 0 and all its other predecessors have ended
//
// Thread: the functions are pure.

#include "shoal/query/detail/access.h"
#include "shoal/world/detail/schedule_graph.h"

#include <string>
#include <string_view>

namespace shoal {

/// What a pass declares.
struct PassDeclaration {
    std::string_view name, group;
    std::span<const Access> accesses;
    std::span<const std::string> after, before;
};

struct PassPlan {
    Array<std::uint32_t> order{Owner("schedule")};              // by position
    Array<Array<std::uint32_t>> successors{Owner("schedule")};  // by position
    Array<std::uint32_t> num_predecessors{Owner("schedule")};   // by position
    /// Databases in which at least one pass touches only some zones, and how many component types these databases have.
    /// Passes that touch a `many` type conflict even if their zones differ.
    Array<const Store*> stores_in_zones{Owner("schedule")};
    std::size_t num_types_in_zones = 0;

    /// Returns whether one of two passes waits for the other. Passes are numbered in the order in which they were
    /// added.
    bool orders(std::size_t pass, std::size_t other) const;
    /// Returns the current number of component types in stores_in_zones.
    std::size_t count_types_in_zones() const;
};

/// If `all_zones` is true, passes also wait for conflicting passes in other zones; the order is the same. Errors: as
/// for Schedule::prepare().
Result<PassPlan> order_passes(std::span<const PassDeclaration> passes, bool strict, bool all_zones);

/// Returns the plan of these passes as a graph.
ScheduleGraph graph_of(const PassPlan& plan, std::span<const PassDeclaration> passes);

}  // namespace shoal

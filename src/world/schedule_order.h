#pragma once
// Finds the order of passes, and which passes must wait for which others, from their declarations.
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
    /// The databases in which passes touch only some zones, and the total number of their component types. Zones do not
    /// separate passes that touch a `many` type.
    Array<const Store*> stores_in_zones{Owner("schedule")};
    std::size_t num_types_in_zones = 0;

    /// Whether one of two passes, by their numbers in the order of adding, waits for the other.
    bool orders(std::size_t pass, std::size_t other) const;
    /// Returns how many component types the databases have now.
    std::size_t count_types_in_zones() const;
};

/// `all_zones`: passes wait for each other even if they touch different zones; their order does not change. Errors: the
/// same as Schedule::prepare().
Result<PassPlan> order_passes(std::span<const PassDeclaration> passes, bool strict, bool all_zones);

/// Returns the plan of these passes as a graph.
ScheduleGraph graph_of(const PassPlan& plan, std::span<const PassDeclaration> passes);

}  // namespace shoal

#pragma once
// Finds the order of passes, and which of them must wait for which, from what they declare.
//
//     order          0 1 2 3        positions; order[p] is the pass that stands there
//     successors     0 -> 2         successors[0] = {2}: pass 2 starts when pass 0 and all others before it have ended
//
// Thread: values.

#include "shoal/query/access.h"

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
};

/// Errors: as Schedule::prepare.
Result<PassPlan> order_passes(std::span<const PassDeclaration> passes, bool strict);

}  // namespace shoal

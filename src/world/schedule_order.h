#pragma once
// From what passes declare to the order in which they run.
//
//     line     0 1 2 3       positions; line[p] is the pass that stands there
//     edges    0 -> 2        followers[0] = {2}: 2 starts when all that it follows have ended
// Thread: values.

#include "shoal/query/access.h"

#include <string>
#include <string_view>

namespace shoal {

/// What a pass says of itself.
struct PassDeclaration {
    std::string_view name, group;
    std::span<const Access> accesses;
    std::span<const std::string> after, before;
};

struct PassLine {
    Array<std::uint32_t> line{Owner("schedule")};
    Array<Array<std::uint32_t>> followers{Owner("schedule")};  // by position
    Array<std::uint32_t> num_leaders{Owner("schedule")};       // by position
};

/// Errors: as Schedule::prepare.
Result<PassLine> order_passes(std::span<const PassDeclaration> passes, bool strict);

/// Returns a text such as `component "body"` or `"body.position"`.
std::string access_text(const Access& access);

}  // namespace shoal

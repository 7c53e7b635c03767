#pragma once
// From what passes declare to the order in which they run.
//
//     line     0 1 2 3       positions; line[p] is the pass that stands there
//     edges    0 -> 2        followers[0] = {2}: 2 starts when all that it follows have ended
// Thread: values.

#include "shoal/store/access.h"

#include <string>
#include <string_view>

namespace shoal::inline SHOAL_ABI {

/// What a pass says of itself.
struct PassDeclaration {
    std::string_view name, group;
    std::span<const Access> accesses;
    std::span<const std::string> after, before;
};

struct PassLine {
    Array<std::uint32_t> line = Array<std::uint32_t>("schedule");
    Array<Array<std::uint32_t>> followers = Array<Array<std::uint32_t>>("schedule");  // by position
    Array<std::uint32_t> num_leaders = Array<std::uint32_t>("schedule");              // by position
};

/// Errors: as Schedule::prepare.
Result<PassLine> order_passes(std::span<const PassDeclaration> passes, bool strict);

/// Returns a text such as `component "body"` or `"body.position"`.
std::string access_text(const Access& access);

}  // namespace shoal::inline SHOAL_ABI

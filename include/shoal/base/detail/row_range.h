#pragma once
// A range of rows, or of other indices.
// Thread: as for built-in types.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

/// The rows [begin, end).
struct RowRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    constexpr std::uint32_t size() const { return end - begin; }
    friend constexpr bool operator==(const RowRange&, const RowRange&) = default;
};

}  // namespace shoal

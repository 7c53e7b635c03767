#include "shoal/job/row_ranges.h"

#include <algorithm>
#include <limits>

namespace shoal {

RowCuts cut_rows(std::uint32_t num_rows, std::uint32_t granularity, std::uint32_t min_rows) {
    SHOAL_ASSERT(granularity > 0 && min_rows > 0, "rows are cut into chunks of at least one");
    if (num_rows == 0) return {};
    // Computed in 64 bits, because rounding up would overflow 32 bits with nearly 2^32 rows.
    const std::uint64_t shared = (std::uint64_t(num_rows) + kMostChunks - 1) / kMostChunks;
    const std::uint64_t wanted = std::max<std::uint64_t>(min_rows, shared);
    const std::uint64_t rounded = (wanted + granularity - 1) / granularity * granularity;
    const auto rows_per_chunk =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(rounded, std::numeric_limits<std::uint32_t>::max()));
    return {num_rows, rows_per_chunk, (num_rows - 1) / rows_per_chunk + 1};
}

}  // namespace shoal

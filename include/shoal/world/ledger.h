#pragma once
// What settling has cost and done. The other pages of the ledger are Schedule::statistics(), per pass, and
// Store::statistics(), per component type; inspect/report.h puts them together.
// Thread: values.

#include "shoal/store/store.h"

namespace shoal {

struct SettleStatistics {
    std::uint64_t num_settles = 0;
    std::int64_t last_ns = 0;
    std::int64_t total_ns = 0;
    SettleCounts last{};
    SettleCounts total{};
};

}  // namespace shoal

#pragma once
// What a schedule keeps of a pass.
// Thread: the counts by worker are added to by those workers; the rest by the one that runs the pass, or between runs.

#include "shoal/table/write_guard.h"
#include "shoal/world/schedule.h"
#include "world/schedule_order.h"

namespace shoal {

struct Schedule::Entry final : WriteGuard {
    Entry(std::string_view name_given, std::string_view group_given) : name(name_given), group(group_given) {
        statistics.name = name;
    }

    /// Ends the program when the pass has not declared that it writes the column.
    void require(const Table& table, std::uint32_t column) const override;

    const std::string name, group;
    Pass* pass = nullptr;
    void (*destroy)(Pass*) = nullptr;
    Array<Access> accesses{Owner("schedule")};
    Array<std::string> after{Owner("schedule")};
    Array<std::string> before{Owner("schedule")};
    PassStatistics statistics;
    bool runs = true;                                  // in the run that goes on
    Array<std::int64_t> worker_ns{Owner("schedule")};  // by worker
    std::uint32_t trace_name = 0;
};

struct Schedule::Plan {
    PassLine line;
};

}  // namespace shoal

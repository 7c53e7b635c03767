#pragma once
// Reports the costs of a world: the time per pass, and the memory per component type and per owner.
//
//     WorldReport report = report_world(world);
//     std::fputs(report_text(report).c_str(), stdout);  // for people
//     std::fputs(report_json(report).c_str(), file);    // for programs, the same facts
//
//     pass      runs    rows  ms total  ms mean  ms last   GB/s
//     simulate   600  10,137     12.48    0.021    0.020  23.46
//
//     component     rows  dead    bytes/row       used  committed ...
//
// A report is a copy, and does not refer to the world.
// Thread: report_world() makes const calls to the world; other functions may run on any thread.

#include "shoal/world/world.h"

#include <string>
#include <vector>

namespace shoal {

class DocumentBuilder;

/// The cost of one pass. Times are wall-clock times.
struct PassReport {
    std::string name;
    std::uint64_t num_runs = 0;
    std::uint64_t num_rows = 0;  ///< of the last run
    std::uint64_t total_rows = 0;
    std::uint64_t total_bytes = 0;  ///< read and written, as reported by the pass
    std::int64_t total_ns = 0;
    std::int64_t last_ns = 0;
    std::vector<std::int64_t> worker_ns{};  ///< working time of each worker over all runs; empty: unknown
    bool enabled = true;                    ///< the pass and its group are enabled
    std::uint32_t every_frames = 1;         ///< interval in frames, if every_seconds is 0
    float every_seconds = 0;

    double total_ms() const { return static_cast<double>(total_ns) * 1e-6; }
    double last_ms() const { return static_cast<double>(last_ns) * 1e-6; }
    double mean_ms() const { return num_runs == 0 ? 0 : total_ms() / static_cast<double>(num_runs); }
    /// Bytes per nanosecond; 0 if the pass does not report the number of bytes that it touched.
    double gb_per_s() const {
        return total_ns <= 0 ? 0 : static_cast<double>(total_bytes) / static_cast<double>(total_ns);
    }
};

/// The memory of one component type.
struct ComponentReport {
    std::string name;
    std::uint64_t num_rows = 0;
    std::uint64_t num_dead_rows = 0;  ///< not yet removed rows of dead entities
    std::uint32_t row_bytes = 0;      ///< fields of one row, without owner and links
    MemoryUse rows;
    MemoryUse index;

    /// The total cost of a row, including the index; 0 if there are no rows.
    double bytes_per_row() const {
        return num_rows == 0
                   ? 0
                   : static_cast<double>(rows.committed_bytes + index.committed_bytes) / static_cast<double>(num_rows);
    }
    /// Memory that is committed but unused.
    std::size_t wasted_bytes() const {
        return rows.committed_bytes - rows.used_bytes + index.committed_bytes - index.used_bytes;
    }
};

/// The memory of one owner.
struct OwnerReport {
    std::string name;
    MemoryUse memory;
};

struct WorldReport {
    std::uint64_t num_entities = 0;  ///< alive in the entity manager
    std::uint64_t frame = 0;
    std::vector<PassReport> passes;           ///< in the order of the schedule
    std::vector<ComponentReport> components;  ///< in the order of the stores
    std::vector<OwnerReport> memory;          ///< no byte is counted twice
    /// The counts of the last settle and of all settles. "Moved" includes entities that have gained or lost components
    /// within their zone.
    SettleCounts last_settle{}, settled{};

    /// The sum over all owners.
    MemoryUse total_memory() const {
        MemoryUse total;
        for (const OwnerReport& owner : memory) total += owner.memory;
        return total;
    }
};

SHOAL_API WorldReport report_world(const World& world);

/// Returns tables of passes, of command effects (if there were any), of component types and of owners. If a
/// pass is disabled or does not run in every frame, this is noted beside its name. Every line ends with a newline.
SHOAL_API std::string report_text(const WorldReport& report);

/// Adds `passes`, `settles`, `components` (by name) and `memory` (by owner) to an open mapping. `enabled` is only
/// written for disabled passes, and `every_frames` or `every_seconds` only for passes that do not run in every frame.
SHOAL_API void write_report(const WorldReport& report, DocumentBuilder& builder);
/// Returns a JSON object with `entities`, `frame` and the members of write_report().
SHOAL_API std::string report_json(const WorldReport& report);

}  // namespace shoal

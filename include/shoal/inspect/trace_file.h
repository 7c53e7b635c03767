#pragma once
// Writes a trace as a file for chrome://tracing and Perfetto. Each worker has a line, with a bar for each period in
// which it worked.
//
//     {"displayTimeUnit": "ms", "traceEvents": [
//       {"ph": "M", "name": "thread_name", "pid": 1, "tid": 0, "args": {"name": "worker 0"}},
//       {"ph": "X", "name": "move", "pid": 1, "tid": 0, "ts": 12.5, "dur": 3.25, "args": {"frame": 7}}, ...
//
// Times are microseconds since the first kept event.
// Thread: any, while no schedule with this trace is running.

#include "shoal/base/status.h"
#include "shoal/world/trace.h"

namespace shoal {

SHOAL_API std::string trace_json(const Trace& trace);

/// Errors: those of write_file().
SHOAL_API Status write_trace(const std::string& path, const Trace& trace);

}  // namespace shoal

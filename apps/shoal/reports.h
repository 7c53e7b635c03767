#pragma once
// Reports of a world for `shoal run --report` and `shoal report`.

#include "run.h"
#include "shoal/world/trace.h"

namespace shoal_tool {

/// Reads the flags for a report. Errors: `shoal report` was given neither a file nor --text; the file's name does not
/// end in .html.
shoal::Status read_report(const Arguments& arguments, Task& task);

/// Writes the report of a run if the flags request it. Errors: as for Files::write().
shoal::Status write_report_of_run(shoal::World& world, const shoal::Trace& trace, const Task& task, Files& files,
                                  Outcome& outcome);

/// Returns a line with the path of the written report.
std::string report_line(const Task& task, const Outcome& outcome);

}  // namespace shoal_tool

#pragma once
// Errors with messages of several lines, such as those of scripts: the first line is the error, and the other lines,
// which are a traceback, are notes.
// Thread: as for Diagnostics.

#include "shoal/document/diagnostics.h"

namespace shoal {

SHOAL_API Diagnostic& add_with_traceback(Diagnostics& diagnostics, SourcePosition position, std::string_view lines);

}  // namespace shoal

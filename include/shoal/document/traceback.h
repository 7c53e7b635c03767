#pragma once
// Errors whose messages have several lines, such as those of scripts: the first is the error, and the others, a traceback, are notes.
// Thread: as for Diagnostics.

#include "shoal/document/diagnostics.h"

namespace shoal {

SHOAL_API Diagnostic& add_with_traceback(Diagnostics& diagnostics, SourcePosition position, std::string_view lines);

}  // namespace shoal

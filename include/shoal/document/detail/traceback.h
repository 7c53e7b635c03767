#pragma once
// Adds errors with messages of several lines, such as script errors: the first line becomes the error, and the other
// lines, the traceback, become notes.
// Thread: the same as Diagnostics.

#include "shoal/document/diagnostics.h"

namespace shoal {

SHOAL_API Diagnostic& add_with_traceback(Diagnostics& diagnostics, SourcePosition position, std::string_view lines);

}  // namespace shoal

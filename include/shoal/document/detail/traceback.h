#pragma once
// Adds errors whose messages have several lines, such as script errors. The first line becomes the error. The other
// lines, which are the traceback, become notes.
// Thread: a Diagnostics may be used by one thread at a time.

#include "shoal/document/diagnostics.h"

namespace shoal {

SHOAL_API Diagnostic& add_with_traceback(Diagnostics& diagnostics, SourcePosition position, std::string_view lines);

}  // namespace shoal

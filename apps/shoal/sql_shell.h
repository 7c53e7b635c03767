#pragma once
// The shell of `shoal sql`. Reads statements line by line, from a terminal or a pipe.

#include "sql_output.h"

namespace shoal_tool {

/// Runs statements, which end with `;`, and commands such as .tables, until .quit or the end of standard input. On a
/// terminal, lines can be edited, names are completed, and the history is saved. Returns whether all statements
/// succeeded. On a terminal, always returns true.
bool run_shell(shoal::sql::Connection& connection, AnswerPrinter& printer, const shoal::sql::Options& options,
               Console& console);

}  // namespace shoal_tool

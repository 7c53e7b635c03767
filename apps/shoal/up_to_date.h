#pragma once
// shoal check --up-to-date: reports whether recompiling the sources would produce the same blobs.

#include "arguments.h"

namespace shoal_tool {

/// Compares each blob operand with its sources. Returns the exit code, which is 0 if all are up to date.
int check_up_to_date(const Arguments& arguments, Files& files, Console& console);

}  // namespace shoal_tool

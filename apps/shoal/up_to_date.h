#pragma once
// shoal check --up-to-date: whether blobs are what their sources would give now.

#include "arguments.h"

namespace shoal_tool {

/// Compares the blobs that are the operands with their sources. Returns the exit code: 0 when all are up to date.
int check_up_to_date(const Arguments& arguments, Files& files, Console& console);

}  // namespace shoal_tool

#pragma once
// Prints and compares saves and Persistence folders, for `shoal dump` and `shoal diff`.

#include "loaded_save.h"

namespace shoal_tool {

/// Prints a save as text.
int dump_save(const Arguments& arguments, Files& files, Console& console);
/// Prints the differences between two saves. Returns the exit code, which is `different` if there are any.
int diff_saves(const Arguments& arguments, Files& files, Console& console, int different);

}  // namespace shoal_tool

#pragma once
// What `shoal dump` and `shoal diff` show of saves, and of folders of Persistence.

#include "loaded_save.h"

namespace shoal_tool {

/// Prints a save as text.
int dump_save(const Arguments& arguments, Files& files, Console& console);
/// Says what is different between two saves. Returns the exit code: `different` if something is.
int diff_saves(const Arguments& arguments, Files& files, Console& console, int different);

}  // namespace shoal_tool

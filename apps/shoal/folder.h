#pragma once
// shoal compile FOLDER: every source below a folder becomes a blob at the same path in another folder; what has not changed
// is not compiled again.

#include "arguments.h"

namespace shoal_tool {

/// Compiles the sources below the folder that is the operand. Returns the exit code.
int compile_folder(const Arguments& arguments, Files& files, Console& console);

}  // namespace shoal_tool

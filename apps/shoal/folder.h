#pragma once
// shoal compile FOLDER: compiles each source below a folder to a blob at the same path in another folder. Unchanged
// sources are skipped.

#include "arguments.h"

namespace shoal_tool {

/// Compiles all sources below the folder that is the operand. Returns the exit code.
int compile_folder(const Arguments& arguments, Files& files, Console& console);

}  // namespace shoal_tool

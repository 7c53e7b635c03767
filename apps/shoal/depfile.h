#pragma once
// Writes the list of files that a blob was made from, in the format of Ninja and make:
//
//     build/reef.blob: levels/reef.sjson reef/coral.sjson
//
//     levels/reef.sjson:
//
//     reef/coral.sjson:
//
// The rules without inputs let make continue if an input of the old blob was removed. A depfile cannot express that a
// file must not exist: only `shoal compile FOLDER` and `shoal check --up-to-date` check that.

#include "shoal/base/status.h"

#include <span>
#include <string>

namespace shoal_tool {

/// Returns the depfile of `output`. Escapes blanks, `$`, `#`, `:` and `\` as gcc does. Omits duplicates. Errors: a name
/// has a line end, which a depfile cannot contain.
shoal::Result<std::string> depfile_text(const std::string& output, std::span<const std::string> inputs);

}  // namespace shoal_tool

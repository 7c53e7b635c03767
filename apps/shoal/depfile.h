#pragma once
// Writes the list of files that a blob was made from, in the format that Ninja and make read:
//
//     build/reef.blob: levels/reef.sjson reef/coral.sjson
//
//     levels/reef.sjson:
//
//     reef/coral.sjson:
//
// Because of the rules without inputs, make does not fail when an input of the old blob has been removed. A depfile
// cannot express that a file must not exist. Only `shoal compile FOLDER` and `shoal check --up-to-date` check that.

#include "shoal/base/status.h"

#include <span>
#include <string>

namespace shoal_tool {

/// Returns the depfile for `output`. Escapes blanks, `$`, `#`, `:` and `\` as gcc does. Omits duplicates. Errors: a
/// name contains a line end, which a depfile cannot express.
shoal::Result<std::string> depfile_text(const std::string& output, std::span<const std::string> inputs);

}  // namespace shoal_tool

#pragma once
// Which files a blob was made from, as Ninja and make read it:
//
//     build/reef.blob: levels/reef.sjson reef/coral.sjson
//
//     levels/reef.sjson:
//
//     reef/coral.sjson:
//
// The lines without inputs keep make going when a file is gone that the old blob was made from. Files whose absence counts
// cannot be said there: `shoal compile FOLDER` and `shoal check --up-to-date` know them.

#include "shoal/base/status.h"

#include <span>
#include <string>

namespace shoal_tool {

/// Returns the depfile of `output`. Blanks, `$`, `#`, `:` and `\` are written as gcc writes them. A file that is named twice
/// is there once. Errors: a name with a line end, which no depfile can hold.
shoal::Result<std::string> depfile_text(const std::string& output, std::span<const std::string> inputs);

}  // namespace shoal_tool

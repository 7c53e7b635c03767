#pragma once
// The files that a blob was made from, in the format of Ninja and make:
//
//     build/reef.blob: levels/reef.sjson reef/coral.sjson
//
//     levels/reef.sjson:
//
//     reef/coral.sjson:
//
// The lines without inputs let make continue when an input of the old blob was removed. Dependencies on the absence of
// files cannot be expressed: only `shoal compile FOLDER` and `shoal check --up-to-date` notice them.

#include "shoal/base/status.h"

#include <span>
#include <string>

namespace shoal_tool {

/// Returns the depfile of `output`. Blanks, `$`, `#`, `:` and `\` are escaped as by gcc. A file that is named twice
/// is listed once. Errors: a name has a line end, which a depfile cannot contain.
shoal::Result<std::string> depfile_text(const std::string& output, std::span<const std::string> inputs);

}  // namespace shoal_tool

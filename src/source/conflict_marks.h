#pragma once
// The marks that git leaves in a text that it could not merge.

#include "shoal/document/diagnostics.h"
#include "shoal/document/read_options.h"

namespace shoal {

/// Returns whether a file of `diagnostics` has such marks and cannot be read because of them, which is reported then: what
/// a reader would say of them says nothing of git.
bool refuse_conflict_marks(std::uint32_t file, const ReadOptions& options, Diagnostics& diagnostics);

}  // namespace shoal

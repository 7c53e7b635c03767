#pragma once
// Strict JSON, as in RFC 8259. Trees are the same as for SJSON. The keys of an object must differ. Thread: calls are
// independent; one thread at a time per Diagnostics.

#include "shoal/base/status.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"

#include <cstdint>
#include <string>

namespace shoal {

/// Reads a file of `diagnostics`. A byte order mark is skipped. Errors: one or more in `diagnostics`, and no document.
/// Lifetime: the document refers to the text in `diagnostics`.
SHOAL_API Result<Document> read_json(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

/// Returns `node` as text, indented by two spaces, with short lists of numbers on one line. read_json() reads it back
/// as an equal tree. Requires: `node` is not none.
SHOAL_API std::string write_json(Node node);

}  // namespace shoal

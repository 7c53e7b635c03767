#pragma once
// Reads and writes strict JSON (RFC 8259). The trees are the same as for SJSON. Duplicate keys in an object are an
// error.
// Thread: calls are independent, except that a Diagnostics may be used by one thread at a time.

#include "shoal/base/status.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"

#include <cstdint>
#include <string>

namespace shoal {

/// Reads a file that was added to `diagnostics`. A byte order mark is skipped. Errors: the text is not valid JSON. On
/// error, no document is returned, and `diagnostics` has the errors.
/// Lifetime: `diagnostics` must outlive the document, which refers to its text.
SHOAL_API Result<Document> read_json(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

/// Returns `node` as text, indented by two spaces, with short lists of numbers on one line. read_json() reads it back
/// as an equal tree. Requires: `node` is not none.
SHOAL_API std::string write_json(Node node);

}  // namespace shoal

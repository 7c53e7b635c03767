#pragma once
// JSON as in RFC 8259, strictly; the same tree as read_sjson gives. Keys of an object must differ.
// Thread: calls are independent; one thread at a time per Diagnostics.

#include "shoal/base/status.h"
#include "shoal/document/document.h"
#include "shoal/document/read_options.h"

#include <cstdint>
#include <string>

namespace shoal {

/// Reads a file that `diagnostics` knows; a byte order mark is skipped.
/// Errors: `diagnostics` has one or more, each with its place; there is no document.
/// Lifetime: the document refers to the text that `diagnostics` keeps.
SHOAL_API Result<Document> read_json(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

/// Returns `node` as text, indented by two spaces, short lists of numbers on one line. read_json gives back an equal
/// tree. Requires: a node.
SHOAL_API std::string write_json(Node node);

}  // namespace shoal

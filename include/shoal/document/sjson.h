#pragma once
// SJSON: JSON that is pleasant to write. docs/formats/sjson.md has the grammar.
//
//     prefab = "reef/coral"          // no braces around the whole, no commas
//     "43d2ce7f" = { position = [4 0 12] }
//     text = """any "text", as it is"""
//
// Every JSON text is SJSON and reads the same.
// Thread: calls are independent; one thread at a time per Diagnostics.

#include "shoal/base/status.h"
#include "shoal/document/document.h"
#include "shoal/document/read_options.h"

#include <cstdint>
#include <string>

namespace shoal {

/// Reads a file that `diagnostics` knows.
/// Errors: `diagnostics` has one or more, each with its place, and there is no document. A text larger than
/// 4 GiB is one.
/// Lifetime: the document refers to the text that `diagnostics` keeps.
/// Cost: over 400 MB of text a second, no allocation per node; hostile text costs no more than linear time.
SHOAL_API Result<Document> read_sjson(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

/// Returns `node` as text: a mapping without its outer braces, indented by tabs, short lists of numbers on one line.
/// read_sjson gives back an equal tree. Requires: a node.
SHOAL_API std::string write_sjson(Node node);

}  // namespace shoal

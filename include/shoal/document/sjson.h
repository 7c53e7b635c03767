#pragma once
// SJSON: JSON that is pleasant to write. docs/formats/sjson.md describes the grammar.
//
//     prefab = "reef/coral"          // no braces around the whole, no commas
//     "43d2ce7f" = { position = [4 0 12] }
//     text = """any "text", as it is"""
//
// JSON is a subset of SJSON.
// Thread: calls are independent, except that a Diagnostics may be used by one thread at a time.

#include "shoal/base/status.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"

#include <cstdint>
#include <string>

namespace shoal {

/// Reads a file that was added to `diagnostics`. Errors: the text is not valid SJSON, or is larger than 4 GiB. On
/// error, no document is returned, and `diagnostics` has the errors. Lifetime: `diagnostics` must outlive the document,
/// which refers to its text. Cost: reads over 400 MB per second, without an allocation per node. The time is linear
/// even for hostile input.
SHOAL_API Result<Document> read_sjson(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

/// Returns `node` as text, indented by tabs, without braces around a root mapping, with short lists of numbers on one
/// line. read_sjson() reads it back as an equal tree. Requires: `node` is not none.
SHOAL_API std::string write_sjson(Node node);
/// Like write_sjson(), but on one line with no final line break, as in `mass = 2.0, position = [0 0 3]`.
SHOAL_API std::string write_sjson_line(Node node);

}  // namespace shoal

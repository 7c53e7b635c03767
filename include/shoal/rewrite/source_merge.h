#pragma once
// Merges two versions of a source by key, for each entity, component and field.
//
//     const std::optional<Document> merged = merge_sources(base, a, b, diagnostics, comments);
//     if (merged) print(write_source_text(merged->root(), SourceFormat::kSjson, diagnostics, comments));
//
//     base        a           b           merged
//     power 2     power 3     power 2     power 3
//     glow        -           glow        -
//     -           -           lamp        lamp
//     power 2     power 3     power 4     a conflict
//
// Read each of the three with read_source_tree(), adding their comments to the same SourceComments. The result has the
// layout of `a`; items that are new in `b` keep their relative position. Unchanged parts keep their comments, their
// spelling and their position in the text. Comments merge like values, but never conflict.
// Thread: one thread at a time per Diagnostics.

#include "shoal/rewrite/detail/source_tree.h"

#include <optional>

namespace shoal {

/// Merges the changes that lead from `base` to `a` with those from `base` to `b`. All three must have been read with
/// `diagnostics`.
/// Errors: both sides change a value differently, both add a key but with different values, one side removes an item
/// that the other changes, or both move the same entity. On error, returns nothing, and `diagnostics` has each conflict
/// with both positions.
/// Lifetime: the document refers to the texts of the trees.
SHOAL_API std::optional<Document> merge_sources(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                                                Diagnostics& diagnostics);
/// Like merge_sources() above, but also merges the comments of the three texts. A comment that only one side has
/// changed is also changed in the result. If both sides have changed a comment, or one side has changed it and the
/// other side has changed its item, the comment in `a` is kept. A warning then reports the position of the comment that
/// is dropped. A JSON text has no comments, but this does not count as removing them.
SHOAL_API std::optional<Document> merge_sources(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                                                Diagnostics& diagnostics, SourceComments& comments);

}  // namespace shoal

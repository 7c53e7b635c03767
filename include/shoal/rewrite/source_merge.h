#pragma once
// Merges two sources that were made from one, by key: entity by entity, component by component, field by field.
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
// read_source_tree() reads all three, and the comments of all three into one SourceComments. The result is laid out as
// `a` is, with what is new in `b` at the place that it has there. What nobody has changed is taken over with its
// comments, its spelling and its place in the text. Comments merge as values do, but are never in conflict.
// Thread: one thread at a time per Diagnostics.

#include "shoal/rewrite/source_tree.h"

#include <optional>

namespace shoal {

/// Merges what has changed from `base` to `a` and from `base` to `b`. All three were read with `diagnostics`.
/// Errors: nothing, and each conflict is in `diagnostics` with the places of both sides: both have changed one value,
/// both have added one key with different values, one has removed what the other has changed, or both have moved one
/// entity.
/// Lifetime: the document refers to the texts of the trees.
SHOAL_API std::optional<Document> merge_sources(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                                                Diagnostics& diagnostics);
/// The same with the comments of the three texts: a comment that one of them has changed is the changed one in the
/// result. If both have changed it, or one has changed what the comment of the other is about, the comment of `a`
/// stays, and what is left out is a warning at its place. JSON has no comments, and does not change those of others.
SHOAL_API std::optional<Document> merge_sources(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                                                Diagnostics& diagnostics, SourceComments& comments);

}  // namespace shoal

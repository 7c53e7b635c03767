#pragma once
// The comments of a merged tree: those that either text has changed.
// Thread: one thread at a time per SourceComments.

#include "shoal/rewrite/source_text.h"
#include "shoal/rewrite/source_tree.h"

namespace shoal {

/// The texts of a merge, and the tree that it gave, whose nodes are from them.
struct MergedTrees {
    const SourceTree& base;
    const SourceTree& a;
    const SourceTree& b;
    const SourceTree& merged;
};

/// Gives each node of the merged tree the comments that its three texts say together: those of the text that has changed
/// them, or of `a` if both have. JSON has no comments and changes none. A comment that is new in a text and not in the
/// result is a warning.
void merge_comments(const MergedTrees& trees, SourceComments& comments, Diagnostics& diagnostics);

}  // namespace shoal

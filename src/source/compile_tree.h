#pragma once
// Composes a source that was built in memory, so that what is wrong is reported where its nodes come from.

#include "shoal/source/composer.h"

namespace shoal {

/// Composes a tree. It cannot use prefabs. Lifetime: that of the tree's document.
std::optional<Composition> compose_tree(Node root, const ComposeOptions& options, Diagnostics& diagnostics);

}  // namespace shoal

#pragma once
// Compiles a source that was built in memory, so that what is wrong is reported where its nodes come from.

#include "shoal/source/compiler.h"

namespace shoal {

/// Composes a tree. It cannot use prefabs. Lifetime: that of the tree's document.
std::optional<Composition> compose_tree(Node root, const ComposeOptions& options, Diagnostics& diagnostics);

/// Reports what compile_file() would report of the text of a tree.
void check_tree(Node root, const ComponentRegistry& registry, const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace shoal

#pragma once
// Composer functions that only the compiler uses. They split file names, and compose a source that was built in memory.
// Errors are reported at the source positions of its nodes.

#include "shoal/source/detail/composer.h"

namespace shoal {

/// Composes a tree, which cannot use prefabs. Lifetime: as long as the tree's document.
std::optional<Composition> compose_tree(Node root, const ComposeOptions& options, Diagnostics& diagnostics);

inline std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

/// Returns the path of a file without its extension. A dot at the start of the file name does not begin an extension.
inline std::string_view without_extension(std::string_view path) {
    const std::size_t dot = last_part(path).rfind('.');
    return dot == std::string_view::npos || dot == 0 ? path
                                                     : path.substr(0, path.size() - last_part(path).size() + dot);
}

}  // namespace shoal

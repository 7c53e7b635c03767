#pragma once
// What the composer does for the compiler alone: it composes a source that was built in memory, so that what is wrong
// is reported where its nodes come from; and it knows what files are called.

#include "shoal/source/detail/composer.h"

namespace shoal {

/// Composes a tree. It cannot use prefabs. Lifetime: that of the tree's document.
std::optional<Composition> compose_tree(Node root, const ComposeOptions& options, Diagnostics& diagnostics);

inline std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

/// Returns the path of a file without what stands behind the last point of its name, unless that begins with it.
inline std::string_view without_extension(std::string_view path) {
    const std::size_t dot = last_part(path).rfind('.');
    return dot == std::string_view::npos || dot == 0 ? path
                                                     : path.substr(0, path.size() - last_part(path).size() + dot);
}

}  // namespace shoal

#pragma once
// Nodes that have others in them.

#include "shoal/document/detail/document.h"

namespace shoal {

inline bool is_container(Node node) { return node.is_list() || node.is_mapping(); }

}  // namespace shoal

#pragma once
// Functions for nodes that contain other nodes.

#include "shoal/document/detail/document.h"

namespace shoal {

inline bool is_container(Node node) { return node.is_list() || node.is_mapping(); }

}  // namespace shoal

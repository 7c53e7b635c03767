#pragma once
// Merges the layers of one component from several texts.

#include "shoal/document/document_builder.h"
#include "shoal/source/detail/composer.h"

#include <span>
#include <string_view>

namespace shoal {

/// Returns whether `key` of an inline layer describes the component and is not a field.
bool is_consumed(const ComponentLayer& layer, std::string_view key);

/// Adds the nodes of several texts for one field, lowest first, as one value: mappings are merged key by key, and
/// anything else replaces the value below. Requires: `values` is not empty.
void merge_values(DocumentBuilder& builder, std::span<const Node> values);

}  // namespace shoal

#pragma once
// Merges the layers of a component, which come from several texts.

#include "shoal/document/document_builder.h"
#include "shoal/source/detail/composer.h"

#include <span>
#include <string_view>

namespace shoal {

/// Returns whether a key in a layer describes the component, and is thus not a field.
bool is_consumed(const ComponentLayer& layer, std::string_view key);

/// Adds one field's nodes from several texts, lowest first, as one value. Mappings are merged key by key, and other
/// values replace the value below them. Requires: `values` is not empty.
void merge_values(DocumentBuilder& builder, std::span<const Node> values);

}  // namespace shoal

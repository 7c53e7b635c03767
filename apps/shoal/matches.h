#pragma once
// The result of `shoal run --query TEXT` after the last frame: the matching entities, with the fields of the components
// that the query names.
//
//     entity  fish.hunger      body.position
//     2:1             3.5      [0.0 1.0 0.0]

#include "shoal/document/document_builder.h"
#include "shoal/world/world.h"

namespace shoal_tool {

struct Matches {
    std::string text;          ///< the number of matches, and a table of the first ones
    shoal::Document document;  ///< a list of mappings with the keys "entity" and field names; values may be null
};

/// Runs a query over a world. Errors: `text` is not a valid query; see `diagnostics`.
shoal::Result<Matches> find_matches(const shoal::World& world, std::string_view text, shoal::Diagnostics& diagnostics);

}  // namespace shoal_tool

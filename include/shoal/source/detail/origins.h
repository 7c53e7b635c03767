#pragma once
// Finds the texts that declare or change the components of an entity.
//
//     for (const LayerOrigin& origin : layer_origins(*composition, diagnostics, guid))
//         print(origin.file, origin.line, origin.component, origin.fields);
//
//     reef/coral.sjson   3   transform   position scale
//     reef/garden.sjson  14  transform   position            changes the existing one
//
// Thread: any.

#include "shoal/source/detail/composer.h"

#include <string>
#include <vector>

namespace shoal {

class Diagnostics;

/// The part of a component in one text.
struct LayerOrigin {
    std::string component;
    std::string file;  ///< the path in its root, as in blobs
    std::uint32_t line = 0;
    bool declares = false;            ///< true if the text adds the component, false if it changes an existing one
    std::vector<std::string> fields;  ///< names of the fields that the text sets, as the text writes them
};

/// Returns the layers of an entity's components, grouped by component. In each group, the layer that declares the
/// component comes first. Empty if no entity has this GUID path. Requires: `diagnostics` was used for the composition.
/// Cost: O(entities).
SHOAL_API std::vector<LayerOrigin> layer_origins(const Composition& composition, const Diagnostics& diagnostics,
                                                 std::uint64_t guid);

}  // namespace shoal

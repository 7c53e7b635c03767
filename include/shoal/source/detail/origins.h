#pragma once
// Where the values of an entity come from: which text declares each of its components, and which texts change it.
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

/// One text's part of a component.
struct LayerOrigin {
    std::string component;
    std::string file;  ///< the path in its root, as in blobs
    std::uint32_t line = 0;
    bool declares = false;            ///< true: the text adds the component; false: it changes an existing one
    std::vector<std::string> fields;  ///< fields that the text sets, by their names in the text
};

/// Returns the layers of the components of an entity, component by component; for each, the layer that declares it
/// comes first. Empty if no entity has this GUID path. `diagnostics`: the same as for the composition. Cost:
/// O(entities).
SHOAL_API std::vector<LayerOrigin> layer_origins(const Composition& composition, const Diagnostics& diagnostics,
                                                 std::uint64_t guid);

}  // namespace shoal

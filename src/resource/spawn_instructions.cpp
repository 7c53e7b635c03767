#include "shoal/resource/detail/spawn_instructions.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/database/spawn_zone.h"

#include <cstring>

namespace shoal {
namespace {

/// Returns the spawn instructions of type T in a blob. Returns nullptr if there are none, or if an ordinary component
/// type has that name.
template <class T>
const BlobComponents* find_instructions(const Blob& blob) {
    const BlobComponents* const named = blob.find_components(schema_of<T>().id());
    return named != nullptr && is_schema_of<T>(*named->schema) ? named : nullptr;
}

}  // namespace

Array<Zone> named_zones(const Blob& blob) {
    Array<Zone> zones{Owner("spawn")};
    const BlobComponents* const named = find_instructions<SpawnZone>(blob);
    if (named == nullptr) return zones;
    zones.resize(blob.num_entities(), kNoZone);
    for (std::uint32_t i = 0; i < named->count(); ++i)
        std::memcpy(&zones[named->entity_index[i]], named->columns[0] + i * sizeof(Zone), sizeof(Zone));
    for (std::uint32_t i = 0; i < zones.size(); ++i)
        if (const std::uint32_t parent = blob.parents()[i]; zones[i] == kNoZone && parent != kNoBlobEntity)
            zones[i] = zones[parent];
    return zones;
}

BitSet find_disabled_entities(const Blob& blob, ComponentId component, const ComponentRegistry* registry) {
    BitSet off{Owner("spawn")};
    off.resize(blob.num_entities());
    const BlobComponents* const named = find_instructions<SpawnDisabled>(blob);
    for (std::uint32_t i = 0; named != nullptr && i < named->count(); ++i) {
        auto id = read_as<ComponentId>(named->columns[0] + i * sizeof(ComponentId));
        if (registry != nullptr)
            if (const RegisteredComponent* const renamed = registry->find_current(id)) id = renamed->id;
        if (id == component) off.set(named->entity_index[i]);
    }
    return off;
}

}  // namespace shoal

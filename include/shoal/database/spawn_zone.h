#pragma once
// Component types with which a source declares how entities are spawned into databases. They are instructions: no store
// keeps them. They must be registered before a compiler accepts them; `shoal compile` registers them.
//
//     { type = "zone" zone = 12 }                        the entity is put into zone 12, and so are its children unless
//                                                        they name another; overrides Database::spawn_into_tiles
//     { type = "disabled" component = "asleep" }         its enableable component `asleep` is disabled
//
// A component type with one of these names but different fields is an ordinary component type.

#include "shoal/store/detail/zone.h"
#include "shoal/table/describe.h"

namespace shoal {

struct SpawnZone {
    Zone zone = 0;
};
SHOAL_COMPONENT((SpawnZone, name("zone")), (zone, range(0, kMaxZones - 1)))

/// One value for each component that is disabled.
struct SpawnDisabled {
    StringId component;
};
SHOAL_COMPONENT((SpawnDisabled, name("disabled"), many), component)

/// Whether a schema in a blob is the schema of `T`, or of one of these instructions.
template <DescribedComponent T>
bool is_schema_of(const Schema& schema) {
    return schema.id() == schema_of<T>().id() && schema.layout_hash() == schema_of<T>().layout_hash();
}
inline bool is_spawn_instruction(const Schema& schema) {
    return is_schema_of<SpawnZone>(schema) || is_schema_of<SpawnDisabled>(schema);
}

}  // namespace shoal

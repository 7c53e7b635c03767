#pragma once
// Names of entities, as shown in messages, reports and pictures. An entity has at most one name; several entities
// may have the same name.
//
//     entity --Manager<DebugName>--> text id --StringTable--> "reef/coral"
//
// DebugNameManager stores no names. It refers to a manager and a string table, which may be those of a world. The
// spawner fills them.
// Thread: the same as for Manager and StringTable.

#include "shoal/base/detail/string_table.h"
#include "shoal/store/manager.h"

namespace shoal {

struct DebugName {
    StringId name;
};
SHOAL_COMPONENT(DebugName, name)

class DebugNameManager {
public:
    /// Lifetime: `names` and `texts` outlive this object.
    DebugNameManager(Manager<DebugName>& names, StringTable& texts) : names_(names), texts_(texts) {}

    /// Names a living entity, or renames it. An empty name removes the entity's name.
    /// Errors: the entity is dead, memory runs out, or the string table has a different string with the same hash.
    /// On error, the old name stays.
    SHOAL_API Status set_name(Entity entity, std::string_view name);

    /// Returns the name of a living entity. Empty if it has none, or if the string table does not have it.
    /// Lifetime:
    /// until the name changes, or the world with the string table settles.
    SHOAL_API std::string_view name(Entity entity) const;

private:
    Manager<DebugName>& names_;
    StringTable& texts_;
};

}  // namespace shoal

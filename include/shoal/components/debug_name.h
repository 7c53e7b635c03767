#pragma once
// Names of entities, for people: in messages, reports and pictures. An entity has one name or none; names need not be
// different.
//
//     entity --Manager<DebugName>--> text id --StringTable--> "reef/coral"
//
// The manager and the table may be shared with others (those of a world, filled by its spawner); this class refers to
// them and keeps nothing itself.
// Thread: as for Manager and StringTable.

#include "shoal/base/string_table.h"
#include "shoal/store/manager.h"

namespace shoal {

struct DebugName {
    StringId name;
};
SHOAL_COMPONENT(DebugName, name)

class DebugNameManager {
public:
    /// Lifetime: `names` and `texts` outlive this.
    DebugNameManager(Manager<DebugName>& names, StringTable& texts) : names_(names), texts_(texts) {}

    /// Names a living entity, in place of the name it had; the empty name takes it away.
    /// Errors: the entity is dead; no memory; another text with the same hash is kept. The old name stays.
    SHOAL_API Status set_name(Entity entity, std::string_view name);

    /// Returns the name of a living entity; empty when it has none, or when nobody kept the text of the one it has.
    /// Lifetime: that of the string table.
    SHOAL_API std::string_view name(Entity entity) const;

private:
    Manager<DebugName>& names_;
    StringTable& texts_;
};

}  // namespace shoal

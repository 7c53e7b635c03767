#pragma once
// The rows and memory of a database, by zone and component type.
//
//     zone   component    rows   used     committed
//        0   position      120   1.4 KiB  ...            rows of all archetypes of the zone that have it
//        0   velocity       80
//        1   position       97                           the sum over all zones is what Database::statistics returns
//
// Thread: a const call on the database.

#include "shoal/database/database.h"

namespace shoal {

struct ZoneStatistics {
    Zone zone = 0;
    ComponentType component{};
    StoreStatistics held{};  ///< its text is valid as long as the database exists
};

/// Returns one entry for each zone and component type that has a table there, sorted by zone, then by component type.
/// Cost: looks at the owner of every row.
SHOAL_API Array<ZoneStatistics> zone_statistics(const Database& database);

}  // namespace shoal

#pragma once
// What World::stream_zones() is told, and what it tells. Zones of World::database() that nobody visits lie in files, and come
// back when a query visits them:
//
//     in memory            zone 3, zone 4        rows, as ever
//     in the folder        zone_12_7.rows        rows of entities that live on: their ids stay theirs
//
// An entity whose zone is unloaded is alive, and has no row in the database; what it has in other stores stays there. Queries
// pass over it, `has()` is false, and commands about its components are dropped or give it a row of its own, which is added to
// the one that comes back. Reactions are told that its components have gone, and later that they have come. If it dies
// meanwhile, its row does not come back.
//
// A query *visits* the zones that it was given, with Query::in(), whenever it loops. The settle of that frame loads those that
// are unloaded, before it carries out commands, so the next frame has their rows. With a budget, the settle then unloads zones
// that no query has visited in this frame, those first whose last visit is the longest ago, until the budget is kept. A query
// without zones visits what is in memory, and is no visit.
//
// A state of the world has the files as they lie on the disk: a save, a kept frame, a persisted world, a recording. A world that
// streams zones keeps them unloaded when it loads the state, and writes files of its own; the budget then goes by the visits
// of the world that was saved. A world that does not stream zones loads all rows. A state has the bytes of the files, and shares
// them with the one before it: unloaded zones take ZoneFileStatistics::file_bytes of memory for kept frames, and as much again
// while the world is persisted. Each of the two reads a file once, and again when it begins anew; a save reads all of them.
//
// Files are of this run of the program, and are read by nobody else. They go with the world, and those that a killed program
// has left go when the folder is used again.

#include "shoal/base/status.h"
#include "shoal/store/zone.h"

#include <cstdint>

namespace shoal {

/// A budget of what the database keeps in memory; 0: none.
struct ZoneFileOptions {
    std::uint64_t max_rows = 0;
    std::uint64_t max_bytes = 0;  ///< in rows, as Database::statistics() counts what is used
    ZoneSet kept;                 ///< these are not unloaded for a budget; nor is the first zone of the database
};

struct ZoneFileStatistics {
    std::uint32_t num_unloaded = 0;  ///< zones now
    std::uint64_t num_rows = 0;      ///< of these
    std::uint64_t file_bytes = 0;    ///< of these
    std::uint64_t num_unloads = 0;   ///< zones so far
    std::uint64_t num_loads = 0;     ///< the same
};

}  // namespace shoal

#pragma once
// Streams zones of World::database(): zones that no query visits are moved to files, and are loaded when a query visits
// them.
//
//     ZoneStreaming zones(world);
//     const ZoneFileOptions budget{.max_rows = 1'000'000, .max_bytes = 64 << 20, .kept = {0}};
//     if (Status status = zones.start(folder, budget); !status) FAIL() << status.message();
//     if (Status status = zones.unload(12); !status) FAIL() << status.message();  // or the budget does it
//     world.query<Write<&Body::position>>().in({12}).for_each([](auto&& at) { at.x += 1; });
//     world.step(1.0f / 60);  // the zone is back for the next frame
//
//     in memory            zone 3, zone 4        rows, as ever
//     in the folder        zone_12_7.rows        rows of entities that live on: their ids stay theirs
//
// An entity whose zone is unloaded is alive, but has no row in the database; its components in other stores stay there.
// Queries skip it, and `has()` is false. Commands on its components are dropped, or give it a new row that is merged
// with the stored row when the zone is loaded. Observers see its components as removed when the zone is unloaded, and
// as added when it is loaded. If the entity has been destroyed by then, its row is not restored.
//
// Each loop of a query *visits* the zones that were set with Query::in(). The next settle first loads the visited zones
// that are unloaded, so the next frame has their rows, and then carries out commands. If there is a budget, it then
// unloads zones that no query has visited in this frame, the least recently visited first, until the rows fit the
// budget. A query without zones loops over the rows in memory, and does not count as a visit.
//
// A state of the world (a save, a kept frame, a persisted world or a recording) contains the bytes of the zone files.
// When a world that streams zones loads the state, it keeps these zones unloaded, and writes its own files. To choose
// the zones to unload, it then uses the visits of the saved world. A world that does not stream zones loads all rows. A
// state shares the bytes of files with the previous state: unloaded zones take ZoneFileStatistics::file_bytes of memory
// once for all kept frames, and once more while the world is persisted. Frames and Persistence each read a file once,
// and read it again if they restart. A save reads all files.
//
// Files are private to this run of the program. They and their rows are deleted when the world or this object is
// destroyed, unless stop() was called first. A persisted world writes its last state before the files are deleted.
// Files that a killed program has left behind are deleted when the folder is used again. A world has at most one
// ZoneStreaming at a time; a second one ends the program.
// Thread: the structural thread of the world, between its passes.

#include "shoal/base/status.h"
#include "shoal/react/service.h"
#include "shoal/store/detail/zone.h"

#include <cstdint>

namespace shoal {

class World;
class ZoneFiles;

/// The budget for rows and bytes in memory. A limit of 0 means unlimited.
struct ZoneFileOptions {
    std::uint64_t max_rows = 0;
    std::uint64_t max_bytes = 0;  ///< memory for rows, as in Database::statistics()
    ZoneSet kept;                 ///< zones that are never unloaded; always includes the database's first zone
};

struct ZoneFileStatistics {
    std::uint32_t num_unloaded = 0;  ///< number of currently unloaded zones
    std::uint64_t num_rows = 0;      ///< number of rows in these zones
    std::uint64_t file_bytes = 0;    ///< size of their files
    std::uint64_t num_unloads = 0;   ///< number of zones unloaded so far
    std::uint64_t num_loads = 0;     ///< number of zones loaded so far
};

/// Requires: the world is at rest during each call.
class ZoneStreaming final : public WorldService {
public:
    /// Requires: the world has no other ZoneStreaming, and no passes are running.
    SHOAL_API explicit ZoneStreaming(World& world);
    SHOAL_API ~ZoneStreaming() override;

    /// Starts streaming zones of database() to files in a folder. Creates the folder if it is missing; its parent must
    /// exist. Call this again to change the options or the folder.
    /// Errors: the folder cannot be written, or another world has locked it.
    SHOAL_API Status start(const std::string& folder, const ZoneFileOptions& options = {});
    /// Loads all zones, and stops streaming. Errors: the same as for load(). On error, streaming continues.
    SHOAL_API Status stop();
    /// Writes the rows of a zone to a file, and removes them from the database. Their entities stay alive without rows.
    /// Does nothing for a zone without rows.
    /// Errors: the rows cannot be written, the disk is full, or start() was not called. On error, nothing has changed,
    /// except that an unloaded zone with new rows may have been loaded.
    SHOAL_API Status unload(Zone zone);
    /// Restores the rows of a zone, with the same values for the same entities. Does nothing if the zone is already
    /// loaded.
    /// Errors: the file is missing or damaged, or an entity in the zone already has one of its stored components
    /// elsewhere. On error, the zone stays unloaded, and can be loaded once the cause is fixed.
    SHOAL_API Status load(Zone zone);
    /// Loads all zones that can be loaded. Errors: the error for the first zone that cannot be loaded.
    SHOAL_API Status load_all();
    /// Returns the zones that are currently unloaded.
    SHOAL_API ZoneSet unloaded() const;
    SHOAL_API ZoneFileStatistics statistics() const;

private:
    void stop_persistence();
    friend class ZoneFiles;

    std::string describe() const override;
    void before_commands(const SettleContext& context) override;
    void after_commands(const SettleContext& context) override;
    void note_deaths() override;
    void before_detach(Store& store) override;
    void forget(const Store& store) override;
    void world_ends() override;
    void mark_texts(TextMarks& marks) const override;
    ZoneSet unloaded_zones() const override;
    Zone unloaded_zone_of(Entity entity) const override;
    World& world_now(std::string_view asked) const;

    World* world_;                // nullptr: the world has ended
    ZoneFiles* files_ = nullptr;  // nullptr: zones are not streamed
};

}  // namespace shoal

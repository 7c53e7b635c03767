#pragma once
// Streams zones: zones of World::database() that no query visits are kept in files, and are loaded when a query visits
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
// Queries pass over it, `has()` is false, and commands about its components are dropped or give it a new row, which is
// merged into the stored one when the zone is loaded. Observers see its components removed at unloading, and added
// again at loading. If the entity dies before then, its row is not restored.
//
// A query *visits* the zones that it was given, with Query::in(), whenever it loops. The settle of that frame loads the
// visited zones that are unloaded before it carries out commands, so the next frame has their rows. With a budget, the
// settle then unloads zones that no query has visited in this frame, the least recently visited first, until
// the budget is kept. A query without zones loops over the rows in memory, and does not count as a visit.
//
// A state of the world (a save, a kept frame, a persisted world, a recording) contains the zone files as they are on
// disk. A world that streams zones keeps them unloaded when it loads the state, and writes its own files; the budget
// then uses the visits of the saved world. A world that does not stream zones loads all rows. A state holds the bytes
// of the files, and shares them with the state before it: unloaded zones take ZoneFileStatistics::file_bytes of memory
// for kept frames, and as much again while the world is persisted. Frames and Persistence each read a file once, and
// once more if they restart; a save reads all files.
//
// Files belong to this run of the program; no other program reads them. They are deleted when the world or this object
// is destroyed, together with their rows, unless stop() has loaded them; a persisted world writes its last state first.
// Files left by a killed program are deleted when the folder is used again. A world has at most one such object at a
// time; a second one ends the program.
// Thread: the structural thread of the world, between its passes.

#include "shoal/base/status.h"
#include "shoal/react/service.h"
#include "shoal/store/detail/zone.h"

#include <cstdint>

namespace shoal {

class World;
class ZoneFiles;

/// The budget of rows and bytes that the database keeps in memory; 0: unlimited.
struct ZoneFileOptions {
    std::uint64_t max_rows = 0;
    std::uint64_t max_bytes = 0;  ///< used by rows, as Database::statistics() counts it
    ZoneSet kept;                 ///< zones that are never unloaded; always includes the database's first zone
};

struct ZoneFileStatistics {
    std::uint32_t num_unloaded = 0;  ///< number of zones that are unloaded now
    std::uint64_t num_rows = 0;      ///< in these zones
    std::uint64_t file_bytes = 0;    ///< of their files
    std::uint64_t num_unloads = 0;   ///< number of zones unloaded so far
    std::uint64_t num_loads = 0;     ///< number of zones loaded so far
};

/// Requires for each call: the world is at rest.
class ZoneStreaming final : public WorldService {
public:
    /// Requires: the world has no other ZoneStreaming; no passes run.
    SHOAL_API explicit ZoneStreaming(World& world);
    SHOAL_API ~ZoneStreaming() override;

    /// From now on, zones of database() can be unloaded to files in a folder, which is created if it is missing; its
    /// parent must exist. Another call changes the options or the folder.
    /// Errors: the folder cannot be written, or another world has locked it.
    SHOAL_API Status start(const std::string& folder, const ZoneFileOptions& options = {});
    /// Loads all zones, and stops streaming. Errors: the same as load(); streaming continues then.
    SHOAL_API Status stop();
    /// Writes the rows of a zone to a file, and removes them; their entities stay alive without rows. Does nothing for
    /// a zone without rows.
    /// Errors: rows that cannot be written; the disk is full; start() was not called. Nothing has changed, except that
    /// a zone that was unloaded and has got new rows since is loaded.
    SHOAL_API Status unload(Zone zone);
    /// Restores the rows of a zone: the same values for the same entities. Does nothing if the zone is not unloaded.
    /// Errors: the file is missing or damaged, or an entity of the zone has one of its components elsewhere; the zone
    /// stays unloaded, and can be loaded when the cause is fixed.
    SHOAL_API Status load(Zone zone);
    /// The same for all zones. Errors: the error of the first zone that cannot be loaded; all other zones are loaded.
    SHOAL_API Status load_all();
    /// Returns the zones that are unloaded now.
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

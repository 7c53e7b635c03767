#pragma once
// Streams zones: those of World::database() that nobody visits lie in files, and come back when a query visits them.
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
// An entity whose zone is unloaded is alive, and has no row in the database; what it has in other stores stays there.
// Queries pass over it, `has()` is false, and commands about its components are dropped or give it a row of its own,
// which is added to the one that comes back. Observers are told that its components have gone, and later that they have
// come. If it dies meanwhile, its row does not come back.
//
// A query *visits* the zones that it was given, with Query::in(), whenever it loops. The settle of that frame loads
// those that are unloaded, before it carries out commands, so the next frame has their rows. With a budget, the settle
// then unloads zones that no query has visited in this frame, those first whose last visit is the longest ago, until
// the budget is kept. A query without zones visits what is in memory, and is no visit.
//
// A state of the world has the files as they lie on the disk: a save, a kept frame, a persisted world, a recording. A
// world that streams zones keeps them unloaded when it loads the state, and writes files of its own; the budget then
// goes by the visits of the world that was saved. A world that does not stream zones loads all rows. A state has the
// bytes of the files, and shares them with the one before it: unloaded zones take ZoneFileStatistics::file_bytes of
// memory for kept frames, and as much again while the world is persisted. Each of the two reads a file once, and again
// when it begins anew; a save reads all of them.
//
// Files are of this run of the program, and are read by nobody else. They go when the world ends or the object does,
// with the rows in them, which stop() loads before; if the world is persisted then, its last state is written first.
// Those that a killed program has left go when the folder is used again. A world has one such object at a time; a
// second one ends the program.
// Thread: the structural thread of the world, between its passes.

#include "shoal/base/status.h"
#include "shoal/react/service.h"
#include "shoal/store/zone.h"

#include <cstdint>

namespace shoal {

class World;
class ZoneFiles;

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

/// Requires, for each call: the world is at rest.
class ZoneStreaming final : public WorldService {
public:
    /// Requires: the world has no other ZoneStreaming; no passes run.
    SHOAL_API explicit ZoneStreaming(World& world);
    SHOAL_API ~ZoneStreaming() override;

    /// From now on, zones of database() can be unloaded to files in a folder, which is made if there is none; its
    /// parent has to be there. Called again, it takes other options, or another folder.
    /// Errors: the folder cannot be written, or another world has locked it.
    SHOAL_API Status start(const std::string& folder, const ZoneFileOptions& options = {});
    /// Loads all zones, and ends what start() began. Errors: as of load(); it goes on then.
    SHOAL_API Status stop();
    /// Writes the rows of a zone to a file, and removes them; their entities live on without. A zone without rows is no
    /// error.
    /// Errors: rows that cannot be written; the disk is full; start() was not called. Nothing has changed, except that
    /// a zone which was unloaded, and has got rows since, is loaded then.
    SHOAL_API Status unload(Zone zone);
    /// Brings the rows of a zone back: the same values, of the same entities. A zone that is not unloaded is no error.
    /// Errors: the file is missing or damaged, or an entity has a component elsewhere that it has there too; the zone
    /// stays unloaded, and can be loaded when that is mended.
    SHOAL_API Status load(Zone zone);
    /// The same for all. Errors: those of the first that cannot be loaded; the others are.
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

    World* world_;                // nullptr: it has ended
    ZoneFiles* files_ = nullptr;  // nullptr: zones are not streamed
};

}  // namespace shoal

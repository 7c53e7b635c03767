#pragma once
// Unloads zones of a database to files, and loads them again; see shoal/world/zone_files.h.
// Thread: the structural thread of the world.

#include "shoal/base/folder.h"
#include "shoal/base/hash_map.h"
#include "shoal/world/world.h"
#include "shoal/world/zone_files.h"

#include <string>

namespace shoal {

class ZoneFiles {
public:
    ZoneFiles(World& world, Database& database);
    ZoneFiles(const ZoneFiles&) = delete;
    ZoneFiles& operator=(const ZoneFiles&) = delete;
    /// Removes the files.
    ~ZoneFiles();

    /// Takes the folder. Errors: see World::stream_zones().
    Status start(const std::string& folder, const ZoneFileOptions& options);
    void set_options(const ZoneFileOptions& options) {
        options_ = options;
        refused_.clear();
    }
    /// From now on, queries say which zones they visit.
    void watch();
    /// Returns the zone in whose file the row of an entity lies, or kNoZone.
    Zone zone_of(Entity entity) const;
    static Zone zone_of(const World& world, Entity entity) {
        return world.zone_files_ == nullptr ? kNoZone : world.zone_files_->zone_of(entity);
    }
    /// Errors: the row of one of these entities lies in a file, so it cannot be `done`, such as "copied".
    static Status check_loaded(const World& world, std::span<const Entity> entities, std::string_view done);
    Status unload(Zone zone);
    Status load(Zone zone);
    Status load_all();
    /// Loads the zones that queries have visited since the last call. What fails is logged.
    void load_visited();
    /// Unloads zones until the budget is kept.
    void keep_budget();

    const std::string& folder() const { return folder_; }
    const Database& database() const { return database_; }
    const ZoneSet& unloaded() const { return unloaded_; }
    ZoneFileStatistics statistics() const;

private:
    /// A zone in a file.
    struct File {
        Zone zone;
        std::uint64_t num_rows, num_bytes, hash;
        Array<Entity> owners;     // ascending
        std::uint64_t failed_at;  // a number of num_settles_, when it could not be loaded, which was logged; or 0
    };
    /// A zone in memory that may go.
    struct Candidate {
        std::uint64_t last_visit;
        Zone zone;
        std::uint64_t num_rows, num_bytes;
    };

    std::string path_of(Zone zone) const;
    File* find(Zone zone);
    Status write(Zone zone, File& file) const;
    Status read(const File& file);
    void forget(Zone zone);

    World& world_;
    Database& database_;
    std::string folder_;
    FileLock lock_;
    ZoneFileOptions options_;
    Array<File> files_{Owner("zone files")};
    ZoneSet unloaded_;                                               // those of files_
    HashMap<Zone, std::uint64_t> refused_{Owner("zone files")};      // could not be unloaded then, which was logged
    HashMap<Zone, std::uint64_t> last_visits_{Owner("zone files")};  // a number of num_settles_
    bool watches_ = false;
    std::uint64_t num_settles_ = 0, num_unloads_ = 0, num_loads_ = 0;
};

}  // namespace shoal

#pragma once
// Unloads zones of a database to files, and loads them again; see shoal/save/zone_streaming.h. A snapshot contains the
// files unchanged:
//
//     zones/store      the name of the database in the state
//     zones/list       a SavedZone for each zone that is unloaded, ascending
//     zones/12/file    the bytes of the file of zone 12: a snapshot itself; see Database::write_zone()
//     zones/12/gone    the owners of its rows that have died since, ascending; omitted if all live
//     zones/visits     for each zone that was ever visited the last stamp, ascending: used for the budget
//     zones/refused    the same for zones that could not be unloaded
//     zones/visited    the zones that queries have visited since the last settle, ascending
//
// If no zone is unloaded, the list and the files are omitted; if zones are not streamed, all parts are omitted.
// Thread: the structural thread of the world.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/folder.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/entity/detail/death_follower.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <string>

namespace shoal {

class Snapshot;
class SnapshotReader;
class SnapshotWriter;

struct SavedZone {
    Zone zone;
    std::uint32_t zero;
    std::uint64_t num_rows;
    std::uint64_t num_bytes, hash;  // size and hash of the file
    std::uint64_t failed_at;        // stamp of a failed load, or 0
};

/// The stamp of an event in a zone.
struct SavedZoneStamp {
    Zone zone;
    std::uint32_t zero;
    std::uint64_t stamp;
};

class ZoneFiles {
    /// The file of an unloaded zone.
    struct File {
        Zone zone = kNoZone;
        std::uint64_t number = 0;  // unique number of the file in this process; 0 if none
        std::uint64_t num_rows = 0, num_bytes = 0, hash = 0;
        Array<Entity> owners{Owner("zone files")};   // owners that are not known to be dead, ascending
        Array<Entity> gone{Owner("zone files")};     // dead owners, ascending; their ids may have been reused
        Array<StringId> texts{Owner("zone files")};  // the strings that the rows refer to
        std::uint64_t failed_at = 0;                 // stamp of a failed load that was logged, or 0
    };

public:
    /// The files of a state that is being loaded. Some already exist, and others are written for the state.
    class Loaded {
    public:
        explicit Loaded(const ZoneFiles* owner = nullptr) : owner_(owner) {}
        Loaded(const Loaded&) = delete;
        Loaded& operator=(const Loaded&) = delete;
        /// Removes the written files, unless the world has taken them.
        ~Loaded();

    private:
        friend class ZoneFiles;
        const ZoneFiles* owner_;
        Array<File> files_{Owner("zone files")};  // ascending
        Array<SavedZoneStamp> visits_{Owner("zone files")}, refused_{Owner("zone files")};
        Array<Zone> visited_{Owner("zone files")};
    };

    ZoneFiles(World& world, Database& database);
    ZoneFiles(const ZoneFiles&) = delete;
    ZoneFiles& operator=(const ZoneFiles&) = delete;
    /// Removes the files.
    ~ZoneFiles();

    /// Returns the files of a world, or nullptr if it does not stream zones.
    static ZoneFiles* of(const World& world);
    /// Starts to use a folder. Errors: see ZoneStreaming::start().
    Status start(const std::string& folder, const ZoneFileOptions& options);
    void set_options(const ZoneFileOptions& options) {
        options_ = options;
        refused_.clear();
    }

    /// Writes the zones to a state. Reads only the files that the previous state does not have. `store` is the name of
    /// the database in the state. If a file cannot be read, the writer fails.
    void save(SnapshotWriter& to, std::string_view store) const;
    /// Prepares to load a state's zones, without changing the world. Checks the zones, unless the state is trusted, and
    /// writes their files. Errors: the state is invalid or takes more memory than allowed, or a file cannot be written.
    Status prepare(SnapshotReader& from, Loaded& loaded) const;
    /// Takes over the prepared files, and removes the old files.
    void take(Loaded& loaded);
    /// Restores the rows of a state's zone files, in a world that does not stream zones. Errors: the same as for
    /// prepare() and Database::read_zone(). On error, some rows may have been restored.
    static Status read_into(World& world, Database& database, SnapshotReader& from);
    /// Returns the name of the database that a state's zone files belong to, or an empty string if there are none.
    static Result<std::string> store_in(SnapshotReader& from);

    // The parts within `kScope` of a state.
    static constexpr std::string_view kScope = "zones";
    /// Checks that a state has exactly the parts that it should have, because zones could otherwise be lost silently.
    /// `has_unloaded` is whether the state's format indicates unloaded zones. Errors: a part is missing or unexpected.
    static Status check_parts(const Snapshot& state, SnapshotReader& from, bool has_unloaded);
    /// Errors: the zones are not ascending.
    static Status read_list(SnapshotReader& from, Array<SavedZone>& zones);
    /// Reads the file of a zone from a state, and decompresses it. Errors: the state lacks a file that it lists, or all
    /// files opened with this reader together take more memory than allowed.
    static Result<Snapshot> open(SnapshotReader& from, const SavedZone& saved, Executor& executor,
                                 Array<std::byte>& bytes);
    static std::string part_name(Zone zone);
    static std::uint64_t hash_of(std::span<const std::byte> bytes);

    /// Lets queries report the zones that they visit.
    void watch();
    /// Records deaths before ids are reused, as a settle does.
    void note_deaths();
    /// Returns the zone whose file has an entity's row, or kNoZone.
    Zone zone_of(Entity entity) const;
    Status unload(Zone zone);
    Status load(Zone zone);
    Status load_all();
    /// Loads the zones that queries have visited since the last call. Failures are logged.
    void load_visited();
    /// Unloads zones until the rows fit the budget.
    void keep_budget();

    /// Calls visit(id) for each string that rows in files refer to.
    template <class Visit>
    void for_each_text(Visit&& visit) const {
        for (const File& file : files_)
            for (const StringId id : file.texts) visit(id);
    }

    const std::string& folder() const { return folder_; }
    const Database& database() const { return database_; }
    const ZoneSet& unloaded() const { return unloaded_; }
    ZoneFileStatistics statistics() const;

private:
    /// A zone in memory that may be unloaded.
    struct Candidate {
        std::uint64_t last_visit;
        Zone zone;
        std::uint64_t num_rows, num_bytes;
    };

    static Status about(std::string_view what, Zone zone, const Status& status);
    std::string path_of(const File& file) const;
    /// Returns the file of a zone, or nullptr.
    template <class Files>
    static auto find(Files& files, Zone zone) -> decltype(files.data()) {
        const auto found = std::ranges::lower_bound(files, zone, {}, &File::zone);
        return found == files.end() || found->zone != zone ? nullptr : &*found;
    }
    File* find(Zone zone) { return find(files_, zone); }
    Array<Entity> new_dead() const;
    Array<Entity> new_gone(const File& file, std::span<const Entity> dead) const;
    void set_gone(File& file, Array<Entity> gone) const;
    void note_owners(File& file);
    void list_texts(const Snapshot& rows, File& file) const;
    static Status read_gone(SnapshotReader& from, Zone zone, Array<Entity>& gone);
    Status write(File& file, std::span<const std::byte> bytes) const;
    Status save_rows(Zone zone, Snapshot& state) const;
    Status write_rows(File& file) const;
    Result<std::string> read(const File& file) const;
    Status read_rows(const File& file);
    Result<File> prepare(SnapshotReader& from, const SavedZone& saved) const;
    void remove(const File& file) const;
    void forget(Zone zone);

    World& world_;
    Database& database_;
    std::string folder_;
    FileLock lock_;
    ZoneFileOptions options_;
    Array<File> files_{Owner("zone files")};                         // ascending by zone
    ZoneSet unloaded_;                                               // the zones of files_
    HashMap<Zone, std::uint64_t> refused_{Owner("zone files")};      // stamps of failed unloads, which were logged
    HashMap<Zone, std::uint64_t> last_visits_{Owner("zone files")};  // the stamp of the last settle after a visit
    DeathFollower deaths_;
    BitSet has_row_{Owner("zone files")};  // by entity index: whether a file may have a row of the entity
    bool watches_ = false;
    std::uint64_t num_unloads_ = 0, num_loads_ = 0;
};

}  // namespace shoal

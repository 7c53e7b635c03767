#pragma once
// Unloads zones of a database to files, and loads them again; see shoal/save/zone_streaming.h. A snapshot carries
// the files as they are:
//
//     zones/store      the name of the database in the state
//     zones/list       a SavedZone for each zone that is unloaded, ascending
//     zones/12/file    the bytes of the file of zone 12: a snapshot itself; see Database::write_zone()
//     zones/12/gone    the owners of its rows that have died since it was written, ascending; left out if all live
//     zones/visits     for each zone that was ever visited the stamp then, ascending: a budget goes by them
//     zones/refused    the same for zones that could not be unloaded
//     zones/visited    the zones that queries have visited since the last settle, ascending
//
// Where zones are streamed and none is unloaded, there are neither a list nor files; where they are not, there is nothing.
// Thread: the structural thread of the world.

#include "shoal/base/bit_set.h"
#include "shoal/base/folder.h"
#include "shoal/base/hash_map.h"
#include "shoal/entity/death_follower.h"
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
    std::uint64_t num_bytes, hash;  // of the file
    std::uint64_t failed_at;        // the stamp when it could not be loaded, or 0
};

/// When something was done to a zone.
struct SavedZoneStamp {
    Zone zone;
    std::uint32_t zero;
    std::uint64_t stamp;
};

class ZoneFiles {
    /// A zone in a file.
    struct File {
        Zone zone = kNoZone;
        std::uint64_t number = 0;  // of the file: no other one that this process writes has it; 0: none
        std::uint64_t num_rows = 0, num_bytes = 0, hash = 0;
        Array<Entity> owners{Owner("zone files")};   // ascending; those that live, as far as deaths are known
        Array<Entity> gone{Owner("zone files")};     // ascending; the others, whose ids may be those of others by now
        Array<StringId> texts{Owner("zone files")};  // of the world, of the rows
        std::uint64_t failed_at = 0;                 // when it could not be loaded, which was logged; or 0
    };

public:
    /// The files of a state that is loaded: those that are there already, and those that are written for it.
    class Loaded {
    public:
        explicit Loaded(const ZoneFiles* owner = nullptr) : owner_(owner) {}
        Loaded(const Loaded&) = delete;
        Loaded& operator=(const Loaded&) = delete;
        /// Removes the files that were written, unless the world has taken them.
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

    /// Returns those of a world, or nullptr if it does not stream zones.
    static ZoneFiles* of(const World& world);
    /// Takes the folder. Errors: see ZoneStreaming::start().
    Status start(const std::string& folder, const ZoneFileOptions& options);
    void set_options(const ZoneFileOptions& options) {
        options_ = options;
        refused_.clear();
    }

    /// Writes what a state has of the zones. Bytes that the state before has are not read again. `store`: what the
    /// database is called there. Refused: a file cannot be read.
    void save(SnapshotWriter& to, std::string_view store) const;
    /// Makes ready what a state has of the zones, of which load() tells: all of it is checked, unless it is trusted,
    /// and files are written. Nothing of the world changes. Errors: it is not sound, or takes more memory than it may;
    /// a file cannot be written.
    Status prepare(SnapshotReader& from, Loaded& loaded) const;
    /// Puts it in place of what there is, whose files go.
    void take(Loaded& loaded);
    /// Gives the entities of the zones that a state has in files their rows, in a world that does not stream them.
    /// Errors: as of prepare(); as of Database::read_zone(). Some may have rows then.
    static Status read_into(World& world, Database& database, SnapshotReader& from);
    /// Returns what the database is called whose zones a state has in files; empty: it has none.
    static Result<std::string> store_in(SnapshotReader& from);

    // What is within `kScope` of a state.
    static constexpr std::string_view kScope = "zones";
    /// Errors: a part that should be there is missing, or one is there that should not be. `has_unloaded`: what the
    /// format of the state says. Zones would be lost in silence otherwise.
    static Status check_parts(const Snapshot& state, SnapshotReader& from, bool has_unloaded);
    /// Errors: the zones do not ascend.
    static Status read_list(SnapshotReader& from, Array<SavedZone>& zones);
    /// Takes the bytes of a file out of a state, and decompresses them. Errors: the state does not have what it lists, or all
    /// that were opened with this reader take more memory together than they may.
    static Result<Snapshot> open(SnapshotReader& from, const SavedZone& saved, Executor& executor,
                                 Array<std::byte>& bytes);
    static std::string part_name(Zone zone);
    static std::uint64_t hash_of(std::span<const std::byte> bytes);

    /// From now on, queries say which zones they visit.
    void watch();
    /// Notes who has died, as a settle does: their ids come back some time.
    void note_deaths();
    /// Returns the zone in whose file the row of an entity lies, or kNoZone.
    Zone zone_of(Entity entity) const;
    Status unload(Zone zone);
    Status load(Zone zone);
    Status load_all();
    /// Loads the zones that queries have visited since the last call. What fails is logged.
    void load_visited();
    /// Unloads zones until the budget is kept.
    void keep_budget();

    /// Calls visit(id) for the ids of texts that rows in files have.
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
    /// A zone in memory that may go.
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
    ZoneSet unloaded_;                                               // those of files_
    HashMap<Zone, std::uint64_t> refused_{Owner("zone files")};      // could not be unloaded then, which was logged
    HashMap<Zone, std::uint64_t> last_visits_{Owner("zone files")};  // the stamp of the last settle after a visit
    DeathFollower deaths_;
    BitSet has_row_{Owner("zone files")};  // by entity index: files may have a row of an entity
    bool watches_ = false;
    std::uint64_t num_unloads_ = 0, num_loads_ = 0;
};

}  // namespace shoal

#pragma once
// Persists a world: a folder holds a snapshot of the world and a log of the changes in each frame since then, so that
// the world survives its process.
//
//     Persistence persistence(world);
//     const Result<Recovered> recovered = persistence.recover(folder);
//     if (!recovered) return recovered.status();
//     if (!recovered->found) build(world);  // the first start
//     if (!recovered->damage.empty()) log(LogLevel::kWarning, recovered->damage);
//     if (Status status = persistence.start(folder); !status) return status;
//     while (runs()) world.step(1.0f / 60);
//     return persistence.stop();  // what waits is written; why it had ended, if it had
//
//     0000000003.save   the whole world at one moment; see docs/formats/save.md
//     0000000003.log    the changes of each frame since; after a kill, an incomplete last record is ignored
//     0000000004.save   the next one, made when the log was long: older ones are deleted
//     0000000004.log
//     lock              locked by the world that writes
//
// A separate thread compresses and writes. If it falls behind, frames are merged: a new frame replaces the frame that
// still waits, so at most one frame waits while another is being written. States share the memory of unchanged data.
//
// A world has at most one such object at a time; a second one ends the program. The object stops persisting when it or
// the world is destroyed. Anything that saves a part of the state, such as a Reloader or a service of the program, must
// still exist then: make it before this object, so that it is destroyed later. If a ZoneStreaming is destroyed before
// this object, persisting stops, with a line in the log.
//
// Cost of a step that writes 1 % of 100,000 entities with 100 bytes each: 0.05 ms if their rows are adjacent, 0.3 ms if
// they are scattered; for 1,000,000 entities 0.2 and 3 ms. A PersistOptions::every_frames of n divides this cost by n.

#include "shoal/base/status.h"
#include "shoal/react/service.h"
#include "shoal/save/save.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

class PersistedFolder;
class Snapshot;
class World;

struct PersistOptions {
    std::uint32_t every_frames = 1;  ///< the number of steps from one record to the next; at least 1
    /// Flushes to the disk after this many records; 0: when the system does. If the program ends, no record is lost in
    /// any case; a power failure loses the records since the last flush.
    std::uint32_t flush_every_records = 60;
    std::uint64_t max_log_bytes = std::uint64_t(64) << 20;  ///< when a log exceeds this, a new snapshot is written
    std::uint64_t max_log_records = 100'000;                ///< the same for the number of records in a log
    /// How many undamaged snapshots are kept, with their logs; at least 1. If the newest snapshot is damaged, an older
    /// one is read.
    std::uint32_t num_snapshots = 2;
    bool keeps_all_frames = false;  ///< a step waits until the waiting frame is written, instead of merging the two
    bool replace = false;           ///< whether to delete another world that the folder may hold
};

/// What Persistence::recover() found.
struct Recovered {
    bool found = false;             ///< false: the folder is empty or missing, and the world is unchanged
    std::uint64_t frame = 0;        ///< World::frame() of the state that was loaded
    std::uint64_t num_records = 0;  ///< number of log records applied after the snapshot
    std::string damage;             ///< what was damaged and ignored; empty: nothing
};

/// A snapshot in a folder, and what its log contains.
struct PersistedSnapshot {
    std::uint64_t number = 0;
    std::string path, log_path;  ///< empty log_path: the program ended before it began the log
    std::uint64_t num_bytes = 0, log_bytes = 0, whole_log_bytes = 0;  ///< undamaged records end at whole_log_bytes
    std::uint64_t num_records = 0;                                    ///< number of whole records
    std::uint64_t frame = 0, last_frame = 0;                          ///< of the snapshot and of the last whole record
    std::string damage, log_damage;                                   ///< what is damaged; empty: nothing
};
/// Finds the snapshots in a folder, the newest first: paths and sizes. Errors: the folder cannot be read.
SHOAL_API Result<std::vector<PersistedSnapshot>> list_persisted(const std::string& folder);
/// Reads a snapshot as Persistence::recover() does, without a world, and fills in its fields. Writes nothing. Returns
/// the state at the last whole record, or none if the snapshot is damaged; recover() then uses the snapshot before it.
/// Errors: the same as recover(): a file that may be undamaged cannot be read now, or only another program can read it.
SHOAL_API Result<Snapshot> read_persisted(PersistedSnapshot& snapshot, const LoadOptions& options);

/// What has been written since Persistence::start(). Units: bytes.
struct PersistStatistics {
    bool is_running = false;
    std::uint64_t last_frame = 0;   ///< the last frame that was written
    std::uint64_t num_records = 0;  ///< in all logs since start()
    std::uint64_t num_merged = 0;   ///< frames that were merged into later ones
    std::uint64_t num_snapshots = 0;
    std::uint64_t log_bytes = 0;  ///< size of the current log
};

/// Requires for start() and recover(): the world is at rest.
class Persistence final : public WorldService {
public:
    /// Requires: the world has no other Persistence; no passes run.
    SHOAL_API explicit Persistence(World& world);
    SHOAL_API ~Persistence() override;

    /// Writes a snapshot of the world to a folder, and from then on the changes at the end of each step. Creates the
    /// folder if it is missing; its parent must exist. Later failures, such as a full disk, are logged
    /// once and returned by stop(); the world goes on, and what was written is kept.
    /// Errors: something cannot be saved; the folder cannot be written, is locked by another world, or holds a world
    /// that this one does not continue; several worlds share the entities; this world is already persisted.
    SHOAL_API Status start(const std::string& folder, const PersistOptions& options = {});
    /// Writes the current state, and waits until it is on the disk. Errors: the state cannot be saved, or the world is
    /// no longer persisted; the message says why.
    SHOAL_API Status flush();
    /// The same as flush(), and then stops persisting the world.
    SHOAL_API Status stop();
    /// Loads the last whole frame that was written after start(). The program must make its stores first, as before
    /// load(). An empty or missing folder is not an error: Recovered::found is false. Call start() to continue in the
    /// same folder.
    /// Errors: no snapshot can be read, or it does not fit the program; the world is already persisted. The world is
    /// unchanged.
    SHOAL_API Result<Recovered> recover(const std::string& folder, const LoadOptions& options = {});
    SHOAL_API PersistStatistics statistics() const;

private:
    std::string describe() const override;
    void after_frame() override;
    void fields_changed() override;
    void world_ends() override;
    World& world_now(std::string_view asked) const;

    World* world_;                       // nullptr: the world has ended
    PersistedFolder* folder_ = nullptr;  // nullptr: not used yet
};

}  // namespace shoal

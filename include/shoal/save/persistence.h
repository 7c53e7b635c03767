#pragma once
// Persists a world to a folder, as a snapshot and a log of the changes in each later frame, so that the world can be
// restored after the process has ended.
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
// A separate thread compresses and writes the states. If it falls behind, frames are merged: a new frame replaces the
// queued frame, so at most one frame is queued while another is being written. States share the memory of unchanged
// data.
//
// A world has at most one Persistence at a time; a second one ends the program. The object stops persisting when it or
// the world is destroyed. Objects that save a part of the state, such as a Reloader or a service of the program, must
// outlive this object, so create them first. If a ZoneStreaming is destroyed before this object, persisting stops, and
// a warning is logged.
//
// Cost: a step that writes 1 % of 100,000 entities with 100 bytes each takes 0.05 ms longer if their rows are adjacent,
// or 0.3 ms longer if they are scattered. For 1,000,000 entities, it takes 0.2 or 3 ms longer. If
// PersistOptions::every_frames is n, the cost is divided by n.

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
    /// Flushes to disk after this many records. If 0, leaves flushing to the operating system. A crash of the program
    /// loses no records; a power failure loses the records since the last flush.
    std::uint32_t flush_every_records = 60;
    std::uint64_t max_log_bytes = std::uint64_t(64) << 20;  ///< log size at which a snapshot is written
    std::uint64_t max_log_records = 100'000;                ///< number of log records at which a snapshot is written
    /// The number of undamaged snapshots that are kept with their logs; at least 1. If the newest snapshot is damaged,
    /// an older one is read.
    std::uint32_t num_snapshots = 2;
    bool keeps_all_frames = false;  ///< a step waits for the queued frame to be written, instead of replacing it
    bool replace = false;           ///< whether to delete another world that is in the folder
};

/// What Persistence::recover() found.
struct Recovered {
    bool found = false;             ///< false if the folder is empty or missing; the world is then unchanged
    std::uint64_t frame = 0;        ///< World::frame() of the state that was loaded
    std::uint64_t num_records = 0;  ///< number of log records applied after the snapshot
    std::string damage;             ///< what was damaged and ignored, or empty
};

/// A snapshot in a folder, and what its log contains.
struct PersistedSnapshot {
    std::uint64_t number = 0;
    std::string path, log_path;  ///< log_path is empty if the program ended before it created the log
    std::uint64_t num_bytes = 0, log_bytes = 0, whole_log_bytes = 0;  ///< undamaged records end at `whole_log_bytes`
    std::uint64_t num_records = 0;                                    ///< number of whole records
    std::uint64_t frame = 0, last_frame = 0;                          ///< of the snapshot and the last whole record
    std::string damage, log_damage;                                   ///< what is damaged, or empty
};
/// Finds the snapshots in a folder, the newest first. Sets only their numbers, paths and sizes. Errors: the folder
/// cannot be read.
SHOAL_API Result<std::vector<PersistedSnapshot>> list_persisted(const std::string& folder);
/// Reads a snapshot and its log, like Persistence::recover(), but without a world. Sets the fields of `snapshot`.
/// Writes no files. Returns the state at the last whole record, or an empty state if the snapshot is damaged. In that
/// case, recover() uses the previous snapshot.
/// Errors: a file cannot be read at the moment but may be undamaged, or only a different program can read it; recover()
/// returns the same errors.
SHOAL_API Result<Snapshot> read_persisted(PersistedSnapshot& snapshot, const LoadOptions& options);

/// What has been written since Persistence::start(). Units: bytes.
struct PersistStatistics {
    bool is_running = false;
    std::uint64_t last_frame = 0;   ///< the last frame that was written
    std::uint64_t num_records = 0;  ///< records in all logs since start()
    std::uint64_t num_merged = 0;   ///< frames that were merged into later ones
    std::uint64_t num_snapshots = 0;
    std::uint64_t log_bytes = 0;  ///< size of the current log
};

/// Requires: the world is at rest during start() and recover().
class Persistence final : public WorldService {
public:
    /// Requires: the world has no other Persistence, and no passes are running.
    SHOAL_API explicit Persistence(World& world);
    SHOAL_API ~Persistence() override;

    /// Writes a snapshot of the world to a folder, and then the changes at the end of each step. Creates the folder if
    /// it is missing; its parent must exist. Later failures, such as a full disk, are logged once and returned by
    /// stop(); the world continues, and the data written so far is kept.
    /// Errors: something cannot be saved, several worlds share the entities, this world is already persisted, or the
    /// folder cannot be used. A folder cannot be used if it cannot be written, is locked by another world, or holds a
    /// world that this one has not written or recovered.
    SHOAL_API Status start(const std::string& folder, const PersistOptions& options = {});
    /// Writes the current state, and waits until it is on disk. Errors: the state cannot be saved, or the world is no
    /// longer persisted; the message gives the reason.
    SHOAL_API Status flush();
    /// Does the same as flush(), and then stops persisting the world.
    SHOAL_API Status stop();
    /// Loads the last whole frame in the folder. The program must create its stores first, as before load(). An empty
    /// or missing folder is not an error: Recovered::found is false. Call start() to continue in the same folder.
    /// Errors: no snapshot can be read, the snapshot does not fit the program, or the world is already persisted. On
    /// error, the world is unchanged.
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

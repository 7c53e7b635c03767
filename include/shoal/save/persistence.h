#pragma once
// Persists a world: a folder has a snapshot of it and a log of what has changed in each frame since, so that the world
// survives its process.
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
//     0000000003.save   the world at one moment, whole; see docs/formats/save.md
//     0000000003.log    what has changed in each frame since; a kill leaves a last record that does not count
//     0000000004.save   the next one, after the log had grown long: older ones are deleted
//     0000000004.log
//     lock              locked by the world that writes
//
// A thread of its own compresses and writes. If it falls behind, frames are merged: the newest one that waits takes the
// place of the one that waited, so at most one frame waits and one is being written; states share memory for what has
// not changed.
//
// A world has one such object at a time; a second one ends the program. It stops when it ends, or when the world does.
// What the last state is to have, such as the part of a Reloader or of a service of the program, has to be there then:
// make it before this object, so that it ends after it. A ZoneStreaming that ends first stops this object, with a line
// in the log.
//
// Cost of a step in which 1 % of 100,000 entities with 100 bytes was written: 0.05 ms where their rows lie side by
// side, 0.3 ms where they are scattered; of 1,000,000 entities 0.2 and 3 ms. PersistOptions::every_frames divides it.

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
    std::uint32_t every_frames = 1;  ///< a record for each step, or for each so many; at least 1
    /// Flushes to the disk after so many records; 0: when the system does. The end of the program loses no record in
    /// any case; a power failure loses those since the last flush.
    std::uint32_t flush_every_records = 60;
    std::uint64_t max_log_bytes = std::uint64_t(64) << 20;  ///< a longer log ends, and a new snapshot is written
    std::uint64_t max_log_records = 100'000;                ///< the same for its records
    /// How many undamaged ones stay, with their logs; at least 1. An older one is read if a newer one is damaged.
    std::uint32_t num_snapshots = 2;
    bool keeps_all_frames = false;  ///< a step waits while a frame waits to be written, instead of merging the two
    bool replace = false;           ///< the folder may have another world, which is deleted
};

/// What Persistence::recover() has found.
struct Recovered {
    bool found = false;             ///< else the folder is empty or missing, and the world is as it was
    std::uint64_t frame = 0;        ///< World::frame() of the state that was loaded
    std::uint64_t num_records = 0;  ///< of the log, after the snapshot
    std::string damage;             ///< what was not whole, and does not count; empty: nothing
};

/// A snapshot in a folder, and what its log has after it.
struct PersistedSnapshot {
    std::uint64_t number = 0;
    std::string path, log_path;  ///< no log_path: the program ended before it began the log
    std::uint64_t num_bytes = 0, log_bytes = 0, whole_log_bytes = 0;  ///< of whole records: what is not begins there
    std::uint64_t num_records = 0;                                    ///< that are whole
    std::uint64_t frame = 0, last_frame = 0;                          ///< of the snapshot, of the last whole record
    std::string damage, log_damage;                                   ///< what is not whole; empty: nothing
};
/// Finds the snapshots in a folder, the newest first: names and bytes. Errors: the folder cannot be read.
SHOAL_API Result<std::vector<PersistedSnapshot>> list_persisted(const std::string& folder);
/// Reads one as Persistence::recover() does, without a world, and fills in what it has. Writes nothing. Returns the
/// state of the last whole record; none if the snapshot is damaged, for which recover() takes the one before. Errors:
/// as of recover(): what may be whole cannot be read now, or by another program only.
SHOAL_API Result<Snapshot> read_persisted(PersistedSnapshot& snapshot, const LoadOptions& options);

/// What Persistence::start() has begun to write. Units: bytes.
struct PersistStatistics {
    bool is_running = false;
    std::uint64_t last_frame = 0;   ///< the last one that was written
    std::uint64_t num_records = 0;  ///< of all logs since start()
    std::uint64_t num_merged = 0;   ///< frames that were merged into later ones
    std::uint64_t num_snapshots = 0;
    std::uint64_t log_bytes = 0;  ///< of the log of now
};

/// Requires, for start() and recover(): the world is at rest.
class Persistence final : public WorldService {
public:
    /// Requires: the world has no other Persistence; no passes run.
    SHOAL_API explicit Persistence(World& world);
    SHOAL_API ~Persistence() override;

    /// Writes a snapshot of the world to a folder, and from then on what has changed at the end of each step. The
    /// folder is made if there is none; its parent has to be there. What fails later, such as a full disk, is logged
    /// once, and returned by stop(); the world goes on, and what was written stays.
    /// Errors: something cannot be saved; the folder cannot be written, another world has locked it, or it has a world
    /// that this one does not go on from; several worlds share the entities; this world is persisted.
    SHOAL_API Status start(const std::string& folder, const PersistOptions& options = {});
    /// Waits until the state of now is on the disk. Errors: it cannot be saved now, or why the world is no longer
    /// persisted.
    SHOAL_API Status flush();
    /// The same, and ends what start() began.
    SHOAL_API Status stop();
    /// Loads what start() has led to: the last frame that is whole. The program makes stores as it does before load().
    /// An empty or missing folder is no error: Recovered::found is false. Call start() to go on in the same folder.
    /// Errors: no snapshot can be read, or it does not fit the program; the world is persisted now. The world is as it
    /// was.
    SHOAL_API Result<Recovered> recover(const std::string& folder, const LoadOptions& options = {});
    SHOAL_API PersistStatistics statistics() const;

private:
    std::string describe() const override;
    void after_frame() override;
    void fields_changed() override;
    void world_ends() override;
    World& world_now(std::string_view asked) const;

    World* world_;                       // nullptr: it has ended
    PersistedFolder* folder_ = nullptr;  // nullptr: nobody has asked for it
};

}  // namespace shoal

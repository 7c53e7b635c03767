#pragma once
// What World::persist() and recover() are told, and what they tell. A folder has a snapshot of the world and a log of what has
// changed in each frame since, so that a world survives its process:
//
//     0000000003.save   the world at one moment, whole; see docs/formats/save.md
//     0000000003.log    what has changed in each frame since; a kill leaves a last record that does not count
//     0000000004.save   the next one, after the log had grown long: older ones are deleted
//     0000000004.log
//     lock              locked by the world that writes
//
// A thread of its own compresses and writes. If it falls behind, frames are merged: the newest one that waits takes the place
// of the one that waited, so at most one frame waits and one is being written; states share memory for what has not changed.
//
// Cost of a step in which 1 % of 100,000 entities with 100 bytes was written: 0.05 ms where their rows lie side by side, 0.3 ms where they are
// scattered; of 1,000,000 entities 0.2 and 3 ms. PersistOptions::every_frames divides it.

#include "shoal/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal {

class SavedState;

struct PersistOptions {
    std::uint32_t every_frames = 1;  ///< a record for each step, or for each so many; at least 1
    /// Flushes to the disk after so many records; 0: when the system does. The end of the program loses no record in any case; a
    /// power failure loses those since the last flush.
    std::uint32_t flush_every_records = 60;
    std::uint64_t max_log_bytes = std::uint64_t(64) << 20;  ///< a longer log ends, and a new snapshot is written
    std::uint64_t max_log_records = 100'000;                ///< the same for its records
    /// How many undamaged ones stay, with their logs; at least 1. An older one is read if a newer one is damaged.
    std::uint32_t num_snapshots = 2;
    bool keeps_all_frames = false;  ///< a step waits while a frame waits to be written, instead of merging the two
    bool replace = false;           ///< the folder may have another world, which is deleted
};

/// What World::load(), World::recover() and Replay::open() are told.
struct LoadOptions {
    /// What the state may take in memory, with the structs of commands and converted rows that are made of it, and the rows of all
    /// unloaded zones together, even where zones are streamed and only one is decompressed at a time. A hostile file may grow to
    /// thousands of times its size. 0: 64 times the bytes of the file, or 1 GiB, whichever is more. Units: bytes.
    std::uint64_t max_bytes = 0;
};

/// Reads what the bytes of a save hold, without a world. Errors: as of World::load(), but for what its parts say.
SHOAL_API Result<SavedState> read_save(std::span<const std::byte> bytes, const LoadOptions& options);

/// What World::recover() has found.
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
/// Reads one as World::recover() does, without a world, and fills in what it has. Writes nothing. Returns the state of the last
/// whole record; none if the snapshot is damaged, for which recover() takes the one before. Errors: as of recover(): what may be
/// whole cannot be read now, or by another program only.
SHOAL_API Result<SavedState> read_persisted(PersistedSnapshot& snapshot, const LoadOptions& options);

/// What World::persist() has written. Units: bytes.
struct PersistStatistics {
    bool is_running = false;
    std::uint64_t last_frame = 0;   ///< the last one that was written
    std::uint64_t num_records = 0;  ///< of all logs since persist()
    std::uint64_t num_merged = 0;   ///< frames that were merged into later ones
    std::uint64_t num_snapshots = 0;
    std::uint64_t log_bytes = 0;  ///< of the log of now
};

}  // namespace shoal

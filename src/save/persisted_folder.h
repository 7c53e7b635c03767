#pragma once
// Writes the frames of a world to a folder, beside the frames; see shoal/save/persistence.h for what is in the folder.
//
//     structural thread     state 7 --> waiting         state 8 takes the place of 7 if that still waits
//     writer                            waiting --> writing --> written: the next record has what differs from it
//
// States share blocks whose users are counted without locks, so only the structural thread makes and destroys states. The
// writer reads those that it was given, and puts them back onto `retired_`.
// Thread: the structural thread of the world, but for what says otherwise.

#include "save/state_log.h"
#include "save/world_state.h"
#include "shoal/base/folder.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal {

class PersistedFolder {
public:
    explicit PersistedFolder(World& world) : world_(world) {}
    PersistedFolder(const PersistedFolder&) = delete;
    PersistedFolder& operator=(const PersistedFolder&) = delete;
    ~PersistedFolder();

    /// Writes a snapshot of now, and starts. Errors: see Persistence::start().
    Status start(const std::string& folder, const PersistOptions& options);
    /// Takes the state of now, writes what waits, and ends. Errors: why it had ended before.
    Status stop();
    /// Takes the state of now, and waits until it is on the disk. Errors: as above.
    Status flush();
    /// Takes the state of now, if it is the turn of this frame.
    void keep();
    Result<Recovered> recover(const std::string& folder, const LoadOptions& options);
    /// Component types have other fields now.
    void forget_types() { types_ = {}; }
    bool is_running() const { return thread_.joinable(); }
    const std::string& folder() const { return folder_; }
    PersistStatistics statistics() const;

private:
    using State = std::unique_ptr<Snapshot>;

    /// The newest snapshot of a folder, and how long its log is: another one when a world has gone on there.
    struct Mark {
        std::uint64_t device = 0, inode = 0;
        std::int64_t modified_ns = 0;
        std::uint64_t num_bytes = 0, log_bytes = 0;
        bool operator==(const Mark&) const = default;
    };

    static Mark mark_of(const std::string& folder, std::uint64_t number);
    Status prepare_folder(const std::string& folder, bool replace);
    Status begin(const Snapshot& state, Executor& executor);
    Result<StateLogWriter> begin_log(std::uint64_t number, std::uint64_t base) const;
    Status keep_latest();
    Status take(bool only_if_new = false);
    Status write(const Snapshot& state, const Snapshot& before, std::uint64_t frame);
    void remove_old() const;
    void write_frames();
    void fail(const Status& status);
    std::string path_of(std::uint64_t number, std::string_view ending) const;

    World& world_;
    PersistOptions options_;
    std::string folder_;
    FileLock lock_;
    LastingTypes types_;
    Mark known_;                          // what this world has loaded or written
    std::vector<std::uint64_t> damaged_;  // numbers of snapshots beside it that could not be read
    std::uint64_t frames_left_ = 0;       // until the next one is taken
    bool has_told_ = false;               // why the writer has ended

    // Of the writer, and of others while it does not run.
    StateLogWriter log_;
    std::uint64_t number_ = 0;  // of the snapshot
    std::uint32_t num_unflushed_ = 0;

    // Behind the lock.
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    State waiting_, writing_, written_;
    std::uint64_t waiting_frame_ = 0;
    std::vector<State> retired_;  // for the structural thread to destroy
    Status status_;
    bool is_ending_ = false, wants_flush_ = false, has_failed_ = false;
    PersistStatistics statistics_;

    std::thread thread_;
};

}  // namespace shoal

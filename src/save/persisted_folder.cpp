// Writes the frames of a world to a folder while the world runs; shoal/save/persistence.h describes the folder.
//
//     structural thread     state 7 --> waiting         state 8 takes the place of 7 if that still waits
//     writer                            waiting --> writing --> written: the next record has what differs from it
//
// States share blocks whose reference counts are not atomic, so only the structural thread makes and destroys states.
// The writer reads states, and returns them through `retired_`.
// Thread: the structural thread of the world, except where noted.

#include "shoal/save/persistence.h"

#include "save/state_log.h"
#include "save/world_state.h"
#include "shoal/base/detail/folder.h"
#include "shoal/base/file.h"
#include "shoal/base/log.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/react/service.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace shoal {
namespace {

constexpr std::size_t kNumDigits = 10;
constexpr std::uint64_t kMaxNumber = 9'999'999'999;  // the largest number with ten digits
constexpr std::string_view kSnapshot = ".save", kLog = ".log";

/// Returns the number in the name of a snapshot or log, or 0 for other names. `rest` receives the text after the
/// number.
std::uint64_t number_in(std::string_view name, std::string_view& rest) {
    if (name.size() <= kNumDigits) return 0;
    std::uint64_t number = 0;
    for (const char digit : name.substr(0, kNumDigits)) {
        if (digit < '0' || digit > '9') return 0;
        number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    rest = name.substr(kNumDigits);
    return number;
}

/// Returns the numbers of the snapshots in a folder, newest first.
Result<std::vector<std::uint64_t>> snapshots_in(const std::string& folder) {
    const Result<std::vector<std::string>> names = list_folder(folder);
    if (!names) return names.status();
    std::vector<std::uint64_t> numbers;
    for (const std::string& name : *names) {
        std::string_view rest;
        if (const std::uint64_t number = number_in(name, rest); number != 0 && rest == kSnapshot)
            numbers.push_back(number);
    }
    std::sort(numbers.rbegin(), numbers.rend());
    return numbers;
}

std::string path_in(const std::string& folder, std::uint64_t number, std::string_view ending) {
    const std::string digits = concat(number);
    return concat(folder, '/', std::string(kNumDigits - std::min(kNumDigits, digits.size()), '0'), digits, ending);
}

std::uint64_t snapshot_checksum(std::span<const std::byte> bytes) { return hash_bytes(bytes.data(), bytes.size()); }

void append_damage(std::string& damage, const PersistedSnapshot& snapshot) {
    const auto append = [&](std::string_view path, std::string_view what) {
        if (!what.empty()) damage += concat(damage.empty() ? "" : "; ", path, ": ", what);
    };
    append(snapshot.path, snapshot.damage);
    append(snapshot.log_path, snapshot.log_damage);
}

/// Applies all complete records in a log to the state in a snapshot. Errors: the file cannot be read now, only another
/// program can read it, or a state takes more than `max_bytes` in memory.
Status read_log(PersistedSnapshot& snapshot, std::span<const std::byte> content, std::uint64_t max_bytes,
                Snapshot& state) {
    if (!path_exists(snapshot.log_path))
        return snapshot.log_path.clear(), snapshot.log_bytes = 0, Status();  // the log was never created
    const Result<std::string> bytes = read_file(snapshot.log_path);
    if (!bytes) return bytes.status();
    snapshot.log_bytes = bytes->size();
    if (max_bytes == 0) max_bytes = max_snapshot_bytes(content.size() + bytes->size());
    bool is_damaged = false;
    Result<StateLogReader> log = StateLogReader::open(std::as_bytes(std::span(*bytes)), snapshot_checksum(content),
                                                      &state, max_bytes, &is_damaged);
    if (!log && !is_damaged) return Status::error(concat(snapshot.log_path, ": ", log.message()));
    if (!log) return snapshot.log_damage = log.message(), Status();
    while (log->next()) {
    }
    if (log->may_be_whole()) return Status::error(concat(snapshot.log_path, ": ", log->problem().message()));
    snapshot.log_damage = log->problem().message();
    snapshot.whole_log_bytes = log->num_bytes_read();
    snapshot.num_records = log->num_records();
    if (log->num_records() == 0) return {};
    snapshot.last_frame = log->frame();
    state = log->state();
    return {};
}

/// Errors: a file cannot be read now, only another program can read it, or a state takes more than `max_bytes` in
/// memory. These errors do not count as damage, because falling back to an older snapshot would lose data.
Result<Snapshot> read_snapshot(PersistedSnapshot& snapshot, Executor& executor, std::uint64_t max_bytes) {
    const Result<std::string> bytes = read_file(snapshot.path);
    if (!bytes) return bytes.status();
    const std::span<const std::byte> content = std::as_bytes(std::span(*bytes));
    snapshot.num_bytes = content.size();
    snapshot.num_records = snapshot.whole_log_bytes = snapshot.frame = snapshot.last_frame = 0;
    snapshot.damage.clear(), snapshot.log_damage.clear();
    bool is_damaged = false;
    Result<Snapshot> state = read_state(content, executor, max_bytes, &is_damaged);
    if (!state && !is_damaged) return Status::error(concat(snapshot.path, ": ", state.message()));
    if (!state) return snapshot.damage = state.message(), Snapshot();
    Clocks clocks{};
    if (SnapshotReader(*state).value("world/clocks", clocks)) snapshot.frame = snapshot.last_frame = clocks.frame;
    if (Status status = read_log(snapshot, content, max_bytes, *state); !status) return status;
    return state;
}

}  // namespace

class PersistedFolder {
public:
    explicit PersistedFolder(World& world) : world_(world) {}
    PersistedFolder(const PersistedFolder&) = delete;
    PersistedFolder& operator=(const PersistedFolder&) = delete;

    /// Drops the cached schemas after fields of component types have changed.
    void forget_types() { types_ = {}; }
    bool is_running() const { return thread_.joinable(); }
    const std::string& folder() const { return folder_; }

    ~PersistedFolder() {
        const bool has_told = has_told_;  // read before stop(), which changes it
        if (const Status status = stop(); !status && !has_told) log(LogLevel::kError, status.message());
    }

    /// Writes a snapshot of the current state, and starts the writer. Errors: see Persistence::start().
    Status start(const std::string& folder, const PersistOptions& options) {
        if (world_.entities().num_worlds() != 1)
            return Status::error(
                concat(world_.entities().num_worlds(),
                       " worlds share the entities, so what one of them persists could not be recovered; "
                       "persist a world with an entity manager of its own"));
        options_ = options;
        options_.every_frames = std::max(options_.every_frames, 1u);
        options_.num_snapshots = std::max(options_.num_snapshots, 1u);
        auto state = std::make_unique<Snapshot>();
        types_ = {};
        if (Status status = WorldState(world_).save(*state, nullptr, &types_); !status)
            return Status::error(concat(folder, ": ", status.message()));
        const std::vector<std::uint64_t> damaged = damaged_;
        if (Status status = prepare_folder(folder, options.replace); !status) return status;
        statistics_ = {};
        if (Status status = begin(*state, world_.executor()); !status) {
            damaged_ = damaged;
            lock_ = {};
            return status;
        }
        statistics_.last_frame = world_.frame();
        written_ = std::move(state);
        frames_left_ = options_.every_frames;
        has_told_ = is_ending_ = wants_flush_ = has_failed_ = false;
        status_ = {};
        statistics_.is_running = true;
        thread_ = std::thread([this] { write_frames(); });
        return {};
    }

    /// Takes the current state, writes the queued states, and stops the writer. Errors: the writer failed earlier. The
    /// message gives the reason.
    Status stop() {
        if (!is_running()) return {};
        const Status last = keep_latest();
        {
            const std::lock_guard lock(mutex_);
            is_ending_ = true;
        }
        changed_.notify_all();
        thread_.join();
        if (!last && status_) status_ = last;
        retired_.clear();
        waiting_.reset(), writing_.reset(), written_.reset();
        log_ = {};
        known_ = mark_of(folder_, number_);
        lock_ = {};
        statistics_.is_running = false;
        has_told_ = has_told_ || !status_;
        return status_;
    }

    /// Takes the current state, and waits until it is on disk. Errors: the same as for stop().
    Status flush() {
        if (!is_running()) return {};
        if (Status status = keep_latest(); !status) return status;
        std::unique_lock lock(mutex_);
        wants_flush_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !wants_flush_ || has_failed_; });
        has_told_ = has_told_ || !status_;
        return status_;
    }

    PersistStatistics statistics() const {
        const std::lock_guard lock(mutex_);
        return statistics_;
    }

    // --- taking frames ----------------------------------------------------------------------------------------------

    /// If a record is due for this frame, takes the current state.
    void keep() {
        if (!is_running() || has_told_) return;
        if (--frames_left_ != 0) return;
        if (const Status status = take(); !status) fail(status);
    }

    // --- recovering -------------------------------------------------------------------------------------------------

    Result<Recovered> recover(const std::string& folder, const LoadOptions& options) {
        Recovered recovered;
        if (!path_exists(folder)) return recovered;
        Result<std::vector<PersistedSnapshot>> snapshots = list_persisted(folder);
        if (!snapshots) return snapshots.status();
        if (snapshots->empty()) return recovered;
        const Mark mark =
            mark_of(folder, snapshots->front().number);  // taken first, because another world may be writing there
        std::vector<std::uint64_t> damaged;
        for (PersistedSnapshot& snapshot : *snapshots) {
            const Result<Snapshot> state = read_snapshot(snapshot, world_.executor(), options.max_bytes);
            if (!state) return state.status();
            append_damage(recovered.damage, snapshot);
            if (!snapshot.damage.empty()) {
                damaged.push_back(snapshot.number);
                continue;
            }
            if (Status status = load(world_, *state, false); !status)
                return Status::error(concat(snapshot.path, ": ", status.message()));
            known_ = mark;
            damaged_ = std::move(damaged);
            recovered.found = true;
            recovered.frame = world_.frame();
            recovered.num_records = snapshot.num_records;
            return recovered;
        }
        return Status::error(concat("no snapshot in \"", folder, "\" can be read: ", recovered.damage));
    }

private:
    using State = std::unique_ptr<Snapshot>;

    /// Identifies the newest snapshot in a folder and the length of its log. It changes when another world writes
    /// there.
    struct Mark {
        std::uint64_t device = 0, inode = 0;
        std::int64_t modified_ns = 0;
        std::uint64_t num_bytes = 0, log_bytes = 0;
        bool operator==(const Mark&) const = default;
    };

    std::string path_of(std::uint64_t number, std::string_view ending) const {
        return path_in(folder_, number, ending);
    }

    // --- starting and ending ----------------------------------------------------------------------------------------

    static Mark mark_of(const std::string& folder, std::uint64_t number) {
        if (number == 0) return {};
        const FileStamp snapshot = file_stamp(path_in(folder, number, kSnapshot));
        return {snapshot.device, snapshot.inode, snapshot.modified_ns, snapshot.num_bytes,
                file_stamp(path_in(folder, number, kLog)).num_bytes};
    }

    /// Locks the folder, finds its newest snapshot, and removes temporary files that a killed program has left behind.
    Status prepare_folder(const std::string& folder, bool replace) {
        if (Status status = make_folder(folder); !status) return status;
        Result<FileLock> lock = FileLock::take(concat(folder, "/lock"));
        if (!lock) return lock.status();
        const Result<std::vector<std::uint64_t>> numbers = snapshots_in(folder);
        if (!numbers) return numbers.status();
        const std::uint64_t number = numbers->empty() ? 0 : numbers->front();
        const Mark mark = mark_of(folder, number);
        const bool goes_on = mark != Mark() && mark == known_;  // the mark is empty if there is no regular file
        if (number != 0 && !replace && !goes_on)
            return Status::error(
                concat("the folder \"", folder,
                       "\" has a world that this one does not go on from; call Persistence::recover() first, set "
                       "PersistOptions::replace, or take another folder"));
        const Result<std::vector<std::string>> names = list_folder(folder);
        if (!names) return names.status();
        for (const std::string& name : *names) {
            std::string_view rest;
            if (number_in(name, rest) == 0 || rest.size() <= kSnapshot.size() || !rest.starts_with(".save.")) continue;
            if (Status status = remove_file(concat(folder, '/', name)); !status) return status;
        }
        if (!goes_on) damaged_.clear();  // they are numbers of snapshots in the old folder
        folder_ = folder;
        number_ = number;
        lock_ = std::move(*lock);
        return {};
    }

    /// Takes the current state, unless it was already taken. Programs may have changed the world since the last step.
    Status keep_latest() { return has_told_ || !world_.services().is_at_rest() ? Status() : take(true); }

    /// Passes the current state to the writer. Errors: the state cannot be saved. On error, it is not passed to the
    /// writer.
    Status take(bool only_if_new = false) {
        frames_left_ = options_.every_frames;
        std::vector<State> retired;
        const Snapshot* before = nullptr;
        {
            std::unique_lock lock(mutex_);
            if (options_.keeps_all_frames) changed_.wait(lock, [&] { return waiting_ == nullptr || has_failed_; });
            retired.swap(retired_);
            // The newest state, which exists until this thread destroys it.
            before = waiting_ != nullptr ? waiting_.get() : writing_ != nullptr ? writing_.get() : written_.get();
            if (has_failed_ && only_if_new) return {};  // flush() and stop() report the failure
            if (has_failed_) {
                has_told_ = true;
                log(LogLevel::kError, concat("the world is no longer persisted: ", status_.message()));
                return {};
            }
        }
        auto state = std::make_unique<Snapshot>();
        if (Status status = WorldState(world_).save(*state, before, &types_); !status)
            return Status::error(concat(folder_, ": ", status.message()));
        const bool is_same = state->num_own_bytes() == 0 && state->num_parts() == before->num_parts();
        if (only_if_new && is_same) return {};
        const std::lock_guard lock(mutex_);
        if (has_failed_) return {};
        if (waiting_ != nullptr) {
            ++statistics_.num_merged;
            retired.push_back(std::move(waiting_));
        }
        waiting_ = std::move(state);
        waiting_frame_ = world_.frame();
        changed_.notify_all();
        return {};
    }

    void fail(const Status& status) {
        const std::lock_guard lock(mutex_);
        if (!has_failed_) status_ = status;
        has_failed_ = true;
        statistics_.is_running = false;
        changed_.notify_all();
    }

    // --- writing ----------------------------------------------------------------------------------------------------

    /// Writes the next snapshot, and creates its log. The snapshot is valid as soon as it has its final name. On error,
    /// the folder is unchanged.
    Status begin(const Snapshot& state, Executor& executor) {
        if (number_ >= kMaxNumber)
            return Status::error(concat("the folder \"", folder_, "\" has snapshot ", number_,
                                        ", after which there is no number; persist the world to another folder"));
        const Result<Array<std::byte>> bytes = write_state(state, executor);
        if (!bytes) return Status::error(concat(folder_, ": ", bytes.message()));
        const std::uint64_t number = number_ + 1;
        if (Status status = remove_file(path_of(number, kLog)); !status) return status;
        if (Status status = write_file(path_of(number, kSnapshot), *bytes); !status) return status;
        Result<StateLogWriter> log = begin_log(number, snapshot_checksum(*bytes));
        if (!log) {
            for (const std::string_view ending : {kSnapshot, kLog})
                static_cast<void>(remove_file(path_of(number, ending)));  // report only the first error
            return log.status();
        }
        number_ = number;
        log_ = std::move(*log);
        num_unflushed_ = 0;
        remove_old();
        const std::lock_guard lock(mutex_);
        ++statistics_.num_snapshots;
        statistics_.log_bytes = log_.num_bytes();
        return {};
    }

    Result<StateLogWriter> begin_log(std::uint64_t number, std::uint64_t base) const {
        Result<StateLogWriter> log = StateLogWriter::create(path_of(number, kLog), base);
        if (!log) return log;
        if (Status status = log->flush(); !status) return status;
        if (Status status = flush_folder(folder_); !status) return status;
        return log;
    }

    /// Removes the snapshots that are older than the ones to keep. Damaged snapshots do not count, and are removed only
    /// when they are older than all kept snapshots. A failed removal is only logged.
    void remove_old() const {
        Result<std::vector<std::uint64_t>> whole = snapshots_in(folder_);
        const Result<std::vector<std::string>> names = list_folder(folder_);
        if (!whole || !names) return;
        std::erase_if(*whole, [&](std::uint64_t number) {
            return std::find(damaged_.begin(), damaged_.end(), number) != damaged_.end();
        });
        const std::uint64_t num_kept = options_.replace && statistics_.num_snapshots == 0 ? 1 : options_.num_snapshots;
        if (whole->empty()) return;
        const std::uint64_t oldest = (*whole)[std::min<std::size_t>(num_kept, whole->size()) - 1];
        for (const std::string& name : *names) {
            std::string_view rest;
            const std::uint64_t number = number_in(name, rest);
            if (number == 0 || number >= oldest || (rest != kSnapshot && rest != kLog)) continue;
            if (const Status status = remove_file(concat(folder_, '/', name)); !status)
                log(LogLevel::kWarning, status.message());
        }
    }

    Status write(const Snapshot& state, const Snapshot& before, std::uint64_t frame) {
        if (log_.num_bytes() >= options_.max_log_bytes || log_.num_records() >= options_.max_log_records) {
            SerialExecutor alone;
            return begin(state, alone);
        }
        if (Status status = log_.append(state, &before, frame); !status) return status;
        if (++num_unflushed_ == options_.flush_every_records) {
            num_unflushed_ = 0;
            if (Status status = log_.flush(); !status) return status;
        }
        const std::lock_guard lock(mutex_);
        ++statistics_.num_records;
        statistics_.log_bytes = log_.num_bytes();
        return {};
    }

    /// Runs on the writer's thread.
    void write_frames() {
        std::unique_lock lock(mutex_);
        while (!has_failed_) {
            changed_.wait(lock, [&] { return waiting_ != nullptr || is_ending_ || wants_flush_ || has_failed_; });
            if (has_failed_) break;
            const bool flushes = waiting_ == nullptr, ends = flushes && is_ending_;
            const std::uint64_t frame = waiting_frame_;
            writing_ = std::move(waiting_);
            changed_.notify_all();  // another state can be queued now
            lock.unlock();
            const Status status = flushes ? log_.flush() : write(*writing_, *written_, frame);
            if (!status) fail(status);
            lock.lock();
            if (flushes) wants_flush_ = false;
            if (writing_ != nullptr) {
                if (status) statistics_.last_frame = frame;
                retired_.push_back(std::exchange(written_, std::move(writing_)));
            }
            changed_.notify_all();
            if (ends) break;
        }
    }

    World& world_;
    PersistOptions options_;
    std::string folder_;
    FileLock lock_;
    LastingTypes types_;
    Mark known_;                          // the snapshot and log that this world has loaded or written
    std::vector<std::uint64_t> damaged_;  // numbers of snapshots that could not be read
    std::uint64_t frames_left_ = 0;       // frames until the next state is taken
    bool has_told_ = false;               // whether a failure was reported

    // Used by the writer's thread while it runs, otherwise by the structural thread.
    StateLogWriter log_;
    std::uint64_t number_ = 0;  // of the current snapshot
    std::uint32_t num_unflushed_ = 0;

    // Guarded by mutex_.
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

Result<std::vector<PersistedSnapshot>> list_persisted(const std::string& folder) {
    const Result<std::vector<std::uint64_t>> numbers = snapshots_in(folder);
    if (!numbers) return numbers.status();
    std::vector<PersistedSnapshot> snapshots;
    for (const std::uint64_t number : *numbers) {
        PersistedSnapshot& snapshot = snapshots.emplace_back();
        snapshot.number = number;
        snapshot.path = path_in(folder, number, kSnapshot);
        snapshot.log_path = path_in(folder, number, kLog);
        snapshot.num_bytes = file_stamp(snapshot.path).num_bytes;
        snapshot.log_bytes = file_stamp(snapshot.log_path).num_bytes;
    }
    return snapshots;
}

Result<Snapshot> read_persisted(PersistedSnapshot& snapshot, const LoadOptions& options) {
    SerialExecutor alone;
    return read_snapshot(snapshot, alone, options.max_bytes);
}

// --- the service -------------------------------------------------------------------------------------------------

Persistence::Persistence(World& world) : WorldService("persistence", ServiceStage::kPersistence), world_(&world) {
    world.services().add(*this);
}

Persistence::~Persistence() {
    if (world_ == nullptr) return;
    world_->services().remove(*this);
    world_ends();
}

void Persistence::world_ends() {
    delete std::exchange(folder_, nullptr);
    world_ = nullptr;
}

void Persistence::after_frame() {
    if (folder_ != nullptr) folder_->keep();
}

void Persistence::fields_changed() {
    if (folder_ != nullptr) folder_->forget_types();
}

std::string Persistence::describe() const {
    if (folder_ == nullptr || !folder_->is_running()) return "nothing is written";
    return concat("to \"", folder_->folder(), "\", up to frame ", folder_->statistics().last_frame);
}

/// Returns the world, which must be at rest. If it is not, the message uses `asked` to name the call.
World& Persistence::world_now(std::string_view asked) const {
    SHOAL_ASSERT(world_ != nullptr, "a world that has ended was to be persisted or recovered");
    if (!world_->services().is_at_rest())
        fail_assertion("the world is at rest",
                       concat("a pass or a callback ", asked, " the world; do it between steps"));
    return *world_;
}

Status Persistence::start(const std::string& folder, const PersistOptions& options) {
    World& world = world_now("asked to persist");
    if (folder_ != nullptr && folder_->is_running())
        return Status::error(
            concat("the world is persisted to \"", folder_->folder(), "\" already; call Persistence::stop() first"));
    if (folder_ == nullptr) folder_ = new PersistedFolder(world);
    return folder_->start(folder, options);
}

Status Persistence::stop() { return folder_ == nullptr ? Status() : folder_->stop(); }

Status Persistence::flush() { return folder_ == nullptr ? Status() : folder_->flush(); }

Result<Recovered> Persistence::recover(const std::string& folder, const LoadOptions& options) {
    World& world = world_now("recovered");
    if (folder_ != nullptr && folder_->is_running())
        return Status::error(concat("the world is persisted to \"", folder_->folder(),
                                    "\"; call Persistence::stop() before it is recovered"));
    if (folder_ == nullptr) folder_ = new PersistedFolder(world);
    return folder_->recover(folder, options);
}

PersistStatistics Persistence::statistics() const {
    return folder_ == nullptr ? PersistStatistics() : folder_->statistics();
}

}  // namespace shoal

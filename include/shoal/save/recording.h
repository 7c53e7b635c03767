#pragma once
// Records the steps of a world in a file, and replays them, to see what happened, and to find where two runs of a
// program differ that should be equal.
//
//     Recorder recorder(game.world);
//     if (Status status = recorder.start(path, setup); !status) return status;  // setup: how the program made this world
//     for (const Input& input : inputs) {
//         game.input = input;
//         recorder.step(0.5f, std::as_bytes(std::span(&input, 1)));  // in place of world.step()
//     }
//     return recorder.stop();
//
// A replay runs the same steps again, and reports where the results differ:
//
//     Result<Replay> replay = Replay::open(bytes);  // of the file
//     if (!replay) return replay.status();
//     if (Status status = replay->begin(game.world); !status) return status;
//     while (replay->next()) {
//         std::memcpy(&game.input, replay->inputs().data(), sizeof game.input);
//         replay->step();
//         if (replay->difference()) return Status::error(replay->difference().text());
//     }
//     return replay->status();
//
//     frame 100, pass "swim": body.velocity of entity 17:1 is [1.0 0.0 0.0] here and [2.0 0.0 0.0] in the recording
//
// The file holds the state at which the recording began, and for each frame its dt, its inputs, hashes of what each
// pass wrote, hashes of all fields and zones at its end (see state_hash.h), and the changes of the state, to show
// values. The program provides the passes, observers and callbacks again for a replay. If the program changes the world
// between two steps, the change is attributed to the first pass, or to the settle, in which it becomes visible.
//
// Cost for each step: saving the state; compressing and writing the differences; hashing all rows once, and, after each
// pass, the columns that the pass has declared to write. A pass that declares nothing may write anything, so all rows
// are hashed after it.
// Thread: the structural thread of the world.

#include "shoal/save/state_difference.h"
#include "shoal/world/world.h"

namespace shoal {

struct LoadOptions;

class Recorder {
public:
    /// Lifetime: `world` outlives the recorder.
    SHOAL_API explicit Recorder(World& world);
    SHOAL_API ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Starts a file with the current state of the world, in place of an existing file. `setup`: bytes of the caller,
    /// for the replay. Requires: no recording is active. Errors: the world cannot be saved or written; an existing file
    /// is unchanged.
    SHOAL_API Status start(const std::string& path, std::span<const std::byte> setup = {});
    /// Steps the world and records the frame; if no recording is active, only steps it. Throws the same exceptions as
    /// World::step().
    void step(float dt, std::span<const std::byte> inputs = {}) {
        const Frame frame(*this, dt, inputs);
        world_.step(dt);
    }
    bool is_recording() const { return work_ != nullptr; }
    /// Why the recording ended early. The step at which the recording ended has also logged this error.
    const Status& status() const { return status_; }
    /// Ends the file, and flushes it to the disk. Errors: status(), or the file cannot be flushed.
    SHOAL_API Status stop();

    std::uint64_t num_frames() const { return num_frames_; }
    /// The size of the file.
    std::uint64_t num_bytes() const { return num_bytes_; }

private:
    struct Work;
    struct Frame {
        SHOAL_API Frame(Recorder& recorder, float dt, std::span<const std::byte> inputs);
        SHOAL_API ~Frame();
        Recorder& recorder;
    };

    Status write_frame();
    void end(const Status& status);

    World& world_;
    Work* work_ = nullptr;  // nullptr: no recording is active
    Status status_;
    std::uint64_t num_frames_ = 0, num_bytes_ = 0;
};

/// Where a world that replays a recording first differs from the recording.
struct ReplayDifference {
    bool is_found = false;
    std::uint64_t frame = 0;  ///< World::frame() after the step
    std::string pass;         ///< the first pass that wrote something else; empty: the settle made the difference
    std::string problem;      ///< set instead of values if a pass ran only in the recording, or only in the replay
    StateDifference value;

    explicit operator bool() const { return is_found; }
    /// Returns `frame 100, pass "swim": body.velocity of entity 17:1 is [..] here and [..] in the recording`.
    SHOAL_API std::string text() const;
};

class Replay {
public:
    /// Reads the start of a recording. `bytes` are the whole file, and outlive the replay. LoadOptions: see
    /// save/save.h.
    /// Errors: the bytes are not a recording; they have another version, byte order or width of ids; they are damaged;
    /// they need too much memory.
    SHOAL_API static Result<Replay> open(std::span<const std::byte> bytes);
    SHOAL_API static Result<Replay> open(std::span<const std::byte> bytes, const LoadOptions& options);
    SHOAL_API static bool is_recording(std::span<const std::byte> bytes);  ///< whether the bytes begin like a
                                                                           ///< recording, even if they are cut short
    SHOAL_API Replay(Replay&& other) noexcept;
    SHOAL_API Replay& operator=(Replay&& other) noexcept;
    SHOAL_API ~Replay();

    /// The setup that Recorder::start() was given. Lifetime: as long as the replay.
    SHOAL_API std::span<const std::byte> setup() const;
    /// Loads the state at which the recording began into a world that was set up like the recorded one, and that
    /// outlives the replay. Errors: the state does not fit. This calls load(world, ...), so frames that the world has
    /// kept are dropped.
    SHOAL_API Status begin(World& world);

    /// Moves to the next frame. Returns whether there is one that is complete.
    SHOAL_API bool next();
    /// Returns an error if next() returned false before the end of the file. The message says what is wrong, and in
    /// which frame.
    SHOAL_API Status status() const;
    /// Facts about the current frame. Lifetime: until the next call of next().
    SHOAL_API std::uint64_t frame() const;
    SHOAL_API float dt() const;
    SHOAL_API std::span<const std::byte> inputs() const;

    /// Steps the world by the current frame, and compares what its passes write with the recording; kept frames stay.
    /// To replay without comparing, call World::step(dt()). Throws the same exceptions as that call. Requires: begin()
    /// was called, and next() returned true.
    void step() {
        const Frame frame(*this);
        world_->step(dt());
    }
    /// The difference that the last step() found, or none. After a difference, later frames differ too.
    const ReplayDifference& difference() const { return difference_; }

private:
    struct Work;
    struct Frame {
        SHOAL_API explicit Frame(Replay& replay);
        SHOAL_API ~Frame();
        Replay& replay;
    };

    explicit Replay(Work* work) : work_(work) {}
    void compare();

    World* world_ = nullptr;
    Work* work_;
    ReplayDifference difference_;
};

}  // namespace shoal

#pragma once
// Records the steps of a world in a file, and replays them. Use a replay to inspect a run, or to find the first
// difference between two runs that should be equal.
//
//     Recorder recorder(game.world);
//     if (Status status = recorder.start(path, setup); !status) return status;  // setup: how the program made this world
//     for (const Input& input : inputs) {
//         game.input = input;
//         recorder.step(0.5f, std::as_bytes(std::span(&input, 1)));  // in place of world.step()
//     }
//     return recorder.stop();
//
// A replay repeats the steps, and reports where the results differ:
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
// The file holds the state at the start of the recording. For each frame, it holds dt, the inputs, hashes of the
// columns that each pass wrote, hashes of all fields and zones at the end of the frame (see state_hash.h), and the
// changes to the state, which are needed to show differing values. For a replay, the program must set up the same
// passes, observers and callbacks. A change that the program makes between two steps is attributed to the first pass or
// settle in which it becomes visible.
//
// Cost: each step saves the state, compresses and writes the differences, and hashes all rows once. After each pass,
// the columns that it has declared as written are also hashed. A pass without declarations may write anything, so all
// rows are hashed after it.
// Thread: the structural thread of the world.

#include "shoal/save/state_difference.h"
#include "shoal/world/world.h"

namespace shoal {

struct LoadOptions;

class Recorder {
public:
    /// Lifetime: `world` must outlive the recorder.
    SHOAL_API explicit Recorder(World& world);
    SHOAL_API ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Creates or replaces the file, and starts it with the current state of the world. `setup` holds the caller's
    /// bytes, which Replay::setup() returns. Requires: no recording is active. Errors: the world cannot be saved, or
    /// the file cannot be written. On error, an existing file is unchanged.
    SHOAL_API Status start(const std::string& path, std::span<const std::byte> setup = {});
    /// Steps the world and records the frame. If no recording is active, only steps the world. Throws the same
    /// exceptions as World::step().
    void step(float dt, std::span<const std::byte> inputs = {}) {
        const Frame frame(*this, dt, inputs);
        world_.step(dt);
    }
    bool is_recording() const { return work_ != nullptr; }
    /// The reason why the recording ended early. The step that ended it has also logged the error.
    const Status& status() const { return status_; }
    /// Ends the file, and flushes it to disk. Errors: the recording ended early, as status() describes, or the file
    /// cannot be flushed.
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

/// The first place where a replay differs from its recording.
struct ReplayDifference {
    bool is_found = false;
    std::uint64_t frame = 0;  ///< World::frame() after the step
    std::string pass;         ///< the first pass that wrote different values, or empty for the settle
    std::string problem;      ///< set instead of `value` if no value differs, for example if a pass did not run
    StateDifference value;

    explicit operator bool() const { return is_found; }
    /// Returns text such as `frame 100, pass "swim": body.velocity of entity 17:1 is [..] here and [..] in the
    /// recording`.
    SHOAL_API std::string text() const;
};

class Replay {
public:
    /// Reads the start of a recording. `bytes` is the whole file and must outlive the replay. LoadOptions are described
    /// in save/save.h.
    /// Errors: the bytes are not a recording, are damaged, have a different version, byte order or id width, or need
    /// too much memory.
    SHOAL_API static Result<Replay> open(std::span<const std::byte> bytes);
    SHOAL_API static Result<Replay> open(std::span<const std::byte> bytes, const LoadOptions& options);
    SHOAL_API static bool is_recording(std::span<const std::byte> bytes);  ///< whether the bytes begin like a
                                                                           ///< recording, even if they are cut short
    SHOAL_API Replay(Replay&& other) noexcept;
    SHOAL_API Replay& operator=(Replay&& other) noexcept;
    SHOAL_API ~Replay();

    /// The `setup` that was passed to Recorder::start(). Lifetime: as long as the replay.
    SHOAL_API std::span<const std::byte> setup() const;
    /// Loads the state at the start of the recording into a world that was set up like the recorded one. Calls
    /// load(world, ...), so kept frames are dropped. Errors: the state does not fit the world. Lifetime: `world` must
    /// outlive the replay.
    SHOAL_API Status begin(World& world);

    /// Moves to the next frame. Returns false if there is no complete frame left.
    SHOAL_API bool next();
    /// Returns an error if next() returned false before the end of the file. The message describes the problem and
    /// names the frame.
    SHOAL_API Status status() const;
    /// Data of the current frame. Lifetime: until the next call to next().
    SHOAL_API std::uint64_t frame() const;
    SHOAL_API float dt() const;
    SHOAL_API std::span<const std::byte> inputs() const;

    /// Steps the world by the current frame's dt, and checks that its passes write the same values as in the recording.
    /// Kept frames are not dropped. To replay without comparing, call World::step(dt()). Throws the same exceptions as
    /// World::step(). Requires: begin() was called, and next() returned true.
    void step() {
        const Frame frame(*this);
        world_->step(dt());
    }
    /// The difference that the last step() found, or none. After a difference, later frames usually differ too.
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

#pragma once
// Records the steps of a world in a file, and plays them again: to see what happened, and to find out where two runs of one
// program differ that ought to be equal.
//
//     Recorder recorder(game.world);
//     if (Status status = recorder.start(path, setup); !status) return status;  // setup: how the program made this world
//     for (const Input& input : inputs) {
//         game.input = input;
//         recorder.step(0.5f, std::as_bytes(std::span(&input, 1)));  // in place of world.step()
//     }
//     return recorder.stop();
//
// A replay runs the same steps again, and says where something else comes of them:
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
// The file has the state with which the recording began, and for each frame its dt, its inputs, hashes of what each
// pass wrote, hashes of all fields and zones at its end (see state_hash.h), and what has changed in the state, for the
// values. The passes, observers and callbacks are the program's, which makes them again. What a program does to the
// world between two steps counts for the first pass, or for the settle, that shows it.
//
// Cost, for each step: that of saving the state, what differs being compressed and written; hashing all rows once, and once
// more what each pass has declared to write. A pass that declares nothing may write anything, so all rows are hashed
// after it.
// Thread: the structural thread of the world.

#include "shoal/save/state_difference.h"
#include "shoal/world/world.h"

namespace shoal {

struct LoadOptions;

class Recorder {
public:
    /// `world` outlives it.
    SHOAL_API explicit Recorder(World& world);
    SHOAL_API ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Begins a file with the world as it is now, which replaces one of that name. `setup`: bytes of the caller's, for
    /// the replay.
    /// Requires: it does not record. Errors: the world cannot be saved, or not written; an older file stays as it was.
    SHOAL_API Status start(const std::string& path, std::span<const std::byte> setup = {});
    /// Steps the world and records the frame; if it does not record, only steps it. Throws as World::step() does.
    void step(float dt, std::span<const std::byte> inputs = {}) {
        const Frame frame(*this, dt, inputs);
        world_.step(dt);
    }
    bool is_recording() const { return work_ != nullptr; }
    /// Why the recording has ended by itself, which the step that ended it has logged.
    const Status& status() const { return status_; }
    /// Ends the file. What was recorded is on the disk then. Errors: as of status(), or it cannot be flushed.
    SHOAL_API Status stop();

    std::uint64_t num_frames() const { return num_frames_; }
    /// What the file has.
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
    Work* work_ = nullptr;  // nullptr: it does not record
    Status status_;
    std::uint64_t num_frames_ = 0, num_bytes_ = 0;
};

/// Where a world that plays a recording has come to differ from it.
struct ReplayDifference {
    bool is_found = false;
    std::uint64_t frame = 0;  ///< World::frame() after the step
    std::string pass;         ///< the first one that wrote something else; empty: it came about when the world settled
    std::string problem;      ///< if that is not what values are: a pass that runs in one of both
    StateDifference value;

    explicit operator bool() const { return is_found; }
    /// Returns `frame 100, pass "swim": body.velocity of entity 17:1 is [..] here and [..] in the recording`.
    SHOAL_API std::string text() const;
};

class Replay {
public:
    /// Reads how a recording begins. `bytes` are those of the file, and outlive the replay. LoadOptions: see save/save.h.
    /// Errors: they are not a recording, or of another version, byte order or width of ids, damaged, or take too much memory.
    SHOAL_API static Result<Replay> open(std::span<const std::byte> bytes);
    SHOAL_API static Result<Replay> open(std::span<const std::byte> bytes, const LoadOptions& options);
    SHOAL_API static bool is_recording(std::span<const std::byte> bytes);  ///< begins as one does, whole or not
    SHOAL_API Replay(Replay&& other) noexcept;
    SHOAL_API Replay& operator=(Replay&& other) noexcept;
    SHOAL_API ~Replay();

    /// What Recorder::start() was given. Lifetime: that of the replay.
    SHOAL_API std::span<const std::byte> setup() const;
    /// Puts the state with which the recording began into a world that was made as the recorded one was, and which
    /// outlives the replay. Errors: it does not fit; see load(world, ...), which this is, so frames that the world has
    /// kept are forgotten.
    SHOAL_API Status begin(World& world);

    /// Goes on to the next frame. Returns whether there is one that is whole.
    SHOAL_API bool next();
    /// Errors: next() has returned false where the file does not end. The message says what is wrong, and in which frame.
    SHOAL_API Status status() const;
    /// Of the frame that next() went on to. Lifetime: until the next one.
    SHOAL_API std::uint64_t frame() const;
    SHOAL_API float dt() const;
    SHOAL_API std::span<const std::byte> inputs() const;

    /// Steps the world by that frame, and compares what its passes write with the recording; frames that it keeps stay.
    /// Who does not want to know calls World::step(dt()). Throws as that does. Requires: begin(), and next() has
    /// returned true.
    void step() {
        const Frame frame(*this);
        world_->step(dt());
    }
    /// What the last step() found, or none. Later frames differ, too, because of it.
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

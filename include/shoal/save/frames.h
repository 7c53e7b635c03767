#pragma once
// The states of a world at the ends of its last steps, for rollback and undo. Each shares with the one before it what
// has not changed, so a state takes memory for what the step has written.
//
//     Frames frames(world, 8);
//     for (int i = 0; i < 5; ++i) world.step(1.0f / 60);
//     const std::uint64_t now = world.frame();
//     if (Status status = frames.rewind(now - 3); !status) return status;  // an input of then has come
//     while (world.frame() < now) {
//         apply_inputs(world.frame());
//         world.step(1.0f / 60);
//     }
//
//     frame    7           8           9           10          the oldest makes room for the newest
//     state    [a][b][c]   [a][d][c]   [a][d][e]   [a][d][f]   memory: a to f, and those that only dropped states had
//
// A world has one such object at a time; a second one ends the program. It may end before the world or after it; when
// the world has ended, no frames are kept. load(world, ...) begins anew with the state that was loaded.
// Thread: the structural thread of the world, between its passes.

#include "shoal/react/service.h"
#include "shoal/state/snapshot.h"

namespace shoal {

class World;

/// The states that are kept. Units: bytes.
struct FrameStatistics {
    std::uint32_t num_frames = 0, max_frames = 0;
    std::uint64_t first = 0, last = 0;   ///< World::frame() of the oldest and of the newest
    std::uint64_t last_state_bytes = 0;  ///< all that the newest has
    std::uint64_t last_own_bytes = 0;    ///< what it does not share with the one before
};

/// What becomes of the states behind the one that a world goes back to.
enum class LaterFrames : std::uint8_t { kForget, kUntilStep };

class Frames final : public WorldService {
public:
    /// Calls keep(). Requires: the world has no other Frames; it is at rest.
    SHOAL_API Frames(World& world, std::uint32_t max_frames);
    SHOAL_API ~Frames() override;

    /// Forgets what is kept, and keeps the states at the ends of the last `max_frames` steps from now on, and that of
    /// now; 0: none.
    /// If a state cannot be saved, forgets all: rewind() says why, and so does the log, once. Requires: the world is at
    /// rest.
    SHOAL_API void keep(std::uint32_t max_frames);
    /// Takes the world back to the end of a step: World::frame() is `frame` then. Stepping goes on from there. Later states
    /// are forgotten; with LaterFrames::kUntilStep they stay until the world steps, so that it can go forth to them again.
    /// Observers are told of nothing; what programs keep beside the world is theirs to
    /// take back.
    /// Errors: the frame is not kept; the message says which ones are; the file of a zone that was unloaded then cannot
    /// be written.
    /// Requires: as above.
    SHOAL_API Status rewind(std::uint64_t frame, LaterFrames later = LaterFrames::kForget);
    SHOAL_API FrameStatistics statistics() const;

private:
    struct Frame {
        std::uint64_t number = 0;
        Snapshot state;
    };

    std::string describe() const override;
    void after_frame() override;
    void after_load() override;
    void world_ends() override;

    World* world_;  // nullptr: it has ended
    std::uint32_t max_frames_ = 0;
    Array<Frame> frames_{Owner("frame history")};  // ascending
    Status status_;                                // why the last one could not be kept
};

}  // namespace shoal

#pragma once
// Keeps the states that a world had after each of its last steps, for rollback and undo. Each state shares unchanged
// memory with the previous state, so it costs only the memory that its step wrote.
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
//     state    [a][b][c]   [a][d][c]   [a][d][e]   [a][d][f]   memory: a to f, and blocks of dropped states
//
// A world has at most one Frames at a time; a second one ends the program. The object may be destroyed before or after
// the world; destroying the world drops all frames. load(world, ...) restarts the history with the loaded state.
// Thread: the structural thread of the world, between its passes.

#include "shoal/react/service.h"
#include "shoal/state/snapshot.h"

namespace shoal {

class World;

/// Statistics of the kept states. Units: bytes.
struct FrameStatistics {
    std::uint32_t num_frames = 0, max_frames = 0;
    std::uint64_t first = 0, last = 0;   ///< World::frame() of the oldest and the newest state
    std::uint64_t last_state_bytes = 0;  ///< size of the newest state
    std::uint64_t last_own_bytes = 0;    ///< bytes that the newest state does not share with the previous one
};

/// What rewind() does with states that are later than the restored one.
enum class LaterFrames : std::uint8_t { kForget, kUntilStep };

class Frames final : public WorldService {
public:
    /// Calls keep(). Requires: the world has no other Frames, and is at rest.
    SHOAL_API Frames(World& world, std::uint32_t max_frames);
    SHOAL_API ~Frames() override;

    /// Drops all kept states. Then keeps the current state and, from now on, the states after the last `max_frames`
    /// steps. If `max_frames` is 0, keeps no states. If a state cannot be saved, all states are dropped; the reason is
    /// logged once, and rewind() returns it. Requires: the world is at rest.
    SHOAL_API void keep(std::uint32_t max_frames);
    /// Restores the state at the end of a step; World::frame() is then `frame`. Drops later states;
    /// LaterFrames::kUntilStep keeps them until the next step instead, so that another call can go forward to them.
    /// Observers are not called. Data that programs keep outside the world is not restored. Errors: the frame is not
    /// kept (the message lists the kept frames), or the file of a zone that was unloaded in that frame cannot be
    /// written.
    /// Requires: the world is at rest.
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

    World* world_;  // nullptr: the world has ended
    std::uint32_t max_frames_ = 0;
    Array<Frame> frames_{Owner("frame history")};  // ascending
    Status status_;                                // why the last state could not be kept
};

}  // namespace shoal

#pragma once
// The states of the last frames of a world, for World::rewind(). Each shares with the one before it what has not changed.
//
//     frame    7           8           9           10          the oldest makes room for the newest
//     state    [a][b][c]   [a][d][c]   [a][d][e]   [a][d][f]   memory: a to f, and those that only dropped states had
//
// Thread: the structural thread of the world.

#include "shoal/state/saved_state.h"
#include "shoal/world/world.h"

namespace shoal {

class FrameHistory {
public:
    /// Requires: max_frames > 0.
    explicit FrameHistory(std::uint32_t max_frames) : max_frames_(max_frames) {}

    /// Keeps the state of now. If it cannot be saved, forgets all: rewind() says why, and so does the log, once.
    void keep(const World& world);
    /// Takes the world back to the end of a frame, and forgets later ones. Errors: the frame is not kept.
    Status rewind(World& world, std::uint64_t frame);
    /// Forgets all.
    void clear();
    FrameStatistics statistics() const;

private:
    struct Frame {
        std::uint64_t number = 0;
        SavedState state;
    };

    std::uint32_t max_frames_;
    Array<Frame> frames_{Owner("frame history")};  // ascending
    Status status_;                                // why the last one could not be kept
};

}  // namespace shoal

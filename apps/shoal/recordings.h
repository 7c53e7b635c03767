#pragma once
// Recordings of runs. `shoal run --record` stores the setup of a run, and `shoal replay` repeats it.
//
// The setup in a recording consists of JSON that describes the run, a zero byte, the level's blob, and a blob without
// entities. The second blob has the level's component types as they are declared in the world.

#include "run.h"

namespace shoal_tool {

/// Returns whether a file is a recording. Call it before holds_world(), which would mistake a recording for a log.
bool holds_recording(Files& files, const std::string& path);
/// Starts to record a world that is about to run. `level` is the blob as it was spawned. Errors: as for
/// Recorder::start().
shoal::Status start_recording(shoal::Recorder& recorder, const shoal::World& world, const shoal::Blob& level,
                              const Task& task);
/// Plays the next frame of the recording in a world. Returns false if there are no more frames.
bool replay_frame(shoal::World& world, const Task& task);

}  // namespace shoal_tool

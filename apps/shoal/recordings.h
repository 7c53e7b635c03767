#pragma once
// Recordings of runs. `shoal run --record` stores the setup of a run, and `shoal replay` repeats it.
//
// The setup in a recording consists of a JSON text that describes the run, a zero byte, the blob of the level, and a
// blob without entities, which has the component types of the level as declared in the world.

#include "run.h"

namespace shoal_tool {

/// Returns whether a file is a recording. holds_world() would mistake it for the log of a folder.
bool holds_recording(Files& files, const std::string& path);
/// Starts to record a world that is about to run. `level` is the blob as it was spawned. Errors: the same as
/// Recorder::start().
shoal::Status start_recording(shoal::Recorder& recorder, const shoal::World& world, const shoal::Blob& level,
                              const Task& task);
/// Plays the next frame of the recording in a world. Returns false if there was none.
bool replay_frame(shoal::World& world, const Task& task);

}  // namespace shoal_tool

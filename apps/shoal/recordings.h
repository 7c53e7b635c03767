#pragma once
// Recordings of runs: how `shoal run --record` stores the setup of a run, and how `shoal replay` repeats it.
//
// The setup of the recording is a JSON text that describes the run; a zero byte; the blob of the level; and a blob
// without entities that has the component types of the level with the fields that the world gave them.

#include "run.h"

namespace shoal_tool {

/// Returns whether a file is a recording. holds_world() takes such a file for the log of a folder.
bool holds_recording(Files& files, const std::string& path);
/// Starts to record a world that is about to run. `level`: the blob as it was spawned. Errors: the same as
/// Recorder::start().
shoal::Status start_recording(shoal::Recorder& recorder, const shoal::World& world, const shoal::Blob& level,
                              const Task& task);
/// Plays the next frame of the recording in a world. Returns whether there was a frame, so that there may be another.
bool replay_frame(shoal::World& world, const Task& task);

}  // namespace shoal_tool

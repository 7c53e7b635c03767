#pragma once
// Recordings of runs: what `shoal run --record` writes of how the run was made, and what `shoal replay` makes of it.
//
// The setup of the recording is a JSON text, which says how the run was made; a zero byte; the blob of the level; and a blob
// without entities, which has the component types of the level with the fields that the world gave them.

#include "run.h"

namespace shoal_tool {

/// Returns whether a file is a recording. It looks like the log of a folder to holds_world().
bool holds_recording(Files& files, const std::string& path);
/// Begins to record a world that is about to run. `level`: as it was spawned. Errors: as of Recorder::start().
shoal::Status start_recording(shoal::Recorder& recorder, const shoal::World& world, const shoal::Blob& level,
                              const Task& task);
/// Plays the next frame of the recording in a world. Returns whether there was one, and whether there may be another.
bool replay_frame(shoal::World& world, const Task& task);

}  // namespace shoal_tool

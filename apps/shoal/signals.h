#pragma once
// Ends the tool at once when it is interrupted or told to end, without leaving temporary files behind.

namespace shoal_tool {

/// From now on, SIGINT, SIGTERM and SIGHUP remove the files that are being written and then end the process, whose status
/// tells the signal. One that was ignored, as under nohup, stays ignored.
/// Thread: called before other threads are started, which inherit that they do not get these signals.
void end_cleanly_on_signals();

/// From now on, the first of these signals does not end the process, but is noted for was_interrupted(): the verb ends as it
/// does by itself. The next one ends the process.
void note_first_signal();
bool was_interrupted();

}  // namespace shoal_tool

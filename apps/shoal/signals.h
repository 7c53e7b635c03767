#pragma once
// Ends the tool at once when it is interrupted or told to end, without leaving temporary files behind.

namespace shoal_tool {

/// From now on, SIGINT, SIGTERM and SIGHUP remove the files that are being written and then end the process, whose status
/// tells the signal. One that was ignored, as under nohup, stays ignored.
/// Thread: called before other threads are started, which inherit that they do not get these signals.
void end_cleanly_on_signals();

}  // namespace shoal_tool

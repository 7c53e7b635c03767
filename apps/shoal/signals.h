#pragma once
// Ends the tool immediately on signals, without leaving temporary files behind.

namespace shoal_tool {

/// From now on, SIGINT, SIGTERM and SIGHUP remove the files that are being written and then end the process. Its exit
/// status shows the signal. Signals that were ignored, for example under nohup, stay ignored.
/// Thread: call it before other threads are started, so that they inherit the blocked signals.
void end_cleanly_on_signals();

/// From now on, the first signal only makes was_interrupted() true, so that the verb ends normally. The second signal
/// ends the process.
void note_first_signal();
bool was_interrupted();

}  // namespace shoal_tool

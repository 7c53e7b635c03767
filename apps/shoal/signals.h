#pragma once
// Ends the tool at once when it is interrupted or terminated, without leaving temporary files behind.

namespace shoal_tool {

/// From now on, SIGINT, SIGTERM and SIGHUP remove the files being written and then end the process, whose status
/// shows the signal. An ignored signal, as under nohup, stays ignored.
/// Thread: call this before other threads are started, because they inherit the blocked signals.
void end_cleanly_on_signals();

/// From now on, the first of these signals does not end the process, but makes was_interrupted() true: the verb then
/// ends as usual. The next signal ends the process.
void note_first_signal();
bool was_interrupted();

}  // namespace shoal_tool

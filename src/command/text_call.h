#pragma once
// The calls that Commands::name(), tag() and untag() ask for: the only ones whose function is known when commands are
// saved.
// Thread: the structural thread.

#include "shoal/command/detail/command_recorder.h"
#include "shoal/store/detail/waiting_commands.h"

#include <string>

namespace shoal {

struct TextCall {
    WaitingCommands* commands;
    TextChange change;
    std::string text;

    /// Asks the world to do it; what it refuses is a line in the log.
    void operator()(Entity self) const;
};
using TextCommand = detail::CallCommand<TextCall>;

}  // namespace shoal

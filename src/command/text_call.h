#pragma once
// The calls of Commands::name(), tag() and untag(), which are the only calls whose function is known when commands are
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

    /// Asks the world to make the change. If the world refuses, a line is logged.
    void operator()(Entity self) const;
};
using TextCommand = detail::CallCommand<TextCall>;

}  // namespace shoal

#pragma once
// Messages for users, sent through one hook. The default hook writes `shoal: warning: message` to standard error.
// Thread: set the hook before other threads start. Any thread may log, so the hook may be called from any thread.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <string_view>

namespace shoal {

enum class LogLevel : std::uint8_t { kNote, kWarning, kError };

/// Receives one message, without a line end, and the `context` passed to set_log_hook().
using LogHook = void (*)(void* context, LogLevel level, std::string_view message);

/// Replaces the hook. nullptr restores the default.
SHOAL_API void set_log_hook(LogHook hook, void* context);

SHOAL_API void log(LogLevel level, std::string_view message);

}  // namespace shoal

#pragma once
// How a loop hands the commands of its chunks to the function that it calls.
// Thread: open_commands() from the thread that starts the loop.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

class Commands;
class Database;
class PassScope;

namespace detail {

/// While it lives, the calling thread runs the function of a loop, which must not ask for the commands of its pass.
class LoopScope {
public:
    SHOAL_API LoopScope();
    SHOAL_API ~LoopScope();
    LoopScope(const LoopScope&) = delete;
    LoopScope& operator=(const LoopScope&) = delete;

private:
    PassScope* pass_;
};

/// Returns the first of as many Commands as a loop has chunks.
SHOAL_API Commands* open_commands(Database& database, std::uint32_t num_chunks);

/// A function of a loop whose first argument is bound.
template <class Function>
struct WithCommands {
    Function& function;
    Commands& commands;

    template <class... Arguments>
    SHOAL_INLINE auto operator()(Arguments&&... arguments)
        -> decltype(function(commands, static_cast<Arguments&&>(arguments)...)) {
        return function(commands, static_cast<Arguments&&>(arguments)...);
    }
};

}  // namespace detail
}  // namespace shoal

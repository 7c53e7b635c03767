#pragma once
// How a loop over rows makes itself known, so that its functions get commands of their own and cannot use those of the
// pass. For queries.
// Thread: the one that runs the loop, or a chunk of it.

#include "shoal/job/detail/work_scope.h"

namespace shoal {

class Commands;
class ComponentDirectory;

namespace detail {

class CommandRecorder;
class RangeCommands;

/// While it lives, the calling thread runs the function of a loop, which must not ask for the commands of its pass.
class LoopScope {
public:
    SHOAL_API LoopScope();
    SHOAL_API ~LoopScope();
    LoopScope(const LoopScope&) = delete;
    LoopScope& operator=(const LoopScope&) = delete;

private:
    WorkScope* scope_;  // nullptr: the loop runs outside of passes
};

/// Returns the first of as many recorders of commands as a loop has chunks. `loop` is its WorkScope::begin_loop().
SHOAL_API CommandRecorder* open_commands(ComponentDirectory& directory, const WorkPosition& loop,
                                         std::uint32_t num_chunks);

}  // namespace detail
}  // namespace shoal

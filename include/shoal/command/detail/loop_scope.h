#pragma once
// Announces a loop over rows, so that its functions get their own commands and cannot use the commands of the pass.
// Used by queries.
// Thread: the thread that runs the loop, or a chunk of it.

#include "shoal/job/detail/work_scope.h"

namespace shoal {

class Commands;
class ComponentDirectory;

namespace detail {

class CommandRecorder;
class RangeCommands;

/// While a LoopScope exists, the calling thread runs the function of a loop, which must not use the commands of its
/// pass.
class LoopScope {
public:
    SHOAL_API LoopScope();
    SHOAL_API ~LoopScope();
    LoopScope(const LoopScope&) = delete;
    LoopScope& operator=(const LoopScope&) = delete;

private:
    WorkScope* scope_;  // nullptr: the loop runs outside of passes
};

/// Returns an array of command recorders, one per chunk of a loop. `loop` is the result of WorkScope::begin_loop().
SHOAL_API CommandRecorder* open_commands(ComponentDirectory& directory, const WorkPosition& loop,
                                         std::uint32_t num_chunks);

}  // namespace detail
}  // namespace shoal

#pragma once
// The position of a thread's work in a frame: the pass, the loop in the pass, and the chunk of the loop. Commands and
// events from passes are sorted by position, so their order does not depend on the number of workers.
//
//     pass 1      itself | loop 1: chunk 0, chunk 1, ... | itself | loop 2: chunk 0, ... | itself
//                                   |
//                                   itself | loop 1: chunk 0, ... | itself          a chunk may also start loops
//     pass 2      ...
//
// This is the order in which a single thread would do the work. Work outside of schedules counts as pass 0, whose loops
// are numbered across the whole program. Query loops and for_rows() set the position. A loop that is started directly
// on an executor does not.
// Thread: a scope belongs to the thread that made it.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

class Executor;

struct WorkPosition {
    static constexpr std::uint32_t kMostSteps = 4;        ///< one for each nested loop, and one for the innermost work
    static constexpr std::uint32_t kItself = 0xFFFFFFFF;  ///< the chunk number of work between loops

    struct Step {
        std::uint64_t loop = 0;  ///< 1, 2, ... in the order in which loops start; 0: before the first loop
        std::uint32_t chunk = 0;
    };

    std::uint32_t pass = 0;
    std::uint32_t num_steps = 0;  ///< if more than kMostSteps, the position is not exact
    Step steps[kMostSteps] = {};

    bool is_exact() const { return num_steps <= kMostSteps; }
    void add_step(Step step) {
        if (num_steps < kMostSteps) steps[num_steps] = step;
        ++num_steps;
    }
};

/// Whether work at `a` would be done before work at `b` on a single thread.
SHOAL_API bool comes_before(const WorkPosition& a, const WorkPosition& b);

/// An object that a scope closes when the scope ends.
class OpenInScope {
public:
    /// Called when the scope ends (`is_over` is true), or when another scope begins within it.
    virtual void close(bool is_over) = 0;
    const void* owner = nullptr;  ///< the object that opened this one
    OpenInScope* next = nullptr;  ///< the next object in the same scope

protected:
    ~OpenInScope() = default;
};

/// While a scope exists, the calling thread runs a pass or a chunk.
class WorkScope {
public:
    /// Begins a pass. Passes are numbered 1, 2, 3 ... in the order of the schedule. `executor` runs the pass's loops.
    SHOAL_API explicit WorkScope(std::uint32_t pass, Executor* executor = nullptr);
    /// Begins a chunk of a loop that begin_loop() has numbered. Lifetime: `loop` outlives the scope.
    SHOAL_API WorkScope(const WorkPosition& loop, std::uint32_t chunk);
    SHOAL_API ~WorkScope();
    WorkScope(const WorkScope&) = delete;
    WorkScope& operator=(const WorkScope&) = delete;

    /// Returns the innermost scope of the calling thread, or nullptr if the thread is not running a pass.
    SHOAL_API static WorkScope* current();
    /// Numbers a loop that the calling thread starts, and returns its position.
    SHOAL_API static WorkPosition begin_loop();
    /// Reserves numbers for `count` loops outside of passes, and returns the first number.
    SHOAL_API static std::uint64_t number_outer_loops(std::uint64_t count);
    /// Returns the position of the calling thread's current work.
    SHOAL_API static WorkPosition place();

    /// Returns the executor of the pass's loops, or nullptr if it is unknown or this is a chunk.
    Executor* executor() const { return executor_; }
    std::uint32_t pass() const { return loop_ == nullptr ? pass_ : loop_->pass; }
    /// Whether the thread is running a loop's function, and not the pass itself.
    bool is_in_loop() const { return loop_ != nullptr || num_functions_ != 0; }
    /// Called before and after a loop that the thread runs alone, because the functions of such a loop do not open
    /// scopes.
    void begin_function() { ++num_functions_; }
    void end_function() { --num_functions_; }

    /// Closes `opened` when this scope ends, or when another scope begins within this scope.
    SHOAL_API void keep_open(OpenInScope& opened);
    OpenInScope* first_open() const { return opened_; }
    void close_all() { close_all(false); }

private:
    SHOAL_API void close_all(bool is_over);
    WorkPosition own_place() const;

    const WorkPosition* loop_ = nullptr;  // nullptr: a pass
    std::uint32_t chunk_ = 0, pass_ = 0, num_functions_ = 0;
    std::uint64_t num_loops_ = 0;
    Executor* executor_ = nullptr;
    OpenInScope* opened_ = nullptr;
    WorkScope* outer_;
};

}  // namespace shoal

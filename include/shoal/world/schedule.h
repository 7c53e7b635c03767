#pragma once
// Passes: named functions that say what they read and write. Those that conflict (one writes what the other touches)
// never overlap; the others run side by side. Each is timed.
//
//     schedule.add("fall", query<Write<&Body::velocity>>(bodies),
//                  [](const PassContext& frame, auto&& v) { v.z -= 9.81f * frame.dt; });     // for each row
//     schedule.add("sink", query<Write<&Body::velocity>>(bodies), {reads(sea)}, [&](auto&& v) { v += sea.pull; });
//     schedule.add("count", {reads(bodies), writes(score)}, [&](PassContext&) { score = bodies.num_rows(); });
//     schedule.add("draw", [&](PassContext&) { ... }).after("fall");         // declares nothing: it runs alone
//
// Order. The passes stand in a line: as they were added, but each behind those that after() and before() put before
// it. Two passes that conflict run in the order of the line; two that an explicit order joins do so as well.
//
//     added       a  b  c  d      b.after("d")
//     line        a  c  d  b      a | c     ->  d  ->  b         if c conflicts with d, and nothing else does
//
// Within a group the order of adding is meant as an order. Between groups it is chance: plug-ins are loaded in any
// order. A strict schedule (the default in checked builds) refuses two passes of different groups that conflict while
// neither after() nor before() orders them, directly or through others, and names both.
//
// A pass over a query declares the query's fields; the list behind the query says what else its function touches. It
// runs on all workers, cut into ranges of rows that depend on the number of rows only, so that its results do not
// depend on the number of workers. Inside a pass the fields that it declares, look-ups and const calls are free;
// structural changes are asked for through Commands (see store/commands.h), in the order of the line, and made when the
// world settles. Checked builds end the program when a pass marks a column as written that it has not declared.
// Thread: one at a time; the functions of passes are called from all workers at once.

#include "shoal/base/status.h"
#include "shoal/world/schedule_rows.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

class PassOrder;
class Trace;

class Schedule {
public:
    Schedule() = default;
    SHOAL_API ~Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    /// Adds a pass that calls `function` for each row of `rows`, as a loop does (see store/query.h), with a const
    /// PassContext& before all else if it takes one.
    /// Requires: no pass of this schedule has the name; the schedule does not run.
    template <PassRows Rows, class Function>
    PassOrder add(std::string_view name, const Rows& rows, Function function);
    /// The same for a function that touches things beside its row: `further` lists them. Fields of the query count as
    /// declared, and may be listed again. Thread: what it lists as written is written by all workers at once.
    template <PassRows Rows, class Function>
    PassOrder add(std::string_view name, const Rows& rows, std::initializer_list<Access> further, Function function);
    /// Adds a pass that is one call of `function(PassContext&)`: for whole columns, and loops of its own.
    template <class Function>
    PassOrder add(std::string_view name, std::initializer_list<Access> accesses, Function function);
    /// The same for one that may do anything between passes but structural changes: it runs alone.
    template <class Function>
        requires std::is_invocable_v<Function&, PassContext&>
    PassOrder add(std::string_view name, Function function);

    /// Passes that are added from now on belong to the group; at first it has no name.
    /// Requires: no pass has the name.
    SHOAL_API void open_group(std::string_view name);
    /// Whether the order of passes must not be left to chance; see above.
    SHOAL_API void set_strict(bool strict);

    /// Takes a pass out. Requires: the schedule does not run. Errors: there is none of that name.
    SHOAL_API Status remove(std::string_view name);
    /// Takes all passes out. Requires: the schedule does not run.
    SHOAL_API void clear();
    /// Switches a pass off or on, from the next run on. The order of the others stays. Errors: there is none of that
    /// name. Thread: also inside passes.
    SHOAL_API Status enable(std::string_view name, bool enabled);

    /// Finds the order. Errors: after() or before() names what is not there; they form a circle (the message shows it);
    /// the schedule is strict and leaves an order to chance. Cost: none when nothing has changed.
    SHOAL_API Status prepare();
    /// Runs the passes that are on. Requires: it does not run already; prepare() finds no error.
    SHOAL_API void run(Executor& executor, float dt, std::uint64_t frame);

    /// Records when each worker worked at each pass; nullptr: no more. Lifetime: `trace` outlives the runs.
    /// Requires: the schedule does not run; the trace has room for all workers.
    SHOAL_API void set_trace(Trace* trace);
    Trace* trace() const { return trace_; }

    std::size_t num_passes() const { return entries_.size(); }
    /// In the order of adding.
    SHOAL_API PassStatistics statistics(std::size_t pass) const;

private:
    friend class PassOrder;
    struct Entry;
    struct Plan;
    class Runner;

    template <class Function>
    class FunctionPass final : public Pass {
    public:
        explicit FunctionPass(Function function) : function_(std::move(function)) {}
        void run(PassContext& context) override { function_(context); }

    private:
        Function function_;
    };

    template <class P, class... Arguments>
    PassOrder emplace(std::string_view name, std::span<const Access> accesses, std::span<const Access> further,
                      Arguments&&... arguments);
    SHOAL_API Entry& append(std::string_view name, std::span<const Access> accesses, std::span<const Access> further,
                            Pass* pass, void (*destroy)(Pass*));
    Entry* find(std::string_view name) const;
    void destroy(Entry* entry);
    void require_idle() const;
    void forget_plan();

    Array<Entry*> entries_{Owner("schedule")};  // as they were added
    Plan* plan_ = nullptr;                      // nullptr: passes have come or gone since
    Runner* runner_ = nullptr;                  // of the executor that ran it last
    Trace* trace_ = nullptr;
    std::string group_;
    bool strict_ = SHOAL_CHECKED != 0;
    bool is_running_ = false;
};

/// The place of a pass in the line, by the names of other passes, or of groups, which stand for all of their passes.
/// They may be added later. Lifetime: until the pass is removed.
class PassOrder {
public:
    /// Requires: the schedule does not run.
    SHOAL_API PassOrder& after(std::string_view pass_or_group);
    SHOAL_API PassOrder& before(std::string_view pass_or_group);

private:
    friend class Schedule;
    PassOrder(Schedule& schedule, Schedule::Entry& entry) : schedule_(schedule), entry_(entry) {}

    Schedule& schedule_;
    Schedule::Entry& entry_;
};

// Both have the check: a compiler's error is longer for each call between.
template <PassRows Rows, class Function>
PassOrder Schedule::add(std::string_view name, const Rows& rows, Function function) {
    static_assert(detail::kFitsPass<Rows, Function>,
                  "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
                  "const for Maybe and Gather, and optionally Commands& and an Entity before them, and a const "
                  "PassContext& before all of these");
    return emplace<detail::RowsPass<Rows, Function>>(name, rows.accesses(), {}, rows, std::move(function));
}

template <PassRows Rows, class Function>
PassOrder Schedule::add(std::string_view name, const Rows& rows, std::initializer_list<Access> further,
                        Function function) {
    static_assert(detail::kFitsPass<Rows, Function>,
                  "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
                  "const for Maybe and Gather, and optionally Commands& and an Entity before them, and a const "
                  "PassContext& before all of these");
    return emplace<detail::RowsPass<Rows, Function>>(name, rows.accesses(), {further.begin(), further.size()}, rows,
                                                     std::move(function));
}

// No constraint: it would have a generic function of a query called with a PassContext.
template <class Function>
PassOrder Schedule::add(std::string_view name, std::initializer_list<Access> accesses, Function function) {
    static_assert(std::is_invocable_v<Function&, PassContext&>, "a pass that lists its accesses takes a PassContext&");
    return emplace<FunctionPass<Function>>(name, {accesses.begin(), accesses.size()}, {}, std::move(function));
}

template <class Function>
    requires std::is_invocable_v<Function&, PassContext&>
PassOrder Schedule::add(std::string_view name, Function function) {
    return add(name, {writes_everything()}, std::move(function));
}

template <class P, class... Arguments>
PassOrder Schedule::emplace(std::string_view name, std::span<const Access> accesses, std::span<const Access> further,
                            Arguments&&... arguments) {
    void* memory = allocate_memory(sizeof(P), "schedule");
    static_assert(alignof(P) <= alignof(std::max_align_t));
    Pass* const pass = ::new (memory) P(std::forward<Arguments>(arguments)...);
    return {*this, append(name, accesses, further, pass, [](Pass* done) {
                static_cast<P*>(done)->~P();
                release_memory(done, sizeof(P), "schedule");
            })};
}

}  // namespace shoal

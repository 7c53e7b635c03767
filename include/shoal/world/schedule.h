#pragma once
// A schedule runs passes: named functions that declare what they read and write. Passes that conflict (one writes what
// the other reads or writes) never overlap; all other passes may run side by side. Each pass is timed.
//
//     schedule.add("fall", query<Write<&Body::velocity>>(bodies),
//                  [](const PassContext& frame, auto&& v) { v.z -= 9.81f * frame.dt; });  // for each row
//     schedule.add("sink", query<Write<&Body::velocity>>(bodies), {reads(sea)}, [&](auto&& v) { v += sea.pull; });
//     schedule.add("count", {reads(bodies), writes(score)}, [&](PassContext&) { score = bodies.num_rows(); });
//     schedule.add("draw", [&](PassContext&) { draw(bodies); }).after("fall");  // declares nothing, so it runs alone
//     schedule.add("save", {reads(bodies)}, [&](PassContext&) { save(bodies); }).every_seconds(10);
//
// Order. Passes are ordered as they were added, unless after() or before() moves a pass. Conflicting passes and passes
// related by after() or before() run in that order; all others may overlap.
//
//     added       a  b  c  d      b.after("d")
//     order       a  c  d  b      a | c     ->  d  ->  b         if c conflicts with d, and nothing else does
//
// A query that calls in() touches only the rows in some zones of a database. Passes without a common zone may run side
// by side, even if both write the same fields. Rows of managers are not in zones; fields of parents may be in any zone.
//
// Within a group, the order in which passes are added is intentional. Between groups it is accidental, because plug-ins
// may be loaded in any order. A strict schedule (the default in checked builds) reports an ambiguity when two passes of
// different groups conflict and neither after() nor before() orders them, directly or through other passes. If the
// schedule is not strict, checked builds log the ambiguity as a warning.
//
// A pass over a query declares the fields of the query. The list after the query declares everything else that the
// function touches. The pass runs on all workers. How its rows are split into ranges depends only on the number of
// rows, so the results do not depend on the number of workers. A pass may access the fields that it declares, look up
// entities and make const calls. It requests structural changes through Commands (see command/commands.h). They are
// carried out when the world settles, in the order of the passes. It sends data to later passes through Events (see
// command/events.h), as in query.writing(hits). Checked builds end the program when a pass writes a column or events
// that it has not declared, or reads data that a concurrent pass may be writing. The message names the passes and the
// field. Accesses through pointers and spans are not checked.
//
// How often. A pass runs in every frame, unless every_frames() or every_seconds() is called. Its dt is the time since
// it last ran. enable() and enable_group() enable and disable passes. While a pass is disabled, frames neither add to
// its dt nor bring its next run closer.
//
// Failures. Any function may throw, and a function that is called once with a PassContext& may return a Status. If a
// function throws or returns an error, the pass fails and the run ends. The remaining chunks of that pass still run,
// and so do the passes that precede it in the order. Later passes do not start, and the dt of their next run includes
// this frame. Nothing is undone: written values and events stay, and commands are carried out when the world settles.
// The failure is logged with the name of the pass, and status() and failed_pass() report it until the next run. run()
// rethrows the exception, and so does World::step() after the world has settled. If several passes fail, the first in
// the order is reported.
//
//     schedule.add("load", {}, [&](PassContext&) -> Status { return load("reef.blob"); });  // may fail
//
// Thread: one thread at a time; workers call the functions of passes concurrently.

#include "shoal/base/status.h"
#include "shoal/world/detail/schedule_rows.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

class PassOrder;
struct PassDeclaration;
struct PassPlan;
struct ScheduleGraph;
class Trace;

/// Receives a call after each pass. Tools use it to inspect the data that passes write.
class PassObserver {
public:
    /// Called after a pass has ended and before the passes that wait for it begin. The data that the pass declares as
    /// written does not change until the call returns. While there is an observer, passes also wait for conflicting
    /// passes in other zones. Passes are numbered from 0 in execution order. Passes that do not run in this frame are
    /// numbered too.
    /// Thread: any worker; calls for different passes may overlap.
    virtual void observe(std::string_view pass, std::uint32_t number, std::span<const Access> accesses) = 0;

protected:
    ~PassObserver() = default;
};

/// Is notified when a worker begins or stops working on a pass. Profilers use it: each period is a profiler zone on the
/// worker's thread.
///
/// A worker works on a pass while it runs the pass or helps with one of its loops. While a worker waits, it may help
/// with another pass: it then stops working on its own pass, and resumes it afterwards. If a pass steps another world,
/// the periods of that world's passes are nested in its own period. So each end() matches the last open begin() on its
/// thread.
/// Thread: the worker; several workers call it concurrently. The functions must not throw.
class PassHook {
public:
    /// Lifetime: `pass` is valid while the pass exists.
    virtual void begin(const char* pass) = 0;
    virtual void end(const char* pass) = 0;

protected:
    ~PassHook() = default;
};

class Schedule {
public:
    Schedule() = default;
    SHOAL_API ~Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    /// Adds a pass that calls `function` for each row of `rows`, as a query's for_each() does (see query/query.h). The
    /// function may take a const PassContext& as its first argument.
    /// Requires: no pass or group of this schedule has this name; the schedule is not running.
    template <PassRows Rows, class Function>
    PassOrder add(std::string_view name, const Rows& rows, Function function);
    /// Adds a pass whose function touches more than its row. `further` declares everything else that the function
    /// touches, and may repeat fields of the query. Thread: all workers may write concurrently to everything that is
    /// declared as written.
    template <PassRows Rows, class Function>
    PassOrder add(std::string_view name, const Rows& rows, std::initializer_list<Access> further, Function function);
    /// Adds a pass that calls `function(PassContext&)` once. The function can work on whole columns or run loops.
    template <class Function>
    PassOrder add(std::string_view name, std::initializer_list<Access> accesses, Function function);
    /// Adds a pass that runs alone and may do anything except structural changes.
    template <class Function>
    PassOrder add(std::string_view name, Function function);

    /// Opens a group: passes that are added from now on are part of it. The first group has no name. A group remains
    /// when its passes are removed. Requires: no pass has this name; the schedule is not running.
    SHOAL_API void open_group(std::string_view name);
    /// Sets whether an ambiguous order is an error (see the top of this file). Requires: the schedule is not running.
    SHOAL_API void set_strict(bool strict);
    /// Sets the seed of PassContext::random_for(). The default is 1. A world sets it to WorldOptions::seed.
    /// Requires: the schedule is not running.
    SHOAL_API void set_seed(std::uint64_t seed);

    /// Removes a pass. Requires: the schedule is not running. Errors: no pass has this name.
    SHOAL_API Status remove(std::string_view name);
    /// Undoes all calls to after() and before() that name this pass or group, for example after its plugin was
    /// unloaded. Requires: the schedule is not running.
    SHOAL_API void forget_order(std::string_view name);
    /// Returns whether a pass or a group has this name.
    SHOAL_API bool is_taken(std::string_view name) const;
    /// Returns whether a pass declares that it touches a store. Returns false for passes that touch everything.
    /// Requires: pass < num_passes().
    SHOAL_API bool touches(std::size_t pass, const Store& store) const;
    /// Replaces the accesses that a pass declares. Requires: the schedule is not running. Errors: no pass has this
    /// name.
    SHOAL_API Status declare(std::string_view name, std::span<const Access> accesses);
    /// Returns the accesses that a pass declares. Lifetime: until passes are added or removed, or declare() is called.
    /// Requires: pass < num_passes().
    SHOAL_API std::span<const Access> accesses(std::size_t pass) const;
    /// Recomputes which passes wait for each other. Call it after the zones in LiveZones have changed. Requires: the
    /// schedule is not running.
    SHOAL_API void zones_changed();
    /// Removes all passes. Requires: the schedule is not running.
    SHOAL_API void clear();
    /// Enables or disables a pass from the next run on. The order of passes does not change. Errors: no pass has this
    /// name. Thread: passes may call it too.
    SHOAL_API Status enable(std::string_view name, bool enabled);
    /// Enables or disables a group, including passes that are added to it later. A pass runs if both it and its group
    /// are enabled. Errors: no group has this name (the first group has no name).
    /// Thread: passes may call it too.
    SHOAL_API Status enable_group(std::string_view name, bool enabled);

    /// Computes the order of the passes. Errors: after() or before() names an unknown pass; after() and before() form a
    /// cycle (the message shows it); the schedule is strict and the order is ambiguous. Cost: none if nothing has
    /// changed.
    SHOAL_API Status prepare();
    /// Returns the passes, what they access, and which passes wait for each other. Errors: as for prepare(). Requires:
    /// the schedule is not running.
    SHOAL_API Result<ScheduleGraph> graph();
    /// Runs the passes that are enabled and due in this frame, and rethrows the exception of a failed pass. Units: dt
    /// in seconds. Requires: the schedule is not running; prepare() returns no error.
    void run(Executor& executor, float dt, std::uint64_t frame) {
        run_passes(executor, dt, frame);
        failure_.rethrow();
    }
    /// The number of the world's next frame. set_frame() is called in each step and when a save is loaded.
    std::uint64_t frame() const { return frame_; }
    void set_frame(std::uint64_t frame) { frame_ = frame; }
    /// Rethrows the exception of a pass in the last run, unless it was already rethrown.
    void rethrow() { failure_.rethrow(); }
    /// Returns the result of the last run. Errors: a pass failed. The message names the pass and gives the reason.
    const Status& status() const { return status_; }
    /// Returns the name of the pass at the 1-based position `place` in the order of the last run, or an empty string.
    /// Lifetime: until the next run.
    SHOAL_API std::string_view name_at(std::uint32_t place) const;
    /// Returns the name of the pass that failed in the last run, or an empty string. Lifetime: until the next run.
    std::string_view failed_pass() const { return failed_pass_; }

    /// From now on, records in `trace` the periods in which each worker works on each pass. nullptr stops recording.
    /// Lifetime: `trace` must outlive the runs.
    /// Requires: the schedule is not running; the trace has as many workers as the executor.
    SHOAL_API void set_trace(Trace* trace);
    Trace* trace() const { return trace_; }
    /// From now on, notifies `observer` of each pass that runs. nullptr removes the observer. Time spent in the
    /// observer is not counted for any pass. Lifetime: the observer must outlive the runs. Requires: the schedule is
    /// not running.
    SHOAL_API void set_observer(PassObserver* observer);
    /// From now on, notifies `hook` when a worker begins or ends work on a pass. nullptr removes the hook. Cost:
    /// without a hook, two comparisons each time that a worker runs a pass or helps with one of its loops.
    /// Lifetime: the hook must outlive the runs. Requires: the schedule is not running.
    SHOAL_API void set_hook(PassHook* hook);

    /// Saves the seed, whether each pass and group is enabled, and when each pass is due.
    SHOAL_API void save(SnapshotWriter& to) const;
    /// Restores the state that save() wrote. Ignores passes and groups that this schedule does not have. Requires: the
    /// schedule is not running. Errors: the saved bytes are malformed.
    SHOAL_API Status load(SnapshotReader& from);

    std::size_t num_passes() const { return entries_.size(); }
    /// Returns the statistics of a pass. Passes are numbered in the order in which they were added. Requires: pass <
    /// num_passes().
    SHOAL_API PassStatistics statistics(std::size_t pass) const;

private:
    friend class PassOrder;
    friend class World;
    struct Entry;
    struct Group;
    class Runner;

    template <class Function>
    class FunctionPass final : public Pass {
    public:
        explicit FunctionPass(Function function) : function_(std::move(function)) {}
        void run(PassContext& context, Failure& failure) override {
            failure.guard(0, [&] {
                if constexpr (std::is_same_v<std::invoke_result_t<Function&, PassContext&>, Status>)
                    failure.keep(function_(context));
                else
                    function_(context);
            });
        }

    private:
        Function function_;
    };

    template <class P, class... Arguments>
    PassOrder emplace(std::string_view name, std::span<const Access> accesses, std::span<const Access> further,
                      Arguments&&... arguments);
    SHOAL_API Entry& append(std::string_view name, std::span<const Access> accesses, std::span<const Access> further,
                            Pass* pass, void (*destroy)(Pass*));
    Entry* find(std::string_view name) const;
    Group* find_group(std::string_view name) const;
    void destroy(Entry* entry);
    SHOAL_API void run_passes(Executor& executor, float dt, std::uint64_t frame);
    Array<PassDeclaration> declarations() const;
    void require_idle() const;
    void forget_plan();
    void forget(const Store& store);

    Array<Entry*> entries_{Owner("schedule")};  // in the order in which they were added
    Array<Group*> groups_{Owner("schedule")};   // named groups, in the order in which they were opened
    Group* group_ = nullptr;                    // group to which passes are added; nullptr: the first group
    PassPlan* plan_ = nullptr;                  // nullptr: not computed since passes last changed
    Runner* runner_ = nullptr;                  // for the executor of the last run
    Trace* trace_ = nullptr;
    PassObserver* observer_ = nullptr;
    PassHook* hook_ = nullptr;
    std::uint64_t seed_ = 1, frame_ = 0;
    bool strict_ = SHOAL_CHECKED != 0;
    bool is_running_ = false;
    Failure failure_;  // kept until it is rethrown; the next two members report it until the next run
    Status status_;
    std::string failed_pass_;
};

/// Sets when a pass runs: its order relative to other passes, and how often it runs. Lifetime: until the pass is
/// removed.
class PassOrder {
public:
    /// Orders the pass relative to another pass, or to all passes of a group. The other pass or group may be added
    /// later. Requires: the schedule is not running.
    SHOAL_API PassOrder& after(std::string_view pass_or_group);
    SHOAL_API PassOrder& before(std::string_view pass_or_group);

    /// Runs the pass in the next frame, and then `num_frames` frames after each run. The dt of the first run is the
    /// frame's dt. The dt of each later run is the sum over the frames since the previous run. The order of passes does
    /// not change.
    /// Replaces every_seconds(). Requires: num_frames > 0; the schedule is not running.
    SHOAL_API PassOrder& every_frames(std::uint32_t num_frames);
    /// Runs the pass in each frame in which the sum of dt from now on reaches a multiple of `seconds`, so the runs do
    /// not drift. The sum may fall short of the multiple by a thousandth of the frame's dt, because 50 frames of 0.02f
    /// are a little less than a second. If a frame reaches several multiples, the pass runs once. Its dt is the total
    /// dt of all frames since it last ran, including this frame. Frames whose dt is not finite are ignored. Replaces
    /// every_frames(). Requires: `seconds` is positive and finite; the schedule is not running.
    SHOAL_API PassOrder& every_seconds(float seconds);

private:
    friend class Schedule;
    PassOrder(Schedule& schedule, Schedule::Entry& entry) : schedule_(schedule), entry_(entry) {}

    Schedule& schedule_;
    Schedule::Entry& entry_;
};

// Both overloads repeat the check, because a shared helper would make the compiler's error message longer.
template <PassRows Rows, class Function>
PassOrder Schedule::add(std::string_view name, const Rows& rows, Function function) {
    static_assert(detail::kFitsPass<Rows, Function>,
                  "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
                  "const for Maybe, Parent and Related, a const T& for Removed, and optionally Commands& and an Entity "
                  "before them; before that, an "
                  "EventWriter<T>& for each channel of writing(), and a const PassContext& before all of these");
    if constexpr (detail::kFitsPass<Rows, Function>)
        return emplace<detail::RowsPass<Rows, Function>>(name, rows.accesses(), {}, rows, std::move(function));
    else
        __builtin_trap();  // never compiled
}

template <PassRows Rows, class Function>
PassOrder Schedule::add(std::string_view name, const Rows& rows, std::initializer_list<Access> further,
                        Function function) {
    static_assert(detail::kFitsPass<Rows, Function>,
                  "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
                  "const for Maybe, Parent and Related, a const T& for Removed, and optionally Commands& and an Entity "
                  "before them; before that, an "
                  "EventWriter<T>& for each channel of writing(), and a const PassContext& before all of these");
    if constexpr (detail::kFitsPass<Rows, Function>)
        return emplace<detail::RowsPass<Rows, Function>>(name, rows.accesses(), {further.begin(), further.size()}, rows,
                                                         std::move(function));
    else
        __builtin_trap();  // never compiled
}

// Not constrained, because checking a constraint would instantiate a query's generic function with a PassContext.
template <class Function>
PassOrder Schedule::add(std::string_view name, std::initializer_list<Access> accesses, Function function) {
    static_assert(std::is_invocable_v<Function&, PassContext&>, "a pass that lists its accesses takes a PassContext&");
    return emplace<FunctionPass<Function>>(name, {accesses.begin(), accesses.size()}, {}, std::move(function));
}

template <class Function>
PassOrder Schedule::add(std::string_view name, Function function) {
    static_assert(std::is_invocable_v<Function&, PassContext&>,
                  "a pass without a query takes a PassContext&; name its query before the function if it has one");
    return add(name, {writes_everything()}, std::move(function));
}

template <class P, class... Arguments>
PassOrder Schedule::emplace(std::string_view name, std::span<const Access> accesses, std::span<const Access> further,
                            Arguments&&... arguments) {
    Pass* const pass = make_owned<P>("schedule", std::forward<Arguments>(arguments)...);
    return {*this, append(name, accesses, further, pass,
                          [](Pass* done) { destroy_owned("schedule", static_cast<P*>(done)); })};
}

}  // namespace shoal

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
// Order. Passes are ordered as they were added, except that after() and before() put a pass after or before other
// passes. Passes that conflict run in that order, and so do passes that after() or before() relates; all others may
// overlap.
//
//     added       a  b  c  d      b.after("d")
//     order       a  c  d  b      a | c     ->  d  ->  b         if c conflicts with d, and nothing else does
//
// A query in() some zones of a database touches only the rows in these zones: passes without a common zone run side by
// side, even if both write the same fields. Fields of managers are in no zone; fields of parents may be in any zone.
//
// Within a group, the order of adding is intended. Between groups it is accidental: plug-ins are loaded in any order. A
// strict schedule (the default in checked builds) reports an ambiguity when two passes of different groups conflict and
// neither after() nor before() orders them, directly or through other passes. If the schedule is not strict, checked
// builds log the ambiguity as a warning.
//
// A pass over a query declares the fields of the query; the list after the query declares what else the function
// touches. The pass runs on all workers, in ranges of rows that depend only on the number of rows, so the results do
// not depend on the number of workers. A pass may use the fields that it declares, look-ups and const calls. It
// requests structural changes through Commands (see command/commands.h); they are made when the world settles, in the
// order of the passes. It sends data to later passes through Events (see command/events.h; query.writing(hits)).
// Checked builds end the program when a pass writes a column or events that it has not declared, or reads one that a
// concurrent pass may be writing; the message names the passes and the field. Pointers and spans are not watched.
//
// How often. A pass runs in every frame, unless every_frames() or every_seconds() says otherwise; its dt is the time
// since it last ran. enable() and enable_group() enable and disable passes. For a disabled pass, time stands still:
// the frames until it is enabled again count neither for its dt nor for its next run.
//
// Failures. A function that is called once, with a PassContext&, may return a Status; any function may throw. An error
// or an exception fails the pass and ends the run: the other chunks of the pass and the passes before it in the order
// still run; the passes after it do not start, and their next run includes the dt of this one. Nothing is undone:
// written values and events stay, and commands are carried out when the world settles. The failure is logged with the
// name of the pass; status() and failed_pass() report it until the next run; and run(), or World::step() after it has
// settled, rethrows the exception. If several passes fail, the first in the order is reported.
//
//     schedule.add("load", {}, [&](PassContext&) -> Status { return load("reef.blob"); });  // may fail
//
// Thread: one thread at a time; all workers call the functions of passes at once.

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

/// Is notified of each pass that has run, for tools that inspect what passes write.
class PassObserver {
public:
    /// Called when a pass has ended, before the passes that wait for it begin: the data that the pass has declared to
    /// write does not change until the call returns. While there is an observer, zones are ignored: passes also wait
    /// for conflicting passes in other zones. Passes are numbered from 0 in the order in which they run; passes that do
    /// not run in this frame are counted too.
    /// Thread: any worker, for several passes at once.
    virtual void observe(std::string_view pass, std::uint32_t number, std::span<const Access> accesses) = 0;

protected:
    ~PassObserver() = default;
};

/// Is notified when a worker begins to work on a pass and when it stops, for profilers: each such period is a zone of
/// its thread.
///
/// A worker works on a pass while it runs it, and while it helps with one of its loops. A worker that helps with
/// another pass while it waits first stops working on its own pass, and resumes it afterwards. If a pass steps another
/// world, the periods of that world's passes are within the period of this pass. So each end() belongs to the last
/// begin() on the same thread that has not ended.
/// Thread: the worker; several workers call it at once. The functions do not throw.
class PassHook {
public:
    /// Lifetime: `pass` is valid as long as the pass exists.
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

    /// Adds a pass that calls `function` for each row of `rows`, as for_each of a query does (see query/query.h), with
    /// a const PassContext& as the first argument if it takes one.
    /// Requires: no pass of this schedule has the name; the schedule is not running.
    template <PassRows Rows, class Function>
    PassOrder add(std::string_view name, const Rows& rows, Function function);
    /// The same for a function that touches more than its row. `further` declares what else it touches, and may repeat
    /// fields of the query. Thread: all workers may write at the same time to anything that is listed as written.
    template <PassRows Rows, class Function>
    PassOrder add(std::string_view name, const Rows& rows, std::initializer_list<Access> further, Function function);
    /// Adds a pass that calls `function(PassContext&)` once, for work on whole columns and loops of its own.
    template <class Function>
    PassOrder add(std::string_view name, std::initializer_list<Access> accesses, Function function);
    /// Adds a pass that runs alone and may do anything except structural changes.
    template <class Function>
    PassOrder add(std::string_view name, Function function);

    /// Makes all passes that are added from now on part of this group. The first group has no name. A group stays when
    /// its passes are removed. Requires: no pass has the name of the group; the schedule is not running.
    SHOAL_API void open_group(std::string_view name);
    /// Sets whether an ambiguous order is an error (see above). Requires: the schedule is not running.
    SHOAL_API void set_strict(bool strict);
    /// Sets the seed of PassContext::random_for(), which is 1 at first. A world sets it to WorldOptions::seed.
    /// Requires: the schedule is not running.
    SHOAL_API void set_seed(std::uint64_t seed);

    /// Removes a pass. Requires: the schedule is not running. Errors: no pass has this name.
    SHOAL_API Status remove(std::string_view name);
    /// Removes a name that is gone for good, such as the name of a plugin's pass, from after() and before() of all
    /// passes. Requires: the schedule is not running.
    SHOAL_API void forget_order(std::string_view name);
    /// Whether a pass or a group has this name.
    SHOAL_API bool is_taken(std::string_view name) const;
    /// Whether a pass has declared that it touches a store. Passes that touch everything do not count.
    /// Requires: pass < num_passes().
    SHOAL_API bool touches(std::size_t pass, const Store& store) const;
    /// Replaces the declaration of what a pass touches. Requires: as above. Errors: no pass has this name.
    SHOAL_API Status declare(std::string_view name, std::span<const Access> accesses);
    /// Returns what a pass has declared. Lifetime: until a pass is added, removed or declared anew. Requires:
    /// pass < num_passes().
    SHOAL_API std::span<const Access> accesses(std::size_t pass) const;
    /// Makes passes wait for each other according to the zones that are in LiveZones now. Requires: the schedule is not
    /// running.
    SHOAL_API void zones_changed();
    /// Removes all passes. Requires: the schedule is not running.
    SHOAL_API void clear();
    /// Enables or disables a pass, from the next run on. The order of the other passes stays the same. Errors: no pass
    /// has this name. Thread: passes may call it too.
    SHOAL_API Status enable(std::string_view name, bool enabled);
    /// Enables or disables a group of passes in the same way, including passes that join it later. A pass runs if both
    /// it and its group are enabled. Errors: no group has this name (the first group has no name).
    /// Thread: passes may call it too.
    SHOAL_API Status enable_group(std::string_view name, bool enabled);

    /// Finds the order. Errors: after() or before() names an unknown pass; after() and before() form a cycle (the
    /// message shows it); or the schedule is strict and the order is ambiguous. Cost: none if nothing has changed.
    SHOAL_API Status prepare();
    /// Returns which passes wait for which, and what they declare. Errors: the same as prepare(). Requires: the
    /// schedule is not running.
    SHOAL_API Result<ScheduleGraph> graph();
    /// Runs the passes that are enabled and due in this frame, and throws what one of them threw. Units: dt in
    /// seconds. Requires: the schedule is not running; prepare() returns no error.
    void run(Executor& executor, float dt, std::uint64_t frame) {
        run_passes(executor, dt, frame);
        failure_.rethrow();
    }
    /// The number of a world's next frame; set_frame() is called by the world and by loading.
    std::uint64_t frame() const { return frame_; }
    void set_frame(std::uint64_t frame) { frame_ = frame; }
    /// Throws what a pass of the last run threw, if it has not been rethrown yet.
    void rethrow() { failure_.rethrow(); }
    /// Returns how the last run ended. Errors: a pass failed; the message names it and says why.
    const Status& status() const { return status_; }
    /// Returns the name of the pass at a place in the order of the last run, counted from 1; empty if there is no such
    /// place. Lifetime: until the next run.
    SHOAL_API std::string_view name_at(std::uint32_t place) const;
    /// Returns the name of the pass that failed in the last run, or an empty text. Lifetime: until the next run.
    std::string_view failed_pass() const { return failed_pass_; }

    /// Records in `trace` when each worker works on each pass; nullptr stops it. Lifetime: `trace` outlives the runs.
    /// Requires: the schedule is not running; the trace has as many workers as the executor.
    SHOAL_API void set_trace(Trace* trace);
    Trace* trace() const { return trace_; }
    /// Notifies `observer` of the passes that run from now on; nullptr stops it. The time of the observer is not
    /// counted for any pass. Lifetime: the observer outlives the runs. Requires: the schedule is not running.
    SHOAL_API void set_observer(PassObserver* observer);
    /// Notifies `hook` when workers begin and end work on passes from now on; nullptr stops it. Cost without a hook:
    /// two comparisons each time a worker switches to a pass: once for each pass that it runs, and once for each loop
    /// that it helps with.
    /// Lifetime: the hook outlives the runs. Requires: the schedule is not running.
    SHOAL_API void set_hook(PassHook* hook);

    /// Writes, by name, which passes and groups are enabled and when passes are due. Also writes the seed.
    SHOAL_API void save(SnapshotWriter& to) const;
    /// Restores what save() wrote about passes and groups that this schedule has. Requires: the schedule is not
    /// running. Errors: the saved bytes do not fit.
    SHOAL_API Status load(SnapshotReader& from);

    std::size_t num_passes() const { return entries_.size(); }
    /// Returns the statistics of a pass; passes are numbered in the order of adding. Requires: pass < num_passes().
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

    Array<Entry*> entries_{Owner("schedule")};  // in the order of adding
    Array<Group*> groups_{Owner("schedule")};   // those with a name, in the order of opening
    Group* group_ = nullptr;                    // the group of passes added from now on; nullptr: the first group
    PassPlan* plan_ = nullptr;                  // nullptr: passes have changed since the last plan
    Runner* runner_ = nullptr;                  // for the last executor
    Trace* trace_ = nullptr;
    PassObserver* observer_ = nullptr;
    PassHook* hook_ = nullptr;
    std::uint64_t seed_ = 1, frame_ = 0;
    bool strict_ = SHOAL_CHECKED != 0;
    bool is_running_ = false;
    Failure failure_;  // of the last run, until it is rethrown; the next two members report it until the next run
    Status status_;
    std::string failed_pass_;
};

/// Sets when a pass runs: after and before which other passes, and how often. Lifetime: until the pass is removed.
class PassOrder {
public:
    /// Orders the pass relative to other passes, given by name. The name of a group stands for all of its passes. The
    /// other passes may be added later. Requires: the schedule is not running.
    SHOAL_API PassOrder& after(std::string_view pass_or_group);
    SHOAL_API PassOrder& before(std::string_view pass_or_group);

    /// Runs the pass in the next frame, and then `num_frames` frames after each run. Its dt is the sum of the dt of
    /// these frames; in its first frame, the dt of that frame. The order of passes does not change.
    /// Replaces every_seconds(). Requires: num_frames > 0; the schedule is not running.
    SHOAL_API PassOrder& every_frames(std::uint32_t num_frames);
    /// Runs the pass in each frame in which the sum of dt from now on reaches a multiple of `seconds`, so the runs do
    /// not drift. The sum may be short by a thousandth of the frame's dt, because 50 frames of 0.02f are a little less
    /// than a second. A frame that reaches several multiples runs the pass once. Its dt is the sum of the dt of the
    /// frames since it last ran, this frame included. Frames whose dt is not finite do not count. Replaces
    /// every_frames(). Requires: `seconds` is above 0 and finite; the schedule is not running.
    SHOAL_API PassOrder& every_seconds(float seconds);

private:
    friend class Schedule;
    PassOrder(Schedule& schedule, Schedule::Entry& entry) : schedule_(schedule), entry_(entry) {}

    Schedule& schedule_;
    Schedule::Entry& entry_;
};

// Both overloads have the check, because a call in between would make the compiler's error longer.
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

// Not constrained: a constraint would try to call generic functions of queries with a PassContext.
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

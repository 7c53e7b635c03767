// Keeps the passes of a schedule, runs them on all workers, and checks what they write.

#include "shoal/world/schedule.h"

#include "shoal/base/clock.h"
#include "shoal/base/detail/running_pass.h"
#include "shoal/base/log.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/job/detail/crew.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/access_guard.h"
#include "shoal/table/detail/field_of_component.h"
#include "shoal/table/detail/table.h"
#include "shoal/world/trace.h"
#include "world/pass_interval.h"
#include "world/schedule_order.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace shoal {

/// A group of passes that are enabled together.
struct Schedule::Group {
    explicit Group(std::string_view name_given) : name(name_given) {}

    const std::string name;
    std::atomic<bool> enabled{true};
};

/// A pass of a schedule, with its state.
/// Thread: each worker adds to its own element of worker_ns; the worker that runs the pass writes the other members.
struct Schedule::Entry final : AccessGuard {
    Entry(const Schedule& schedule_given, std::string_view name_given, const Group* group_given)
        : schedule(schedule_given),
          name(name_given),
          name_hash(hash_bytes(name.data(), name.size())),
          group(group_given) {
        statistics.name = name;
    }

    std::string_view group_name() const { return group == nullptr ? std::string_view() : group->name; }
    bool is_enabled() const {
        return enabled.load(std::memory_order_relaxed) &&
               (group == nullptr || group->enabled.load(std::memory_order_relaxed));
    }

    /// Ends the program if the pass does not declare that it writes the column or the object.
    void require_write(const Table& table, std::uint32_t column) const override;
    void require_write(const void* object, const char* what) const override;
    /// Ends the program if the pass does not declare that it touches the column or object, and a pass that may run
    /// concurrently writes it.
    void require_read(const Table& table, std::uint32_t column) const override;
    void require_read(const void* object, const char* what) const override;
    template <class IsAbout>
    const Entry* find_unordered_writer(IsAbout&& is_about) const;
    [[noreturn]] void refuse_read(const Entry& writer, std::string_view what, std::string_view missing) const;

    const Schedule& schedule;
    const std::string name;
    const std::uint64_t name_hash;
    const Group* const group;  // nullptr: the first group, which has no name
    Pass* pass = nullptr;
    void (*destroy)(Pass*) = nullptr;
    Array<Access> accesses{Owner("schedule")};
    Array<std::string> after{Owner("schedule")};
    Array<std::string> before{Owner("schedule")};
    PassStatistics statistics;
    std::atomic<bool> enabled{true};
    PassInterval interval;
    bool runs = true;                                  // whether the pass runs in this frame
    Array<std::int64_t> worker_ns{Owner("schedule")};  // time per worker
    std::uint32_t trace_name = 0;
};

namespace {

Status no_pass(std::string_view name) {
    return Status::error(concat("the schedule has no pass called \"", name, "\""));
}

/// Returns the seed of a pass in a frame. A difference of one bit in any input gives an unrelated seed.
std::uint64_t random_seed(std::uint64_t schedule_seed, std::uint64_t name_hash, std::uint64_t frame) {
    return Random(Random(schedule_seed ^ name_hash).next() ^ frame).next();
}

bool holds(const Store& store, const Table& table) {
    const std::span<const Table* const> tables = store.tables();
    return std::find(tables.begin(), tables.end(), &table) != tables.end();
}

/// Returns the index of the field in a column, or of the first field if the column holds a whole component.
std::uint32_t first_field_in(const Schema& schema, std::uint32_t column) {
    const std::uint32_t index = schema.columns()[column].field_index;
    if (index != ColumnDefinition::kWholeComponent) return index;
    std::uint32_t first = 0;
    while (schema.fields()[first].first_column != column) ++first;
    return first;
}

/// Returns whether an access (to a field, a component type or a whole store) includes this column. Requires: the table
/// is in the accessed store.
bool covers(const Access& access, const Schema& table, std::uint32_t column) {
    if (access.component == ComponentId()) return true;
    const FieldOfComponent field(table, first_field_in(table, column));
    if (ComponentId(field.component) != access.component) return false;
    if (access.field == kAllFields) return true;
    return table.columns()[column].field_index != ColumnDefinition::kWholeComponent && access.field == field.index;
}

/// Returns the zone of a database table. If the table holds the additional values of a `many` type, returns kNoZone.
Zone zone_of(const Store& database, const Table& table) {
    for (const DatabaseTable* one : static_cast<const Database&>(database).all_tables())
        if (one != nullptr && &one->table() == &table) return one->zone();
    return kNoZone;
}

/// Returns whether an access includes this column, ignoring zones.
bool is_of_any_zone(const Access& access, const Table& table, std::uint32_t column) {
    return access.store != nullptr && holds(*access.store, table) && covers(access, table.schema(), column);
}
bool is_of(const Access& access, const Table& table, std::uint32_t column) {
    if (!is_of_any_zone(access, table, column)) return false;
    const Zone zone = access.in_zones ? zone_of(*access.store, table) : kNoZone;
    return zone == kNoZone || access.zones_now().contains(zone);
}

std::string column_text(const Schema& table, std::uint32_t column) {
    const FieldOfComponent field(table, first_field_in(table, column));
    if (table.columns()[column].field_index == ColumnDefinition::kWholeComponent)
        return concat("component \"", field.component, '"');
    return concat("field \"", field.name, "\" of \"", field.component, '"');
}

}  // namespace

/// Runs the passes on a crew of workers. A pass is ready when all its predecessors have ended. The ready pass that is
/// first in the order runs next.
/// Thread: one thread calls run(), and the crew calls the other functions.
class Schedule::Runner final : public CrewWork {
public:
    Runner(Schedule& schedule, Executor& executor) : schedule_(schedule), crew_(executor) {}

    bool fits(const Executor& executor) const {
        return &crew_.executor() == &executor && crew_.num_workers() == executor.num_workers();
    }

    bool finished() const override { return num_left_.load(std::memory_order_acquire) == 0; }
    void* task() const override { return working().entry; }

    void* switch_to(void* task, std::uint32_t worker) override {
        Working& now = working();
        Entry* const before = now.entry;
        const std::int64_t now_ns = monotonic_ns();
        now.account(now_ns);
        now = {static_cast<Entry*>(task), worker, now_ns, frame_, schedule_.trace_};
        set_running_pass(now.name());
        tell_hooks(before, now.entry);
        if constexpr (SHOAL_CHECKED != 0) set_access_guard(now.entry);
        return before;
    }

    /// Requires: the schedule has a plan.
    void run(float dt, std::uint64_t frame) {
        frame_ = frame;
        begin_run(dt);
        if (finished()) return;
        // A pass may run the schedule of another world, where this thread may have a different worker number.
        const Working outer = working();
        working() = {};
        crew_.run(*this);
        working() = outer;
        set_running_pass(outer.name());
        if constexpr (SHOAL_CHECKED != 0) set_access_guard(outer.entry);
    }

    bool do_next(std::uint32_t worker) override {
        std::uint32_t position = 0;
        if (!take_ready(position)) return false;
        Entry& entry = entry_at(position);
        if (entry.runs) {
            if (position < failed_.load(std::memory_order_acquire)) {
                const WorkScope scope(position + 1, &crew_);
                run_pass(position, worker);
                if (SHOAL_UNLIKELY(schedule_.observer_ != nullptr))
                    schedule_.observer_->observe(entry.name, position, entry.accesses);
            } else {
                entry.interval.postpone();
            }
        }
        end_pass(position);
        return true;
    }

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    /// The pass that a thread is working on.
    struct Working {
        Entry* entry = nullptr;  // nullptr: the thread is waiting, or is not working for a schedule
        std::uint32_t worker = 0;
        std::int64_t since_ns = 0;
        std::uint64_t frame = 0;
        Trace* trace = nullptr;

        const char* name() const { return entry == nullptr ? nullptr : entry->name.c_str(); }
        /// Adds the time since `since_ns` to the times of the pass.
        void account(std::int64_t now_ns) const {
            if (entry == nullptr) return;
            // Several threads may take turns as this worker; the executor orders them.
            __atomic_fetch_add(&entry->worker_ns[worker], now_ns - since_ns, __ATOMIC_RELAXED);
            if (trace != nullptr) trace->add(worker, {since_ns, now_ns, frame, entry->trace_name});
        }
    };

    /// Calls the hook of each pass's own schedule, because a waiting worker may help another schedule. A null pass
    /// means that the worker is waiting.
    static void tell_hooks(const Entry* ended, const Entry* begun) {
        if (ended != nullptr && SHOAL_UNLIKELY(ended->schedule.hook_ != nullptr))
            ended->schedule.hook_->end(ended->name.c_str());
        if (begun != nullptr && SHOAL_UNLIKELY(begun->schedule.hook_ != nullptr))
            begun->schedule.hook_->begin(begun->name.c_str());
    }

    static Working& working() {
        thread_local Working working;
        return working;
    }

    Schedule::Entry& entry_at(std::uint32_t position) const {
        return *schedule_.entries_[schedule_.plan_->order[position]];
    }

    void begin_run(float dt) {
        const PassPlan& plan = *schedule_.plan_;
        num_before_.assign(plan.num_predecessors.begin(), plan.num_predecessors.end());
        ready_.clear();
        failed_.store(kNone, std::memory_order_relaxed);
        std::uint32_t num_running = 0;
        for (std::uint32_t position = 0; position < plan.order.size(); ++position) {
            Entry& entry = entry_at(position);
            entry.runs = entry.is_enabled() && entry.interval.count_frame(dt);
            entry.worker_ns.resize(crew_.num_workers());
            num_running += entry.runs;
            if (num_before_[position] == 0) push_ready(position);
        }
        num_left_.store(num_running == 0 ? 0 : static_cast<std::uint32_t>(plan.order.size()),
                        std::memory_order_release);
    }

    void push_ready(std::uint32_t position) {
        ready_.push_back(position);
        std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
    }

    bool take_ready(std::uint32_t& position) {
        const std::lock_guard lock(mutex_);
        if (ready_.empty()) return false;
        std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
        position = ready_.back();
        ready_.pop_back();
        return true;
    }

    void run_pass(std::uint32_t position, std::uint32_t worker) {
        Entry& entry = entry_at(position);
        Failure failure;
        PassContext context{crew_, entry.interval.dt(), frame_};
        context.random_seed = random_seed(schedule_.seed_, entry.name_hash, frame_);
        void* const before = switch_to(&entry, worker);
        const std::int64_t begin_ns = working().since_ns;
        entry.pass->run(context, failure);
        switch_to(before, worker);
        if (SHOAL_UNLIKELY(failure.any())) note_failure(position, failure);
        PassStatistics& statistics = entry.statistics;
        statistics.last_ns = working().since_ns - begin_ns;
        statistics.total_ns += statistics.last_ns;
        statistics.num_rows = context.num_rows;
        statistics.num_bytes = context.num_bytes;
        statistics.total_rows += context.num_rows;
        statistics.total_bytes += context.num_bytes;
        ++statistics.num_runs;
    }

    /// Logs the failure of a pass, and keeps it unless an earlier pass in the order has also failed.
    void note_failure(std::uint32_t position, Failure& failure) {
        const std::string& name = entry_at(position).name;
        Status status = Status::error(concat("the pass \"", name, "\" failed: ", failure.status().message()));
        log(LogLevel::kError, status.message());
        const std::lock_guard lock(mutex_);
        if (position > failed_.load(std::memory_order_relaxed)) return failure.clear();
        schedule_.failure_.take(failure);
        schedule_.status_ = std::move(status);
        schedule_.failed_pass_ = name;
        failed_.store(position, std::memory_order_release);
    }

    void end_pass(std::uint32_t position) {
        std::size_t num_ready = 0;
        {
            const std::lock_guard lock(mutex_);
            for (const std::uint32_t successor : schedule_.plan_->successors[position])
                if (--num_before_[successor] == 0) push_ready(successor);
            num_ready = ready_.size();
        }
        const bool was_last = num_left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
        if (was_last || num_ready > 1) crew_.wake();  // this worker will run one of the ready passes itself
    }

    Schedule& schedule_;
    Crew crew_;
    std::uint64_t frame_ = 0;
    std::mutex mutex_;                                    // guards the next two members
    Array<std::uint32_t> num_before_{Owner("schedule")};  // by position: number of predecessors that have not ended
    Array<std::uint32_t> ready_{Owner("schedule")};       // a min-heap of positions
    std::atomic<std::uint32_t> num_left_{0};              // number of passes that have not ended
    std::atomic<std::uint32_t> failed_{kNone};            // position of the first failed pass; mutex_ guards writes
};

/// Returns a pass that is not ordered relative to this one and declares a write for which is_about(access) is true.
/// Returns nullptr if there is none.
template <class IsAbout>
const Schedule::Entry* Schedule::Entry::find_unordered_writer(IsAbout&& is_about) const {
    const std::span<Entry* const> all = schedule.entries_;
    const auto number = static_cast<std::size_t>(std::find(all.begin(), all.end(), this) - all.begin());
    for (std::size_t other = 0; other < all.size(); ++other)
        for (const Access& access : all[other]->accesses)
            if (access.writes && is_about(access) && other != number && !schedule.plan_->orders(number, other))
                return all[other];
    return nullptr;
}

void Schedule::Entry::require_write(const Table& table, std::uint32_t column) const {
    for (const Access& access : accesses)
        if (access.writes && (access.is_everything() || is_of(access, table, column))) return;
    std::string place, advice = "add Write<...> or writes<...>(...)";
    for (const Access& access : accesses)
        if (access.writes && is_of_any_zone(access, table, column)) {
            place = concat(" in zone ", zone_of(*access.store, table));
            advice = "it declares other zones; add this one to those of its query or its writes<...>(...).in(...)";
        }
    fail_assertion("a pass writes what it has declared",
                   concat("the pass \"", name, "\" wrote ", column_text(table.schema(), column), place,
                          " without having declared it; ", advice));
}

void Schedule::Entry::require_write(const void* object, const char* what) const {
    for (const Access& access : accesses)
        if (access.writes && (access.is_everything() || (access.store == nullptr && access.object == object))) return;
    fail_assertion("a pass writes what it has declared",
                   concat("the pass \"", name, "\" wrote ", what, " without having declared it; add writes(...)"));
}

void Schedule::Entry::require_read(const Table& table, std::uint32_t column) const {
    const auto is_about = [&](const Access& access) { return access.is_everything() || is_of(access, table, column); };
    if (std::ranges::any_of(accesses, is_about)) return;
    if (const Entry* const writer = find_unordered_writer(is_about))
        refuse_read(*writer, column_text(table.schema(), column), "Read<...> or reads<...>(...)");
}

void Schedule::Entry::require_read(const void* object, const char* what) const {
    const auto is_about = [&](const Access& access) {
        return access.is_everything() || (access.store == nullptr && access.object == object);
    };
    if (std::ranges::any_of(accesses, is_about)) return;
    if (const Entry* const writer = find_unordered_writer(is_about)) refuse_read(*writer, what, "reads(...)");
}

void Schedule::Entry::refuse_read(const Entry& writer, std::string_view what, std::string_view missing) const {
    fail_assertion("a pass reads what no other may write meanwhile",
                   concat("the pass \"", name, "\" read ", what, " without having declared it, and the pass \"",
                          writer.name, "\", which may run at the same time, writes it; add ", missing));
}

// --- the list of passes ------------------------------------------------------------------------------------------

Schedule::~Schedule() {
    SHOAL_ASSERT(!is_running_,
                 "a schedule was destroyed while it ran, because an exception has passed the library: mostly "
                 "std::bad_alloc, when memory is used up");
    clear();
    for (Group* group : groups_) destroy_owned("schedule", group);
    destroy_owned("schedule", std::exchange(runner_, nullptr));
}

/// The list of passes must not change while the schedule runs, because workers read it.
void Schedule::require_idle() const {
    SHOAL_ASSERT(!is_running_, "a pass changed or ran its own schedule; do it after the schedule has run");
}

void Schedule::forget_plan() {
    require_idle();
    destroy_owned("schedule", std::exchange(plan_, nullptr));
}

/// Removes from the plan a store that no longer exists.
void Schedule::forget(const Store& store) {
    if (plan_ != nullptr && erase(plan_->stores_in_zones, &store) != 0)
        plan_->num_types_in_zones -= store.schemas().size();
}

void Schedule::destroy(Entry* entry) {
    entry->destroy(entry->pass);
    destroy_owned("schedule", entry);
}

void Schedule::clear() {
    forget_plan();
    for (Entry* entry : entries_) destroy(entry);
    entries_.clear();
}

Schedule::Entry* Schedule::find(std::string_view name) const {
    for (Entry* entry : entries_)
        if (entry->name == name) return entry;
    return nullptr;
}

std::string_view Schedule::name_at(std::uint32_t place) const {
    if (plan_ == nullptr || place == 0 || place > plan_->order.size()) return {};
    return entries_[plan_->order[place - 1]]->name;
}

Schedule::Group* Schedule::find_group(std::string_view name) const {
    for (Group* group : groups_)
        if (group->name == name) return group;
    return nullptr;
}

/// Ends the program, because a new pass or group has a name that is already in use.
static void refuse_name(std::string_view taken_by, std::string_view name) {
    fail_assertion("a pass or group has a name of its own", concat("the schedule has a ", taken_by, " called \"", name,
                                                                   "\" already; give each a name of its own"));
}

Schedule::Entry& Schedule::append(std::string_view name, std::span<const Access> accesses,
                                  std::span<const Access> further, Pass* pass, void (*destroy)(Pass*)) {
    forget_plan();
    if (find(name) != nullptr) refuse_name("pass", name);
    for (const Entry* entry : entries_)
        if (!name.empty() && entry->group_name() == name) refuse_name("group of passes", name);
    Entry* entry = make_owned<Entry>("schedule", *this, name, group_);
    entry->pass = pass;
    entry->destroy = destroy;
    entry->accesses.assign(accesses.begin(), accesses.end());
    entry->accesses.insert(entry->accesses.end(), further.begin(), further.end());
    if (trace_ != nullptr) entry->trace_name = trace_->number_of(name);
    entries_.push_back(entry);
    return *entry;
}

void Schedule::open_group(std::string_view name) {
    if (!name.empty() && find(name) != nullptr) refuse_name("pass", name);
    require_idle();
    group_ = find_group(name);
    if (group_ == nullptr && !name.empty()) group_ = groups_.emplace_back(make_owned<Group>("schedule", name));
}

void Schedule::set_strict(bool strict) {
    forget_plan();
    strict_ = strict;
}

void Schedule::set_seed(std::uint64_t seed) {
    require_idle();
    seed_ = seed;
}

PassOrder& PassOrder::after(std::string_view pass_or_group) {
    schedule_.forget_plan();
    entry_.after.emplace_back(pass_or_group);
    return *this;
}

PassOrder& PassOrder::before(std::string_view pass_or_group) {
    schedule_.forget_plan();
    entry_.before.emplace_back(pass_or_group);
    return *this;
}

PassOrder& PassOrder::every_frames(std::uint32_t num_frames) {
    schedule_.require_idle();
    entry_.interval.set_frames(num_frames);
    return *this;
}

PassOrder& PassOrder::every_seconds(float seconds) {
    schedule_.require_idle();
    entry_.interval.set_seconds(seconds);
    return *this;
}

Status Schedule::remove(std::string_view name) {
    require_idle();
    Entry* entry = find(name);
    if (entry == nullptr) return no_pass(name);
    forget_plan();
    entries_.erase(std::find(entries_.begin(), entries_.end(), entry));
    destroy(entry);
    return {};
}

bool Schedule::is_taken(std::string_view name) const { return find(name) != nullptr || find_group(name) != nullptr; }

void Schedule::forget_order(std::string_view name) {
    forget_plan();
    for (Entry* entry : entries_)
        for (Array<std::string>* names : {&entry->after, &entry->before}) erase(*names, name);
}

bool Schedule::touches(std::size_t pass, const Store& store) const {
    SHOAL_ASSERT(pass < entries_.size(), "the schedule has fewer passes");
    const auto is_it = [&](const Access& access) { return access.store == &store; };
    return std::ranges::any_of(entries_[pass]->accesses, is_it);
}

Status Schedule::declare(std::string_view name, std::span<const Access> accesses) {
    Entry* const entry = find(name);
    if (entry == nullptr) return no_pass(name);
    forget_plan();
    entry->accesses.assign(accesses.begin(), accesses.end());
    return {};
}

std::span<const Access> Schedule::accesses(std::size_t pass) const {
    SHOAL_ASSERT(pass < entries_.size(), "the schedule has fewer passes");
    return entries_[pass]->accesses;
}

void Schedule::zones_changed() {
    require_idle();
    forget_plan();
}

Status Schedule::enable(std::string_view name, bool enabled) {
    Entry* entry = find(name);
    if (entry == nullptr) return no_pass(name);
    entry->enabled.store(enabled, std::memory_order_relaxed);
    return {};
}

Status Schedule::enable_group(std::string_view name, bool enabled) {
    Group* group = find_group(name);
    if (group == nullptr) return Status::error(concat("the schedule has no group of passes called \"", name, "\""));
    group->enabled.store(enabled, std::memory_order_relaxed);
    return {};
}

Array<PassDeclaration> Schedule::declarations() const {
    Array<PassDeclaration> passes("schedule");
    for (const Entry* entry : entries_)
        passes.push_back({entry->name, entry->group_name(), entry->accesses, entry->after, entry->before});
    return passes;
}

Result<ScheduleGraph> Schedule::graph() {
    if (Status status = prepare(); !status) return status;
    return graph_of(*plan_, declarations());
}

Status Schedule::prepare() {
    require_idle();
    if (plan_ != nullptr && plan_->num_types_in_zones == plan_->count_types_in_zones()) return {};
    forget_plan();
    const Array<PassDeclaration> passes = declarations();
    Result<PassPlan> plan = order_passes(passes, strict_, observer_ != nullptr);
    if (!plan) return plan.status();
    if (SHOAL_CHECKED != 0 && !strict_)  // the only error left is an ambiguity
        if (const Status ambiguity = order_passes(passes, true, false).status(); !ambiguity)
            log(LogLevel::kWarning, ambiguity.message());
    plan_ = make_owned<PassPlan>("schedule", std::move(*plan));
    return {};
}

void Schedule::set_trace(Trace* trace) {
    require_idle();
    trace_ = trace;
    for (Entry* entry : entries_)
        if (trace != nullptr) entry->trace_name = trace->number_of(entry->name);
}

void Schedule::set_hook(PassHook* hook) {
    require_idle();
    hook_ = hook;
}

void Schedule::set_observer(PassObserver* observer) {
    require_idle();
    const auto is_in_zones = [](const Access& access) { return access.in_zones; };
    const auto knows_zones = [&](const Entry* entry) { return std::ranges::any_of(entry->accesses, is_in_zones); };
    if ((observer_ == nullptr) != (observer == nullptr) && std::ranges::any_of(entries_, knows_zones)) forget_plan();
    observer_ = observer;
}

void Schedule::run_passes(Executor& executor, float dt, std::uint64_t frame) {
    const Status status = prepare();
    if (!status) fail_assertion("the passes have an order", std::string(status.message()));
    if (trace_ != nullptr)
        SHOAL_ASSERT(trace_->num_workers() >= executor.num_workers(), "the trace was made for fewer workers");
    if (runner_ != nullptr && !runner_->fits(executor)) destroy_owned("schedule", std::exchange(runner_, nullptr));
    if (runner_ == nullptr) runner_ = make_owned<Runner>("schedule", *this, executor);
    failure_.clear();
    status_ = Status();
    failed_pass_.clear();
    is_running_ = true;
    runner_->run(dt, frame);
    is_running_ = false;
}

PassStatistics Schedule::statistics(std::size_t pass) const {
    SHOAL_ASSERT(pass < entries_.size(), "the schedule has fewer passes");
    const Entry& entry = *entries_[pass];
    PassStatistics result = entry.statistics;
    result.enabled = entry.is_enabled();
    result.every_frames = entry.interval.frames();
    result.every_seconds = entry.interval.seconds();
    result.worker_ns = entry.worker_ns;
    return result;
}

// --- saving ------------------------------------------------------------------------------------------------------

namespace {

struct SavedPass {
    PassInterval::Progress progress;
    std::uint64_t enabled;
};

}  // namespace

void Schedule::save(SnapshotWriter& to) const {
    SHOAL_ASSERT(!is_running_, "a pass saved the schedule that runs it; save it between steps");
    to.value("seed", seed_);
    for (const Entry* entry : entries_) {
        const SnapshotPath::Scope scope = to.in("pass");
        to.value(entry->name, SavedPass{entry->interval.progress(), entry->enabled.load(std::memory_order_relaxed)});
    }
    for (const Group* group : groups_) {
        const SnapshotPath::Scope scope = to.in("group");
        to.value(group->name, std::uint32_t(group->enabled.load(std::memory_order_relaxed)));
    }
}

Status Schedule::load(SnapshotReader& from) {
    require_idle();
    if (Status status = from.value("seed", seed_); !status) return status;
    for (Entry* entry : entries_) {
        const SnapshotPath::Scope scope = from.in("pass");
        if (!from.has(entry->name)) continue;
        SavedPass saved{};
        if (Status status = from.value(entry->name, saved); !status) return status;
        entry->interval.set_progress(saved.progress);
        entry->enabled.store(saved.enabled != 0, std::memory_order_relaxed);
    }
    for (Group* group : groups_) {
        const SnapshotPath::Scope scope = from.in("group");
        if (!from.has(group->name)) continue;
        std::uint32_t enabled = 0;
        if (Status status = from.value(group->name, enabled); !status) return status;
        group->enabled.store(enabled != 0, std::memory_order_relaxed);
    }
    return {};
}

}  // namespace shoal

#include "shoal/world/schedule.h"

#include "shoal/base/text.h"
#include "shoal/table/table.h"
#include "shoal/world/trace.h"
#include "world/schedule_run.h"

#include <algorithm>

namespace shoal {
namespace {

template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return ::new (allocate_memory(sizeof(T), "schedule")) T(std::forward<Arguments>(arguments)...);
}

template <class T>
void unmake(T*& object) {
    if (object == nullptr) return;
    object->~T();
    release_memory(object, sizeof(T), "schedule");
    object = nullptr;
}

Status no_pass(std::string_view name) {
    return Status::error(concat("the schedule has no pass called \"", name, "\""));
}

/// Whether the column is the accessed field's, or any of the accessed component type. In a table of several component
/// types the fields are called "component.field" and lie in the order of their schemas.
bool covers(const Access& access, const Schema& schema, std::uint32_t column) {
    if (access.component == ComponentId()) return true;
    std::uint32_t field = schema.columns()[column].field_index;
    if (schema.id() == access.component) return access.field == kAllFields || access.field == field;
    if (field == ColumnDefinition::kWholeComponent) return false;
    const std::string_view name = schema.fields()[field].name;
    const std::string_view component = name.substr(0, name.find('.') + 1);
    if (component.empty() || ComponentId(component.substr(0, component.size() - 1)) != access.component) return false;
    std::uint32_t first = field;
    while (first > 0 && std::string_view(schema.fields()[first - 1].name).starts_with(component)) --first;
    return access.field == kAllFields || access.field == field - first;
}

bool holds(const Store& store, const Table& table) {
    const std::span<const Table* const> tables = store.tables();
    return std::find(tables.begin(), tables.end(), &table) != tables.end();
}

std::string column_text(const Schema& schema, std::uint32_t column) {
    const std::uint32_t field = schema.columns()[column].field_index;
    if (field >= schema.fields().size()) return concat("component \"", schema.name(), '"');
    return concat("field \"", schema.fields()[field].name, "\" of \"", schema.name(), '"');
}

}  // namespace

void Schedule::Entry::require(const Table& table, std::uint32_t column) const {
    for (const Access& access : accesses)
        if (access.writes && (access.is_everything() || (access.store != nullptr && holds(*access.store, table) &&
                                                         covers(access, table.schema(), column))))
            return;
    const std::string message = concat("the pass \"", name, "\" wrote ", column_text(table.schema(), column),
                                       " without having declared it; add Write<...> or writes<...>(...)");
    fail_assertion({"a pass writes what it has declared", message.c_str(), __FILE__, __LINE__});
}

Schedule::~Schedule() {
    clear();
    unmake(runner_);
}

/// The list of passes does not change under the workers that go through it.
void Schedule::require_idle() const {
    SHOAL_ASSERT(!is_running_, "a pass changed or ran the schedule that it belongs to; do it when that has run");
}

void Schedule::forget_plan() {
    require_idle();
    unmake(plan_);
}

void Schedule::destroy(Entry* entry) {
    entry->destroy(entry->pass);
    unmake(entry);
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

Schedule::Entry& Schedule::append(std::string_view name, std::span<const Access> accesses,
                                  std::span<const Access> further, Pass* pass, void (*destroy)(Pass*)) {
    forget_plan();
    SHOAL_ASSERT(find(name) == nullptr, "a pass of this name is in the schedule; give each its own name");
    for (const Entry* entry : entries_)
        SHOAL_ASSERT(name.empty() || entry->group != name, "a group of passes has this name; call the pass another");
    Entry* entry = make<Entry>(name, group_);
    entry->pass = pass;
    entry->destroy = destroy;
    entry->accesses.assign(accesses.begin(), accesses.end());
    entry->accesses.insert(entry->accesses.end(), further.begin(), further.end());
    if (trace_ != nullptr) entry->trace_name = trace_->number_of(name);
    entries_.push_back(entry);
    return *entry;
}

void Schedule::open_group(std::string_view name) {
    SHOAL_ASSERT(name.empty() || find(name) == nullptr, "a pass has this name; call the group another");
    group_ = name;
}

void Schedule::set_strict(bool strict) {
    forget_plan();
    strict_ = strict;
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

Status Schedule::remove(std::string_view name) {
    require_idle();
    Entry* entry = find(name);
    if (entry == nullptr) return no_pass(name);
    forget_plan();
    entries_.erase(std::find(entries_.begin(), entries_.end(), entry));
    destroy(entry);
    return {};
}

Status Schedule::enable(std::string_view name, bool enabled) {
    Entry* entry = find(name);
    if (entry == nullptr) return no_pass(name);
    __atomic_store_n(&entry->statistics.enabled, enabled, __ATOMIC_RELAXED);
    return {};
}

Status Schedule::prepare() {
    require_idle();
    if (plan_ != nullptr) return {};
    Array<PassDeclaration> passes("schedule");
    for (const Entry* entry : entries_)
        passes.push_back({entry->name, entry->group, entry->accesses, entry->after, entry->before});
    Result<PassLine> line = order_passes(passes, strict_);
    if (!line) return line.status();
    plan_ = make<Plan>(Plan{std::move(*line)});
    return {};
}

void Schedule::set_trace(Trace* trace) {
    require_idle();
    trace_ = trace;
    for (Entry* entry : entries_)
        if (trace != nullptr) entry->trace_name = trace->number_of(entry->name);
}

void Schedule::run(Executor& executor, float dt, std::uint64_t frame) {
    const Status status = prepare();
    if (!status)
        fail_assertion({"the passes have an order", std::string(status.message()).c_str(), __FILE__, __LINE__});
    if (trace_ != nullptr)
        SHOAL_ASSERT(trace_->num_workers() >= executor.num_workers(), "the trace was made for fewer workers");
    if (runner_ != nullptr && !runner_->fits(executor)) unmake(runner_);
    if (runner_ == nullptr) runner_ = make<Runner>(*this, executor);
    is_running_ = true;
    runner_->run(dt, frame);
    is_running_ = false;
}

PassStatistics Schedule::statistics(std::size_t pass) const {
    SHOAL_ASSERT(pass < entries_.size(), "the schedule has fewer passes");
    PassStatistics result = entries_[pass]->statistics;
    result.worker_ns = entries_[pass]->worker_ns;
    return result;
}

}  // namespace shoal

#include "shoal/world/schedule.h"

#include "shoal/base/text.h"

namespace shoal::inline SHOAL_ABI {

Schedule::~Schedule() { clear(); }

/// The list of passes does not change under the loop that goes through it.
void Schedule::require_idle() const {
    SHOAL_ASSERT(!is_running_, "a pass changed or ran the schedule that it belongs to; do it when that has run");
}

void Schedule::clear() {
    require_idle();
    for (Entry& entry : entries_) entry.destroy(entry.pass);
    entries_.clear();
}

Schedule::Entry* Schedule::find(std::string_view name) {
    for (Entry& entry : entries_)
        if (entry.name == name) return &entry;
    return nullptr;
}

void Schedule::append(std::string_view name, Pass* pass, void (*destroy)(Pass*)) {
    require_idle();
    SHOAL_ASSERT(find(name) == nullptr, "a pass of this name is in the schedule; give each its own name");
    entries_.push_back({std::string(name), pass, destroy, {}});
}

Status Schedule::remove(std::string_view name) {
    require_idle();
    Entry* entry = find(name);
    if (entry == nullptr) return Status::error(concat("the schedule has no pass called \"", name, "\""));
    entry->destroy(entry->pass);
    entries_.erase(entries_.begin() + (entry - entries_.data()));
    return {};
}

Status Schedule::enable(std::string_view name, bool enabled) {
    Entry* entry = find(name);
    if (entry == nullptr) return Status::error(concat("the schedule has no pass called \"", name, "\""));
    entry->statistics.enabled = enabled;
    return {};
}

void Schedule::run(Executor& executor, float dt, std::uint64_t frame) {
    require_idle();
    is_running_ = true;
    for (Entry& entry : entries_) {
        if (!entry.statistics.enabled) continue;
        PassContext context{executor, dt, frame};
        const std::int64_t begin_ns = monotonic_ns();
        entry.pass->run(context);
        PassStatistics& statistics = entry.statistics;
        statistics.last_ns = monotonic_ns() - begin_ns;
        statistics.total_ns += statistics.last_ns;
        statistics.num_rows = context.num_rows;
        statistics.num_bytes = context.num_bytes;
        statistics.total_rows += context.num_rows;
        statistics.total_bytes += context.num_bytes;
        ++statistics.num_runs;
    }
    is_running_ = false;
}

PassStatistics Schedule::statistics(std::size_t pass) const {
    SHOAL_ASSERT(pass < entries_.size(), "the schedule has fewer passes");
    PassStatistics result = entries_[pass].statistics;
    result.name = entries_[pass].name;
    return result;
}

}  // namespace shoal::inline SHOAL_ABI

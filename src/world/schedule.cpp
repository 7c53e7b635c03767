#include "shoal/world/schedule.h"

#include "shoal/base/text.h"

namespace shoal::inline SHOAL_ABI {

Schedule::~Schedule() {
    for (Entry& entry : entries_) entry.destroy(entry.pass);
}

Schedule::Entry* Schedule::find(std::string_view name) {
    for (Entry& entry : entries_)
        if (entry.name == name) return &entry;
    return nullptr;
}

void Schedule::append(std::string_view name, Pass* pass, void (*destroy)(Pass*)) {
    SHOAL_ASSERT(find(name) == nullptr, "a pass of this name is in the schedule; give each its own name");
    entries_.push_back({std::string(name), pass, destroy, {}});
}

Status Schedule::remove(std::string_view name) {
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
}

PassStatistics Schedule::statistics(std::size_t pass) const {
    SHOAL_ASSERT(pass < entries_.size(), "the schedule has fewer passes");
    PassStatistics result = entries_[pass].statistics;
    result.name = entries_[pass].name;
    return result;
}

}  // namespace shoal::inline SHOAL_ABI

#include "shoal/job/detail/work_scope.h"

#include <atomic>
#include <utility>

namespace shoal {
namespace {

thread_local WorkScope* t_scope = nullptr;

/// The number of loops that were started outside of passes.
std::atomic<std::uint64_t> g_num_outer_loops{0};

}  // namespace

bool comes_before(const WorkPosition& a, const WorkPosition& b) {
    if (a.pass != b.pass) return a.pass < b.pass;
    for (std::uint32_t i = 0; i < WorkPosition::kMostSteps && i < a.num_steps && i < b.num_steps; ++i) {
        const WorkPosition::Step &mine = a.steps[i], &other = b.steps[i];
        if (mine.loop != other.loop) return mine.loop < other.loop;
        if (mine.chunk != other.chunk) return mine.chunk < other.chunk;
    }
    return a.num_steps < b.num_steps;
}

WorkScope::WorkScope(std::uint32_t pass, Executor* executor)
    : pass_(pass), executor_(executor), outer_(std::exchange(t_scope, this)) {
    if (outer_ != nullptr) outer_->close_all();
}

WorkScope::WorkScope(const WorkPosition& loop, std::uint32_t chunk)
    : loop_(&loop), chunk_(chunk), outer_(std::exchange(t_scope, this)) {
    if (outer_ != nullptr) outer_->close_all();
}

WorkScope::~WorkScope() {
    close_all(true);
    t_scope = outer_;
}

WorkScope* WorkScope::current() { return t_scope; }

void WorkScope::close_all(bool is_over) {
    while (opened_ != nullptr) {
        OpenInScope* const opened = opened_;
        opened_ = opened->next;
        opened->close(is_over);
    }
}

WorkPosition WorkScope::own_place() const {
    WorkPosition place;
    place.pass = pass_;
    if (loop_ != nullptr) {
        place = *loop_;
        if (place.is_exact()) place.steps[place.num_steps - 1].chunk = chunk_;
    }
    place.add_step({num_loops_, WorkPosition::kItself});
    return place;
}

WorkPosition WorkScope::place() {
    if (t_scope != nullptr) return t_scope->own_place();
    WorkPosition place;
    place.add_step({g_num_outer_loops.load(std::memory_order_relaxed), WorkPosition::kItself});
    return place;
}

std::uint64_t WorkScope::number_outer_loops(std::uint64_t count) {
    return g_num_outer_loops.fetch_add(count, std::memory_order_relaxed) + 1;
}

WorkPosition WorkScope::begin_loop() {
    if (t_scope == nullptr) {
        WorkPosition place;
        place.add_step({number_outer_loops(1), 0});
        return place;
    }
    t_scope->close_all();  // work that follows the loop has a new position
    ++t_scope->num_loops_;
    WorkPosition place = t_scope->own_place();
    if (place.is_exact()) place.steps[place.num_steps - 1].chunk = 0;
    return place;
}

void WorkScope::keep_open(OpenInScope& opened) {
    opened.next = opened_;
    opened_ = &opened;
}

}  // namespace shoal

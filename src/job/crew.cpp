#include "shoal/job/detail/crew.h"

#include "job/loops.h"
#include "shoal/base/detail/memory.h"

#include <cstddef>

namespace shoal {
namespace {

constexpr const char* kCrewOwner = "crew";
constexpr int kIdleSpins = 4000;  // a few tens of microseconds

}  // namespace

struct Crew::State {
    explicit State(std::uint32_t num_workers) : loops(num_workers, kCrewOwner) {}

    OpenLoops loops;
    std::atomic<std::uint32_t> num_calls{0};  // incremented when there may be new work
};

Crew::Crew(Executor& executor) : executor_(executor), num_workers_(executor.num_workers()) {
    state_ = make_owned<State>(kCrewOwner, num_workers_);
}

Crew::~Crew() { destroy_owned(kCrewOwner, state_); }

void Crew::run(CrewWork& work) {
    SHOAL_ASSERT(work_ == nullptr, "a crew does one work at a time");
    work_ = &work;
    const auto stay = [](void* self, std::uint32_t, std::uint32_t worker) { static_cast<Crew*>(self)->stay(worker); };
    Fence fence;
    executor_.start(num_workers_, stay, this, fence);
    executor_.wait(fence);
    work_ = nullptr;
}

void Crew::wake() {
    state_->num_calls.fetch_add(1, std::memory_order_acq_rel);
    state_->num_calls.notify_all();
}

void Crew::stay(std::uint32_t worker) {
    int num_idle = 0;
    while (!work_->finished()) {
        const std::uint32_t num_calls = state_->num_calls.load(std::memory_order_acquire);
        if (help(worker) || work_->do_next(worker)) {
            num_idle = 0;
        } else if (++num_idle < kIdleSpins) {
            pause_briefly();
        } else if (!work_->finished() && !state_->loops.any_open()) {
            state_->num_calls.wait(num_calls, std::memory_order_acquire);
        }
    }
}

/// Helps with an open loop. Returns false if there is no open loop.
bool Crew::help(std::uint32_t worker) {
    OpenLoops::Loop* const loop = state_->loops.join();
    if (loop == nullptr) return false;
    void* const before = work_->switch_to(loop->task, worker);
    loop->chunks->run(worker);
    work_->switch_to(before, worker);
    state_->loops.leave(*loop);
    return true;
}

void Crew::start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence& fence) {
    SHOAL_ASSERT(fence.loop() == nullptr, "a fence belongs to one loop at a time; wait for the one before");
    SHOAL_ASSERT(work_ != nullptr, "a crew runs loops within its work only; use the executor outside of passes");
    if (num_chunks == 0) return;
    OpenLoops::Loop* const loop =
        num_workers_ == 1 ? nullptr : state_->loops.open(num_chunks, function, context, work_->task());
    if (loop != nullptr) {
        fence.set_loop(loop);
        return wake();
    }
    const std::uint32_t worker = current_worker();
    for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) function(context, chunk, worker);
    fence.set_loop(this);
}

void Crew::wait(Fence& fence) {
    void* const started = fence.loop();
    fence.set_loop(nullptr);
    if (started == nullptr || started == this) return;
    auto& loop = *static_cast<OpenLoops::Loop*>(started);
    const std::uint32_t worker = current_worker();
    loop.chunks->run(worker);
    state_->loops.close(loop);
    if (!loop.chunks->finished()) {
        void* const before = work_->switch_to(nullptr, worker);
        loop.chunks->wait_until_finished();
        work_->switch_to(before, worker);
    }
    state_->loops.finish(loop);
}

}  // namespace shoal

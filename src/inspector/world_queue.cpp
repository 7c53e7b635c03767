#include "inspector/world_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace shoal::inspect {

constexpr std::chrono::seconds kPatience{2};

Response WorldQueue::ask(const std::function<Response()>& answer) {
    std::unique_lock lock(mutex_);
    if (is_closed_) return refuse(503, "the inspector ends");
    Waiting waiting{&answer, {}};
    waiting_.push_back(&waiting);
    asked_.notify_one();
    answered_.wait_for(lock, kPatience, [&] { return waiting.is_taken || is_closed_; });
    if (waiting.is_taken) {  // the world's thread uses this entry until it is done
        answered_.wait(lock, [&] { return waiting.is_done; });
        return std::move(waiting.response);
    }
    std::erase(waiting_, &waiting);
    if (is_closed_) return refuse(503, "the inspector ends");
    return refuse(503, "the world has not ended a frame for 2 seconds; it is answered between frames");
}

void WorldQueue::close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    answered_.notify_all();
    asked_.notify_all();
}

void WorldQueue::serve() {
    std::unique_lock lock(mutex_);
    // Requests that arrive from now on wait for the next frame, so that a large number of requests cannot stop the
    // world.
    const std::vector<Waiting*> served = std::exchange(waiting_, {});
    for (Waiting* next : served) next->is_taken = true;
    for (Waiting* next : served) {
        lock.unlock();
        Response response = (*next->answer)();
        lock.lock();
        next->response = std::move(response);
        next->is_done = true;
        answered_.notify_all();
    }
}

void WorldQueue::wait(double seconds) {
    std::unique_lock lock(mutex_);
    asked_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !waiting_.empty() || is_closed_; });
}

}  // namespace shoal::inspect

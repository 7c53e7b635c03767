// Stores and rethrows exceptions. Unlike most of the runtime, this file is built with exceptions: see
// cmake/rooms.cmake.

#include "shoal/job/detail/failure.h"

#include "shoal/base/detail/memory.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"

#include <exception>
#include <mutex>
#include <utility>

namespace shoal {
namespace {

std::mutex g_mutex;  // one mutex guards all failures, because functions rarely throw at the same time

std::exception_ptr& exception_at(void* kept) { return *static_cast<std::exception_ptr*>(kept); }

}  // namespace

void Failure::keep_exception(std::uint64_t place) {
    const std::lock_guard lock(g_mutex);
    if (exception_ != nullptr && place_ <= place) return;
    place_ = place;
    if (exception_ == nullptr) exception_ = make_owned<std::exception_ptr>("failure");
    exception_at(exception_) = std::current_exception();
}

void Failure::clear() {
    status_ = Status();
    destroy_owned("failure", static_cast<std::exception_ptr*>(std::exchange(exception_, nullptr)));
}

void Failure::take(Failure& other) {
    clear();
    exception_ = std::exchange(other.exception_, nullptr);
    place_ = other.place_;
    status_ = std::move(other.status_);
}

Status Failure::status() const {
    if (exception_ == nullptr) return status_;
    try {
        std::rethrow_exception(exception_at(exception_));
    } catch (const std::exception& thrown) {
        return Status::error(thrown.what());
    } catch (...) {
        return Status::error("its function threw something that is no std::exception");
    }
}

void Failure::drop() {
    log(LogLevel::kError, concat("a loop failed, and nobody waited for it: ", status().message()));
    clear();
}

void Failure::throw_kept() {
    const std::exception_ptr thrown = exception_at(exception_);
    clear();
    std::rethrow_exception(thrown);
}

}  // namespace shoal

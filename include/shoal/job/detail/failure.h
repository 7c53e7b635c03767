#pragma once
// Why a loop or a pass failed: the exception of its function, or the error that it returned.
//
//     chunks    0  1  2  3      1 and 3 throw: all four are run, and the exception of 1 is kept, in any order
//
// The library is built without exceptions. Its loops call functions of the program in templates, so in a program with
// exceptions, the template catches an exception of the function, and the call that waits for the loop throws it again.
// Thread: guard() from any thread; the rest from one thread, after all calls of guard() have returned.

#include "shoal/base/status.h"

#include <cstdint>

namespace shoal {

class Failure {
public:
    Failure() = default;
    Failure(const Failure&) = delete;
    Failure& operator=(const Failure&) = delete;
    /// Logs an exception that was not thrown again.
    ~Failure() {
        if (SHOAL_UNLIKELY(exception_ != nullptr)) drop();
    }

    bool any() const { return exception_ != nullptr || !status_; }
    /// Calls function(), and keeps its exception.
    template <class Function>
    SHOAL_INLINE void guard(std::uint64_t place, Function&& function) {
#if defined(__cpp_exceptions)
        try {
            function();
        } catch (...) {
            keep_exception(place);
        }
#else
        static_cast<void>(place), function();
#endif
    }
    /// Keeps an error; success is not a failure.
    void keep(Status status) { status_ = std::move(status); }
    /// Takes the failure of the other object, in place of this object's failure.
    SHOAL_API void take(Failure& other);
    /// Removes the failure.
    SHOAL_API void clear();

    /// Returns the error, or what() of the exception.
    SHOAL_API Status status() const;
    /// Throws the kept exception, if there is one, and removes it.
    void rethrow() {
        if (SHOAL_UNLIKELY(exception_ != nullptr)) throw_kept();
    }

private:
    /// Keeps the exception that is being handled, unless an exception with a lower place is kept.
    SHOAL_API SHOAL_NOINLINE void keep_exception(std::uint64_t place);
    SHOAL_API SHOAL_NOINLINE void drop();
    [[noreturn]] SHOAL_API SHOAL_NOINLINE void throw_kept();

    void* exception_ = nullptr;  // a std::exception_ptr; nullptr: none
    std::uint64_t place_ = 0;    // where the exception was thrown
    Status status_;
};

}  // namespace shoal

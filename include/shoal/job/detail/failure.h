#pragma once
// Why a loop or a pass failed: the exception that its function threw, or the error that it returned.
//
//     chunks    0  1  2  3      1 and 3 throw: all four run, and the exception of 1 is kept, whatever the order
//
// The library is built without exceptions. Its loops call the program's functions in templates, which are compiled as
// part of the program and so can catch exceptions. The call that waits for a loop rethrows the exceptions. Thread: any
// thread may call guard(). One thread may call the other functions, after all calls to guard() have returned.

#include "shoal/base/status.h"

#include <cstdint>

namespace shoal {

class Failure {
public:
    Failure() = default;
    Failure(const Failure&) = delete;
    Failure& operator=(const Failure&) = delete;
    /// Logs an exception that was never rethrown.
    ~Failure() {
        if (SHOAL_UNLIKELY(exception_ != nullptr)) drop();
    }

    bool any() const { return exception_ != nullptr || !status_; }
    /// Calls function() and, if it throws an exception, keeps the exception.
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
    /// Keeps a status, which is a failure only if it is an error.
    void keep(Status status) { status_ = std::move(status); }
    /// Replaces this failure with `other`, which becomes empty.
    SHOAL_API void take(Failure& other);
    /// Removes the failure.
    SHOAL_API void clear();

    /// Returns the error, or what() of the exception.
    SHOAL_API Status status() const;
    /// Rethrows and removes the kept exception, if there is one.
    void rethrow() {
        if (SHOAL_UNLIKELY(exception_ != nullptr)) throw_kept();
    }

private:
    /// Keeps the current exception, unless it already keeps an exception with a lower place.
    SHOAL_API SHOAL_NOINLINE void keep_exception(std::uint64_t place);
    SHOAL_API SHOAL_NOINLINE void drop();
    [[noreturn]] SHOAL_API SHOAL_NOINLINE void throw_kept();

    void* exception_ = nullptr;  // a std::exception_ptr; nullptr: none
    std::uint64_t place_ = 0;    // the place of the kept exception: see guard()
    Status status_;
};

}  // namespace shoal

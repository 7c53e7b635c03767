#pragma once
// A span passed to a call that changes rows. The span may be a column of the very table that the call reorders.
//
//     const StableSpan stable(given, own);  // copied only if the two share memory
//     for (Entity entity : stable.get()) remove(entity);
//
// Thread: different objects may be used on different threads.

#include "shoal/base/detail/array.h"

#include <span>

namespace shoal {

/// Whether two spans share memory.
template <class T>
bool overlap(std::span<const T> a, std::span<const T> b) {
    return !a.empty() && !b.empty() && a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

template <class T>
class StableSpan {
public:
    explicit StableSpan(std::span<const T> given) : span_(given) {}
    /// `own` is the column that the call may change.
    StableSpan(std::span<const T> given, std::span<const T> own) : span_(given) {
        if (overlap(given, own)) copy();
    }
    StableSpan(const StableSpan&) = delete;
    StableSpan& operator=(const StableSpan&) = delete;

    /// Lifetime: this object and the given span.
    std::span<const T> get() const { return span_; }
    /// Copies the span. For calls that do not know at first which table they will change. Call this before the change
    /// if the span is in that table.
    void copy() {
        copy_.assign(span_.begin(), span_.end());
        span_ = copy_;
    }

private:
    Array<T> copy_{Owner("stable span")};
    std::span<const T> span_;
};

}  // namespace shoal

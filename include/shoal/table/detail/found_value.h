#pragma once
// A value that a look-up has found, or nothing. It is used like a pointer to the value. Replaces std::optional, which
// would add 2,000 preprocessed lines to every file that includes shoal.
// Thread: different objects may be used on different threads.

#include <cstddef>

namespace shoal {

template <class T>
class FoundValue {
public:
    FoundValue() : found_(true) {}  ///< the value is written through data()
    FoundValue(std::nullptr_t) {}   // NOLINT: as a pointer is made
    const T& operator*() const { return value_; }
    const T* operator->() const { return &value_; }
    explicit operator bool() const { return found_; }
    friend bool operator==(const FoundValue& a, std::nullptr_t) { return !a.found_; }
    T* data() { return &value_; }
    void put(const T& value) { value_ = value, found_ = true; }

private:
    T value_{};
    bool found_ = false;
};

}  // namespace shoal

#pragma once
// An array that allocates memory only if it has more than kFew elements. Elements are copied as bytes, and cannot be
// removed one by one.
// Thread: as for built-in types.

#include "shoal/base/detail/array.h"

#include <cstring>

namespace shoal {

template <class T, std::size_t kFew>
class FewArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit FewArray(Owner owner) : more_(owner) {}
    FewArray(const FewArray& other) : size_(other.size_), more_(other.more_) { copy_few(other); }
    FewArray(FewArray&& other) noexcept : size_(other.size_), more_(static_cast<Array<T>&&>(other.more_)) {
        copy_few(other);
        other.size_ = 0;
    }
    FewArray& operator=(FewArray other) noexcept {
        size_ = other.size_;
        more_.swap(other.more_);
        copy_few(other);
        return *this;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return size_ <= kFew ? few() : more_.data(); }
    const T* data() const { return const_cast<FewArray*>(this)->data(); }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](std::size_t index) { return data()[index]; }
    const T& operator[](std::size_t index) const { return data()[index]; }

    void push_back(T value) {
        if (size_ < kFew) {
            ::new (static_cast<void*>(few() + size_)) T(value);
        } else {
            if (size_ == kFew) more_.assign(few(), few() + kFew);
            more_.push_back(value);
        }
        ++size_;
    }
    void append(std::size_t count, T value) {
        for (; count != 0; --count) push_back(value);
    }
    void clear() {
        more_.clear();
        size_ = 0;
    }

private:
    T* few() { return reinterpret_cast<T*>(few_); }
    void copy_few(const FewArray& other) {
        if (size_ <= kFew) std::memcpy(few_, other.few_, size_ * sizeof(T));
    }

    alignas(T) std::byte few_[kFew * sizeof(T)];
    std::size_t size_ = 0;
    Array<T> more_;  // all elements, if there are more than kFew
};

}  // namespace shoal

#pragma once
// A growable array in bookkeeping memory. It has the part of std::vector's interface that shoal needs, and compiles in
// a fraction of the time. Iterators are pointers, elements are copied as bytes if their type allows it, and code that
// does not depend on the element type is not a template.
//
//     begin           end              limit
//     [ 3 | 1 | 4 | 1 | . | . | . | . ]          capacity doubles when it is used up
//
//     Array<int> rows{Owner("table")};
//     rows.push_back(3);
//     for (const int row : rows) list(row);
//
// Every element is addressable, even in Array<bool>. Moving an array also moves its owner's name, so memory hooks see
// the same name at allocation and at release. Running out of memory ends the program; see memory.h.
// Thread: as for built-in types.

#include "shoal/base/detail/config.h"
#include "shoal/base/detail/memory.h"

#include <cstddef>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>

namespace shoal {

namespace detail {

/// Returns the capacity to use when an array grows from `size` to `count` elements. It is at least twice `size`.
SHOAL_API std::size_t grown_capacity(std::size_t size, std::size_t count);
/// Allocates memory for `count` elements. Errors: as for allocate_memory(). If the number of bytes overflows, that is
/// treated as out of memory.
SHOAL_API void* allocate_elements(std::size_t count, std::size_t element_bytes, const char* owner);
/// Allocates memory for `count` elements, copies `size` elements into it as bytes, and releases the old memory, which
/// has room for `capacity` elements.
SHOAL_API void* reallocate_elements(void* elements, std::size_t size, std::size_t capacity, std::size_t count,
                                    std::size_t element_bytes, const char* owner);

template <class Iterator>
concept Dereferenceable = requires(Iterator iterator) { *iterator; };

}  // namespace detail

template <class T>
class Array {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    Array() noexcept = default;
    explicit Array(Owner owner) noexcept : owner_(owner.name) {}
    explicit Array(std::size_t count, Owner owner = kNoOwner) : owner_(owner.name) { resize(count); }
    Array(std::size_t count, const T& value, Owner owner = kNoOwner) : owner_(owner.name) { assign(count, value); }
    template <detail::Dereferenceable Iterator>
    Array(Iterator first, Iterator last, Owner owner = kNoOwner) : owner_(owner.name) {
        assign(first, last);
    }
    Array(std::initializer_list<T> values, Owner owner = kNoOwner) : owner_(owner.name) {
        assign(values.begin(), values.end());
    }
    Array(const Array& other) : owner_(other.owner_) { assign(other.begin_, other.end_); }
    Array(Array&& other) noexcept : owner_(other.owner_) { swap(other); }
    Array& operator=(const Array& other) {
        if (this != &other) assign(other.begin_, other.end_);
        return *this;
    }
    Array& operator=(Array&& other) noexcept {
        Array moved(static_cast<Array&&>(other));
        swap(moved);
        return *this;
    }
    Array& operator=(std::initializer_list<T> values) {
        assign(values.begin(), values.end());
        return *this;
    }
    ~Array() {
        destroy(begin_, end_);
        release();
    }

    Owner owner() const { return owner_; }

    T* data() { return begin_; }
    const T* data() const { return begin_; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
    std::size_t capacity() const { return static_cast<std::size_t>(limit_ - begin_); }
    bool empty() const { return begin_ == end_; }

    T* begin() { return begin_; }
    T* end() { return end_; }
    const T* begin() const { return begin_; }
    const T* end() const { return end_; }
    T& operator[](std::size_t index) { return begin_[index]; }
    const T& operator[](std::size_t index) const { return begin_[index]; }
    T& front() { return *begin_; }
    const T& front() const { return *begin_; }
    T& back() { return end_[-1]; }
    const T& back() const { return end_[-1]; }

    void push_back(T value) {
        if (SHOAL_UNLIKELY(end_ == limit_)) grow(size() + 1);
        ::new (static_cast<void*>(end_)) T(static_cast<T&&>(value));
        ++end_;
    }
    template <class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        if constexpr (sizeof...(Arguments) == 0) {
            push_back(T());
        } else {
            T value(static_cast<Arguments&&>(arguments)...);  // before growing, because arguments may refer to elements
            push_back(static_cast<T&&>(value));
        }
        return back();
    }
    void pop_back() { shrink(end_ - 1); }

    /// Makes room for `count` elements in total.
    void reserve(std::size_t count) {
        if (count > capacity()) reallocate(count);
    }
    /// Resizes the array to `count` elements. New elements are copies of `value`, or value-initialized.
    void resize(std::size_t count) { fill(count); }
    void resize(std::size_t count, T value) { fill(count, value); }
    /// Removes all elements and keeps the memory.
    void clear() { shrink(begin_); }

    /// Replaces all elements with copies of `value`.
    void assign(std::size_t count, T value) {
        clear();
        reserve(count);
        fill(count, value);
    }
    /// Replaces all elements. Requires: the range is not part of this array.
    template <detail::Dereferenceable Iterator>
    void assign(Iterator first, Iterator last) {
        clear();
        reserve(static_cast<std::size_t>(last - first));
        append(first, last);
    }

    /// Adds elements at the end. Requires: the range is not part of this array.
    template <detail::Dereferenceable Iterator>
    void append(Iterator first, Iterator last) {
        const auto count = static_cast<std::size_t>(last - first);
        if (size() + count > capacity()) grow(size() + count);
        if constexpr (std::is_same_v<Iterator, T*> || std::is_same_v<Iterator, const T*>)
            copy(first, count);
        else if constexpr (std::is_constructible_v<std::span<const T>, Iterator, std::size_t>)
            copy(std::span<const T>(first, count).data(), count);
        else
            for (; first != last; ++first, ++end_) ::new (static_cast<void*>(end_)) T(*first);
    }
    /// Inserts elements before the one at `at`, and returns the position of the first inserted element. Requires: as
    /// for append().
    template <detail::Dereferenceable Iterator>
    T* insert(const T* at, Iterator first, Iterator last) {
        const std::ptrdiff_t index = at - begin_;
        Array after(owner());
        after.take(begin_ + index, end_);
        shrink(begin_ + index);
        append(first, last);
        take(after.begin_, after.end_);
        return begin_ + index;
    }
    T* insert(const T* at, T value) {
        const std::ptrdiff_t index = at - begin_;
        push_back(static_cast<T&&>(value));
        T* const place = begin_ + index;
        if (T* to = end_ - 1; to != place) {
            T inserted(static_cast<T&&>(*to));
            for (; to != place; --to) *to = static_cast<T&&>(to[-1]);
            *place = static_cast<T&&>(inserted);
        }
        return place;
    }
    /// Removes the elements [first, last). Returns the position of the element that followed them.
    T* erase(const T* first, const T* last) {
        T* const hole = begin_ + (first - begin_);
        if (first == last) return hole;
        T* to = hole;
        for (T* from = begin_ + (last - begin_); from != end_; ++from, ++to) *to = static_cast<T&&>(*from);
        shrink(to);
        return hole;
    }
    T* erase(const T* at) { return erase(at, at + 1); }

    /// Exchanges the elements and the owners.
    void swap(Array& other) noexcept {
        exchange(begin_, other.begin_);
        exchange(end_, other.end_);
        exchange(limit_, other.limit_);
        exchange(owner_, other.owner_);
    }

    friend bool operator==(const Array& a, const Array& b) {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i < a.size(); ++i)
            if (!(a.begin_[i] == b.begin_[i])) return false;
        return true;
    }

private:
    static constexpr const char* kNoOwner = "shoal";

    template <class Pointer>
    static void exchange(Pointer& a, Pointer& b) {
        const Pointer held = a;
        a = b;
        b = held;
    }
    static void destroy(T* first, T* last) {
        if constexpr (!std::is_trivially_copyable_v<T>)
            for (; first != last; ++first) first->~T();
    }
    void shrink(T* end) {
        destroy(end, end_);
        end_ = end;
    }
    void release() {
        if (begin_ != nullptr) release_memory(begin_, capacity() * sizeof(T), owner_);
    }

    template <class... Values>
    void fill(std::size_t count, const Values&... value) {
        if (count <= size()) return shrink(begin_ + count);
        if (count > capacity()) grow(count);
        T* to = end_;
        for (T* const end = begin_ + count; to != end; ++to) ::new (static_cast<void*>(to)) T(value...);
        end_ = to;
    }
    /// Adds copies of `count` elements. Requires: there is room.
    void copy(const T* from, std::size_t count) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            if (count > 0) __builtin_memcpy(static_cast<void*>(end_), from, count * sizeof(T));
            end_ += count;
        } else {
            for (const T* const last = from + count; from != last; ++from, ++end_)
                ::new (static_cast<void*>(end_)) T(*from);
        }
    }
    /// Moves elements of another array to the end of this one.
    void take(T* first, T* last) {
        const std::size_t count = size() + static_cast<std::size_t>(last - first);
        if (count > capacity()) grow(count);
        for (; first != last; ++first, ++end_) ::new (static_cast<void*>(end_)) T(static_cast<T&&>(*first));
    }
    SHOAL_NOINLINE void grow(std::size_t count) { reallocate(detail::grown_capacity(size(), count)); }
    void reallocate(std::size_t capacity_after) {
        static_assert(alignof(T) <= alignof(std::max_align_t), "bookkeeping memory is aligned like std::max_align_t");
        const std::size_t count = size();
        T* memory = nullptr;
        if constexpr (std::is_trivially_copyable_v<T>) {
            memory = static_cast<T*>(detail::reallocate_elements(static_cast<void*>(begin_), count, capacity(),
                                                                 capacity_after, sizeof(T), owner_));
        } else {
            memory = static_cast<T*>(detail::allocate_elements(capacity_after, sizeof(T), owner_));
            for (std::size_t i = 0; i < count; ++i)
                ::new (static_cast<void*>(memory + i)) T(static_cast<T&&>(begin_[i]));
            destroy(begin_, end_);
            release();
        }
        begin_ = memory;
        end_ = memory + count;
        limit_ = memory + capacity_after;
    }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* limit_ = nullptr;
    const char* owner_ = kNoOwner;
};

/// Removes the elements that match the predicate. Returns how many were removed.
template <class T, class Predicate>
std::size_t erase_if(Array<T>& array, Predicate&& predicate) {
    std::size_t num_erased = 0;
    for (T& element : array)
        if (predicate(element))
            ++num_erased;
        else if (num_erased != 0)
            *(&element - num_erased) = static_cast<T&&>(element);
    array.erase(array.end() - num_erased, array.end());
    return num_erased;
}

/// Removes the elements that are equal to `value`. Returns how many were removed.
template <class T, class Value>
std::size_t erase(Array<T>& array, const Value& value) {
    return erase_if(array, [&](const T& element) { return element == value; });
}

}  // namespace shoal

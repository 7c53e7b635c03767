#pragma once
// An arena provides memory for many small values, and frees them together without calling their destructors.

#include "shoal/base/detail/large_pages.h"

#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace shoal {

class Arena {
public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() {
        for (const Block& block : blocks_) release_memory(block.memory, block.num_bytes, "source");
    }

    /// Returns memory aligned to 16 bytes.
    std::byte* allocate(std::size_t num_bytes) {
        num_bytes = (num_bytes + 15) & ~std::size_t(15);
        if (num_bytes > left_) grow(num_bytes);
        std::byte* result = next_;
        next_ += num_bytes;
        left_ -= num_bytes;
        return result;
    }

    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 16);
        return ::new (static_cast<void*>(allocate(sizeof(T)))) T{std::forward<Arguments>(arguments)...};
    }

    template <class T>
    std::span<const T> copy(std::span<const T> values) {
        static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && alignof(T) <= 16);
        if (values.empty()) return {};
        auto* result = reinterpret_cast<T*>(allocate(values.size_bytes()));
        std::memcpy(static_cast<void*>(result), values.data(), values.size_bytes());
        return {result, values.size()};
    }
    std::string_view copy(std::string_view text) {
        const std::span<const char> kept = copy(std::span<const char>(text));
        return {kept.data(), kept.size()};
    }

private:
    struct Block {
        void* memory;
        std::size_t num_bytes;
    };

    void grow(std::size_t least_bytes) {
        constexpr std::size_t kFirstBytes = 4096, kMostBytes = std::size_t(16) << 20;
        std::size_t num_bytes = blocks_.empty() ? kFirstBytes : blocks_.back().num_bytes * 2;
        num_bytes = num_bytes > kMostBytes ? kMostBytes : num_bytes;
        num_bytes = num_bytes < least_bytes ? least_bytes : num_bytes;
        blocks_.push_back({allocate_memory(num_bytes, "source"), num_bytes});
        prefer_large_pages_inside(blocks_.back().memory, num_bytes);
        next_ = static_cast<std::byte*>(blocks_.back().memory);
        left_ = num_bytes;
    }

    Array<Block> blocks_{Owner("source")};
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace shoal

#pragma once
// Copying elements of columns, whose size is mostly one of a few for which the compiler knows what to do. For stores
// that move rows from table to table.
// Thread: as for the columns.

#include "shoal/base/config.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shoal {

/// Calls copy.operator()<kBytes>() for the usual sizes, and other(bytes) for the rest.
template <class Copy, class Other>
SHOAL_INLINE void for_size(std::size_t bytes, Copy&& copy, Other&& other) {
    switch (bytes) {
        case 1:
            return copy.template operator()<1>();
        case 2:
            return copy.template operator()<2>();
        case 4:
            return copy.template operator()<4>();
        case 8:
            return copy.template operator()<8>();
        case 12:
            return copy.template operator()<12>();
        case 16:
            return copy.template operator()<16>();
        case 48:
            return copy.template operator()<48>();
        default:
            return other();
    }
}

/// Copies one element, maybe onto itself.
SHOAL_INLINE void copy_element(std::byte* to, const std::byte* from, std::size_t bytes) {
    for_size(
        bytes,
        [&]<std::size_t kBytes>() {
            std::byte element[kBytes];  // in registers; g++ 12 calls memmove for 12 bytes
            std::memcpy(element, from, kBytes);
            std::memcpy(to, element, kBytes);
        },
        [&] { std::memmove(to, from, bytes); });
}

/// Copies element from_rows[i] of `from` to element to_rows[i] of `to`. Either list may be nullptr: the rows are then
/// 0, 1, 2 ... Requires: no element that is written is read.
inline void copy_between(std::byte* to, const std::uint32_t* to_rows, const std::byte* from,
                         const std::uint32_t* from_rows, std::size_t count, std::size_t bytes) {
    constexpr std::size_t kAhead = 48;
    const auto copy = [&](std::size_t size, auto&& copy_one) __attribute__((always_inline)) {
        std::size_t i = 0;
        const auto one = [&](std::size_t k) __attribute__((always_inline)) {
            copy_one(to + (to_rows == nullptr ? k : to_rows[k]) * size,
                     from + (from_rows == nullptr ? k : from_rows[k]) * size);
        };
        for (; i + kAhead < count; ++i) {
            if (from_rows != nullptr) __builtin_prefetch(from + from_rows[i + kAhead] * size);
            if (to_rows != nullptr) __builtin_prefetch(to + to_rows[i + kAhead] * size, 1);
            one(i);
        }
        for (; i < count; ++i) one(i);
    };
    for_size(
        bytes,
        [&]<std::size_t kBytes>() {
            copy(kBytes, [](std::byte* a, const std::byte* b) { std::memcpy(a, b, kBytes); });
        },
        [&] { copy(bytes, [bytes](std::byte* a, const std::byte* b) { std::memcpy(a, b, bytes); }); });
}

}  // namespace shoal

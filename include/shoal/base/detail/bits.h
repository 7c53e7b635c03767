#pragma once
// Operations on bits in 64-bit words. They do not use <bit>, which would add 340 preprocessed lines to every file that
// includes shoal.
//
//     bit       0 1 2 3 ... 63 | 64 65 ...
//     words     1 0 1 0 ...  0 |  0  1          bit i is bit i % 64 of word i / 64
//
// Thread: as for built-in types.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

/// Returns the position of the lowest bit that is set. Requires: bits != 0.
constexpr std::uint32_t lowest_bit(std::uint64_t bits) { return static_cast<std::uint32_t>(__builtin_ctzll(bits)); }

constexpr std::uint32_t count_bits(std::uint64_t bits) {
    return static_cast<std::uint32_t>(__builtin_popcountll(bits));
}

/// Returns the number of words that hold `num_bits` bits.
constexpr std::size_t num_bit_words(std::size_t num_bits) { return (num_bits + 63) / 64; }

constexpr bool test_bit(const std::uint64_t* words, std::size_t bit) {
    return (words[bit / 64] >> (bit % 64) & 1) != 0;
}

/// Sets a bit to `value`.
constexpr void set_bit(std::uint64_t* words, std::size_t bit, bool value) {
    const std::uint64_t mask = std::uint64_t(1) << (bit % 64);
    words[bit / 64] = value ? words[bit / 64] | mask : words[bit / 64] & ~mask;
}

/// Sets a bit. Returns whether it was set before.
constexpr bool test_and_set_bit(std::uint64_t* words, std::size_t bit) {
    const std::uint64_t before = words[bit / 64];
    words[bit / 64] = before | std::uint64_t(1) << (bit % 64);
    return (before >> (bit % 64) & 1) != 0;
}

/// Sets the bits [begin, end) to `value`.
SHOAL_API void set_bits(std::uint64_t* words, std::size_t begin, std::size_t end, bool value);

/// Calls visit(first + i) for each set bit i of a word, in ascending order.
template <class Visit>
constexpr void for_each_bit(std::uint64_t word, std::size_t first, Visit&& visit) {
    for (; word != 0; word &= word - 1) visit(first + lowest_bit(word));
}

}  // namespace shoal

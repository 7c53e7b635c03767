#pragma once
// A bit set of fixed size, for the used parts of a slab.
// Thread: as for built-in types.

#include "shoal/base/detail/bits.h"

namespace shoal {

/// A bit set with `kBits` bits. It can find and mark runs of bits.
template <std::size_t kBits>
struct FixedBitSet {
    static constexpr std::size_t kWordBits = 64;
    std::uint64_t words[kBits / kWordBits] = {};

    bool get(std::size_t i) const { return test_bit(words, i); }
    void set(std::size_t begin, std::size_t end, bool value) { set_bits(words, begin, end, value); }
    std::size_t count() const {
        std::size_t result = 0;
        for (const std::uint64_t word : words) result += count_bits(word);
        return result;
    }
    /// Returns the first index at or after `from` whose bit is `value`, or kBits.
    std::size_t find(std::size_t from, bool value) const {
        for (std::size_t word = from / kWordBits; word < kBits / kWordBits; ++word) {
            std::uint64_t bits = value ? words[word] : ~words[word];
            if (word == from / kWordBits) bits &= ~0ull << (from % kWordBits);
            if (bits != 0) return word * kWordBits + lowest_bit(bits);
        }
        return kBits;
    }
    /// Returns the start of the first run of `length` clear bits, or kBits.
    std::size_t find_clear_run(std::size_t length) const {
        for (std::size_t begin = find(0, false); begin < kBits;) {
            const std::size_t end = find(begin, true);
            if (end - begin >= length) return begin;
            begin = end < kBits ? find(end, false) : kBits;
        }
        return kBits;
    }
};

}  // namespace shoal

#pragma once
// A set of numbers, one bit per number. It grows to hold the highest number.
//
//     words   [ 0 | 0b10 ]       65 is in the set: bit i is bit i % 64 of word i / 64
//
//     BitSet seen{Owner("loader")};
//     if (!seen.test_and_set(65)) load(65);
//     seen.for_each([&](std::size_t number) { list(number); });
//
// Bits that were never set are 0, even beyond the last word. Two bit sets are equal if the same bits are set in both.
// Thread: as for built-in types.

#include "shoal/base/detail/array.h"
#include "shoal/base/detail/bits.h"

#include <span>

namespace shoal {

class BitSet {
public:
    explicit BitSet(Owner owner) : words_(owner) {}

    /// Returns whether a bit is set.
    bool test(std::size_t bit) const { return bit / 64 < words_.size() && test_bit(words_.data(), bit); }
    /// Like test(), without a bounds check. Requires: bit < 64 * words().size().
    bool operator[](std::size_t bit) const { return test_bit(words_.data(), bit); }

    void set(std::size_t bit, bool value = true) {
        reach(bit);
        set_bit(words_.data(), bit, value);
    }
    /// Sets the bits [begin, end).
    SHOAL_API void set_range(std::size_t begin, std::size_t end);
    void reset(std::size_t bit) {
        if (bit / 64 < words_.size()) set_bit(words_.data(), bit, false);
    }
    /// Sets a bit. Returns whether it was set before.
    bool test_and_set(std::size_t bit) {
        reach(bit);
        return test_and_set_bit(words_.data(), bit);
    }

    /// Resizes the set to hold `num_bits` bits. New bits are 0.
    void resize(std::size_t num_bits) { words_.resize(num_bit_words(num_bits), 0); }
    /// Empties the set and keeps its memory.
    void clear() { words_.clear(); }
    /// Clears all bits, and resizes the set to hold `num_bits` bits.
    void clear(std::size_t num_bits) { words_.assign(num_bit_words(num_bits), 0); }

    SHOAL_API bool empty() const;
    /// The number of bits that are set.
    SHOAL_API std::size_t count() const;

    /// Return whether this set contains all, or any, of the bits that are set in `other`.
    SHOAL_API bool has_all(const BitSet& other) const;
    SHOAL_API bool has_any(const BitSet& other) const;
    /// Sets all bits that are set in `other`.
    SHOAL_API BitSet& operator|=(const BitSet& other);
    friend bool operator==(const BitSet& a, const BitSet& b) { return a.has_all(b) && b.has_all(a); }

    /// Calls visit(bit) for each bit that is set, in ascending order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i) for_each_bit(words_[i], i * 64, visit);
    }

    /// Shape: bit i of the set is bit i % 64 of word i / 64; the last words may be 0. Lifetime: until the set grows.
    std::span<const std::uint64_t> words() const { return {words_.data(), words_.size()}; }
    SHOAL_API std::span<std::uint64_t> words();
    std::uint64_t* data() { return words_.data(); }

private:
    /// Returns a word, or 0 beyond the last one.
    std::uint64_t word(std::size_t index) const { return index < words_.size() ? words_[index] : 0; }
    void reach(std::size_t bit) {
        if (SHOAL_UNLIKELY(bit / 64 >= words_.size())) words_.resize(bit / 64 + 1, 0);
    }

    Array<std::uint64_t> words_;
};

}  // namespace shoal

#pragma once
// Which component types an archetype has: one bit per component type, in as many 64-bit words as it takes.
//
//     component type     0 1 2 3 ... 63 | 64 65 ...
//     {0, 2, 65}         1 0 1 0 ...  0 |  0  1          two words; the last word is never 0
//
// Thread: values.

#include "shoal/base/bits.h"
#include "shoal/base/memory.h"

#include <cstdint>
#include <span>

namespace shoal {

class Signature {
public:
    bool has(std::uint32_t number) const {
        return number / 64 < words_.size() && (words_[number / 64] >> (number % 64) & 1) != 0;
    }
    SHOAL_API void add(std::uint32_t number);
    SHOAL_API void remove(std::uint32_t number);

    /// Whether all, or any, of the bits of `other` are set here.
    bool has_all(const Signature& other) const {
        if (other.words_.size() > words_.size()) return false;
        for (std::size_t i = 0; i < other.words_.size(); ++i)
            if ((other.words_[i] & ~words_[i]) != 0) return false;
        return true;
    }
    bool has_any(const Signature& other) const {
        const std::size_t count = words_.size() < other.words_.size() ? words_.size() : other.words_.size();
        for (std::size_t i = 0; i < count; ++i)
            if ((other.words_[i] & words_[i]) != 0) return true;
        return false;
    }
    bool empty() const { return words_.empty(); }
    SHOAL_API std::uint64_t hash() const;
    std::span<const std::uint64_t> words() const { return words_; }

    /// Calls visit(number) for each bit, ascending.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t word = 0; word < words_.size(); ++word)
            for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1)
                visit(static_cast<std::uint32_t>(word * 64 + lowest_bit(bits)));
    }
    friend bool operator==(const Signature& a, const Signature& b) { return a.words_ == b.words_; }

private:
    Array<std::uint64_t> words_{Owner("signature")};
};

}  // namespace shoal

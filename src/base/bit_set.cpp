#include "shoal/base/detail/bit_set.h"

namespace shoal {

void set_bits(std::uint64_t* words, std::size_t begin, std::size_t end, bool value) {
    while (begin < end) {
        const std::size_t room = 64 - begin % 64, count = room < end - begin ? room : end - begin;
        const std::uint64_t mask = (count == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << count) - 1) << (begin % 64);
        words[begin / 64] = value ? words[begin / 64] | mask : words[begin / 64] & ~mask;
        begin += count;
    }
}

std::span<std::uint64_t> BitSet::words() { return words_; }

void BitSet::set_range(std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    reach(end - 1);
    set_bits(words_.data(), begin, end, true);
}

bool BitSet::empty() const {
    for (const std::uint64_t word : words_)
        if (word != 0) return false;
    return true;
}

std::size_t BitSet::count() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += count_bits(word);
    return count;
}

bool BitSet::has_all(const BitSet& other) const {
    for (std::size_t i = 0; i < other.words_.size(); ++i)
        if ((other.words_[i] & ~word(i)) != 0) return false;
    return true;
}

bool BitSet::has_any(const BitSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
        if ((words_[i] & other.word(i)) != 0) return true;
    return false;
}

BitSet& BitSet::operator|=(const BitSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size(), 0);
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
}

}  // namespace shoal

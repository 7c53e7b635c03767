#pragma once
// Finds a key in a small set of names. Texts written by programs repeat the same keys in the same order. The name that
// last followed the previous key is therefore tried first, and one comparison is usually enough.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace shoal {

/// Compares short strings without a function call.
inline bool same_text(std::string_view a, std::string_view b) {
    const std::size_t size = a.size();
    if (size != b.size()) return false;
    if (size > 16 || size < 4) return a == b;
    const auto same = [&]<class Word>(Word) {
        Word first[2], last[2];
        std::memcpy(&first[0], a.data(), sizeof(Word));
        std::memcpy(&first[1], b.data(), sizeof(Word));
        std::memcpy(&last[0], a.data() + size - sizeof(Word), sizeof(Word));
        std::memcpy(&last[1], b.data() + size - sizeof(Word), sizeof(Word));
        return ((first[0] ^ first[1]) | (last[0] ^ last[1])) == 0;
    };
    return size >= 8 ? same(std::uint64_t()) : same(std::uint32_t());
}

class KeyPredictor {
public:
    KeyPredictor() = default;
    explicit KeyPredictor(std::span<const std::string_view> names)
        : names_(names.begin(), names.end()), after_(names.size() + 1, 0) {}

    /// Returns the index of `key`, or -1. `previous` is the result of the previous call, or -1 at the start.
    int find(std::string_view key, int previous) {
        if (names_.empty()) return -1;
        std::uint16_t& guess = after_[static_cast<std::size_t>(previous + 1)];
        if (same_text(names_[guess], key)) return guess;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (names_[i] != key) continue;
            guess = static_cast<std::uint16_t>(i);
            return static_cast<int>(i);
        }
        return -1;
    }

    std::span<const std::string_view> names() const { return names_; }

private:
    std::vector<std::string_view> names_;
    std::vector<std::uint16_t> after_;  // name + 1 -> the name that last followed it
};

}  // namespace shoal

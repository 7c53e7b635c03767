#pragma once
// A small seeded random number generator (SplitMix64) that returns the same numbers on every machine.
// Thread: as for built-in types.
// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

class Random {
public:
    explicit constexpr Random(std::uint64_t seed = 1) : state_(seed) {}

    constexpr std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }

    /// Returns a number in [0, bound), without a division. Requires: bound > 0.
    constexpr std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

    /// Returns a number in [0, 1).
    constexpr float unit() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

    constexpr std::uint64_t state() const { return state_; }

private:
    std::uint64_t state_;
};

}  // namespace shoal

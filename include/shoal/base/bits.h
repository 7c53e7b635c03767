#pragma once
// Bits of a word, without <bit>: 340 preprocessed lines are saved in every file that includes shoal.
// Thread: functions of values.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

/// Returns the position of the lowest bit that is set. Requires: one is.
constexpr std::uint32_t lowest_bit(std::uint64_t bits) { return static_cast<std::uint32_t>(__builtin_ctzll(bits)); }

}  // namespace shoal

#pragma once
// Component types without fields, which only make archetypes differ.

#include "shoal/table/describe.h"

namespace shoal_bench {

inline constexpr int kNumMarks = 26;

/// Requires: kNumber < kNumMarks.
template <int kNumber>
struct Mark {};
template <int kNumber>
constexpr auto shoal_describe(shoal::ComponentTag<Mark<kNumber>>) {
    constexpr const char* kNames[] = {"mark_a", "mark_b", "mark_c", "mark_d", "mark_e", "mark_f", "mark_g",
                                      "mark_h", "mark_i", "mark_j", "mark_k", "mark_l", "mark_m", "mark_n",
                                      "mark_o", "mark_p", "mark_q", "mark_r", "mark_s", "mark_t", "mark_u",
                                      "mark_v", "mark_w", "mark_x", "mark_y", "mark_z"};
    static_assert(sizeof kNames / sizeof *kNames == kNumMarks);
    return shoal::describe<Mark<kNumber>>(shoal::describe_head(kNames[kNumber]));
}

}  // namespace shoal_bench

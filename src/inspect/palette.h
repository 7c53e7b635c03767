#pragma once
// Colours of kinds in pictures and reports, the same as in the inspector's page (src/inspector/page/colors.js).

#include <array>
#include <cstddef>
#include <string_view>

namespace shoal {

inline constexpr std::array<std::string_view, 16> kKindColors = {
    "#4cb5f5", "#f2a65a", "#6fcf97", "#e57ba5", "#a78bfa", "#f4d35e", "#56cfc1", "#ef6f6c",
    "#8fb3ff", "#c3d350", "#d89cf6", "#f79d84", "#7fd6ff", "#b39c7d", "#9fe3a1", "#ff9ecb"};

/// The colour of kind `number`.
constexpr std::string_view kind_color(std::size_t number) { return kKindColors[number % kKindColors.size()]; }

}  // namespace shoal

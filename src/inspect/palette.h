#pragma once
// The colours of kinds in pictures and reports. The inspector's page uses the same colours
// (src/inspector/page/colors.js).

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace shoal {

inline constexpr std::array<std::string_view, 16> kKindColors = {
    "#4cb5f5", "#f2a65a", "#6fcf97", "#e57ba5", "#a78bfa", "#f4d35e", "#56cfc1", "#ef6f6c",
    "#8fb3ff", "#c3d350", "#d89cf6", "#f79d84", "#7fd6ff", "#b39c7d", "#9fe3a1", "#ff9ecb"};

/// The colour of kind `number`.
constexpr std::string_view kind_color(std::size_t number) { return kKindColors[number % kKindColors.size()]; }

/// A colour. Red, green and blue are from 0 to 255.
struct Rgb {
    double red, green, blue;
};

/// Colours from low to high, which go from deep blue through green to yellow. They are readable with red-green colour
/// blindness.
inline constexpr std::array<Rgb, 9> kRamp = {{{68, 1, 84},
                                              {71, 44, 122},
                                              {59, 81, 139},
                                              {44, 113, 142},
                                              {33, 144, 141},
                                              {39, 173, 129},
                                              {92, 200, 99},
                                              {170, 220, 50},
                                              {253, 231, 37}}};

/// The colour for an amount between 0 and 1.
constexpr Rgb ramp_color(double amount) {
    const double place = (amount < 0 ? 0 : amount > 1 ? 1 : amount) * double(kRamp.size() - 1);
    const std::size_t first = std::min(kRamp.size() - 2, static_cast<std::size_t>(place));
    const double part = place - static_cast<double>(first);
    const auto mix = [part](double low, double high) { return low + (high - low) * part; };
    const Rgb &low = kRamp[first], &high = kRamp[first + 1];
    return {mix(low.red, high.red), mix(low.green, high.green), mix(low.blue, high.blue)};
}

/// Black or white, whichever is more readable on a colour.
constexpr std::string_view text_color_on(Rgb color) {
    return 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue > 140 ? "#10151f" : "#ffffff";
}

}  // namespace shoal

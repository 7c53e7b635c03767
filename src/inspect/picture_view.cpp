#include "inspect/picture_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

constexpr double kMaxWidth = 1000, kMaxHeight = 760, kMinWidth = 420, kMinHeight = 320;
constexpr double kMargin = 0.04;  // of the greater side, around the points

struct Range {
    double low = 0, high = 0;

    void add(double value, bool first) {
        low = first ? value : std::min(low, value);
        high = first ? value : std::max(high, value);
    }
    double size() const { return high - low; }
    double middle() const { return low + size() / 2; }
};

/// The shortest length worth showing around these coordinates: a metre, or what a float can still tell apart.
double least_size(const Range& x, const Range& y) {
    const double largest = std::max({std::fabs(x.low), std::fabs(x.high), std::fabs(y.low), std::fabs(y.high)});
    return std::max(1.0, largest * 1e-5);
}

}  // namespace

PictureView make_picture_view(std::span<const PictureLayer> layers) {
    Range x, y;
    bool first = true;
    for (const PictureLayer& layer : layers)
        for (const Vec2 point : layer.points) {
            if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
            x.add(double(point.x), first);
            y.add(double(point.y), first);
            first = false;
        }
    double width = x.size(), height = y.size();
    if (std::max(width, height) == 0) width = height = least_size(x, y);
    const double margin = std::max(width, height) * kMargin;
    width += 2 * margin;
    height += 2 * margin;

    PictureView view;
    view.metres_per_pixel = std::max(width / kMaxWidth, height / kMaxHeight);
    view.plot_width = std::round(std::max(width / view.metres_per_pixel, kMinWidth));
    view.plot_height = std::round(std::max(height / view.metres_per_pixel, kMinHeight));
    view.left = x.middle() - view.plot_width * view.metres_per_pixel / 2;
    view.bottom = y.middle() - view.plot_height * view.metres_per_pixel / 2;
    return view;
}

double nice_length(double value) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double digit : {10.0, 5.0, 2.0})
        if (digit * power <= value) return digit * power;
    return power;
}

std::string tick_text(double metres, double step) {
    if (std::fabs(metres) < step * 1e-6) return "0";
    if (std::fabs(metres) >= 1e6 || step < 1e-4) return fmt::format("{:.4g}", metres);
    const int num_decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step)));
    return fmt::format("{:.{}f}", metres, num_decimals);
}

}  // namespace shoal

#include "inspect/picture_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace shoal {
namespace {

constexpr double kMaxWidth = 1000, kMaxHeight = 760, kMinWidth = 420, kMinHeight = 320;
constexpr double kMargin = 0.04;  // around the points, relative to the longer side

bool is_finite(Vec2 point) { return std::isfinite(point.x) && std::isfinite(point.y); }

struct Range {
    double low = 0, high = 0;

    void add(double value, bool first) {
        low = first ? value : std::min(low, value);
        high = first ? value : std::max(high, value);
    }
    double size() const { return high - low; }
    double middle() const { return low + size() / 2; }
};

/// The shortest length that can be shown around these coordinates: a metre, or the precision of a float.
double least_size(const Range& x, const Range& y) {
    const double largest = std::max({std::fabs(x.low), std::fabs(x.high), std::fabs(y.low), std::fabs(y.high)});
    return std::max(1.0, largest * 1e-5);
}

struct PicturePoint {
    std::int32_t y, x;
    auto operator<=>(const PicturePoint&) const = default;
};

/// Converts to tenths of a pixel.
PicturePoint picture_point(Vec2 point, const PictureView& view) {
    return {static_cast<std::int32_t>(std::lround(view.y(double(point.y)) * 10)),
            static_cast<std::int32_t>(std::lround(view.x(double(point.x)) * 10))};
}

struct Line {
    PicturePoint from, to;
    auto operator<=>(const Line&) const = default;

    std::int64_t length_squared() const {
        const std::int64_t x = to.x - from.x, y = to.y - from.y;
        return x * x + y * y;
    }
};

/// Appends a move relative to the pen's position, and a dash.
void append_dash(std::string& path, PicturePoint& pen, PicturePoint to, std::int32_t length) {
    fmt::format_to(std::back_inserter(path), "{}{} {}h{}", path.empty() ? 'M' : 'm', to.x - pen.x, to.y - pen.y,
                   length);
    pen = {to.y, to.x + length};
}

/// The shade of a cell, which is logarithmic in its count: 0 for one point, and the last shade for the fullest cell.
std::uint32_t shade_of(std::uint32_t count, std::uint32_t most) {
    if (count <= 1 || most <= 1) return 0;
    const double share = std::log(double(count)) / std::log(double(most));
    return std::min(kNumShades - 1, static_cast<std::uint32_t>(share * kNumShades));
}

}  // namespace

PictureView make_picture_view(std::span<const PictureLayer> layers) {
    Range x, y;
    bool first = true;
    for (const PictureLayer& layer : layers)
        for (const Vec2 point : layer.points) {
            if (!is_finite(point)) continue;
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

std::string dots_path(std::span<const Vec2> points, const PictureView& view) {
    std::vector<PicturePoint> places;
    places.reserve(points.size());
    for (const Vec2 point : points)
        if (is_finite(point)) places.push_back(picture_point(point, view));
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::string path;
    PicturePoint pen{0, 0};
    for (const PicturePoint place : places) append_dash(path, pen, place, 1);
    return path;
}

std::string links_path(std::span<const PictureLink> links, const PictureView& view, std::size_t most) {
    std::vector<Line> lines;
    for (const PictureLink& link : links) {
        if (!is_finite(link.child) || !is_finite(link.parent)) continue;
        const Line line{picture_point(link.parent, view), picture_point(link.child, view)};
        if (line.from != line.to) lines.push_back(line);
    }
    if (lines.size() > most) {
        std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
            return a.length_squared() != b.length_squared() ? a.length_squared() > b.length_squared() : a < b;
        });
        lines.resize(most);
    }
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    std::string path;
    PicturePoint pen{0, 0};
    for (const Line& line : lines) {
        fmt::format_to(std::back_inserter(path), "{}{} {}l{} {}", path.empty() ? 'M' : 'm', line.from.x - pen.x,
                       line.from.y - pen.y, line.to.x - line.from.x, line.to.y - line.from.y);
        pen = line.to;
    }
    return path;
}

DensityGrid::DensityGrid(std::span<const Vec2> points, const PictureView& view, double cell_pixels)
    : columns_(static_cast<std::uint32_t>(std::ceil(view.plot_width / cell_pixels))),
      rows_(static_cast<std::uint32_t>(std::ceil(view.plot_height / cell_pixels))),
      counts_(std::size_t(columns_) * rows_) {
    for (const Vec2 point : points) {
        if (!is_finite(point)) continue;
        const double x = view.x(double(point.x)) / cell_pixels, y = view.y(double(point.y)) / cell_pixels;
        const auto column = static_cast<std::size_t>(std::clamp(x, 0.0, double(columns_ - 1)));
        const auto row = static_cast<std::size_t>(std::clamp(y, 0.0, double(rows_ - 1)));
        most_ = std::max(most_, ++counts_[row * columns_ + column]);
    }
}

std::vector<std::string> DensityGrid::paths(std::uint32_t most) const {
    std::vector<std::string> paths(kNumShades);
    std::vector<PicturePoint> pens(kNumShades);
    for (std::uint32_t row = 0; row < rows_; ++row)
        for (std::uint32_t column = 0; column < columns_;) {
            const bool is_empty = count(row, column) == 0;
            const std::uint32_t shade = shade_of(count(row, column), most);
            std::uint32_t end = column + 1;
            while (end < columns_ && (count(row, end) == 0) == is_empty && shade_of(count(row, end), most) == shade)
                ++end;
            const PicturePoint place{static_cast<std::int32_t>(row), static_cast<std::int32_t>(column)};
            if (!is_empty) append_dash(paths[shade], pens[shade], place, static_cast<std::int32_t>(end - column));
            column = end;
        }
    return paths;
}

}  // namespace shoal

#include "inspect/treemap.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace shoal {
namespace {

/// Returns the worst aspect ratio of the boxes when `sizes` share a strip along a side of this length.
double worst_ratio(std::span<const double> sizes, double sum, double side) {
    const double strip = sum / side;
    double worst = 1;
    for (const double size : {sizes.front(), sizes.back()}) {
        const double length = size / strip;
        worst = std::max({worst, length / strip, strip / length});
    }
    return worst;
}

/// Returns the number of sizes to put into the next strip. Sizes are added while the boxes become squarer.
std::size_t count_in_strip(std::span<const double> sizes, double side) {
    std::size_t count = 1;
    double sum = sizes[0];
    while (count < sizes.size()) {
        const double longer = sum + sizes[count];
        if (worst_ratio(sizes.first(count + 1), longer, side) > worst_ratio(sizes.first(count), sum, side)) break;
        sum = longer;
        ++count;
    }
    return count;
}

}  // namespace

std::vector<TreemapBox> treemap(std::span<const double> sizes, double width, double height) {
    const double scale = width * height / std::accumulate(sizes.begin(), sizes.end(), 0.0);
    std::vector<double> areas;
    for (const double size : sizes) areas.push_back(size * scale);
    std::vector<TreemapBox> boxes;
    TreemapBox left{0, 0, width, height};
    for (std::size_t first = 0; first < areas.size();) {
        const bool stands = left.width > left.height;  // the strip is along the shorter side
        const double side = stands ? left.height : left.width;
        const std::size_t count = count_in_strip(std::span(areas).subspan(first), side);
        const std::span<const double> strip(areas.data() + first, count);
        const double thickness = std::accumulate(strip.begin(), strip.end(), 0.0) / side;
        double along = 0;
        for (const double area : strip) {
            const double length = area / thickness;
            boxes.push_back(stands ? TreemapBox{left.x, left.y + along, thickness, length}
                                   : TreemapBox{left.x + along, left.y, length, thickness});
            along += length;
        }
        (stands ? left.x : left.y) += thickness;
        (stands ? left.width : left.height) -= thickness;
        first += count;
    }
    return boxes;
}

}  // namespace shoal

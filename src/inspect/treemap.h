#pragma once
// Divides a rectangle into a box for each size. Boxes are as square as possible.
//
// Source: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000.

#include <span>
#include <vector>

namespace shoal {

struct TreemapBox {
    double x = 0, y = 0, width = 0, height = 0;
};

/// Returns a box for each size. Requires: sizes are positive and descending. Shape: like `sizes`.
std::vector<TreemapBox> treemap(std::span<const double> sizes, double width, double height);

}  // namespace shoal

#pragma once
// The points of one layer as SVG paths: dots, or cells of a density grid; and links as lines.

#include "inspect/picture_view.h"

#include <vector>

namespace shoal {

/// How many shades a density grid has.
inline constexpr std::uint32_t kNumShades = 7;

/// Returns path data with a short dash for each point, in tenths of a pixel; points that fall on one another are drawn
/// once. To be stroked with round caps.
std::string dots_path(std::span<const Vec2> points, const PictureView& view);

/// Returns path data with a line for each link, in tenths of a pixel. Links that fall on one another are drawn once,
/// and those that have no length or are not finite not at all; of more than `most`, the longest are taken.
std::string links_path(std::span<const PictureLink> links, const PictureView& view, std::size_t most);

/// How many points of a layer lie in each cell of a grid over the plot.
class DensityGrid {
public:
    DensityGrid(std::span<const Vec2> points, const PictureView& view, double cell_pixels);

    /// The count of the fullest cell.
    std::uint32_t most() const { return most_; }
    /// Returns path data per shade, faintest first: a horizontal dash through each run of cells that hold about as
    /// many points, in cells. `most` gets the last shade. To be stroked one cell wide.
    std::vector<std::string> paths(std::uint32_t most) const;

private:
    std::uint32_t count(std::uint32_t row, std::uint32_t column) const {
        return counts_[std::size_t(row) * columns_ + column];
    }

    std::uint32_t columns_, rows_;
    std::uint32_t most_ = 0;
    std::vector<std::uint32_t> counts_;  // [row][column]
};

}  // namespace shoal

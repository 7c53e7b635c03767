#pragma once
// The view of a picture, which converts metres to pixels, and SVG paths for the points of a layer: dots, cells of a
// density grid, or lines for links.

#include "shoal/inspect/picture.h"

#include <vector>

namespace shoal {

/// The part of the world that is shown, and the plot that shows it. Pixels are counted from the top left of the page.
struct PictureView {
    double left = 0, bottom = 0;  ///< the plot's bottom left corner, in metres
    double metres_per_pixel = 1;
    double plot_width = 0, plot_height = 0;  ///< pixels

    static constexpr double kPlotX = 76, kPlotY = 92;  ///< the plot's top left corner on the page
    static constexpr double kLegendWidth = 250, kBelow = 78;

    double page_width() const { return kPlotX + plot_width + kLegendWidth; }
    double page_height() const { return kPlotY + plot_height + kBelow; }
    /// Pixels from the plot's left and top edge.
    double x(double metres) const { return (metres - left) / metres_per_pixel; }
    double y(double metres) const { return plot_height - (metres - bottom) / metres_per_pixel; }
};

/// Returns a view of all finite points with a margin around them; if all points are in one place, a view of one metre.
PictureView make_picture_view(std::span<const PictureLayer> layers);

/// Returns the largest of 1, 2 or 5 times a power of ten that is at most `value`. Requires: value > 0.
double nice_length(double value);

/// Returns `metres` with as many digits as a grid of `step` needs.
std::string tick_text(double metres, double step);

/// The number of shades of a density grid.
inline constexpr std::uint32_t kNumShades = 7;

/// Returns path data with a short dash for each point, in tenths of a pixel; points at the same pixel are drawn
/// once. Draw the path with round caps.
std::string dots_path(std::span<const Vec2> points, const PictureView& view);

/// Returns path data with a line for each link, in tenths of a pixel. Identical links are drawn once; links that have
/// no length or are not finite are skipped; if there are more than `most`, the longest are drawn.
std::string links_path(std::span<const PictureLink> links, const PictureView& view, std::size_t most);

/// The number of points of a layer in each cell of a grid over the plot.
class DensityGrid {
public:
    DensityGrid(std::span<const Vec2> points, const PictureView& view, double cell_pixels);

    /// The count of the fullest cell.
    std::uint32_t most() const { return most_; }
    /// Returns path data for each shade, faintest first: a horizontal dash for each run of cells with a similar number
    /// of points. A cell with `most` points has the last shade. Draw the dashes one cell wide. Units: cells.
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

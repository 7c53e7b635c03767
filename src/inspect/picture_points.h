#pragma once
// Converts metres to the pixels of a picture, and makes SVG paths for dots, for the cells of a density grid, and for
// links.

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
    /// Return the pixels from the plot's left and top edges.
    double x(double metres) const { return (metres - left) / metres_per_pixel; }
    double y(double metres) const { return plot_height - (metres - bottom) / metres_per_pixel; }
};

/// Returns a view of all finite points, with a margin around them. If all points are in one place, the view is one
/// metre across.
PictureView make_picture_view(std::span<const PictureLayer> layers);

/// Returns the largest of 1, 2 or 5 times a power of ten that is at most `value`. Requires: value > 0.
double nice_length(double value);

/// Returns `metres` with the number of digits that a grid with this `step` needs.
std::string tick_text(double metres, double step);

/// The number of shades of a density grid.
inline constexpr std::uint32_t kNumShades = 7;

/// Returns path data in tenths of a pixel, with a short dash for each point. Points at the same pixel are drawn only
/// once. Draw the path with round caps.
std::string dots_path(std::span<const Vec2> points, const PictureView& view);

/// Returns path data in tenths of a pixel, with a line for each link. Identical links are drawn only once. Links that
/// have no length or are not finite are skipped. If there are more than `most` links, the longest are drawn.
std::string links_path(std::span<const PictureLink> links, const PictureView& view, std::size_t most);

/// The number of a layer's points in each cell of a grid over the plot.
class DensityGrid {
public:
    DensityGrid(std::span<const Vec2> points, const PictureView& view, double cell_pixels);

    /// The count of the fullest cell.
    std::uint32_t most() const { return most_; }
    /// Returns path data for each shade, faintest first. Each run of cells with similar numbers of points becomes a
    /// horizontal dash. A cell with `most` points has the last shade. Draw the dashes one cell wide. Units: cells.
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

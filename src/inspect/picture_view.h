#pragma once
// Where the picture lies on the page, and how metres become pixels.

#include "shoal/inspect/picture.h"

namespace shoal {

/// The part of the world that is shown, and the plot that shows it. Pixels count from the top left of the page.
struct PictureView {
    double left = 0, bottom = 0;  ///< metres, of the plot's corner
    double metres_per_pixel = 1;
    double plot_width = 0, plot_height = 0;  ///< pixels

    static constexpr double kPlotX = 76, kPlotY = 92;  ///< the plot's corner on the page
    static constexpr double kLegendWidth = 250, kBelow = 78;

    double page_width() const { return kPlotX + plot_width + kLegendWidth; }
    double page_height() const { return kPlotY + plot_height + kBelow; }
    /// Pixels from the plot's left and top edge.
    double x(double metres) const { return (metres - left) / metres_per_pixel; }
    double y(double metres) const { return plot_height - (metres - bottom) / metres_per_pixel; }
};

/// Returns a view of all finite points with a margin around them; of one metre when they are all in one place.
PictureView make_picture_view(std::span<const PictureLayer> layers);

/// Returns 1, 2 or 5 times a power of ten that is at most `value`. Requires: value > 0.
double nice_length(double value);

/// Returns `metres` with no more digits than a grid of `step` needs.
std::string tick_text(double metres, double step);

}  // namespace shoal

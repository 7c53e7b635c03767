#include "shoal/inspect/picture.h"

#include "inspect/picture_points.h"
#include "inspect/xml_text.h"
#include "shoal/inspect/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace shoal {
namespace {

// These can be told apart on a dark background, even with red-green colour blindness.
constexpr std::string_view kColors[] = {"#6fd6ff", "#d4a6ff", "#ffe08a", "#ff9e7a", "#9be88f", "#ff8fb8",
                                        "#4fb8a8", "#f2f4ff", "#ffb84d", "#7f9bff", "#c9d66b", "#e39bd3"};
constexpr std::size_t kMaxLegendEntries = 16;
constexpr std::size_t kMaxDensityBytes = 500'000;
constexpr double kFinestCell = 2, kCoarsestCell = 64;  // pixels
// The styles apply only to pictures, so that a picture can be embedded in a page with other styles. The background is
// dark even on light pages, because the colours are chosen for a dark background.
constexpr std::string_view kStyle =
    ".places text{font-family:Inter,'Helvetica Neue',Arial,sans-serif;fill:#cfe6f2}.places .page{fill:#041421}"
    ".places .title{font-size:24px;font-weight:600;fill:#f3fbff}.places .sub{font-size:14px;fill:#86aec4}"
    ".places .tick{font-size:12px;fill:#7fa6bb}.places .name{font-size:14px}"
    ".places .count{font-size:13px;fill:#86aec4}.places .bar{fill:none;stroke:#cfe6f2;stroke-width:1.5}"
    ".places .grid{stroke:#8fd0ee;stroke-opacity:.09;stroke-width:1}"
    ".places .frame{fill:none;stroke:#8fd0ee;stroke-opacity:.35}"
    ".places .links{fill:none;stroke:#cfe6f2;stroke-opacity:.4;stroke-width:7}"
    ".places .dots{fill:none;stroke-linecap:round}"
    ".places .cells{fill:none;stroke-linecap:butt;stroke-width:1;shape-rendering:crispEdges}"
    "@media (prefers-color-scheme:light){.places text{fill:#152033}.places .page{fill:#f1f4f9}"
    ".places .title{fill:#152033}.places .sub,.places .tick,.places .count{fill:#5d6d85}.places .bar{stroke:#152033}}";

/// A layer and its drawing data, in drawing order.
struct DrawnLayer {
    const PictureLayer* layer;
    std::string_view color;
    std::uint64_t num_points;
    bool as_dots = false;
    std::vector<std::string> shades;  ///< for a layer that is drawn as cells
};

class PictureWriter {
public:
    PictureWriter(std::span<const PictureLayer> layers, const PictureOptions& options,
                  std::span<const PictureLink> links)
        : options_(options), links_(links), view_(make_picture_view(layers)) {
        choose_layers(layers);
    }

    Picture draw() {
        header();
        grid();
        cells_and_dots();
        frame();
        legend();
        scale_bar();
        put("</svg>\n");
        return {std::move(svg_), num_points_, num_skipped_};
    }

private:
    template <class... Arguments>
    void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(svg_), format, std::forward<Arguments>(arguments)...);
    }

    void choose_layers(std::span<const PictureLayer> layers) {
        for (const PictureLayer& layer : layers) {
            const auto finite = [](Vec2 point) { return std::isfinite(point.x) && std::isfinite(point.y); };
            const auto num_points =
                static_cast<std::uint64_t>(std::count_if(layer.points.begin(), layer.points.end(), finite));
            num_points_ += num_points;
            num_skipped_ += layer.num_skipped + layer.points.size() - num_points;
            layers_.push_back({&layer, kColors[layers_.size() % std::size(kColors)], num_points, false, {}});
        }
        std::sort(layers_.begin(), layers_.end(), [](const DrawnLayer& a, const DrawnLayer& b) {
            return a.num_points != b.num_points ? a.num_points < b.num_points : a.layer < b.layer;
        });
        std::uint64_t num_dots = 0;
        for (DrawnLayer& drawn : layers_) {
            num_dots += drawn.num_points;
            drawn.as_dots = num_dots <= options_.max_dots;
        }
    }

    void header() {
        put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"places\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
            "width=\"{0:.0f}\" "
            "height=\"{1:.0f}\">\n",
            view_.page_width(), view_.page_height());
        put("<defs><linearGradient id=\"places-sea\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"0\" "
            "stop-color=\"#0d3b55\"/>"
            "<stop offset=\"1\" stop-color=\"#061c2e\"/></linearGradient>"
            "<clipPath id=\"places-plot\"><rect width=\"{:.0f}\" height=\"{:.0f}\"/></clipPath></defs>\n",
            view_.plot_width, view_.plot_height);
        put("<style>{}</style>\n<rect width=\"100%\" height=\"100%\" class=\"page\"/>\n", kStyle);
        put("<text class=\"title\" x=\"{}\" y=\"42\">{}</text>\n", PictureView::kPlotX, xml_text(options_.title, 90));
        put("<text class=\"sub\" x=\"{}\" y=\"68\">{}</text>\n", PictureView::kPlotX, xml_text(options_.subtitle, 160));
    }

    void grid() {
        const double step = nice_length(view_.metres_per_pixel * 130);
        put("<g transform=\"translate({} {})\">\n<rect width=\"{:.0f}\" height=\"{:.0f}\" "
            "fill=\"url(#places-sea)\"/>\n",
            PictureView::kPlotX, PictureView::kPlotY, view_.plot_width, view_.plot_height);
        const double right = view_.left + view_.plot_width * view_.metres_per_pixel;
        const double top = view_.bottom + view_.plot_height * view_.metres_per_pixel;
        // Counts the iterations, because adding a small step to a large coordinate may not change it.
        const double first_x = std::ceil(view_.left / step), first_y = std::ceil(view_.bottom / step);
        for (int i = 0; i < 40 && (first_x + i) * step <= right; ++i) {
            const double x = view_.x((first_x + i) * step);
            put("<path class=\"grid\" d=\"M{0:.1f} 0V{1:.0f}\"/><text class=\"tick\" text-anchor=\"middle\" "
                "x=\"{0:.1f}\" "
                "y=\"{2:.0f}\">{3}</text>\n",
                x, view_.plot_height, view_.plot_height + 20, tick_text((first_x + i) * step, step));
        }
        for (int i = 0; i < 40 && (first_y + i) * step <= top; ++i) {
            const double y = view_.y((first_y + i) * step);
            put("<path class=\"grid\" d=\"M0 {0:.1f}H{1:.0f}\"/><text class=\"tick\" text-anchor=\"end\" x=\"-10\" "
                "y=\"{2:.1f}\">{3}</text>\n",
                y, view_.plot_width, y + 4, tick_text((first_y + i) * step, step));
        }
        put("<text class=\"tick\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">x, m</text>"
            "<text class=\"tick\" x=\"-10\" y=\"-10\" text-anchor=\"end\">y, m</text>\n</g>\n",
            view_.plot_width, view_.plot_height + 40);
    }

    /// A layer with fewer points has larger dots, so rare layers stand out.
    double dot_pixels(const DrawnLayer& drawn) const {
        double num_dots = 0;
        for (const DrawnLayer& other : layers_)
            if (other.as_dots) num_dots += static_cast<double>(other.num_points);
        const double pixels = std::sqrt(view_.plot_width * view_.plot_height / num_dots) * 0.42;
        const double rarity = std::pow(num_dots / static_cast<double>(drawn.num_points), 0.125);
        return std::clamp(pixels, 2.2, 5.0) * std::clamp(rarity, 1.0, 2.0);
    }

    /// Makes the cells of all layers that have too many points for dots, and returns their size in bytes. A count has
    /// the same shade in all layers.
    std::size_t shade_layers() {
        std::vector<DensityGrid> grids;
        std::uint32_t most = 0;
        for (const DrawnLayer& drawn : layers_) {
            if (drawn.as_dots) continue;
            grids.emplace_back(drawn.layer->points, view_, cell_pixels_);
            most = std::max(most, grids.back().most());
        }
        std::size_t num_bytes = 0, grid = 0;
        for (DrawnLayer& drawn : layers_) {
            if (drawn.as_dots) continue;
            drawn.shades = grids[grid++].paths(most);
            for (const std::string& path : drawn.shades) num_bytes += path.size();
        }
        return num_bytes;
    }

    /// Draws links below all points.
    void draw_links() {
        const std::string path = links_path(links_, view_, options_.max_links);
        if (!path.empty()) put("<path class=\"links\" transform=\"scale(.1)\" d=\"{}\"/>\n", path);
    }

    void draw_layer(const DrawnLayer& drawn) {
        put("<g stroke=\"{}\">", drawn.color);
        if (drawn.as_dots && drawn.num_points > 0)
            put("<path class=\"dots\" transform=\"scale(.1)\" stroke-width=\"{:.0f}\" stroke-opacity=\".8\" d=\"{}\"/>",
                dot_pixels(drawn) * 10, dots_path(drawn.layer->points, view_));
        for (std::size_t shade = 0; shade < drawn.shades.size(); ++shade)
            if (!drawn.shades[shade].empty())
                put("<path class=\"cells\" transform=\"scale({:.3f}) translate(0 .5)\" stroke-opacity=\"{:.2f}\" "
                    "d=\"{}\"/>",
                    cell_pixels_, 0.2 + 0.8 * static_cast<double>(shade) / (kNumShades - 1), drawn.shades[shade]);
        put("</g>\n");
    }

    void cells_and_dots() {
        while (shade_layers() > kMaxDensityBytes && cell_pixels_ < kCoarsestCell) cell_pixels_ *= 1.5;
        put("<g transform=\"translate({} {})\"><g clip-path=\"url(#places-plot)\">\n", PictureView::kPlotX,
            PictureView::kPlotY);
        draw_links();
        for (std::size_t i = layers_.size(); i-- > 0;) draw_layer(layers_[i]);
        put("</g></g>\n");
    }

    void frame() {
        put("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", PictureView::kPlotX,
            PictureView::kPlotY, view_.plot_width, view_.plot_height);
        if (num_points_ == 0)
            put("<text class=\"sub\" text-anchor=\"middle\" x=\"{:.0f}\" y=\"{:.0f}\">no entity has a "
                "position</text>\n",
                PictureView::kPlotX + view_.plot_width / 2, PictureView::kPlotY + view_.plot_height / 2);
    }

    void legend() {
        const double x = PictureView::kPlotX + view_.plot_width + 28;
        const std::size_t most = std::min(kMaxLegendEntries, static_cast<std::size_t>((view_.plot_height - 90) / 44));
        double y = PictureView::kPlotY + 14;
        for (std::size_t i = layers_.size(); i-- > 0;) {
            if (layers_.size() - i > most) {
                put("<text class=\"count\" x=\"{:.0f}\" y=\"{:.0f}\">and {} more</text>\n", x, y, i + 1);
                break;
            }
            const DrawnLayer& drawn = layers_[i];
            put("<circle cx=\"{:.0f}\" cy=\"{:.0f}\" r=\"6\" fill=\"{}\"/><text class=\"name\" x=\"{:.0f}\" "
                "y=\"{:.0f}\">{}</text>"
                "<text class=\"count\" x=\"{:.0f}\" y=\"{:.0f}\">{}{}</text>\n",
                x, y - 5, drawn.color, x + 16, y, xml_text(drawn.layer->name, 24), x + 16, y + 18,
                count_text(drawn.num_points), drawn.as_dots ? "" : ", as density");
            y += 44;
        }
        if (num_skipped_ > 0)
            put("<text class=\"count\" x=\"{:.0f}\" y=\"{:.0f}\">{} not finite, left out</text>\n", x, y,
                count_text(num_skipped_));
    }

    void scale_bar() {
        const double metres = nice_length(view_.metres_per_pixel * 180), pixels = metres / view_.metres_per_pixel;
        const double x = PictureView::kPlotX + view_.plot_width + 28, y = PictureView::kPlotY + view_.plot_height - 10;
        const std::string label =
            metres >= 1000 ? tick_text(metres / 1000, metres / 1000) + " km" : tick_text(metres, metres) + " m";
        put("<path d=\"M{0:.1f} {1:.1f}v8h{2:.1f}v-8\" class=\"bar\"/>"
            "<text class=\"tick\" text-anchor=\"middle\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
            x, y, pixels, x + pixels / 2, y - 2, label);
    }

    const PictureOptions& options_;
    std::span<const PictureLink> links_;
    PictureView view_;
    std::string svg_;
    std::vector<DrawnLayer> layers_;  // rarest first
    double cell_pixels_ = kFinestCell;
    std::uint64_t num_points_ = 0;
    std::uint64_t num_skipped_ = 0;
};

}  // namespace

Picture draw_picture(std::span<const PictureLayer> layers, const PictureOptions& options,
                     std::span<const PictureLink> links) {
    return PictureWriter(layers, options, links).draw();
}

}  // namespace shoal

#include "png.h"

#if SHOAL_TOOL_HAS_PNG

#include "shoal/base/text.h"

#include <librsvg/rsvg.h>

#include <algorithm>
#include <memory>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr double kScale = 2, kLongestSide = 8192;  // pixels per unit; maximum pixels per side

template <auto kDestroy>
struct Destroy {
    void operator()(auto* object) const { kDestroy(object); }
};
using SvgSource = std::unique_ptr<RsvgHandle, Destroy<g_object_unref>>;
using Surface = std::unique_ptr<cairo_surface_t, Destroy<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Destroy<cairo_destroy>>;

cairo_status_t append(void* text, const unsigned char* bytes, unsigned int count) {
    static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
}

Status error_of(GError* error) {
    const Status status = Status::error(error == nullptr ? "librsvg does not say why" : error->message);
    if (error != nullptr) g_error_free(error);
    return status;
}

}  // namespace

Result<std::string> png_of_svg(std::string_view svg) {
    GError* error = nullptr;
    const SvgSource source(
        rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), static_cast<gsize>(svg.size()), &error));
    if (!source) return error_of(error);
    gdouble width = 0, height = 0;
    if (!rsvg_handle_get_intrinsic_size_in_pixels(source.get(), &width, &height))
        return Status::error("the picture has no size");
    const double scale = std::min(kScale, kLongestSide / std::max(width, height));
    const RsvgRectangle page{0, 0, width * scale, height * scale};
    const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(page.width + 0.5),
                                                     static_cast<int>(page.height + 0.5)));
    const Context context(cairo_create(surface.get()));
    if (!rsvg_handle_render_document(source.get(), context.get(), &page, &error)) return error_of(error);
    std::string png;
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
    if (status != CAIRO_STATUS_SUCCESS) return Status::error(cairo_status_to_string(status));
    return png;
}

}  // namespace shoal_tool

#else

namespace shoal_tool {

shoal::Result<std::string> png_of_svg(std::string_view) {
    return shoal::Status::error("this tool was built without librsvg");
}

}  // namespace shoal_tool

#endif

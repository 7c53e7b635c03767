#pragma once
// Renders SVG with librsvg, if the tool was built with it.

#include "shoal/base/status.h"

#include <string>
#include <string_view>

namespace shoal_tool {

#if SHOAL_TOOL_HAS_PNG
inline constexpr bool kHasPng = true;
#else
inline constexpr bool kHasPng = false;
#endif

/// Returns a PNG file with two pixels per unit of the picture, or fewer if a side would be longer than 8,192 pixels.
/// Errors: out of memory; the tool was built without the library.
shoal::Result<std::string> png_of_svg(std::string_view svg);

}  // namespace shoal_tool

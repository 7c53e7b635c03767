#pragma once
// The layout of the sea's pictures. Units: pixels. Inside the plot, one unit is a tenth of a pixel, so that coordinates
// are integers.

#include "tiles.h"

#include <cmath>

namespace reef {

inline constexpr float kPlotSize = 1400, kLeft = 40, kTop = 110, kPageWidth = 1720, kPageHeight = 1560;
inline constexpr float kUnitsPerMetre = kPlotSize / kSeaSize * 10;

inline int units(float metres) { return static_cast<int>(std::lround(metres * kUnitsPerMetre)); }
inline int across(Vec3 place) { return units(place.x + kShore); }
inline int down(Vec3 place) { return units(kShore - place.y); }

}  // namespace reef

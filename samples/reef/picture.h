#pragma once
// Draws the sea from above as an SVG: reefs with their corals, blooms, every fish as a stroke in the direction in
// which it swims, and sharks with their remoras.
// Thread: a const call.

#include "sea.h"

namespace reef {

struct Picture {
    std::string svg;
    std::uint64_t num_strokes = 0;  ///< fish that were drawn
};

/// Draws at most `most_strokes` fish; if there are more, only every second, third ...
Picture draw(const Sea& sea, std::uint64_t most_strokes = 200'000);

}  // namespace reef

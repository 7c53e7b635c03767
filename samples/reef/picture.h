#pragma once
// Draws the sea from above as an SVG: reefs with corals, blooms, fish, and sharks with remoras. Each fish is a stroke
// in its direction of motion.
// Thread: as for const calls to the world.

#include "sea.h"

namespace reef {

struct Picture {
    std::string svg;
    std::uint64_t num_strokes = 0;  ///< number of fish drawn
};

/// Draws at most `most_strokes` fish. If there are more, draws only every nth fish.
Picture draw(const Sea& sea, std::uint64_t most_strokes = 200'000);

}  // namespace reef

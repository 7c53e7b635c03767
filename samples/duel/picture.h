#pragma once
// Draws the worlds of both peers side by side as an SVG. Each ship is a stroke in its direction of motion, and each
// shot is a dot. The state hash is below each world.
// Thread: as for const calls to the worlds.

#include "arena.h"

#include <string>

namespace duel {

struct Picture {
    std::string svg;
    std::uint64_t num_strokes = 0;  ///< ships drawn, in both worlds together
};

/// Draws at most `most_strokes` ships per world. If there are more, draws only every nth ship.
Picture draw(const Arena& left, const Arena& right, std::uint64_t most_strokes = 20'000);

}  // namespace duel

#pragma once
// Draws the worlds of both peers side by side as an SVG: each ship as a stroke in its direction of motion, each shot as
// a dot, and the state hash below.
// Thread: as for const calls of the worlds.

#include "arena.h"

#include <string>

namespace duel {

struct Picture {
    std::string svg;
    std::uint64_t num_strokes = 0;  ///< ships drawn in both worlds
};

/// Draws at most `most_strokes` ships per world. If there are more, draws only every second, third ...
Picture draw(const Arena& left, const Arena& right, std::uint64_t most_strokes = 20'000);

}  // namespace duel

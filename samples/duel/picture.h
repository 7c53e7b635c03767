#pragma once
// Draws the worlds of both peers side by side as an SVG: every ship as a stroke in the direction in which it
// sails, every shot as a dot, and the state hash below.
// Thread: a const call.

#include "arena.h"

#include <string>

namespace duel {

struct Picture {
    std::string svg;
    std::uint64_t num_strokes = 0;  ///< ships that were drawn, in both worlds
};

/// Draws at most `most_strokes` ships of a world; if there are more, only every second, third ...
Picture draw(const Arena& left, const Arena& right, std::uint64_t most_strokes = 20'000);

}  // namespace duel

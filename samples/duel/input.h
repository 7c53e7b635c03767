#pragma once
// A player's input in a frame, and scripted players that play in place of people.
// Thread: as for built-in types.

#include <array>
#include <cstdint>

namespace duel {

/// An input. An absent player has the default input.
struct Input {
    std::int8_t x = 0, y = 0;  ///< where the fleet gathers. Units: 2 m, relative to the middle of the arena
    std::uint8_t buttons = 0;  ///< bits: kFire, kScatter

    friend bool operator==(const Input&, const Input&) = default;
};
inline constexpr std::uint8_t kFire = 1, kScatter = 2, kAllButtons = kFire | kScatter;

/// One input per fleet.
using FleetInputs = std::array<Input, 2>;

/// Returns the input of a scripted player in a frame. The player picks a new position three times a second, and
/// releases the trigger now and then.
Input scripted_input(std::uint64_t seed, std::uint32_t side, std::uint64_t frame);

}  // namespace duel

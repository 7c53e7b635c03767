#pragma once
// A player's input in a frame, and scripted players that replace people.
// Thread: any; values.

#include <array>
#include <cstdint>

namespace duel {

/// The default is the input of an absent player.
struct Input {
    std::int8_t x = 0, y = 0;  ///< where the fleet gathers. Units: 2 m, from the middle of the arena
    std::uint8_t buttons = 0;  ///< kFire, kScatter

    friend bool operator==(const Input&, const Input&) = default;
};
inline constexpr std::uint8_t kFire = 1, kScatter = 2, kAllButtons = kFire | kScatter;

/// One input for each fleet.
using FleetInputs = std::array<Input, 2>;

/// Returns the input of a scripted player in a frame: it picks another position every third of a second, and releases
/// the trigger now and then.
Input scripted_input(std::uint64_t seed, std::uint32_t side, std::uint64_t frame);

}  // namespace duel

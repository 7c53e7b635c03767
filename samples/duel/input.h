#pragma once
// What a player does in a frame, and the scripted players that stand in for people.
// Thread: any; values.

#include <array>
#include <cstdint>

namespace duel {

/// The default is the input of a player who is not there.
struct Input {
    std::int8_t x = 0, y = 0;  ///< where the fleet gathers. Units: 2 m, from the middle of the arena
    std::uint8_t buttons = 0;  ///< kFire, kScatter

    friend bool operator==(const Input&, const Input&) = default;
};
inline constexpr std::uint8_t kFire = 1, kScatter = 2, kAllButtons = kFire | kScatter;

/// An input for each fleet.
using FleetInputs = std::array<Input, 2>;

/// Returns what a scripted player does in a frame: it picks another place every third of a second, and lets go of the trigger
/// now and then.
Input scripted_input(std::uint64_t seed, std::uint32_t side, std::uint64_t frame);

}  // namespace duel

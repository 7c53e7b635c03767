#include "input.h"

#include <shoal/base/random.h>

namespace duel {

Input scripted_input(std::uint64_t seed, std::uint32_t side, std::uint64_t frame) {
    constexpr std::uint64_t kFramesPerPlace = 20, kFramesPerTrigger = 12;
    constexpr std::int32_t kFarthest = 70;
    shoal::Random place(seed ^ (frame / kFramesPerPlace * 2 + side) << 20);
    shoal::Random trigger(~seed ^ (frame / kFramesPerTrigger * 2 + side) << 20);
    const auto coordinate = [&] {
        return static_cast<std::int8_t>(static_cast<std::int32_t>(place.below(2 * kFarthest + 1)) - kFarthest);
    };
    Input input{.x = coordinate(), .y = coordinate()};
    if (trigger.below(5) != 0) input.buttons |= kFire;
    if (place.below(4) == 0) input.buttons |= kScatter;
    return input;
}

}  // namespace duel

#pragma once
// The generations that an index goes through: from 1 to the largest, and then from 1 again.

#include "shoal/entity/entity.h"

namespace shoal {

inline constexpr Generation kFirstGeneration = 1;
inline constexpr auto kLastGeneration = static_cast<Generation>(kGenerationMask);

constexpr Entity next_life(Entity entity) {
    const Generation generation = entity.generation();
    return make_entity(entity.index(), generation == kLastGeneration ? kFirstGeneration : Generation(generation + 1));
}

constexpr Entity previous_life(Entity entity) {
    const Generation generation = entity.generation();
    return make_entity(entity.index(), generation == kFirstGeneration ? kLastGeneration : Generation(generation - 1));
}

}  // namespace shoal

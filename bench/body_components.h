#pragma once
// The fields of a Body as separate component types.

#include "shoal/table/describe.h"

namespace shoal_bench {

struct Position {
    shoal::Vec3 value;
};
struct Velocity {
    shoal::Vec3 value;
};
struct Mass {
    float value = 0;
};
SHOAL_COMPONENT(Position, value)
SHOAL_COMPONENT(Velocity, value)
SHOAL_COMPONENT(Mass, value)

}  // namespace shoal_bench

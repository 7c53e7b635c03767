#pragma once
// Component types of which several manuals speak.

#include "shoal/table/describe.h"

namespace shoal_test {

struct Position {
    shoal::Vec3 value{};
};
SHOAL_COMPONENT(Position, value)
struct Velocity {
    shoal::Vec3 value{};
};
SHOAL_COMPONENT(Velocity, value)

}  // namespace shoal_test

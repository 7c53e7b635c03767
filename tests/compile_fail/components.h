#pragma once
// What the mistakes are made with.

#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
    int hidden = 0;
};
SHOAL_COMPONENT(Body, mass, (position, split), (hidden, ignored))
struct Sail {
    float area = 0;
};
SHOAL_COMPONENT(Sail, area)
/// Not declared.
struct Bare {
    float x = 0;
};

// expected: only a toggled component can be there and be off
#include "shoal/table/describe.h"

using namespace shoal;

struct Body {
    float mass = 1;
};
SHOAL_COMPONENT(Body, mass)

const auto kOff = Off{Body{}};

// expected: only an enableable component can be disabled
#include "shoal/table/describe.h"

using namespace shoal;

struct Body {
    float mass = 1;
};
SHOAL_COMPONENT(Body, mass)

const auto kDisabled = Disabled{Body{}};

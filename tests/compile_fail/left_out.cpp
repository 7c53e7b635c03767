// expected: SHOAL_COMPONENT leaves out a member of the struct (list it, or write (member, ignored) if that is meant)
#include "shoal/table/describe.h"

struct Lamp {
    float light = 1;
    bool lit = true;
    bool broken = false;  // in the padding behind `lit`: sizes tell nothing
};
SHOAL_COMPONENT(Lamp, light, lit)

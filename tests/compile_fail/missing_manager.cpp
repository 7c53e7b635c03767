// expected: the manager of a component is missing
#include "components.h"

void use(Manager<Body>& bodies) {
    query<Read<&Body::mass>, Maybe<&Sail::area>>(bodies).for_each([](float, const float*) {});
}

// expected: the manager of a component is missing
#include "components.h"

void use(Manager<Body>& bodies) {
    query<Read<&Body::mass>, With<Sail>>(bodies).for_each([](float) {});
}

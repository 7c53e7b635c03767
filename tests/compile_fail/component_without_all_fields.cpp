// expected: template parameter
#include "components.h"

void use(Manager<Body>& bodies) {
    query<Read<Body>>(bodies).for_each([](const Body&) {});
}

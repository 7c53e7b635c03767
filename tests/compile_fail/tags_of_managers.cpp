// expected: tags are those of a world
#include "components.h"

void use(Manager<Body>& bodies) {
    query<Read<&Body::mass>>(bodies).tagged("enemy").for_each([](float) {});
}

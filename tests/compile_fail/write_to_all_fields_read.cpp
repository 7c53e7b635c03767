// expected: the function takes one argument per field
#include "components.h"

void use(Manager<Body>& bodies) {
    query<Read<all_fields<Body>>>(bodies).for_each([](Body& body) { body.mass = 2; });
}

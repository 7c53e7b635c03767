// expected: a query names each field once
#include "components.h"

void use(Manager<Body>& bodies) {
    query<Read<all_fields<Body>>, Write<&Body::mass>>(bodies).for_each([](const Body&, float&) {});
}

// expected: zones are a database's
#include "components.h"
#include "shoal/database/database.h"

void use(Manager<Body>& bodies) {
    query<Write<&Body::mass>>(bodies).in({1}).for_each([](float&) {});
}

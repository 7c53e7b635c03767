// expected: it says whose rows to visit
#include "components.h"
#include "shoal/database/database.h"

void use(Manager<Body>& bodies, Manager<Sail>& sails) {
    query<Maybe<&Sail::area>>(bodies, sails).for_each([](const float*) {});
}

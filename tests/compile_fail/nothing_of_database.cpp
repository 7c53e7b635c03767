// expected: no term is about the database
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database, Manager<Body>& bodies, Manager<Sail>& sails) {
    query<Write<&Body::mass>, Read<&Sail::area>>(database, bodies, sails).for_each([](float&, float) {});
}

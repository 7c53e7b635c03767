// expected: a query joins one database with managers
#include "components.h"
#include "shoal/database/database.h"

void use(Database& near, Database& far, Manager<Sail>& sails) {
    query<Read<&Body::mass>, Read<&Sail::area>>(near, far, sails).for_each([](float, float) {});
}

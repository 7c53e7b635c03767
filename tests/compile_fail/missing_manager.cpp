// expected: the manager of a component is missing
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Body::mass>, Maybe<&Sail::area>>(database).for_each([](float, const float*) {});
}

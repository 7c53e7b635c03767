// expected: a pointer to const for Maybe
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Body::mass>, Maybe<&Sail::area>>(database).for_each([](float, float) {});
}

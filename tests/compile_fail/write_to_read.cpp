// expected: the function takes one argument per field: a value for Read
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Body::mass>>(database).for_each([](float& mass) { mass = 1; });
}

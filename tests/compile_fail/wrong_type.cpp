// expected: the function takes one argument per field
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Body::position>>(database).for_each([](const float* position) { (void)position; });
}

// expected: the function takes one argument per field
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Write<&Body::mass>>(database).for_each([](float&, float) {});
}

// expected: a query names each field once
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Write<&Body::mass>, Read<&Body::mass>>(database).for_each([](float&, float) {});
}

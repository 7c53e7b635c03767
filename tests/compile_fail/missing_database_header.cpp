// expected: include shoal/database/database.h
#include "components.h"

void use(Database& database) {
    query<Write<&Body::mass>>(database).for_each([](float&) {});
}

// expected: nothing
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Write<&Body::position>>(database).for_each([](auto&& p) { p += Vec3{1, 1, 1}; });
}

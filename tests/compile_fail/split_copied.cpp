// expected: for Write
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Write<&Body::position>>(database).for_each([](auto position) { position += Vec3{1, 1, 1}; });
}

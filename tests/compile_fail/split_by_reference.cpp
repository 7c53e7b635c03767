// expected: for Write
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Write<&Body::position>>(database).for_each([](Vec3& position) { position.x = 1; });
}

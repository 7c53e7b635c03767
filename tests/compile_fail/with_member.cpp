// expected: a type
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Body::position>, With<&Body::mass>>(database).for_each([](Vec3) {});
}

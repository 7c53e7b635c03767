// expected: write SHOAL_COMPONENT(Name, fields...)
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Body::mass>, With<Bare>>(database).for_each([](float) {});
}

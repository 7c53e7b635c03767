// expected: write SHOAL_COMPONENT(Name, fields...)
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Bare::x>>(database).for_each([](float) {});
}

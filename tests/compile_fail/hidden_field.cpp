// expected: the member is not among the fields of its SHOAL_COMPONENT declaration
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Read<&Body::hidden>>(database).for_each([](int) {});
}

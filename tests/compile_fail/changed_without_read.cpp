// expected: add a Read or Maybe
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Write<&Body::mass>>(database).changed_since(1).for_each([](float&) {});
}

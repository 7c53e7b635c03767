// expected: write SHOAL_COMPONENT(Name, fields...)
#include "shoal/database/database.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Bare {
    float x = 0;
};

void use(Database& database) {
    query<Read<&Bare::x>>(database).for_each([](float) {});
}

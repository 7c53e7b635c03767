// expected: the member is not among the fields of its SHOAL_COMPONENT declaration
#include "shoal/database/database.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
    int hidden = 0;
};
SHOAL_COMPONENT(Body, mass, (position, split))

void use(Database& database) {
    query<Read<&Body::hidden>>(database).for_each([](int) {});
}

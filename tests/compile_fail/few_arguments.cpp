// expected: the function takes one argument per field
#include "shoal/database/database.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Body, mass, (position, split))

void use(Database& database) {
    query<Write<&Body::mass>, Read<&Body::position>>(database).for_each([](float&) {});
}

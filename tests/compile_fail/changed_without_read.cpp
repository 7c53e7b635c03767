// expected: add a Read or Maybe
#include "shoal/database/database.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Body, mass, (position, split))

void use(Database& database) {
    query<Write<&Body::mass>>(database).changed_since(1).for_each([](float&) {});
}

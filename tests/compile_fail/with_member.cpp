// expected: a type
#include "shoal/database/database.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Body, mass, (position, split))

void use(Database& database) {
    query<Read<&Body::position>, With<&Body::mass>>(database).for_each([](Vec3) {});
}

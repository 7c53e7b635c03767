// expected: no term is about the database
#include "shoal/database/database.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Body, mass, (position, split))
struct Sail {
    float area = 0;
};
SHOAL_COMPONENT(Sail, area)

void use(Database& database, Manager<Body>& bodies, Manager<Sail>& sails) {
    query<Write<&Body::mass>, Read<&Sail::area>>(database, bodies, sails).for_each([](float&, float) {});
}

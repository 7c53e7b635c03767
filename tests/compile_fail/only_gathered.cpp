// expected: it says whose rows to visit
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

void use(Manager<Body>& bodies, Manager<Sail>& sails) {
    query<Gather<&Sail::area>>(bodies, sails).for_each([](const float*) {});
}

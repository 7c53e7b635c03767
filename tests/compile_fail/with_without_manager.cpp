// expected: the manager of a component is missing
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

void use(Manager<Body>& bodies) {
    query<Read<&Body::mass>, With<Sail>>(bodies).for_each([](float) {});
}

// expected: nothing
#include "components.h"

void use(Manager<Body>& bodies, Manager<Sail>& sails) {
    query<Write<&Body::position>, Read<&Sail::area>>(bodies, sails).for_each([](auto&& p, float area) {
        p += Vec3{area, 0, 0};
    });
}

// expected: a query cannot write a component that it reads of parents
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    query<Write<&Body::mass>, Parent<Read<&Body::mass>>>(world).for_each([](float&, const float*) {});
}

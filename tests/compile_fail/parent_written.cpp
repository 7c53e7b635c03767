// expected: a query cannot write a component that it reads of parents
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.query<Write<&Body::mass>, Parent<Read<&Body::mass>>>().for_each([](float&, const float*) {});
}

// expected: the component of a Singleton<> is not declared singleton
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.query<Write<&Body::mass>, Singleton<Read<&Sail::area>>>().for_each([](float&, float) {});
}

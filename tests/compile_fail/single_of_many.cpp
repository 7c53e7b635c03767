// expected: the component of a Single<> is not declared single
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.query<Write<&Body::mass>, Single<Read<&Sail::area>>>().for_each([](float&, float) {});
}

// expected: a query is sorted by a field that it names
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.query<Read<&Body::position>>().sorted_by<&Body::mass>().for_each([](Vec3) {});
}

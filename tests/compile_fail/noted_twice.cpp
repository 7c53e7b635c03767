// expected: a query asks once for what was Added
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.query<Added<Body>, Removed<Sail>>().for_each([](const Sail&) {});
}

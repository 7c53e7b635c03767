// expected: a component is not declared
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.schedule().add("grow", world.query<Write<&Bare::x>>(), [](auto&& x) { x += 1; });
}

// expected: a pointer to const for Maybe
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.schedule().add("grow", world.query<Write<&Body::mass>, Maybe<&Sail::area>>(),
                         [](auto&& mass, float area) { mass += area; });
}

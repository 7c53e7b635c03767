// expected: a term says what is done with a component
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.schedule().add("grow", world.query<Body>(), [](auto&& body) { body.mass += 1; });
}

// expected: the function takes one argument per field
#include "components.h"
#include "shoal/world/world.h"

void use(World& world) {
    world.schedule().add("grow", world.query<Write<&Body::mass>>(), [](float& mass, float more) { mass += more; });
}

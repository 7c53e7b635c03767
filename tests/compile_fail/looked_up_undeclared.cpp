// expected: the component is not declared
#include "components.h"
#include "shoal/world/world.h"

void use(World& world, Entity entity) { (void)world.set<&Bare::x>(entity, 1); }

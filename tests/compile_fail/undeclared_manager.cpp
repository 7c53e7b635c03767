// expected: the component is not declared
#include "shoal/store/manager.h"

#include "components.h"
#include "shoal/world/world.h"

void use(World& world, Entity entity) { static_cast<void>(world.manager<Bare>().has(entity)); }

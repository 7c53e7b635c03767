// expected: the store of a component computes it, so its fields are not set
#include "components.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

void use(World& world, Entity entity) { (void)world.set<&WorldPose::matrix>(entity, {}); }

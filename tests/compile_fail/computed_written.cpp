// expected: the store of a component computes it, so a query does not write it
#include "components.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

void use(World& world) { (void)world.query<Write<&WorldPose::matrix>>(); }

// expected: the member is not among the fields of its SHOAL_COMPONENT declaration
#include "components.h"
#include "shoal/world/world.h"

void use(const World& world, Entity entity) { (void)world.get<&Body::hidden>(entity); }

// expected: the member is not among the fields of its SHOAL_COMPONENT declaration
#include "components.h"
#include "shoal/command/commands.h"

void use(Commands& commands, Entity entity) { commands.set<&Body::hidden>(entity, 1); }

// expected: a command sets one field
#include "components.h"
#include "shoal/command/commands.h"

void use(Commands& commands, Entity entity) { commands.set<all_fields<Body>>(entity, {}); }

// expected: a component is not declared
#include "shoal/database/database.h"

#include "shoal/command/commands.h"

#include "components.h"

void use(Commands& commands) { static_cast<void>(commands.create(Bare{})); }

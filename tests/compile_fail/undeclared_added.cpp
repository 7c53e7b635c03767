// expected: a component is not declared
#include "shoal/database/database.h"

#include "components.h"

void use(Database& database, Entity entity) { static_cast<void>(database.add(entity, Bare{})); }

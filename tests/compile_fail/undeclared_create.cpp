// expected: a component is not declared
#include "shoal/database/database.h"

#include "components.h"

void use(Database& database, std::span<Entity> out) { static_cast<void>(database.create(out, 0, Body{}, Bare{})); }

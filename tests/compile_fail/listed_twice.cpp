// expected: a Has<...> names one twice
#include "components.h"
#include "shoal/query/typed_database.h"

void use(Database& database) { TypedDatabase<Archetypes<Has<Body, Body>>> sea(database); }

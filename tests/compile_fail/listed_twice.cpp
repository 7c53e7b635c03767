// expected: a Has<...> names one twice
#include "shoal/query/typed_database.h"

using namespace shoal;

struct Body {
    float mass = 1;
};
SHOAL_COMPONENT(Body, mass)

void use(Database& database) { TypedDatabase<Archetypes<Has<Body, Body>>> sea(database); }

// expected: no listed archetype has this component
#include "shoal/query/typed_database.h"

using namespace shoal;

struct Body {
    float mass = 1;
};
SHOAL_COMPONENT(Body, mass)
struct Food {
    float value = 0;
};
SHOAL_COMPONENT(Food, value)

float use(TypedDatabase<Archetypes<Has<Body>>>& sea, Entity entity) { return sea.get<&Food::value>(sea.find(entity)); }

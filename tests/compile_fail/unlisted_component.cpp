// expected: no listed entity type has this component
#include "shoal/store/typed_database.h"

using namespace shoal;

struct Body {
    float mass = 1;
};
SHOAL_COMPONENT(Body, mass)
struct Food {
    float value = 0;
};
SHOAL_COMPONENT(Food, value)

float use(TypedDatabase<EntityTypes<Has<Body>>>& sea, Entity entity) { return sea.get<&Food::value>(sea.find(entity)); }

// expected: no listed archetype matches this query
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

void use(TypedDatabase<Archetypes<Has<Body>, Has<Food>>>& sea) {
    sea.query<Write<&Body::mass>, Read<&Food::value>>().for_each([](float& mass, float food) { mass += food; });
}

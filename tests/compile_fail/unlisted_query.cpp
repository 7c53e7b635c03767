// expected: no listed archetype matches this query
#include "components.h"
#include "shoal/query/typed_database.h"

void use(TypedDatabase<Archetypes<Has<Body>, Has<Sail>>>& sea) {
    sea.query<Write<&Body::mass>, Read<&Sail::area>>().for_each([](float& mass, float food) { mass += food; });
}

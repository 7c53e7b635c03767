// expected: no listed archetype has this component
#include "components.h"
#include "shoal/query/typed_database.h"

float use(TypedDatabase<Archetypes<Has<Body>>>& sea, Entity entity) { return sea.get<&Sail::area>(sea.find(entity)); }

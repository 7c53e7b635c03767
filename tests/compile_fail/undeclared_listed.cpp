// expected: a component is not declared
#include "shoal/database/database.h"
#include "shoal/query/typed_database.h"

#include "components.h"

void use(TypedDatabase<Archetypes<Has<Body>>>& sea, std::span<Entity> out) { static_cast<void>(sea.create<Bare>(out)); }

// expected: no listed archetype has just these components
#include "components.h"
#include "shoal/query/typed_database.h"

void use(TypedDatabase<Archetypes<Has<Body>>>& sea, std::span<Entity> out) {
    static_cast<void>(sea.create<Body, Sail>(out, 0));
}

// expected: no listed archetype has just these components
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

void use(TypedDatabase<Archetypes<Has<Body>>>& sea, std::span<Entity> out) {
    static_cast<void>(sea.create<Body, Food>(out, 0));
}

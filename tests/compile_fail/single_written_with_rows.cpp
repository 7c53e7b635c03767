// expected: a query over rows cannot write a single, because its loops run on several threads
#include "components.h"
#include "shoal/world/world.h"

struct Wind {
    float force = 0;
};
SHOAL_COMPONENT((Wind, single), force)

void use(World& world) {
    world.query<Write<&Body::mass>, Single<Write<&Wind::force>>>().for_each([](float&, float&) {});
}

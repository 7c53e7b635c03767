// expected: a query over rows cannot write a singleton: its loops run on several threads
#include "components.h"
#include "shoal/world/world.h"

struct Wind {
    float force = 0;
};
SHOAL_COMPONENT((Wind, singleton), force)

void use(World& world) {
    world.query<Write<&Body::mass>, Singleton<Write<&Wind::force>>>().for_each([](float&, float&) {});
}

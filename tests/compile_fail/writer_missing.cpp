// expected: EventWriter<T>& for each channel of writing()
#include "components.h"
#include "shoal/world/world.h"

void use(World& world, Database& database) {
    world.schedule().add("fall", query<Read<&Body::position>>(database).writing(world.events<int>()), [](Vec3) {});
}

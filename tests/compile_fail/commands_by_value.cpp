// expected: optionally Commands& and an Entity before them
#include "shoal/command/commands.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Body, mass, (position, split))

void use(Database& database) {
    query<Read<&Body::mass>>(database).for_each([](Commands commands, Entity self, float) { commands.destroy(self); });
}

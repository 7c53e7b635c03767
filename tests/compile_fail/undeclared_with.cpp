// expected: write SHOAL_COMPONENT(Name, fields...)
#include "shoal/database/database.h"
#include "shoal/query/query.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Body, mass, (position, split))
struct Bare {
    float x = 0;
};

void use(Database& database) {
    query<Read<&Body::mass>, With<Bare>>(database).for_each([](float) {});
}

// expected: and a const PassContext& before all of these
#include "shoal/world/schedule.h"

using namespace shoal;

struct Body {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Body, mass, (position, split))

void use(Schedule& schedule, Database& database) {
    schedule.add("fall", query<Write<&Body::position>>(database),
                 [](PassContext& frame, auto&& p) { p += Vec3{0, 0, -frame.dt}; });
}

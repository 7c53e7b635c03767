// expected: and a const PassContext& before all of these
#include "components.h"
#include "shoal/world/schedule.h"

void use(Schedule& schedule, Database& database) {
    schedule.add("fall", query<Write<&Body::position>>(database),
                 [](PassContext& frame, auto&& p) { p += Vec3{0, 0, -frame.dt}; });
}

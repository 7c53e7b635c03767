// expected: a pass without a query takes a PassContext&
#include "shoal/world/schedule.h"

void use(shoal::Schedule& schedule) {
    schedule.add("fall", [](const shoal::PassContext&, float) {});
}

// expected: a manager has no bit per row
#include "shoal/store/manager.h"

using namespace shoal;

struct Moored {
    int since = 0;
};
SHOAL_COMPONENT((Moored, enableable), since)

void use(Manager<Moored>& boats, Entity boat) { static_cast<void>(boats.add(boat, Disabled{Moored{}})); }

// expected: a field whose type only C++ knows is not set here
#include "components.h"
#include "shoal/world/world.h"

struct Lock {
    Lock() = default;
    Lock(const Lock&) {}
};
struct Gun {
    Lock lock;
};
SHOAL_COMPONENT(Gun, lock)

void use(World& world, Entity entity) { (void)world.set<&Gun::lock>(entity, {}); }

// expected: an entity may have several of the component
#include "components.h"
#include "shoal/database/database.h"

struct Flag {
    int colour = 0;
};
SHOAL_COMPONENT((Flag, many), colour)
struct Lamp {
    int colour = 0;
};
SHOAL_COMPONENT((Lamp, many), colour)

void use(Database& database) {
    query<Read<&Lamp::colour>, Read<&Flag::colour>>(database).for_each([](int, int) {});
}

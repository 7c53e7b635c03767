// expected: optionally Commands& and an Entity before them
#include "components.h"
#include "shoal/command/commands.h"

void use(Database& database) {
    query<Read<&Body::mass>>(database).for_each([](Commands commands, Entity self, float) { commands.destroy(self); });
}

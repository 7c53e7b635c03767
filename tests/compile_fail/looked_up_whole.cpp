// expected: one field is looked up
#include "components.h"
#include "shoal/query/lookup.h"

void use(ComponentDirectory& directory, Entity entity) { (void)Lookup<all_fields<Body>>(directory).find(entity); }

#include "shoal/entity/entity_text.h"

#include "shoal/base/text.h"

namespace shoal {

std::string entity_text(Entity entity) {
    return entity ? concat(entity.index(), ':', entity.generation()) : std::string("null");
}

}  // namespace shoal

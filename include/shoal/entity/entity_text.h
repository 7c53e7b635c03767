#pragma once
// The text of an entity for messages and reports: its index and its generation, such as `12:3`, or `null`.
// Thread: any.

#include "shoal/entity/entity.h"

#include <string>

namespace shoal {

SHOAL_API std::string entity_text(Entity entity);

}  // namespace shoal

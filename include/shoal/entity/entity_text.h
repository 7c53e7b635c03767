#pragma once
// The text of an entity for messages, reports and values: its index and generation, such as `12:3`, or `null`.
// Thread: any.

#include "shoal/entity/entity.h"

#include <string>
#include <string_view>

namespace shoal {

SHOAL_API std::string entity_text(Entity entity);
/// Reads the text that entity_text() writes, for a living or dead entity. Returns false for any other string.
SHOAL_API bool read_entity(std::string_view text, Entity& entity);

}  // namespace shoal

#pragma once
// Reads ids of entities from a saved state, which may say anything.
// Thread: that of the reader.

#include "shoal/base/saved_state.h"
#include "shoal/entity/entity.h"

namespace shoal {

enum class NullEntities : std::uint8_t { kRefused, kAllowed };

/// Errors: one of `entities` has bits that no entity manager gives out, or is null and that is not allowed. What this
/// program has written is not looked at.
SHOAL_API Status check_entities(StateReader& from, std::string_view name, std::span<const Entity> entities,
                                NullEntities nulls = NullEntities::kRefused);

/// Reads the array `name`. Errors: as above, or those of StateReader::array().
SHOAL_API Status read_entities(StateReader& from, std::string_view name, Array<Entity>& to,
                               NullEntities nulls = NullEntities::kRefused);

}  // namespace shoal

#pragma once
// Reads entity ids from a snapshot that may be corrupt. An id that no entity manager can create is an error.
// Thread: the reader's.

#include "shoal/entity/entity.h"
#include "shoal/state/snapshot.h"

namespace shoal {

/// Checks ids. Errors: one of `entities` is not a valid id, or is null although `may_be_null` is false. Ids in a
/// trusted state are not checked.
SHOAL_API Status check_entities(SnapshotReader& from, std::string_view name, std::span<const Entity> entities,
                                bool may_be_null = false);
/// Reads the array `name`. Errors: as for check_entities() and SnapshotReader::array().
SHOAL_API Status read_entities(SnapshotReader& from, std::string_view name, Array<Entity>& to,
                               bool may_be_null = false);

}  // namespace shoal

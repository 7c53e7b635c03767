#pragma once
// Ids of entities in a snapshot, which may say anything: an error for those that no entity manager gives out.
// Thread: that of the reader.

#include "shoal/entity/entity.h"
#include "shoal/state/snapshot.h"

namespace shoal {

/// Errors: one of `entities` is no id, or null unless `may_be_null`. Those of a trusted state are not looked at.
SHOAL_API Status check_entities(SnapshotReader& from, std::string_view name, std::span<const Entity> entities,
                                bool may_be_null = false);
/// Reads the array `name`. Errors: the same, or those of SnapshotReader::array().
SHOAL_API Status read_entities(SnapshotReader& from, std::string_view name, Array<Entity>& to,
                               bool may_be_null = false);

}  // namespace shoal

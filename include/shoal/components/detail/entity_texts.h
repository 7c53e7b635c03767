#pragma once
// Sets the names and tags of entities in their stores, for commands.
// Thread: the structural thread of the world.

#include "shoal/base/detail/string_table.h"
#include "shoal/store/detail/waiting_commands.h"
#include "shoal/store/store.h"

namespace shoal {

/// Names a living entity, or adds or removes a tag, and interns the string. `component` is DebugName or Tag, and
/// `store` is its store. Errors: a tag is empty, memory runs out, or a different string has the same hash. On error,
/// nothing has changed.
SHOAL_API Status change_text_in(Store& store, const Schema& component, StringTable& texts, TextChange change,
                                Entity entity, std::string_view text);

}  // namespace shoal

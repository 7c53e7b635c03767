#pragma once
// Sets the names and tags of entities for commands, in the stores that keep them.
// Thread: the structural thread of the world.

#include "shoal/base/detail/string_table.h"
#include "shoal/store/detail/waiting_commands.h"
#include "shoal/store/store.h"

namespace shoal {

/// Names a living entity, or adds or removes a tag, and interns the text. `component` is DebugName or Tag, which
/// `store` keeps. Errors: a tag without a text; no memory; another text has the same hash. Nothing has changed.
SHOAL_API Status change_text_in(Store& store, const Schema& component, StringTable& texts, TextChange change,
                                Entity entity, std::string_view text);

}  // namespace shoal

#pragma once
// The names and tags that commands give to entities, in whichever store keeps them.
// Thread: the structural thread of the world.

#include "shoal/base/string_table.h"
#include "shoal/store/store.h"
#include "shoal/store/waiting_commands.h"

namespace shoal {

/// Names a living entity, gives it a tag, or takes one away, and interns the text. `component` is DebugName or Tag, which
/// `store` keeps. Errors: a tag without a text; no memory; another text has the same hash. Nothing has changed.
Status change_text_in(Store& store, const Schema& component, StringTable& texts, TextChange change, Entity entity,
                      std::string_view text);

/// Whether a store can take a single value from an entity that has several: a manager and the database.
bool takes_single_values(Store& store);
/// Removes value number `index`, which lies at `at`, from an entity that may have several of the component type.
/// Errors: no memory; the store takes no single value away. Nothing has changed.
Status remove_one_value(Store& store, const Schema& component, Entity entity, const ComponentRow& at,
                        std::uint32_t index);

}  // namespace shoal

#pragma once
// Converts a snapshot from the fields with which it was saved to the current fields of a world.
//
//     "types" of the state       coral v1 {height float}       the layout of its columns
//     the world or its registry  coral v2 {size double}        the new layout
//
// The steps of resource/migration.h are applied to the columns of a copy of the state, wherever the component type
// occurs: in a manager, in the tables of a database, in the files of its unloaded zones, or in the values of pending
// commands. Then the copy is loaded like a state that was saved with the current fields. The component types in a
// database are also put in the order that they have in the world.
//
// Derived state of converted components, such as the values that observers compare with, is reset.
// Thread: the structural thread of the world.

#include "shoal/base/status.h"

namespace shoal {

class Snapshot;
class WorldState;

/// Writes the converted snapshot to `to`, or nothing if the snapshot already fits the world.
/// Requires: `to` is empty. Errors: no migration leads from the fields of the state to the fields of the world (the
/// message lists both), or the state is damaged.
Status migrate_state(const WorldState& world, const Snapshot& from, bool is_trusted, Snapshot& to);

}  // namespace shoal

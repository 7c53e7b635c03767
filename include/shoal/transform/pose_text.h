#pragma once
// What a transform and a node of a model say in the same words: fields that only text has, and when numbers are a pose.
// Thread: as for the registry.

#include "shoal/resource/registry.h"
#include "shoal/transform/transform.h"

#include <string_view>

namespace shoal {

/// A field of one value that text has and the component has not. Lifetime: that of the name.
Field text_field(std::string_view name, FieldType type);

/// Brings a rotation that was written at `place` to length 1: without a word within 0.1 %, with a warning within 1 %.
/// Errors: beyond that; reported with `where` in front ("component ..., field ...: "), and false is returned.
bool accept_rotation(Diagnostics& diagnostics, SourcePosition place, std::string_view where, Quaternion& rotation);

/// Returns whether a scale can be undone: none of its axes is 0, or so small that it counts as 0.
bool can_be_undone(Vec3 scale);

}  // namespace shoal

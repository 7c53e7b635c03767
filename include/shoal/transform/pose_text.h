#pragma once
// What the text of a transform and of a model's node have in common: fields that only text has, and checks of poses.
// Thread: as for the registry.

#include "shoal/resource/registry.h"
#include "shoal/transform/transform.h"

#include <string_view>

namespace shoal {

/// Returns a field of one value that exists in text only, not in the component. Lifetime: that of the name.
SHOAL_API Field text_field(std::string_view name, FieldType type);

/// Brings a rotation that was written at `place` to length 1: silently within 0.1 %, with a warning within 1 %.
/// Errors: beyond that; reported with `where` in front ("component ..., field ...: "), and false is returned.
SHOAL_API bool accept_rotation(Diagnostics& diagnostics, SourcePosition place, std::string_view where,
                               Quaternion& rotation);

/// Returns whether a scale can be undone: none of its axes is 0, or so small that it counts as 0.
SHOAL_API bool can_be_undone(Vec3 scale);

}  // namespace shoal

#pragma once
// A value that a spawned entity gets instead of the value in the resource:
//
//     SpawnOptions options{.copies = 3, .overrides = {{"lamp", "light.range", 7}, {"buoy", "light.color.x", 0.5f}}};
//     options.overrides.push_back({"hull/lamp", "light.range", 9, 1});  // only in copy 1
//     return world.spawn(level, options);
//
// After all components of the spawn are added, the overrides are applied in order, as with World::set(), but also to
// disabled components. A singleton has only one value, so its override applies no matter which copy it names. Fields
// that are not in the resource, such as "transform.world", which is computed from other fields, cannot be overridden.
// If an override names a missing entity or field, or its value does not fit, the call fails and spawns nothing.
// Entities without overrides cost nothing. A reload keeps overridden values (see reload/reloader.h).
// Thread: different objects may be used on different threads.

#include "shoal/base/detail/array.h"
#include "shoal/table/detail/any_value.h"

#include <span>
#include <string>

namespace shoal {

struct SpawnOverride {
    static constexpr std::uint32_t kAllCopies = 0xFFFFFFFF;
    std::string entity;               ///< the entity's GUID path in the resource, or else its name if that is unique
    std::string field;                ///< as World::set() names it: "light.range", "tag[1].tag"
    AnyValue value{};                 ///< numbers and strings are converted as in World::set()
    std::uint32_t copy = kAllCopies;  ///< the number of the copy that gets the value
};
/// Returns a copy that may outlive the schema with which the value was read.
SHOAL_API SpawnOverride copy_to_keep(const SpawnOverride& given);
/// Checks whether a snapshot can hold an override. Errors: the override has no value; the value is an array that stays
/// in the resource; the bytes are not a value of their type; a string is not UTF-8. The message says what is wrong.
SHOAL_API Status check_override(const SpawnOverride& given);
/// Writes overrides to a snapshot. Refuses overrides that check_override() refuses.
SHOAL_API void save_overrides(class SnapshotWriter& to, std::span<const SpawnOverride> overrides);
/// Reads what save_overrides() wrote. Errors: the data is not a list of overrides. On error, `to` is empty.
SHOAL_API Status load_overrides(class SnapshotReader& from, Array<SpawnOverride>& to);

}  // namespace shoal

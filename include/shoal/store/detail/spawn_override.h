#pragma once
// A value that an entity of a resource has from its spawn on, in place of the one that the resource gives it:
//
//     SpawnOptions options{.copies = 3, .overrides = {{"lamp", "light.range", 7}, {"buoy", "light.color.x", 0.5f}}};
//     options.overrides.push_back({"hull/lamp", "light.range", 9, 1});  // in copy 1 alone
//     return world.spawn(level, options);
//
// They are set one after the other when all components of the spawn are there, as World::set() would set them; those of
// disabled components, too. A singleton has one value, so an override of it counts whichever copy it is of. What a
// resource does not have cannot be overridden, such as "transform.world", which follows from other fields. What names
// nothing, or does not fit, is an error before anything is spawned. Entities that nobody overrides cost nothing. A
// reload leaves what was overridden as it is (see reload/reloader.h).
// Thread: values.

#include "shoal/base/detail/array.h"
#include "shoal/table/detail/any_value.h"

#include <span>
#include <string>

namespace shoal {

struct SpawnOverride {
    static constexpr std::uint32_t kAllCopies = 0xFFFFFFFF;
    std::string entity;               ///< its GUID path in the resource, or else its name, if no other entity has it
    std::string field;                ///< as World::set() names it: "light.range", "tag[1].tag"
    AnyValue value{};                 ///< numbers and texts are converted as World::set() does
    std::uint32_t copy = kAllCopies;  ///< of those that are spawned together: the one that gets the value
};
/// Returns a copy that outlives the schema that the value was read by.
SHOAL_API SpawnOverride copy_to_keep(const SpawnOverride& given);
/// Says whether a snapshot can have an override. Errors: its value is nothing, or an array that stays in the resource,
/// or is not one of its type; a text is not UTF-8. The message says which.
SHOAL_API Status check_override(const SpawnOverride& given);
/// Writes overrides to a snapshot. What check_override() refuses is refused.
SHOAL_API void save_overrides(class SnapshotWriter& to, std::span<const SpawnOverride> overrides);
/// Reads what save_overrides() wrote. Errors: what is read is not a list of overrides; `to` is empty.
SHOAL_API Status load_overrides(class SnapshotReader& from, Array<SpawnOverride>& to);

}  // namespace shoal

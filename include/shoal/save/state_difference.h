#pragma once
// Finds the first difference between two worlds that should be equal: the field, the entity and both values.
//
//     const StateDifference difference = find_difference(mine.world, theirs.world);
//     if (difference) log(LogLevel::kError, difference.text("here", "there"));
//     // ship.reload of entity 12:1 is 0.25 here and 60.25 there; 3 other values differ too
//
// The comparison covers the same data as state hashes; see save/state_hash.h.
// Thread: the structural thread of both worlds, while no passes are running.

#include "shoal/entity/entity.h"

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

class World;

enum class DifferenceKind : std::uint8_t {
    kNone,
    kValue,    ///< a field of an entity has different values
    kMember,   ///< the entity has the component, or is alive, in only one of the worlds
    kEnabled,  ///< the component is enabled in only one of the worlds
    kOrder,    ///< the rows have the same entities in different orders
    kOther,    ///< a difference that does not concern an entity
};

/// The first value in which two states differ, and the number of other differences.
struct StateDifference {
    DifferenceKind kind = DifferenceKind::kNone;
    std::string component, field;  ///< as in StateHash
    Entity entity;                 ///< null if the difference does not concern an entity
    std::string here, there;       ///< the values; for kOrder, the entities in the first differing row
    std::uint64_t num_others = 0;  ///< number of other values that differ

    explicit operator bool() const { return kind != DifferenceKind::kNone; }
    /// Describes the difference in a sentence that uses these names for the two states. Returns an empty string if
    /// there is no difference.
    SHOAL_API std::string text(std::string_view here_name, std::string_view there_name) const;
};

/// Compares two worlds. Components with the same owners in both worlds are compared first, because their differences
/// usually cause the others.
/// Cost: hashes both worlds. If a field differs, its values are compared one by one.
SHOAL_API StateDifference find_difference(const World& here, const World& there);

/// Returns the living entities, sorted by index.
SHOAL_API std::vector<Entity> living_entities(const World& world);

}  // namespace shoal

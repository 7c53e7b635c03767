#pragma once
// Says in what two worlds differ that ought to be equal: the field and the entity, with both values.
//
//     const StateDifference difference = find_difference(mine.world, theirs.world);
//     if (difference) log(LogLevel::kError, difference.text("here", "there"));
//     // ship.reload of entity 12:1 is 0.25 here and 60.25 there; 3 other values differ too
//
// What is compared is what hashes of the state cover: see save/state_hash.h.
// Thread: the structural thread of both worlds, while no passes run.

#include "shoal/entity/entity.h"

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

class World;

enum class DifferenceKind : std::uint8_t {
    kNone,
    kValue,    ///< a field of an entity has another value
    kMember,   ///< an entity has the component in one of both, or lives in one of both
    kEnabled,  ///< an entity has it enabled in one of both
    kOrder,    ///< the rows are those of the same entities, in another order
    kOther,    ///< something that no entity can be named for
};

/// The first value in which two states differ, and how many others do.
struct StateDifference {
    DifferenceKind kind = DifferenceKind::kNone;
    std::string component, field;  ///< as in StateHash
    Entity entity;                 ///< null if none can be named
    std::string here, there;       ///< the values; of kOrder, whose row comes
    std::uint64_t num_others = 0;  ///< values that differ, too

    explicit operator bool() const { return kind != DifferenceKind::kNone; }
    /// Returns what differs in a sentence, in which both states are called so; empty if nothing does.
    SHOAL_API std::string text(std::string_view here_name, std::string_view there_name) const;
};

/// Compares two worlds. Fields of components that the same entities have come first, because the rest follows from them.
/// Cost: hashes both; the values of what differs are compared one by one.
SHOAL_API StateDifference find_difference(const World& here, const World& there);

/// Returns who lives, by index.
SHOAL_API std::vector<Entity> living_entities(const World& world);

}  // namespace shoal

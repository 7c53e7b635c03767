#pragma once
// Says in what two worlds differ that ought to be equal.
// Thread: one at a time; neither world is stepped meanwhile.

#include <shoal/world/world.h>

#include <string>

namespace duel {

/// The first value in which two worlds differ, and how many others do.
struct Difference {
    std::string component, field;  ///< such as "ship" and "reload"; empty: it is in no field of a component
    shoal::Entity entity;
    std::string mine, theirs;  ///< the values
    std::string part;          ///< the part of the saved state, such as "stores/ship/rows/field/reload"
    std::uint64_t num_others = 0;

    /// Returns `ship.reload of entity 12:1 is 0.25 here and 60.25 there; 3 other values differ too`, or nothing if the worlds
    /// are equal.
    std::string text(std::string_view here, std::string_view there) const;
};

/// Compares the states of both worlds, part by part. Fields come before what else differs, because the rest follows from them.
/// Errors: a world cannot be saved.
shoal::Result<Difference> find_difference(const shoal::World& mine, const shoal::World& theirs);

}  // namespace duel

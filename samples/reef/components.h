#pragma once
// Everything in the sea, as data. Everything that the sample knows about a thing is in one of these components, or a
// transform for things that carry others or are carried.
//
//     fish      place swim fish sated     many: in the database, in the zone of the tile that they are in
//     shark     place swim hunter         in the database too; its transform follows it, and remoras follow that
//     bloom     place bloom               food: does not drift, is eaten, and appears elsewhere
//     reef      place reef                never moves; corals and anemones are children of its transform
//     school    school                    where fish start, from the source; in a manager
//
// All fish have the same archetype: the fish of a tile are in one table, in packed columns.

#include <shoal/base/math.h>
#include <shoal/database/database.h>
#include <shoal/query/query.h>

namespace reef {

using shoal::Vec2;
using shoal::Vec3;

enum class Species : std::uint8_t { kSardine, kFusilier, kSnapper, kParrotfish };
inline constexpr std::size_t kNumSpecies = 4;
SHOAL_ENUM(Species, (kSardine, "sardine"), (kFusilier, "fusilier"), (kSnapper, "snapper"), (kParrotfish, "parrotfish"))

/// A place in the sea. z is the depth at which a fish swims.
struct Place {
    Vec3 position{};
};
SHOAL_COMPONENT(Place, (position, unit("m"), split))

/// The motion of animals: the velocity, and the wanted change.
struct Swim {
    Vec2 velocity{};
    Vec2 urge{};      ///< the acceleration that the animal wants after looking around
    float speed = 2;  ///< its preferred speed
};
SHOAL_COMPONENT(Swim, (velocity, unit("m/s"), split), (urge, unit("m/s2"), split), (speed, unit("m/s"), range(0.1, 20)))

struct Fish {
    Species species = Species::kSardine;
};
SHOAL_COMPONENT(Fish, species)

/// Has eaten and is not looking for food. This is enabled and disabled often, so it is a bit per row.
struct Sated {
    float left = 20;
};
SHOAL_COMPONENT((Sated, enableable), (left, unit("s")))

/// Eats fish.
struct Hunter {
    float rest = 0;      ///< time until the hunter hunts again
    float appetite = 6;  ///< how long one fish keeps a shark full
};
SHOAL_COMPONENT(Hunter, (rest, unit("s")), (appetite, unit("s"), range(0.1, 1000)))

/// A cloud of plankton. Its radius depends on how much plankton is left.
struct Bloom {
    float meals = 60;
};
SHOAL_COMPONENT(Bloom, (meals, range(0, 100000)))

/// Fish swim around it.
struct Reef {
    float radius = 8;
};
SHOAL_COMPONENT(Reef, (radius, unit("m"), range(0.5, 100)))

/// Fish of a species start here, in a band that may be bent. Its weight gives its share of all fish.
struct School {
    Species species = Species::kSardine;
    float weight = 1;
    float length = 120;
    float width = 40;
    float heading = 0;  ///< in the middle of the band
    float bend = 0;     ///< from its tail to its head
};
SHOAL_COMPONENT(School, species, (weight, range(0, 1000)), (length, unit("m"), range(1, 500)),
                (width, unit("m"), range(1, 500)), (heading, unit("degrees")),
                (bend, unit("degrees"), range(-360, 360)))

}  // namespace reef

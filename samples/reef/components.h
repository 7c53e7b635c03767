#pragma once
// The component types of the sea. They hold all data of the sample except transforms. Only entities that carry others
// or are carried have a transform.
//
//     fish      place swim fish sated     many: in the database, in the zone of the tile that they are in
//     shark     place swim hunter         in the database too; its transform follows it, and remoras follow that
//     bloom     place bloom               food: does not drift, is eaten, and appears elsewhere
//     reef      place reef                never moves; corals and anemones are children of its transform
//     school    school                    where fish start, from the source; in a manager
//
// All fish have the same archetype, so the fish of a tile are in one table, in packed columns.

#include <shoal/base/math.h>
#include <shoal/database/database.h>
#include <shoal/query/query.h>

namespace reef {

using shoal::Vec2;
using shoal::Vec3;

enum class Species : std::uint8_t { kSardine, kFusilier, kSnapper, kParrotfish };
inline constexpr std::size_t kNumSpecies = 4;
SHOAL_ENUM(Species, (kSardine, "sardine"), (kFusilier, "fusilier"), (kSnapper, "snapper"), (kParrotfish, "parrotfish"))

/// A position in the sea. For fish, z is the depth at which they swim.
struct Place {
    Vec3 position{};
};
SHOAL_COMPONENT(Place, (position, unit("m"), split))

/// The motion of an animal: its velocity, and the change of velocity that it wants.
struct Swim {
    Vec2 velocity{};
    Vec2 urge{};      ///< wanted acceleration, computed from the surroundings
    float speed = 2;  ///< preferred speed
};
SHOAL_COMPONENT(Swim, (velocity, unit("m/s"), split), (urge, unit("m/s2"), split), (speed, unit("m/s"), range(0.1, 20)))

struct Fish {
    Species species = Species::kSardine;
};
SHOAL_COMPONENT(Fish, species)

/// The fish has eaten and needs no food. The component is enabled and disabled often, so it is one bit per row.
struct Sated {
    float left = 20;
};
SHOAL_COMPONENT((Sated, enableable), (left, unit("s")))

/// An animal that eats fish.
struct Hunter {
    float rest = 0;      ///< time until it hunts again
    float appetite = 6;  ///< how long one fish satisfies it
};
SHOAL_COMPONENT(Hunter, (rest, unit("s")), (appetite, unit("s"), range(0.1, 1000)))

/// A cloud of plankton. Its radius depends on how much plankton is left.
struct Bloom {
    float meals = 60;
};
SHOAL_COMPONENT(Bloom, (meals, range(0, 100000)))

/// An obstacle that fish avoid.
struct Reef {
    float radius = 8;
};
SHOAL_COMPONENT(Reef, (radius, unit("m"), range(0.5, 100)))

/// A school starts in a band that may be bent. `weight` determines the school's share of all fish.
struct School {
    Species species = Species::kSardine;
    float weight = 1;
    float length = 120;
    float width = 40;
    float heading = 0;  ///< heading in the middle of the band
    float bend = 0;     ///< change of heading from the tail to the head of the band
};
SHOAL_COMPONENT(School, species, (weight, range(0, 1000)), (length, unit("m"), range(1, 500)),
                (width, unit("m"), range(1, 500)), (heading, unit("degrees")),
                (bend, unit("degrees"), range(-360, 360)))

}  // namespace reef

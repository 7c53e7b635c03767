#pragma once
// What lives in the sea, as data. Everything the sample knows of a thing is one of these, or the transform of those
// that carry something or are carried.
//
//     fish      place swim fish sated     by the thousand: in the database, in the zone of the tile that they swim in
//     shark     place swim hunter         in the database too; its transform follows it, and remoras follow that
//     bloom     place bloom               food: drifts nowhere, is eaten up, and appears elsewhere
//     reef      place reef                never moves; corals and anemones stand on its transform
//     school    school                    where fish begin, as the source says; a manager's
//
// All fish have the same component types: those of a tile lie in one table, in packed columns.

#include <shoal/base/math.h>
#include <shoal/query/query.h>

namespace reef {

using shoal::Vec2;
using shoal::Vec3;

enum class Species : std::uint8_t { kSardine, kFusilier, kSnapper, kParrotfish };
inline constexpr std::size_t kNumSpecies = 4;
SHOAL_ENUM(Species, (kSardine, "sardine"), (kFusilier, "fusilier"), (kSnapper, "snapper"), (kParrotfish, "parrotfish"))

/// Where something is in the sea. z is the depth that a fish keeps to.
struct Place {
    Vec3 position{};
};
SHOAL_COMPONENT(Place, (position, unit("m"), split))

/// What moves by itself: how fast, and how it wants to change that.
struct Swim {
    Vec2 velocity{};
    Vec2 urge{};      ///< what it wants after looking around
    float speed = 2;  ///< at which it likes to swim
};
SHOAL_COMPONENT(Swim, (velocity, unit("m/s"), split), (urge, unit("m/s2"), split), (speed, unit("m/s"), range(0.1, 20)))

struct Fish {
    Species species = Species::kSardine;
};
SHOAL_COMPONENT(Fish, species)

/// Has eaten, and does not look for food meanwhile. Comes and goes all the time: a bit per row.
struct Sated {
    float left = 20;
};
SHOAL_COMPONENT((Sated, toggled), (left, unit("s")))

/// Eats fish.
struct Hunter {
    float rest = 0;      ///< until it hunts again
    float appetite = 6;  ///< how long a fish lasts
};
SHOAL_COMPONENT(Hunter, (rest, unit("s")), (appetite, unit("s"), range(0.1, 1000)))

/// A cloud of plankton. Its radius follows from what is left of it.
struct Bloom {
    float meals = 60;
};
SHOAL_COMPONENT(Bloom, (meals, range(0, 100000)))

/// Fish swim around it.
struct Reef {
    float radius = 8;
};
SHOAL_COMPONENT(Reef, (radius, unit("m"), range(0.5, 100)))

/// Fish of a species begin here, in a band that may be bent: of all fish, as many as its weight says.
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

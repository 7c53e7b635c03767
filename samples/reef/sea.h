#pragma once
// The sea, on which the passes work.
//
//     sources --compile--> blobs --spawn--> database (fish, sharks, blooms, reefs, in zones)
//                                           transforms (reefs, corals, anemones, sharks, remoras)
//                                           managers (schools; corals and remoras, by the schema in the blob)

#include "cells.h"

#include <shoal/reload/reloader.h>
#include <shoal/transform/transform.h>
#include <shoal/world/world.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal {
class Diagnostics;
class Plugins;
}  // namespace shoal

namespace reef {

using shoal::Status;

class SeaSources;

struct SeaOptions {
    std::string sources;  ///< the folder
    std::uint64_t num_fish = 100'000;
    std::uint64_t seed = 1;
    bool watches = false;  ///< reload_edited() will be called
    std::string plugin{};  ///< a plugin whose pass "swim" replaces the sea's own; empty: none
};

/// The length of every frame.
inline constexpr float kFrameSeconds = 1.0f / 60;

/// How a sea is divided among machines: see ranks.cpp. An undivided sea does not use it.
class Share {
public:
    virtual ~Share() = default;
    virtual const shoal::LiveZones& own() const = 0;
    /// Returns a number for an entity that is the same on all machines, unlike its id.
    virtual std::uint64_t key(shoal::Entity entity) const = 0;
    /// Returns these numbers for all rows of a table, while passes run.
    virtual std::span<const std::uint64_t> keys(const shoal::DatabaseTable& table) const = 0;
    /// Replaces the number of each zone by the number that the zone's owner has for it. Shape: by zone.
    virtual void gather(std::vector<std::uint64_t>& of_zones) const = 0;
};

/// What has happened so far.
struct SeaCounts {
    std::uint64_t num_spawned = 0;  ///< entities
    double compile_ms = 0, spawn_ms = 0;
};

struct Sea {
    /// Lifetime: `executor` outlives the sea.
    Sea(shoal::Executor& executor, const SeaOptions& options);
    ~Sea();

    /// Compiles and spawns the sources. Errors: `diagnostics` has the errors of the sources, and the status has a
    /// summary.
    Status spawn(shoal::Diagnostics& diagnostics);
    /// Reloads the sources that were edited since the last call, and returns whether there were any. `line` describes
    /// the reloaded sources, even if another source is refused.
    /// Errors: `diagnostics` has the errors of the sources, and the status has a summary. If `line` is empty, the sea
    /// is unchanged.
    shoal::Result<bool> reload_edited(shoal::Diagnostics& diagnostics, std::string& line);

    SeaOptions options;
    shoal::EntityManager entities;
    shoal::World world;
    std::optional<shoal::Reloader> reloader;  ///< set if SeaOptions::watches
    shoal::GridZones tiles;
    shoal::Database& database;
    shoal::TransformManager& transforms;
    shoal::Manager<School>& schools;
    const shoal::Archetype &fish, &sharks, &blooms, &reefs;
    Cells cells;
    std::vector<shoal::ZoneSet>
        touching;  ///< by tile: the zones of the tile, its neighbours, and things larger than a tile
    shoal::LiveZones everywhere;
    std::unique_ptr<Share> share;
    std::vector<std::uint64_t> fish_of_tile, blooms_of_zone;  ///< on all machines, when the frame began
    SeaCounts counts;
    std::unique_ptr<SeaSources> sources;
    std::unique_ptr<shoal::Plugins> plugins;

    /// The zones that passes change: all zones, or the zones of this machine.
    const shoal::LiveZones& own() const { return share ? share->own() : everywhere; }
    bool is_own(Zone zone) const { return !share || share->own().now().contains(zone); }
    /// Returns the number that selects the random numbers of an entity.
    std::uint64_t key(shoal::Entity entity) const { return share ? share->key(entity) : std::uint64_t(entity.id); }
    /// Runs a frame.
    void step();

    /// Returns the number of entities of an archetype in all zones.
    std::uint64_t database_rows(const shoal::Archetype& type) const;
    std::uint64_t num_sharks_wanted() const { return std::max<std::uint64_t>(16, options.num_fish / 2000); }
    std::uint64_t num_blooms_wanted() const { return std::max<std::uint64_t>(40, options.num_fish / 300); }
};

/// Adds all passes in order. Lifetime: `sea` outlives the runs of its schedule.
/// Errors: the plugin does not load, or has no pass "swim".
Status add_passes(Sea& sea);

// Each of these functions is in a file of its own.
void add_looking_around(Sea& sea);  ///< sort, flock
void add_hunting(Sea& sea);         ///< hunt
void add_eating(Sea& sea);          ///< graze, digest, bloom
Status add_swimming(Sea& sea);      ///< swim, cross
void add_births(Sea& sea);          ///< births
void add_carrying(Sea& sea);        ///< carry, attach

}  // namespace reef

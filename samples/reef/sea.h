#pragma once
// The sea: the world and the other data that the passes use.
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
    std::string sources;  ///< the folder with the sources
    std::uint64_t num_fish = 100'000;
    std::uint64_t seed = 1;
    bool watches = false;  ///< whether reload_edited() will be called
    std::string plugin{};  ///< a plugin with a pass "swim" that replaces the built-in one; empty: none
};

/// The duration of a frame.
inline constexpr float kFrameSeconds = 1.0f / 60;

/// How a sea is divided among machines; see ranks.cpp. An undivided sea has no Share.
class Share {
public:
    virtual ~Share() = default;
    virtual const shoal::LiveZones& own() const = 0;
    /// Returns a number for an entity that is the same on all machines, unlike its id.
    virtual std::uint64_t key(shoal::Entity entity) const = 0;
    /// Returns key() for all rows of a table. Requires: passes are running.
    virtual std::span<const std::uint64_t> keys(const shoal::DatabaseTable& table) const = 0;
    /// Replaces each zone's value with the value on the machine that owns the zone. Shape: indexed by zone.
    virtual void gather(std::vector<std::uint64_t>& of_zones) const = 0;
};

/// The counts and durations for the report.
struct SeaCounts {
    std::uint64_t num_spawned = 0;  ///< spawned entities
    double compile_ms = 0, spawn_ms = 0;
};

struct Sea {
    /// Lifetime: `executor` must outlive the sea.
    Sea(shoal::Executor& executor, const SeaOptions& options);
    ~Sea();

    /// Compiles and spawns the sources. Errors: those in the sources are in `diagnostics`, and the status is a summary.
    Status spawn(shoal::Diagnostics& diagnostics);
    /// Reloads the sources that were edited since the last call. Returns whether any were edited. `line` describes the
    /// reloaded sources, even if another source is rejected.
    /// Errors: those in the sources are in `diagnostics`, and the status is a summary. If `line` is empty, the sea is
    /// unchanged.
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
        touching;  ///< by tile: the zones of the tile and its neighbours, and the zone for large entities
    shoal::LiveZones everywhere;
    std::unique_ptr<Share> share;
    std::vector<std::uint64_t> fish_of_tile, blooms_of_zone;  ///< on all machines, at the start of the frame
    SeaCounts counts;
    std::unique_ptr<SeaSources> sources;
    std::unique_ptr<shoal::Plugins> plugins;

    /// Returns the zones that passes may change: all zones, or the zones of this machine.
    const shoal::LiveZones& own() const { return share ? share->own() : everywhere; }
    bool is_own(Zone zone) const { return !share || share->own().now().contains(zone); }
    /// Returns the key with which an entity's random numbers are drawn.
    std::uint64_t key(shoal::Entity entity) const { return share ? share->key(entity) : std::uint64_t(entity.id); }
    /// Runs a frame.
    void step();

    /// Returns the number of an archetype's entities in all zones.
    std::uint64_t database_rows(const shoal::Archetype& type) const;
    std::uint64_t num_sharks_wanted() const { return std::max<std::uint64_t>(16, options.num_fish / 2000); }
    std::uint64_t num_blooms_wanted() const { return std::max<std::uint64_t>(40, options.num_fish / 300); }
};

/// Adds all passes in order. Lifetime: `sea` must outlive the runs of its schedule.
/// Errors: the plugin does not load, or has no pass "swim".
Status add_passes(Sea& sea);

// Each of these functions has its own file.
void add_looking_around(Sea& sea);  ///< sort, flock
void add_hunting(Sea& sea);         ///< hunt
void add_eating(Sea& sea);          ///< graze, digest, bloom
Status add_swimming(Sea& sea);      ///< swim, cross
void add_births(Sea& sea);          ///< births
void add_carrying(Sea& sea);        ///< carry, attach

}  // namespace reef

#pragma once
// The game: two fleets fight in a square arena. Ships gather where their player wants them and shoot at ships ahead. A
// hit destroys the ship and the shot, and a new ship is launched at the base of the fleet.
//
//     look  steer  sail  fire  fly  hit  launch  |  settle
//
// A step depends only on the world and the frame's inputs. Therefore both peers have equal worlds, and a world that is
// rewound and stepped again with the same inputs reaches the same state. Worlds are bitwise equal on machines that run
// the same program. The programs must not be built by compilers that treat floating-point numbers differently.
// Thread: one thread at a time for each arena.

#include "input.h"

#include <shoal/base/math.h>
#include <shoal/query/query.h>
#include <shoal/store/manager.h>
#include <shoal/world/world.h>

#include <vector>

namespace duel {

using shoal::Vec2;

inline constexpr float kFrameSeconds = 1.0f / 60;
inline constexpr float kShore = 256;  ///< the arena reaches from -kShore to kShore. Units: metres

enum class Fleet : std::uint8_t { kRed, kBlue };
inline constexpr std::size_t kNumFleets = 2;
SHOAL_ENUM(Fleet, (kRed, "red"), (kBlue, "blue"))

struct Ship {
    Vec2 position{}, velocity{};
    float reload = 0;  ///< time until the ship can shoot
    Fleet fleet = Fleet::kRed;
};
SHOAL_COMPONENT(Ship, (position, unit("m")), (velocity, unit("m/s")), (reload, unit("s")), fleet)

struct Shot {
    Vec2 position{}, velocity{};
    float left = 0;  ///< remaining lifetime
    Fleet fleet = Fleet::kRed;
};
SHOAL_COMPONENT(Shot, (position, unit("m")), (velocity, unit("m/s")), (left, unit("s")), fleet)

/// The ships, sorted by their cells in a square grid. Rebuilt in each frame.
///
///     begin    [ 0  2  2  5 ...           by cell, and one more
///     row      | cell 0 | cell 2    |     of ships, by cell
class ShipCells {
public:
    static constexpr std::uint32_t kCellsPerSide = 64;
    static constexpr float kCellSize = 2 * kShore / kCellsPerSide;

    void sort(const shoal::Manager<Ship>& ships);
    /// Returns the row or column of cells that contains a coordinate, clamped to the arena.
    static std::uint32_t across(float coordinate);
    static std::uint32_t cell_of(Vec2 place) { return across(place.y) * kCellsPerSide + across(place.x); }
    /// Returns the rows of the ships in a cell. Lifetime: until sort() is called. Requires: cell < kCellsPerSide
    /// squared.
    std::span<const std::uint32_t> rows(std::uint32_t cell) const {
        return {rows_.data() + begin_[cell], rows_.data() + begin_[cell + 1]};
    }
    std::uint32_t num_ships(std::uint32_t cell, Fleet fleet) const { return counts_[std::size_t(fleet)][cell]; }

private:
    std::vector<std::uint32_t> begin_, rows_;
    std::vector<std::uint32_t> counts_[kNumFleets];  // by cell
};

struct ArenaOptions {
    std::uint32_t num_ships = 20'000;
    std::uint64_t seed = 1;
    /// At the end of this frame, a field of one ship is changed in one peer's world only. 0 means never.
    std::uint64_t sabotage_frame = 0;
};

class Arena {
public:
    /// Creates the world and its passes, without ships.
    explicit Arena(const ArenaOptions& options);

    /// Spawns the ships of both fleets. Errors: out of ids or memory.
    shoal::Status spawn();
    /// Plays one frame. Shape: one input per fleet.
    void step(const FleetInputs& inputs);

    std::uint64_t num_entities() const { return ships.num_rows() + shots.num_rows(); }

    const ArenaOptions options;
    shoal::EntityManager entities;
    shoal::World world{entities, {.seed = options.seed}};
    shoal::Manager<Ship>& ships = world.manager<Ship>();
    shoal::Manager<Shot>& shots = world.manager<Shot>();
    ShipCells cells;
    FleetInputs inputs{};  ///< inputs of the current frame

private:
    void add_sailing();
    void add_fighting();
    void add_launching();
    void add_sabotage();
};

/// Returns the position where the ships of a fleet start.
Vec2 base_of(Fleet fleet);

}  // namespace duel

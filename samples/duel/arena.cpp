#include "arena.h"

#include <shoal/base/random.h>
#include <shoal/command/commands.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace duel {

using namespace shoal;

namespace {

constexpr float kShipSpeed = 34, kShotSpeed = 72;  // metres per second
constexpr float kShotSeconds = 0.6f, kReloadSeconds = 1.2f;
constexpr float kHitDistance = 1.2f, kSight = 20;  // metres
constexpr float kFleetRadius = 84, kScatterRadius = 170;

float within_arena(float coordinate) { return std::clamp(coordinate, -kShore, kShore); }

Fleet other(Fleet fleet) { return fleet == Fleet::kRed ? Fleet::kBlue : Fleet::kRed; }

Vec2 unit_vector(Vec2 way) {
    const float size = length(way);
    return size > 0 ? way / size : Vec2{1, 0};
}

/// Returns a random position in the unit disc. Takes a copy of the generator, so equal generators give the same
/// position.
Vec2 place_in_disc(Random random) {
    while (true) {
        const Vec2 place = {random.unit() * 2 - 1, random.unit() * 2 - 1};
        if (dot(place, place) <= 1) return place;
    }
}

Vec2 start_of(Fleet fleet, Random random) { return base_of(fleet) + place_in_disc(random) * 60.0f; }

/// Returns the position that a ship steers for. The ships of a player spread out around the position that the player
/// has picked.
Vec2 post_of(Entity ship, const Input& input) {
    const float radius = (input.buttons & kScatter) != 0 ? kScatterRadius : kFleetRadius;
    const Vec2 middle = {static_cast<float>(input.x) * 2, static_cast<float>(input.y) * 2};
    return middle + place_in_disc(Random(ship.id)) * radius;
}

/// Returns a velocity away from dense crowds of ships.
Vec2 push_of_crowd(const ShipCells& cells, Vec2 place, Fleet fleet) {
    const std::uint32_t x = ShipCells::across(place.x), y = ShipCells::across(place.y);
    const auto count = [&](std::uint32_t cx, std::uint32_t cy) {
        return static_cast<float>(cells.num_ships(cy * ShipCells::kCellsPerSide + cx, fleet));
    };
    const std::uint32_t last = ShipCells::kCellsPerSide - 1;
    const Vec2 slope = {count(std::min(x + 1, last), y) - count(x - std::min(x, 1u), y),
                        count(x, std::min(y + 1, last)) - count(x, y - std::min(y, 1u))};
    return slope * -1.5f;
}

}  // namespace

Vec2 base_of(Fleet fleet) { return fleet == Fleet::kRed ? Vec2{-80, -60} : Vec2{80, 60}; }

// --- cells ---------------------------------------------------------------------------------------------------------

std::uint32_t ShipCells::across(float coordinate) {
    const float cell = (coordinate + kShore) / kCellSize;
    return static_cast<std::uint32_t>(std::clamp(cell, 0.0f, static_cast<float>(kCellsPerSide - 1)));
}

/// Uses a counting sort.
void ShipCells::sort(const Manager<Ship>& ships) {
    constexpr std::size_t kNumCells = std::size_t(kCellsPerSide) * kCellsPerSide;
    const auto position = ships.column<&Ship::position>();
    const auto fleet = ships.column<&Ship::fleet>();
    for (std::vector<std::uint32_t>& counts : counts_) counts.assign(kNumCells, 0);
    for (std::uint32_t row = 0; row < ships.num_rows(); ++row)
        ++counts_[std::size_t(fleet[row])][cell_of(position[row])];
    begin_.assign(kNumCells + 1, 0);
    for (std::size_t cell = 0; cell < kNumCells; ++cell)
        begin_[cell + 1] = begin_[cell] + counts_[0][cell] + counts_[1][cell];
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    rows_.resize(ships.num_rows());
    for (std::uint32_t row = 0; row < ships.num_rows(); ++row) rows_[next[cell_of(position[row])]++] = row;
}

// --- the arena -----------------------------------------------------------------------------------------------------

Arena::Arena(const ArenaOptions& given) : options(given) {
    world.schedule().add("look", {reads(ships), writes(cells)}, [this](PassContext&) { cells.sort(ships); });
    add_sailing();
    add_fighting();
    add_launching();
    add_sabotage();
}

Status Arena::spawn() {
    std::vector<Entity> made(options.num_ships);
    if (Status status = entities.create(made); !status) return status;
    std::vector<Ship> values;
    for (std::size_t i = 0; i < made.size(); ++i) {
        Random random(options.seed ^ std::uint64_t(i) << 24);
        const Fleet fleet = i % 2 == 0 ? Fleet::kRed : Fleet::kBlue;
        values.push_back({.position = start_of(fleet, random), .reload = random.unit(), .fleet = fleet});
    }
    if (const auto added = ships.add(made, std::span<const Ship>(values)); !added) return added.status();
    world.settle();
    return {};
}

void Arena::step(const FleetInputs& given) {
    inputs = given;
    world.step(kFrameSeconds);
}

void Arena::add_sailing() {
    world.schedule().add("steer", world.query<Write<&Ship::velocity>, Read<&Ship::position>, Read<&Ship::fleet>>(),
                         {reads(cells)}, [this](Entity ship, auto&& velocity, Vec2 position, Fleet fleet) {
                             const Vec2 way = post_of(ship, inputs[std::size_t(fleet)]) - position;
                             const Vec2 wanted = way * std::min(1.0f, kShipSpeed / std::max(length(way), 1e-3f)) +
                                                 push_of_crowd(cells, position, fleet);
                             Vec2 v = Vec2(velocity) + (wanted - Vec2(velocity)) * 0.06f;
                             const float speed = length(v);
                             if (speed > kShipSpeed) v = v * (kShipSpeed / speed);
                             velocity = v;
                         });
    world.schedule().add("sail", world.query<Write<&Ship::position>, Read<&Ship::velocity>>(),
                         [](auto&& position, Vec2 velocity) {
                             const Vec2 place = Vec2(position) + velocity * kFrameSeconds;
                             position = Vec2{within_arena(place.x), within_arena(place.y)};
                         });
}

void Arena::add_fighting() {
    world.schedule().add(
        "fire", world.query<Write<&Ship::reload>, Read<&Ship::position>, Read<&Ship::velocity>, Read<&Ship::fleet>>(),
        {reads(cells)},
        [this](const PassContext& context, Commands& commands, Entity ship, float& reload, Vec2 position, Vec2 velocity,
               Fleet fleet) {
            reload = std::max(reload - kFrameSeconds, 0.0f);
            if (reload > 0 || (inputs[std::size_t(fleet)].buttons & kFire) == 0) return;
            const Vec2 ahead = unit_vector(velocity);
            if (cells.num_ships(ShipCells::cell_of(position + ahead * kSight), other(fleet)) == 0) return;
            reload = kReloadSeconds * (1 + context.random_for(ship).unit());
            commands.create(
                Shot{.position = position, .velocity = ahead * kShotSpeed, .left = kShotSeconds, .fleet = fleet});
        });
    world.schedule().add("fly", world.query<Write<&Shot::position>, Write<&Shot::left>, Read<&Shot::velocity>>(),
                         [](Commands& commands, Entity shot, auto&& position, float& left, Vec2 velocity) {
                             position = Vec2(position) + velocity * kFrameSeconds;
                             left -= kFrameSeconds;
                             if (left <= 0) commands.destroy(shot);
                         });
    world.schedule().add("hit", world.query<Read<&Shot::position>, Read<&Shot::fleet>>(), {reads(ships), reads(cells)},
                         [this](Commands& commands, Entity shot, Vec2 place, Fleet fleet) {
                             const std::uint32_t cell = ShipCells::cell_of(place);
                             if (cells.num_ships(cell, other(fleet)) == 0) return;
                             const auto position = ships.column<&Ship::position>();
                             const auto fleets = ships.column<&Ship::fleet>();
                             for (const std::uint32_t row : cells.rows(cell)) {
                                 if (fleets[row] == fleet || length(Vec2(position[row]) - place) > kHitDistance)
                                     continue;
                                 commands.destroy(ships.entity(Instance{row}));
                                 return commands.destroy(shot);
                             }
                         });
}

/// Launches new ships to keep both fleets at full size.
void Arena::add_launching() {
    world.schedule().add("launch", {reads(ships)}, [this](PassContext& context) {
        std::uint32_t missing[kNumFleets] = {(options.num_ships + 1) / 2, options.num_ships / 2};
        const auto fleets = ships.column<&Ship::fleet>();
        for (std::uint32_t row = 0; row < ships.num_rows(); ++row) --missing[std::size_t(fleets[row])];
        for (const Fleet fleet : {Fleet::kRed, Fleet::kBlue})
            for (std::uint32_t i = 0; i < missing[std::size_t(fleet)]; ++i)
                world.commands().create(Ship{
                    .position = start_of(fleet, context.random_for(i * 2 + std::uint64_t(fleet))), .fleet = fleet});
    });
}

/// The sabotage is a pass, so that it is repeated when the frame is replayed. All arenas have the pass, because a save
/// can be loaded only into a world with the same passes.
void Arena::add_sabotage() {
    world.schedule().add("sabotage", {writes(ships)}, [this](PassContext& context) {
        if (context.frame + 1 != options.sabotage_frame || ships.num_rows() == 0) return;
        const Instance victim{ships.num_rows() / 2};
        ships.set<&Ship::reload>(victim, ships.get<&Ship::reload>(victim) + 60);
    });
}

}  // namespace duel

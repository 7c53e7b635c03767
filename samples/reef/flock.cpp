// Flocking: every fish looks at its surroundings and decides where to swim.
//
//     sort     copies the fish into cells
//     flock    cohesion, alignment and separation; flee sharks, look for food, avoid reefs
//
// Source: Reynolds, "Flocks, herds and schools: a distributed behavioral model", 1987.

#include "around.h"
#include "crowd.h"

#include <vector>

namespace reef {

using namespace shoal;

namespace {

constexpr float kTogether = 0.9f, kAlign = 1.6f, kApart = 1.5f;  // weights
constexpr float kFear = 26, kFearRange = 13, kHunger = 3, kMostUrge = 9;

/// Returns the acceleration that a slow circular current causes.
Vec2 pull_of_the_current(Vec2 place, Vec2 velocity) {
    constexpr float kCurrent = 1.2f;  // metres per second at the shore
    return (Vec2{-place.y, place.x} * (kCurrent / kShore) - velocity * 0.5f) * 0.12f;
}

Vec2 fear_of(const std::vector<Vec2>& sharks, Vec2 place) {
    Vec2 fear;
    for (const Vec2 shark : sharks) {
        const Vec2 away = place - shark;
        const float distance = length_of(away);
        if (distance < kFearRange && distance > 0) fear += away * (kFear / distance * (1 - distance / kFearRange));
    }
    return fear;
}

/// Returns the direction to the nearest bloom, or zero if the fish is in the bloom.
Vec2 call_of(const std::vector<Disc>& blooms, Vec2 place) {
    float nearest = kFarthest;
    Vec2 way;
    for (const Disc& bloom : blooms) {
        const Vec2 there = bloom.centre - place;
        const float distance = length_of(there);
        if (distance >= nearest) continue;
        nearest = distance;
        way = there * (distance > bloom.radius ? kHunger / distance : 0);
    }
    return way;
}

/// Returns a random urge, which changes three times a second.
Vec2 whim_of(std::uint64_t fish, std::uint64_t frame) {
    Random random(fish * 0x9E3779B97F4A7C15ull ^ (frame + fish) / 20);
    return {random.unit() - 0.5f, random.unit() - 0.5f};
}

struct TileColumns {
    std::span<float> urge_x, urge_y;
    std::span<const float> speed;
    std::span<const Entity> entities;
    std::span<const std::uint64_t> keys;  // empty: the sea is not divided

    std::uint64_t key(std::uint32_t row) const { return keys.empty() ? std::uint64_t(entities[row].id) : keys[row]; }
};

class Flocking {
public:
    Flocking(const Sea& sea, Zone tile, std::uint64_t frame, const Around& around)
        : cells_(sea.cells), tile_(tile), frame_(frame), around_(around) {}

    void run(const TileColumns& columns) {
        const std::uint32_t left = tile_ % kTilesPerSide * kCellsPerTileSide;
        const std::uint32_t low = tile_ / kTilesPerSide * kCellsPerTileSide;
        for (std::uint32_t cy = low; cy < low + kCellsPerTileSide; ++cy)
            for (std::uint32_t cx = left; cx < left + kCellsPerTileSide; ++cx) {
                const std::uint32_t cell = cell_number(cx, cy);
                if (cells_.begin_of(cell) == cells_.end_of(cell)) continue;
                crowd_.gather(cells_, cx, cy);
                for (std::uint32_t i = cells_.begin_of(cell); i < cells_.end_of(cell); ++i) decide(i, columns);
            }
    }

private:
    void decide(std::uint32_t i, const TileColumns& columns) {
        const std::uint32_t row = cells_.row[i];
        const Vec2 place = {cells_.x[i], cells_.y[i]}, velocity = {cells_.velocity_x[i], cells_.velocity_y[i]};
        const Seen seen = crowd_.seen_from(place, cells_.species[i]);
        Vec2 urge = seen.push * kApart;
        if (seen.num_kin > 0) {
            const float part = 1 / seen.num_kin;
            urge += seen.offset * (part * kTogether) + (seen.velocity * part - velocity) * kAlign;
        }
        urge += pull_of_the_current(place, velocity) + push_of_shore(place) + push_of_reefs(around_.reefs, place);
        urge += fear_of(around_.sharks, place) + whim_of(columns.key(row), frame_) * 1.6f;
        if (cells_.is_hungry[i] != 0) urge += call_of(around_.blooms, place);
        const float speed = length_of(velocity);
        if (speed > 0) urge += velocity * (columns.speed[row] / speed - 1);
        const float strength = length_of(urge);
        if (strength > kMostUrge) urge = urge * (kMostUrge / strength);
        columns.urge_x[row] = urge.x;
        columns.urge_y[row] = urge.y;
    }

    const Cells& cells_;
    Zone tile_;
    std::uint64_t frame_;
    const Around& around_;
    Crowd crowd_;
};

/// Processes all tiles in parallel. Each job writes the fish in its tile and reads the copies of all fish.
void flock(Sea& sea, PassContext& context) {
    const DatabaseLock lock(sea.database);
    const ComponentType swim = sea.database.find_component<Swim>();
    std::vector<Around> around(context.executor.num_workers());
    for_each_tile(context.executor, [&](Zone tile, std::uint32_t worker) {
        DatabaseTable* table = sea.is_own(tile) ? sea.database.find_table(sea.fish, tile) : nullptr;
        if (table == nullptr || table->num_rows() == 0) return;
        around[worker].look(sea, tile);
        const auto urge = table->unmarked_column<&Swim::urge>(swim);
        Flocking(sea, tile, context.frame, around[worker])
            .run({urge.x(), urge.y(), table->column<&Swim::speed>(swim).span(), table->entities(),
                  sea.share ? sea.share->keys(*table) : std::span<const std::uint64_t>()});
    });
    for (Zone tile = 0; tile < kNumTiles; ++tile)
        if (DatabaseTable* table = sea.is_own(tile) ? sea.database.find_table(sea.fish, tile) : nullptr)
            table->mark_written<&Swim::urge>(swim, {0, table->num_rows()});
    context.num_rows = sea.cells.num_fish();
    context.num_bytes = context.num_rows * (7 * sizeof(float) + sizeof(Entity) + sizeof(std::uint32_t));
}

}  // namespace

void add_looking_around(Sea& sea) {
    Database& database = sea.database;
    sea.world.schedule().add("sort",
                             {reads<&Place::position>(database), reads<&Swim::velocity>(database),
                              reads<&Fish::species>(database), writes(sea.cells)},
                             [&sea](PassContext& context) {
                                 sea.cells.sort(sea.database, sea.fish, context.executor);
                                 context.num_rows = sea.cells.num_fish();
                                 context.num_bytes = context.num_rows * (10 * sizeof(float) + 6);
                             });
    sea.world.schedule().add(
        "flock",
        {reads<&Place::position>(database), reads<&Swim::speed>(database).in(sea.own()), reads<&Reef::radius>(database),
         reads<&Bloom::meals>(database), reads(sea.cells), writes<&Swim::urge>(database).in(sea.own())},
        [&sea](PassContext& context) { flock(sea, context); });
}

}  // namespace reef

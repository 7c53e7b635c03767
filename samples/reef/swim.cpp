// Swimming: urges become motion, and what leaves a tile changes zones.
//
//     swim     computes velocities from urges and positions from velocities, for fish and sharks
//     cross    asks for moves to other zones, which are made when the world settles

#include "around.h"

#include <shoal/command/commands.h>

namespace reef {

using namespace shoal;

namespace {

constexpr float kPanic = 2.2f;  // times the speed at which it likes to swim

float within_sea(float coordinate) { return std::clamp(coordinate, -kShore, kShore); }

/// Asks for the move of those entities of a batch that have left their tile.
template <class Batch>
void cross(const Sea& sea, Commands& commands, const Batch& batch) {
    const Vec3 low = low_corner(batch.zone()), high = low + Vec3{kTileSize, kTileSize, 0};
    const auto position = batch.template column<&Place::position>();
    for (std::uint32_t row = 0; row < batch.num_rows(); ++row) {
        const float x = position.x()[row], y = position.y()[row];
        if (x >= low.x && x < high.x && y >= low.y && y < high.y) continue;
        const Zone zone = sea.tiles.zone_of({x, y, 0});  // at the shore it is the same
        if (zone != batch.zone()) commands.move(batch.entities()[row], zone);
    }
}

}  // namespace

void add_swimming(Sea& sea) {
    const auto swimmers =
        query<Write<&Place::position>, Write<&Swim::velocity>, Read<&Swim::urge>, Read<&Swim::speed>>(sea.database);
    sea.world.schedule().add("swim", swimmers, [](auto&& position, auto&& velocity, Vec2 urge, float speed) {
        Vec2 v = Vec2(velocity) + urge * kFrameSeconds;
        const float fastest = speed * kPanic, squared = v.x * v.x + v.y * v.y;
        v = v * (squared > fastest * fastest ? fastest / std::sqrt(squared) : 1.0f);
        const Vec3 p = position;
        velocity = v;
        position = Vec3{within_sea(p.x + v.x * kFrameSeconds), within_sea(p.y + v.y * kFrameSeconds), p.z};
    });
    const auto places = query<Read<&Place::position>, With<Swim>>(sea.database);
    sea.world.schedule().add("cross", {reads<&Place::position>(sea.database)}, [&sea, places](PassContext& context) {
        places.for_each_batch(context.executor,
                              [&](Commands& commands, const auto& batch) { cross(sea, commands, batch); });
        context.num_rows = places.num_rows();
        context.num_bytes = context.num_rows * 2 * sizeof(float);
    });
}

}  // namespace reef

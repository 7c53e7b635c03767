// Swimming: urges change the motion of animals, and animals that leave a tile move to another zone.
//
//     swim     computes velocities from urges and positions from velocities, for fish and sharks; a plugin may bring it
//     cross    asks for moves to other zones, which are made when the world settles

#include "around.h"

#include <shoal/base/text.h>
#include <shoal/command/commands.h>
#include <shoal/plugin/plugins.h>

namespace reef {

using namespace shoal;

namespace {

constexpr float kPanic = 2.2f;  // multiple of the preferred speed

float within_sea(float coordinate) { return std::clamp(coordinate, -kShore, kShore); }

/// For entities in a batch that have left their tile, requests a move to another zone.
template <class Batch>
void cross(const Sea& sea, Commands& commands, const Batch& batch) {
    const Vec3 low = low_corner(batch.zone()), high = low + Vec3{kTileSize, kTileSize, 0};
    const auto position = batch.template column<&Place::position>();
    for (std::uint32_t row = 0; row < batch.num_rows(); ++row) {
        const float x = position.x()[row], y = position.y()[row];
        if (x >= low.x && x < high.x && y >= low.y && y < high.y) continue;
        const Zone zone = sea.tiles.zone_of({x, y, 0});  // at the shore, this may be the same zone
        if (zone != batch.zone()) commands.move(batch.entities()[row], zone);
    }
}

void add_own(Sea& sea) {
    const auto swimmers =
        query<Write<&Place::position>, Write<&Swim::velocity>, Read<&Swim::urge>, Read<&Swim::speed>>(sea.database)
            .in(sea.own());
    sea.world.schedule().add("swim", swimmers, [](auto&& position, auto&& velocity, Vec2 urge, float speed) {
        Vec2 v = Vec2(velocity) + urge * kFrameSeconds;
        const float fastest = speed * kPanic, squared = v.x * v.x + v.y * v.y;
        v = v * (squared > fastest * fastest ? fastest / std::sqrt(squared) : 1.0f);
        const Vec3 p = position;
        velocity = v;
        position = Vec3{within_sea(p.x + v.x * kFrameSeconds), within_sea(p.y + v.y * kFrameSeconds), p.z};
    });
}

Status add_that_of_a_plugin(Sea& sea, const std::string& path) {
    sea.plugins = std::make_unique<Plugins>(sea.world);
    if (Status status = sea.plugins->load(path); !status) return status;
    if (sea.world.schedule().is_taken("swim")) return {};
    return Status::error(concat("the plugin ", quoted(path), " has no pass \"swim\""));
}

}  // namespace

Status add_swimming(Sea& sea) {
    if (sea.options.plugin.empty())
        add_own(sea);
    else if (Status status = add_that_of_a_plugin(sea, sea.options.plugin); !status)
        return status;
    const auto places = query<Read<&Place::position>, With<Swim>>(sea.database).in(sea.own());
    sea.world.schedule().add(
        "cross", {reads<&Place::position>(sea.database).in(sea.own())}, [&sea, places](PassContext& context) {
            places.for_each_batch(context.executor,
                                  [&](Commands& commands, const auto& batch) { cross(sea, commands, batch); });
            context.num_rows = places.num_rows();
            context.num_bytes = context.num_rows * 2 * sizeof(float);
        });
    return {};
}

}  // namespace reef

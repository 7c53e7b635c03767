// Step 6: zones and events. Rocks and bullets are in a database whose zones are tiles of the bay, so that a bullet
// checks only nearby rocks. Hits are events that later passes read.
#include "bay.h"

#include <cstdio>

using namespace shoal;
using namespace game;

int main() {
    ThreadedExecutor workers;
    EntityManager entities;
    World world(entities, {.executor = &workers});
    start(world, 2000);
    const Database& sea = world.database();
    std::printf("%d rocks and a ship in %u tiles; %d of them in the first\n", int(sea.num_rows()) - 2,
                kTiles.num_zones() - 1, int(sea.num_rows(0)));

    // [guide/score]
    int score = 0;
    world.schedule().add("score", {reads(world.events<Hit>()), writes(score)},
                         [&](PassContext&) { score += int(world.events<Hit>().read().size()); });
    // [guide/score]
    for (int second = 1; second <= 20; ++second) {
        for (int frame = 0; frame < 60; ++frame) world.step(1.0f / 60);
        if (second % 5 == 0) std::printf("after %d s: %d hits, %d rows\n", second, score, int(sea.num_rows()));
    }

    // [guide/near]
    ZoneSet near;
    kTiles.touch_sphere({}, 20, near);
    int num_near = 0;
    query<Read<&Body::position>, With<Rock>>(world.database()).in(near).for_each([&](Vec3 at) {
        num_near += length(at) < 20;
    });
    std::printf("%d rocks within 20 m of the middle; looked in %u of %u zones\n", num_near, near.size(),
                kTiles.num_zones());
    // [guide/near]
    std::printf("%d moves to other tiles\n", int(world.settle_statistics().total.num_moved));
    return 0;
}

// Step 7: inspection. Describes an entity, reports the costs of passes and components, and draws where the entities
// are.
#include "bay.h"

#include <shoal/base/file.h>
#include <shoal/inspect/describe_entity.h>
#include <shoal/inspect/picture.h>
#include <shoal/inspect/report.h>

#include <cstdio>

using namespace shoal;
using namespace game;

int main() {
    EntityManager entities;
    World world(entities);
    const Ship ship = start(world, 500);
    for (int frame = 0; frame < 300; ++frame) world.step(1.0f / 60);

    // [guide/describe]
    std::fputs(describe(world, ship.muzzle).c_str(), stdout);
    // [guide/describe]

    // [guide/names]
    if (Status set = world.set(ship.muzzle, "gun.period", 0.25); !set) return 1;
    std::printf("a shot every %g s\n", *world.get<float>(ship.muzzle, "gun.period"));
    std::printf("%s\n", std::string(world.set(ship.muzzle, "gun.perod", 1).message()).c_str());
    // [guide/names]

    // [guide/report]
    const WorldReport report = report_world(world);
    for (const PassReport& pass : report.passes)
        std::printf("%s: %d runs, %d rows\n", pass.name.c_str(), int(pass.num_runs), int(pass.num_rows));
    for (const ComponentReport& component : report.components)
        std::printf("%s: %d rows of %u bytes\n", component.name.c_str(), int(component.num_rows), component.row_bytes);
    if (!write_file("costs.txt", report_text(report))) return 1;  // with times and memory
    // [guide/report]

    // [guide/picture]
    const Picture picture = draw_world(world);
    if (!write_file("bay.svg", picture.svg)) return 1;
    std::printf("a picture of %d entities\n", int(picture.num_points));
    // [guide/picture]
    return 0;
}

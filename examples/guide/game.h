#pragma once
// The result of steps 1 to 3, which later steps use: components, two passes, and a function that compiles sources.

#include <shoal/source/compiler.h>
#include <shoal/transform/transform_text.h>
#include <shoal/world/world.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace game {

struct Body {
    shoal::Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, (position, unit("m")), (velocity, unit("m/s")))

struct Rock {
    float size = 1;
};
SHOAL_COMPONENT(Rock, (size, unit("m"), range(0.1, 20)))

// [guide/gun]
struct Gun {
    float wait = 0;       // until the next shot
    float period = 0.5f;  // from shot to shot
};
SHOAL_COMPONENT(Gun, (wait, unit("s")), (period, unit("s")))
struct Bullet {
    float age = 0;
};
SHOAL_COMPONENT(Bullet, (age, unit("s")))
// [guide/gun]

constexpr float kBay = 200;  // metres; anything that leaves on one side enters on the other

inline float around(float coordinate) { return coordinate - kBay * std::round(coordinate / kBay); }

inline void add_moving(shoal::World& world) {
    using namespace shoal;
    world.schedule().add(
        "move", world.query<Write<&Body::position>, Read<&Body::velocity>>(),
        [](const PassContext& frame, auto&& position, Vec3 velocity) { position += velocity * frame.dt; });
    world.schedule().add("wrap", world.query<Write<&Body::position>>(),
                         [](auto&& position) { position = Vec3{around(position.x), around(position.y), 0}; });
}

/// Compiles a source. If there are errors, prints them and ends the program.
inline std::vector<std::byte> compile(const char* name, const char* text) {
    using namespace shoal;
    ComponentRegistry registry;
    if (!registry.add<Body>() || !registry.add<Rock>() || !registry.add<Gun>() || !add_transform(registry))
        std::abort();
    Diagnostics diagnostics;
    Result<CompiledSource> source = compile_file(diagnostics.add_file(name, text), registry, {}, diagnostics);
    std::fputs(diagnostics.format().c_str(), stderr);
    if (!source) std::exit(1);
    return std::move(source->blob);
}

}  // namespace game

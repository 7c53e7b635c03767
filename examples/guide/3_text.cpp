// Step 3: text to blob to rows. Rocks are described in text. A prefab holds the values that several rocks share.
#include <shoal/source/compiler.h>
#include <shoal/world/world.h>

#include <cstdio>

struct Body {
    shoal::Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, (position, unit("m")), (velocity, unit("m/s")))

// [guide/rock]
struct Rock {
    float size = 1;
};
SHOAL_COMPONENT(Rock, (size, unit("m"), range(0.1, 20)))
// [guide/rock]

// [guide/rocks]
constexpr const char* kRock = R"(
    components = {
        body = { velocity = [2 0 0] }
        rock = { size = 2 }
    }
)";
constexpr const char* kRocks = R"(
    entities = {
        small = { prefab = "rock" }
        large = {
            prefab = "rock"  name = "boulder"
            modified_components = { rock = { size = 6 }  body = { position = [0 40 0] } }
        }
    }
)";
// [guide/rocks]

int main() {
    using namespace shoal;
    // [guide/compile]
    MemoryFiles files;  // without it, sources are files
    files.add("game/rock.sjson", kRock);
    files.add("game/rocks.sjson", kRocks);
    ComponentRegistry registry;
    if (!registry.add<Body>() || !registry.add<Rock>()) return 1;
    CompileOptions options;
    options.compose.roots = {"game"};
    options.compose.files = &files;
    Diagnostics diagnostics;
    const Result<CompiledSource> source = compile_source("game/rocks.sjson", registry, options, diagnostics);
    std::fputs(diagnostics.format().c_str(), stderr);  // mistakes, each with its place
    if (!source) return 1;
    // [guide/compile]

    // [guide/spawn]
    EntityManager entities;
    World world(entities);
    auto& rocks = world.manager<Rock>();
    auto& bodies = world.manager<Body>();
    const Result<Blob> blob = Blob::view(source->blob);  // checked once, then used in place
    if (!blob) return 1;
    const Result<Spawned> spawned = world.spawn(*blob, {.copies = 50});
    if (!spawned) return 1;
    // [guide/spawn]

    const Entity boulder = spawned->find("boulder", 49);  // in the last copy
    std::printf("%zu rocks, %u bodies; a boulder has %g m, and drifts with %g m/s at y = %g\n",
                spawned->entities().size(), bodies.num_rows(), rocks.get<&Rock::size>(rocks.instance(boulder)),
                bodies.get<&Body::velocity>(bodies.instance(boulder)).x,
                bodies.get<&Body::position>(bodies.instance(boulder)).y);
    return 0;
}

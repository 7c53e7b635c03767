// From text to rows: a source is compiled to a blob. The blob is used in place, and can be spawned any number of times.
#include <shoal/components/point_mass.h>
#include <shoal/source/compiler.h>
#include <shoal/source/schema_file.h>
#include <shoal/world/world.h>

#include <cstdio>

using namespace shoal;

// Component types without a C++ struct can be declared in text.
constexpr const char* kSchemas = R"(
    components = {
        lantern = { fields = { colour = { type = vec3  default = [1 1 1] }  range = { type = float  unit = m } } }
    }
)";

constexpr const char* kBuoy = R"(
    name = "buoy"
    components = {
        point_mass = { mass = 40  position = [3 0 0]  velocity = [0 0 1] }
    }
    children = {
        top = { name = "top"  components = { lantern = { range = 12 } } }
    }
)";

int main() {
    Diagnostics diagnostics;
    ComponentRegistry registry;
    CompileOptions options;
    options.name = "sea/buoy";
    if (!registry.add<PointMass>()) return 1;
    if (!read_schema_text(diagnostics.add_file("sea.schema.sjson", kSchemas), registry, options.rules, diagnostics))
        return 1;

    Result<CompiledSource> buoy =
        compile_file(diagnostics.add_file("sea/buoy.sjson", kBuoy), registry, options, diagnostics);
    std::fputs(diagnostics.format().c_str(), stderr);
    if (!buoy) return 1;
    const Result<Blob> blob = Blob::view(buoy->blob);  // checked once, then used in place
    if (!blob) return 1;

    EntityManager entities;
    World world(entities);
    auto& masses = world.manager<PointMass>();
    if (!world.adopt_schemas(*blob)) return 1;  // creates a manager for lanterns from the blob's schema

    Result<Spawned> spawned = world.spawn(*blob, {.copies = 200});
    if (!spawned) return 1;
    const Instance last = masses.instance(spawned->find("buoy", 199));
    std::printf("%zu entities, %u point masses, the last weighs %g kg\n", spawned->entities().size(), masses.num_rows(),
                masses.get<&PointMass::mass>(last));

    spawned->destroy(entities);  // destroys everything that was spawned
    world.settle();
    std::printf("%u point masses left\n", masses.num_rows());
}

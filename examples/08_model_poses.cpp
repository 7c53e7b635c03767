// Crabs walk on a slope. They share one node tree, their poses are computed independently of the transforms, and a
// constraint keeps their feet on the ground. A crab owns the entity that it carries, which dies when the crab dies.
#include <shoal/components/ownership.h>
#include <shoal/pose/model_pose_text.h>
#include <shoal/source/compiler.h>
#include <shoal/transform/transform_text.h>
#include <shoal/world/world.h>

#include <cstdio>

using namespace shoal;

constexpr const char* kCrab = R"(
    components = {
        transform = { position = [0 0 1] }
        model_pose = { nodes = [
            { name = "body" }
            { name = "knee"  parent = "body"  position = [1 0 0.5] }
            { name = "foot"  parent = "knee"  position = [0 0 -1.5] }
            { name = "toe"   parent = "foot"  position = [0.25 0 0]  euler_degrees = [0 0 90] }
        ] }
    }
    children = {
        pearl = { name = "pearl"  components = { owned = "parent" } }
    }
)";

/// Keeps all feet on the slope, which rises by 0.25 m per metre.
void stand_on_slope(void* context, ModelPoseManager& models) {
    for (const Entity crab : *static_cast<std::span<const Entity>*>(context)) {
        const Instance instance = models.instance(crab);
        const std::uint32_t foot = models.find_node(models.tree(instance), StringId("foot"));
        Matrix3x4 world = models.node_world(instance, foot);
        world.row[2].w = 0.25f * world.row[0].w;
        models.set_node_world(instance, foot, world);
    }
}

int main() {
    Diagnostics diagnostics;
    ComponentRegistry registry;
    CompileOptions options;
    options.name = "reef/crab";
    if (!add_transform(registry) || !add_model_pose(registry) || !registry.add<Owned>()) return 1;
    const auto file = diagnostics.add_file("reef/crab.sjson", kCrab);
    const Result<CompiledSource> crab = compile_file(file, registry, options, diagnostics);
    std::fputs(diagnostics.format().c_str(), stderr);
    if (!crab) return 1;
    ResourceLibrary library;  // keeps the blob alive, because the node tree is used in place
    const Result<const Blob*> blob = library.load(crab->blob);
    if (!blob) return 1;
    EntityManager entities;
    World world(entities, {.library = &library});
    TransformManager transforms(entities, world.pool());
    ModelPoseManager models(entities, world.pool(), {.transforms = &transforms, .library = &library});
    OwnershipManager ownership(entities, world.pool());
    Store* const stores[] = {&transforms, &models, &ownership};
    for (Store* store : stores)
        if (!world.attach(*store)) return 1;
    const Result<Spawned> spawned = world.spawn(**blob, {.copies = 3});
    if (!spawned) return 1;
    const Entity crabs[] = {spawned->entity(0, 0), spawned->entity(0, 1), spawned->entity(0, 2)};
    for (int i = 0; i < 3; ++i) transforms.set_position(transforms.instance(crabs[i]), {2.0f * i, 0, 1});
    const NodeLocals locals = models.write_locals(models.tree(models.instance(crabs[0])));
    locals.positions[0].z += 0.125f;  // the first crab stretches its legs
    std::span<const Entity> walking = crabs;
    models.add_constraint(stand_on_slope, &walking);
    std::printf("%u crabs, %u node tree\n", models.num_instances(), models.num_trees());
    std::printf("%d model poses computed, ", int(models.compute(&world.executor())));
    std::printf("%d toes follow the feet\n", int(models.apply_constraints()));
    for (const Entity e : crabs) {
        const Matrix3x4 foot = models.node_world(models.instance(e), 2);
        std::printf("a foot at x %g, z %g\n", double(foot.row[0].w), double(foot.row[2].w));
    }
    std::printf("%d entities, ", int(entities.num_alive()));
    entities.destroy(crabs[0]);
    std::printf("then %d without a crab and its pearl\n", int(entities.num_alive()));
    for (Store* store : stores) world.detach(*store);
}

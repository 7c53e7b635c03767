#include "shoal/pose/attached_to_node.h"

#include "shoal/store/detail/component_directory.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/transform/detail/pose_kernels.h"
#include "shoal/transform/detail/pose_math.h"

#include <cstring>

namespace shoal {
namespace {

AttachedToNode read_component(const ComponentTable& at, std::uint32_t row) {
    AttachedToNode component;
    const Schema& schema = schema_of<AttachedToNode>();
    for (const Field& field : schema.fields())
        read_part(*at.table, at.first_column, row, field_part(schema, field),
                  reinterpret_cast<std::byte*>(&component) + field.struct_offset);
    return component;
}

/// Whether a store has the component type with fields that differ from those of `component`.
bool has_other_fields(const Store& store, const Schema& component) {
    for (const Schema* schema : store.schemas())
        if (schema->id() == component.id()) return schema->layout_hash() != component.layout_hash();
    return false;
}

/// Returns the model pose of the node to which a child of `parent` is attached, or nullptr.
const Matrix3x4* find_node_pose(const ModelPoseManager& models, Entity parent, StringId name) {
    const Instance model = models.instance(parent);
    const std::uint32_t node = model ? models.find_node(models.tree(model), name) : kNilRow;
    return node == kNilRow ? nullptr : &models.model(model, node);
}

bool are_same(const Transform& a, const Transform& b) {
    return std::memcmp(&a.position, &b.position, sizeof a.position) == 0 &&
           std::memcmp(&a.rotation, &b.rotation, sizeof a.rotation) == 0 &&
           std::memcmp(&a.scale, &b.scale, sizeof a.scale) == 0;
}

}  // namespace

std::size_t move_attached(Store& attached, const ModelPoseManager& models, TransformManager& transforms,
                          Executor* executor) {
    if (has_other_fields(attached, schema_of<AttachedToNode>())) return 0;
    Array<ComponentTable> tables{Owner("attached to node")};
    Array<Entity> entities{Owner("attached to node")};
    Array<Transform> locals{Owner("attached to node")};
    attached.list_tables(schema_of<AttachedToNode>(), tables);
    for (const ComponentTable& at : tables)
        for (std::uint32_t row = 0; row < at.table->num_rows(); ++row) {
            const Entity entity = at.table->entities()[row];
            const Instance child = entity ? transforms.instance(entity) : kNilInstance;
            const Instance parent = child ? transforms.parent(child) : kNilInstance;
            if (!parent) continue;
            const AttachedToNode component = read_component(at, row);
            const Matrix3x4* const node = find_node_pose(models, transforms.entity(parent), component.node);
            if (node == nullptr) continue;
            const Transform pose =
                nearest_pose(
                    product(*node, local_matrix(component.position, normalized(component.rotation), component.scale)))
                    .pose;
            if (!is_sound_position(pose.position) || !is_sound_scale(pose.scale) ||
                are_same(pose, transforms.local(child)))
                continue;
            entities.push_back(entity);
            locals.push_back(pose);
        }
    return entities.empty() ? 0 : transforms.set_locals(entities, locals, executor);
}

std::size_t move_attached(const ComponentDirectory& directory, Executor* executor) {
    Store* const attached = directory.find(schema_of<AttachedToNode>().id());
    if (attached == nullptr) return 0;
    const auto* const models = directory.find_as<ModelPoseManager>(schema_of<ModelPose>().id());
    TransformManager* const transforms = find_transforms(directory);
    if (models == nullptr || transforms == nullptr) return 0;
    return move_attached(*attached, *models, *transforms, executor);
}

}  // namespace shoal

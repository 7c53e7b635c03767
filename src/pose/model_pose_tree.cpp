// Checks a node tree, and keeps and computes the blocks of its instances.

#include "pose/model_pose_tree.h"

#include "shoal/base/text.h"
#include "shoal/transform/detail/pose_math.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

/// Returns the reason why a node is invalid, or nullptr if it is valid.
const char* fault_of(const NodeTree& tree, std::uint32_t node) {
    if (!tree.names[node]) return "it has no name";
    if (tree.parents[node] != kNilRow && tree.parents[node] >= node) return "its parent does not come before it";
    if (!is_sound_position(tree.positions[node])) return "its position is infinite or not a number";
    if (!is_sound_rotation(tree.rotations[node])) return "its rotation is not a quaternion of length 1";
    if (!is_sound_position(tree.scales[node])) return "its scale is infinite or not a number";
    if (!is_sound_scale(tree.scales[node])) return "its scale is zero";
    return nullptr;
}

}  // namespace

Status ModelPoseManager::Tree::accept(const NodeTree& tree) {
    const std::size_t size = tree.names.size();
    if (size == 0 || size > kMaxNodesPerTree)
        return Status::error(concat("a node tree has 1 to ", kMaxNodesPerTree, " nodes, not ", size));
    if (tree.parents.size() != size || tree.positions.size() != size || tree.rotations.size() != size ||
        tree.scales.size() != size)
        return Status::error("a node tree needs a name, a parent, a position, a rotation and a scale per node");
    const std::uint32_t num_nodes = tree.num_nodes();
    for (std::uint32_t node = 0; node < num_nodes; ++node)
        if (const char* fault = fault_of(tree, node); fault != nullptr)
            return Status::error(concat("node ", node, " of a node tree: ", fault));
    by_name.resize(num_nodes);
    for (std::uint32_t node = 0; node < num_nodes; ++node) by_name[node] = node;
    std::sort(by_name.begin(), by_name.end(),
              [&](std::uint32_t a, std::uint32_t b) { return tree.names[a] < tree.names[b]; });
    for (std::uint32_t i = 1; i < num_nodes; ++i)
        if (tree.names[by_name[i - 1]] == tree.names[by_name[i]])
            return Status::error(
                concat("nodes ", by_name[i - 1], " and ", by_name[i], " of a node tree have the same name"));
    nodes = tree;
    return {};
}

void ModelPoseManager::Tree::keep_copy(const NodeTree& tree) {
    names.assign(tree.names.begin(), tree.names.end());
    parents.assign(tree.parents.begin(), tree.parents.end());
    positions.assign(tree.positions.begin(), tree.positions.end());
    rotations.assign(tree.rotations.begin(), tree.rotations.end());
    scales.assign(tree.scales.begin(), tree.scales.end());
    nodes = {names, parents, positions, rotations, scales};
}

// --- blocks ------------------------------------------------------------------------------------------------------

std::uint32_t ModelPoseManager::Tree::append_block(Entity owner) {
    const std::uint32_t block = num_blocks();
    std::ranges::fill(table.append_unowned(num_nodes()), owner);
    first_changed.push_back(kNothingChanged);
    reset_block(block);
    return block;
}

void ModelPoseManager::Tree::reset_block(std::uint32_t block) {
    const RowRange range = rows(block);
    const auto copy = [&](NodeColumn column, const void* values, std::size_t element_bytes) {
        std::memcpy(table.write_column(column, range) + range.begin * element_bytes, values,
                    range.size() * element_bytes);
    };
    copy(kPositions, nodes.positions.data(), sizeof(Vec3));
    copy(kRotations, nodes.rotations.data(), sizeof(Quaternion));
    copy(kScales, nodes.scales.data(), sizeof(Vec3));
    if (default_models.empty()) {
        default_models.resize(num_nodes());
        compute_poses({nodes.positions.data(), nodes.rotations.data(), nodes.scales.data(), nodes.parents.data(),
                       default_models.data()},
                      {0, num_nodes()});
    }
    copy(kModels, default_models.data(), sizeof(Matrix3x4));
    first_changed[block] = kNothingChanged;
}

void ModelPoseManager::Tree::remove_block(std::uint32_t block) {
    const std::uint32_t last = num_blocks() - 1;
    const RowRange to = rows(block), from = rows(last);
    for (std::uint32_t node = 0; block != last && node < num_nodes(); ++node)
        table.swap(to.begin + node, from.begin + node);
    for (std::uint32_t row = from.end; row-- > from.begin;) table.remove(row);
    first_changed[block] = first_changed[last];
    first_changed.pop_back();
    if (block != last && first_changed[block] != kNothingChanged) list_group(block / kBlocksPerGroup);
}

// --- model poses -------------------------------------------------------------------------------------------------

void ModelPoseManager::Tree::write_local(std::uint32_t block, std::uint32_t node, const Transform& local) {
    const Transform sound = sound_pose(local);
    const std::uint32_t row = rows(block).begin + node;
    std::memcpy(table.write_element(kPositions, row), &sound.position, sizeof sound.position);
    std::memcpy(table.write_element(kRotations, row), &sound.rotation, sizeof sound.rotation);
    std::memcpy(table.write_element(kScales, row), &sound.scale, sizeof sound.scale);
}

void ModelPoseManager::Tree::write_model(std::uint32_t block, std::uint32_t node, const Matrix3x4& model) {
    std::memcpy(table.write_element(kModels, rows(block).begin + node), &model, sizeof model);
}

Array<std::uint32_t> ModelPoseManager::Tree::take_changed_groups() {
    Array<std::uint32_t> groups = std::exchange(changed_groups, Array<std::uint32_t>("model poses"));
    for (const std::uint32_t group : groups) is_listed[group] = 0;
    erase_if(groups, [&](std::uint32_t group) { return group >= num_groups(); });
    std::sort(groups.begin(), groups.end());
    return groups;
}

/// Returns the columns of one block. The kernel treats a block as a separate table with the tree's parents.
PoseColumns ModelPoseManager::Tree::columns_of(std::uint32_t block) {
    const std::size_t first = rows(block).begin;
    return {column<Vec3>(kPositions) + first, column<Quaternion>(kRotations) + first, column<Vec3>(kScales) + first,
            nodes.parents.data(), column<Matrix3x4>(kModels) + first};
}

std::uint64_t ModelPoseManager::Tree::compute_group(std::uint32_t group) {
    const RowRange in_group = blocks(group);
    std::uint64_t num_computed = 0;
    for (std::uint32_t block = in_group.begin; block < in_group.end; ++block) {
        const std::uint32_t first = std::exchange(first_changed[block], kNothingChanged);
        if (first == kNothingChanged) continue;
        compute_poses(columns_of(block), {first, num_nodes()});
        num_computed += num_nodes() - first;
    }
    return num_computed;
}

std::uint64_t ModelPoseManager::Tree::compute_below(std::uint32_t block, std::span<const Moved> moved,
                                                    Array<std::uint8_t>& below) {
    const PoseColumns columns = columns_of(block);
    below.assign(num_nodes(), 0);
    for (const Moved& node : moved) below[node.node] = 1;
    std::uint64_t num_computed = 0;
    for (std::uint32_t node = moved.front().node + 1; node < num_nodes(); ++node) {
        const std::uint32_t parent = columns.parent[node];
        if (below[node] != 0 || parent == kNilRow || below[parent] == 0) continue;
        compute_pose(columns, node);
        below[node] = 1;
        ++num_computed;
    }
    return num_computed;
}

Status ModelPoseManager::Tree::validate() const {
    if (Status status = table.validate(); !status) return status;
    if (table.num_rows() != num_blocks() * num_nodes())
        return Status::error(
            concat("model poses: ", table.num_rows(), " rows in ", num_blocks(), " blocks of ", num_nodes(), " nodes"));
    for (std::uint32_t block = 0; block < num_blocks(); ++block) {
        const std::uint32_t first = first_changed[block], group = block / kBlocksPerGroup;
        if (first != kNothingChanged && (group >= is_listed.size() || is_listed[group] == 0))
            return Status::error(concat("model poses: changed block ", block, " is on no list"));
        for (std::uint32_t node = 0; node < std::min(first, num_nodes()); ++node) {
            const std::size_t row = rows(block).begin + node;
            const Matrix3x4 local = local_matrix(column<Vec3>(kPositions)[row], column<Quaternion>(kRotations)[row],
                                                 column<Vec3>(kScales)[row]);
            const std::uint32_t parent = nodes.parents[node];
            const Matrix3x4* const models = column<Matrix3x4>(kModels) + rows(block).begin;
            const Matrix3x4 model = product(parent == kNilRow ? Matrix3x4{} : models[parent], local);
            if (std::memcmp(&model, &models[node], sizeof model) != 0)
                return Status::error(concat("model poses: node ", node, " of block ", block, " is wrong"));
        }
    }
    return {};
}

}  // namespace shoal

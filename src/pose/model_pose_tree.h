#pragma once
// A node tree of a ModelPoseManager, and the table of its instances.
//
//     block              0       1       2       3       4      an instance, num_nodes rows each
//     first_changed      -       2       -       -       0      the first node that must be computed
//     group              0 -----------------------------  1     kBlocksPerGroup blocks
//     changed_groups     0, 1                                   groups that may have a changed block
//
// Workers process whole groups. The model poses of four blocks fill whole cache lines, so workers never share one.

#include "shoal/pose/model_pose.h"
#include "shoal/transform/detail/pose_kernels.h"

#include <algorithm>

namespace shoal {

inline constexpr std::uint32_t kBlocksPerGroup = 4;
inline constexpr std::uint32_t kNothingChanged = 0xFFFFFFFF;
static_assert(kBlocksPerGroup * sizeof(Matrix3x4) % kCacheLineBytes == 0);

/// The columns of NodePose.
enum NodeColumn : std::uint32_t { kPositions, kRotations, kScales, kModels };

struct ModelPoseManager::Tree {
    Tree(PagePool& pool, std::uint32_t capacity_rows)
        : table(schema_of<NodePose>(), pool, {.capacity_rows = capacity_rows}) {}

    NodeTree nodes;
    ModelPose source;  // the arrays of a tree from a blob
    std::uint32_t use = 0;
    Table table;
    Array<std::uint32_t> by_name{Owner("model poses")};        // nodes, ascending by name
    Array<std::uint32_t> first_changed{Owner("model poses")};  // by block
    Array<std::uint32_t> changed_groups{Owner("model poses")};
    Array<std::uint8_t> is_listed{Owner("model poses")};  // whether each group is in changed_groups
    // A tree from memory; `nodes` refers to these.
    Array<StringId> names{Owner("model poses")};
    Array<std::uint32_t> parents{Owner("model poses")};
    Array<Vec3> positions{Owner("model poses")}, scales{Owner("model poses")};
    Array<Quaternion> rotations{Owner("model poses")};

    Array<Matrix3x4> default_models{Owner("model poses")};  // the default poses, computed for the first instance
    bool was_in_blob = false;                               // the tree was copied from a blob

    bool in_blob() const { return source.names.count != 0; }
    bool goes_with_last_instance() const { return in_blob() || was_in_blob; }
    std::uint32_t num_nodes() const { return nodes.num_nodes(); }
    std::uint32_t num_blocks() const { return static_cast<std::uint32_t>(first_changed.size()); }
    std::uint32_t num_groups() const { return (num_blocks() + kBlocksPerGroup - 1) / kBlocksPerGroup; }
    RowRange rows(std::uint32_t block) const { return {block * num_nodes(), (block + 1) * num_nodes()}; }
    RowRange blocks(std::uint32_t group) const {
        return {group * kBlocksPerGroup, std::min((group + 1) * kBlocksPerGroup, num_blocks())};
    }
    template <class T>
    T* column(NodeColumn column) {
        return reinterpret_cast<T*>(table.unmarked_column(column));
    }
    template <class T>
    const T* column(NodeColumn column) const {
        return reinterpret_cast<const T*>(table.column(column));
    }

    void mark_changed(std::uint32_t block, std::uint32_t node) {
        first_changed[block] = std::min(first_changed[block], node);
        list_group(block / kBlocksPerGroup);
    }
    void list_group(std::uint32_t group) {
        if (is_listed.size() <= group) is_listed.resize(group + 1);
        if (is_listed[group] != 0) return;
        is_listed[group] = 1;
        changed_groups.push_back(group);
    }

    /// Checks the tree and sorts its names. Errors: a node is invalid (the message names it and gives the reason).
    Status accept(const NodeTree& tree);
    void keep_copy(const NodeTree& tree);
    /// Appends a block in the default pose. Requires: memory is reserved.
    std::uint32_t append_block(Entity owner);
    /// Removes a block; the last block moves into its place.
    void remove_block(std::uint32_t block);
    void reset_block(std::uint32_t block);

    void write_local(std::uint32_t block, std::uint32_t node, const Transform& local);
    void write_model(std::uint32_t block, std::uint32_t node, const Matrix3x4& model);
    /// Returns the groups that may have changed blocks, and clears the list.
    Array<std::uint32_t> take_changed_groups();
    /// Computes the changed nodes in a group. Returns the number of matrices that were computed.
    std::uint64_t compute_group(std::uint32_t group);
    /// Computes the descendants of moved nodes, and returns their number. `below` is scratch memory.
    std::uint64_t compute_below(std::uint32_t block, std::span<const Moved> moved, Array<std::uint8_t>& below);
    void mark_models_written(RowRange blocks) {
        table.mark_written(kModels, {blocks.begin * num_nodes(), blocks.end * num_nodes()});
    }
    void save(SnapshotWriter& to) const;
    Status load(SnapshotReader& from, const ResourceLibrary* library);
    /// Checks the table, the groups and every model pose that should be up to date.
    Status validate() const;

private:
    PoseColumns columns_of(std::uint32_t block);
};

}  // namespace shoal

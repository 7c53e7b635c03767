// Model poses in a snapshot. A tree from a blob is saved as the names of its arrays, and a tree from memory is saved
// completely.

#include "pose/model_pose_tree.h"
#include "shoal/base/text.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/resource/detail/blob_values.h"
#include "shoal/state/snapshot.h"

#include <memory>

namespace shoal {
namespace {

constexpr std::uint32_t kMaxTrees = 1u << 22;

struct SavedTree {
    std::uint32_t slot, use, was_in_blob;
};

std::string tree_name(std::uint32_t slot) { return concat("tree/", slot); }

/// Whether all arrays of a tree are in the same blob. This is required because only one blob is pinned.
bool has_arrays(const Blob& blob, const ModelPose& pose) {
    const auto is_there = [&]<class T>(const BlobArray<T>& array) {
        return array.resource == blob.id() && find_array(arrays_of(blob), array, FieldTraits<T>::type) != nullptr;
    };
    return is_there(pose.names) && is_there(pose.parents) && is_there(pose.positions) && is_there(pose.rotations) &&
           is_there(pose.scales);
}

}  // namespace

void ModelPoseManager::save(SnapshotWriter& to) const {
    instances_.save(to);
    Array<SavedTree> saved{Owner("model poses")};
    for (std::uint32_t slot = 0; slot < trees_.size(); ++slot)
        if (trees_[slot] != nullptr) saved.push_back({slot, trees_[slot]->use, trees_[slot]->was_in_blob});
    to.value("num_slots", saved.empty() ? 0u : saved.back().slot + 1);  // free slots at the end are not saved
    to.value("num_uses", num_uses_);
    to.array("trees", saved);
    Array<Entity> moved{Owner("model poses")};
    Array<std::uint32_t> moved_nodes{Owner("model poses")};
    for (const Moved& one : moved_) moved.push_back(one.entity), moved_nodes.push_back(one.node);
    to.array("moved", moved);
    to.array("moved_nodes", moved_nodes);
    for (const SavedTree& tree : saved) {
        const SnapshotPath::Scope scope = to.in(tree_name(tree.slot));
        trees_[tree.slot]->save(to);
    }
}

void ModelPoseManager::Tree::save(SnapshotWriter& to) const {
    to.value("source", source);
    if (!in_blob()) {
        to.array("names", nodes.names);
        to.array("parents", nodes.parents);
        to.array("positions", nodes.positions);
        to.array("rotations", nodes.rotations);
        to.array("scales", nodes.scales);
    }
    table.save(to);
    to.array("first_changed", first_changed);
    Array<std::uint32_t> groups = changed_groups;  // without the groups of removed instances
    erase_if(groups, [&](std::uint32_t group) { return group >= num_groups(); });
    to.array("changed_groups", groups);
}

void ModelPoseManager::forget_trees() {
    for (const Tree* tree : trees_) delete tree;
    trees_.clear();
    num_trees_ = 0;
    moved_.clear();
}

Status ModelPoseManager::load(SnapshotReader& from) {
    forget_trees();
    Status status = instances_.load(from);
    if (status) status = load_trees(from);
    if (status && !from.is_trusted()) status = check_loaded(from);
    if (!status) {
        instances_.clear();
        forget_trees();
    }
    list_all_tables();
    return status;
}

Status ModelPoseManager::load_trees(SnapshotReader& from) {
    std::uint32_t num_slots = 0;
    Array<SavedTree> saved{Owner("model poses")};
    if (Status status = from.value("num_slots", num_slots); !status) return status;
    if (Status status = from.value("num_uses", num_uses_); !status) return status;
    if (Status status = from.array("trees", saved); !status) return status;
    Array<Entity> moved{Owner("model poses")};
    Array<std::uint32_t> moved_nodes{Owner("model poses")};
    if (Status status = read_entities(from, "moved", moved); !status) return status;
    if (Status status = from.array("moved_nodes", moved_nodes); !status) return status;
    if (moved.size() != moved_nodes.size()) return from.error("moved", "there are not as many as nodes");
    for (std::size_t i = 0; i < moved.size(); ++i) moved_.push_back({moved[i], moved_nodes[i]});
    if (num_slots > kMaxTrees) return from.error("num_slots", "there cannot be so many trees");
    trees_.assign(num_slots, nullptr);
    for (const SavedTree& one : saved) {
        if (one.slot >= num_slots || trees_[one.slot] != nullptr || one.use == 0 || one.use > num_uses_)
            return from.error("trees", concat("the tree in slot ", one.slot, " is invalid"));
        const SnapshotPath::Scope scope = from.in(tree_name(one.slot));
        auto tree = std::make_unique<Tree>(pool_, options_.capacity_rows);
        if (Status status = tree->load(from, options_.library); !status) return status;
        tree->use = one.use;
        tree->was_in_blob = one.was_in_blob != 0;
        trees_[one.slot] = tree.release();
        ++num_trees_;
    }
    return {};
}

Status ModelPoseManager::Tree::load(SnapshotReader& from, const ResourceLibrary* library) {
    if (Status status = from.value("source", source); !status) return status;
    if (in_blob()) {
        if (library == nullptr || library->find(source.names.resource) == nullptr)
            return from.error("source",
                              "the nodes lie in a resource that is not loaded; load it through the world's library, "
                              "WorldOptions::library, before the state");
        if (const Blob& blob = *library->find(source.names.resource); !from.is_trusted() && !has_arrays(blob, source))
            return from.error("source", concat("\"", blob.name(), "\" does not have these arrays"));
        if (Status status =
                accept({library->view(source.names), library->view(source.parents), library->view(source.positions),
                        library->view(source.rotations), library->view(source.scales)});
            !status)
            return from.error("source", status.message());
    } else {
        if (Status status = from.array("names", names); !status) return status;
        if (Status status = from.array("parents", parents); !status) return status;
        if (Status status = from.array("positions", positions); !status) return status;
        if (Status status = from.array("rotations", rotations); !status) return status;
        if (Status status = from.array("scales", scales); !status) return status;
        if (Status status = accept({names, parents, positions, rotations, scales}); !status)
            return from.error("names", status.message());
    }
    if (Status status = table.load(from); !status) return status;
    if (Status status = from.array("first_changed", first_changed); !status) return status;
    if (Status status = from.array("changed_groups", changed_groups); !status) return status;
    if (table.num_rows() != std::uint64_t(first_changed.size()) * num_nodes())
        return from.error("num_rows",
                          concat(table.num_rows(), " nodes in ", first_changed.size(), " instances of ", num_nodes()));
    for (const std::uint32_t first : first_changed)
        if (first != kNothingChanged && first >= num_nodes())
            return from.error("first_changed", concat("there is no node ", first));
    is_listed.assign(num_groups(), 0);
    for (const std::uint32_t group : changed_groups) {
        if (group >= num_groups() || is_listed[group] != 0)
            return from.error("changed_groups", "there is no such group, or it is there twice");
        is_listed[group] = 1;
    }
    for (std::uint32_t block = 0; block < first_changed.size(); ++block)
        if (first_changed[block] != kNothingChanged && is_listed[block / kBlocksPerGroup] == 0)
            return from.error("changed_groups", concat("block ", block, " has changed, and is in none of them"));
    return {};
}

/// Errors: instances and blocks do not match, or a moved node does not exist.
Status ModelPoseManager::check_loaded(SnapshotReader& from) const {
    if (Status status = validate_blocks(); !status) return status;
    for (const Moved& moved : moved_) {
        const Instance at = instance(moved.entity);
        if (!at || moved.node >= tree_of(at).num_nodes()) return from.error("moved", "a node that was moved is none");
    }
    return {};
}

}  // namespace shoal

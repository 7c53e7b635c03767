// Checks the invariants of a TransformManager.

#include "shoal/base/text.h"
#include "transform/transform_work.h"

#include <cstring>

namespace shoal {
namespace {

Status broken(std::string_view what, std::uint32_t row) {
    return Status::error(concat("transforms, row ", row, ": ", what));
}

}  // namespace

Status TransformManager::validate() const { return work_->validate(); }

Status TransformManager::Work::validate() {
    if (Status status = validate_rows(); !status) return status;
    return validate_poses();
}

Status TransformManager::Work::validate_rows() {
    if (Status status = table_.validate(); !status) return status;
    if (manager_.num_clean_ > table_.num_rows()) return broken("more rows are clean than there are", table_.num_rows());
    for (std::uint32_t row = 0; row < manager_.num_clean_; ++row)
        if (const std::uint32_t parent = parents()[row]; parent != kNilRow && parent >= manager_.num_clean_)
            return broken("it is clean, but its parent is not", row);
    for (std::uint32_t row = 0; row < table_.num_rows(); ++row)
        if (parent_entities()[row] != owner_or_null(parents()[row]))
            return broken("the entity of its parent is not that of the row that it is linked to", row);
    return validate_extents();
}

/// A known extent is the size of the subtree, and the extents of its children are known and inside its range.
Status TransformManager::Work::validate_extents() {
    const std::uint32_t* const extent = extents();
    Array<std::uint32_t> size(table_.num_rows(), 1, Owner("transform manager"));
    Array<std::uint32_t> rows{Owner("transform manager")};
    for (std::uint32_t root = 0; root < table_.num_rows(); ++root) {
        if (parents()[root] != kNilRow) continue;
        for (std::uint32_t row = root; row != kNilRow; row = next_in_subtree(row, root)) rows.push_back(row);
    }
    if (rows.size() != table_.num_rows()) return broken("some rows are below no root: their links form a cycle", 0);
    for (std::size_t i = rows.size(); i-- > 0;)
        if (const std::uint32_t parent = parents()[rows[i]]; parent != kNilRow) size[parent] += size[rows[i]];
    for (std::uint32_t row = 0; row < table_.num_rows(); ++row) {
        if (extent[row] == 0 && all_known_) return broken("its extent is unknown, but all should be known", row);
        if (extent[row] == 0) continue;
        if (extent[row] != size[row]) return broken(concat("its extent is ", extent[row], " of ", size[row]), row);
        for (std::uint32_t child = first_children()[row]; child != kNilRow; child = next_siblings()[child])
            if (extent[child] == 0 || child <= row || child + extent[child] > row + extent[row])
                return broken(concat("its child, row ", child, ", is not in its range"), row);
    }
    return {};
}

/// Pending rows are on the list, and the world poses of all other rows follow from their parents and local poses.
Status TransformManager::Work::validate_poses() {
    Array<bool> listed(table_.num_rows(), false, Owner("transform manager"));
    for (const std::uint32_t row : moved_)
        if (row < table_.num_rows()) listed[row] = true;
    const bool may_wait = batch_depth_ != 0 || manager_.options_.mode == TransformMode::kDeferred;
    Array<bool> is_pending_at = listed;  // whether each row or one of its ancestors is pending
    const PoseColumns columns = pose_columns();
    for (std::uint32_t root = 0; root < table_.num_rows(); ++root) {
        if (columns.parent[root] != kNilRow) continue;
        for (std::uint32_t row = root; row != kNilRow; row = next_in_subtree(row, root)) {
            const std::uint32_t parent = columns.parent[row];
            const bool own = is_pending(marks()[row]);
            if (own && (!listed[row] || !may_wait)) return broken("its move was lost", row);
            is_pending_at[row] = own || (parent != kNilRow && is_pending_at[parent]);
            if (is_pending_at[row]) continue;
            const Matrix3x4 local = local_matrix(columns.position[row], columns.rotation[row], columns.scale[row]);
            const Matrix3x4 world = product(parent == kNilRow ? Matrix3x4{} : columns.world[parent], local);
            if (std::memcmp(&world, &columns.world[row], sizeof world) != 0)
                return broken("its world pose does not follow from its local pose and its parent", row);
        }
    }
    return {};
}

}  // namespace shoal

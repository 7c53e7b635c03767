// Rows that come, in spans and from blobs, and rows that go, one by one and with the dead.

#include "shoal/base/text.h"
#include "shoal/store/stable_span.h"
#include "shoal/transform/pose_math.h"
#include "transform/transform_work.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kFetchFrom = 4096;
constexpr std::size_t kFetchDistance = 32;
constexpr std::uint32_t kBlockRows = 256;  // of which local and world poses are in the nearest cache

/// The pose that applies `local` first and `root` then; the nearest one where that would be sheared.
Transform compose(const Transform& root, const Transform& local) {
    const Matrix3x4 outer = local_matrix(root.position, root.rotation, root.scale);
    const Matrix3x4 both = product(outer, local_matrix(local.position, local.rotation, local.scale));
    if (root.scale.x != root.scale.y || root.scale.x != root.scale.z) return nearest_pose(both).pose;
    const auto [ax, ay, az, aw] = root.rotation;
    const auto [bx, by, bz, bw] = local.rotation;
    const Quaternion rotation{aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
                              aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz};
    return {{both.row[0].w, both.row[1].w, both.row[2].w}, sound_rotation(rotation), local.scale * root.scale.x};
}

}  // namespace

// --- rows that come ----------------------------------------------------------------------------------------------

/// Makes rows that were appended roots, clean ones unless a larger suffix is in the way.
void TransformManager::Work::admit(RowRange rows) {
    if (rows.size() >= rows.begin - manager_.num_clean_) leave_all();
    std::fill(extents() + rows.begin, extents() + rows.end, 1u);
    std::fill(marks() + rows.begin, marks() + rows.end, 0u);
}

/// Links new rows, as often as `parents` go into them. Returns whether they are in depth-first order.
bool TransformManager::Work::link_new(RowRange rows, std::span<const std::uint32_t> parents) {
    if (parents.empty()) return true;
    const auto step = static_cast<std::uint32_t>(parents.size());
    for (std::uint32_t row = rows.begin; row < rows.end; row += step) table_.link_trees(row, parents);
    return add_extents(rows);
}

/// Makes extents of 1 the sizes of the subtrees. Returns whether each lies in one range: the first child behind its
/// parent, and every other behind the subtree of its sibling. Requires: parents first, siblings in row order.
bool TransformManager::Work::add_extents(RowRange rows) {
    const std::uint32_t* const parent_of = parents();
    const std::uint32_t* const first_child = first_children();
    const std::uint32_t* const next = next_siblings();
    std::uint32_t* const extent = extents();
    bool is_depth_first = true;
    for (std::uint32_t row = rows.end; row-- > rows.begin;) {
        is_depth_first &= first_child[row] == kNilRow || first_child[row] == row + 1;
        if (parent_of[row] == kNilRow) continue;
        is_depth_first &= next[row] == kNilRow || next[row] == row + extent[row];
        extent[parent_of[row]] += extent[row];
    }
    return is_depth_first;
}

Result<AddCounts> TransformManager::Work::add(std::span<const Entity> added, std::span<const Transform> locals,
                                              std::span<const std::uint32_t> given_parents) {
    const StableSpan stable(added, table_.entities());
    const StableSpan stable_parents(given_parents, table_.links(LinkColumn::kTreeParent));
    const std::span<const Entity> entities = stable.get();
    const std::span<const std::uint32_t> parents = stable_parents.get();
    std::uint32_t highest = 0;
    for (const Entity entity : entities) highest = std::max(highest, entity.index());
    highest = std::min(highest, static_cast<std::uint32_t>(entities_.num_indices_used()));
    if (!rows_.reserve(entities.size(), highest) || !rows_.append_all(entities))
        return add_some(entities, locals, parents, highest);
    const RowRange rows{num_rows() - static_cast<std::uint32_t>(entities.size()), num_rows()};
    admit(rows);
    if (link_new(rows, parents)) {
        // Block by block, so that poses are computed while they are near: beyond a cache, writing is what it costs.
        for (std::uint32_t row = rows.begin; row < rows.end; row += kBlockRows) {
            const RowRange block{row, std::min(row + kBlockRows, rows.end)};
            write_locals(block, locals.size() == 1 ? locals : locals.subspan(row - rows.begin, block.size()));
            compute_rows(block);
        }
    } else {
        write_locals(rows, locals);
        order(rows);
        compute_rows(rows);
    }
    return AddCounts{rows.size(), 0, 0};
}

/// Shape: a pose for each row, or one for all.
void TransformManager::Work::write_locals(RowRange rows, std::span<const Transform> locals) {
    const PoseColumns columns = pose_columns();
    auto* const positions = const_cast<Vec3*>(columns.position) + rows.begin;
    auto* const rotations = const_cast<Quaternion*>(columns.rotation) + rows.begin;
    auto* const scales = const_cast<Vec3*>(columns.scale) + rows.begin;
    const std::size_t step = locals.size() == 1 ? 0 : 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Transform local = sound_pose(locals[i * step]);
        positions[i] = local.position;
        rotations[i] = local.rotation;
        scales[i] = local.scale;
    }
}

/// add() where some have a row already, are dead or occur twice, or where there may be no room.
Result<AddCounts> TransformManager::Work::add_some(std::span<const Entity> entities, std::span<const Transform> locals,
                                                   std::span<const std::uint32_t> parents, std::uint32_t highest) {
    std::size_t num_new = 0;
    for (const Entity entity : entities) num_new += entities_.alive(entity) && row_of(entity) == kNilRow;
    if (Status status = rows_.reserve(num_new, highest); !status) return status;
    for (const Entity entity : entities)
        if (entities_.alive(entity)) rows_.remove_stale(entity);
    AddCounts counts;
    Array<std::uint32_t> places{Owner("transform manager")};     // rows, by position in the span
    Array<std::uint32_t> above_new{Owner("transform manager")};  // the rows that the new ones will follow
    const std::uint32_t first = num_rows();
    for (std::size_t i = 0; i < entities.size(); ++i) {
        const bool is_root = parents.empty() || parents[i] == kNilRow;
        SHOAL_ASSERT(is_root || parents[i] < i, "a parent does not come before its child");
        const std::uint32_t above = is_root ? kNilRow : places[parents[i]];
        std::uint32_t row = row_of(entities[i]);
        if (!entities_.alive(entities[i])) {
            ++counts.num_skipped;
            row = above;  // its children follow whom it would have followed
        } else if (row != kNilRow) {
            ++counts.num_set;
        } else {
            row = rows_.append(entities[i]);
            above_new.push_back(above);
            ++counts.num_added;
        }
        places.push_back(row);
    }
    const RowRange rows{first, num_rows()};
    admit(rows);
    std::fill(worlds() + rows.begin, worlds() + rows.end, Matrix3x4{});
    begin_batch();
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (!entities_.alive(entities[i])) continue;
        write_local(places[i], sound_pose(locals[locals.size() == 1 ? 0 : i]));
        note(places[i]);
    }
    // By entity, since linking may let rows change places; backwards, since what is linked comes first.
    Array<std::pair<Entity, Entity>> links{Owner("transform manager")};
    for (std::uint32_t i = rows.size(); i-- > 0;)
        if (above_new[i] != kNilRow) links.push_back({owner(first + i), owner(above_new[i])});
    for (const auto& [child, parent] : links) link(row_of(child), row_of(parent));
    end_batch(nullptr);
    if (!in_batch()) compute_pending(nullptr);
    return counts;
}

// --- rows that go ------------------------------------------------------------------------------------------------

/// Makes the children of a row roots, and notes them: those that stay are placed after all leaving rows are gone.
void TransformManager::Work::free_children(std::uint32_t row, Array<Entity>& freed) {
    for (std::uint32_t child = first_children()[row]; child != kNilRow; child = first_children()[row]) {
        freed.push_back(owner(child));
        link(child, kNilRow);
    }
}

std::uint32_t TransformManager::Work::remove(std::span<const Entity> removed, bool only_dead) {
    rows_.require_unlocked();
    const StableSpan stable(removed, table_.entities());
    const std::span<const Entity> entities = stable.get();
    compute_pending(nullptr);
    begin_batch();
    if (entities.size() > table_.num_rows() - manager_.num_clean_) leave_all();
    const bool fetches = entities.size() >= kFetchFrom;
    Array<Entity> freed{Owner("transform manager")};
    std::uint32_t num_removed = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (fetches && i + 2 * kFetchDistance < entities.size()) {
            rows_.index().prefetch(entities[i + 2 * kFetchDistance]);
            table_.prefetch(row_of(entities[i + kFetchDistance]));
        }
        if (only_dead && entities_.alive(entities[i])) continue;
        const std::uint32_t row = row_of(entities[i]);
        if (row == kNilRow) continue;
        free_children(row, freed);
        remove_row(row);
        ++num_removed;
    }
    // Nothing was computed meanwhile: their world poses are those that they had.
    for (const Entity entity : freed)
        if (const std::uint32_t row = row_of(entity); row != kNilRow) set_world(row, Matrix3x4(worlds()[row]), false);
    end_batch(nullptr);
    return num_removed;
}

/// Lets all that hangs on the dead die next. A child that is dead already has taken its own with it.
void TransformManager::Work::destroy_children(std::span<const Entity> dead) {
    Array<Entity> children{Owner("transform manager")};
    for (const Entity entity : dead) {
        const std::uint32_t root = row_of(entity);
        if (root == kNilRow) continue;
        for (std::uint32_t child = first_children()[root]; child != kNilRow; child = next_siblings()[child])
            if (entities_.alive(owner(child))) children.push_back(owner(child));
    }
    entities_.destroy_next(children);
}

// --- Store -------------------------------------------------------------------------------------------------------

Status TransformManager::spawn(const SpawnBatch& batch) {
    SHOAL_ASSERT(batch.root_poses.empty() || batch.root_poses.size() == batch.num_copies,
                 "one root pose per copy is needed, or none");
    return work_->spawn(batch);
}

/// Finds the position of the nearest ancestor with a transform, for each component of one copy.
Status TransformManager::Work::find_parents(const SpawnBatch& batch, Array<std::uint32_t>& parents) {
    if (batch.parents.empty()) return {};
    Array<std::uint32_t> positions{Owner("transform manager")};  // by blob entity, own or inherited
    positions.assign(batch.num_blob_entities, kNilRow);
    for (std::uint32_t i = 0; i < batch.entity_index.size(); ++i) positions[batch.entity_index[i]] = i;
    parents.assign(batch.entity_index.size(), kNilRow);
    for (std::uint32_t entity = 0; entity < batch.num_blob_entities; ++entity) {
        const std::uint32_t parent = batch.parents[entity];
        if (parent == kNoBlobEntity) continue;
        if (parent >= entity) return Status::error("a blob names a parent that does not come before its child");
        const std::uint32_t own = positions[entity], above = positions[parent];
        if (own == kNilRow)
            positions[entity] = above;
        else if (above == kNilRow || above < own)
            parents[own] = above;
        else
            return Status::error("the transforms of a blob are not in order: a child comes before its parent");
    }
    return {};
}

/// A blob may come from anywhere: what its compiler would have refused is refused here.
Status TransformManager::Work::check_poses(const SpawnBatch& batch) {
    const auto values = [&]<class T>(std::uint32_t column, const T&) {
        return std::span(reinterpret_cast<const T*>(batch.columns[column]), batch.entity_index.size());
    };
    const auto refuse = [&](std::size_t i, std::string_view what) {
        return Status::error(concat("the transform of blob entity ", batch.entity_index[i], " has ", what,
                                    "; compile its source again"));
    };
    const auto positions = values(kPositionColumn, Vec3());
    const auto rotations = values(kRotationColumn, Quaternion());
    const auto scales = values(kScaleColumn, Vec3());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        if (!is_sound_position(positions[i])) return refuse(i, "a position that is infinite or not a number");
        if (!is_sound_rotation(rotations[i])) return refuse(i, "a rotation that is not of length 1");
        if (!is_sound_scale(scales[i])) return refuse(i, "a scale that is zero, infinite or not a number");
    }
    return {};
}

Status TransformManager::Work::spawn(const SpawnBatch& batch) {
    if (Status status = rows_.reserve_batch(batch); !status) return status;
    if (batch.entity_index.empty() || batch.num_copies == 0) return {};
    if (Status status = check_poses(batch); !status) return status;
    Array<std::uint32_t> parents{Owner("transform manager")};
    if (Status status = find_parents(batch, parents); !status) return status;
    const RowRange rows = rows_.append_batch(batch);
    admit(rows);
    const auto count = static_cast<std::uint32_t>(batch.entity_index.size());
    for (std::uint32_t copy = 0; copy < batch.root_poses.size(); ++copy) {
        const std::uint32_t first = rows.begin + copy * count;
        const auto& [position, rotation, scale] = batch.root_poses[copy];
        const Transform root = sound_pose({position, rotation, scale});
        for (std::uint32_t i = 0; i < count; ++i)
            if (parents.empty() || parents[i] == kNilRow)
                write_local(first + i, compose(root, manager_.local({first + i})));
    }
    if (!link_new(rows, parents)) order(rows);
    compute_rows(rows);
    return {};
}

void TransformManager::settle(const SettleContext& context) {
    SHOAL_ASSERT(!work_->in_batch(), "the transforms settled inside a batch");
    if (options_.mode == TransformMode::kDeferred && !work_->ended_frame()) work_->end_frame(context.executor);
    rows_.remove_dead(context);
    work_->compute_pending(nullptr);
    work_->begin_settled_frame();
    rows_.settle_table(context);
}

}  // namespace shoal

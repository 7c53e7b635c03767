// Poses: one by one and many at once, and when they are computed.

#include "components/pose_math.h"
#include "components/transform_work.h"

#include <algorithm>
#include <cstring>

namespace shoal::inline SHOAL_ABI {
namespace {

constexpr std::size_t kFetchFrom = 4096;    // entities in a span; below it all is in the cache
constexpr std::size_t kFetchDistance = 96;  // the row itself half as many ahead
constexpr std::size_t kFoundAtOnce = 2048;  // rows found before the first is written: what was fetched is still there

// Loops over many fetch what is ahead with lambdas that are always inline: g++ drops calls of what has no effect that
// it knows.

std::size_t fetch_distance(std::span<const Entity> entities) {
    return entities.size() >= kFetchFrom ? kFetchDistance : 0;
}

template <class T>
const T& element(const Table& table, std::uint32_t column, std::uint32_t row) {
    return reinterpret_cast<const T*>(table.column(column))[row];
}

}  // namespace

void TransformManager::Work::stamp_columns(std::uint32_t mask, std::uint32_t row) {
    const std::uint32_t block = row / kRowsPerStampBlock;
    if (block != stamped_block_ || table_.stamp() != stamped_at_) stamped_columns_ = 0;
    stamped_block_ = block;
    stamped_at_ = table_.stamp();
    stamped_columns_ |= mask;
    for (std::uint32_t column = 0; column <= kWorldColumn; ++column)
        if ((mask >> column & 1) != 0) table_.mark_written(column, {row, row + 1});
}

void TransformManager::Work::write_local(std::uint32_t row, const Transform& local) {
    stamp(kLocalMask, row);
    column<Vec3>(kPositionColumn)[row] = local.position;
    column<Quaternion>(kRotationColumn)[row] = local.rotation;
    column<Vec3>(kScaleColumn)[row] = local.scale;
}

template <class Write, class Fetch>
std::size_t TransformManager::Work::set_each(std::span<const Entity> entities, std::uint32_t mask, Write&& write,
                                             Fetch&& fetch) {
    std::uint32_t* const mark = marks();
    const std::size_t fetched = fetch_distance(entities);
    std::uint32_t found[kFoundAtOnce];
    std::size_t num_set = 0;
    for (std::size_t begin = 0; begin < entities.size(); begin += kFoundAtOnce) {
        const std::size_t count = std::min(kFoundAtOnce, entities.size() - begin);
        manager_.index_.find_each(
            entities.subspan(begin, count), fetched, [&](std::size_t i, std::uint32_t row) { found[i] = row; },
            [&](std::uint32_t row) __attribute__((always_inline)) {
                __builtin_prefetch(&mark[row], 1);
                fetch(row);
            });
        num_set += set_found({found, count}, mask, [&](std::size_t i, std::uint32_t row) { write(begin + i, row); });
    }
    return num_set;
}

/// A loop of its own, so that its variables stay in registers.
template <class Write>
std::size_t TransformManager::Work::set_found(std::span<const std::uint32_t> rows, std::uint32_t mask, Write&& write) {
    std::uint32_t* const mark = marks();
    const std::size_t num_listed = moved_.size();
    moved_.resize(num_listed + rows.size());
    std::uint32_t* const first = moved_.data() + num_listed;
    std::uint32_t* next = first;
    std::size_t num_set = 0;
    std::uint32_t last_block = kNilRow;
    const std::uint32_t pending = pending_, this_frame = frame_begins_[0], last_frame = frame_begins_[1];
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t row = rows[i];
        if (SHOAL_UNLIKELY(row == kNilRow)) continue;
        ++num_set;
        if (SHOAL_UNLIKELY(row / kRowsPerStampBlock != last_block)) {
            last_block = row / kRowsPerStampBlock;
            stamp(mask, row);
        }
        write(i, row);
        const std::uint32_t old = mark[row];
        if ((old | 1) == pending) continue;
        mark[row] = pending - (was_moving(old, this_frame, last_frame) ? 0 : 1);
        *next++ = row;
    }
    moved_.resize(num_listed + static_cast<std::size_t>(next - first));
    return num_set;
}

bool TransformManager::Work::set_world(std::uint32_t row, const Matrix3x4& world, bool is_stale) {
    const std::uint32_t parent = parents()[row];
    if (parent != kNilRow) refresh(parent);
    const NearestPose nearest =
        parent == kNilRow ? nearest_pose(world) : nearest_relative_pose(worlds()[parent], world);
    const Transform& local = nearest.pose;
    write_local(row, local);
    const Matrix3x4 computed = product(parent == kNilRow ? Matrix3x4{} : worlds()[parent],
                                       local_matrix(local.position, local.rotation, local.scale));
    // Where it is, bit for bit, nothing below it moves.
    if (is_stale || std::memcmp(&computed, &worlds()[row], sizeof computed) != 0) touch(row);
    return nearest.is_exact;
}

// --- one ---------------------------------------------------------------------------------------------------------

Transform TransformManager::local(Instance instance) const {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    return {element<Vec3>(table_, Work::kPositionColumn, instance.row),
            element<Quaternion>(table_, Work::kRotationColumn, instance.row),
            element<Vec3>(table_, Work::kScaleColumn, instance.row)};
}

void TransformManager::set_local(Instance instance, const Transform& local) {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    work_->write_local(instance.row, sound_pose(local));
    work_->touch(instance.row);
}

void TransformManager::set_position(Instance instance, Vec3 position) {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    require_sound_position(position);
    work_->stamp(1u << Work::kPositionColumn, instance.row);
    work_->column<Vec3>(Work::kPositionColumn)[instance.row] = position;
    work_->touch(instance.row);
}

void TransformManager::set_rotation(Instance instance, Quaternion rotation) {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    work_->stamp(1u << Work::kRotationColumn, instance.row);
    work_->column<Quaternion>(Work::kRotationColumn)[instance.row] = sound_rotation(rotation);
    work_->touch(instance.row);
}

void TransformManager::set_scale(Instance instance, Vec3 scale) {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    require_sound_scale(scale);
    work_->stamp(1u << Work::kScaleColumn, instance.row);
    work_->column<Vec3>(Work::kScaleColumn)[instance.row] = scale;
    work_->touch(instance.row);
}

bool TransformManager::set_world_pose(Instance instance, const Matrix3x4& world) {
    SHOAL_ASSERT(instance.row < num_rows(), "the instance is nil or was removed");
    return work_->set_world(instance.row, world, work_->refresh(instance.row));
}

Vec3 TransformManager::world_position(Instance instance) const {
    const Matrix3x4& matrix = world(instance);
    return {matrix.row[0].w, matrix.row[1].w, matrix.row[2].w};
}

Quaternion TransformManager::world_rotation(Instance instance) const {
    return nearest_pose(world(instance)).pose.rotation;
}

Vec3 TransformManager::world_scale(Instance instance) const { return nearest_pose(world(instance)).pose.scale; }

// --- many --------------------------------------------------------------------------------------------------------

std::size_t TransformManager::set_locals(std::span<const Entity> entities, std::span<const Transform> locals,
                                         Executor* executor) {
    SHOAL_ASSERT(locals.size() == entities.size(), "one pose per entity is needed");
    Vec3* const position = work_->column<Vec3>(Work::kPositionColumn);
    Quaternion* const rotation = work_->column<Quaternion>(Work::kRotationColumn);
    Vec3* const scale = work_->column<Vec3>(Work::kScaleColumn);
    work_->begin_batch();
    const std::size_t num_set = work_->set_each(
        entities, Work::kLocalMask,
        [&](std::size_t i, std::uint32_t row) {
            const Transform local = sound_pose(locals[i]);
            position[row] = local.position;
            rotation[row] = local.rotation;
            scale[row] = local.scale;
        },
        [&](std::uint32_t row) __attribute__((always_inline)) {
            __builtin_prefetch(&position[row], 1);
            __builtin_prefetch(&rotation[row], 1);
            __builtin_prefetch(&scale[row], 1);
        });
    work_->end_batch(executor);
    return num_set;
}

std::size_t TransformManager::set_positions(std::span<const Entity> entities, std::span<const Vec3> positions,
                                            Executor* executor) {
    SHOAL_ASSERT(positions.size() == entities.size(), "one position per entity is needed");
    Vec3* const position = work_->column<Vec3>(Work::kPositionColumn);
    work_->begin_batch();
    const std::size_t num_set = work_->set_each(
        entities, 1u << Work::kPositionColumn,
        [&](std::size_t i, std::uint32_t row) {
            require_sound_position(positions[i]);
            position[row] = positions[i];
        },
        [&](std::uint32_t row) __attribute__((always_inline)) { __builtin_prefetch(&position[row], 1); });
    work_->end_batch(executor);
    return num_set;
}

std::size_t TransformManager::world_positions(std::span<const Entity> entities, std::span<Vec3> out) const {
    SHOAL_ASSERT(out.size() == entities.size(), "as many positions as entities are written");
    const Matrix3x4* const worlds = this->worlds().data();
    std::size_t num_found = 0;
    index_.find_each(
        entities, fetch_distance(entities),
        [&](std::size_t i, std::uint32_t row) {
            if (row == kNilRow) return static_cast<void>(out[i] = {});
            const Matrix3x4& world = worlds[row];
            out[i] = {world.row[0].w, world.row[1].w, world.row[2].w};
            ++num_found;
        },
        [&](std::uint32_t row) __attribute__((always_inline)) {
            __builtin_prefetch(&worlds[row].row[0].w);
            __builtin_prefetch(&worlds[row].row[2].w);
        });
    return num_found;
}

std::size_t TransformManager::world_poses(std::span<const Entity> entities, std::span<Matrix3x4> out) const {
    SHOAL_ASSERT(out.size() == entities.size(), "as many poses as entities are written");
    const Matrix3x4* const worlds = this->worlds().data();
    std::size_t num_found = 0;
    index_.find_each(
        entities, fetch_distance(entities),
        [&](std::size_t i, std::uint32_t row) {
            out[i] = row == kNilRow ? Matrix3x4{} : worlds[row];
            num_found += row != kNilRow;
        },
        [&](std::uint32_t row) __attribute__((always_inline)) {
            __builtin_prefetch(&worlds[row].row[0].x);
            __builtin_prefetch(&worlds[row].row[2].w);
        });
    return num_found;
}

// --- time --------------------------------------------------------------------------------------------------------

void TransformManager::set_mode(TransformMode mode) {
    SHOAL_ASSERT(!work_->in_batch(), "the mode was changed inside a batch");
    work_->compute_pending(nullptr);
    work_->leave_all();
    options_.mode = mode;
}

void TransformManager::compute_moved(Executor* executor) {
    SHOAL_ASSERT(options_.mode == TransformMode::kDeferred,
                 "only deferred transforms are computed once a frame; make the manager with TransformMode::kDeferred");
    work_->end_frame(executor);
}

TransformBatch::TransformBatch(TransformManager& transforms, Executor* executor)
    : transforms_(transforms), executor_(executor) {
    transforms_.work_->begin_batch();
}

TransformBatch::~TransformBatch() { transforms_.work_->end_batch(executor_); }

}  // namespace shoal::inline SHOAL_ABI

// Reads and sets poses, one at a time or many together.

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/store/detail/stable_span.h"
#include "shoal/table/detail/access_guard.h"
#include "shoal/transform/detail/pose_math.h"
#include "transform/transform_work.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kFetchDistance = 96;  // number of entities ahead at which index entries are prefetched; rows are
                                            // prefetched half as far ahead
constexpr std::size_t kFoundAtOnce = 2048;  // rows per block, so few that they stay in the cache until they are written
constexpr std::size_t kCloseStep = 32;      // if the mean distance between rows is at most this, nothing is prefetched
constexpr std::size_t kRunRows = 32;        // number of rows that one are_consecutive() tests

// The lambdas that prefetch are always inlined, because g++ removes calls to functions that only prefetch.

std::size_t fetch_distance(std::span<const Entity> entities) {
    return entities.size() >= kFetchFrom ? kFetchDistance : 0;
}

/// Whether row or entity numbers ascend and are close enough together for the hardware prefetcher.
template <class Number>
SHOAL_INLINE bool are_close(std::size_t count, Number&& number) {
    if (number(count - 1) - number(0) > kCloseStep * count) return false;
    std::uint32_t num_falls = 0;
    for (std::size_t i = 1; i < count; ++i) num_falls += number(i - 1) >= number(i);
    return num_falls == 0;
}

/// Whether each row follows the previous row, and no row is kNilRow.
bool are_consecutive(std::span<const std::uint32_t> rows) {
    if (rows.back() - rows.front() != rows.size() - 1 || rows.back() < rows.front() || rows.back() == kNilRow)
        return false;
    const std::uint32_t first = rows.front(), count = static_cast<std::uint32_t>(rows.size());
    std::uint32_t difference = 0;
    for (std::uint32_t i = 0; i < count; ++i) difference |= rows[i] ^ (first + i);
    return difference == 0;
}

template <class T>
const T& element(const Table& table, std::uint32_t column, std::uint32_t row) {
    return reinterpret_cast<const T*>(table.column(column))[row];
}

}  // namespace

void TransformManager::Work::write_local(std::uint32_t row, const Transform& local) {
    stamp(kLocalMask, row);
    column<Vec3>(kPositionColumn)[row] = local.position;
    column<Quaternion>(kRotationColumn)[row] = local.rotation;
    column<Vec3>(kScaleColumn)[row] = local.scale;
}

template <class Write, class Fetch>
std::size_t TransformManager::Work::set_each(std::span<const Entity> entities, std::uint32_t mask, Write&& write,
                                             Fetch&& fetch) {
    bool in_order = needs_no_marks();
    const bool fetches = entities.size() >= kFetchFrom;
    const std::uint32_t* const mark = marks();
    std::uint32_t found[kFoundAtOnce];
    std::size_t num_set = 0;
    for (std::size_t begin = 0; begin < entities.size(); begin += kFoundAtOnce) {
        const std::span<const Entity> some = entities.subspan(begin, std::min(kFoundAtOnce, entities.size() - begin));
        const std::span<const std::uint32_t> rows(found, some.size());
        const bool is_far = fetches && !are_close(some.size(), [&](std::size_t i) { return some[i].index(); });
        const auto fetch_row = [mark, fetch](std::uint32_t row) SHOAL_INLINED {
            __builtin_prefetch(&mark[row], 1);
            fetch(row);
        };
        rows_.index().find_each(
            some, is_far ? kFetchDistance : 0, [&](std::size_t i, std::uint32_t row) { found[i] = row; }, fetch_row);
        // Entities that are close together may have rows that are far apart.
        if (fetches && !is_far && !are_close(rows.size(), [&](std::size_t i) { return rows[i]; }))
            for (const std::uint32_t row : rows)
                if (row != kNilRow) fetch_row(row);
        write_found(rows, mask, [begin, write](std::size_t i, std::uint32_t row, std::size_t count) SHOAL_INLINED {
            write(begin + i, row, count);
        });
        if (in_order && !list_in_order(rows)) {
            mark_listed();
            in_order = false;
        }
        num_set += in_order ? rows.size() : note_found(rows);
    }
    return num_set;
}

/// Calls write(i, row, count) for each run of rows, and stamps them.
template <class Write>
void TransformManager::Work::write_found(std::span<const std::uint32_t> rows, std::uint32_t mask, Write&& write) {
    std::uint32_t last_mark = kNilRow;
    for (std::size_t first = 0; first < rows.size(); first += kRunRows) {
        const std::size_t end = std::min(first + kRunRows, rows.size());
        if (are_consecutive(rows.subspan(first, end - first))) {
            stamp(mask, RowRange{rows[first], rows[end - 1] + 1});
            write(first, rows[first], end - first);
            continue;
        }
        for (std::size_t i = first; i < end; ++i) {
            const std::uint32_t row = rows[i];
            if (SHOAL_UNLIKELY(row == kNilRow)) continue;
            if (row / kRowsPerChangeMark != last_mark) {
                last_mark = row / kRowsPerChangeMark;
                stamp(mask, row);
            }
            write(i, row, 1);
        }
    }
}

bool TransformManager::Work::set_world(std::uint32_t row, const Matrix3x4& world, bool is_stale) {
    const std::uint32_t parent = parents()[row];
    if (parent != kNilRow) refresh(parent);
    NearestPose nearest = parent == kNilRow ? nearest_pose(world) : nearest_relative_pose(worlds()[parent], world);
    // An infinite pose, or a pose under a flat parent, has no local pose; the old local pose is then kept.
    if (!is_sound_position(nearest.pose.position) || !is_sound_position(nearest.pose.scale))
        nearest = {manager_.local({row}), false};
    const Transform& local = nearest.pose;
    ++manager_.counts_.num_locals_computed;
    write_local(row, local);
    const Matrix3x4 computed = product(parent == kNilRow ? Matrix3x4{} : worlds()[parent],
                                       local_matrix(local.position, local.rotation, local.scale));
    // If the world pose is bit-identical to the old one, no descendant moves.
    if (is_stale || std::memcmp(&computed, &worlds()[row], sizeof computed) != 0) touch(row);
    return nearest.is_exact;
}

// --- queries -----------------------------------------------------------------------------------------------------

void TransformManager::Work::make_sound(std::uint64_t columns, std::span<const std::uint32_t> rows) {
    const auto has = [&](std::uint32_t column) { return (columns >> column & 1) != 0; };
    [[maybe_unused]] const auto refuse = [&](std::uint32_t row, std::string_view problem) {
        fail_assertion("the pose is sound", concat("a query gave entity ", entity_text(owner(row)), ' ', problem));
    };
    const Vec3* const position = column<Vec3>(kPositionColumn);
    const Vec3* const scale = column<Vec3>(kScaleColumn);
    Quaternion* const rotation = column<Quaternion>(kRotationColumn);
    if (SHOAL_CHECKED != 0)
        for (const std::uint32_t row : rows) {
            if (!is_sound_position(position[row])) refuse(row, "a position that is infinite or not a number");
            if (!is_sound_scale(scale[row])) refuse(row, "a scale that is zero, infinite or not a number");
            if (!is_sound_rotation(rotation[row]))
                refuse(row, "a rotation that is not of length 1; pass it through normalized()");
        }
    if (has(kRotationColumn))
        for (const std::uint32_t row : rows) rotation[row] = sound_rotation(rotation[row]);
}

void TransformManager::finish_writes(std::uint64_t columns, std::span<const std::uint32_t> rows, Executor* executor) {
    work_->make_sound(columns, rows);
    work_->begin_batch();
    work_->note_written(rows);
    work_->end_batch(executor);
}

// --- one ---------------------------------------------------------------------------------------------------------

Transform TransformManager::local(Instance instance) const {
    require(instance);
    if constexpr (SHOAL_CHECKED != 0)
        for (std::uint32_t column = 0; column < kWorldColumn; ++column) ask_read_guard(table(), column);
    return {element<Vec3>(table(), Work::kPositionColumn, instance.row),
            element<Quaternion>(table(), Work::kRotationColumn, instance.row),
            element<Vec3>(table(), Work::kScaleColumn, instance.row)};
}

void TransformManager::set_local(Instance instance, const Transform& local) {
    require(instance);
    if (SHOAL_CHECKED == 0 && is_unit_rotation(local.rotation))  // without a copy
        work_->write_local(instance.row, local);
    else
        work_->write_local(instance.row, sound_pose(local));
    work_->touch(instance.row);
}

void TransformManager::set_position(Instance instance, Vec3 position) {
    require(instance);
    require_sound_position(position);
    work_->stamp(1u << Work::kPositionColumn, instance.row);
    work_->column<Vec3>(Work::kPositionColumn)[instance.row] = position;
    work_->touch(instance.row);
}

void TransformManager::set_rotation(Instance instance, Quaternion rotation) {
    require(instance);
    work_->stamp(1u << Work::kRotationColumn, instance.row);
    work_->column<Quaternion>(Work::kRotationColumn)[instance.row] = sound_rotation(rotation);
    work_->touch(instance.row);
}

void TransformManager::set_scale(Instance instance, Vec3 scale) {
    require(instance);
    require_sound_scale(scale);
    work_->stamp(1u << Work::kScaleColumn, instance.row);
    work_->column<Vec3>(Work::kScaleColumn)[instance.row] = scale;
    work_->touch(instance.row);
}

bool TransformManager::set_world_pose(Instance instance, const Matrix3x4& world) {
    require(instance);
    SHOAL_CHECK(is_regular(world), "a world pose is flat, infinite or not a number");
    const Matrix3x4 wanted = world;  // `world` may be in this table, where refresh() writes
    return work_->set_world(instance.row, wanted, work_->refresh(instance.row));
}

Status TransformManager::write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) {
    if (at.schema->id() == schema_of<WorldPose>().id() || at.schema->id() == schema_of<ChildOf>().id())
        return Status::error(
            concat("the transforms compute \"", at.schema->name(), "\"; ", find_columns(*at.schema).instead));
    const Instance row{at.row};
    if (part.field->struct_offset >= sizeof(Transform)) {
        Matrix3x4 pose = world(row);
        write_part(reinterpret_cast<std::byte*>(&pose), part, value);
        if (!is_regular(pose))
            return Status::error("\"transform.world\" would be flat, infinite or not a number; write a pose");
        set_world_pose(row, pose);
        return {};
    }
    const Result<Transform> changed = local_with(local(row), part, value, "transform");
    if (!changed) return changed.status();
    if (part.field->struct_offset == offsetof(Transform, position))
        set_position(row, changed->position);
    else if (part.field->struct_offset == offsetof(Transform, rotation))
        set_rotation(row, changed->rotation);
    else
        set_scale(row, changed->scale);
    return {};
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
        [=](std::size_t i, std::uint32_t row, std::size_t count) SHOAL_INLINED {
            for (const std::size_t end = i + count; i < end; ++i, ++row) {
                const Transform local = sound_pose(locals[i]);
                position[row] = local.position;
                rotation[row] = local.rotation;
                scale[row] = local.scale;
            }
        },
        [&](std::uint32_t row) SHOAL_INLINED {
            __builtin_prefetch(&position[row], 1);
            __builtin_prefetch(&rotation[row], 1);
            __builtin_prefetch(&scale[row], 1);
        });
    work_->end_batch(executor);
    return num_set;
}

std::size_t TransformManager::set_positions(std::span<const Entity> entities, std::span<const Vec3> given,
                                            Executor* executor) {
    SHOAL_ASSERT(given.size() == entities.size(), "one position per entity is needed");
    Vec3* const position = work_->column<Vec3>(Work::kPositionColumn);
    const StableSpan stable(given, std::span<const Vec3>(position, num_rows()));
    const std::span<const Vec3> positions = stable.get();
    work_->begin_batch();
    const std::size_t num_set = work_->set_each(
        entities, 1u << Work::kPositionColumn,
        [=](std::size_t i, std::uint32_t row, std::size_t count) SHOAL_INLINED {
            for (std::size_t k = i; k < i + count; ++k) require_sound_position(positions[k]);
            std::memcpy(&position[row], &positions[i], count * sizeof(Vec3));
        },
        [&](std::uint32_t row) SHOAL_INLINED { __builtin_prefetch(&position[row], 1); });
    work_->end_batch(executor);
    return num_set;
}

std::size_t TransformManager::world_positions(std::span<const Entity> entities, std::span<Vec3> out) const {
    SHOAL_ASSERT(out.size() == entities.size(), "one position per entity is needed");
    if constexpr (SHOAL_CHECKED != 0) ask_read_guard(table(), kWorldColumn);
    const Matrix3x4* const worlds = this->worlds().data();
    std::size_t num_found = 0;
    rows_.index().find_each(
        entities, fetch_distance(entities),
        [&](std::size_t i, std::uint32_t row) {
            if (row == kNilRow) return static_cast<void>(out[i] = {});
            const Matrix3x4& world = worlds[row];
            out[i] = {world.row[0].w, world.row[1].w, world.row[2].w};
            ++num_found;
        },
        [&](std::uint32_t row) SHOAL_INLINED {
            __builtin_prefetch(&worlds[row].row[0].w);
            __builtin_prefetch(&worlds[row].row[2].w);
        });
    return num_found;
}

std::size_t TransformManager::world_poses(std::span<const Entity> entities, std::span<Matrix3x4> out) const {
    SHOAL_ASSERT(out.size() == entities.size(), "one pose per entity is needed");
    if constexpr (SHOAL_CHECKED != 0) ask_read_guard(table(), kWorldColumn);
    const Matrix3x4* const worlds = this->worlds().data();
    std::size_t num_found = 0;
    rows_.index().find_each(
        entities, fetch_distance(entities),
        [&](std::size_t i, std::uint32_t row) {
            out[i] = row == kNilRow ? Matrix3x4{} : worlds[row];
            num_found += row != kNilRow;
        },
        [&](std::uint32_t row) SHOAL_INLINED {
            __builtin_prefetch(&worlds[row].row[0].x);
            __builtin_prefetch(&worlds[row].row[2].w);
        });
    return num_found;
}

}  // namespace shoal

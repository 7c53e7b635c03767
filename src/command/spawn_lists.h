#pragma once
// The lists of commands that spawn a blob and override some of its values. The overrides are the last column.
// Thread: any.

#include "shoal/command/detail/command_recorder.h"
#include "shoal/store/detail/spawn_override.h"

#include <cstring>

namespace shoal {

using SpawnOverrides = Array<SpawnOverride>;

/// The list for spawns that override values, with or without a pose.
template <bool kHasPose>
struct OverridingSpawn {
    static constexpr std::uint32_t kOffset = kHasPose ? detail::kPosedBytes : detail::kPoseOffset;
    static_assert(kOffset % alignof(SpawnOverrides) == 0);
    static constexpr detail::CommandPart kPart{
        .offset = kOffset, .num_bytes = sizeof(SpawnOverrides), .destroy = [](std::byte* value) {
            reinterpret_cast<SpawnOverrides*>(value)->~SpawnOverrides();
        }};
    static constexpr detail::CommandList kList{
        detail::CommandKind::kSpawn, kOffset + sizeof(SpawnOverrides), alignof(SpawnOverrides), {&kPart, 1}};
};

/// Whether any command in a list has overrides. Requires: these are spawn or copy commands.
inline bool has_overrides(const detail::CommandList& list) { return !list.parts.empty(); }
/// Whether the commands have poses.
inline bool has_poses(const detail::CommandList& list) {
    return &list == &detail::kSpawnAtList || &list == &detail::kCopyAtList || &list == &OverridingSpawn<true>::kList;
}
/// The overrides of a command. Requires: has_overrides().
inline SpawnOverrides& overrides_at(const detail::CommandBatch& run, std::size_t row) {
    return *reinterpret_cast<SpawnOverrides*>(run.value(run.list->parts.front(), row));
}

/// Calls visit(entity) for each entity that an override refers to. If visit() changes the entity, stores the new one.
template <class Visit>
void for_each_entity(SpawnOverride& given, Visit&& visit) {
    if (given.value.type().type != FieldType::kEntity) return;
    const std::span<std::byte> bytes = given.value.bytes();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Entity)) {
        Entity entity;
        std::memcpy(&entity, bytes.data() + at, sizeof entity);
        visit(entity);
        std::memcpy(bytes.data() + at, &entity, sizeof entity);
    }
}

}  // namespace shoal

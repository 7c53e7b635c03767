#pragma once
// Pending commands in a snapshot, for code that converts or shows them. docs/formats/save.md has all parts.
// Thread: any.

#include "shoal/state/snapshot.h"

namespace shoal {

/// What a command does; kText names an entity, or adds or removes a tag. Saves contain these numbers.
enum class SavedCommandKind : std::uint32_t { kDestroy, kCreate, kMove, kAdd, kRemove, kSpawn, kCopy, kText, kSet };
inline constexpr std::uint32_t kNumSavedCommandKinds = 9;
/// What the commands in a list have in common. The flags mean that the list belongs to one chunk, that its spawn and
/// copy commands have poses, and that its spawn commands override values.
struct SavedCommandList {
    static constexpr std::uint32_t kOfChunk = 1, kHasPoses = 2, kHasOverrides = 4;
    SavedCommandKind kind;
    std::uint32_t num_parts, flags, num_rows;
};
/// A component type that a list names: one element of "types". kOfDatabase is only in older states, and means that a
/// store keeps the component type. If a field is set, the flags also contain its number in the component type, from bit
/// kFieldShift on.
struct SavedCommandPart {
    static constexpr std::uint32_t kBringsValue = 1, kIsDisabled = 2, kOfDatabase = 4, kFieldShift = 8;
    std::uint32_t type, flags;

    std::uint32_t field() const { return flags >> kFieldShift; }
};
SHOAL_API std::string_view name_of_kind(SavedCommandKind kind);  ///< "create", "name_or_tag"
/// Returns the number of pending commands in a snapshot, of one kind or of all kinds.
SHOAL_API std::uint64_t count_saved_commands(const Snapshot& state, SavedCommandKind kind);
SHOAL_API std::uint64_t count_saved_commands(const Snapshot& state);

}  // namespace shoal

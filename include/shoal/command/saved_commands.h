#pragma once
// The parts of a saved state that have the commands of a database, which wait for it to settle. They are within "commands"
// of the database.
//
//     epoch           which pending entities are those of now; missing: 0
//     types           the component types that commands name, a line each
//     blobs           the resources that commands spawn, a line each
//     lists, parts    what commands of one list have in common: a SavedCommandList each, and its SavedCommandParts
//     loops, chunks   who has asked, in the order that counts: a SavedCommandLoop each, and its SavedCommandChunks
//     pending_blocks  for each chunk: the blocks of pending entities that it took, of kPendingBlock each
//     runs            for each chunk: a SavedCommandRun each; it takes the next rows of its list
//     list/N/entity, number          whom the commands of list N are about; a zone, or when in the chunk
//     list/N/TYPE/field/...          values of a component type, as a table has them: see table/saved_rows.h
//     list/N/original, blob, pose    of spawns and copies
//     list/N/change, text_bytes, text  of names and tags
//
// If nothing waits, only the epoch is there. Thread: any.

#include "shoal/base/saved_state.h"

namespace shoal {

class Database;

/// What a command does. The numbers are those of saves.
enum class SavedCommandKind : std::uint32_t {
    kDestroy,
    kCreate,
    kMove,
    kAdd,
    kRemove,
    kSpawn,
    kCopy,
    kText,  ///< names an entity, gives it a tag or takes one
};
inline constexpr std::uint32_t kNumSavedCommandKinds = 8;

struct SavedCommandList {
    static constexpr std::uint32_t kOfChunk = 1;   ///< in `flags`: no other chunk uses it
    static constexpr std::uint32_t kHasPoses = 2;  ///< spawns and copies have poses

    SavedCommandKind kind;
    std::uint32_t num_parts, flags, num_rows;
};

/// A component type of a list.
struct SavedCommandPart {
    static constexpr std::uint32_t kBringsValue = 1;
    static constexpr std::uint32_t kIsOff = 2;       ///< the value comes switched off
    static constexpr std::uint32_t kOfDatabase = 4;  ///< the command names it by its number in the database

    std::uint32_t type;  ///< a line of "types"
    std::uint32_t flags;
};

/// A WorkPlace. Loops outside of passes have numbers from 1, in their order.
struct SavedCommandLoop {
    struct Step {
        std::uint64_t loop;
        std::uint32_t chunk, reserved;
    };
    std::uint32_t pass, num_chunks, num_steps;
    std::uint32_t is_of_pass;  ///< what Database::commands() has recorded
    Step steps[4];
};

struct SavedCommandChunk {
    std::uint32_t num_runs;
    std::uint32_t num_pending;  ///< entities that it has given out; they fill its blocks, but for the last one
    std::uint32_t num_ordered;  ///< adds, removes, names and tags
};

struct SavedCommandRun {
    std::uint32_t list, num_rows;
};

/// Returns what commands of a kind are called: "create", "name_or_tag".
SHOAL_API std::string_view name_of_kind(SavedCommandKind kind);
/// Returns how many commands of a kind wait in a saved state, over all databases.
SHOAL_API std::uint64_t count_saved_commands(const SavedState& state, SavedCommandKind kind);
/// The same for all kinds.
SHOAL_API std::uint64_t count_saved_commands(const SavedState& state);
/// Makes a database one that takes commands, so that Database::load() can put those that were saved into it.
SHOAL_API void keep_commands(Database& database);

}  // namespace shoal

#pragma once
// The parts of a snapshot that contain the pending commands. They are within "commands".
//
//     epoch           identifies the current pending entities; missing: 0
//     types           the component types that commands name, a line each
//     blobs           the resources that commands spawn, a line each
//     lists, parts    what commands of one list have in common: a SavedCommandList each, and its SavedCommandParts
//     loops, chunks   the origins, in the order of execution: a SavedCommandLoop each, and its SavedCommandChunks
//     pending_blocks  for each chunk: the blocks of pending entities that it took, of kPendingBlock each
//     runs            for each chunk: a SavedCommandBatch each; it takes the next rows of its list
//     list/N/entity, number          the entities of the commands of list N; a zone, or the order in the chunk
//     list/N/TYPE/field/...          values of a component type, as a table has them: see table/detail/saved_rows.h
//     list/N/original, blob, pose    of spawns and copies
//     list/N/num_overrides, overrides, override_texts, override_values    of spawns: see store/detail/spawn_override.h
//     list/N/change, text_bytes, text  of names and tags
//
// If no commands are pending, there is only the epoch. Thread: any.

#include "shoal/command/detail/saved_commands.h"
#include "shoal/store/detail/waiting_commands.h"

namespace shoal {

/// A WorkPosition. Loops outside of passes are numbered from 1, in their order.
struct SavedCommandLoop {
    struct Step {
        std::uint64_t loop;
        std::uint32_t chunk, reserved;
    };
    std::uint32_t pass, num_chunks, num_steps;
    std::uint32_t is_of_pass;  ///< whether these are the commands of World::commands()
    Step steps[4];
};

struct SavedCommandChunk {
    std::uint32_t num_runs;
    std::uint32_t num_pending;  ///< entities that the chunk has handed out; they fill all of its blocks except the last
    std::uint32_t num_ordered;  ///< adds, removes, names, tags and sets
};

struct SavedCommandBatch {
    std::uint32_t list, num_rows;
};

/// Errors: a value of a command is invalid, or does not fit the world. Shape: `num_rows` structs of the schema.
Status check_command_values(const CommandHost* host, const Schema& schema, std::uint32_t num_rows,
                            std::span<const std::byte> images);

}  // namespace shoal

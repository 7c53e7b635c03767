#pragma once
// Saves the whole world, and loads it: ids, all stores, commands that wait, events, clocks, random numbers, and what
// passes, observers, the journal and the services go by. After loading, the run goes on bit for bit as it would have
// gone on.
//
//     if (Status status = save(world, path); !status) return status;  // the file is what it was then
//     world.step(0.1f);
//     if (Status status = load(world, path); !status) return status;  // as if the step had not been
//
// Zones that are unloaded are saved, too; they stay unloaded where zones are streamed, and are loaded where not.
// docs/guide/saves.md says what is saved, and what a program makes again itself. Frames of save/frames.h begin anew
// with what was loaded.
// Errors: something cannot be saved, or what is loaded does not fit; the message says what, and what to do. The file is
// as it was then, and so is the world, but for new stores and texts.
// Requires, for each call: the world is at rest (WorldServices::is_at_rest()).
// Thread: the structural thread of the world.

#include "shoal/base/array.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shoal {

class Snapshot;
class World;

/// What load(), Persistence::recover() and Replay::open() are told.
struct LoadOptions {
    /// What the state may take in memory, with the structs of commands and converted rows that are made of it, and the
    /// rows of all unloaded zones together, even where zones are streamed and only one is decompressed at a time. A
    /// hostile file may grow to thousands of times its size. 0: 64 times the bytes of the file, or 1 GiB, whichever is
    /// more. Units: bytes.
    std::uint64_t max_bytes = 0;
};

/// To a file, or from one.
SHOAL_API Status save(const World& world, const std::string& path);
SHOAL_API Status load(World& world, const std::string& path, const LoadOptions& options = {});
/// In memory. `to` shares memory with `before`, an earlier state of this world, where nothing has changed. What is not
/// trusted is checked as a file is.
SHOAL_API Status save(const World& world, Snapshot& to, const Snapshot* before = nullptr);
SHOAL_API Status load(World& world, const Snapshot& from, bool is_trusted = true);
/// The bytes of a file, for programs that send or store them themselves. `to` gets them in place of what it has. Bytes
/// are checked as a file is, wherever they come from.
SHOAL_API Status save(const World& world, Array<std::byte>& to);
SHOAL_API Status load(World& world, std::span<const std::byte> from, const LoadOptions& options = {});
/// Reads what the bytes of a save hold, without a world. Errors: as of load(), but for what its parts say.
SHOAL_API Result<Snapshot> read_save(std::span<const std::byte> bytes, const LoadOptions& options);

}  // namespace shoal

#pragma once
// Saves and loads the whole world: ids, all stores, pending commands, events, clocks, random numbers, and the state of
// passes, observers, the journal and the services. After loading, the run continues, bit for bit, as it would have
// continued after saving.
//
//     if (Status status = save(world, path); !status) return status;  // the file is what it was then
//     world.step(0.1f);
//     if (Status status = load(world, path); !status) return status;  // as if the step had not been
//
// Unloaded zones are also saved. When a save is loaded, a world that streams zones keeps them unloaded; other worlds
// load them. docs/guide/saves.md lists what is saved, and what a program must set up itself. Loading drops the kept
// frames (save/frames.h), whose history restarts with the loaded state.
// Errors: something cannot be saved, or the loaded data does not fit the world. The message describes the problem and
// suggests a fix. On error, the file and the world are unchanged, except that stores and strings may have been added.
// Requires: the world is at rest during each call (WorldServices::is_at_rest()).
// Thread: the structural thread of the world.

#include "shoal/base/detail/array.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shoal {

class Snapshot;
class World;

/// Options for load(), Persistence::recover() and Replay::open().
struct LoadOptions {
    /// Limits the memory for the state. The limit includes the commands and converted rows that are made from the
    /// state, and all unloaded zones together, even if they are decompressed one at a time. A hostile file may expand
    /// to thousands of times its size. If 0, the limit is 64 times the size of the file or 1 GiB, whichever is larger.
    /// Units: bytes.
    std::uint64_t max_bytes = 0;
};

/// Saves to or loads from a file.
SHOAL_API Status save(const World& world, const std::string& path);
SHOAL_API Status load(World& world, const std::string& path, const LoadOptions& options = {});
/// Saves to or loads from memory. `to` shares unchanged memory with `before`, an earlier state of this world. If
/// `is_trusted` is false, the state is checked like a file.
SHOAL_API Status save(const World& world, Snapshot& to, const Snapshot* before = nullptr);
SHOAL_API Status load(World& world, const Snapshot& from, bool is_trusted = true);
/// Saves to or loads from the bytes of a file, for programs that send or store the bytes themselves. The content of
/// `to` is replaced. Loaded bytes are always checked like a file.
SHOAL_API Status save(const World& world, Array<std::byte>& to);
SHOAL_API Status load(World& world, std::span<const std::byte> from, const LoadOptions& options = {});
/// Reads a save from memory without a world. Errors: the same as for load(), except that the contents of the save's
/// parts are not checked.
SHOAL_API Result<Snapshot> read_save(std::span<const std::byte> bytes, const LoadOptions& options);

}  // namespace shoal

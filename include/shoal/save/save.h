#pragma once
// Saves the whole world, and loads it: ids, all stores, waiting commands, events, clocks, random numbers, and the state
// of passes, observers, the journal and the services. After loading, the run continues bit for bit as it would have
// without saving and loading.
//
//     if (Status status = save(world, path); !status) return status;  // the file is what it was then
//     world.step(0.1f);
//     if (Status status = load(world, path); !status) return status;  // as if the step had not been
//
// Unloaded zones are saved, too. A world that streams zones keeps them unloaded when it loads; other worlds load them.
// docs/guide/saves.md says what is saved, and what a program must set up itself. Kept frames (save/frames.h) are
// dropped, and the history restarts with the loaded state.
// Errors: something cannot be saved, or the loaded data does not fit; the message says what, and what to do. The file
// is unchanged then, and so is the world, except for new stores and texts.
// Requires for each call: the world is at rest (WorldServices::is_at_rest()).
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

/// Options of load(), Persistence::recover() and Replay::open().
struct LoadOptions {
    /// The limit on memory for the state, including structs of commands and converted rows made from it, and the rows
    /// of all unloaded zones together, even if zones are streamed and decompressed one at a time. A hostile file may
    /// expand to thousands of times its size. 0: 64 times the size of the file, or 1 GiB, whichever is larger. Units:
    /// bytes.
    std::uint64_t max_bytes = 0;
};

/// Save to a file, and load from one.
SHOAL_API Status save(const World& world, const std::string& path);
SHOAL_API Status load(World& world, const std::string& path, const LoadOptions& options = {});
/// Save to memory, and load from it. `to` shares unchanged memory with `before`, an earlier state of this world. A
/// state that is not trusted is checked as a file is.
SHOAL_API Status save(const World& world, Snapshot& to, const Snapshot* before = nullptr);
SHOAL_API Status load(World& world, const Snapshot& from, bool is_trusted = true);
/// The same with the bytes of a file, for programs that send or store these bytes themselves. The content of `to` is
/// replaced. Loaded bytes are always checked as a file is.
SHOAL_API Status save(const World& world, Array<std::byte>& to);
SHOAL_API Status load(World& world, std::span<const std::byte> from, const LoadOptions& options = {});
/// Reads a save from memory without a world. Errors: the same as load(), except errors in the content of the save's
/// parts.
SHOAL_API Result<Snapshot> read_save(std::span<const std::byte> bytes, const LoadOptions& options);

}  // namespace shoal

#pragma once
// Reads the world of a save, or of a folder of Persistence, for `shoal dump`, `check` and `diff`.
// The save is loaded into a separate world, with all checks that a program's load makes; the component types come from
// the save.
//
// Nothing is written, not even to such a folder. The last whole frame in a folder is read in the same way as by
// Persistence::recover().

#include "memory_limit.h"
#include "shoal/resource/library.h"
#include "shoal/save/persistence.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"
#include "sources.h"

#include <vector>

namespace shoal_tool {

inline constexpr Flag kResourceFlag{
    .name = "resource",
    .value = "BLOB",
    .help = "of saves: a blob to which the world refers, so that its values are shown and checked; several add up",
    .takes = Takes::kInput,
    .repeats = true};

/// A world without passes that was read from a save.
struct LoadedSave {
    explicit LoadedSave(const Arguments& arguments);

    shoal::EntityManager entities;
    shoal::ResourceLibrary library;  ///< the blobs that were given
    shoal::World world;
    shoal::Snapshot state;              ///< of the loaded world
    shoal::Snapshot file;               ///< the whole file, with parts that a world without passes does not load
    std::vector<std::string> left_out;  ///< prefixes of paths of parts that were skipped because no blobs were given
    std::vector<shoal::Entity> all;     ///< living entities, by index
    std::vector<shoal::PersistedSnapshot> snapshots;      ///< of a folder: the snapshots read, the newest first
    const shoal::PersistedSnapshot* recovered = nullptr;  ///< the snapshot that Persistence::recover() would use
};

/// Which snapshots of a folder to read: either the snapshots that Persistence::recover() reads, with a warning if one
/// is damaged; or all, with an error if one is damaged.
enum class Snapshots : std::uint8_t { kNewestWhole, kAll };

/// Returns whether a path is read as a world: a save, a folder, or the log of a folder, which load_save() refuses.
bool holds_world(Files& files, const std::string& path);
/// Reads and checks a save or a folder, with the component types and migrations of the given schema files, and the
/// resources. Returns whether there is a world. Errors: in the diagnostics.
bool load_save(const Arguments& arguments, Files& files, const std::string& path, Snapshots snapshots, LoadedSave& save,
               shoal::Diagnostics& diagnostics);

}  // namespace shoal_tool

#pragma once
// Reads the world of a save, or of a folder that Persistence keeps, for what `shoal dump`, `check` and `diff` say of
// it. It is loaded into a world of its own, with all checks that a program's load makes; its component types come from
// the save.
//
// Nothing is written, also not into such a folder: of its last whole frame is read what Persistence::recover() would read.

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
    shoal::ResourceLibrary library;  ///< of the blobs that were given
    shoal::World world;
    shoal::Snapshot state;  ///< of the world
    shoal::Snapshot file;   ///< what is in the file, also what a world without passes and channels does not have
    std::vector<std::string> left_out;  ///< of the file: parts whose paths begin so, because no blobs were given
    std::vector<shoal::Entity> all;     ///< who lives, by index
    std::vector<shoal::PersistedSnapshot> snapshots;      ///< of a folder: those that were read, the newest first
    const shoal::PersistedSnapshot* recovered = nullptr;  ///< the one that Persistence::recover() would take
};

/// Which snapshots of a folder are read: those that Persistence::recover() reads, and it is a warning if one of them is
/// damaged; or all, and it is an error.
enum class Snapshots : std::uint8_t { kNewestWhole, kAll };

/// Returns whether what is at a path is read as a world: a save, a folder, or the log of a folder, which load_save() refuses.
bool holds_world(Files& files, const std::string& path);
/// Reads and checks a save or a folder, with the component types and migrations of the schema files that were given, and the
/// resources. Returns whether there is a world. Errors: in the diagnostics.
bool load_save(const Arguments& arguments, Files& files, const std::string& path, Snapshots snapshots, LoadedSave& save,
               shoal::Diagnostics& diagnostics);

}  // namespace shoal_tool

#pragma once
// Reads the world in a save, or in a Persistence folder, for `shoal dump`, `check` and `diff`.
// The save is loaded into a separate world that has the save's component types. It is checked as strictly as when a
// program loads it.
//
// Nothing is written, not even to the folder. If a folder is given, its last complete frame is read, as in
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
    shoal::ResourceLibrary library;  ///< the blobs given with --resource
    shoal::World world;
    shoal::Snapshot state;              ///< state of the loaded world
    shoal::Snapshot file;               ///< the whole file, including parts that a world without passes does not load
    std::vector<std::string> left_out;  ///< path prefixes of parts that were skipped because no blobs were given
    std::vector<shoal::Entity> all;     ///< living entities, sorted by index
    std::vector<shoal::PersistedSnapshot> snapshots;      ///< snapshots read from a folder, newest first
    const shoal::PersistedSnapshot* recovered = nullptr;  ///< the snapshot that Persistence::recover() would use
};

/// Which snapshots of a folder to read: kNewestWhole reads only those that Persistence::recover() reads, and warns
/// about damage. kAll reads all of them, and damage is an error.
enum class Snapshots : std::uint8_t { kNewestWhole, kAll };

/// Returns whether a path is a save, a folder with a world, or a log in such a folder. load_save() rejects logs.
bool holds_world(Files& files, const std::string& path);
/// Reads and checks a save or a folder. Uses the given resources, and the component types and migrations in the schema
/// files. Returns whether it succeeded. Errors: added to the diagnostics.
bool load_save(const Arguments& arguments, Files& files, const std::string& path, Snapshots snapshots, LoadedSave& save,
               shoal::Diagnostics& diagnostics);

}  // namespace shoal_tool

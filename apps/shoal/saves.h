#pragma once
// Saves of worlds: what `shoal dump`, `check` and `diff` show of them. A save is loaded into a world of its own, with all checks
// that a program's load makes; its component types come from the save.

#include "shoal/base/saved_state.h"
#include "shoal/resource/library.h"
#include "shoal/world/world.h"
#include "sources.h"

namespace shoal_tool {

/// A world without passes that was read from a save.
struct LoadedSave {
    shoal::EntityManager entities;
    shoal::ResourceLibrary library;
    shoal::World world{entities, {.library = &library}};
    shoal::SavedState state;  ///< of the world
    shoal::SavedState file;   ///< what is in the file, also what a world without passes and channels does not have
    std::vector<shoal::Entity> all;  ///< who lives, by index
};

/// Returns whether a file starts as a save does; false also when it cannot be read.
bool is_save_file(Files& files, const std::string& path);
/// Reads and checks a save, with the component types and migrations of the schema files that were given.
/// Errors: in the diagnostics.
bool load_save(const Arguments& arguments, Files& files, const std::string& path, LoadedSave& save,
               shoal::Diagnostics& diagnostics);

/// Prints a save as text.
int dump_save(const Arguments& arguments, Files& files, Console& console);
/// Says what is different between two saves. Returns the exit code: `different` if something is.
int diff_saves(const Arguments& arguments, Files& files, Console& console, int different);

}  // namespace shoal_tool

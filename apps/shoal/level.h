#pragma once
// Loads a level from a source or a blob, and reloads it when its files change.

#include "shoal/base/file_watch.h"
#include "shoal/reload/reloader.h"
#include "shoal/world/world.h"
#include "sources.h"

#include <memory>
#include <vector>

namespace shoal_tool {

/// The files that a level was made from, and the files that were searched for but not found.
struct LevelFiles {
    std::vector<std::string> paths;
    std::int64_t begin_wall_ns = 0;  ///< when reading began
};
struct LoadedLevel {
    shoal::Blob blob;
    LevelFiles files;
    std::int64_t load_ns = 0;
    bool is_blob = false;  ///< whether the file was a blob; its component types may be older than the schema files
};

/// Reads the blob or compiles the source at `path`. On error, sets `tried` to the files that were read or searched for.
/// Errors: added to the session's diagnostics.
std::optional<LoadedLevel> load_level(const Arguments& arguments, Files& files, Console& console,
                                      const std::string& path, SourceSession& session, LevelFiles& tried);
/// Shows a level's errors, and loads the level again whenever its files change, until loading succeeds. Returns nothing
/// if the user interrupts the tool.
std::optional<LoadedLevel> wait_for_level(const Arguments& arguments, Files& files, Console& console,
                                          const std::string& path, std::optional<SourceSession>& session,
                                          LevelFiles tried);
/// Adds the blob to a library without copying it. Blobs without a name are skipped, because nothing can refer to them.
shoal::Status add_view(shoal::ResourceLibrary& library, const shoal::Blob& blob);
/// If the blob has component types that the tool's passes use, creates their stores.
void make_stores(shoal::World& world, const shoal::Blob& blob);
/// Moves the point mass of each entity to the position of its transform.
void place_masses(shoal::World& world, std::span<const shoal::Entity> entities);

/// Reloads the entities of a level when one of its files has changed.
class LevelWatch {
public:
    /// Lifetime: all arguments must outlive this object. Requires: `level` has been spawned in `world`; if it has a
    /// name, it is in the library.
    LevelWatch(const Arguments& arguments, Files& files, Console& console, shoal::World& world,
               shoal::Reloader& reloader, shoal::ResourceLibrary& library, LoadedLevel& level);

    /// If a file has changed and is no longer being written, reloads the level and prints a line about it. If the
    /// source has errors, prints them once and leaves the world unchanged.
    void look();
    std::uint64_t num_reloads() const { return num_reloads_; }

private:
    void load_again();
    void reload(LoadedLevel newer);
    shoal::Status exchange(const LoadedLevel& newer, std::int64_t& reload_ns, std::string& text);
    void fail(const std::string& text);

    const Arguments& arguments_;
    Files& files_;
    Console& console_;
    shoal::World& world_;
    shoal::Reloader& reloader_;
    shoal::ResourceLibrary& library_;
    LoadedLevel& level_;
    shoal::FileWatch watch_;
    std::string told_;  // the last printed errors
    std::uint64_t num_reloads_ = 0;
};

}  // namespace shoal_tool
